// Amounts are minor units of the policy's currency; rates are decimal text. The records that a modification made are issued when
// the modification is, so issuing writes one row.
import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteColumnBuilderBase, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import type { Money } from '../../kernel/money.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import type { Cut, FeeChange, PerilPrice, Proration, RunSplit, Upgrade } from '../records/aggregate.ts'
import type {
  CancellationState,
  ConflictHandling,
  EndorsementChanges,
  EndorsementState,
  GracePeriodState,
  LapseReinstatement,
  ModificationKind,
  PerilAmounts,
  ReinstatementState,
  UnderwritingResult,
} from '../records/transactions.ts'

/** The type of a value in a JSON column: its amounts in minor units. */
export type Stored<T> = T extends Money
  ? number
  : T extends string | number | boolean
    ? T
    : { -readonly [K in keyof T]: Stored<T[K]> }

type Columns = Record<string, SQLiteColumnBuilderBase>

const ofPolicy = { locator: text().notNull(), policyLocator: integer().notNull() }

// Tables of records that belong to a policy. Their keys begin with the policy, and they have no row ids, which drizzle cannot
// express (migrations/tenant/0007_keys_of_policies.sql). So each record is one written row, where a row id, a key and an index of
// policies would make three.

/** Declares a table whose records are found only with their policy. */
export const policyTable = <N extends string, C extends Columns>(name: N, columns: C) =>
  sqliteTable(name, { ...ofPolicy, ...columns }, table => [keyOf(table)])

/** A table whose records are also found by locator alone. */
export const foundPolicyTable = <N extends string, C extends Columns>(
  name: N,
  columns: C,
  ...indexes: readonly LookupIndex<C>[]
) =>
  sqliteTable(name, { ...ofPolicy, ...columns }, table => [
    keyOf(table),
    olderLocators(name, table),
    ...indexes.map(one => lookupIndex(one, table as never)),
  ])

/** An index by a column and then the locator. With `where`, only of the records that wait for someone. */
type LookupIndex<C> = { readonly index: string; readonly by: keyof C; readonly where?: SQL }

function lookupIndex<C>(
  { index: name, by, where }: LookupIndex<C>,
  table: Keyed & Record<keyof C, SQLiteColumn>,
) {
  const made = index(name).on(table[by], table.locator)
  return where ? made.where(where) : made
}

const keyWithin = (owner: SQLiteColumn, { policyLocator, locator }: Keyed) =>
  primaryKey({ columns: [policyLocator, owner, locator] })

type Keyed = { readonly locator: SQLiteColumn; readonly policyLocator: SQLiteColumn }

export const keyOf = ({ policyLocator, locator }: Keyed) => primaryKey({ columns: [policyLocator, locator] })

/** The condition for locators that do not name their policy (kernel/locators.ts). Indexes have it, so queries must repeat it. */
export const NAMES_NO_POLICY = sql.raw(`substr(locator, 15, 1) <> '8'`)

/** Matches the record with the UUID. `policy` is the one that the UUID names; older UUIDs name none and have an index. */
export const hasUuid = (
  table: SQLiteTable,
  locator: Uuid | Placeholder,
  policy: PolicyLocator | Placeholder | undefined,
): SQL => sql`policy_locator = coalesce(${policy ?? null}, (
  select policy_locator from ${table} where locator = ${locator} and ${NAMES_NO_POLICY})) and locator = ${locator}`

/** Declares the index by which `hasUuid` finds records whose locator does not name their policy. */
export const olderLocators = (name: string, { locator }: Keyed) =>
  index(`${name}_older`).on(locator).where(NAMES_NO_POLICY)

/** Keys of tables whose records have digit locators, which do not name their policy. */
const ofDigits = { locator: integer().primaryKey(), policyLocator: integer().notNull() }

/**
 * Conditions for records that wait for someone (servicing/work-lists). They are the conditions of indexes, so that closed records
 * cost nothing; queries must repeat them.
 */
export const OPEN_WORK = {
  referredQuote: sql.raw(`state = 'declined' and json_extract(underwriting, '$.decision') = 'none'`),
  /** Of a policy's quotes, only the one that it follows. Accepting another quote closes it. */
  quotedQuote: sql.raw(`state = 'quoted' and selected = 1`),
  application: sql.raw(`state = 'application'`),
  quotedEndorsement: sql.raw(`state = 'quoted'`),
  inForce: sql.raw('issued_at is not null'),
  openGrace: sql.raw('settled_at is null'),
  lapsedByCancellation: sql.raw(`state = 'issued' and name = 'lapse'`),
  owedInvoice: sql.raw(`json_extract(statuses, '$[#-1].status') = 'unfulfilled' and is_refund is null`),
  failedDocument: sql.raw(`state in ('dataError', 'renderError', 'conversionError')`),
} as const

