// What a later transaction charges: the cost of what it makes minus the cost of what that replaces.
import type { Uuid } from '../../kernel/locators.ts'
import { type Money, minus, negated, plus, zero } from '../../kernel/money.ts'
import { earlier, type Instant, later, type Span } from '../../kernel/time.ts'
import { type FeeInForce, feeInForce, holdbacksInForce, type Line, lineUpTo } from '../fold/line.ts'
import { mayChangeRun, type Piece, piecesOf } from '../fold/pieces.ts'
import { mapAmounts, plusAmounts } from '../fold/shares.ts'
import {
  type Amounts,
  acceptedQuote,
  type Fee,
  type Holdback,
  type Modification,
  type PerilRun,
  type PolicyAggregate,
} from '../records/aggregate.ts'
import { type Charge, feeChange, isCharged, NOTHING_KEPT, type PieceTotal, runCharges } from './charge.ts'

/** A later transaction, and the policy up to it. */
type Change = {
  readonly aggregate: PolicyAggregate
  readonly modification: Modification
  /** The line up to this transaction: later ones must not change what it charged. */
  readonly line: Line
  /** The same line without this transaction. */
  readonly before: Line
  readonly reversesApart: boolean
}

/**
 * Returns the charges of a later modification: the cost of its pieces and fees minus the cost of what they replace. Those of a
 * cancellation are negative. An endorsement reverses the whole changed charge, then charges the kept part again and the new part
 * (brief 4.3). The reversal and the kept part pay for the time from the change on. A cancellation that a plugin bills
 * (`reversesApart`) also reverses and charges separately, but each of its charges is for the whole time of its characteristics.
 */
export function netCharges(
  aggregate: PolicyAggregate,
  modification: Modification,
  reversesApart: boolean,
): Charge[] {
  const line = lineUpTo(aggregate, acceptedQuote(aggregate)!, modification)
  const change: Change = {
    aggregate,
    modification,
    line,
    before: line.filter(step => step.modification.locator !== modification.locator),
    reversesApart,
  }
  const charges = [...allRunCharges(change), ...allFeeCharges(change), ...holdbackCharges(change)]
  return charges.filter(isCharged)
}

function allRunCharges(change: Change): Charge[] {
  const { aggregate, modification, line } = change
  const step = line.find(one => one.modification.locator === modification.locator)
  if (!step) return []
  return [...aggregate.perilRuns.values()].flatMap(run =>
    run.price && mayChangeRun(step, run) ? changesOfRun(change, run) : [],
  )
}

function changesOfRun(change: Change, run: PerilRun): Charge[] {
  const { aggregate, modification, line, reversesApart } = change
  const by = modification.locator
  const pieces = piecesOf(run, line, aggregate.policy.timeZone)
  const made = totalOfPieces(pieces.filter(piece => piece.madeBy === by))
  const replacedPieces = pieces.filter(piece => piece.replacedBy === by)
  const replaced = totalOfPieces(replacedPieces)
  const perilName = aggregate.perils.get(run.perilLocator)?.name ?? ''
  const own = { id: `${run.locator}/${by}`, perilName }
  const chargesMade = made ? runCharges(run, made, by, own) : []
  if (!replaced) return chargesMade

  const reversed = { ...replaced, amounts: mapAmounts(replaced.amounts, negated) }
  const net = made ? plusAmounts(made.amounts, reversed.amounts) : reversed.amounts
  if (isNothing(net)) return []
  if (reversesApart) return [...reversalsOf(run, replacedPieces, by, perilName), ...chargesMade]

  const rest = changedSpan(made, replaced)
  const keptUntil = made?.end ?? NOTHING_KEPT
  if (made && modification.kind === 'endorsement') {
    const reverses = chargeIdPrefix(run, replacedPieces)
    return [
      ...runCharges(run, reversed, by, { ...own, id: `${own.id}/${REVERSAL}`, rest, keptUntil, reverses }),
      ...runCharges(run, made, by, { ...own, rest, keptUntil }),
    ]
  }
  // The change removes everything that a reinstatement made of the run. What is in force before stays and is billed by the same
  // line.
  const isStanding = ({ start, replacedBy }: Piece): boolean =>
    replacedBy === undefined && start < replaced.start
  const coverUntil = !made && pieces.some(isStanding) ? { coverUntil: replaced.start } : {}
  return runCharges(run, { ...rest, amounts: net }, by, { ...own, keptUntil, ...coverUntil })
}

/** Returns the replaced span from the end of the kept part on, or the whole replaced span if all of it is kept. */
function changedSpan(made: Span | undefined, { start, end }: Span): Span {
  const changesFrom = made?.end ?? start
  return { start: changesFrom < end ? changesFrom : start, end }
}

/** Returns the changes of all fees. A fee that is not in the line yet gives a charge of zero. */
const allFeeCharges = (change: Change): Charge[] =>
  [...change.aggregate.fees.values()].flatMap(fee => changesOfFee(change, fee))

function changesOfFee({ aggregate, modification, line, before, reversesApart }: Change, fee: Fee): Charge[] {
  const by = modification.locator
  const previous = fee.madeBy === by ? undefined : feeInForce(fee, before)
  const current = feeInForce(fee, line)
  const amount = minus(current.amount, previous?.amount ?? zero(aggregate.policy.currency))
  if (reversesApart && previous) return amount.minor === 0 ? [] : feeReversedApart(previous, current, by)

  const { parts = [], removed: [removed] = [] } = fee.changes.find(one => one.by === by) ?? {}
  // A flat fee is restored for its whole span, including the gap.
  const restoredPart = parts.find(one => previous && !previous.parts.some(known => known.start === one.start))
  const changeStart = later(fee.start, modification.effectiveAt)
  const isRestored = modification.kind === 'reinstatement' && restoredPart !== undefined
  const from = removed?.start ?? (isRestored ? earlier(restoredPart.start, changeStart) : changeStart)
  return [
    {
      ...feeChange(fee, by, amount, { start: from < fee.end ? from : fee.start, end: fee.end }),
      ...(removed && { keptUntil: parts.length > 0 ? removed.start : NOTHING_KEPT }),
    },
  ]
}

