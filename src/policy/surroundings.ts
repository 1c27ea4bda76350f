// A policy as an operation reads it, whole or in part, with its policyholder and the configuration of its version.

import { invalidRequest, Refusal } from '../kernel/errors.ts'
import type { EndorsementLocator, Uuid } from '../kernel/locators.ts'
import type { CurrencyCode, Money } from '../kernel/money.ts'
import { add, type Instant, later, type Span, startOfDay, type TimeZone } from '../kernel/time.ts'
import type { Policyholder } from '../policyholders/values.ts'
import type { LoadedConfiguration } from '../product/cache.ts'
import type { FieldDefinition, ProductDefinition } from '../product/configuration.ts'
import type { FieldData } from '../product/fields/groups.ts'
import { readFieldValues, valuesOf } from '../product/fields/values.ts'
import type { SelectionBasis } from '../product/resources.ts'
import { type Line, lineOf, lineUpTo, segmentsInForce } from './fold/line.ts'
import type {
  ExposureRun,
  Modification,
  Peril,
  PerilRun,
  PolicyAggregate,
  PolicySegment,
  Quote,
} from './records/aggregate.ts'
import { POLICY_LIMITS, selectedQuote } from './records/aggregate.ts'

/** A version of the tenant's configuration, and its number. */
export type Version = { configuration: LoadedConfiguration; configVersion: number }

/** What an operation needs to know before the policy exists. */
export type NewPolicyContext = Version & {
  policyholder: Policyholder
  timeZone: TimeZone
  currency: CurrencyCode
  product: ProductDefinition
  /** In the policy's currency. */
  credit: Money
}

export type Loaded = {
  aggregate: PolicyAggregate
  /** Set if only a part of the policy was read: other exposures and their records are missing. */
  unread?: Unread
  policyholder: Policyholder
  configuration: LoadedConfiguration
  product: ProductDefinition
  /** Credit from earlier payments, in the policy's currency. */
  credit: Money
}

/** The credit of the policyholder for which a plan is valid. */
export type NeededCredit =
  | { readonly exactly: Money }
  | { readonly atLeast: Money }
  | { readonly atMost: Money }

// An operation on a few exposures of a large policy reads only those, so its work grows with the change (docs/design.md,
// section 1). Code that needs more throws `NeedsWholePolicy`, and the operation starts over with the whole policy.
/** Policies with at most this many perils are read whole, and cached for the next operation. */
export const READ_WHOLE_PERILS = 200

/** The exposures to read: those named here and those that the endorsement touches. */
export type Part = { readonly exposures: readonly string[]; readonly endorsement?: EndorsementLocator }

export type Unread = { readonly exposures: number; readonly perils: number }

export const NOTHING_UNREAD: Unread = { exposures: 0, perils: 0 }

/** Thrown when only a part of the policy was read but more is needed. */
export class NeedsWholePolicy extends Error {
  constructor() {
    super('The operation needs the whole policy.')
    this.name = 'NeedsWholePolicy'
  }
}

/** A record with field values, and the product's fields for it. */
export type FieldOwner = {
  readonly record: PolicySegment | ExposureRun | PerilRun
  readonly fields: readonly FieldDefinition[]
}

/** Yields the segments and the runs of exposures and perils that `before` does not share. */
export function* fieldOwners(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  before?: PolicyAggregate,
): Generator<FieldOwner> {
  const { exposures, perils } = aggregate
  const definitions = new Map(product.exposures.map(exposure => [exposure.name, exposure]))
  const exposureOf = (locator: Uuid) => definitions.get(exposures.get(locator)?.name ?? '')
  const perilOf = (peril: Peril) =>
    exposureOf(peril.exposureLocator)?.perils.find(({ name }) => name === peril.name)
  for (const record of changedRecords(aggregate.segments, before?.segments))
    yield { record, fields: product.fields }
  for (const record of changedRecords(aggregate.exposureRuns, before?.exposureRuns))
    yield { record, fields: exposureOf(record.exposureLocator)?.fields ?? [] }
  for (const record of changedRecords(aggregate.perilRuns, before?.perilRuns)) {
    const peril = perils.get(record.perilLocator)
    yield { record, fields: (peril && perilOf(peril)?.fields) ?? [] }
  }
}

