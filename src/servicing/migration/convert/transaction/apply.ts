// Applies a migrated transaction to the policy. It leaves the same records as a live one.
//
// The transaction states the charges that it adds. Elements that it changes are cut at its time and get new runs: a new run costs
// the old run's share of the time, by the fold, plus the stated difference. An ended element keeps its difference as a stated
// split (aggregate.ts, RunSplit), or as a holdback if it has no part before the cut. So the fold always charges what was stated,
// to the cent, regardless of later changes of the policy.

import type { CancellationLocator, DisplayId, EndorsementLocator, Uuid } from '../../../../kernel/locators.ts'
import { sumOf } from '../../../../kernel/money.ts'
import { type Instant, later } from '../../../../kernel/time.ts'
import { segmentsInForce, standingCancellations } from '../../../../policy/fold/line.ts'
import { premiumChangeOf } from '../../../../policy/fold/pieces.ts'
import type { Modification, PolicySegment } from '../../../../policy/records/aggregate.ts'
import type { ModificationKind } from '../../../../policy/records/transactions.ts'
import type { ReadElement } from '../elements.ts'
import { type Category, isCancellationName } from '../history.ts'
import { applyStatedCharges, type Billed, billedCharges } from './charging.ts'
import {
  type Context,
  changeModification,
  findReach,
  type Input,
  isInTerm,
  lengthOf,
  lineNow,
  modificationOf,
  newContext,
  policyInReach,
  recordReach,
} from './context.ts'
import { coverElements, isUndone, restore } from './cover.ts'

export type Applied = {
  readonly modification: Modification
  readonly billed: readonly Billed[]
  /** The number of its elements and of the runs in reach. */
  readonly work: number
}

/** Changes `making` and `known`. Takes two digit locators, and one for each exposure and each peril of a new term. */
export function applyTransaction(input: Input): Applied {
  const context = newContext(input)
  const { transaction, making } = context
  const { isGap, tree } = transaction
  const standing = standingCancellations(making).filter(one => isInTerm(context, one.effectiveAt))
  const { replaced, covered } = replacedSegments(context)
  const endsGap = !isGap && tree !== undefined && standing.length > 0 && covered < lengthOf(context)
  const kind = kindOf(context, endsGap)
  const undone = kind === 'reinstatement' ? standing.findLast(one => isUndone(context, one)) : undefined
  recordModification(context, kind, undone ? [undone] : standing)
  // Like a live cancellation, a gap ends segments and cuts no run.
  if (isGap) {
    cutSegments(context, replaced, undefined)
    findReach(context)
  } else if (tree && !(undone && restore(context, undone))) {
    cutSegments(context, replaced, tree.root)
    findReach(context)
    coverElements(context, covered)
  }
  applyStatedCharges(context)
  setEndAndChange(context)
  recordReach(context)
  return {
    modification: modificationOf(context),
    billed: billedCharges(context),
    work: (tree?.elements.size ?? 0) + [...context.reached.values()].flat().length,
  }
}

function setEndAndChange(context: Context): void {
  const { making, transaction, isCreation, quote } = context
  const end = segmentsInForce(lineNow(context)).at(-1)?.end ?? transaction.from
  const policyEnd = isCreation ? transaction.term.endTime : end
  making.policy = { ...making.policy, effectiveEnd: policyEnd }
  changeModification(context, { policyEnd })
  const premiumChange = isCreation
    ? sumOf(making.perilRuns.values(), run => run.price!.premium.amount, making.policy.currency)
    : premiumChangeOf(policyInReach(context), quote, modificationOf(context))
  changeModification(context, { premiumChange })
}

/** Returns the segments of the term in force from the transaction's time on. `covered` is their length in milliseconds. */
function replacedSegments(context: Context): { replaced: PolicySegment[]; covered: number } {
  const { from, isFirstOfTerm } = context.transaction
  const replaced = isFirstOfTerm
    ? []
    : segmentsInForce(context.before).filter(one => isInTerm(context, one.start) && one.end > from)
  return { replaced, covered: replaced.reduce((all, one) => all + one.end - later(one.start, from), 0) }
}

/** Ends segments at the transaction's time. With `root`, segments with its data follow. */
function cutSegments(
  { making: { segments }, transaction: { from, term }, by, stamp, quote, supply }: Context,
  replaced: readonly PolicySegment[],
  root: ReadElement | undefined,
): void {
  const part = (start: Instant, end: Instant, data: PolicySegment['data'], predecessor?: Uuid): void => {
    const locator = supply.uuid()
    const segment = { ...stamp, start, end, locator, quoteLocator: quote.locator, data }
    segments.set(locator, predecessor ? { ...segment, predecessor } : segment)
  }
  let end = from
  for (const segment of replaced) {
    segments.set(segment.locator, { ...segment, replacedBy: by })
    if (segment.start < from) part(segment.start, from, segment.data, segment.locator)
    if (!root) continue
    const start = later(segment.start, from)
    if (end < start) part(end, start, root.data)
    part(start, segment.end, root.data, segment.locator)
    end = segment.end
  }
  if (root && end < term.endTime) part(end, term.endTime, root.data)
}

