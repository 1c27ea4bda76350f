// Entries of what is done outside of a tenant's own databases, where no batch could hold both: in the control database.
import type { RequestContext } from '../../platform/context.ts'
import type { Query } from '../../platform/database.ts'
import { HOME_SHARD, shardDatabase } from '../../platform/tenancy.ts'
import { type AuditEntry, auditRows } from './store.ts'

/**
 * Records the entry. To be called before what it tells of, once that is known to be allowed: then the trail may tell of
 * something that a failure prevented, but nothing happens that it does not tell of.
 */
export async function recordAudit(context: RequestContext, entry: AuditEntry): Promise<void> {
  const { env, tenant, calls } = context
  const database = shardDatabase(env, tenant, HOME_SHARD, calls)
  await database.batch(auditRows(database, context, HOME_SHARD, [entry]) as [Query, ...Query[]])
}
