// The rows of policies: read whole in one batch, written by what differs.
import { type SQL, sql } from 'drizzle-orm'
import type {
  CancellationLocator,
  DisplayId,
  EndorsementLocator,
  PolicyLocator,
  QuoteLocator,
  Uuid,
} from '../../kernel/locators.ts'
import type { CurrencyCode } from '../../kernel/money.ts'
import {
  type Database,
  deleteRows,
  putRows,
  type Query,
  type Statement,
  statement,
} from '../../platform/database.ts'
import type { Policy, PolicyAggregate } from '../records/aggregate.ts'
import { NOTHING_UNREAD, type Unread } from '../surroundings.ts'
import { invoices, payments } from '../tables/billing.ts'
import { gracePeriods, lapseReinstatements, lapses } from '../tables/lapses.ts'
import {
  cancellations,
  endorsements,
  modifications,
  perils,
  policies,
  quotes,
  reinstatements,
} from '../tables/policies.ts'
import { COLLECTION_NAMES, COLLECTIONS, type CollectionName, policyRow, readPolicy } from './rows.ts'

/** Which policies to read. */
export type PolicySelection =
  | { locator: PolicyLocator }
  | { quoteLocator: QuoteLocator }
  | { endorsementLocator: EndorsementLocator }
  | { renewalLocator: EndorsementLocator }
  | { cancellationLocator: CancellationLocator }
  | { reinstatementLocator: Uuid }
  | { gracePeriodLocator: Uuid }
  | { lapseLocator: Uuid }
  | { lapseReinstatementLocator: Uuid }
  | { invoiceLocator: Uuid }
  | { paymentLocator: Uuid }
  | { perilLocator: Uuid }
  | { perilDisplayId: DisplayId }
  | { policyholderLocator: Uuid }
  /** Of a modification, or of what made one: an endorsement, a renewal, a quote, a cancellation, a reinstatement. */
  | { transactionLocator: number | Uuid }
  | { modificationLocator: Uuid }
  /** Locators as a JSON list. */
  | { locators: string }
  /** Locators of invoices as a JSON list. */
  | { invoiceLocators: string }

/**
 * Queries that read the policies with everything in them; `readAggregates` takes their results. They are part
 * of the caller's one batch.
 */
export const aggregateQueries = (database: Database, selection: PolicySelection): [Query, ...Query[]] =>
  chosenQueries(database, selection, POLICIES, ...ROWS)

/** Statements of one query, for each way to choose policies. */
export type ByChoice = Readonly<Record<Choice, Statement<Query>>>

type Choice =
  | 'locator'
  | 'quoteLocator'
  | 'endorsementLocator'
  | 'renewalLocator'
  | 'cancellationLocator'
  | 'reinstatementLocator'
  | 'gracePeriodLocator'
  | 'lapseLocator'
  | 'lapseReinstatementLocator'
  | 'invoiceLocator'
  | 'paymentLocator'
  | 'perilLocator'
  | 'perilDisplayId'
  | 'policyholderLocator'
  | 'transactionLocator'
  | 'modificationLocator'
  | 'locators'
  | 'invoiceLocators'

const chosen = sql.placeholder('chosen')

/** Conditions on a policy's locator, to stand after the column. */
const CONDITIONS: Readonly<Record<Choice, SQL>> = {
  locator: sql`= ${chosen}`,
  quoteLocator: sql`= (select policy_locator from ${quotes} where locator = ${chosen})`,
  endorsementLocator: sql`= (select policy_locator from ${endorsements} where locator = ${chosen} and kind = 'endorsement')`,
  renewalLocator: sql`= (select policy_locator from ${endorsements} where locator = ${chosen} and kind = 'renewal')`,
  cancellationLocator: sql`= (select policy_locator from ${cancellations} where locator = ${chosen})`,
  reinstatementLocator: sql`= (select policy_locator from ${reinstatements} where locator = ${chosen})`,
  gracePeriodLocator: sql`= (select policy_locator from ${gracePeriods} where locator = ${chosen})`,
  lapseLocator: sql`= (select policy_locator from ${lapses} where locator = ${chosen})`,
  lapseReinstatementLocator: sql`= (select policy_locator from ${lapseReinstatements} where locator = ${chosen})`,
  invoiceLocator: sql`= (select policy_locator from ${invoices} where locator = ${chosen})`,
  paymentLocator: sql`= (select policy_locator from ${payments} where locator = ${chosen})`,
  perilLocator: sql`= (select policy_locator from ${perils} where locator = ${chosen})`,
  perilDisplayId: sql`= (select policy_locator from ${perils} where display_id = ${chosen})`,
  policyholderLocator: sql`in (select locator from ${policies} where ${policies.policyholderLocator} = ${chosen})`,
  transactionLocator: sql`= coalesce(
    (select policy_locator from ${modifications} where locator = ${chosen}),
    (select policy_locator from ${endorsements} where locator = ${chosen}),
    (select policy_locator from ${quotes} where locator = ${chosen}),
    (select policy_locator from ${cancellations} where locator = ${chosen}),
    (select policy_locator from ${reinstatements} where locator = ${chosen}))`,
  modificationLocator: sql`= (select policy_locator from ${modifications} where locator = ${chosen})`,
  locators: sql`in (select value from json_each(${chosen}))`,
  invoiceLocators: sql`in (select policy_locator from ${invoices} where locator in (select value from json_each(${chosen})))`,
}

