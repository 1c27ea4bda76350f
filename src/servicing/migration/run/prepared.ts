import { sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { INVOICE_TIMER } from '../../../billing/billing.ts'
import { putAuxData } from '../../../extension/auxdata/store.ts'
import { derivedUuid, shardOfDigits } from '../../../kernel/locators.ts'
import { type Instant, later } from '../../../kernel/time.ts'
import { commit, type Guard, type NewTimer } from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { putTexts, rowTexts } from '../../../platform/database/rows.ts'
import type { Database, Query } from '../../../platform/database.ts'
import { disbursementRow, journalOfChange, openingsOf } from '../../../policy/journal/history.ts'
import type { JournalRow } from '../../../policy/journal/rows.ts'
import { termChange } from '../../../policy/list/store.ts'
import type { PolicyAggregate } from '../../../policy/records/aggregate.ts'
import { journalQueries } from '../../../policy/store/journal.ts'
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
import { scheduleRows } from '../../../transactions/custom-events/plan.ts'
import { endsNaturally, termEndTimers } from '../../../transactions/term-end.ts'
import type { AuxRow, Converted } from '../convert/converted.ts'
import type { ItemFailure } from '../item.ts'
import * as store from '../store.ts'
import { migrationFailures, migrationMappings } from '../tables.ts'
import {
  type ConfiguredRunContext,
  changedRows,
  type Earlier,
  earlierGuards,
  type RunContext,
  timersOfChange,
} from './earlier-results.ts'

// Accounts are prepared one by one, and recorded together in one batch.

export type Outcome = {
  readonly converted: Converted | undefined
  readonly failures: readonly ItemFailure[]
  /** The number of items that earlier attempts migrated. */
  readonly before: number
  /** For an existing account: records on which its items depend. */
  readonly earlier: Earlier | undefined
}

export type PreparedAccount = {
  readonly account: store.MigrationAccount
  readonly outcome: store.AccountOutcome
  /** Whether it becomes a new policyholder, whose id must be unique. */
  readonly isMade: boolean
  readonly rows: TableRows
  readonly auxData: readonly AuxRow[]
  readonly guards: readonly Guard[]
  readonly facts: readonly Query[]
  readonly timers: readonly NewTimer[]
  /** The rows with which the books begin (policy/journal/history.ts). */
  readonly journal: readonly JournalRow[]
}

const MOST_WARNINGS = 100

/**
 * Collects the writes for one account. With `validateOnly`, these are only its outcome and failures. `processedItems` also counts
 * items that earlier attempts migrated. At most `MOST_WARNINGS` warnings are kept.
 */
export function prepareOutcome(
  run: ConfiguredRunContext,
  { now: at }: RequestContext,
  account: store.MigrationAccount,
  { converted, failures, before, earlier }: Outcome,
): PreparedAccount {
  const { database, migration, configuration } = run
  const { migrationLocator, accountLocator, totalItems } = account
  const kept = migration.validateOnly ? undefined : converted
  const newMappings = converted?.mappings ?? []
  const processed = newMappings.length + before
  const course = kept && timersOfPolicies(database, configuration.configuration, kept.policies, at)
  const changed = kept && earlier && changedRows(run, earlier, kept, at)
  const rows = new TableRows()
  if (kept) addRecords(rows, run, at, account, kept)
  const own = { migrationLocator, accountLocator }
  const mappings = (kept ? newMappings : []).map(({ kind, originalId, locator, children = [] }) => ({
    ...own,
    kind,
    originalId,
    locator,
    children,
    migratedAt: at,
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
        ? [
            creditGuard(accountLocator, { exactly: earlier.existing.credit }),
            ...earlierGuards(accountLocator, earlier),
          ]
        : [],
    facts: [...(course?.facts ?? []), ...(changed?.facts ?? [])],
    timers: [...(course?.timers ?? []), ...(changed?.timers ?? [])],
    journal: kept && run.tenant.keepsBooks ? journalRows(account, kept, at) : [],
  }
}

/** Returns the journal rows. A policy begins with those of its opening. Changes of existing policies, and disbursements, follow. */
const journalRows = (
  { accountLocator }: store.MigrationAccount,
  { policies, changes, disbursements: paidOut }: Converted,
  at: Instant,
): JournalRow[] => [
  ...policies.flatMap(policy => openingsOf(policy, at)),
  ...changes.flatMap(({ before, after }) => journalOfChange(before, after, at)),
  ...paidOut.map(({ locator, amount }) => disbursementRow(accountLocator, locator, amount, at)),
]

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
      locator,
      policyholderLocator: accountLocator,
      type,
      data,
      disbursedAt,
      createdAt: at,
      amount: amount.minor,
      currency: amount.currency,
    })),
  )
}

/** Collects rows by table, so that several accounts share the statements of each table. */
export class TableRows {
  /** Serialised rows. Tables stay in the order in which they were first added. */
  readonly #texts = new Map<SQLiteTable, string[]>()

  add<T extends SQLiteTable>(table: T, rows: readonly T['$inferInsert'][]): void {
    this.#take(table, rowTexts(table, rows))
  }

  join(other: TableRows): void {
    for (const [table, texts] of other.#texts) this.#take(table, texts)
  }

  /** Inserts rows; replaces those with the same key. */
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

/** Adds policies with all their records and search terms. */
function addPolicies(
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

/** Returns timers of new policies, including those for their bills and natural ends. */
export function timersOfPolicies(
  database: Database,
  { products, customEvents }: Configuration,
  aggregates: readonly PolicyAggregate[],
  now: Instant,
): { facts: Query[]; timers: NewTimer[] } {
  const courses = aggregates.map(aggregate => {
    const product = products[aggregate.policy.productName]!
    const { schedules, timers } = timersOfChange(undefined, aggregate, product, customEvents, now)
    const isEnding = policyState(aggregate) === 'issued' && endsNaturally(aggregate)
    const end = isEnding ? termEndTimers(aggregate.policy, product, now) : []
    return { after: aggregate, schedules, timers: [...billingTimers(aggregate, now), ...timers, ...end] }
  })
  return { facts: scheduleRows(database, courses, now), timers: courses.flatMap(({ timers }) => timers) }
}

/** Returns one timer for each time at which installments are due for invoicing; now for overdue ones. */
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
    dueAt,
    kind: INVOICE_TIMER,
    subject,
    payload: {},
  }))
}

/** Records the accounts, begins `next` and puts the begun `left` back, in one batch. Throws `GuardTripped` on a conflict. */
export async function recordAccounts(
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
      ...journalQueries(
        database,
        accounts.flatMap(({ journal }) => journal),
      ),
      store.outcomesQuery(run, outcomes, at),
      ...(next.length > 0 ? [store.beginQuery(run, next, at)] : []),
      ...(left.length > 0 ? [store.requeueQuery(run, left, false)] : []),
    ],
    timers: accounts.flatMap(({ timers }) => timers),
    subject: locator,
  })
}

/** Claims ids in another database before any record is written, so that a crash leaves them with their accounts. */
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

/** Fails if the version has another configuration by now. */
const configurationGuard = (version: number, hash: string): Guard => ({
  name: 'guard_configuration_hash',
  holds: sql`(select ${configurationVersions.hash} from ${configurationVersions} where ${configurationVersions.version} = ${version}) = ${hash}`,
})
