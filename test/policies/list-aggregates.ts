// Policies as aggregates that tests build: only with what lists read.
import { newUuid, type PolicyLocator, type QuoteLocator, type Uuid } from '../../src/kernel/locators.ts'
import { type CurrencyCode, type Money, money } from '../../src/kernel/money.ts'
import type { Instant, TimeZone } from '../../src/kernel/time.ts'
import type { Modification, Policy, PolicyAggregate, Quote } from '../../src/policy/records/aggregate.ts'
import type { GracePeriod, Reinstatement } from '../../src/policy/records/transactions.ts'
import type { FieldData } from '../../src/product/fields/groups.ts'

export const EUR = 'EUR' as CurrencyCode
export const at = (ms: number): Instant => ms as Instant
export const euros = (amount: number): Money => money(String(amount), EUR)

let sequence = 3_000_000
const digits = (shard: number): number => sequence++ * 64 + shard

const byLocator = <T extends { locator: unknown }>(records: readonly T[]) =>
  new Map(records.map(record => [record.locator, record])) as never

/** An aggregate of the policy with these records and no others. */
export const aggregateOf = (
  policy: Policy,
  records: { readonly [K in Exclude<keyof PolicyAggregate, 'policy'>]?: readonly { locator: unknown }[] },
): PolicyAggregate => ({
  policy,
  quotes: byLocator(records.quotes ?? []),
  modifications: byLocator(records.modifications ?? []),
  segments: byLocator(records.segments ?? []),
  exposures: byLocator(records.exposures ?? []),
  exposureRuns: byLocator(records.exposureRuns ?? []),
  perils: byLocator(records.perils ?? []),
  perilRuns: byLocator(records.perilRuns ?? []),
  fees: byLocator(records.fees ?? []),
  installments: byLocator(records.installments ?? []),
  invoices: byLocator(records.invoices ?? []),
  payments: byLocator(records.payments ?? []),
  endorsements: byLocator(records.endorsements ?? []),
  cancellations: byLocator(records.cancellations ?? []),
  reinstatements: byLocator(records.reinstatements ?? []),
  documents: byLocator(records.documents ?? []),
  media: byLocator(records.media ?? []),
  gracePeriods: byLocator(records.gracePeriods ?? []),
  lapses: byLocator(records.lapses ?? []),
  lapseReinstatements: byLocator(records.lapseReinstatements ?? []),
})

export const policyOf = (changes: Partial<Policy> = {}, shard = 0): Policy => ({
  locator: digits(shard) as PolicyLocator,
  policyholderLocator: newUuid(shard),
  productName: 'private_motor',
  configVersion: 1,
  version: 1,
  createdAt: at(1_000),
  updatedAt: at(1_000),
  originalStart: at(10_000),
  originalEnd: at(20_000),
  effectiveEnd: at(20_000),
  currency: EUR,
  timeZone: 'Europe/Berlin' as TimeZone,
  paymentScheduleName: 'upfront',
  ...changes,
})

export const quoteOf = (changes: Partial<Quote> = {}): Quote => ({
  locator: digits(0) as QuoteLocator,
  name: 'A quote',
  state: 'draft',
  selected: true,
  createdAt: at(1_000),
  updatedAt: at(1_000),
  contractStart: at(10_000),
  contractEnd: at(20_000),
  paymentScheduleName: 'upfront',
  ...changes,
})

export const modificationOf = (changes: Partial<Modification> = {}): Modification => ({
  locator: newUuid(0),
  kind: 'creation',
  displayId: digits(0) as Modification['displayId'],
  number: 0,
  name: 'modification.policy.create',
  effectiveAt: at(10_000),
  policyEnd: at(20_000),
  createdAt: at(1_000),
  updatedAt: at(1_000),
  ...changes,
})

export const reinstatementOf = (changes: Partial<Reinstatement>): Reinstatement => ({
  locator: newUuid(0),
  cancellationLocator: 1 as Reinstatement['cancellationLocator'],
  state: 'issued',
  effectiveAt: at(15_000),
  createdAt: at(1_000),
  updatedAt: at(1_000),
  ...changes,
})

/** A segment or run over the term, created by the modification. */
export const stretchOf = (madeBy: Uuid, data: FieldData, changes: object = {}) => ({
  locator: newUuid(0),
  createdAt: at(1_000),
  updatedAt: at(1_000),
  madeBy,
  start: at(10_000),
  end: at(20_000),
  data,
  cuts: [],
  ...changes,
})

export const fieldsOf = (values: Record<string, string[]>, groups: FieldData['groups'] = []): FieldData => ({
  values,
  groups,
})

export const gracePeriodOf = (changes: Partial<GracePeriod>): GracePeriod => ({
  locator: newUuid(0),
  invoiceLocator: newUuid(0),
  state: changes.settledAt === undefined ? 'open' : 'settled',
  startAt: at(5_000),
  endAt: at(10_000),
  createdAt: at(5_000),
  updatedAt: at(5_000),
  ...changes,
})
