// What a later modification charges: what its pieces and fees cost, less what those cost that they replace. A
// cancellation gives back, so its charges are negative. An endorsement takes back whole what it changes, and charges
// anew what it keeps of it and what takes its place (brief 4.3): the first two pay for the time from the change on.
import type { Uuid } from '../kernel/locators.ts'
import { minus, negated, zero } from '../kernel/money.ts'
import { earlier, type Instant, later, type Span } from '../kernel/time.ts'
import { type Amounts, each, plusAmounts } from '../policy/fold/amounts.ts'
import { feeInForce } from '../policy/fold/fees.ts'
import { isIssued, lineOf } from '../policy/fold/line.ts'
import { type Piece, piecesOf, reaches } from '../policy/fold/pieces.ts'
import type { Modification, PerilRun, PolicyAggregate } from '../policy/records/aggregate.ts'
import { acceptedQuote } from '../transactions/quotes/plans.ts'
import { type Charge, NOTHING_KEPT } from './charge.ts'
import { holdbackCharges } from './holdback-charges.ts'

export function netCharges(aggregate: PolicyAggregate, modification: Modification): Charge[] {
  const quote = acceptedQuote(aggregate)!
  const by = modification.locator
  // What came later must not change what this one charged.
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
    // What it changes of the run begins where what it kept ends.
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

/** What some pieces of a run cost together, and the span that they are of. */
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

/** Of a run that was charged before: the stretch that is charged anew, and until when the rest of it stays. */
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
