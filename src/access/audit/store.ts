// Audit trails. A tenant's trail is in each of its shards, that of administration accounts in the control database.
import { eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { derivedUuid, newUuid } from '../../kernel/locators.ts'
import { now } from '../../kernel/time.ts'
import { noCalls } from '../../platform/calls.ts'
import { type AnswerBySubject, type Commit, commit, type JsonAnswer } from '../../platform/commit.ts'
import type { Caller, RequestContext } from '../../platform/context.ts'
import { putRows } from '../../platform/database/rows.ts'
import type { Database, Query } from '../../platform/database.ts'
import type { Exchange } from '../../platform/http/exchange.ts'
import type { Route } from '../../platform/http/route.ts'
import { administrationAudits } from '../../platform/tenancy/control-tables.ts'
import {
  ADMINISTRATION,
  controlDatabase,
  HOME_SHARD,
  homeDatabase,
  shardDatabase,
  type Tenant,
  tenantNow,
} from '../../platform/tenancy.ts'
import { audits } from '../tables.ts'
import type { AuditAction } from './actions.ts'
import type { AuditQuery } from './contract.ts'

export type AuditEntry = {
  readonly action: AuditAction
  readonly subject: string
  readonly details: Readonly<Record<string, unknown>>
}

/** Builds the rows of entries, for the batch of the change that they report. */
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
      details: detailsBy(caller, entry.details),
      locator: newUuid(shard),
      createdAt: now,
      accountLocator: caller.accountLocator,
      username: caller.username,
      requestId,
    })),
  )

/** Marks the details of an action that a software agent carried out. */
const detailsBy = (
  { isAgent }: Pick<Caller, 'isAgent'>,
  details: AuditEntry['details'],
): AuditEntry['details'] => (isAgent ? { ...details, by: 'agent' } : details)

/** `subject` defaults to that of the entry. */
type AuditedCommit = Omit<Commit, 'shard' | 'subject'> & {
  readonly audit: AuditEntry
  readonly subject?: string
}

/** Commits a change of the home shard with its audit entry. Throws the errors of `commit`. */
export const commitAudited = (
  context: RequestContext,
  database: Database,
  { audit, facts, ...write }: AuditedCommit,
): Promise<JsonAnswer | AnswerBySubject> =>
  commit(context, database, {
    shard: HOME_SHARD,
    subject: audit.subject,
    ...write,
    facts: [...facts, ...auditRows(database, context, HOME_SHARD, [audit])],
  })

/** Returns the conditions of a filter: `startTimestamp` is included, `endTimestamp` is not, all other values must be equal. */
export function auditConditions(
  {
    accountLocator,
    requestId,
    startTimestamp,
    endTimestamp,
    ...filter
  }: Omit<AuditQuery, 'order' | 'pageSize' | 'pagingToken'>,
  table: typeof audits | typeof administrationAudits,
): SQL[] {
  const { action, subject, username } = filter
  const equal: [SQLiteColumn, string | undefined][] = [
    [table.action, action],
    [table.subject, subject],
    [table.username, username],
    [table.accountLocator, accountLocator?.toLowerCase()],
    [table.requestId, requestId?.toLowerCase()],
  ]
  return [
    ...equal.flatMap(([column, value]) => (value === undefined ? [] : [eq(column, value)])),
    ...(startTimestamp === undefined ? [] : [gte(table.createdAt, startTimestamp)]),
    ...(endTimestamp === undefined ? [] : [lt(table.createdAt, endTimestamp)]),
  ]
}

/**
 * Records the entry before the action that it reports, once the action is known to be allowed. The trail may therefore report an
 * action that a failure prevented, but no action is missing from it.
 */
export async function recordAudit(context: RequestContext, entry: AuditEntry): Promise<void> {
  const database = homeDatabase(context)
  await database.batch(auditRows(database, context, HOME_SHARD, [entry]) as [Query, ...Query[]])
}

/** Builds the row of an entry for the batch of the change. Records nothing unless `holds` is true at its place in the batch. */
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

const HOUR_MS = 3_600_000

/** Avoids a write for each repeat in this isolate. Cleared when full. */
const recorded = new Set<string>()
const MOST_REMEMBERED = 10_000

/**
 * Records that the caller was denied the route, in the trail of the tenant or of administration accounts. Only the first denial
 * per hour is recorded for each account, method and path: a client that is denied repeatedly must not fill the trail. Runs after
 * the response, which does not depend on it. A failure is logged.
 */
export async function recordRefusal(
  env: Env,
  { requestId }: Pick<Exchange, 'requestId'>,
  { caller, tenant }: { caller: Caller; tenant: Tenant | undefined },
  { method, path, access }: Pick<Route, 'method' | 'path' | 'access'>,
): Promise<void> {
  const { accountLocator, accountType, username } = caller
  const at = tenant ? tenantNow(tenant) : now()
  const hour = String(Math.floor(at / HOUR_MS))
  const owner = tenant?.locator ?? ADMINISTRATION
  const locator = derivedUuid(HOME_SHARD, 'refusal', owner, accountLocator, method, path, hour)
  const key = `${tenant?.generation ?? ADMINISTRATION}/${locator}`
  if (recorded.has(key)) return
  const permissions = 'permissions' in access ? (access.permissions ?? []) : []
  const row = {
    locator,
    createdAt: at,
    action: 'permission.refused',
    subject: `${method.toUpperCase()} ${path}`,
    details: detailsBy(caller, { permissions, accountType }),
    accountLocator,
    username,
    requestId,
  }
  const [database, table] = tenant
    ? [shardDatabase(env, tenant, HOME_SHARD, noCalls()), audits]
    : [controlDatabase(env, noCalls()), administrationAudits]
  await database.batch([database.build.insert(table).values(row).onConflictDoNothing()])
  if (recorded.size >= MOST_REMEMBERED) recorded.clear()
  recorded.add(key)
}
