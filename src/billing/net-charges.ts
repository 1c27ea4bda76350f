// What a later modification charges: what its pieces and fees cost, less what those cost that they replace. A
// cancellation gives back, so its charges are negative.
import { minus, zero } from '../platform/money.ts'
import { later, type Span } from '../platform/time.ts'
import type { Modification, PerilRun, PolicyAggregate } from '../policies/aggregate.ts'
import { type Amounts, amountsOf, each, minusAmounts, plusAmounts } from '../policies/fold/amounts.ts'
import { feeInForce } from '../policies/fold/fees.ts'
import { isIssued, lineOf } from '../policies/fold/line.ts'
import { piecesOf } from '../policies/fold/pieces.ts'
import { acceptedQuote } from '../quotes/plans.ts'
import type { Charge } from './charge.ts'

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
  // Of a run and of a fee it is the part from the modification on that costs something else now.
  const changed = ({ start, end }: Span): Span => {
    const from = later(start, modification.effectiveAt)
    return from < end ? { start: from, end } : { start, end }
  }
  const makers = new Set(line.map(step => step.modification.locator))
  const charges: Charge[] = []
  for (const run of aggregate.perilRuns.values()) {
    if (!run.price || !makers.has(run.madeBy)) continue
    let net: Amounts = each(amountsOf(run.price), amount => ({ ...amount, minor: 0 }))
    for (const piece of piecesOf(run, line, timeZone)) {
      if (!piece.amounts) continue
      if (piece.madeBy === by) net = plusAmounts(net, piece.amounts)
      if (piece.replacedBy === by) net = minusAmounts(net, piece.amounts)
    }
    charges.push(
      ...runCharges(run, net, modification, changed(run), aggregate.perils.get(run.perilLocator)?.name ?? ''),
    )
  }
  const before = line.filter(step => step.modification.locator !== by)
  for (const fee of aggregate.fees.values()) {
    if (!makers.has(fee.madeBy)) continue
    const was = fee.madeBy === by ? zero(currency) : feeInForce(fee, before).amount
    const amount = minus(feeInForce(fee, line).amount, was)
    charges.push({
      ...changed(fee),
      id: `${fee.locator}/${by}/fee`,
      type: 'fee',
      amount,
      policyModificationLocator: by,
      feeLocator: fee.locator,
      feeName: fee.name,
    })
  }
  return charges.filter(charge => charge.amount.minor !== 0)
}

function runCharges(
  run: PerilRun,
  net: Amounts,
  { locator }: Modification,
  span: Span,
  perilName: string,
): Charge[] {
  const source = {
    ...span,
    policyModificationLocator: locator,
    perilRunLocator: run.locator,
    perilLocator: run.perilLocator,
    perilName,
  }
  const id = `${run.locator}/${locator}`
  return [
    { ...source, id: `${id}/premium`, type: 'premium', amount: net.premium },
    ...run.price!.taxes.map(
      (tax, at): Charge => ({
        ...source,
        id: `${id}/tax/${tax.name}`,
        type: 'tax',
        amount: net.taxes[at]!,
        taxName: tax.name,
      }),
    ),
    ...run.price!.commissions.map(
      (commission, at): Charge => ({
        ...source,
        id: `${id}/commission/${at}`,
        type: 'commission',
        amount: net.commissions[at]!,
        commissionRecipient: commission.recipient,
      }),
    ),
  ]
}
