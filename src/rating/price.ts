// Prices in responses: the price of a whole term, and the difference that a change makes. Total = premium + taxes + fees +
// holdbacks of cancellations. Commissions are outside it (brief 3.4).
import {
  addByName,
  type CurrencyCode,
  type Money,
  minus,
  plus,
  sum,
  toNumber,
  zero,
} from '../kernel/money.ts'
import type {
  CommissionResponse,
  GetExposurePriceResponse,
  GetPolicyPriceResponse,
  HoldbackResponse,
  PolicyPriceResponse,
} from '../policy/contract/billing.ts'
import { feesOf, feeTotal, holdbacksInForce, holdbackTotal } from '../policy/fold/line.ts'
import { feeResponse, taxGroupsOf, withAmount } from '../policy/projection/characteristics.ts'
import type { ExposureView, PerilView, PolicyView } from '../policy/projection/policy.ts'
import type { Holdback, PolicyAggregate } from '../policy/records/aggregate.ts'
import type { ExposurePriceChangeResponse, PolicyPriceChangeResponse } from './contract-change.ts'

const amountMembers = <K extends string>(name: K, amount: Money) =>
  ({ [name]: toNumber(amount), [`${name}Currency`]: amount.currency }) as {
    [N in K]: number
  } & { [N in `${K}Currency`]: string }

/**
 * Returns the price of the policy, its exposures and perils. Total = premium + taxes + fees; holdbacks are part of the total,
 * commissions are not.
 */
export function policyPriceResponse(view: PolicyView): PolicyPriceResponse {
  const { currency } = view.aggregate.policy
  const exposures = view.exposures.map(({ exposure, perils }) => {
    const totals = perils.map(one => perilTotals(one, currency))
    return { exposure, perils, perilTotals: totals, totals: sumTotals(totals, currency) }
  })
  const exposureTotals = exposures.map(one => one.totals)
  const all = sumTotals(exposureTotals, currency)
  const { fees, grossFees, holdbacks, holdbackSum } = feesAndHoldbacks(view)
  return {
    ...gross(all, currency),
    ...amountMembers('grossFees', grossFees),
    ...amountMembers('total', plus(plus(total(all, currency), grossFees), holdbackSum)),
    fees: fees.map(feeResponse),
    holdbacks: holdbackResponses(view.aggregate, holdbacks),
    exposurePrices: exposures.map(
      ({ exposure, perils, perilTotals, totals }): GetExposurePriceResponse => ({
        locator: exposure.locator,
        name: exposure.name,
        ...gross(totals, currency),
        ...amountMembers('total', total(totals, currency)),
        perilPrices: perils.map(({ peril: { locator, name } }, at) => ({
          locator,
          name,
          ...amountMembers('premium', perilTotals[at]!.premium),
          ...optionalAmountMembers('technicalPremium', perilTotals[at]!.technicalPremium, currency),
          ...taxesAndCommissions(perilTotals[at]!, currency),
          ...amountMembers('total', total(perilTotals[at]!, currency)),
        })),
      }),
    ),
  }
}

/**
 * Returns the fees and the holdbacks in force of the view's line, with their totals. Reversed fees are included; they total zero.
 */
export const feesAndHoldbacks = ({ aggregate, quote, line }: PolicyView) => {
  const { currency } = aggregate.policy
  const fees = feesOf(aggregate, quote, line)
  const holdbacks = holdbacksInForce(line)
  return {
    fees,
    grossFees: feeTotal(fees, currency),
    holdbacks,
    holdbackSum: holdbackTotal(holdbacks, currency),
  }
}

const total = (totals: Totals, currency: CurrencyCode): Money =>
  plus(totals.premium, totalTaxes(totals, currency))

const optionalAmountMembers = <K extends string>(
  name: K,
  amount: Money | undefined,
  currency: CurrencyCode,
) =>
  ({ [name]: amount && toNumber(amount), [`${name}Currency`]: currency }) as {
    [N in K]: number | undefined
  } & { [N in `${K}Currency`]: string }

const gross = (totals: Totals, currency: CurrencyCode) => ({
  ...amountMembers('grossPremium', totals.premium),
  ...optionalAmountMembers('grossTechnicalPremium', totals.technicalPremium, currency),
  ...taxesAndCommissions(totals, currency),
})

const taxesAndCommissions = (totals: Totals, currency: CurrencyCode) => ({
  ...amountMembers('grossTaxes', totalTaxes(totals, currency)),
  ...amountMembers('grossCommissions', totalCommissions(totals, currency)),
  taxGroups: taxGroupsOf(totals.taxes),
  commissions: [...totals.commissions].map(
    ([recipient, amount]): CommissionResponse => withAmount({ recipient }, amount),
  ),
})

