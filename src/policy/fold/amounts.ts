// The amounts of a peril over a span: its premium with taxes and commissions, split and summed together.
import { type Money, minus, plus } from '../../kernel/money.ts'
import type { Amounts, PerilPrice } from '../records/aggregate.ts'

export const amountsOf = (price: PerilPrice): Amounts => ({
  premium: price.premium.amount,
  technicalPremium: price.technicalPremium?.amount,
  taxes: price.taxes.map(tax => tax.amount),
  commissions: price.commissions.map(commission => commission.amount),
})

/** The same amount of other amounts of the same price. */
export type Same = (of: Amounts) => Money

const premiumOf: Same = of => of.premium
const technicalOf: Same = of => of.technicalPremium!

/** `change` on every amount: premium, technical premium, taxes, commissions, in this order. */
export const each = (amounts: Amounts, change: (amount: Money, same: Same) => Money): Amounts => ({
  premium: change(amounts.premium, premiumOf),
  technicalPremium: amounts.technicalPremium && change(amounts.technicalPremium, technicalOf),
  taxes: amounts.taxes.map((tax, at) => change(tax, of => of.taxes[at]!)),
  commissions: amounts.commissions.map((commission, at) => change(commission, of => of.commissions[at]!)),
})

/** The amounts of several parts: `split` divides one amount among them, in order. */
export function splitAmounts(amounts: Amounts, split: (amount: Money, same: Same) => Money[]): Amounts[] {
  const premium = split(amounts.premium, premiumOf)
  const technical = amounts.technicalPremium && split(amounts.technicalPremium, technicalOf)
  const taxes = amounts.taxes.map((tax, at) => split(tax, of => of.taxes[at]!))
  const commissions = amounts.commissions.map((one, at) => split(one, of => of.commissions[at]!))
  return premium.map((part, at) => ({
    premium: part,
    technicalPremium: technical?.[at],
    taxes: taxes.map(parts => parts[at]!),
    commissions: commissions.map(parts => parts[at]!),
  }))
}

const both = (a: Amounts, b: Amounts, join: (a: Money, b: Money) => Money): Amounts => ({
  premium: join(a.premium, b.premium),
  technicalPremium:
    a.technicalPremium && b.technicalPremium ? join(a.technicalPremium, b.technicalPremium) : undefined,
  taxes: a.taxes.map((tax, at) => join(tax, b.taxes[at]!)),
  commissions: a.commissions.map((commission, at) => join(commission, b.commissions[at]!)),
})

/** Sum and difference of amounts of the same price. */
export const plusAmounts = (a: Amounts, b: Amounts): Amounts => both(a, b, plus)
export const minusAmounts = (a: Amounts, b: Amounts): Amounts => both(a, b, minus)
