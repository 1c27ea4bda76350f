// A policy in two dimensions of time: when something applies (effective time), and from when to when it was known.
import { sum } from './decimal.ts'
import { msOf } from './format.ts'
import type {
  Cancellation,
  Modification,
  Peril,
  PerilSegment,
  Policy,
  Reinstatement,
  Segment,
} from './wire.ts'

/** A step of what was known: from `at` until the next step. */
export type Step = {
  /** When its transactions were issued. Undefined for transactions that are not issued yet. */
  readonly at: number | undefined
  readonly modifications: readonly Modification[]
}

/** A segment with the steps in which it was known: from `from` until before `to`. */
export type KnownSegment = {
  readonly segment: Segment
  readonly start: number
  readonly end: number
  readonly from: number
  readonly to: number
  readonly maker: Modification | undefined
}

export type History = {
  readonly steps: readonly Step[]
  readonly segments: readonly KnownSegment[]
  /** The effective span of everything that was ever known. */
  readonly start: number
  readonly end: number
}

type Recorded = {
  readonly issuedTimestamp?: string | undefined
  readonly replacedTimestamp?: string | undefined
}

/** Whether the record was in force by what was known at the time. Undefined: by what is known now, with records not issued yet. */
export function isKnown({ issuedTimestamp, replacedTimestamp }: Recorded, at: number | undefined): boolean {
  if (at === undefined) return replacedTimestamp === undefined
  if (issuedTimestamp === undefined || msOf(issuedTimestamp) > at) return false
  return replacedTimestamp === undefined || msOf(replacedTimestamp) > at
}

/** Whether the span contains the time. Spans are half-open. */
export const containsTime = (
  { startTimestamp, endTimestamp }: { startTimestamp: string; endTimestamp: string },
  at: number,
): boolean => msOf(startTimestamp) <= at && at < msOf(endTimestamp)

/** A peril's segments, with the property names that all other spans have. */
export const perilSegments = ({ characteristics }: Peril): SpannedPeril[] =>
  characteristics.map(one => ({
    ...one,
    startTimestamp: one.coverageStartTimestamp,
    endTimestamp: one.coverageEndTimestamp,
  }))

export type SpannedPeril = PerilSegment & { readonly startTimestamp: string; readonly endTimestamp: string }

export function historyOf(policy: Policy): History {
  const { modifications, characteristics } = policy
  const issued = modifications.filter(modification => modification.issuedTimestamp !== undefined)
  const pending = modifications.filter(modification => modification.issuedTimestamp === undefined)
  const times = [...new Set(issued.map(one => msOf(one.issuedTimestamp!)))].sort((a, b) => a - b)
  const steps: Step[] = times.map(at => ({
    at,
    modifications: issued.filter(one => msOf(one.issuedTimestamp!) === at),
  }))
  const makerOf = new Map(
    modifications.flatMap(modification =>
      modification.newPolicyCharacteristicsLocators.map(locator => [locator, modification] as const),
    ),
  )
  const notIssued = characteristics.some(one => one.issuedTimestamp === undefined)
  if (notIssued || steps.length === 0) steps.push({ at: undefined, modifications: pending })
  const last = steps.length
  const stepAt = (time: string): number => {
    const found = times.indexOf(msOf(time))
    return found < 0 ? times.filter(at => at < msOf(time)).length : found
  }
  const segments = characteristics
    .map(segment => ({
      segment,
      start: msOf(segment.startTimestamp),
      end: msOf(segment.endTimestamp),
      from: segment.issuedTimestamp === undefined ? last - 1 : stepAt(segment.issuedTimestamp),
      to: segment.replacedTimestamp === undefined ? last : stepAt(segment.replacedTimestamp),
      maker: makerOf.get(segment.locator),
    }))
    // A segment that was created and replaced in the same step was never known.
    .filter(({ from, to }) => from < to)
  return {
    steps,
    segments,
    start: Math.min(msOf(policy.originalContractStartTimestamp), ...segments.map(one => one.start)),
    end: Math.max(msOf(policy.originalContractEndTimestamp), ...segments.map(one => one.end)),
  }
}

