// Cuts the elements that a transaction changes, and begins new runs for them.

import type { DisplayId, Uuid } from '../../../../kernel/locators.ts'
import { addTo } from '../../../../kernel/maps.ts'
import { decimal, negated } from '../../../../kernel/money.ts'
import { later, type Span } from '../../../../kernel/time.ts'
import { endOfRun } from '../../../../policy/fold/line.ts'
import { piecesInForce, piecesOf } from '../../../../policy/fold/pieces.ts'
import { minusAmounts } from '../../../../policy/fold/shares.ts'
import type {
  Exposure,
  ExposureRun,
  Modification,
  Peril,
  PerilPrice,
  PerilRun,
  PolicySegment,
} from '../../../../policy/records/aggregate.ts'
import { canonicalText, type ReadElement } from '../elements.ts'
import { idOf } from '../history.ts'
import { addToAmounts, hasOtherRate, hasPlace, missingAmounts, zeroPrice } from './charging.ts'
import {
  addNewRun,
  type Context,
  findReach,
  idsOfPerils,
  type Known,
  keptOf,
  keyOfElement,
  lengthOf,
  lineNow,
  runsIn,
  runsOf,
} from './context.ts'

/** Updates the cover. `covered` is the number of milliseconds of the rest of its term that are covered without the transaction. */
export function coverElements(context: Context, covered: number): void {
  const { transaction, known } = context
  const { tree, termAt, from } = transaction
  // No peril run continues across a gap.
  const isWhole = covered === lengthOf(context)
  const end = (id: string): void => {
    known.runs.delete(keyOfElement(context, id))
    endElement(context, id)
  }
  for (const element of tree!.elements.values()) {
    if (element.level === 'policy' || element.isEnded) continue
    const { id, fingerprint } = element
    const key = keyOfElement(context, id)
    const was = known.runs.get(key)
    if (was && !isChargedAnew(element) && isUnchanged(context, was, element, isWhole)) continue
    end(id)
    known.runs.set(key, { locator: beginRun(context, element, was?.locator), start: from, fingerprint })
  }
  // Every element that the term ever had, because an earlier run may last until a later change.
  const ids = [...known.perils.keys()].filter(key => key.startsWith(`${termAt} `)).map(idOf)
  for (const id of new Set([...known.exposures.keys(), ...ids]))
    if (tree!.elements.get(id)?.isEnded ?? true) end(id)
}

function beginRun(context: Context, element: ReadElement, was: Uuid | undefined): Uuid {
  const { transaction, making, known, stamp, supply, newRuns } = context
  const { from, term } = transaction
  const locator = supply.uuid()
  const run = { ...stamp, start: from, end: term.endTime, locator, data: element.data, cuts: [] }
  if (element.level === 'exposure') {
    const exposureLocator = exposureOf(context, element)
    making.exposureRuns.set(locator, { ...run, exposureLocator } satisfies ExposureRun)
    addTo(known.exposureRuns, exposureLocator, locator)
    return locator
  }
  addNewRun(context, {
    ...run,
    perilLocator: perilOf(context, element),
    amounts: element.amounts,
    price: zeroPrice(context, element, was),
  } satisfies PerilRun)
  newRuns.set(element.id, locator)
  return locator
}

/** Cuts the element's runs in force from the transaction's time on. */
function endElement(context: Context, id: string): void {
  const { transaction, making, known, by, before, newRuns } = context
  const { from, term } = transaction
  const { exposureRuns, perilRuns, policy } = making
  const cut = { by, from }
  const exposure = known.exposures.get(id)
  if (exposure) {
    const counted = new Set(making.modifications.keys())
    const own = known.exposureRuns.get(exposure) ?? []
    for (const run of own.map(locator => exposureRuns.get(locator)!))
      if (run.end === term.endTime && endOfRun(run, counted) > from)
        exposureRuns.set(run.locator, { ...run, cuts: [...run.cuts, cut] })
    return
  }
  for (const run of runsOf(context, id)) {
    if (newRuns.get(id) === run.locator) continue
    const pieces = piecesInForce(piecesOf(run, before, policy.timeZone))
    if (pieces.some(piece => piece.end > from))
      perilRuns.set(run.locator, { ...run, cuts: [...run.cuts, cut] })
  }
}

const isChargedAnew = ({ level, isChargedAnew }: ReadElement): boolean => level === 'peril' && isChargedAnew

type KnownRun = NonNullable<ReturnType<Known['runs']['get']>>

