import type { LocatorSupply, Uuid } from '../../../../kernel/locators.ts'
import { addTo } from '../../../../kernel/maps.ts'
import { earlier, type Instant } from '../../../../kernel/time.ts'
import { chargesOf } from '../../../../policy/bills/amounts-due.ts'
import type { Charge } from '../../../../policy/bills/charge.ts'
import { type Line, lineOf } from '../../../../policy/fold/line.ts'
import { type Piece, piecesOf } from '../../../../policy/fold/pieces.ts'
import type { Modification, PerilRun, PolicyAggregate, Quote } from '../../../../policy/records/aggregate.ts'
import type { ProductDefinition } from '../../../../product/configuration.ts'
import type { StatedCharge } from '../elements.ts'
import { idOf, keyInTerm, type ReadTransaction } from '../history.ts'

/** Changes `making` and `known`. */
export type Input = {
  readonly making: Making
  readonly quote: Quote
  readonly transaction: ReadTransaction
  readonly known: Known
  readonly product: ProductDefinition
  readonly supply: LocatorSupply
}

export type Context = Input & {
  /** The line without the transaction. */
  readonly before: Line
  readonly isCreation: boolean
  /** The locator of its modification. */
  readonly by: Uuid
  readonly stamp: { madeBy: Uuid; createdAt: Instant; updatedAt: Instant }
  /** New runs by the ids of their elements. */
  readonly newRuns: Map<string, Uuid>
  /** Keys of the fold's fees, by the keys of the stated fees. */
  readonly feesFor: Map<string, string>
  /** Runs in reach, by peril. */
  readonly reached: Map<Uuid, Uuid[]>
}

/** Takes a UUID. */
export function newContext(input: Input): Context {
  const { making, quote, transaction, supply } = input
  const isCreation = making.modifications.size === 0
  const by = supply.uuid()
  const { issuedTime, createdAt = issuedTime } = transaction.request
  return {
    ...input,
    isCreation,
    by,
    before: isCreation ? [] : lineOf(making, quote),
    stamp: { madeBy: by, createdAt: earlier(createdAt, issuedTime), updatedAt: issuedTime },
    newRuns: new Map(),
    feesFor: new Map(),
    reached: new Map(),
  }
}

/** The line with the transaction as applied so far. */
export const lineNow = ({ making, quote }: Context): Line => lineOf(making, quote)

/** Returns the transaction's modification, which must already be in `making`. */
export const modificationOf = ({ making, by }: Context): Modification => making.modifications.get(by)!

/** Replaces the transaction's modification in `making` with a changed copy. */
export function changeModification(context: Context, change: Partial<Modification>): void {
  context.making.modifications.set(context.by, { ...modificationOf(context), ...change })
}

/** The fold's charges for the transaction as applied so far. */
export const chargesNow = (context: Context): Charge[] =>
  chargesOf(policyInReach(context), modificationOf(context))

/** Whether the time is in the transaction's term, which includes its start but not its end. */
export function isInTerm({ transaction: { term } }: Context, at: Instant): boolean {
  return term.startTime <= at && at < term.endTime
}

/** Milliseconds from the transaction's time to the end of its term. */
export const lengthOf = ({ transaction: { term, from } }: Context): number => term.endTime - from

/** Returns the element's key in `known.perils` and `known.runs`. */
export const keyOfElement = ({ transaction }: Context, id: string): string =>
  keyInTerm(transaction.termAt, id)

/**
 * Returns the key of a charge, which is the same for stated charges and for the fold's. It is JSON, since ids may be any text.
 * `name` is the locator of a fee, otherwise the name of the place.
 */
export const keyOfCharged = (kind: StatedCharge['kind'], name: string, id = ''): string =>
  JSON.stringify([kind, name, id])

/** Returns the ids of elements, in the other system, by the locators of their perils in all terms. */
export const idsOfPerils = ({ known }: Context): Map<Uuid, string> =>
  new Map([...known.perils].map(([key, locator]) => [locator, idOf(key)]))

/** Returns the element's runs in reach, in the transaction's term. */
export function runsOf(context: Context, id: string): PerilRun[] {
  const peril = context.known.perils.get(keyOfElement(context, id))
  const runs = peril === undefined ? undefined : context.reached.get(peril)
  return (runs ?? []).map(run => context.making.perilRuns.get(run)!)
}

