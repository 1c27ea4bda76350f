// The audit trail as rows of each shard.
import { and, asc, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { RequestContext } from '../platform/context.ts'
import { type Database, putRows, type Query } from '../platform/database.ts'
import { newUuid, type Uuid } from '../platform/locators.ts'
import type { Instant } from '../platform/time.ts'
import type { AuditAction } from './actions.ts'
import { audits } from './tables.ts'

/** What was done, and to what. */
export type AuditEntry = {
  readonly action: AuditAction
  readonly subject: string
  readonly details: Readonly<Record<string, unknown>>
}

export type AuditRow = typeof audits.$inferSelect & { locator: Uuid; createdAt: Instant }

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
  readonly startTimestamp?: Instant | undefined
  readonly endTimestamp?: Instant | undefined
}

/** Rows of one shard that fit, oldest first, from behind the position. */
export const auditQuery = (
  { build }: Database,
  filter: AuditFilter,
  after: { createdAt: Instant; locator: Uuid } | undefined,
  most: number,
) =>
  build
    .select()
    .from(audits)
    .where(
      and(
        ...conditions(filter),
        after && sql`(${audits.createdAt}, ${audits.locator}) > (${after.createdAt}, ${after.locator})`,
      ),
    )
    .orderBy(asc(audits.createdAt), asc(audits.locator))
    .limit(most)

function conditions({ action, subject, username, startTimestamp, endTimestamp }: AuditFilter): SQL[] {
  const all: SQL[] = []
  if (action !== undefined) all.push(eq(audits.action, action))
  if (subject !== undefined) all.push(eq(audits.subject, subject))
  if (username !== undefined) all.push(eq(audits.username, username))
  if (startTimestamp !== undefined) all.push(gte(audits.createdAt, startTimestamp))
  if (endTimestamp !== undefined) all.push(lt(audits.createdAt, endTimestamp))
  return all
}