/** Holdbacks as responses show them (brief 3.4). */
const holdbackResponses = (
  { perilRuns, perils, fees }: PolicyAggregate,
  holdbacks: readonly Holdback[],
): HoldbackResponse[] =>
  holdbacks.map(one => ({
    ...withAmount({ type: one.type }, one.amount),
    ...(one.type === 'fee'
      ? { feeName: fees.get(one.feeLocator)!.name }
      : { perilName: perils.get(perilRuns.get(one.perilRunLocator)!.perilLocator)!.name }),
    ...(one.type === 'tax' && { taxName: one.taxName }),
  }))

/** Returns the same price in the shape of GET /policy/{policyLocator}/price. */
export function getPolicyPriceResponse(whole: PolicyPriceResponse): GetPolicyPriceResponse {
  const { total: totalDue, totalCurrency: totalDueCurrency, ...price } = whole
  const exposures = price.exposurePrices
  return {
    ...price,
    totalDue,
    totalDueCurrency,
    premiumsByExposureLocator: Object.fromEntries(exposures.map(one => [one.locator, one.grossPremium])),
    premiumsByPerilLocator: Object.fromEntries(
      exposures.flatMap(one => one.perilPrices.map(peril => [peril.locator, peril.premium])),
    ),
  }
}

type Change = { readonly before: Totals; readonly after: Totals }

/** Returns the change of the total, which includes taxes, fees and holdbacks. */
export const totalChange = (before: PolicyView, after: PolicyView): Money =>
  minus(wholeTotal(after), wholeTotal(before))

/** Returns the total of the policy in force: premiums, taxes, fees and holdbacks. */
export function wholeTotal(view: PolicyView): Money {
  const { currency } = view.aggregate.policy
  const perils = view.exposures.flatMap(one => one.perils.map(peril => perilTotals(peril, currency)))
  const { grossFees, holdbackSum } = feesAndHoldbacks(view)
  return plus(plus(total(sumTotals(perils, currency), currency), grossFees), holdbackSum)
}

/** Both views are of the same policy. `after` counts one more modification. */
export function policyPriceChangeResponse(before: PolicyView, after: PolicyView): PolicyPriceChangeResponse {
  const { currency } = after.aggregate.policy
  const earlier = new Map(before.exposures.map(one => [one.exposure.locator, one]))
  const exposures = after.exposures.map(one =>
    exposureChange(earlier.get(one.exposure.locator), one, currency),
  )
  const changes = exposures.map(one => one.change)
  const all = sumChanges(changes, currency)
  const sumsBefore = feesAndHoldbacks(before)
  const sumsAfter = feesAndHoldbacks(after)
  const newTotal = total(all.after, currency)
  const totalChange = minus(newTotal, total(all.before, currency))
  const feesChange = minus(sumsAfter.grossFees, sumsBefore.grossFees)
  return {
    ...changeOf('grossPremium', all.before.premium, all.after.premium),
    ...everyLevel(all, currency),
    ...changeOf('grossFees', sumsBefore.grossFees, sumsAfter.grossFees),
    ...amountMembers('newTotal', plus(plus(newTotal, sumsAfter.grossFees), sumsAfter.holdbackSum)),
    ...amountMembers(
      'totalChange',
      plus(plus(totalChange, feesChange), minus(sumsAfter.holdbackSum, sumsBefore.holdbackSum)),
    ),
    fees: sumsAfter.fees.map(feeResponse),
    holdbacks: holdbackResponses(after.aggregate, sumsAfter.holdbacks),
    exposurePrices: exposures.map(one => one.response),
  }
}

function exposureChange(
  before: ExposureView | undefined,
  { exposure, perils }: ExposureView,
  currency: CurrencyCode,
): { change: Change; response: ExposurePriceChangeResponse } {
  const earlier = new Map((before?.perils ?? []).map(one => [one.peril.locator, one]))
  const changes = perils.map((one): Change => {
    const was = earlier.get(one.peril.locator)
    return {
      before: was ? perilTotals(was, currency) : sumTotals([], currency),
      after: perilTotals(one, currency),
    }
  })
  const change = sumChanges(changes, currency)
  return {
    change,
    response: {
      locator: exposure.locator,
      name: exposure.name,
      ...changeOf('grossPremium', change.before.premium, change.after.premium),
      ...everyLevel(change, currency),
      perilPrices: perils.map(({ peril: { locator, name } }, at) => ({
        locator,
        name,
        ...changeOf('premium', changes[at]!.before.premium, changes[at]!.after.premium),
        ...technicalChange(changes[at]!, currency),
        ...everyLevel(changes[at]!, currency),
      })),
    },
  }
}

function sumChanges(changes: readonly Change[], currency: CurrencyCode): Change {
  const [before, after] = [changes.map(one => one.before), changes.map(one => one.after)]
  return { before: sumTotals(before, currency), after: sumTotals(after, currency) }
}

