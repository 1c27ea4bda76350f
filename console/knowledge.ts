// A policy in two times: when something holds (effective), and since when and until when it was known.
import { sum } from './decimal.ts'
import { msOf } from './format.ts'
import type { Modification, Peril, PerilSegment, Policy, Segment } from './wire.ts'

/** One step of what was known: from `at` on, until the next step. */
export type Step = {
  /** When its transactions were issued; undefined for what is not issued yet. */
  readonly at: number | undefined
  readonly modifications: readonly Modification[]
}

/** A segment over the steps from `from` until before `to` in which it was known. */
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
  /** Effective span of all that was ever known. */
  readonly start: number
  readonly end: number
}

type Recorded = {
  readonly issuedTimestamp?: string | undefined
  readonly replacedTimestamp?: string | undefined
}

/** Whether the record was in force by what was known at the time; undefined: all that is not issued yet too. */
export function isKnown({ issuedTimestamp, replacedTimestamp }: Recorded, at: number | undefined): boolean {
  if (at === undefined) return replacedTimestamp === undefined
  if (issuedTimestamp === undefined || msOf(issuedTimestamp) > at) return false
  return replacedTimestamp === undefined || msOf(replacedTimestamp) > at
}

/** Whether the span holds the time; spans are half-open. */
export const holds = (
  { startTimestamp, endTimestamp }: { startTimestamp: string; endTimestamp: string },
  at: number,
): boolean => msOf(startTimestamp) <= at && at < msOf(endTimestamp)

/** A peril's segments with the names that all other spans have. */
export const perilSegments = ({ characteristics }: Peril): SpannedPeril[] =>
  characteristics.map(one => ({
    ...one,
    startTimestamp: one.coverageStartTimestamp,
    endTimestamp: one.coverageEndTimestamp,
  }))

export type SpannedPeril = PerilSegment & { readonly startTimestamp: string; readonly endTimestamp: string }

export function historyOf(policy: Policy): History {
  const { modifications, characteristics } = policy
  const issued = modifications.filter(one => one.issuedTimestamp !== undefined)
  const pending = modifications.filter(one => one.issuedTimestamp === undefined)
  const times = [...new Set(issued.map(one => msOf(one.issuedTimestamp!)))].sort((a, b) => a - b)
  const steps: Step[] = times.map(at => ({
    at,
    modifications: issued.filter(one => msOf(one.issuedTimestamp!) === at),
  }))
  const makerOf = new Map(
    modifications.flatMap(one =>
      one.newPolicyCharacteristicsLocators.map(locator => [locator, one] as const),
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
    // Made and replaced in one step: at no time was it what was known.
    .filter(({ from, to }) => from < to)
  return {
    steps,
    segments,
    start: Math.min(msOf(policy.originalContractStartTimestamp), ...segments.map(one => one.start)),
    end: Math.max(msOf(policy.originalContractEndTimestamp), ...segments.map(one => one.end)),
  }
}

/** What was known of the policy at the step, in the order of effective time. */
export const knownAt = ({ segments }: History, step: number): KnownSegment[] =>
  segments.filter(({ from, to }) => from <= step && step < to).sort((a, b) => a.start - b.start)

/** Premium of all terms as it was known at the step; undefined before it was priced. */
export function premiumAt(history: History, step: number): string | undefined {
  const amounts = knownAt(history, step).map(({ segment }) => segment.grossPremium)
  return amounts.some(amount => amount === undefined) ? undefined : sum(amounts)
}

/** A contract period, from `start` until before `end`. */
export type Term = { readonly start: number; readonly end: number }

/** Terms by what was known at the step, in their order: the first, and one from each renewal on. */
export function termsAt({ steps, start, end }: History, step: number): Term[] {
  const starts = steps
    .slice(0, step + 1)
    .flatMap(({ modifications }) => modifications)
    .filter(({ name }) => name === 'modification.policy.renew')
    .flatMap(({ effectiveTimestamp }) => (effectiveTimestamp === undefined ? [] : [msOf(effectiveTimestamp)]))
    .sort((a, b) => a - b)
  return [start, ...starts].map((from, at) => ({ start: from, end: starts[at] ?? end }))
}

/** The term that holds the time; the first of a later one, else the last. */
export function termAt(history: History, step: number, at: number): Term {
  const terms = termsAt(history, step)
  return terms.find(({ end }) => at < end) ?? terms.at(-1)!
}

/** Premium of the term as it was known at the step; undefined before it was priced. */
export function premiumOfTerm(history: History, step: number, { start, end }: Term): string | undefined {
  const amounts = knownAt(history, step)
    .filter(one => one.start >= start && one.start < end)
    .map(({ segment }) => segment.grossPremium)
  return amounts.some(amount => amount === undefined) ? undefined : sum(amounts)
}

/** Now; of a test tenant, whose clock may be ahead, the time of the last change. */
export const latestOf = ({ updatedTimestamp, modifications }: Policy): number =>
  Math.max(Date.now(), msOf(updatedTimestamp), ...modifications.map(one => msOf(one.issuedTimestamp ?? '0')))

/** When a change that is made now takes effect, unless one says otherwise: at once, or as the cover begins. */
export const usualStart = (policy: Policy): number =>
  Math.max(latestOf(policy), msOf(policy.originalContractStartTimestamp))

/** Of the records known now the one that holds at the time, else the next, else the last. */
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
