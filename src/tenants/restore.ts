// State that a restore of a tenant's databases must carry over from the time that it undoes. Before a database is restored, its
// rows after the restore time are saved to files of the tenant. Afterwards no number and no account epoch is issued twice,
// webhooks receive no event again, and the report lists everything undone. Every step may be repeated.
import { type SQL, sql } from 'drizzle-orm'
import { SHARDS } from '../kernel/locators.ts'
import { noCalls } from '../platform/calls.ts'
import { type Database, openDatabase, type Query } from '../platform/database.ts'
import { eachEvent } from '../platform/events/rows.ts'
import { deliveries, events } from '../platform/events/tables.ts'
import type { NotedState, RestoreOperation } from '../platform/tenancy/control-tables.ts'
import { noteKey } from '../platform/tenancy/restore-notes.ts'
import { shardClient, type Tenant, tenantFiles } from '../platform/tenancy.ts'
import { findUndoneErasures, type NotedVersion, versionsSince } from './undone-erasures.ts'

const ROWS_A_FILE = 2_000

/** Rows are saved from this long before the restore time: provider clocks differ, and events are dated before their commit. */
const MARGIN_MS = 5 * 60_000

/** Numbers skipped after those already leased: isolates and objects may still hold some. */
export const LEAP = 100_000

type UndoneEvent = {
  readonly sequence: number
  readonly locator: string
  readonly type: string
  readonly at: number
  readonly data: Readonly<Record<string, string>>
}

type UndonePayment = {
  readonly locator: string
  readonly policyLocator: string
  readonly invoiceLocator: string
  /** In minor units. */
  readonly amount: number
  readonly currency: string
  readonly postedAt: number
}

type UndoneDocument = {
  readonly locator: string
  readonly policyLocator: string
  readonly displayName: string
  readonly createdAt: number
}

type EndedDelivery = {
  readonly webhook: string
  readonly name: string
  readonly sequence: number
  readonly state: string
  readonly attempts: number
  readonly outcome: string | null
  readonly finishedAt: number
  readonly divertedAt: number | null
}

/** An entry of the audit trail: who changed accounts, tokens, secrets, settings, webhooks or the configuration. */
type UndoneEntry = {
  readonly locator: string
  readonly action: string
  readonly subject: string
  readonly username: string
  readonly at: number
}

/** The highest epoch of an account that access tokens may have. */
type AccountEpoch = { readonly account: string; readonly epoch: number }

type Noted = {
  events: UndoneEvent[]
  payments: UndonePayment[]
  documents: UndoneDocument[]
  audit: UndoneEntry[]
  deliveries: EndedDelivery[]
  epochs: AccountEpoch[]
  versions: NotedVersion[]
}

export type Undone = Pick<Noted, 'events' | 'payments' | 'documents' | 'audit'> & {
  /** Policyholders whose erased values are back. */
  readonly erasures: readonly string[]
  /** Undone events that a webhook has received. */
  readonly sent: readonly { readonly webhook: string; readonly name: string; readonly event: string }[]
}

const open = (env: Env, tenant: Tenant, shard: number): Database =>
  openDatabase(shardClient(env, tenant, shard).client, noCalls())

/** Saves the suspended tenant's rows after `restore.to`. Returns the numbers issued so far. */
export async function noteShard(
  env: Env,
  tenant: Tenant,
  restore: RestoreOperation,
  shard: number,
): Promise<NotedState> {
  const database = open(env, tenant, shard)
  const bucket = tenantFiles(env, tenant)
  const since = restore.to - MARGIN_MS
  let files = 0
  const note = async (part: Partial<Noted>): Promise<void> => {
    await bucket.put(noteKey(tenant, restore.number, shard, files), JSON.stringify(part))
    files += 1
  }
  for (const [list, query] of Object.entries(notedQueries(since))) {
    for (let after: Place = { place: 0, locator: '' }; ; ) {
      const [rows] = await database.batch([database.build.all<{ row: string } & Place>(query(after))])
      if (rows.length === 0) break
      await note({ [list]: rows.map(({ row }) => JSON.parse(row)) })
      after = rows.at(-1)!
    }
  }
  for await (const versions of versionsSince(database, since)) await note({ versions })
  return { ...(await readIssuedNumbers(database)), files }
}

/** The position of a row in its table. */
type Place = { readonly place: number; readonly locator: string }

