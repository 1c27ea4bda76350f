// Schemas of accounts, policies and bills of another system (contract 2, Migration; resources brief 9.1). They are lenient:
// `convert/` checks the parts against each other.
import { z } from '@hono/zod-openapi'
import { decimal, RATE_PLACES } from '../../kernel/money.ts'
import { isStorable } from '../../kernel/text.ts'
import { type Instant, readDateTime } from '../../kernel/time.ts'
import {
  component,
  LONGEST_LIST,
  list,
  OptionalDecimal,
  optional,
  optionalRecord,
  RequestDecimal,
  requestInteger,
} from '../../platform/wire.ts'
import { reportProblem, rule } from '../../platform/wire-problem.ts'

/** Limit for an account: itself, its policies, invoices, payments and disbursements. More return 413. */
export const MOST_ITEMS = 5_000
/** Limit for a request. More return 413. */
export const MOST_ACCOUNTS = 1_000
/** The longest id of the other system, in characters. */
export const LONGEST_ID = 256

const TIME = 'must be a time, such as 2026-11-21T12:00:00Z or milliseconds since 1970-01-01T00:00Z'

/** ISO 8601 (a date alone is midnight UTC), or milliseconds as a number or digits; years 0001 to 9999. */
const Time = z
  .union([z.string(), z.number()], rule(TIME))
  .transform((wire, ctx): Instant => {
    // Databases write a space where ISO 8601 has a T.
    const text = String(wire)
      .trim()
      .replace(/^(\d{4}-\d\d-\d\d) (?=\d\d:)/, '$1T')
    const at = readDateTime(text)
    if (at !== undefined) return at
    reportProblem(ctx, TIME)
    return z.NEVER
  })
  .openapi({ type: 'string', format: 'date-time' })

const RATE = 'must be a number'

/** A rate as decimal text, rounded to the decimal places that rates keep. */
const Rate = z
  .union([z.number(), z.string()], rule(RATE))
  .transform((wire, ctx): string => {
    const text = String(wire).trim()
    if (/^[+-]?\d{1,15}(\.\d{1,40})?(e[+-]?\d{1,2})?$/i.test(text))
      return decimal(text.replace(/^\+/, '')).round(RATE_PLACES, 1).toFixed()
    reportProblem(ctx, RATE)
    return z.NEVER
  })
  .openapi({ type: 'number' })

const text = (most: number) =>
  z.string().max(most).refine(isStorable, rule('must not contain NUL or half of a surrogate pair'))

/** A name, which is not empty. */
const name = (most: number) => text(most).min(1)

/** An id of the other system: any text. A number becomes its digits. */
const Id = z
  .preprocess(wire => (typeof wire === 'number' ? String(wire) : wire), name(LONGEST_ID))
  .openapi({ type: 'string', description: 'Id of the other system, unique per kind within the account.' })

/** Documents the default of an optional property. */
const withDefaultDescription = <S extends z.ZodType>(schema: S, meaning: string): S =>
  schema.openapi({ description: `Left out: ${meaning}` })

const Name = name(128)
const OptionalName = optional(Name)
const createdBy = (standIn: string) => withDefaultDescription(optional(text(128)), standIn)
const OptionalTime = optional(Time)
const Currency = optional(text(3))
const TimeZone = optional(text(64))
const PlanName = withDefaultDescription(
  OptionalName,
  'no value is recorded. The settings of the product apply in any case.',
)

const requiredList = <S extends z.ZodType>(element: S) => z.array(element).max(LONGEST_LIST)

/** Field values of the other system: plain values, lists, and objects for field groups. */
const Data = z
  .preprocess(wire => wire ?? {}, z.record(z.string(), z.unknown()))
  .openapi({ type: 'object', additionalProperties: true })

const OptionalData = withDefaultDescription(Data, 'no values.')

const BillingLevel = z.enum(['account', 'inherit', 'policy'])

const CADENCES = [
  'none',
  'fullPay',
  'weekly',
  'everyOtherWeek',
  'monthly',
  'quarterly',
  'semiannually',
  'annually',
  'thirtyDays',
  'everyNDays',
] as const

