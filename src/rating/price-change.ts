// What a change makes of the price: the policy after it against the policy before it (brief 3.4).
import { type CurrencyCode, type Money, minus, plus, toNumber, zero } from '../kernel/money.ts'
import { feesOf, feeTotal, holdbacksInForce, holdbackTotal } from '../policy/fold/line.ts'
import { feeResponse } from '../policy/projection/characteristics.ts'
import type { ExposureView, PolicyView } from '../policy/projection/policy.ts'
import type {
  CommissionChangeResponse,
  ExposurePriceChangeResponse,
  PolicyPriceChangeResponse,
  TaxChangeResponse,
} from './contract-change.ts'
import {
  holdbackResponses,
  noTotals,
  perilTotals,
  sumTotals,
  type Totals,
  totalCommissions,
  totalTaxes,
} from './price.ts'

type Change = { readonly before: Totals; readonly after: Totals }

/** Premium, taxes and fees together, after less before. */
export function totalChange(before: PolicyView, after: PolicyView): Money {
  return minus(wholeTotal(after), wholeTotal(before))
}

function wholeTotal(view: PolicyView): Money {
  const { currency } = view.aggregate.policy
  const totals = sumTotals(
    view.exposures.flatMap(one => one.perils.map(peril => perilTotals(peril, currency))),
    currency,
  )
  const fees = feeTotal(feesOf(view.aggregate, view.quote, view.line), currency)
  const held = holdbackTotal(holdbacksInForce(view.line), currency)
  return plus(plus(plus(totals.premium, totalTaxes(totals, currency)), fees), held)
}

/** Both views are of the same policy; `after` counts one modification more. */
export function policyPriceChangeResponse(before: PolicyView, after: PolicyView): PolicyPriceChangeResponse {
  const { currency } = after.aggregate.policy
  const earlier = new Map(before.exposures.map(one => [one.exposure.locator, one]))
  const exposures = after.exposures.map(one =>
    exposureChange(earlier.get(one.exposure.locator), one, currency),
  )
  const all: Change = {
    before: sumTotals(
      exposures.map(one => one.change.before),
      currency,
    ),
    after: sumTotals(
      exposures.map(one => one.change.after),
      currency,
    ),
  }
  const fees = feesOf(after.aggregate, after.quote, after.line)
  const newFees = feeTotal(fees, currency)
  const oldFees = feeTotal(feesOf(before.aggregate, before.quote, before.line), currency)
  const holdbacks = holdbacksInForce(after.line)
  const newHeld = holdbackTotal(holdbacks, currency)
  const heldChange = minus(newHeld, holdbackTotal(holdbacksInForce(before.line), currency))
  const { newTotal, totalChange: change } = totals(all, currency)
  return {
    ...grossPremium(all),
    ...everyLevel(all, currency),
    ...pair('newGrossFees', newFees),
    ...pair('grossFeesChange', minus(newFees, oldFees)),
    ...pair('newTotal', plus(plus(newTotal, newFees), newHeld)),
    ...pair('totalChange', plus(plus(change, minus(newFees, oldFees)), heldChange)),
    fees: fees.map(feeResponse),
    holdbacks: holdbackResponses(after.aggregate, holdbacks),
    exposurePrices: exposures.map(one => one.response),
  }
}

function exposureChange(
  before: ExposureView | undefined,
  { exposure, perils }: ExposureView,
  currency: CurrencyCode,
): { change: Change; response: ExposurePriceChangeResponse } {
  const earlier = new Map((before?.perils ?? []).map(one => [one.peril.locator, one]))
  const changes = perils.map(one => {
    const was = earlier.get(one.peril.locator)
    return {
      peril: one.peril,
      before: was ? perilTotals(was, currency) : noTotals(currency),
      after: perilTotals(one, currency),
    }
  })
  const change: Change = {
    before: sumTotals(
      changes.map(one => one.before),
      currency,
    ),
    after: sumTotals(
      changes.map(one => one.after),
      currency,
    ),
  }
  return {
    change,
    response: {
      locator: exposure.locator,
      name: exposure.name,
      ...grossPremium(change),
      ...everyLevel(change, currency),
      perilPrices: changes.map(one => ({
        locator: one.peril.locator,
        name: one.peril.name,
        ...pair('newPremium', one.after.premium),
        ...pair('premiumChange', minus(one.after.premium, one.before.premium)),
        ...technicalChange(one, currency),
        ...everyLevel(one, currency),
      })),
    },
  }
}

function technicalChange({ before, after }: Change, currency: CurrencyCode) {
  const now = after.technicalPremium ?? (before.technicalPremium && zero(currency))
  return {
    newTechnicalPremium: now && toNumber(now),
    newTechnicalPremiumCurrency: currency,
    technicalPremiumChange: now && toNumber(minus(now, before.technicalPremium ?? zero(currency))),
    technicalPremiumChangeCurrency: currency,
  }
}

/** A property with its currency beside it. */
const pair = <K extends string>(name: K, amount: Money) =>
  ({ [name]: toNumber(amount), [`${name}Currency`]: amount.currency }) as {
    [N in K]: number
  } & { [N in `${K}Currency`]: string }

const grossPremium = ({ before, after }: Change) => ({
  ...pair('newGrossPremium', after.premium),
  ...pair('grossPremiumChange', minus(after.premium, before.premium)),
})

function totals({ before, after }: Change, currency: CurrencyCode) {
  const newTotal = plus(after.premium, totalTaxes(after, currency))
  return { newTotal, totalChange: minus(newTotal, plus(before.premium, totalTaxes(before, currency))) }
}

function everyLevel(change: Change, currency: CurrencyCode) {
  const { before, after } = change
  const { newTotal, totalChange: difference } = totals(change, currency)
  const taxes = totalTaxes(after, currency)
  const commissions = totalCommissions(after, currency)
  return {
    ...pair('newGrossTaxes', taxes),
    ...pair('grossTaxesChange', minus(taxes, totalTaxes(before, currency))),
    ...pair('newGrossCommissions', commissions),
    ...pair('grossCommissionsChange', minus(commissions, totalCommissions(before, currency))),
    ...pair('newTotal', newTotal),
    ...pair('totalChange', difference),
    taxGroups: named(before.taxes, after.taxes, currency).map(
      ([name, amounts]): TaxChangeResponse => ({ name, ...amounts }),
    ),
    commissions: named(before.commissions, after.commissions, currency).map(
      ([recipient, amounts]): CommissionChangeResponse => ({ recipient, ...amounts }),
    ),
  }
}

/** Every name of either side, with what becomes of its amount. */
function named(
  before: ReadonlyMap<string, Money>,
  after: ReadonlyMap<string, Money>,
  currency: CurrencyCode,
) {
  return [...new Set([...before.keys(), ...after.keys()])].map(name => {
    const now = after.get(name) ?? zero(currency)
    return [
      name,
      { ...pair('newAmount', now), ...pair('amountChange', minus(now, before.get(name) ?? zero(currency))) },
    ] as const
  })
}
