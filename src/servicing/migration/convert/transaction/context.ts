// A transaction that is being applied to its policy, as each step sees it.

import type { LocatorSupply, Uuid } from '../../../../kernel/locators.ts'
import { addTo } from '../../../../kernel/maps.ts'
import { earlier, type Instant } from '../../../../kernel/time.ts'
import { chargesOf } from '../../../../policy/bills/amounts-due.ts'
import type { Charge } from '../../../../policy/bills/charge.ts'
import { type Line, lineOf } from '../../../../policy/fold/line.ts'
import { type Piece, piecesOf } from '../../../../policy/fold/pieces.ts'
import type { Modification, PerilRun, PolicyAggregate, Quote } from '../../../../policy/records/aggregate.ts'
import type { ProductDefinition } from '../../../../product/configuration.ts'
import { idOf, keyInTerm, type ReadTransaction } from '../history.ts'

/** The transaction and its policy. The maps of `making` and `known` are written to. */
export type Input = {
  readonly making: Making
  readonly quote: Quote
  readonly transaction: ReadTransaction
  readonly known: Known
  readonly product: ProductDefinition
  readonly supply: LocatorSupply
}

export type Context = Input & {
  /** The line as it was before it. */
  readonly before: Line
  readonly isCreation: boolean
  /** Of its modification. */
  readonly by: Uuid
  readonly made: { madeBy: Uuid; createdAt: Instant; updatedAt: Instant }
  /** New runs by the ids of their elements. */
  readonly newRuns: Map<string, Uuid>
  /** Keys of fees in the fold, by the keys of what the transaction says of them. */
  readonly feesFor: Map<string, string>
  /** Its runs in reach by their perils. */
  readonly reached: Map<Uuid, Uuid[]>
}

/** Takes a UUID. */
export function newContext(input: Input): Context {
  const { making, quote, transaction, supply } = input
  const isCreation = making.modifications.size === 0
  const by = supply.uuid()
  const { issuedTime, createdAt = issuedTime } = transaction.request
  return {
    ...{ ...input, isCreation, by },
    before: isCreation ? [] : lineOf(making, quote),
    made: { madeBy: by, createdAt: earlier(createdAt, issuedTime), updatedAt: issuedTime },
    ...{ newRuns: new Map(), feesFor: new Map(), reached: new Map() },
  }
}

/** The line with the transaction, as far as it is applied. */
export const lineNow = ({ making, quote }: Context): Line => lineOf(making, quote)

export const modificationOf = ({ making, by }: Context): Modification => making.modifications.get(by)!

export function changeModification(context: Context, change: Partial<Modification>): void {
  context.making.modifications.set(context.by, { ...modificationOf(context), ...change })
}

/** What the fold charges for it, as far as it is applied. */
export const chargesNow = (context: Context): Charge[] => chargesOf(inReach(context), modificationOf(context))

export function isInTerm({ transaction: { term } }: Context, at: Instant): boolean {
  return term.startTime <= at && at < term.endTime
}

/** From its time to the end of its term, in milliseconds. */
export const lengthOf = ({ transaction: { term, from } }: Context): number => term.endTime - from

/** The element's key in what is known of the term. */
export const keyOfElement = ({ transaction }: Context, id: string): string =>
  keyInTerm(transaction.termAt, id)

export const idsOfPerils = ({ known }: Context): Map<Uuid, string> =>
  new Map([...known.perils].map(([key, locator]) => [locator, idOf(key)]))

/** The runs of an element in the transaction's term that are in its reach. */
export function runsOf(context: Context, id: string): PerilRun[] {
  const peril = context.known.perils.get(keyOfElement(context, id))
  const runs = peril === undefined ? undefined : context.reached.get(peril)
  return (runs ?? []).map(run => context.making.perilRuns.get(run)!)
}

/** The last run that was made of an element in the transaction's term. */
export function lastRunOf(context: Context, id: string): PerilRun {
  const { making, known } = context
  const peril = known.perils.get(keyOfElement(context, id))!
  return making.perilRuns.get(known.reach.lastOf.get(peril)!)!
}

/** What a modification left of a piece before its time. */
export const keptOf = (pieces: readonly Piece[], { segment, start }: Piece, by: Uuid): Piece | undefined =>
  pieces.find(one => one.madeBy === by && one.segment.predecessor === segment.locator && one.start === start)