export const Preferences = z
  .object({
    installmentPreferences: optional(
      z.looseObject({
        cadence: optional(z.enum(CADENCES)),
        anchorMode: optional(z.enum(['generateDay', 'termStartDay', 'dueDay'])),
        anchorType: optional(z.enum(['none', 'dayOfMonth', 'anchorTime', 'dayOfWeek', 'weekOfMonth'])),
        installmentPlanName: OptionalName,
      }),
    ),
  })
  .loose()
  .openapi('PreferencesMigrationRequest')
export type Preferences = z.output<typeof Preferences>

export const AccountMigrationData = component('AccountMigrationData', {
  id: Id,
  accountType: withDefaultDescription(OptionalName, 'no value is recorded. The value has no effect.'),
  data: OptionalData,
  billingLevel: withDefaultDescription(
    optional(BillingLevel),
    'no value is recorded. Each policy is billed separately in any case.',
  ),
  preferences: withDefaultDescription(
    optionalRecord(Preferences),
    'policies without their own preferences use the payment schedule of their product that matches the due times of their installments, otherwise its first; a warning says which.',
  ),
  autoRenewalPlanName: PlanName,
  delinquencyPlanName: PlanName,
  excessCreditPlanName: PlanName,
  shortfallTolerancePlanName: PlanName,
  createdAt: withDefaultDescription(OptionalTime, 'the time of the migration.'),
  createdBy: createdBy(
    'defaultCreatedBy, otherwise the user who started the migration; the same if the value is not a locator.',
  ),
})
export type AccountMigrationData = z.output<typeof AccountMigrationData>

export const InstallmentItemMigrationRequest = component('InstallmentItemMigrationRequest', {
  id: optional(Id).describe('Left out: its position, such as `charges[0]/installmentItems[0]`.'),
  amount: RequestDecimal,
  installmentNumber: requestInteger(1, 10_000),
})

export const ChargeMigrationRequest = component('ChargeMigrationRequest', {
  chargeType: Name,
  rate: withDefaultDescription(
    optional(Rate),
    'derived from the amount. A rate is per unit of the policy’s durationBasis.',
  ),
  referenceRate: withDefaultDescription(optional(Rate), 'no value. The value is not stored.'),
  tag: OptionalName.describe('Name of the tax, fee or recipient. Left out: chargeType.'),
  installmentItems: withDefaultDescription(
    list(InstallmentItemMigrationRequest),
    'the amount of the charge is zero; that of a technical premium is its rate times its period.',
  ),
})
export type ChargeMigrationRequest = z.output<typeof ChargeMigrationRequest>

const elementFields = {
  id: Id,
  elementType: Name,
  data: OptionalData,
  coverageTerms: withDefaultDescription(Data, 'no terms, and no amounts of a coverage.'),
  charges: withDefaultDescription(
    list(ChargeMigrationRequest),
    'the transaction charges nothing for the element.',
  ),
  ended: optional(z.boolean()).describe('Bindery only: the cover has ended, and charges are refunds.'),
  chargedAnew: optional(z.boolean()).describe(
    'Bindery only: earlier charges of the coverage remain the price of the time before this transaction, and the charges here are the whole price of the time from then on.',
  ),
}

export type ElementMigrationRequest = z.output<z.ZodObject<typeof elementFields>> & {
  elements: ElementMigrationRequest[]
}

/** Limit on the levels of nested elements, including the root. */
export const DEEPEST_ELEMENT = 8

const makeElementSchema = (depth: number): z.ZodType<ElementMigrationRequest> =>
  z.object({
    ...elementFields,
    elements: (depth === DEEPEST_ELEMENT
      ? list(z.never(rule(`must not be nested deeper than ${DEEPEST_ELEMENT} elements`)))
      : list(z.lazy(() => elementSchemaAt(depth + 1)))
    ).openapi({
      // Written by hand, since the schema contains itself.
      type: ['array', 'null'],
      items: { $ref: '#/components/schemas/ElementMigrationRequest' },
      description: `Exposures of the root, their coverages, and elements nested in these: at most ${DEEPEST_ELEMENT} levels. Left out: none.`,
    }),
  }) as unknown as z.ZodType<ElementMigrationRequest>

