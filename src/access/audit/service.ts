import type { AdministrationContext, RequestContext } from '../../platform/context.ts'
import { administrationAudits } from '../../platform/control-tables.ts'
import { type PagedRow, pageOfDatabases, pageOfShards } from '../../platform/shard-pages.ts'
import { controlDatabase } from '../../platform/tenancy.ts'
import type { AuditPageResponse, AuditQuery, AuditResponse } from './contract.ts'
import { auditConditions } from './store.ts'
import { audits } from './tables.ts'

/** A page of the trail, oldest first, from all shards of the tenant: one round trip each. */
export async function readAudit(
  { pageSize, pagingToken, ...filter }: AuditQuery,
  context: RequestContext,
): Promise<AuditPageResponse> {
  const page = { pageSize, pagingToken }
  const { rows, ...more } = await pageOfShards(context, audits, auditConditions(filter, audits), page)
  return { entries: rows.map(response), ...more }
}

/** As `readAudit`, of what administration accounts did outside of tenants. */
export async function readAdministrationAudit(
  { pageSize, pagingToken, ...filter }: AuditQuery,
  { env, calls }: AdministrationContext,
): Promise<AuditPageResponse> {
  const conditions = auditConditions(filter, administrationAudits)
  const page = { pageSize, pagingToken }
  const databases = [controlDatabase(env, calls)]
  const { rows, ...more } = await pageOfDatabases(databases, administrationAudits, conditions, page)
  return { entries: rows.map(response), ...more }
}

const response = ({ createdAt, action, ...row }: PagedRow<typeof audits>): AuditResponse => ({
  ...row,
  timestamp: String(createdAt),
  action: action as AuditResponse['action'],
  details: { ...row.details },
})