// The runs in reach of a transaction: those in segments from its time on. A policy with 200 changes has thousands of runs, and a
// change must not take longer the more changes came before it.
/** The runs that ever lay in one of the segments, in the order in which they were made. */
export function runsIn({ reach }: Known, making: Making, segments: Iterable<Uuid>): PerilRun[] {
  const found = new Set<Uuid>()
  for (const segment of segments) for (const run of reach.bySegment.get(segment) ?? []) found.add(run)
  return inOrder(reach, making, found)
}

const inOrder = ({ numbers }: Known['reach'], making: Making, locators: Iterable<Uuid>): PerilRun[] =>
  [...locators]
    .sort((a, b) => numbers.get(a)! - numbers.get(b)!)
    .map(locator => making.perilRuns.get(locator)!)

/** Looks for the runs in reach: once the transaction's segments are there. */
export function findReach({ making, known, by, reached }: Context): void {
  const touched = [...making.segments.values()].flatMap(({ locator, madeBy, replacedBy, predecessor }) => [
    ...(replacedBy === by ? [locator] : []),
    ...(madeBy === by && predecessor !== undefined ? [predecessor] : []),
  ])
  reached.clear()
  for (const { perilLocator, locator } of runsIn(known, making, touched))
    addTo(reached, perilLocator, locator)
}

/** A new run of the transaction's own. */
export function reachNew({ making, known: { reach }, reached }: Context, run: PerilRun): void {
  making.perilRuns.set(run.locator, run)
  reach.numbers.set(run.locator, reach.numbers.size)
  reach.lastOf.set(run.perilLocator, run.locator)
  addTo(reached, run.perilLocator, run.locator)
}

/** The policy with no runs of perils but those in reach. */
export function inReach({ making, known, reached }: Context): PolicyAggregate {
  const locators = new Set([...reached.values()].flat())
  for (const run of known.reach.held) locators.add(run)
  const runs = inOrder(known.reach, making, locators)
  return { ...making, perilRuns: new Map(runs.map(run => [run.locator, run])) }
}

/** Keeps where the runs in reach lie by now, for the transactions to come. */
export function keepReach(context: Context): void {
  const { making, known, by, reached } = context
  const { bySegment } = known.reach
  const line = lineNow(context)
  for (const locator of [...reached.values()].flat())
    for (const { madeBy, segment } of piecesOf(
      making.perilRuns.get(locator)!,
      line,
      making.policy.timeZone,
    )) {
      if (madeBy !== by) continue
      const own = bySegment.get(segment.locator)
      if (own) own.add(locator)
      else bySegment.set(segment.locator, new Set([locator]))
    }
}

type Writable<T> = T extends ReadonlyMap<infer K, infer V> ? Map<K, V> : never

/** A policy in the making: its records so far. */
export type Making = {
  policy: PolicyAggregate['policy']
} & { readonly [K in Exclude<keyof PolicyAggregate, 'policy'>]: Writable<PolicyAggregate[K]> }

/** Which records elements are by now. */
export type Known = {
  readonly exposures: Map<string, Uuid>
  /** By term and id: a renewal's perils are others, of the same group. */
  readonly perils: Map<string, Uuid>
  readonly renewalGroups: Map<string, Uuid>
  /** By term and id. */
  readonly runs: Map<string, { locator: Uuid; start: Instant; fingerprint: string }>
  /** Runs of exposures by their exposures. */
  readonly exposureRuns: Map<Uuid, Uuid[]>
  readonly reach: Reach
}

/** Where runs of perils lie. */
type Reach = {
  /** By the segments that something of them ever lay in. */
  readonly bySegment: Map<Uuid, Set<Uuid>>
  /** In which order they were made. */
  readonly numbers: Map<Uuid, number>
  /** By perils, the last one that was made. */
  readonly lastOf: Map<Uuid, Uuid>
  /** Runs with holdbacks. */
  readonly held: Set<Uuid>
}

export const nothingKnown = (): Known => ({
  exposures: new Map(),
  perils: new Map(),
  renewalGroups: new Map(),
  runs: new Map(),
  exposureRuns: new Map(),
  reach: { bySegment: new Map(), numbers: new Map(), lastOf: new Map(), held: new Set() },
})