const REVERSAL = 'reversal'

/** Reverses each piece separately, because each has its own characteristics. */
const reversalsOf = (run: PerilRun, pieces: readonly Piece[], by: Uuid, perilName: string): Charge[] =>
  pieces.flatMap((piece, at) => {
    const { start, end, segment, amounts } = piece
    if (!amounts) return []
    return runCharges(run, { start, end, amounts: mapAmounts(amounts, negated) }, by, {
      id: `${run.locator}/${by}/${REVERSAL}/${at}`,
      perilName,
      reverses: chargeIdPrefix(run, [piece]),
      reversedSegment: segment.locator,
    })
  })

function feeReversedApart(before: FeeInForce, after: FeeInForce, by: Uuid): Charge[] {
  const { fee } = before
  const spanOf = ({ parts }: FeeInForce): Span => ({ start: parts[0]!.start, end: parts.at(-1)!.end })
  const reversal = {
    ...feeChange(fee, by, negated(before.amount), spanOf(before)),
    id: `${fee.locator}/${by}/${REVERSAL}/fee`,
  }
  return after.reversed ? [reversal] : [reversal, feeChange(fee, by, after.amount, spanOf(after))]
}

/** Whether the id belongs to a charge by which the modification takes back another charge. */
export const isReversalBy = (id: string, { locator }: Pick<Modification, 'locator'>): boolean =>
  id.includes(`/${locator}/${REVERSAL}/`)

/**
 * Whether the cancellation's charges are billed by a plugin. The charges that its plan names show this. Plans of earlier releases
 * name one net charge.
 */
export const isReversedApart = ({ installments }: PolicyAggregate, modification: Modification): boolean =>
  (modification.kind === 'cancellation' || modification.kind === 'withdrawal') &&
  [...installments.values()].some(
    ({ modificationLocator, items = {} }) =>
      modificationLocator === modification.locator &&
      Object.keys(items).some(id => isReversalBy(id, modification)),
  )

/** Returns the prefix of the ids of the charges by which the last of the pieces was charged. */
function chargeIdPrefix(run: PerilRun, pieces: readonly Piece[]): string {
  const { madeBy } = pieces.at(-1)!
  return madeBy === run.madeBy ? run.locator : `${run.locator}/${madeBy}`
}

/** Returns the total of the pieces, from the start of the first to the end of the last. */
function totalOfPieces(pieces: readonly Piece[]): PieceTotal | undefined {
  let total: PieceTotal | undefined
  for (const { start, end, amounts } of pieces)
    if (amounts)
      total = total
        ? {
            start: earlier(total.start, start),
            end: later(total.end, end),
            amounts: plusAmounts(total.amounts, amounts),
          }
        : { start, end, amounts }
  return total
}

const isNothing = ({ premium, taxes, commissions }: Amounts): boolean =>
  [premium, ...taxes, ...commissions].every(amount => amount.minor === 0)

/**
 * Returns the holdbacks that a modification adds or drops, as charges (brief 1.6, 3.2). A held-back commission reduces what is
 * taken back from its recipient and charges the policyholder nothing. May include zero charges.
 */
function holdbackCharges({ aggregate, modification, line, before }: Change): Charge[] {
  const changes = new Map<string, Holdback>()
  const none = zero(aggregate.policy.currency)
  const add = (of: Holdback, amount: Money): void => {
    const id = idOf(of, modification.locator)
    changes.set(id, { ...of, amount: plus(changes.get(id)?.amount ?? none, amount) })
  }
  for (const one of holdbacksInForce(before)) add(one, negated(one.amount))
  for (const one of holdbacksInForce(line)) add(one, one.amount)
  return [...changes].map(([id, change]) => chargeOf(aggregate, modification, id, change))
}

/** Returns the id of a holdback's charge. Holdbacks of one source share it, no matter which modification made them. */
function idOf(of: Holdback, by: Uuid): string {
  const id = `${of.type === 'fee' ? of.feeLocator : of.perilRunLocator}/${by}/holdback`
  if (of.type === 'tax') return `${id}/tax/${of.taxName}`
  return of.type === 'commission' ? `${id}/commission/${of.position}` : id
}

function chargeOf(
  { perilRuns, perils, fees }: PolicyAggregate,
  { locator, effectiveAt: start }: Modification,
  id: string,
  of: Holdback,
): Charge {
  const charge = (end: Instant) => ({
    id,
    amount: of.amount,
    policyModificationLocator: locator,
    start,
    end: later(end, (start + 1) as Instant),
  })
  if (of.type === 'fee') {
    const { name, end } = fees.get(of.feeLocator)!
    return { ...charge(end), type: 'holdback', feeLocator: of.feeLocator, feeName: name }
  }
  const { perilRunLocator } = of
  const { perilLocator, end, price } = perilRuns.get(perilRunLocator)!
  const perilName = perils.get(perilLocator)?.name ?? ''
  const source = { ...charge(end), perilRunLocator, perilLocator, perilName }
  if (of.type === 'commission') {
    const { recipient } = price!.commissions[of.position]!
    return { ...source, type: 'commission', commissionRecipient: recipient }
  }
  return { ...source, type: 'holdback', ...(of.type === 'tax' && { taxName: of.taxName }) }
}