/** Returns the segments known at the step, in the order of effective time. */
export const knownAt = ({ segments }: History, step: number): KnownSegment[] =>
  segments.filter(({ from, to }) => from <= step && step < to).sort((a, b) => a.start - b.start)

/** The premium of all terms as known at the step. Undefined if not priced. */
export function premiumAt(history: History, step: number): string | undefined {
  const amounts = knownAt(history, step).map(({ segment }) => segment.grossPremium)
  return amounts.some(amount => amount === undefined) ? undefined : sum(amounts)
}

/** A contract period, from `start` until before `end`. */
export type Term = { readonly start: number; readonly end: number }

/** The terms as known at the step, in their order: the first, and one for each renewal. */
export function termsAt({ steps, start, end }: History, step: number): Term[] {
  const starts = steps
    .slice(0, step + 1)
    .flatMap(({ modifications }) => modifications)
    .filter(({ name }) => name === 'modification.policy.renew')
    .flatMap(({ effectiveTimestamp }) => (effectiveTimestamp === undefined ? [] : [msOf(effectiveTimestamp)]))
    .sort((a, b) => a - b)
  return [start, ...starts].map((from, at) => ({ start: from, end: starts[at] ?? end }))
}

/** Returns the term that contains the time, or the first term for an earlier time and the last for a later one. */
export function termAt(history: History, step: number, at: number): Term {
  const terms = termsAt(history, step)
  return terms.find(({ end }) => at < end) ?? terms.at(-1)!
}

/** The premium of a term as known at the step. Undefined if not priced. */
export function premiumOfTerm(history: History, step: number, { start, end }: Term): string | undefined {
  const amounts = knownAt(history, step)
    .filter(one => one.start >= start && one.start < end)
    .map(({ segment }) => segment.grossPremium)
  return amounts.some(amount => amount === undefined) ? undefined : sum(amounts)
}

/** Returns the present time. The clock of a test tenant may be ahead: then the time of the policy's last change. */
export const latestOf = ({ updatedTimestamp, modifications }: Policy): number =>
  Math.max(
    Date.now(),
    msOf(updatedTimestamp),
    ...modifications.map(modification => msOf(modification.issuedTimestamp ?? '0')),
  )

/** Returns when a change made now takes effect by default: immediately, or when the cover begins if that is later. */
export const usualStart = (policy: Policy): number =>
  Math.max(latestOf(policy), msOf(policy.originalContractStartTimestamp))

/** Returns the record in force at the time, among those known now, or else the next record, or else the last. */
export function current<
  Row extends {
    startTimestamp: string
    endTimestamp: string
    issuedTimestamp?: string
    replacedTimestamp?: string
  },
>(rows: readonly Row[], at: number): Row | undefined {
  const known = rows
    .filter(row => isKnown(row, undefined))
    .sort((a, b) => msOf(a.startTimestamp) - msOf(b.startTimestamp))
  return known.find(row => msOf(row.endTimestamp) > at) ?? known.at(-1)
}

/** Returns the cancellation in force that was issued last. Only this one can be reinstated: cover ends by it. */
export const cancellationToReinstate = (all: readonly Cancellation[]): Cancellation | undefined =>
  all
    .filter(
      ({ state, reinstatements = [] }) =>
        state === 'issued' && reinstatements.every(reinstatement => reinstatement.state !== 'issued'),
    )
    .sort((a, b) => Number(a.issuedTimestamp) - Number(b.issuedTimestamp))
    .at(-1)

/** Returns the cancellation's reinstatement in preparation. A second one cannot be created meanwhile. */
export const openReinstatement = ({ reinstatements = [] }: Cancellation): Reinstatement | undefined =>
  reinstatements.find(({ state }) => state === 'draft' || state === 'accepted')
