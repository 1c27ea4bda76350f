// How much of a return a cancellation holds back (brief 3.2), by the configuration of its type.
import { describe, expect, it } from 'vitest'
import type { CancellationLocator } from '../../src/kernel/locators.ts'
import { type CurrencyCode, fromMinor, toNumber } from '../../src/kernel/money.ts'
import { netCharges } from '../../src/policy/bills/net-charges.ts'
import { holdbackTotal, isIssued } from '../../src/policy/fold/line.ts'
import { policyView } from '../../src/policy/projection/policy.ts'
import {
  type Holdback,
  type Modification,
  type PerilRun,
  selectedQuote,
} from '../../src/policy/records/aggregate.ts'
import { policyPriceResponse, wholeTotal } from '../../src/rating/price.ts'
import { cancellationResponse } from '../../src/transactions/cancellations/projection.ts'
import { BoatInUtc } from '../support/boat-in-utc.ts'

const boatWith = (holdback: object): Promise<BoatInUtc> => {
  const cancellationTypes = [{ name: 'sold', title: 'Sold', holdback }]
  return BoatInUtc.issued({
    schedule: 'upfront',
    isTaxed: true,
    files: { 'products/boat/policy/cancellations.json': JSON.stringify({ cancellationTypes }) },
  })
}

const viewOf = ({ aggregate, loaded: { product } }: BoatInUtc) =>
  policyView(aggregate, selectedQuote(aggregate), product, isIssued)
const priceOf = (boat: BoatInUtc) => policyPriceResponse(viewOf(boat))

const cancellationOf = ({ aggregate, loaded }: BoatInUtc, locator: CancellationLocator) =>
  cancellationResponse(aggregate, aggregate.cancellations.get(locator)!, loaded.product)

describe('A cancellation after half a year, returning 600.00 and 60.00 of tax,', () => {
  it.each([
    ['a tenth', { percent: 10 }, 60],
    ['an amount', { amount: 50 }, 50],
    ['an amount beyond the return: all of it, and no more', { amount: 700 }, 600],
    ['more than all', { percent: 100 }, 600],
  ])('holds back %s', async (_, holdback, held) => {
    const boat = await boatWith(holdback)
    await boat.pay(boat.invoices[0]!)
    const locator = await boat.cancel('2030-09-01')
    const { price } = cancellationOf(boat, locator)
    expect(price).toMatchObject({ newTotal: 660 + held, totalChange: held - 660 })
    expect(priceOf(boat)).toMatchObject({
      grossPremium: 600,
      grossTaxes: 60,
      holdbacks: [{ type: 'premium', perilName: 'sinking', amount: held }],
      total: 660 + held,
    })
    expect(toNumber(wholeTotal(viewOf(boat)))).toBe(660 + held)
    expect(boat.billed.at(-1)!.slice(0, 2)).toEqual(
      held === 600 ? ['cancellation', -6_000] : ['cancellation', held * 100 - 66_000],
    )
  })

  it('no longer holds anything back once the policy is withdrawn', async () => {
    const boat = await boatWith({ percent: 10 })
    await boat.pay(boat.invoices[0]!)
    await boat.cancel('2030-09-01')
    await boat.withdraw()
    expect(priceOf(boat)).toMatchObject({ holdbacks: [], total: 0 })
  })
})

it('a commission that is held back does not count in what the policyholder pays', () => {
  const euro = (minor: number) => fromMinor(minor, 'EUR' as CurrencyCode)
  const held = [
    { type: 'premium', perilRunLocator: 'run', amount: euro(1_000) },
    { type: 'commission', perilRunLocator: 'run', position: 0, amount: euro(120) },
  ] as unknown as Holdback[]
  expect(holdbackTotal(held, 'EUR' as CurrencyCode)).toEqual(euro(1_000))
})

it('a peril’s holdbacks are charged separately for its premium, each tax and each commission', async () => {
  const euro = (minor: number) => fromMinor(minor, 'EUR' as CurrencyCode)
  const boat = await boatWith({ percent: 10 })
  await boat.cancel('2030-09-01')
  const { aggregate } = boat
  const [run] = aggregate.perilRuns.values()
  const price = run!.price!
  const commissions = ['broker', 'agency'].map(recipient => ({ recipient, amount: euro(0) }))
  const paid = { ...run, price: { ...price, commissions } } as unknown as PerilRun
  const cancellation = [...aggregate.modifications.values()].at(-1)!
  const of = { perilRunLocator: paid.locator }
  const holdbacks = [
    { ...of, type: 'premium', amount: euro(1_000) },
    { ...of, type: 'tax', taxName: 'levy', amount: euro(100) },
    { ...of, type: 'tax', taxName: 'duty', amount: euro(70) },
    { ...of, type: 'commission', position: 0, amount: euro(50) },
    { ...of, type: 'commission', position: 1, amount: euro(30) },
  ]
  const holding = { ...cancellation, holdbacks } as unknown as Modification
  const charges = netCharges(
    {
      ...aggregate,
      perilRuns: new Map(aggregate.perilRuns).set(paid.locator, paid),
      modifications: new Map(aggregate.modifications).set(holding.locator, holding),
    },
    holding,
    false,
  )
  const held = `${paid.locator}/${holding.locator}/holdback`
  expect(
    charges.filter(one => one.id.startsWith(held)).map(({ id, type, amount }) => [id, type, amount.minor]),
  ).toEqual([
    [held, 'holdback', 1_000],
    [`${held}/tax/levy`, 'holdback', 100],
    [`${held}/tax/duty`, 'holdback', 70],
    [`${held}/commission/0`, 'commission', 50],
    [`${held}/commission/1`, 'commission', 30],
  ])
})
