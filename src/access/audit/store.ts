// The audit trail as rows of each shard.
import { eq, gte, lt, type SQL } from 'drizzle-orm'
import { newUuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { administrationAudits } from '../../platform/control-tables.ts'
import { type Database, putRows, type Query } from '../../platform/database.ts'
import type { AuditAction } from './actions.ts'
import { audits } from './tables.ts'

/** What was done, and to what. */
export type AuditEntry = {
  readonly action: AuditAction
  readonly subject: string
  readonly details: Readonly<Record<string, unknown>>
}

/** Queries for the batch of what the entries tell of. */
export const auditRows = (
  database: Database,
  { caller, requestId, now }: Pick<RequestContext, 'caller' | 'requestId' | 'now'>,
  shard: number,
  entries: readonly AuditEntry[],
): Query[] =>
  putRows(
    database,
    audits,
    entries.map(entry => ({
      ...entry,
      locator: newUuid(shard),
      createdAt: now,
      accountLocator: caller.accountLocator,
      username: caller.username,
      requestId,
    })),
  )

export type AuditFilter = {
  readonly action?: AuditAction | undefined
  readonly subject?: string | undefined
  readonly username?: string | undefined
  readonly accountLocator?: string | undefined
  readonly requestId?: string | undefined
  readonly startTimestamp?: Instant | undefined
  readonly endTimestamp?: Instant | undefined
}

/** What the rows of the trail must be. */
export function auditConditions(
  { action, subject, username, accountLocator, requestId, startTimestamp, endTimestamp }: AuditFilter,
  table: typeof audits | typeof administrationAudits,
): SQL[] {
  const all: SQL[] = []
  if (action !== undefined) all.push(eq(table.action, action))
  if (subject !== undefined) all.push(eq(table.subject, subject))
  if (username !== undefined) all.push(eq(table.username, username))
  if (accountLocator !== undefined) all.push(eq(table.accountLocator, accountLocator.toLowerCase()))
  if (requestId !== undefined) all.push(eq(table.requestId, requestId.toLowerCase()))
  if (startTimestamp !== undefined) all.push(gte(table.createdAt, startTimestamp))
  if (endTimestamp !== undefined) all.push(lt(table.createdAt, endTimestamp))
  return all
}
