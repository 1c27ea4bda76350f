import { sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { INVOICE_TIMER } from '../../../billing/billing.ts'
import { putAuxData } from '../../../extension/auxdata/store.ts'
import { derivedUuid, shardOfDigits } from '../../../kernel/locators.ts'
import { type Instant, later } from '../../../kernel/time.ts'
import { commit, type Guard, type NewTimer } from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { type Database, putTexts, type Query, rowTexts } from '../../../platform/database.ts'
import { termChange } from '../../../policy/list/store.ts'
import type { PolicyAggregate } from '../../../policy/records/aggregate.ts'
import { creditGuard } from '../../../policy/store/loading.ts'
import { COLLECTION_NAMES, COLLECTIONS, policyRow } from '../../../policy/store/rows.ts'
import { NOTHING_UNREAD } from '../../../policy/surroundings.ts'
import { disbursements } from '../../../policy/tables/billing.ts'
import { policies, policyTerms } from '../../../policy/tables/policies.ts'
import { policyState } from '../../../policy/transitions.ts'
import { termRows } from '../../../policyholders/store.ts'
import { policyholders, policyholderTerms } from '../../../policyholders/tables.ts'
import { searchTerms } from '../../../policyholders/values.ts'
import type { Configuration } from '../../../product/configuration.ts'
import { configurationVersions } from '../../../product/tables.ts'
import { endsNaturally, termEndTimers } from '../../../transactions/term-end.ts'
import type { AuxRow, Converted } from '../convert/converted.ts'
import type { ItemFailure } from '../item.ts'
import * as store from '../store.ts'
import { migrationFailures, migrationMappings } from '../tables.ts'
import {
  type ConfiguredRunContext,
  changedRows,
  courseOf,
  type Earlier,
  earlierGuards,
  type RunContext,
} from './earlier.ts'

// What is to be recorded of an account: rows as they travel, and what else its batch has to do. So accounts are worked on one
// after the other, each by itself, and recorded together.

/** What became of an account, before it is recorded. */
export type Outcome = {
  readonly converted: Converted | undefined
  readonly failures: readonly ItemFailure[]
  /** Items that were migrated by earlier attempts. */
  readonly before: number
  /** Of an account that exists: what its disbursements, payments and bills rest on. */
  readonly earlier: Earlier | undefined
}

export type PreparedAccount = {
  readonly account: store.MigrationAccount
  readonly outcome: store.AccountOutcome
  /** Whether it becomes a policyholder, whose id must be unique. */
  readonly isMade: boolean
  readonly rows: TableRows
  readonly auxData: readonly AuxRow[]
  readonly guards: readonly Guard[]
  readonly facts: readonly Query[]
  readonly timers: readonly NewTimer[]
}

const MOST_WARNINGS = 100

export function preparedOf(
  run: ConfiguredRunContext,
  { now: at }: RequestContext,
  account: store.MigrationAccount,
  { converted, failures, before, earlier }: Outcome,
): PreparedAccount {
  const { database, migration, configuration } = run
  const { migrationLocator, accountLocator, totalItems } = account
  const kept = migration.validateOnly ? undefined : converted
  const became = converted?.mappings ?? []
  const processed = became.length + before
  const course = kept && courseOfPolicies(database, configuration.configuration, kept.policies, at)
  const changed = kept && earlier && changedRows(run, earlier, kept, at)
  const rows = new TableRows()
  if (kept) addRecords(rows, run, at, account, kept)
  const own = { migrationLocator, accountLocator }
  const mappings = (kept ? became : []).map(({ kind, originalId, locator, children = [] }) => ({
    ...{ ...own, kind, originalId, locator, children, migratedAt: at },
  }))
  rows.add(migrationMappings, mappings)
  rows.add(
    migrationFailures,
    failures.map(one => ({ ...one, ...own })),
  )
  return {
    account,
    outcome: {
      ordinal: account.ordinal,
      state: failures.length === 0 ? 'completed' : 'failed',
      processedItems: processed,
      errorItems: totalItems - processed,
      warnings: (converted?.warnings ?? []).slice(0, MOST_WARNINGS),
    },
    isMade: kept?.account !== undefined,
    rows,
    auxData: kept?.auxData ?? [],
    guards:
      kept && earlier
        ? [creditGuard(accountLocator, earlier.existing.credit), ...earlierGuards(accountLocator, earlier)]
        : [],
    facts: [...(course?.facts ?? []), ...(changed?.facts ?? [])],
    timers: [...(course?.timers ?? []), ...(changed?.timers ?? [])],
  }
}

function addRecords(
  rows: TableRows,
  { configuration: { configuration } }: ConfiguredRunContext,
  at: RequestContext['now'],
  { accountLocator }: store.MigrationAccount,
  { account, policies, disbursements: paidOut }: Converted,
): void {
  if (account) {
    const { policyholderFields: fields, timeZone } = configuration
    rows.add(policyholders, [account])
    rows.add(policyholderTerms, termRows(account, searchTerms({ fields, timeZone }, account.entity.values)))
  }
  addPolicies(rows, configuration, policies)
  rows.add(
    disbursements,
    paidOut.map(({ locator, type, amount, data, at: disbursedAt }) => ({
      ...{ locator, policyholderLocator: accountLocator, type, data, disbursedAt, createdAt: at },
      ...{ amount: amount.minor, currency: amount.currency },
    })),
  )
}

// Rows of many tables, table by table: what several accounts write is one statement of each table, however many they are.
export class TableRows {
  /** As they travel. Tables in the order in which they were first named; rows as they were added. */
  readonly #texts = new Map<SQLiteTable, string[]>()

  add<T extends SQLiteTable>(table: T, rows: readonly T['$inferInsert'][]): void {
    this.#take(table, rowTexts(table, rows))
  }

  /** Adds what the other has. */
  join(other: TableRows): void {
    for (const [table, texts] of other.#texts) this.#take(table, texts)
  }

  /** Queries that insert the rows, or put them in the place of rows with the same key. */
  queries(database: Database): Query[] {
    return [...this.#texts].flatMap(([table, texts]) => putTexts(database, table, texts))
  }

  #take(table: SQLiteTable, texts: readonly string[]): void {
    if (texts.length === 0) return
    const known = this.#texts.get(table)
    if (!known) this.#texts.set(table, [...texts])
    else for (const text of texts) known.push(text)
  }
}

// The rows of several whole policies in one statement per table, so that a batch does not grow with their number.
/** Adds the policies with everything in them, and what they are found by. */
export function addPolicies(
  rows: TableRows,
  { products }: Configuration,
  aggregates: readonly PolicyAggregate[],
): void {
  rows.add(
    policies,
    aggregates.map(one => policyRow(one, NOTHING_UNREAD)),
  )
  for (const aggregate of aggregates) {
    const { policy } = aggregate
    const ofPolicy = <R extends object>(row: R) => ({ ...row, policyLocator: policy.locator })
    for (const name of COLLECTION_NAMES) {
      const { table, toRow } = COLLECTIONS[name]
      const records = [...(aggregate[name] as ReadonlyMap<unknown, unknown>).values()]
      rows.add(table, records.map(record => ofPolicy(toRow(record as never))) as never)
    }
    rows.add(policyTerms, termChange(products[policy.productName]!, undefined, aggregate).added.map(ofPolicy))
  }
}

/** What goes on by the clock from the policies' last state: also their bills and their natural ends. */
export function courseOfPolicies(
  database: Database,
  { products, customEvents }: Configuration,
  aggregates: readonly PolicyAggregate[],
  now: Instant,
): { facts: Query[]; timers: NewTimer[] } {
  const courses = aggregates.map(aggregate => {
    const product = products[aggregate.policy.productName]!
    const { facts, timers } = courseOf(database, undefined, aggregate, product, customEvents, now)
    const isEnding = policyState(aggregate) === 'issued' && endsNaturally(aggregate)
    const end = isEnding ? termEndTimers(aggregate.policy, product, now) : []
    return { facts, timers: [...billingTimers(aggregate, now), ...timers, ...end] }
  })
  return { facts: courses.flatMap(({ facts }) => facts), timers: courses.flatMap(({ timers }) => timers) }
}

/** One for each time at which planned installments are to be invoiced; for those whose time has passed, now. */
function billingTimers({ policy, installments, invoices }: PolicyAggregate, now: Instant): NewTimer[] {
  const invoiced = new Set(
    [...invoices.values()].map(one => `${one.policyModificationLocator} ${one.installmentNumber}`),
  )
  const planned = [...installments.values()].filter(
    one => one.absorbedBy.length === 0 && !invoiced.has(`${one.modificationLocator} ${one.number}`),
  )
  const subject = String(policy.locator)
  return [...new Set(planned.map(({ issueAt }) => later(issueAt, now)))].map(dueAt => ({
    locator: derivedUuid(shardOfDigits(policy.locator), INVOICE_TIMER, subject, String(dueAt)),
    ...{ dueAt, kind: INVOICE_TIMER, subject, payload: {} },
  }))
}

/**
 * Records what became of the accounts, with their states, in one batch. It also begins the `next` accounts, and lets those that
 * were begun and `left` wait again. Throws `GuardTripped` if something that one of them depends on has changed.
 */
export async function record(
  run: ConfiguredRunContext,
  context: RequestContext,
  accounts: readonly PreparedAccount[],
  next: readonly store.MigrationAccount[],
  left: readonly store.MigrationAccount[],
): Promise<void> {
  const { database, locator, configuration, configVersion, shard, home } = run
  const { now: at } = context
  const claims = accounts.filter(({ isMade }) => isMade).map(({ account }) => account)
  const claimsHere = home === database ? claims : []
  if (claims.length > claimsHere.length) await claimElsewhere(run, claims)
  const rows = new TableRows()
  for (const one of accounts) rows.join(one.rows)
  const auxData = accounts.flatMap(one => one.auxData)
  const places = accounts.map(({ account }) => account)
  const accountLocators = places.map(({ accountLocator }) => accountLocator)
  const outcomes = accounts.map(({ outcome }) => outcome)
  await commit(context, database, {
    shard,
    guards: [
      store.accountsGuard(locator, places, 'processing'),
      configurationGuard(configVersion, configuration.hash),
      ...(claimsHere.length > 0 ? [store.claimGuard(claimsHere)] : []),
      ...accounts.flatMap(({ guards }) => guards),
    ],
    facts: [
      ...(claimsHere.length > 0 ? [store.claimQuery(database, claimsHere)] : []),
      // Before the rows, which include the current failures.
      store.forgetFailuresQuery(database, locator, accountLocators),
      ...rows.queries(database),
      ...(auxData.length > 0 ? putAuxData(database, auxData, at) : []),
      ...accounts.flatMap(({ facts }) => facts),
      store.outcomesQuery(run, outcomes, at),
      ...(next.length > 0 ? [store.beginQuery(run, next, at)] : []),
      ...(left.length > 0 ? [store.waitAgainQuery(run, left, false)] : []),
    ],
    timers: accounts.flatMap(({ timers }) => timers),
    subject: locator,
  })
}

/** Ids that lie in another database: they are the accounts' before anything of these is written, also after a crash. */
async function claimElsewhere(
  { home }: RunContext,
  claims: readonly store.MigrationAccount[],
): Promise<void> {
  const originalIds = claims.map(({ originalId }) => originalId)
  const [, found] = await home.batch([store.claimQuery(home, claims), store.claimsQuery(home, originalIds)])
  const owners = new Map(found.map(({ originalId, accountLocator }) => [originalId, accountLocator]))
  const taken = claims.find(one => owners.get(one.originalId) !== one.accountLocator)
  if (taken) throw new Error(`The account '${taken.originalId}' is being migrated twice at the same time.`)
}

/** The version still stands for the configuration that the accounts were converted by. */
const configurationGuard = (version: number, hash: string): Guard => ({
  name: 'guard_configuration_hash',
  holds: sql`(select ${configurationVersions.hash} from ${configurationVersions} where ${configurationVersions.version} = ${version}) = ${hash}`,
})
