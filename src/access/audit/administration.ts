// What administration accounts did that belongs to no tenant, in the control database.
import { type SQL, sql } from 'drizzle-orm'
import { newUuid } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import { administrationAudits } from '../../platform/control-tables.ts'
import type { Database, Query } from '../../platform/database.ts'
import type { AuditEntry } from './store.ts'

/** A query for the batch of what the entry tells of; with `holds`, only if that is so at its place in the batch. */
export const administrationAuditRow = (
  database: Database,
  { caller, requestId, now }: Pick<RequestContext, 'caller' | 'requestId' | 'now'>,
  { action, subject, details }: AuditEntry,
  holds: SQL = sql`true`,
): Query =>
  database.build.run(sql`
    insert into ${administrationAudits}
      (locator, created_at, action, subject, details, account_locator, username, request_id)
    select ${newUuid(0)}, ${now}, ${action}, ${subject}, ${JSON.stringify(details)},
      ${caller.accountLocator}, ${caller.username}, ${requestId}
    where ${holds}`)
