import type { RequestContext } from '../platform/context.ts'
import { mergedPage, readPagingToken, UUID_FORM, writePagingToken } from '../platform/paging.ts'
import { shardDatabase } from '../platform/tenancy.ts'
import type { AuditPageResponse, AuditQuery, AuditResponse } from './contract.ts'
import { type AuditRow, auditQuery } from './store.ts'

/** A page of the trail, oldest first, from all shards of the tenant: one round trip each. */
export async function readAudit(
  { pageSize, pagingToken, ...filter }: AuditQuery,
  { env, tenant, calls }: RequestContext,
): Promise<AuditPageResponse> {
  const positions = readPagingToken(pagingToken, UUID_FORM)
  const shards = await Promise.all(
    tenant.shards.map(async (_, shard) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const [rows] = await database.batch([auditQuery(database, filter, positions[shard], pageSize + 1)])
      return { rows: rows as AuditRow[], found: rows.length }
    }),
  )
  const { rows, next } = mergedPage(shards, positions, pageSize)
  return { entries: rows.map(response), ...(next && { pagingToken: writePagingToken(next, UUID_FORM) }) }
}

const response = ({ createdAt, action, ...row }: AuditRow): AuditResponse => ({
  ...row,
  timestamp: String(createdAt),
  action: action as AuditResponse['action'],
  details: { ...row.details },
})