function technicalChange({ before, after }: Change, currency: CurrencyCode) {
  const now = after.technicalPremium ?? (before.technicalPremium && zero(currency))
  const change = now && minus(now, before.technicalPremium ?? zero(currency))
  return {
    ...optionalAmountMembers('newTechnicalPremium', now, currency),
    ...optionalAmountMembers('technicalPremiumChange', change, currency),
  }
}

/** `new…` is the amount after the change, `…Change` the difference to the amount before. */
const changeOf = <K extends string>(name: K, before: Money, after: Money) => ({
  ...amountMembers(`new${name[0]!.toUpperCase()}${name.slice(1)}` as `new${Capitalize<K>}`, after),
  ...amountMembers(`${name}Change` as const, minus(after, before)),
})

const everyLevel = ({ before, after }: Change, currency: CurrencyCode) => ({
  ...changeOf('grossTaxes', totalTaxes(before, currency), totalTaxes(after, currency)),
  ...changeOf('grossCommissions', totalCommissions(before, currency), totalCommissions(after, currency)),
  ...changeOf('total', total(before, currency), total(after, currency)),
  taxGroups: changesByName('name', before.taxes, after.taxes, currency),
  commissions: changesByName('recipient', before.commissions, after.commissions, currency),
})

type AmountsByName = ReadonlyMap<string, Money>

/** Returns one entry for each name on either side. `key` is the property for the name. */
const changesByName = <K extends string>(
  key: K,
  before: AmountsByName,
  after: AmountsByName,
  currency: CurrencyCode,
) =>
  [...new Set([...before.keys(), ...after.keys()])].map(name => {
    const [was, is] = [before.get(name) ?? zero(currency), after.get(name) ?? zero(currency)]
    const amounts = { ...amountMembers('newAmount', is), ...amountMembers('amountChange', minus(is, was)) }
    return { [key]: name, ...amounts } as Record<K, string> & typeof amounts
  })

/**
 * Sums of rounded amounts, never rounded again (brief 3.1). `technicalPremium` is present only if every peril in force has one.
 */
export type Totals = {
  readonly isInForce: boolean
  readonly premium: Money
  readonly technicalPremium: Money | undefined
  readonly taxes: AmountsByName
  readonly commissions: AmountsByName
}

/** Returns the totals of the peril's pieces in force. */
export function perilTotals({ pieces }: PerilView, currency: CurrencyCode): Totals {
  const none = zero(currency)
  let premium = none
  // Undefined once a piece has none, and while there is no piece.
  let technicalPremium: Money | undefined
  let isInForce = false
  const taxes = new Map<string, Money>()
  const commissions = new Map<string, Money>()
  for (const {
    run: { price },
    piece: { amounts, replacedBy },
  } of pieces) {
    if (replacedBy !== undefined || !amounts || !price) continue
    premium = plus(premium, amounts.premium)
    const before = isInForce ? technicalPremium : none
    technicalPremium = before && amounts.technicalPremium && plus(before, amounts.technicalPremium)
    isInForce = true
    for (const [at, { name }] of price.taxes.entries()) addByName(taxes, name, amounts.taxes[at]!)
    for (const [at, { recipient }] of price.commissions.entries())
      addByName(commissions, recipient, amounts.commissions[at]!)
  }
  return { isInForce, premium, technicalPremium, taxes, commissions }
}

/** Returns the sums over the list. */
export function sumTotals(list: readonly Totals[], currency: CurrencyCode): Totals {
  const premiums = list.map(totals => totals.premium)
  // A peril that was taken back from its start costs nothing, such as those of a renewal that a cancellation reaches.
  const inForce = list.filter(totals => totals.isInForce)
  const technical = inForce.map(totals => totals.technicalPremium).filter(amount => amount !== undefined)
  return {
    isInForce: inForce.length > 0,
    premium: sum(premiums, currency),
    technicalPremium:
      inForce.length > 0 && technical.length === inForce.length ? sum(technical, currency) : undefined,
    taxes: sumsByName(list.flatMap(totals => [...totals.taxes])),
    commissions: sumsByName(list.flatMap(totals => [...totals.commissions])),
  }
}

function sumsByName(amounts: readonly (readonly [name: string, amount: Money])[]): AmountsByName {
  const sums = new Map<string, Money>()
  for (const [name, amount] of amounts) addByName(sums, name, amount)
  return sums
}

/** Returns the sum of all taxes; zero without any. */
export const totalTaxes = ({ taxes }: Totals, currency: CurrencyCode): Money => sum(taxes.values(), currency)

const totalCommissions = ({ commissions }: Totals, currency: CurrencyCode): Money =>
  sum(commissions.values(), currency)