/** `make` gets the condition on a policy's locator, to stand after the column. */
export const byChoice = (make: (build: Database['build'], condition: SQL) => Query): ByChoice =>
  Object.fromEntries(
    Object.entries(CONDITIONS).map(([choice, condition]) => [
      choice,
      statement(build => make(build, condition)),
    ]),
  ) as ByChoice

/** The queries for the policies of the selection. */
export function chosenQueries(
  database: Database,
  selection: PolicySelection,
  ...statements: [ByChoice, ...ByChoice[]]
): [Query, ...Query[]] {
  const [[choice, chosen]] = Object.entries(selection) as [[Choice, number | string]]
  return statements.map(one => database.bind(one[choice], { chosen })) as [Query, ...Query[]]
}

const POLICIES = byChoice((build, condition) =>
  build.select().from(policies).where(sql`${policies.locator} ${condition}`).orderBy(policies.locator),
)

const ROWS = COLLECTION_NAMES.map(name =>
  byChoice((build, condition) => {
    const { table, order } = COLLECTIONS[name]
    return build.select().from(table).where(sql`policy_locator ${condition}`).orderBy(sql.raw(order))
  }),
)

const LOCATOR = byChoice((build, condition) =>
  build.select({ policy: policies.locator }).from(policies).where(sql`${policies.locator} ${condition}`),
)

/** The locator of the policy that the selection names. */
export const policyLocatorQuery = (database: Database, selection: PolicySelection): Query =>
  chosenQueries(database, selection, LOCATOR)[0]

/** How many results `aggregateQueries` has in a batch. */
export const AGGREGATE_QUERIES = 1 + COLLECTION_NAMES.length

/** The policies of a batch's results, as many as there are. */
export function readAggregates(results: readonly unknown[]): PolicyAggregate[] {
  const [policyRows, ...collectionRows] = results as [(typeof policies.$inferSelect)[], ...Row[][]]
  const building = new Map<number, Building>()
  for (const row of policyRows) {
    const policy = readPolicy(row)
    building.set(policy.locator, { policy, ...emptyCollections() })
  }
  for (const [index, name] of COLLECTION_NAMES.entries()) {
    const { fromRow } = COLLECTIONS[name]
    for (const row of collectionRows[index] ?? []) {
      const aggregate = building.get(row.policyLocator)
      if (!aggregate) continue
      const record = fromRow(row as never, aggregate.policy.currency as CurrencyCode)
      aggregate[name].set(record.locator, record)
    }
  }
  return [...building.values()] as unknown as PolicyAggregate[]
}

type Row = { policyLocator: number }

type Building = { policy: Policy } & Record<CollectionName, Map<string | number, unknown>>

const emptyCollections = (): Record<CollectionName, Map<string | number, unknown>> =>
  Object.fromEntries(COLLECTION_NAMES.map(name => [name, new Map()])) as never

/**
 * Queries that make the stored policy what `after` is. Records that `after` shares with `before` are not
 * touched: work grows with the change, not with the policy.
 */
export function differenceQueries(
  database: Database,
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  unread: Unread = NOTHING_UNREAD,
): Query[] {
  const queries = putRows(database, policies, [policyRow(after, unread)])
  for (const name of COLLECTION_NAMES) {
    const { table, toRow } = COLLECTIONS[name]
    const old = before?.[name] as ReadonlyMap<string | number, unknown> | undefined
    const current = after[name] as ReadonlyMap<string | number, unknown>
    if (old === current) continue
    const changed: Record<string, unknown>[] = []
    for (const [locator, record] of current)
      if (old?.get(locator) !== record)
        changed.push({ ...toRow(record as never), policyLocator: after.policy.locator })
    const gone = old ? [...old.keys()].filter(locator => !current.has(locator)) : []
    queries.push(...putRows(database, table, changed as never), ...deleteRows(database, table, gone))
  }
  return queries
}

/** The locator of the policy that bears the displayId, which is its locator or that of one of its quotes. */
export const displayIdQuery = (database: Database, displayId: number) =>
  database.build
    .select({ locator: policies.locator })
    .from(policies)
    .where(
      sql`${policies.locator} in (${displayId}, (select policy_locator from quote where locator = ${displayId}))`,
    )