const made = new Map<number, z.ZodType<ElementMigrationRequest>>()

function elementSchemaAt(depth: number): z.ZodType<ElementMigrationRequest> {
  const schema = made.get(depth) ?? makeElementSchema(depth)
  made.set(depth, schema)
  return schema
}

export const ElementMigrationRequest = elementSchemaAt(1).openapi('ElementMigrationRequest')

export const SegmentMigrationRequest = component('SegmentMigrationRequest', {
  segmentType: z.enum(['coverage', 'gap']),
  startTime: Time,
  rootElement: optionalRecord(ElementMigrationRequest).describe(
    'Required in a coverage segment. Left out of a gap: nothing is charged or refunded.',
  ),
})

export const InstallmentMigrationRequest = component('InstallmentMigrationRequest', {
  id: optional(Id).describe('Left out: its position, such as `installments[0]`.'),
  startTime: Time,
  dueTime: Time,
  generateTime: withDefaultDescription(OptionalTime, 'dueTime.'),
  invoiceId: withDefaultDescription(optional(Id), 'the installment is not invoiced yet and will be.'),
})

export const TransactionMigrationRequest = component('TransactionMigrationRequest', {
  transactionType: Name,
  issuedTime: Time,
  createdAt: withDefaultDescription(OptionalTime, 'issuedTime.'),
  createdBy: createdBy('no value is recorded.'),
  preferences: optionalRecord(Preferences),
  segment: optionalRecord(SegmentMigrationRequest),
  installments: withDefaultDescription(
    list(InstallmentMigrationRequest),
    'none: the transaction plans no bills.',
  ),
})
export type TransactionMigrationRequest = z.output<typeof TransactionMigrationRequest>

export const TermMigrationRequest = component('TermMigrationRequest', {
  startTime: Time,
  endTime: Time,
  transactions: requiredList(TransactionMigrationRequest),
})
export type TermMigrationRequest = z.output<typeof TermMigrationRequest>

export const PolicyMigrationRequest = component('PolicyMigrationRequest', {
  id: Id,
  productName: Name,
  durationBasis: withDefaultDescription(
    optional(z.enum(['years', 'months', 'weeks', 'days', 'hours'])),
    'months.',
  ),
  billingLevel: withDefaultDescription(
    optional(BillingLevel),
    'no value is recorded. The policy is billed separately in any case.',
  ),
  preferences: withDefaultDescription(
    optionalRecord(Preferences),
    'those of the account; without them, the payment schedule of the product that matches the due times of the installments, otherwise its first; a warning says which.',
  ),
  autoRenewalPlanName: PlanName,
  delinquencyPlanName: PlanName,
  currency: Currency,
  timezone: TimeZone,
  createdAt: withDefaultDescription(OptionalTime, 'the issuedTime of the first transaction.'),
  createdBy: createdBy('defaultCreatedBy; without that, no value is recorded.'),
  staticData: withDefaultDescription(Data, 'none.'),
  auxData: optional(
    z.object({
      settingsName: OptionalName,
      entries: list(z.object({ key: name(LONGEST_ID), value: z.unknown() })),
    }),
  ),
  terms: requiredList(TermMigrationRequest),
})
export type PolicyMigrationRequest = z.output<typeof PolicyMigrationRequest>

export const InvoiceMigrationRequest = component('InvoiceMigrationRequest', {
  id: Id,
  startTime: Time,
  endTime: Time,
  dueTime: Time,
  generateTime: withDefaultDescription(
    OptionalTime,
    'startTime, or the time of the migration if that is earlier.',
  ),
  currency: Currency,
  timezone: TimeZone,
  invoiceState: optional(z.enum(['open', 'settled', 'discarded'])),
  restGivenUp: optional(z.boolean()).describe(
    'Bindery only: the amount that its payments leave open is written off.',
  ),
})
export type InvoiceMigrationRequest = z.output<typeof InvoiceMigrationRequest>

export const PaymentItemMigrationRequest = component('PaymentItemMigrationRequest', {
  amount: RequestDecimal,
  invoiceId: withDefaultDescription(optional(Id), 'the amount becomes credit of the account.'),
})