/** Names of modifications. An endorsement is named by its type. */
const NAMES: Partial<Readonly<Record<ModificationKind, string>>> = {
  creation: 'modification.policy.create',
  renewal: 'modification.policy.renew',
  cancellation: 'modification.policy.cancel',
  reinstatement: 'modification.policy.reinstate',
}

/** `undone`: the cancellations that a reinstatement undoes. Takes two digit locators, or one for a creation or a reinstatement. */
function recordModification(context: Context, kind: ModificationKind, undone: readonly Modification[]): void {
  const { making, supply, by, stamp } = context
  const { request, from, term } = context.transaction
  const { issuedTime: issuedAt, transactionType } = request
  const dates = { createdAt: stamp.createdAt, updatedAt: issuedAt, issuedAt }
  const modification: Modification = {
    locator: by,
    kind,
    displayId: supply.digits() as DisplayId,
    number: making.modifications.size,
    name: NAMES[kind] ?? transactionType,
    effectiveAt: from,
    policyEnd: kind === 'renewal' || kind === 'creation' ? term.endTime : making.policy.effectiveEnd,
    ...dates,
    acceptedAt: issuedAt,
  }
  making.modifications.set(by, { ...modification, ...recordOf(context, kind, undone, dates) })
}

type Dates = Pick<Modification, 'createdAt' | 'updatedAt' | 'issuedAt'>

/** Creates the record of the transaction. Returns the modification's references to it. */
function recordOf(
  { making, supply, by, quote, product, transaction }: Context,
  kind: ModificationKind,
  undone: readonly Modification[],
  dates: Dates,
): Partial<Modification> {
  const { from, term } = transaction
  const { transactionType } = transaction.request
  if (kind === 'creation') return { quoteLocator: quote.locator }
  const common = { modificationLocator: by, ...dates, state: 'issued' as const }
  if (kind === 'cancellation') {
    const locator = supply.digits() as CancellationLocator
    const terms = { name: transactionType, effectiveAt: from, conflictHandling: 'block' as const }
    making.cancellations.set(locator, { ...common, ...terms, locator })
    const isNamed = isCancellationName(transactionType, product)
    return { transactionLocator: String(locator), ...(isNamed && { cancellationName: transactionType }) }
  }
  if (kind === 'reinstatement') {
    const ended = new Set(undone.map(one => one.locator))
    const records = [...making.cancellations.values()]
      .filter(cancellation => ended.has(cancellation.modificationLocator!))
      .map(({ locator: cancellationLocator }) => ({
        ...common,
        locator: supply.uuid(),
        cancellationLocator,
        effectiveAt: from,
      }))
    for (const one of records) making.reinstatements.set(one.locator, one)
    return { transactionLocator: records.at(-1)!.locator, undoes: undone.at(-1)!.locator }
  }
  const locator = supply.digits() as EndorsementLocator
  making.endorsements.set(locator, {
    ...common,
    locator,
    startAt: from,
    changes: {},
    basedOn: making.modifications.size,
    ...(kind === 'renewal'
      ? { kind, name: 'renewal', endAt: term.endTime }
      : { kind: 'endorsement', name: transactionType }),
  })
  return { transactionLocator: String(locator) }
}

// The kind depends on what a transaction does, not on its name (rule 4 of resources brief 9.3).
const KINDS: Readonly<Record<Category, ModificationKind>> = {
  issuance: 'renewal',
  renewal: 'renewal',
  change: 'endorsement',
  reversal: 'endorsement',
  aggregate: 'endorsement',
  cancellation: 'cancellation',
  reinstatement: 'reinstatement',
}

/** Returns the kind of the modification. `endsGap`: it covers a gap that a cancellation left. */
function kindOf({ transaction, isCreation }: Context, endsGap: boolean): ModificationKind {
  const { isGap, isFirstOfTerm, category, tree } = transaction
  if (isCreation) return 'creation'
  if (isFirstOfTerm) return 'renewal'
  if (isGap) return 'cancellation'
  if (endsGap) return 'reinstatement'
  const kind = KINDS[category]
  // A reinstatement without a cancellation, and a transaction without a segment, are endorsements.
  return kind === 'reinstatement' || kind === 'cancellation' || !tree ? 'endorsement' : kind
}
