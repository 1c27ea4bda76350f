// What perils cost at the end of a line: sums of amounts that are already rounded, never rounded again (brief 3.1).
import { type CurrencyCode, type Money, plus, sum, zero } from '../kernel/money.ts'
import { inForce } from '../policy/fold/pieces.ts'
import type { PerilView } from '../policy/projection/view.ts'

/** Sums over perils; taxes and commissions by name. `technicalPremium` only if every peril has one. */
export type Totals = {
  readonly premium: Money
  readonly technicalPremium: Money | undefined
  readonly taxes: ReadonlyMap<string, Money>
  readonly commissions: ReadonlyMap<string, Money>
}

export const noTotals = (currency: CurrencyCode): Totals => ({
  premium: zero(currency),
  technicalPremium: undefined,
  taxes: new Map(),
  commissions: new Map(),
})

/** What the peril's pieces in force cost. */
export function perilTotals({ pieces }: PerilView, currency: CurrencyCode): Totals {
  const standing = new Set(inForce(pieces.map(one => one.piece)))
  const taxes = new Map<string, Money>()
  const commissions = new Map<string, Money>()
  const premiums: Money[] = []
  const technical: (Money | undefined)[] = []
  for (const { run, piece } of pieces) {
    if (!standing.has(piece) || !piece.amounts || !run.price) continue
    premiums.push(piece.amounts.premium)
    technical.push(piece.amounts.technicalPremium)
    for (const [at, tax] of run.price.taxes.entries()) add(taxes, tax.name, piece.amounts.taxes[at]!)
    for (const [at, one] of run.price.commissions.entries())
      add(commissions, one.recipient, piece.amounts.commissions[at]!)
  }
  return {
    premium: sum(premiums, currency),
    technicalPremium: allOf(technical, currency),
    taxes,
    commissions,
  }
}

/** The sum of totals. */
export function sumTotals(list: readonly Totals[], currency: CurrencyCode): Totals {
  const taxes = new Map<string, Money>()
  const commissions = new Map<string, Money>()
  for (const totals of list) {
    for (const [name, amount] of totals.taxes) add(taxes, name, amount)
    for (const [name, amount] of totals.commissions) add(commissions, name, amount)
  }
  return {
    premium: sum(
      list.map(totals => totals.premium),
      currency,
    ),
    technicalPremium: allOf(
      list.map(totals => totals.technicalPremium),
      currency,
    ),
    taxes,
    commissions,
  }
}

function add(sums: Map<string, Money>, name: string, amount: Money): void {
  const earlier = sums.get(name)
  sums.set(name, earlier ? plus(earlier, amount) : amount)
}

const allOf = (amounts: readonly (Money | undefined)[], currency: CurrencyCode): Money | undefined =>
  amounts.length > 0 && amounts.every(amount => amount !== undefined) ? sum(amounts, currency) : undefined

export const totalTaxes = (totals: Totals, currency: CurrencyCode): Money =>
  sum(totals.taxes.values(), currency)

export const totalCommissions = (totals: Totals, currency: CurrencyCode): Money =>
  sum(totals.commissions.values(), currency)
