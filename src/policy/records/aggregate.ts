// A policy in the domain: its line of modifications and the records that they made. Aggregates are immutable. A transaction makes a
// new aggregate that shares every untouched record, so only records that differ by identity are written.
import { notFound, wrongState } from '../../kernel/errors.ts'
import type { DisplayId, PolicyLocator, QuoteLocator, Uuid } from '../../kernel/locators.ts'
import { memoByObject } from '../../kernel/maps.ts'
import type { CurrencyCode, Money } from '../../kernel/money.ts'
import { type Instant, later, type Span, type TimeZone } from '../../kernel/time.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import type { QuoteState } from '../contract/response.ts'
import type { Invoice, Payment, PlannedInstallment } from './invoice.ts'
import type {
  Cancellation,
  Endorsement,
  GracePeriod,
  Lapse,
  LapseReinstatement,
  Medium,
  ModificationKind,
  PerilAmounts,
  PolicyDocument,
  Reinstatement,
  UnderwritingResult,
} from './transactions.ts'

/** When the record was made and when it last changed. */
export type Stamped = { readonly createdAt: Instant; readonly updatedAt: Instant }

export type Policy = Stamped & {
  readonly locator: PolicyLocator
  readonly policyholderLocator: Uuid
  readonly productName: string
  readonly configVersion: number
  /** The upgrades from earlier versions of the configuration, ordered by time. */
  readonly upgrades?: readonly Upgrade[]
  /** Incremented by every commit. Guards the policy's batches. */
  readonly version: number
  readonly finalizedAt?: Instant
  readonly issuedAt?: Instant
  readonly discardedAt?: Instant
  readonly originalStart: Instant
  readonly originalEnd: Instant
  readonly effectiveEnd: Instant
  readonly currency: CurrencyCode
  readonly timeZone: TimeZone
  readonly paymentScheduleName: string
  readonly premiumReportName?: string
}

/** When the policy left the version `from` of the configuration for another. */
export type Upgrade = { readonly at: Instant; readonly from: number }

export type Quote = Stamped & {
  readonly locator: QuoteLocator
  readonly name: string
  readonly state: QuoteState
  /** The policy shows and binds the selected quote. */
  readonly selected: boolean
  readonly issuedAt?: Instant
  readonly contractStart: Instant
  readonly contractEnd: Instant
  readonly paymentScheduleName: string
  readonly underwriting?: UnderwritingResult
}

/** How a split shares an amount: by calendar months in the policy's time zone, or by milliseconds (brief 1.7, 3.2). */
export type Proration = 'monthly' | 'linear'

/** The part of a premium, tax, commission or fee that a cancellation does not refund (brief 3.2, 3.4). */
export type Holdback = { readonly amount: Money } & (
  | { readonly type: 'premium'; readonly perilRunLocator: Uuid }
  | { readonly type: 'tax'; readonly perilRunLocator: Uuid; readonly taxName: string }
  /** `position` distinguishes several commissions of one recipient. */
  | { readonly type: 'commission'; readonly perilRunLocator: Uuid; readonly position: number }
  | { readonly type: 'fee'; readonly feeLocator: Uuid }
)

/** One transaction. Its records refer to it and are issued together with it. */
export type Modification = Stamped & {
  readonly locator: Uuid
  readonly kind: ModificationKind
  readonly displayId: DisplayId
  /** For new business only. */
  readonly quoteLocator?: QuoteLocator
  /** Numbered from 0 in order of creation. */
  readonly number: number
  /** `modification.policy.create`, the type of an endorsement, … (brief 2.1.3). */
  readonly name: string
  readonly effectiveAt: Instant
  readonly policyEnd: Instant
  /** An accepted modification is shown and billed, but counts only once issued. */
  readonly acceptedAt?: Instant
  readonly issuedAt?: Instant
  /** Set if it was accepted and then taken back; only its void invoices remain. */
  readonly invalidatedAt?: Instant
  readonly underwriting?: UnderwritingResult
  /** Sum of the premium changes of its peril modifications. Absent until priced. */
  readonly premiumChange?: Money
  /** How amounts that it splits are prorated. By default by months. */
  readonly proration?: Proration
  /** The endorsement, renewal, cancellation or reinstatement that the modification executes. */
  readonly transactionLocator?: string
  /** For a reinstatement: the modification whose removals it restores. */
  readonly undoes?: Uuid
  readonly holdbacks?: readonly Holdback[]
  readonly cancellationName?: string
  /** Set only by a schedule change. An endorsement keeps the name in its changes. */
  readonly newPaymentScheduleName?: string
}

type MadeRecord = Stamped & { readonly locator: Uuid; readonly madeBy: Uuid; readonly replacedBy?: Uuid }

/** The policy's own data over a span: `PolicyCharacteristics` in the contract. */
export type PolicySegment = MadeRecord &
  Span & {
    readonly quoteLocator: QuoteLocator
    readonly data: FieldData
    /** The segment of which this one is a part or a continuation. */
    readonly predecessor?: Uuid
  }