/** Yields the records that `before` does not share. Compares by identity, because a transaction keeps every untouched record. */
export function* changedRecords<K, R>(
  records: ReadonlyMap<K, R>,
  before: ReadonlyMap<K, R> | undefined,
): Generator<R> {
  if (records === before) return
  for (const [locator, record] of records) if (before?.get(locator) !== record) yield record
}

/** Returns the requested span, by default one calendar year from midnight today (brief 7). It may end before its start. */
export function requestedSpan(
  start: Instant | undefined,
  end: Instant | undefined,
  timeZone: TimeZone,
  now: Instant,
): Span {
  const from = start ?? startOfDay(now, timeZone)
  return { start: from, end: end ?? add(from, 1, 'year', timeZone) }
}

/** Like `requestedSpan`, but throws 400 if the span does not end after its start. */
export const contractSpan = (...asked: Parameters<typeof requestedSpan>): Span =>
  validSpan(requestedSpan(...asked))

/** Throws 400 if the span does not end after its start. */
export function validSpan(span: Span): Span {
  if (span.end > span.start) return span
  throw invalidRequest(`policyEndTimestamp ${span.end} must be after policyStartTimestamp ${span.start}.`)
}

/** Returns the name of the payment schedule, by default the product's first. Throws 400 if the product does not have it. */
export function paymentSchedule(product: ProductDefinition, name: string | undefined): string {
  const { paymentSchedules } = product
  const found = name === undefined ? paymentSchedules[0] : paymentSchedules.find(one => one.name === name)
  if (found) return found.name
  const known = paymentSchedules.map(one => `'${one.name}'`).join(', ')
  throw invalidRequest(`Product '${product.name}' has no payment schedule '${name}'; it has ${known}.`)
}

/**
 * Throws 413 if the policy exceeds its limits. Counts all its quotes and the exposures and perils that were not read, but no
 * invalidated modifications.
 */
export function assertWithinLimits(
  { exposures, perils, quotes, fees, modifications }: PolicyAggregate,
  unread: Unread = NOTHING_UNREAD,
): void {
  const made = [...modifications.values()].filter(
    one => one.quoteLocator === undefined && one.invalidatedAt === undefined,
  )
  const exceededLimitText = (count: number, what: keyof typeof POLICY_LIMITS): string | undefined =>
    count > POLICY_LIMITS[what] ? `${count} ${what}; the limit is ${POLICY_LIMITS[what]}` : undefined
  const problem =
    exceededLimitText(exposures.size + unread.exposures, 'exposures') ??
    exceededLimitText(perils.size + unread.perils, 'perils') ??
    exceededLimitText(quotes.size, 'quotes') ??
    exceededLimitText(fees.size, 'fees') ??
    exceededLimitText(made.length, 'modifications')
  if (problem)
    throw new Refusal(
      'policyLimit',
      `The policy with all its quotes would have ${problem}. Discard quotes, or split the policy into several.`,
    )
}

// A transaction's time and jurisdiction decide which of the tenant's resources are in force for it (resources brief 1.1, 2).
// Rating, plugins, constraints and documents all use this file, so they use the same resources.
//
// The jurisdiction is a value of the policy's own data: of the field that policy.json names by `jurisdictionField`, otherwise of a
// field `jurisdiction`. It is therefore known wherever the policy is, and an endorsement of that field moves the policy to other
// tables from the endorsement's time on. Rating uses the jurisdiction of each peril's own segment. Everything else uses the
// policy's jurisdiction at the transaction's time, including plugin calls, because one call rates all segments.
type PolicyContext = { readonly aggregate: PolicyAggregate; readonly product: ProductDefinition }

