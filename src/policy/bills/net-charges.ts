// What a later modification charges: what its pieces and fees cost, less what those cost that they replace. A
// cancellation gives back, so its charges are negative. An endorsement takes back whole what it changes, and charges
// anew what it keeps of it and what takes its place (brief 4.3): the first two pay for the time from the change on.
import type { Uuid } from '../../kernel/locators.ts'
import { type Money, minus, negated, plus, zero } from '../../kernel/money.ts'
import { earlier, type Instant, later, type Span } from '../../kernel/time.ts'
import { feeInForce, holdbacksInForce } from '../fold/fees.ts'
import { isIssued, type Line, lineOf } from '../fold/line.ts'
import { type Piece, piecesOf, reaches } from '../fold/pieces.ts'
import { each, plusAmounts } from '../fold/shares.ts'
import {
  type Amounts,
  acceptedQuote,
  type Holdback,
  type Modification,
  type PerilRun,
  type PolicyAggregate,
} from '../records/aggregate.ts'
import { type Charge, NOTHING_KEPT } from './charge.ts'

export function netCharges(aggregate: PolicyAggregate, modification: Modification): Charge[] {
  const quote = acceptedQuote(aggregate)!
  const by = modification.locator
  // Later transactions must not change what this one charged.
  const line = lineOf(
    aggregate,
    quote,
    one => one.locator === by || (isIssued(one) && one.number < modification.number),
  )
  const { timeZone, currency } = aggregate.policy
  const makers = new Set(line.map(step => step.modification.locator))
  const own = line.find(step => step.modification.locator === by)
  const charges: Charge[] = []
  for (const run of aggregate.perilRuns.values()) {
    if (!run.price || !makers.has(run.madeBy) || !own || !reaches(own, run)) continue
    const pieces = piecesOf(run, line, timeZone)
    const made = totalOfPieces(pieces.filter(piece => piece.madeBy === by))
    const gone = totalOfPieces(pieces.filter(piece => piece.replacedBy === by))
    const perilName = aggregate.perils.get(run.perilLocator)?.name ?? ''
    const charged = (total: PieceTotal, of: string, change: RunChange = {}): Charge[] =>
      runCharges(run, total, { by, of, perilName, ...change })
    if (!gone) {
      if (made) charges.push(...charged(made, ''))
      continue
    }
    const taken = { ...gone, amounts: each(gone.amounts, negated) }
    const net = made ? plusAmounts(made.amounts, taken.amounts) : taken.amounts
    if (isNothing(net)) continue
    const keptUntil = made?.end ?? NOTHING_KEPT
    // Its change of the run begins where the kept part ends.
    const changed = { start: made?.end ?? gone.start, end: gone.end }
    const rest = changed.start < changed.end ? changed : { start: gone.start, end: gone.end }
    if (made && modification.kind === 'endorsement')
      charges.push(
        ...charged(taken, '/reversal', { rest, keptUntil }),
        ...charged(made, '', { rest, keptUntil }),
      )
    else charges.push(...charged({ ...rest, amounts: net }, '', { keptUntil }))
  }
  const before = line.filter(step => step.modification.locator !== by)
  for (const fee of aggregate.fees.values()) {
    if (!makers.has(fee.madeBy)) continue
    const was = fee.madeBy === by ? undefined : feeInForce(fee, before)
    const amount = minus(feeInForce(fee, line).amount, was?.amount ?? zero(currency))
    const { parts = [], removed: [removed] = [] } = fee.changes.find(change => change.by === by) ?? {}
    // A flat fee comes back with all of its time, that in the gap too.
    const back = parts.find(one => was && !was.parts.some(known => known.start === one.start))
    const begun = later(fee.start, modification.effectiveAt)
    const isBack = modification.kind === 'reinstatement' && back !== undefined
    const from = removed?.start ?? (isBack ? earlier(back.start, begun) : begun)
    charges.push({
      start: from < fee.end ? from : fee.start,
      end: fee.end,
      id: `${fee.locator}/${by}/fee`,
      type: 'fee',
      amount,
      ...(removed && { keptUntil: parts.length > 0 ? removed.start : NOTHING_KEPT }),
      policyModificationLocator: by,
      feeLocator: fee.locator,
      feeName: fee.name,
    })
  }
  charges.push(...holdbackCharges(aggregate, modification, before, line))
  return charges.filter(charge => charge.amount.minor !== 0)
}

/** The cost of some pieces of a run together, with their span. */
type PieceTotal = Span & { readonly amounts: Amounts }

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

/** For a run that was charged before: the span that is charged again, and until when the rest stays. */
type RunChange = { rest?: Span; keptUntil?: Instant }

type RunChargeSource = RunChange & { by: Uuid; of: string; perilName: string }

function runCharges(
  run: PerilRun,
  { start, end, amounts }: PieceTotal,
  { by, of, perilName, ...change }: RunChargeSource,
): Charge[] {
  const source = {
    start,
    end,
    ...change,
    policyModificationLocator: by,
    perilRunLocator: run.locator,
    perilLocator: run.perilLocator,
    perilName,
  }
  const id = `${run.locator}/${by}${of}`
  return [
    { ...source, id: `${id}/premium`, type: 'premium', amount: amounts.premium },
    ...run.price!.taxes.map(
      (tax, at): Charge => ({
        ...source,
        id: `${id}/tax/${tax.name}`,
        type: 'tax',
        amount: amounts.taxes[at]!,
        taxName: tax.name,
      }),
    ),
    ...run.price!.commissions.map(
      (commission, at): Charge => ({
        ...source,
        id: `${id}/commission/${at}`,
        type: 'commission',
        amount: amounts.commissions[at]!,
        commissionRecipient: commission.recipient,
      }),
    ),
  ]
}

// What a modification holds back of what it gives back, or no longer does, as charges (brief 1.6, 3.2). A commission that
// is held back is so much less of it taken back: its recipient has it, and it is no charge of the policyholder's.
/** `before` and `after` are the line without the modification and with it. Charges of nothing may be among them. */
export function holdbackCharges(
  aggregate: PolicyAggregate,
  modification: Modification,
  before: Line,
  after: Line,
): Charge[] {
  const changes = new Map<string, Holdback>()
  const none = zero(aggregate.policy.currency)
  const add = (of: Holdback, amount: Money): void => {
    const id = idOf(of, modification.locator)
    changes.set(id, { ...of, amount: plus(changes.get(id)?.amount ?? none, amount) })
  }
  for (const one of holdbacksInForce(before)) add(one, negated(one.amount))
  for (const one of holdbacksInForce(after)) add(one, one.amount)
  return [...changes].map(([id, change]) => chargeOf(aggregate, modification, id, change))
}

/** Equal for the same source, whichever modification held it back. */
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