export const PaymentMigrationRequest = component('PaymentMigrationRequest', {
  id: Id,
  paymentTime: Time,
  paymentType: withDefaultDescription(OptionalName, 'no value is recorded. The value has no effect.'),
  data: OptionalData,
  currency: Currency,
  createdBy: createdBy('no value is recorded.'),
  source: optional(z.enum(['received', 'credit'])).describe(
    'Bindery only: `credit` pays from the account’s credit, and a refund adds to it. Left out: received.',
  ),
  paymentItems: requiredList(PaymentItemMigrationRequest),
})
export type PaymentMigrationRequest = z.output<typeof PaymentMigrationRequest>

export const CreditItemMigrationRequest = component('CreditItemMigrationRequest', { amount: RequestDecimal })

export const DisbursementMigrationRequest = component('DisbursementMigrationRequest', {
  id: Id,
  disbursementTime: Time,
  disbursementType: withDefaultDescription(OptionalName, 'an empty text.'),
  data: OptionalData,
  currency: Currency,
  sources: requiredList(CreditItemMigrationRequest),
})
export type DisbursementMigrationRequest = z.output<typeof DisbursementMigrationRequest>

/** Control totals by name: `invoiced`, `paid`, `credit`, `disbursed`; null means none. */
const accounting = optional(
  z.object({ originalAccountBalances: optional(z.record(z.string().max(64), OptionalDecimal)) }),
)

const items = {
  defaultCreatedBy: createdBy(
    'for accounts, the user who started the migration; for policies, no value is recorded.',
  ),
  policies: withDefaultDescription(list(PolicyMigrationRequest), 'none.'),
  invoices: withDefaultDescription(list(InvoiceMigrationRequest), 'none.'),
  payments: withDefaultDescription(list(PaymentMigrationRequest), 'none.'),
  disbursements: withDefaultDescription(list(DisbursementMigrationRequest), 'none.'),
  accounting,
}

/** Further items of an existing account. */
export const MigrationRequest = component('MigrationRequest', items)
export type MigrationRequest = z.output<typeof MigrationRequest>

export const AccountMigrationRequest = component('AccountMigrationRequest', {
  accountData: AccountMigrationData,
  ...items,
})
export type AccountMigrationRequest = z.output<typeof AccountMigrationRequest>

/** Items by id. They are not parsed here, so that each failure is reported at its own item. */
const recordById = (item: string) =>
  z
    .preprocess<unknown, z.ZodRecord<z.ZodString, z.ZodUnknown>, Record<string, unknown> | null | undefined>(
      wire => wire ?? {},
      z.record(z.string().min(1).max(LONGEST_ID), z.unknown()),
    )
    .openapi({
      type: 'object',
      additionalProperties: { $ref: `#/components/schemas/${item}` },
      description: 'Left out: none of these items is replaced.',
    })

/** Corrections of failed items, by their original ids. Each replaces the failed item as a whole. */
export const PatchAccountMigrationRequest = component('PatchAccountMigrationRequest', {
  accountLocator: z.string().min(1).max(64),
  defaultCreatedBy: createdBy('that of the previous request.'),
  accountData: optional(z.unknown()).openapi({
    allOf: [
      { $ref: '#/components/schemas/AccountMigrationData' },
      { description: 'Replaces the account data that was sent before.' },
    ],
  }),
  policies: recordById('PolicyMigrationRequest'),
  invoices: recordById('InvoiceMigrationRequest'),
  payments: recordById('PaymentMigrationRequest'),
  disbursements: recordById('DisbursementMigrationRequest'),
  /** Corrects control totals that were themselves wrong. */
  accounting,
})
export type PatchAccountMigrationRequest = z.output<typeof PatchAccountMigrationRequest>

/** Returns the control totals of the request as pairs of name and amount. */
export const controlTotalsIn = ({ accounting }: Pick<MigrationRequest, 'accounting'>): [string, string][] =>
  Object.entries(accounting?.originalAccountBalances ?? {}).flatMap(([name, total]) =>
    total === undefined ? [] : [[name, total]],
  )
