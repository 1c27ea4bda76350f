// The audit trail as rows of each shard.
import { eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import { newUuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import { type Database, putRows, type Query } from '../../platform/database.ts'
import { administrationAudits } from '../../platform/tenancy/control-tables.ts'
import { HOME_SHARD, shardDatabase } from '../../platform/tenancy.ts'
import type { AuditAction } from './contract.ts'
import { audits } from './tables.ts'

/** One action and its subject. */
export type AuditEntry = {
  readonly action: AuditAction
  readonly subject: string
  readonly details: Readonly<Record<string, unknown>>
}

/** Queries that record the entries, for the same batch as what they report. */
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

/** Conditions for the rows that match the filter. */
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

/**
 * Records the entry before the action that it reports, once that is known to be allowed. The trail may then report an action
 * that a failure prevented, but no action goes unreported.
 */
export async function recordAudit(context: RequestContext, entry: AuditEntry): Promise<void> {
  const { env, tenant, calls } = context
  const database = shardDatabase(env, tenant, HOME_SHARD, calls)
  await database.batch(auditRows(database, context, HOME_SHARD, [entry]) as [Query, ...Query[]])
}

/**
 * A query that records the entry, for the same batch as what it reports; with `holds`, only if that is true at its place in the
 * batch.
 */
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