/** Returns the jurisdiction; undefined if the product has no such field or the field has no value. */
export const jurisdictionOf = (
  { jurisdictionField }: ProductDefinition,
  { values }: Pick<FieldData, 'values'>,
): string | undefined =>
  jurisdictionField === undefined ? undefined : valuesOf(values, jurisdictionField)[0]

/** Returns a modification's selection basis. A renewal is at its term's start; a cancellation uses the segment that it ends. */
export function selectionBasis(
  context: PolicyContext,
  modification: Modification,
  now: Instant,
): SelectionBasis {
  const { aggregate } = context
  const { quoteLocator } = modification
  const quote = quoteLocator === undefined ? selectedQuote(aggregate) : aggregate.quotes.get(quoteLocator)!
  return basisOf(context, quote, lineUpTo(aggregate, quote, modification), modification.effectiveAt, now)
}

/** Returns the selection basis of anything else, such as an invoice or a plugin call in between. Uses the issued policy. */
export function basisAt(context: PolicyContext, at: Instant, now: Instant): SelectionBasis {
  const quote = selectedQuote(context.aggregate)
  return basisOf(context, quote, lineOf(context.aggregate, quote), at, now)
}

function basisOf(
  { product }: PolicyContext,
  quote: Quote,
  line: Line,
  at: Instant,
  now: Instant,
): SelectionBasis {
  const renewals = line.filter(
    ({ modification }) => modification.kind === 'renewal' && modification.effectiveAt <= at,
  )
  const segments = product.jurisdictionField === undefined ? [] : segmentsInForce(line)
  const segment = segments.findLast(one => one.start <= at) ?? segments[0]
  const jurisdiction = segment && jurisdictionOf(product, segment.data)
  return {
    policyStartTime: quote.contractStart,
    termStartTime: renewals.reduce(
      (start, { modification }) => later(start, modification.effectiveAt),
      quote.contractStart,
    ),
    transactionEffectiveTime: at,
    currentTime: now,
    ...(jurisdiction !== undefined && { jurisdiction }),
  }
}

/** A request that is not executed yet, with the values that it sends for the policy's own fields. */
type Request = {
  /** When the request takes effect. */
  readonly at: Instant
  readonly fieldValues?: unknown
  /** New business begins the policy at that time; a renewal begins a term. */
  readonly begins?: 'policy' | 'term'
}

/** Returns the selection basis of a request that changes the policy. The request's values take precedence over the policy's. */
export function basisOfRequest(
  context: PolicyContext,
  { at, fieldValues, begins }: Request,
  now: Instant,
): SelectionBasis {
  const basis = basisAt(context, at, now)
  const named = jurisdictionIn(context.product, fieldValues)
  return {
    ...basis,
    ...(begins === 'policy' && { policyStartTime: at }),
    ...(begins !== undefined && { termStartTime: at }),
    ...(named !== undefined && { jurisdiction: named[0] }),
  }
}

/** Returns the selection basis of a request that creates a policy: policy, term and transaction all begin at its time. */
export const basisOfNewPolicy = (
  product: ProductDefinition,
  { at, fieldValues }: Omit<Request, 'begins'>,
  now: Instant,
): SelectionBasis => ({
  policyStartTime: at,
  termStartTime: at,
  transactionEffectiveTime: at,
  currentTime: now,
  jurisdiction: jurisdictionIn(product, fieldValues)?.[0],
})

/** Returns the jurisdictions in the request's field values; undefined if they do not include the field. */
function jurisdictionIn(
  { jurisdictionField }: ProductDefinition,
  fieldValues: unknown,
): readonly string[] | undefined {
  if (jurisdictionField === undefined) return undefined
  const { values } = readFieldValues(fieldValues)
  return Object.hasOwn(values, jurisdictionField) ? values[jurisdictionField] : undefined
}
