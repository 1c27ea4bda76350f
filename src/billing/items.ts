// How the charges of a transaction lie on its installments. Items are not stored: they follow from the stored
// plan and the charges. Plans of a policy at its limits (10,000 perils, monthly) have hundreds of thousands.

import { type CurrencyCode, type Money, plus, sum, zero } from '../platform/money.ts'
import { earlier, later, type Span } from '../platform/time.ts'
import { type Charge, isPayable } from './charge.ts'
import type { Installment } from './installments.ts'
import { splitBy } from './split.ts'

/** The part of a charge that one installment bills; never zero. */
export type InstallmentItem = { readonly charge: Charge; readonly amount: Money }

/**
 * The items of each installment of the plan, in the plan's order. The items of a charge over all installments
 * add up to it exactly, and none has the other sign. The plan is whole: installments already invoiced too.
 */
export function installmentItems(
  plan: readonly Installment[],
  charges: Iterable<Charge>,
): readonly InstallmentItem[][] {
  const items = plan.map((): InstallmentItem[] => [])
  const split = splitterOver(plan)
  for (const charge of charges)
    for (const [index, amount] of split(charge).entries())
      if (amount.minor !== 0) items[index]!.push({ charge, amount })
  return items
}

/** The items of one installment of the plan, as `installmentItems` has them. */
export function itemsOf(
  installment: Installment,
  plan: readonly Installment[],
  charges: Iterable<Charge>,
): InstallmentItem[] {
  const index = plan.findIndex(each => each.number === installment.number)
  if (index < 0) throw new RangeError(`The plan has no installment ${installment.number}.`)
  const items: InstallmentItem[] = []
  const split = splitterOver(plan)
  for (const charge of charges) {
    const amount = split(charge)[index]!
    if (amount.minor !== 0) items.push({ charge, amount })
  }
  return items
}

/** What each installment of the plan bills, in its order: the sum of its items without commissions. */
export function totalsDue(
  plan: readonly Installment[],
  charges: Iterable<Charge>,
  currency: CurrencyCode,
): Money[] {
  const totals = plan.map(() => zero(currency))
  const split = splitterOver(plan)
  for (const charge of charges)
    if (isPayable(charge))
      for (const [index, amount] of split(charge).entries()) totals[index] = plus(totals[index]!, amount)
  return totals
}

/**
 * What is left of the charges to be billed by the installments of these numbers: of each charge the sum of their
 * items, for the stretch that they pay for. Charges of which nothing is left are not among them.
 */
export function restOf(
  plan: readonly Installment[],
  charges: Iterable<Charge>,
  numbers: ReadonlySet<number>,
): Charge[] {
  const open = [...plan.entries()].filter(([, installment]) => numbers.has(installment.number))
  const rests: Charge[] = []
  const split = splitterOver(plan)
  for (const charge of charges) {
    const parts = split(charge)
    const left = open.filter(([index]) => parts[index]!.minor !== 0)
    if (left.length === 0) continue
    const amount = sum(
      left.map(([index]) => parts[index]!),
      charge.amount.currency,
    )
    const paid = { start: left[0]![1].start, end: left.at(-1)![1].end }
    rests.push({ ...charge, amount, rest: common(paid, charge.rest ?? charge) })
  }
  return rests
}

/** What the spans have in common; where that is nothing, the first of them. */
function common(first: Span, second: Span): Span {
  const start = later(first.start, second.start)
  const end = earlier(first.end, second.end)
  return start < end ? { start, end } : first
}

/** Splits charges over the plan. Charges mostly share one span, and the weights of a span are found once. */
function splitterOver(plan: readonly Installment[]): (charge: Charge) => Money[] {
  const splitBySpan = new Map<string, (amount: Money) => Money[]>()
  return charge => {
    const { start, end } = charge.rest ?? charge
    const span = `${start}/${end}`
    let split = splitBySpan.get(span)
    if (split === undefined) {
      split = splitBy(weightsOver(plan, { start, end }))
      splitBySpan.set(span, split)
    }
    return split(charge.amount)
  }
}

/**
 * How much of a span each installment pays for: 1 for every whole billing period, and of a period that is cut,
 * by the span or by the end of coverage, the share of its milliseconds. Brought to a common denominator, so
 * that the weights are whole numbers. A span that lies on no period is paid with the first installment.
 */
function weightsOver(plan: readonly Installment[], span: Span): bigint[] {
  const shares = plan.map(installment =>
    installment.periods.map(period => ({
      coveredMs: Math.max(0, Math.min(span.end, period.end) - Math.max(span.start, period.start)),
      wholeMs: period.wholeMs,
    })),
  )
  let denominator = 1n
  for (const { coveredMs, wholeMs } of shares.flat())
    if (coveredMs !== 0 && coveredMs !== wholeMs) denominator *= BigInt(wholeMs)
  const weights = shares.map(periods => {
    let weight = 0n
    for (const { coveredMs, wholeMs } of periods)
      weight += (BigInt(coveredMs) * denominator) / BigInt(wholeMs)
    return weight
  })
  return weights.some(weight => weight > 0n) ? weights : plan.map((_, index) => (index === 0 ? 1n : 0n))
}