/** Whether the known run needs no change. `isWhole`: the rest of the term is already covered. */
export function isUnchanged(
  context: Context,
  was: KnownRun,
  element: ReadElement,
  isWhole: boolean,
): boolean {
  if (was.fingerprint !== element.fingerprint) return false
  if (element.level !== 'exposure') {
    const { price } = context.making.perilRuns.get(was.locator)!
    if (!isWhole || isRepriced(price!, element)) return false
  }
  return was.start <= context.transaction.from || isSameThroughout(context, element)
}

/** Whether everything in force of the element equals what is stated, even if several changes led to it. */
function isSameThroughout(context: Context, { id, level, data, amounts }: ReadElement): boolean {
  const { from, term } = context.transaction
  const isExposure = level === 'exposure'
  const content = canonicalText(isExposure ? [data] : [data, amounts])
  let covered = 0
  for (const [{ start, end }, own] of isExposure ? exposureInForce(context, id) : perilInForce(context, id)) {
    if (end <= from) continue
    if (canonicalText(own) !== content) return false
    covered += end - later(start, from)
  }
  return covered === term.endTime - from
}

type ContentInForce = Generator<[span: Span, content: unknown[]]>

function* exposureInForce({ transaction, making, known, before }: Context, id: string): ContentInForce {
  const counted = new Set(before.map(step => step.modification.locator))
  const exposure = known.exposures.get(id)
  for (const locator of (exposure && known.exposureRuns.get(exposure)) ?? []) {
    const run = making.exposureRuns.get(locator)!
    const span = { start: run.start, end: endOfRun(run, counted) }
    if (run.end === transaction.term.endTime && span.end > span.start) yield [span, [run.data]]
  }
}

function* perilInForce(context: Context, id: string): ContentInForce {
  for (const run of runsOf(context, id))
    for (const piece of piecesInForce(piecesOf(run, context.before, context.making.policy.timeZone)))
      yield [piece, [run.data, run.amounts]]
}

/** Whether the transaction charges for the element or states another rate. */
const isRepriced = (price: PerilPrice, { charges }: ReadElement): boolean =>
  charges.some(({ kind, amount, items, month }) => {
    if (kind === 'fee') return false
    if (items.some(item => item.amount.minor !== 0)) return true
    if (kind === 'premium') return month !== undefined && !decimal(month).eq(price.premium.month)
    if (kind !== 'technicalPremium') return false
    return month === undefined
      ? amount.minor !== 0
      : price.technicalPremium === undefined || !decimal(month).eq(price.technicalPremium.month)
  })

// An id is one exposure permanently, but a new peril in each term.
/** Takes a digit locator if the exposure is new. */
export function exposureOf(
  { making, known, stamp, supply, quote }: Context,
  { id, type }: ReadElement,
): Uuid {
  const found = known.exposures.get(id)
  if (found) return found
  const { createdAt, updatedAt } = stamp
  const ids = { locator: supply.uuid(), displayId: supply.digits() as DisplayId, quoteLocator: quote.locator }
  const exposure: Exposure = { ...ids, name: type, createdAt, updatedAt }
  making.exposures.set(exposure.locator, exposure)
  known.exposures.set(id, exposure.locator)
  return exposure.locator
}

/** Takes a digit locator if the peril is new in its term. */
export function perilOf(context: Context, { id, type, exposureId, parentId }: ReadElement): Uuid {
  const { making, stamp, supply } = context
  const { perils, renewalGroups, exposures } = context.known
  const key = keyOfElement(context, id)
  const found = perils.get(key)
  if (found) return found
  const { createdAt, updatedAt } = stamp
  const locator = supply.uuid()
  const peril: Peril = {
    locator,
    displayId: supply.digits() as DisplayId,
    exposureLocator: exposures.get(exposureId)!,
    name: type,
    renewalGroup: renewalGroups.get(id) ?? locator,
    // Parents are covered before their children.
    ...(parentId !== undefined && { parentLocator: perils.get(keyOfElement(context, parentId))! }),
    createdAt,
    updatedAt,
  }
  making.perils.set(locator, peril)
  perils.set(key, locator)
  renewalGroups.set(id, peril.renewalGroup)
  return locator
}

// A reinstatement of exactly the ended cover restores the same segments and runs, as a live one does.
/** Whether the transaction states exactly the cover that the cancellation ended. */
export const isUndone = (context: Context, cancellation: Modification): boolean =>
  ![...context.transaction.tree!.elements.values()].some(one => one.isChargedAnew) &&
  restoredSegments(context, cancellation) !== undefined &&
  isSameCover(context, cancellation)

/** Restores the ended cover. Returns false, and changes nothing, if the charges do not allow it. */
export function restore(context: Context, cancellation: Modification): boolean {
  const back = restoredSegments(context, cancellation)!
  const { segments } = context.making
  for (const segment of back) segments.set(segment.locator, segment)
  findReach(context)
  if (recordRestoredSplits(context, back)) return true
  for (const { locator } of back) segments.delete(locator)
  return false
}

