// A policy's rows. Amounts are whole minor units of the policy's currency; rates are decimal text. What was
// made by a modification is issued when the modification is, so issuing writes one row, not all of them.
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Uuid } from '../../kernel/locators.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import type { Cut, Proration, Upgrade } from '../records/aggregate.ts'
import type { EndorsementChanges, PerilAmounts } from '../records/changes.ts'
import type {
  CancellationState,
  ConflictHandling,
  EndorsementState,
  ModificationKind,
  ReinstatementState,
  UnderwritingResult,
} from '../records/transactions.ts'

export const policies = sqliteTable(
  'policy',
  {
    locator: integer().primaryKey(),
    policyholderLocator: text().notNull(),
    productName: text().notNull(),
    configVersion: integer().notNull(),
    upgrades: text({ mode: 'json' }).$type<readonly Upgrade[]>(),
    version: integer().notNull(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
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
    /** Of all its quotes: how large it is, known before it is read. */
    exposureCount: integer().notNull(),
    perilCount: integer().notNull(),
  },
  table => [
    index('policy_policyholder').on(table.policyholderLocator),
    index('policy_created').on(table.createdAt, table.locator),
  ],
)

export const quotes = sqliteTable(
  'quote',
  {
    locator: integer().primaryKey(),
    policyLocator: integer().notNull(),
    name: text().notNull(),
    state: text({ enum: ['draft', 'quoted', 'accepted', 'declined', 'discarded'] }).notNull(),
    selected: integer({ mode: 'boolean' }).notNull(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    issuedAt: integer(),
    contractStart: integer().notNull(),
    contractEnd: integer().notNull(),
    paymentScheduleName: text().notNull(),
    underwriting: text({ mode: 'json' }).$type<UnderwritingResult>(),
  },
  table => [index('quote_policy').on(table.policyLocator)],
)

/** Holdbacks of a run, or that of a fee, as they are stored: in minor units; commissions by position. */
export type StoredHoldback =
  | {
      perilRunLocator: string
      amount?: number
      taxes?: Record<string, number>
      commissions?: Record<string, number>
    }
  | { feeLocator: string; amount: number }

export const modifications = sqliteTable(
  'modification',
  {
    locator: text().primaryKey(),
    displayId: integer().notNull(),
    policyLocator: integer().notNull(),
    kind: text().$type<ModificationKind>().notNull(),
    quoteLocator: integer(),
    number: integer().notNull(),
    name: text().notNull(),
    effectiveAt: integer().notNull(),
    policyEnd: integer().notNull(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
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
  },
  table => [index('modification_policy').on(table.policyLocator)],
)

const made = {
  locator: text().primaryKey(),
  policyLocator: integer().notNull(),
  createdAt: integer().notNull(),
  updatedAt: integer().notNull(),
  madeBy: text().notNull(),
  replacedBy: text(),
  start: integer().notNull(),
  end: integer().notNull(),
}

export const policySegments = sqliteTable(
  'policy_segment',
  {
    ...made,
    quoteLocator: integer().notNull(),
    data: text({ mode: 'json' }).$type<FieldData>().notNull(),
    predecessor: text(),
  },
  table => [index('policy_segment_policy').on(table.policyLocator)],
)

export const exposures = sqliteTable(
  'exposure',
  {
    locator: text().primaryKey(),
    displayId: integer().notNull(),
    policyLocator: integer().notNull(),
    quoteLocator: integer().notNull(),
    name: text().notNull(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  table => [index('exposure_policy').on(table.policyLocator)],
)

export const exposureRuns = sqliteTable(
  'exposure_run',
  {
    ...made,
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
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  table => [
    index('peril_policy').on(table.policyLocator, table.exposureLocator),
    index('peril_display_id').on(table.displayId),
  ],
)

/** A peril's price as it is stored: amounts in minor units. */
export type StoredPerilPrice = {
  technicalPremium?: { month: string; amount: number }
  commissions: { recipient: string; month: string; amount: number }[]
  taxes: { name: string; amount: number; description?: string }[]
}

/** A split as it is stored: amounts in minor units, those of the price that they are of in its order. */
export type StoredSplit = {
  by: string
  segment: string
  at: number
  before: { premium: number; technicalPremium?: number; taxes: number[]; commissions: number[] }
}

export const perilRuns = sqliteTable(
  'peril_run',
  {
    ...made,
    perilLocator: text().notNull(),
    data: text({ mode: 'json' }).$type<FieldData>().notNull(),
    amounts: text({ mode: 'json' }).$type<PerilAmounts>().notNull(),
    cuts: text({ mode: 'json' }).$type<Cut[]>().notNull(),
    monthPremium: text(),
    premium: integer(),
    price: text({ mode: 'json' }).$type<StoredPerilPrice>(),
    splits: text({ mode: 'json' }).$type<StoredSplit[]>(),
  },
  table => [index('peril_run_policy').on(table.policyLocator, table.perilLocator)],
)

/** A change of a fee as it is stored: amounts in minor units. */
export type StoredFeeChange = {
  by: string
  parts: StoredFeePart[]
  removed: StoredFeePart[]
}
export type StoredFeePart = { start: number; end: number; amount: number }

export const fees = sqliteTable(
  'fee',
  {
    locator: text().primaryKey(),
    policyLocator: integer().notNull(),
    quoteLocator: integer().notNull(),
    name: text().notNull(),
    description: text().notNull(),
    amount: integer().notNull(),
    madeBy: text().notNull(),
    start: integer().notNull(),
    end: integer().notNull(),
    changes: text({ mode: 'json' }).$type<StoredFeeChange[]>().notNull(),
  },
  table => [index('fee_policy').on(table.policyLocator)],
)

/** Endorsements and renewals. */
export const endorsements = sqliteTable(
  'endorsement',
  {
    locator: integer().primaryKey(),
    policyLocator: integer().notNull(),
    kind: text({ enum: ['endorsement', 'renewal'] }).notNull(),
    name: text().notNull(),
    state: text().$type<EndorsementState>().notNull(),
    startAt: integer().notNull(),
    endAt: integer(),
    changes: text({ mode: 'json' }).$type<EndorsementChanges>().notNull(),
    touches: text({ mode: 'json' }).$type<readonly Uuid[]>(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    issuedAt: integer(),
    underwriting: text({ mode: 'json' }).$type<UnderwritingResult>(),
    modificationLocator: text(),
    basedOn: integer(),
  },
  table => [index('endorsement_policy').on(table.policyLocator)],
)

export const cancellations = sqliteTable(
  'cancellation',
  {
    locator: integer().primaryKey(),
    policyLocator: integer().notNull(),
    name: text().notNull(),
    state: text().$type<CancellationState>().notNull(),
    effectiveAt: integer().notNull(),
    conflictHandling: text().$type<ConflictHandling>().notNull(),
    category: text(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    issuedAt: integer(),
    modificationLocator: text(),
  },
  table => [index('cancellation_policy').on(table.policyLocator)],
)

export const reinstatements = sqliteTable(
  'reinstatement',
  {
    locator: text().primaryKey(),
    policyLocator: integer().notNull(),
    cancellationLocator: integer().notNull(),
    state: text().$type<ReinstatementState>().notNull(),
    effectiveAt: integer().notNull(),
    deadlineAt: integer(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    issuedAt: integer(),
    modificationLocator: text(),
  },
  table => [index('reinstatement_policy').on(table.policyLocator)],
)

/** Values of searchable fields, folded; each once for a policy, whichever of its parts have it. */
export const policyTerms = sqliteTable(
  'policy_term',
  {
    field: text().notNull(),
    term: text().notNull(),
    policyLocator: integer().notNull(),
  },
  table => [
    primaryKey({ columns: [table.field, table.term, table.policyLocator] }),
    index('policy_term_policy').on(table.policyLocator),
  ],
)