export type Exposure = Stamped & {
  readonly locator: Uuid
  readonly displayId: DisplayId
  readonly quoteLocator: QuoteLocator
  readonly name: string
}

/** The time from which a modification replaced the run by other runs, or by none. */
export type Cut = { readonly by: Uuid; readonly from: Instant }

/** An exposure's data over a span in which it does not change. */
export type ExposureRun = MadeRecord &
  Span & { readonly exposureLocator: Uuid; readonly data: FieldData; readonly cuts: readonly Cut[] }

export type Peril = Stamped & {
  readonly locator: Uuid
  readonly displayId: DisplayId
  readonly exposureLocator: Uuid
  readonly name: string
  /** The locator of the first of the perils that succeed each other by renewal. All of them share it. */
  readonly renewalGroup: Uuid
  /** For a coverage nested in a coverage, as other systems have: its parent peril in the same term (resources brief 9.5). */
  readonly parentLocator?: Uuid
}

/**
 * How a plugin split a run's amounts in a segment: the part before that time keeps the amounts in `before`. Without such a split,
 * amounts are shared in proportion (brief 3.2). A reinstatement splits what the cancellation removed; the part before the split is
 * not restored.
 */
export type RunSplit = {
  readonly by: Uuid
  readonly segment: Uuid
  readonly at: Instant
  readonly before: Amounts
}

/** `month` is a monthly rate as decimal text with 7 places; `amount` is the amount that it gives over the run. */
export type RatedAmount = { readonly month: string; readonly amount: Money }

export type Commission = RatedAmount & { readonly recipient: string }

/** `month` is set where an endorsement carried the tax on without rating it: the month rate of the amount that was rated. */
export type Tax = {
  readonly name: string
  readonly amount: Money
  readonly description?: string
  readonly month?: string
}

export type PerilPrice = {
  readonly premium: RatedAmount
  readonly technicalPremium?: RatedAmount
  readonly commissions: readonly Commission[]
  readonly taxes: readonly Tax[]
}

/** A peril's data and rate over a span in which neither changes, no matter how often the policy is split around it. */
export type PerilRun = MadeRecord &
  Span & {
    readonly perilLocator: Uuid
    readonly data: FieldData
    readonly amounts: PerilAmounts
    readonly price?: PerilPrice
    readonly cuts: readonly Cut[]
    readonly splits?: readonly RunSplit[]
  }

/** What a fee charges for part of its span. */
export type FeePart = Span & { readonly amount: Money }

/**
 * How a later modification changed a fee: the parts still charged (none if it is reversed), and the removed parts, which a
 * reinstatement restores. A fee never exceeds its original amount (brief 3.3).
 */
export type FeeChange = {
  readonly by: Uuid
  readonly parts: readonly FeePart[]
  readonly removed: readonly FeePart[]
}

export type Fee = Span & {
  readonly locator: Uuid
  readonly quoteLocator: QuoteLocator
  readonly name: string
  readonly description: string
  readonly amount: Money
  readonly madeBy: Uuid
  /** In the order of the modifications. The last one applies. */
  readonly changes: readonly FeeChange[]
}

type Records = {
  quotes: Quote
  modifications: Modification
  segments: PolicySegment
  exposures: Exposure
  exposureRuns: ExposureRun
  perils: Peril
  perilRuns: PerilRun
  fees: Fee
  installments: PlannedInstallment
  invoices: Invoice
  payments: Payment
  endorsements: Endorsement
  cancellations: Cancellation
  reinstatements: Reinstatement
  documents: PolicyDocument
  media: Medium
  gracePeriods: GracePeriod
  lapses: Lapse
  lapseReinstatements: LapseReinstatement
}

export type CollectionName = keyof Records

type PolicyRecords = {
  readonly [N in CollectionName]: ReadonlyMap<Records[N]['locator'], Records[N]>
}

export type PolicyAggregate = { readonly policy: Policy } & PolicyRecords

/** Returns empty collections: new maps that the caller may fill. */
export const noRecords = (): { [N in CollectionName]: Map<Records[N]['locator'], Records[N]> } => ({
  quotes: new Map(),
  modifications: new Map(),
  segments: new Map(),
  exposures: new Map(),
  exposureRuns: new Map(),
  perils: new Map(),
  perilRuns: new Map(),
  fees: new Map(),
  installments: new Map(),
  invoices: new Map(),
  payments: new Map(),
  endorsements: new Map(),
  cancellations: new Map(),
  reinstatements: new Map(),
  documents: new Map(),
  media: new Map(),
  gracePeriods: new Map(),
  lapses: new Map(),
  lapseReinstatements: new Map(),
})

/** Returns a function that finds a policy's record by its locator and throws 404 if it is unknown. */
export const recordFinder =
  <N extends CollectionName>(collection: N, what: string) =>
  (records: Pick<PolicyRecords, N>, locator: Records[N]['locator']): Records[N] => {
    const record = records[collection].get(locator)
    if (!record) throw notFound(what, String(locator))
    return record
  }