/** Returns the element's newest run in the transaction's term. */
export function lastRunOf(context: Context, id: string): PerilRun {
  const { making, known } = context
  const peril = known.perils.get(keyOfElement(context, id))!
  return making.perilRuns.get(known.reach.lastOf.get(peril)!)!
}

/** Returns the part of a piece that a modification kept before its time. */
export const keptOf = (pieces: readonly Piece[], { segment, start }: Piece, by: Uuid): Piece | undefined =>
  pieces.find(
    piece => piece.madeBy === by && piece.segment.predecessor === segment.locator && piece.start === start,
  )

// A transaction looks only at runs in segments from its time on (its reach). A policy with 200 changes has thousands of runs, and
// a change must not take longer the more changes came before it.
/** Returns the runs that were ever in one of the segments, oldest first. */
export function runsIn({ reach }: Known, making: Making, segments: Iterable<Uuid>): PerilRun[] {
  const found = new Set<Uuid>()
  for (const segment of segments) for (const run of reach.bySegment.get(segment) ?? []) found.add(run)
  return runsInOrder(reach, making, found)
}

const runsInOrder = ({ numbers }: Known['reach'], making: Making, locators: Iterable<Uuid>): PerilRun[] =>
  [...locators]
    .sort((a, b) => numbers.get(a)! - numbers.get(b)!)
    .map(locator => making.perilRuns.get(locator)!)

/** Finds the runs in reach. Call it once the transaction's segments exist. */
export function findReach({ making, known, by, reached }: Context): void {
  const touched = [...making.segments.values()].flatMap(({ locator, madeBy, replacedBy, predecessor }) => [
    ...(replacedBy === by ? [locator] : []),
    ...(madeBy === by && predecessor !== undefined ? [predecessor] : []),
  ])
  reached.clear()
  for (const { perilLocator, locator } of runsIn(known, making, touched))
    addTo(reached, perilLocator, locator)
}

/** Adds a run to the policy, as the newest of its peril and in reach of the transaction. */
export function addNewRun({ making, known: { reach }, reached }: Context, run: PerilRun): void {
  making.perilRuns.set(run.locator, run)
  reach.numbers.set(run.locator, reach.numbers.size)
  reach.lastOf.set(run.perilLocator, run.locator)
  addTo(reached, run.perilLocator, run.locator)
}

/** Returns the policy with only the peril runs in reach. */
export function policyInReach({ making, known, reached }: Context): PolicyAggregate {
  const locators = new Set([...reached.values()].flat())
  for (const run of known.reach.held) locators.add(run)
  const runs = runsInOrder(known.reach, making, locators)
  return { ...making, perilRuns: new Map(runs.map(run => [run.locator, run])) }
}

/** Records the segments of the runs in reach for later transactions. */
export function recordReach(context: Context): void {
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

/** A policy that is being built. */
export type Making = {
  policy: PolicyAggregate['policy']
} & { readonly [K in Exclude<keyof PolicyAggregate, 'policy'>]: Writable<PolicyAggregate[K]> }

/** The records of elements so far. */
export type Known = {
  readonly exposures: Map<string, Uuid>
  /** By term and id: a renewal has new perils in the same renewal group. */
  readonly perils: Map<string, Uuid>
  readonly renewalGroups: Map<string, Uuid>
  /** By term and id. */
  readonly runs: Map<string, { locator: Uuid; start: Instant; fingerprint: string }>
  readonly exposureRuns: Map<Uuid, Uuid[]>
  readonly reach: Reach
}

type Reach = {
  /** Peril runs by the segments in which they ever were. */
  readonly bySegment: Map<Uuid, Set<Uuid>>
  /** The order of creation. */
  readonly numbers: Map<Uuid, number>
  /** Newest run by peril. */
  readonly lastOf: Map<Uuid, Uuid>
  /** Runs with holdbacks. */
  readonly held: Set<Uuid>
}

export const emptyKnown = (): Known => ({
  exposures: new Map(),
  perils: new Map(),
  renewalGroups: new Map(),
  runs: new Map(),
  exposureRuns: new Map(),
  reach: { bySegment: new Map(), numbers: new Map(), lastOf: new Map(), held: new Set() },
})