/** Each query returns `row`, and its place for the next page. Records of policies may be in a table without row ids. */
const notedQueries = (since: number): Record<Exclude<keyof Noted, 'versions'>, (after: Place) => SQL> => ({
  events: after => sql`
    select json_object('sequence', sequence, 'locator', locator, 'type', type, 'at', at, 'data', json(data)) as row, sequence as place, locator
    from ${eachEvent(sql`(select * from event where sequence > ${after.place} and at >= ${since} order by sequence limit ${ROWS_A_FILE})`)}
    order by sequence`,
  payments: after => sql`
    select json_object('locator', locator, 'policyLocator', cast(policy_locator as text), 'invoiceLocator', invoice_locator,
      'amount', amount, 'currency', currency, 'postedAt', posted_at) as row, policy_locator as place, locator
    from payment where (policy_locator, locator) > (${after.place}, ${after.locator}) and posted_at >= ${since}
    order by policy_locator, locator limit ${ROWS_A_FILE}`,
  documents: after => sql`
    select json_object('locator', locator, 'policyLocator', cast(policy_locator as text), 'displayName', display_name,
      'createdAt', created_at) as row, policy_locator as place, locator
    from document where (policy_locator, locator) > (${after.place}, ${after.locator}) and created_at >= ${since}
    order by policy_locator, locator limit ${ROWS_A_FILE}`,
  audit: after => sql`
    select json_object('locator', locator, 'action', action, 'subject', subject, 'username', username, 'at', created_at) as row,
      0 as place, locator
    from audit where locator > ${after.locator} and created_at >= ${since} order by locator limit ${ROWS_A_FILE}`,
  deliveries: after => sql`
    select json_object('webhook', d.webhook_locator, 'name', w.name, 'sequence', d.event_sequence, 'state', d.state,
      'attempts', d.attempts, 'outcome', d.outcome, 'finishedAt', d.finished_at, 'divertedAt', d.diverted_at) as row, d.event_sequence as place,
      d.webhook_locator as locator
    from delivery d join webhook w on w.locator = d.webhook_locator
    where (d.webhook_locator, d.event_sequence) > (${after.locator}, ${after.place}) and d.finished_at >= ${since}
    order by d.webhook_locator, d.event_sequence limit ${ROWS_A_FILE}`,
  epochs: after => sql`
    select json_object('account', account, 'epoch', max(epoch)) as row, 0 as place, account as locator
    from (select locator as account, token_epoch as epoch from account where token_epoch > 0 and locator > ${after.locator}
      union all select account_locator, epoch from revoked_account where account_locator > ${after.locator})
    group by account order by account limit ${ROWS_A_FILE}`,
})

/** Returns the last event and the next number. Without a `number_sequence` row, derives the next number from the locators. */
export async function readIssuedNumbers(database: Database): Promise<Omit<NotedState, 'files'>> {
  const highest = LOCATOR_COLUMNS.map(
    ([table, column]) => `coalesce((select max(${column}) from ${table}), 0)`,
  )
  const [rows] = await database.batch([
    database.build.all<{ last: number; next: number }>(sql`
      select coalesce((select seq from sqlite_sequence where name = 'event'), 0) as last,
        coalesce((select next from number_sequence), max(${sql.raw(highest.join())}) / ${SHARDS} + 1) as next`),
  ])
  const { last, next } = rows[0]!
  return { lastEvent: last, nextNumber: next }
}

/** Locators and display ids that contain numbers. */
const LOCATOR_COLUMNS = [
  ...['policy', 'quote', 'endorsement', 'cancellation'].map(table => [table, 'locator'] as const),
  ...['exposure', 'peril', 'modification', 'invoice', 'payment'].map(table => [table, 'display_id'] as const),
]

/**
 * Prepares the restored database for service: numbers and events continue after those already issued, and deliveries that had
 * ended are ended again, so that no webhook receives them twice. Returns everything that is undone.
 */
export async function mendShard(
  env: Env,
  tenant: Tenant,
  restore: RestoreOperation,
  shard: number,
  noted: NotedState,
): Promise<Undone> {
  const database = open(env, tenant, shard)
  const bucket = tenantFiles(env, tenant)
  // New events get sequences above `lastEvent`, so a repeat reads the same.
  const [rows] = await database.batch([
    database.build.all<{ last: number }>(
      sql`select coalesce(max(sequence), 0) as last from ${events} where sequence <= ${noted.lastEvent}`,
    ),
  ])
  const kept = rows[0]!.last
  const undone: Omit<Noted, 'epochs' | 'versions'> = {
    events: [],
    payments: [],
    documents: [],
    audit: [],
    deliveries: [],
  }
  const erasures: string[] = []
  for (let file = 0; file < noted.files; file += 1) {
    const key = noteKey(tenant, restore.number, shard, file)
    const stored = await bucket.get(key)
    if (!stored) throw new Error(`${key} is missing. It has the state noted before the restore.`)
    const part = (await stored.json()) as Partial<Noted>
    undone.events.push(...(part.events ?? []).filter(({ sequence }) => sequence > kept))
    undone.payments.push(...(await missingRows(database, 'payment', part.payments ?? [])))
    undone.documents.push(...(await missingRows(database, 'document', part.documents ?? [])))
    undone.audit.push(...(await missingEntries(database, part.audit ?? [])))
    erasures.push(...(await findUndoneErasures(database, part.versions ?? [])))
    undone.deliveries.push(...(part.deliveries ?? []).filter(({ sequence }) => sequence > kept))
    const ended = (part.deliveries ?? []).filter(({ sequence }) => sequence <= kept)
    await endDeliveries(database, ended)
    await raiseEpochs(database, part.epochs ?? [])
  }
  await database.batch([...continueAfter(database, noted), nextOfLines(database)])
  const locators = new Map(undone.events.map(({ sequence, locator }) => [sequence, locator]))
  const { deliveries: ended, ...lists } = undone
  return {
    ...lists,
    // The versions of a policyholder may be in two files.
    erasures: [...new Set(erasures)],
    sent: ended.flatMap(({ webhook, name, sequence, state }) =>
      state === 'sent' ? [{ webhook, name, event: locators.get(sequence) ?? String(sequence) }] : [],
    ),
  }
}

