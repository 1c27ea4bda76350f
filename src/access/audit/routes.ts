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
      'Who did what, when, to what; oldest first unless `order` says otherwise. Each entry is written together with the change that it records, and never changed. Recorded are: each change of auxiliary data, through the API or by a plugin; each change of a secret, and each read by a plugin; sign-ins, accounts and tokens; webhooks and what was sent again; deploys and repairs of the configuration; integrations and the operations that they fill in; settings and the clock of the tenant; actions that software agents carried out; and requests rejected for a missing permission, the first per hour for each account and path. Values are not recorded. For administrators of the tenant.',
    permission: 'audit.list',
    query: AuditQuery,
    answer: { schema: AuditPageResponse, description: 'A page of entries.' },
    handle: ({ query }, context) => readAudit(query, context),
  }),
  administration.get('/audit/administration/list', {
    permission: 'audit.list',
    summary: 'Read the audit trail of administration accounts',
    description:
      'Their sign-ins, passwords, unlockings and long-lived tokens, as far as they belong to no tenant; tenants that they created or recreated; and requests rejected for a missing permission or tenant. Their actions in a tenant are in the audit trail of that tenant.',
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