export const times = { createdAt: integer().notNull(), updatedAt: integer().notNull() }

export const span = { start: integer().notNull(), end: integer().notNull() }

export const policies = sqliteTable(
  'policy',
  {
    locator: integer().primaryKey(),
    policyholderLocator: text().notNull(),
    productName: text().notNull(),
    configVersion: integer().notNull(),
    upgrades: text({ mode: 'json' }).$type<readonly Upgrade[]>(),
    version: integer().notNull(),
    ...times,
    finalizedAt: integer(),
    issuedAt: integer(),
    discardedAt: integer(),
    originalStart: integer().notNull(),
    originalEnd: integer().notNull(),
    effectiveEnd: integer().notNull(),
    currency: text().notNull(),
    timeZone: text().notNull(),
    paymentScheduleName: text().notNull(),
    premiumReportName: text(),
    /** Counts over all its quotes. They show how large the policy is before it is read. */
    exposureCount: integer().notNull(),
    perilCount: integer().notNull(),
  },
  table => [
    index('policy_policyholder').on(table.policyholderLocator),
    index('policy_created').on(table.createdAt, table.locator),
    index('policy_ending').on(table.effectiveEnd, table.locator).where(OPEN_WORK.inForce),
  ],
)

export const quotes = sqliteTable(
  'quote',
  {
    ...ofDigits,
    name: text().notNull(),
    state: text({ enum: ['draft', 'quoted', 'accepted', 'declined', 'discarded'] }).notNull(),
    selected: integer({ mode: 'boolean' }).notNull(),
    ...times,
    issuedAt: integer(),
    contractStart: integer().notNull(),
    contractEnd: integer().notNull(),
    paymentScheduleName: text().notNull(),
    underwriting: text({ mode: 'json' }).$type<UnderwritingResult>(),
  },
  table => [
    index('quote_policy').on(table.policyLocator),
    index('quote_referred').on(table.updatedAt, table.locator).where(OPEN_WORK.referredQuote),
    index('quote_quoted').on(table.updatedAt, table.locator).where(OPEN_WORK.quotedQuote),
  ],
)

/** Holdbacks of a run or a fee as stored: in minor units, commissions by position. */
export type StoredHoldback =
  | {
      perilRunLocator: Uuid
      amount?: number
      taxes?: Record<string, number>
      commissions?: Record<string, number>
    }
  | { feeLocator: Uuid; amount: number }

export const modifications = foundPolicyTable('modification', {
  displayId: integer().notNull(),
  kind: text().$type<ModificationKind>().notNull(),
  quoteLocator: integer(),
  number: integer().notNull(),
  name: text().notNull(),
  effectiveAt: integer().notNull(),
  policyEnd: integer().notNull(),
  ...times,
  acceptedAt: integer(),
  issuedAt: integer(),
  invalidatedAt: integer(),
  underwriting: text({ mode: 'json' }).$type<UnderwritingResult>(),
  premiumChange: integer(),
  proration: text().$type<Proration>(),
  transactionLocator: text(),
  undoes: text(),
  holdbacks: text({ mode: 'json' }).$type<StoredHoldback[]>(),
  cancellationName: text(),
  newPaymentScheduleName: text(),
})

const made = {
  ...times,
  madeBy: text().notNull(),
  replacedBy: text(),
  ...span,
}

export const policySegments = policyTable('policy_segment', {
  ...made,
  quoteLocator: integer().notNull(),
  data: text({ mode: 'json' }).$type<FieldData>().notNull(),
  predecessor: text(),
})

export const exposures = policyTable('exposure', {
  displayId: integer().notNull(),
  quoteLocator: integer().notNull(),
  name: text().notNull(),
  ...times,
})

export const exposureRuns = sqliteTable(
  'exposure_run',
  {
    ...ofPolicy,
    ...made,
    exposureLocator: text().notNull(),
    data: text({ mode: 'json' }).$type<FieldData>().notNull(),
    cuts: text({ mode: 'json' }).$type<Cut[]>().notNull(),
  },
  table => [keyWithin(table.exposureLocator, table)],
)

export const perils = sqliteTable(
  'peril',
  {
    ...ofPolicy,
    displayId: integer().notNull(),
    exposureLocator: text().notNull(),
    name: text().notNull(),
    renewalGroup: text().notNull(),
    parentLocator: text(),
    ...times,
  },
  table => [
    keyWithin(table.exposureLocator, table),
    olderLocators('peril', table),
    index('peril_number').on(table.displayId),
  ],
)