/** Whether the same elements ended, with the same data and rates throughout. */
function isSameCover(context: Context, cancellation: Modification): boolean {
  const { transaction, making, known, before } = context
  const { tree, from, term } = transaction
  const { exposureRuns, policy } = making
  const covers = new Map<string, number>()
  const isSame = (id: string, { start, end }: Span, test: (element: ReadElement) => boolean): boolean => {
    const element = tree!.elements.get(id)
    covers.set(id, (covers.get(id) ?? 0) + end - later(start, from))
    return element !== undefined && !element.isEnded && test(element)
  }
  const exposureIds = new Map([...known.exposures].map(([id, locator]) => [locator, id]))
  const counted = new Set(making.modifications.keys())
  for (const run of exposureRuns.values()) {
    const span = { start: run.start, end: endOfRun(run, counted) }
    if (run.end !== term.endTime || span.end <= later(from, span.start)) continue
    const data = canonicalText(run.data)
    if (!isSame(exposureIds.get(run.exposureLocator)!, span, one => canonicalText(one.data) === data))
      return false
  }
  const ids = idsOfPerils(context)
  const ended = [...making.segments.values()].filter(segment => segment.replacedBy === cancellation.locator)
  const segments = ended.map(one => one.locator)
  for (const run of runsIn(known, making, segments))
    for (const piece of piecesOf(run, before, policy.timeZone)) {
      if (piece.replacedBy !== cancellation.locator || piece.end <= from) continue
      const content = canonicalText([run.data, run.amounts])
      const isLike = (element: ReadElement): boolean =>
        canonicalText([element.data, element.amounts]) === content && !hasOtherRate(run.price!, element)
      if (!isSame(ids.get(run.perilLocator)!, piece, isLike)) return false
    }
  const stated = [...tree!.elements.values()].filter(one => one.level !== 'policy' && !one.isEnded)
  return stated.every(({ id }) => covers.get(id) === term.endTime - from)
}

/** Returns new segments for those that the cancellation ended, or undefined if they do not reach the end of the term. */
function restoredSegments(
  { making, transaction: { from, term, tree }, stamp, supply }: Context,
  cancellation: Modification,
): PolicySegment[] | undefined {
  const segments = [...making.segments.values()]
  const data = canonicalText(tree!.root.data)
  const ended = segments
    .filter(one => one.replacedBy === cancellation.locator && one.end > from)
    .sort((a, b) => a.start - b.start)
  const back = ended.map((segment): PolicySegment => {
    const kept = segments.find(
      one => one.madeBy === cancellation.locator && one.predecessor === segment.locator,
    )
    return {
      ...segment,
      ...stamp,
      replacedBy: undefined,
      locator: supply.uuid(),
      start: later(kept?.end ?? segment.start, from),
      predecessor: segment.locator,
    }
  })
  let end = from
  for (const { start, end: next } of back) {
    if (start !== end) return undefined
    end = next
  }
  return end === term.endTime && ended.every(one => canonicalText(one.data) === data) ? back : undefined
}

/** Records a split for each run whose stated amount differs from the fold's part. Returns false if that is impossible. */
function recordRestoredSplits(context: Context, back: readonly PolicySegment[]): boolean {
  const { by, making } = context
  const line = lineNow(context)
  const splits: PerilRun[] = []
  for (const [id, amounts] of missingAmounts(context)) {
    const found = runsOf(context, id)
      .map(run => ({ run, pieces: piecesOf(run, line, making.policy.timeZone) }))
      .find(({ pieces }) => pieces.some(piece => piece.madeBy === by && piece.segment === back[0]))
    if (!found) return false
    const { run, pieces } = found
    if (amounts.some(more => !hasPlace(run.price!, more))) return false
    const own = pieces.find(piece => piece.madeBy === by && piece.segment === back[0])
    const source = own && pieces.find(piece => piece.segment.locator === own.segment.predecessor)
    const kept = source && keptOf(pieces, source, source.replacedBy!)
    if (!own?.amounts || !source?.amounts || own.start === (kept?.end ?? source.start)) return false
    const taken = kept?.amounts ? minusAmounts(source.amounts, kept.amounts) : source.amounts
    const before = amounts.reduce(
      (all, more) => addToAmounts(all, run.price!, { ...more, by: negated(more.by) }),
      minusAmounts(taken, own.amounts),
    )
    const stated = { by, segment: source.segment.locator, at: own.start, before }
    splits.push({ ...run, splits: [...(run.splits ?? []), stated] })
  }
  for (const run of splits) making.perilRuns.set(run.locator, run)
  return true
}
