import type { AdministrationContext, RequestContext } from '../../platform/context.ts'
import { forAdministration, forTenant, type Route } from '../../platform/http/route.ts'
import { type PagedRow, pageOfDatabases, pageOfShards } from '../../platform/paging.ts'
import { administrationAudits } from '../../platform/tenancy/control-tables.ts'
import { controlDatabase } from '../../platform/tenancy.ts'
import { audits } from '../tables.ts'
import type { AuditAction } from './actions.ts'
import { AuditPageResponse, AuditQuery } from './contract.ts'
import { auditConditions } from './store.ts'

const { get } = forTenant('Audit')
const administration = forAdministration('Audit')

export const auditRoutes: readonly Route[] = [
  get('/audit/list', {
    summary: 'Read the audit trail',
    description:
      'Who did what, when, to what; oldest first unless `order` says otherwise. Written with what it tells of, and never changed. It tells of auxiliary data: each change, through the API or by a plugin; of secrets: each change, and each that a plugin read; of sign-ins, accounts and tokens; of webhooks and what was sent again; of deploys and repairs of the configuration; of integrations and the operations that they fill in; of settings and the clock of the tenant; of what software agents carried out; and of refusals for want of a permission: the first of an hour for each account and path. Values are not in it. For administrators of the tenant.',
    permission: 'audit.list',
    query: AuditQuery,
    answer: { schema: AuditPageResponse, description: 'A page of entries.' },
    handle: ({ query }, context) => readAudit(query, context),
  }),
  administration.get('/audit/administration/list', {
    permission: 'audit.list',
    summary: 'Read the audit trail of administration accounts',
    description:
      'Their sign-ins, passwords, unlockings and long-lived tokens, as far as they belong to no tenant; tenants that they made or made again; and what they were refused for want of a permission or a tenant; where one enters a tenant, the trail of that tells.',
    query: AuditQuery,
    answer: { schema: AuditPageResponse, description: 'A page of entries.' },
    handle: ({ query }, context) => readAdministrationAudit(query, context),
  }),
]

/** Reads a page of the trail from all shards of the tenant, with one round trip per shard. */
async function readAudit({ pageSize, pagingToken, order, ...filter }: AuditQuery, context: RequestContext) {
  const conditions = auditConditions(filter, audits)
  return response(await pageOfShards(context, audits, conditions, { pageSize, pagingToken, order }))
}

async function readAdministrationAudit(
  { pageSize, pagingToken, order, ...filter }: AuditQuery,
  { env, calls }: AdministrationContext,
) {
  const databases = [controlDatabase(env, calls)]
  const conditions = auditConditions(filter, administrationAudits)
  return response(
    await pageOfDatabases(databases, administrationAudits, conditions, { pageSize, pagingToken, order }),
  )
}

const response = ({ rows, ...more }: { rows: PagedRow<typeof audits>[] }): AuditPageResponse => ({
  entries: rows.map(({ createdAt, action, ...row }) => ({
    ...row,
    timestamp: String(createdAt),
    action: action as AuditAction,
    details: { ...row.details },
  })),
  ...more,
})
