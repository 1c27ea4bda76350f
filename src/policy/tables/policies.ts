// Amounts are minor units of the policy's currency; rates are decimal text. What a modification made is issued when the
// modification is, so issuing writes one row.
import type { SQLiteColumnBuilderBase } from 'drizzle-orm/sqlite-core'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Uuid } from '../../kernel/locators.ts'
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

/** A table of records that belong to a policy, indexed by its locator. */
export const policyTable = <N extends string, C extends Record<string, SQLiteColumnBuilderBase>>(
  name: N,
  columns: C,
) =>
  sqliteTable(name, { ...columns, policyLocator: integer().notNull() }, table => [
    index(`${name}_policy`).on(table.policyLocator),
  ])

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
    /** Of all its quotes; shows how large the policy is before reading it. */
    exposureCount: integer().notNull(),
    perilCount: integer().notNull(),
  },
  table => [
    index('policy_policyholder').on(table.policyholderLocator),
    index('policy_created').on(table.createdAt, table.locator),
  ],
)

export const quotes = policyTable('quote', {
  locator: integer().primaryKey(),
  name: text().notNull(),
  state: text({ enum: ['draft', 'quoted', 'accepted', 'declined', 'discarded'] }).notNull(),
  selected: integer({ mode: 'boolean' }).notNull(),
  ...times,
  issuedAt: integer(),
  contractStart: integer().notNull(),
  contractEnd: integer().notNull(),
  paymentScheduleName: text().notNull(),
  underwriting: text({ mode: 'json' }).$type<UnderwritingResult>(),
})

/** Holdbacks of a run or a fee as stored: in minor units; commissions by position. */
export type StoredHoldback =
  | {
      perilRunLocator: Uuid
      amount?: number
      taxes?: Record<string, number>
      commissions?: Record<string, number>
    }
  | { feeLocator: Uuid; amount: number }

export const modifications = policyTable('modification', {
  locator: text().primaryKey(),
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
  locator: text().primaryKey(),
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
  locator: text().primaryKey(),
  displayId: integer().notNull(),
  quoteLocator: integer().notNull(),
  name: text().notNull(),
  ...times,
})

export const exposureRuns = sqliteTable(
  'exposure_run',
  {
    ...made,
    policyLocator: integer().notNull(),
    exposureLocator: text().notNull(),
    data: text({ mode: 'json' }).$type<FieldData>().notNull(),
    cuts: text({ mode: 'json' }).$type<Cut[]>().notNull(),
  },
  table => [index('exposure_run_policy').on(table.policyLocator, table.exposureLocator)],
)

export const perils = sqliteTable(
  'peril',
  {
    locator: text().primaryKey(),
    displayId: integer().notNull(),
    policyLocator: integer().notNull(),
    exposureLocator: text().notNull(),
    name: text().notNull(),
    renewalGroup: text().notNull(),
    parentLocator: text(),
    ...times,
  },
  table => [
    index('peril_policy').on(table.policyLocator, table.exposureLocator),
    index('peril_display_id').on(table.displayId),
  ],
)

export const perilRuns = sqliteTable(
  'peril_run',
  {
    ...made,
    policyLocator: integer().notNull(),
    perilLocator: text().notNull(),
    data: text({ mode: 'json' }).$type<FieldData>().notNull(),
    amounts: text({ mode: 'json' }).$type<PerilAmounts>().notNull(),
    cuts: text({ mode: 'json' }).$type<Cut[]>().notNull(),
    monthPremium: text(),
    premium: integer(),
    price: text({ mode: 'json' }).$type<Stored<Omit<PerilPrice, 'premium'>>>(),
    splits: text({ mode: 'json' }).$type<Stored<RunSplit[]>>(),
  },
  table => [index('peril_run_policy').on(table.policyLocator, table.perilLocator)],
)

export const fees = policyTable('fee', {
  locator: text().primaryKey(),
  quoteLocator: integer().notNull(),
  name: text().notNull(),
  description: text().notNull(),
  amount: integer().notNull(),
  madeBy: text().notNull(),
  ...span,
  changes: text({ mode: 'json' }).$type<Stored<FeeChange[]>>().notNull(),
})

export const endorsements = policyTable('endorsement', {
  locator: integer().primaryKey(),
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
})

export const cancellations = policyTable('cancellation', {
  locator: integer().primaryKey(),
  name: text().notNull(),
  state: text().$type<CancellationState>().notNull(),
  effectiveAt: integer().notNull(),
  conflictHandling: text().$type<ConflictHandling>().notNull(),
  category: text(),
  ...times,
  issuedAt: integer(),
  modificationLocator: text(),
})

export const reinstatements = policyTable('reinstatement', {
  locator: text().primaryKey(),
  cancellationLocator: integer().notNull(),
  state: text().$type<ReinstatementState>().notNull(),
  effectiveAt: integer().notNull(),
  deadlineAt: integer(),
  ...times,
  issuedAt: integer(),
  modificationLocator: text(),
})

/** Values of searchable fields, folded; each once per policy. */
export const policyTerms = sqliteTable(
  'policy_term',
  { field: text().notNull(), term: text().notNull(), policyLocator: integer().notNull() },
  table => [
    primaryKey({ columns: [table.field, table.term, table.policyLocator] }),
    index('policy_term_policy').on(table.policyLocator),
  ],
)

export const gracePeriods = policyTable('grace_period', {
  locator: text().primaryKey(),
  invoiceLocator: text().notNull(),
  state: text().$type<GracePeriodState>().notNull(),
  startAt: integer().notNull(),
  endAt: integer().notNull(),
  cancelEffectiveAt: integer(),
  ...times,
  settledAt: integer(),
  cancellationLocator: integer(),
})

export const lapses = policyTable('lapse', {
  locator: text().primaryKey(),
  gracePeriodLocator: text().notNull(),
  modificationLocator: text().notNull(),
  lapsedAt: integer().notNull(),
  reinstatementPeriodEndAt: integer().notNull(),
  createdAt: integer().notNull(),
})

export const lapseReinstatements = policyTable('lapse_reinstatement', {
  locator: text().primaryKey(),
  lapseLocator: text().notNull(),
  statuses: text({ mode: 'json' }).$type<LapseReinstatement['statuses']>().notNull(),
  ...times,
  effectiveAt: integer(),
  modificationLocator: text(),
})