/** Returns the selected quote. Undefined if the selected quote was discarded and no other has been selected since. */
export const selectedQuoteIfAny = ({ quotes }: PolicyAggregate): Quote | undefined =>
  [...quotes.values()].find(quote => quote.selected)

/** Returns the quote that the policy follows; throws 409 if it follows none. */
export function selectedQuote(aggregate: PolicyAggregate): Quote {
  const quote = selectedQuoteIfAny(aggregate)
  if (quote) return quote
  throw wrongState(
    `Policy ${aggregate.policy.locator} has no selected quote, because the quote that it followed was discarded. ${SELECT_FIRST}`,
  )
}

/** Returns when the policy, one of its transactions or one of its invoices last changed. */
export function lastChangedAt(aggregate: PolicyAggregate): Instant {
  const { policy, quotes, modifications, endorsements, cancellations, reinstatements, invoices } = aggregate
  let last = policy.updatedAt
  for (const records of [quotes, modifications, endorsements, cancellations, reinstatements, invoices])
    for (const { updatedAt } of records.values()) last = later(last, updatedAt)
  return last
}

/** Returns the policy with the times and the payment schedule of the quote. */
export const withTermsOf = (
  policy: Policy,
  { contractStart: originalStart, contractEnd: originalEnd, paymentScheduleName }: Quote,
): Policy => ({ ...policy, originalStart, originalEnd, effectiveEnd: originalEnd, paymentScheduleName })

/** Returns the policy with the quote's terms. A policy that follows the quote already has them, or terms of later transactions. */
export const policyOfQuote = (policy: Policy, quote: Quote): Policy =>
  quote.selected ? policy : withTermsOf(policy, quote)

export const SELECT_FIRST = 'First select one of its quotes with PATCH /quotes/{quoteLocator}/select.'

/** Returns the records that pass the test, in the order of the map. */
export function recordsWhere<K, V>(records: ReadonlyMap<K, V>, test: (record: V) => boolean): V[] {
  return [...records.values()].filter(test)
}

/** Returns a copy with the records added, or replaced, by locator. The original stays unchanged: aggregates are immutable. */
export function putRecords<K, V extends { locator: K }>(
  records: ReadonlyMap<K, V>,
  changed: Iterable<V>,
): ReadonlyMap<K, V> {
  const copy = new Map(records)
  for (const record of changed) copy.set(record.locator, record)
  return copy
}

type OfExposure = { readonly exposureLocator: Uuid }

const byExposure = memoByObject((records: ReadonlyMap<Uuid, OfExposure>) =>
  Map.groupBy(records.values(), one => one.exposureLocator),
)

/** Returns the exposure's perils or runs, in the order of `records`. Groups the records of an aggregate once. */
export const recordsOfExposure = <V extends OfExposure>(
  records: ReadonlyMap<Uuid, V>,
  exposure: Uuid,
): readonly V[] => (byExposure(records).get(exposure) ?? []) as V[]

/** Returns a copy of the records without those of the locators. */
export function removeRecords<K, V>(records: ReadonlyMap<K, V>, locators: Iterable<K>): ReadonlyMap<K, V> {
  const copy = new Map(records)
  for (const locator of locators) copy.delete(locator)
  return copy
}

/** Amounts of one price; taxes and commissions are in the order of the price. */
export type Amounts = {
  readonly premium: Money
  readonly technicalPremium: Money | undefined
  readonly taxes: readonly Money[]
  readonly commissions: readonly Money[]
}

/** Returns the accepted quote, issued or not; undefined if none is accepted. */
export const acceptedQuote = ({ quotes }: PolicyAggregate): Quote | undefined =>
  [...quotes.values()].find(quote => quote.state === 'accepted')

/** Returns the issued quote that the policy is based on; throws 404 if the policy is not issued. */
export function boundQuote(aggregate: PolicyAggregate): Quote {
  const quote = acceptedQuote(aggregate)
  if (!quote?.issuedAt) throw notFound('issued policy', String(aggregate.policy.locator))
  return quote
}

/** Returns the version of the configuration that the policy had at that time. An upgrade counts from its own time on. */
export const configVersionAt = ({ configVersion, upgrades = [] }: Policy, at: Instant): number =>
  upgrades.find(one => one.at > at)?.from ?? configVersion

/** Returns the modification of a new-business quote and all records that the modification made. */
export function quoteParts(aggregate: PolicyAggregate, quote: Quote) {
  const modification = [...aggregate.modifications.values()].find(one => one.quoteLocator === quote.locator)
  const byQuote = ({ madeBy }: { madeBy: Uuid }): boolean => madeBy === modification?.locator
  const segment = [...aggregate.segments.values()].find(byQuote)
  if (!modification || !segment) throw new Error(`Quote ${quote.locator} has no modification or segment.`)
  return {
    modification,
    segment,
    exposures: recordsWhere(aggregate.exposures, one => one.quoteLocator === quote.locator),
    exposureRuns: recordsWhere(aggregate.exposureRuns, byQuote),
    perilRuns: recordsWhere(aggregate.perilRuns, byQuote),
  }
}
