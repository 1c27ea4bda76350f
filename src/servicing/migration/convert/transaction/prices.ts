// What new runs cost: a place for all that is charged of them, the rates a month, and the technical premium, which nobody
// is charged.
import type { Uuid } from '../../../../kernel/locators.ts'
import { type Money, minus, plus, RATE_PLACES, toDecimal, zero } from '../../../../kernel/money.ts'
import { months } from '../../../../kernel/time.ts'
import { piecesOf } from '../../../../policy/fold/pieces.ts'
import type { PerilPrice } from '../../../../policy/records/aggregate.ts'
import type { SaidCharge } from '../charges.ts'
import type { ReadElement } from '../elements.ts'
import { type Carrying, lineNow, runsOf, totalOf } from './carrying.ts'

/** A price of nothing that has a place for all that is charged of the element. `was`: the run before. */
export function unpriced({ making }: Carrying, { charges }: ReadElement, was: Uuid | undefined): PerilPrice {
  const none = zero(making.policy.currency)
  const old = was && making.perilRuns.get(was)!.price
  const namesOf = (kind: SaidCharge['kind'], known: readonly string[]): string[] => [
    ...new Set([...known, ...charges.filter(one => one.kind === kind).map(one => one.name)]),
  ]
  const month = charges.find(one => one.kind === 'premium' && one.month !== undefined)?.month
  const technical = charges.find(one => one.kind === 'technicalPremium')
  return {
    premium: { month: month ?? '', amount: none },
    ...((technical || old?.technicalPremium) && {
      technicalPremium: { month: technical?.month ?? '', amount: none },
    }),
    taxes: namesOf('tax', old?.taxes.map(one => one.name) ?? []).map(name => ({ name, amount: none })),
    commissions: namesOf('commission', old?.commissions.map(one => one.recipient) ?? []).map(recipient => ({
      recipient,
      month: charges.find(one => one.kind === 'commission' && one.name === recipient)?.month ?? '',
      amount: none,
    })),
  }
}

/** Rates a month of a new run that nothing was said of: what the amount is of the months. */
export function rate({ making }: Carrying, locator: Uuid, { charges }: ReadElement): void {
  const run = making.perilRuns.get(locator)!
  const count = months(run.start, run.end, making.policy.timeZone)
  const rated = <R extends { month: string; amount: Money }>(one: R): R =>
    one.month !== ''
      ? one
      : {
          ...one,
          month: count.eq(0) ? '0' : toDecimal(one.amount).div(count).round(RATE_PLACES, 1).toFixed(),
        }
  const price = run.price!
  making.perilRuns.set(locator, {
    ...run,
    price: {
      ...price,
      premium: rated(price.premium),
      // A tax of which all is given back is none of it any more; one that is said to come to nothing is.
      taxes: price.taxes.filter(
        tax =>
          tax.amount.minor !== 0 ||
          charges.some(one => one.kind === 'tax' && one.name === tax.name && one.amount.minor === 0),
      ),
      ...(price.technicalPremium && { technicalPremium: rated(price.technicalPremium) }),
      commissions: price.commissions.map(rated),
    },
  })
}

/** The technical premiums of new runs: said as items it is a difference, as a rate the run's own. */
export function addTechnicalPremiums(carrying: Carrying): void {
  const { making, transaction, by, newRuns } = carrying
  const line = lineNow(carrying)
  const { currency, timeZone } = making.policy
  for (const [id, locator] of newRuns) {
    const run = making.perilRuns.get(locator)!
    if (!run.price?.technicalPremium) continue
    const said = transaction.tree!.elements.get(id)!.charges.filter(one => one.kind === 'technicalPremium')
    const isWhole = said.length > 0 && said.every(one => one.items.length === 0)
    let gone = zero(currency)
    if (!isWhole)
      for (const piece of runsOf(carrying, id).flatMap(one =>
        one.locator === locator ? [] : piecesOf(one, line, timeZone),
      )) {
        const amount = piece.amounts?.technicalPremium
        if (!amount) continue
        if (piece.replacedBy === by) gone = plus(gone, amount)
        else if (piece.madeBy === by) gone = minus(gone, amount)
      }
    const technicalPremium = { ...run.price.technicalPremium, amount: plus(gone, totalOf(said, currency)) }
    making.perilRuns.set(locator, { ...run, price: { ...run.price, technicalPremium } })
  }
}
