// A policy as an operation reads it, whole or in part, with its policyholder and the configuration of its version; and the span and
// payment schedule that a request names.
import { invalidRequest } from '../kernel/errors.ts'
import type { EndorsementLocator, Uuid } from '../kernel/locators.ts'
import type { CurrencyCode, Money } from '../kernel/money.ts'
import { add, type Instant, type Span, startOfDay, type TimeZone } from '../kernel/time.ts'
import type { Policyholder } from '../policyholders/values.ts'
import type { LoadedConfiguration } from '../product/cache.ts'
import type { FieldDefinition, ProductDefinition } from '../product/configuration.ts'
import type { ExposureRun, Peril, PerilRun, PolicyAggregate, PolicySegment } from './records/aggregate.ts'

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