async function missingRows<Row extends { readonly locator: string; readonly policyLocator: string }>(
  database: Database,
  table: 'payment' | 'document',
  rows: readonly Row[],
): Promise<Row[]> {
  if (rows.length === 0) return []
  const [found] = await database.batch([
    database.build.all<{ locator: string }>(
      sql`select found.locator from json_each(${JSON.stringify(rows)}) as wanted cross join ${sql.raw(table)} as found
        on found.policy_locator = cast(wanted.value ->> 'policyLocator' as integer) and found.locator = wanted.value ->> 'locator'`,
    ),
  ])
  const present = new Set(found.map(({ locator }) => locator))
  return rows.filter(({ locator }) => !present.has(locator))
}

async function missingEntries(database: Database, entries: readonly UndoneEntry[]): Promise<UndoneEntry[]> {
  if (entries.length === 0) return []
  const [found] = await database.batch([
    database.build.all<{ locator: string }>(
      sql`select locator from audit where locator in (select value ->> 'locator' from json_each(${JSON.stringify(entries)}))`,
    ),
  ])
  const present = new Set(found.map(({ locator }) => locator))
  return entries.filter(({ locator }) => !present.has(locator))
}

async function endDeliveries(database: Database, ended: readonly EndedDelivery[]): Promise<void> {
  if (ended.length === 0) return
  await database.batch([
    database.build.run(sql`
      update ${deliveries} set state = e.value ->> 'state', attempts = e.value ->> 'attempts', outcome = e.value ->> 'outcome',
        finished_at = e.value ->> 'finishedAt', diverted_at = e.value ->> 'divertedAt'
      from json_each(${JSON.stringify(ended)}) e
      where webhook_locator = e.value ->> 'webhook' and event_sequence = e.value ->> 'sequence'`),
  ])
}

/**
 * Raises epochs of accounts to those issued before. An account's next tokens have its epoch: a repeated epoch would be rejected
 * for as long as its revocation is remembered, and would outlive the next revocation.
 */
async function raiseEpochs(database: Database, epochs: readonly AccountEpoch[]): Promise<void> {
  if (epochs.length === 0) return
  await database.batch([
    database.build.run(sql`
      update account set token_epoch = max(token_epoch, e.value ->> 'epoch')
      from json_each(${JSON.stringify(epochs)}) e where locator = e.value ->> 'account'`),
  ])
}

/** Makes the first unfinished delivery of each line pending. */
const nextOfLines = (database: Database): Query =>
  database.build.run(sql`
    update ${deliveries} set state = 'pending'
    where state = 'waiting' and finished_at is null and not exists (
      select 1 from delivery earlier where earlier.webhook_locator = delivery.webhook_locator and earlier.line = delivery.line
        and earlier.finished_at is null and earlier.event_sequence < delivery.event_sequence)`)

/**
 * Raises the next number and the next event's sequence above those that were given out. They are never lowered, so it may be
 * repeated.
 */
export const continueAfter = (
  database: Database,
  { lastEvent, nextNumber }: Omit<NotedState, 'files'>,
): [Query, ...Query[]] => [
  database.build.run(sql`
    insert into number_sequence (id, next) values (1, ${nextNumber + LEAP})
    on conflict (id) do update set next = max(next, excluded.next)`),
  // `sqlite_sequence` is not writable: inserting a row and deleting it raises the sequence.
  database.build.run(sql`
    insert into event (sequence, locator, request_id, type, at, data, account_locator, username)
    select ${lastEvent}, 'none', 'none', 'none', 0, '{}', 'none', 'none'
    where ${lastEvent} > (select coalesce(max(seq), 0) from sqlite_sequence where name = 'event')`),
  database.build.run(sql`delete from ${events} where locator = 'none'`),
]