export const perilRuns = sqliteTable(
  'peril_run',
  {
    ...ofPolicy,
    ...made,
    perilLocator: text().notNull(),
    data: text({ mode: 'json' }).$type<FieldData>().notNull(),
    amounts: text({ mode: 'json' }).$type<PerilAmounts>().notNull(),
    cuts: text({ mode: 'json' }).$type<Cut[]>().notNull(),
    monthPremium: text(),
    premium: integer(),
    price: text({ mode: 'json' }).$type<Stored<Omit<PerilPrice, 'premium'>>>(),
    splits: text({ mode: 'json' }).$type<Stored<RunSplit[]>>(),
  },
  table => [keyWithin(table.perilLocator, table)],
)

export const fees = policyTable('fee', {
  quoteLocator: integer().notNull(),
  name: text().notNull(),
  description: text().notNull(),
  amount: integer().notNull(),
  madeBy: text().notNull(),
  ...span,
  changes: text({ mode: 'json' }).$type<Stored<FeeChange[]>>().notNull(),
})

export const endorsements = sqliteTable(
  'endorsement',
  {
    ...ofDigits,
    kind: text({ enum: ['endorsement', 'renewal'] }).notNull(),
    name: text().notNull(),
    state: text().$type<EndorsementState>().notNull(),
    startAt: integer().notNull(),
    endAt: integer(),
    changes: text({ mode: 'json' }).$type<EndorsementChanges>().notNull(),
    touches: text({ mode: 'json' }).$type<readonly Uuid[]>(),
    ...times,
    issuedAt: integer(),
    underwriting: text({ mode: 'json' }).$type<UnderwritingResult>(),
    modificationLocator: text(),
    basedOn: integer(),
  },
  table => [
    index('endorsement_policy').on(table.policyLocator),
    index('endorsement_application').on(table.updatedAt, table.locator).where(OPEN_WORK.application),
    index('endorsement_quoted').on(table.updatedAt, table.locator).where(OPEN_WORK.quotedEndorsement),
  ],
)

export const cancellations = sqliteTable(
  'cancellation',
  {
    ...ofDigits,
    name: text().notNull(),
    state: text().$type<CancellationState>().notNull(),
    effectiveAt: integer().notNull(),
    conflictHandling: text().$type<ConflictHandling>().notNull(),
    category: text(),
    ...times,
    issuedAt: integer(),
    modificationLocator: text(),
  },
  table => [
    index('cancellation_policy').on(table.policyLocator),
    index('cancellation_lapsed').on(table.issuedAt, table.locator).where(OPEN_WORK.lapsedByCancellation),
  ],
)

export const reinstatements = foundPolicyTable('reinstatement', {
  cancellationLocator: integer().notNull(),
  state: text().$type<ReinstatementState>().notNull(),
  effectiveAt: integer().notNull(),
  deadlineAt: integer(),
  ...times,
  issuedAt: integer(),
  modificationLocator: text(),
})

/** Folded values of searchable fields, each once per policy. */
export const policyTerms = sqliteTable(
  'policy_term',
  { field: text().notNull(), term: text().notNull(), policyLocator: integer().notNull() },
  table => [
    primaryKey({ columns: [table.field, table.term, table.policyLocator] }),
    index('policy_term_of').on(table.policyLocator),
  ],
)

export const gracePeriods = foundPolicyTable(
  'grace_period',
  {
    invoiceLocator: text().notNull(),
    state: text().$type<GracePeriodState>().notNull(),
    startAt: integer().notNull(),
    endAt: integer().notNull(),
    cancelEffectiveAt: integer(),
    ...times,
    settledAt: integer(),
    cancellationLocator: integer(),
  },
  { index: 'grace_period_open', by: 'endAt', where: OPEN_WORK.openGrace },
)

export const lapses = foundPolicyTable(
  'lapse',
  {
    gracePeriodLocator: text().notNull(),
    modificationLocator: text().notNull(),
    lapsedAt: integer().notNull(),
    reinstatementPeriodEndAt: integer().notNull(),
    createdAt: integer().notNull(),
  },
  { index: 'lapse_ending', by: 'reinstatementPeriodEndAt' },
)

export const lapseReinstatements = foundPolicyTable('lapse_reinstatement', {
  lapseLocator: text().notNull(),
  statuses: text({ mode: 'json' }).$type<LapseReinstatement['statuses']>().notNull(),
  ...times,
  effectiveAt: integer(),
  modificationLocator: text(),
})
