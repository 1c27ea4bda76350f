import type { RequestContext } from '../platform/context.ts'
import { type PagedRow, pageOfShards } from '../platform/shard-pages.ts'
import type { AuditPageResponse, AuditQuery, AuditResponse } from './contract.ts'
import { auditConditions } from './store.ts'
import { audits } from './tables.ts'

/** A page of the trail, oldest first, from all shards of the tenant: one round trip each. */
export async function readAudit(
  { pageSize, pagingToken, ...filter }: AuditQuery,
  context: RequestContext,
): Promise<AuditPageResponse> {
  const page = { pageSize, pagingToken }
  const { rows, ...more } = await pageOfShards(context, audits, auditConditions(filter), page)
  return { entries: rows.map(response), ...more }
}

const response = ({ createdAt, action, ...row }: PagedRow<typeof audits>): AuditResponse => ({
  ...row,
  timestamp: String(createdAt),
  action: action as AuditResponse['action'],
  details: { ...row.details },
})
