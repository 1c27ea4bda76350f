import { expect, it } from 'vitest'
import { type CurrencyCode, fromMinor, type Money } from '../../src/kernel/money.ts'
import type { PerilView } from '../../src/policy/projection/policy.ts'
import { perilTotals, sumTotals, type Totals } from '../../src/rating/price.ts'

const EUR = 'EUR' as CurrencyCode
const euro = (minor: number): Money => fromMinor(minor, EUR)

/** A peril whose pieces have these technical premiums and a premium of 100.00 each. */
const perilWith = (...technical: (number | undefined)[]): PerilView => {
  const price = { premium: { month: '100', amount: euro(10_000) }, taxes: [], commissions: [] }
  const pieces = technical.map(minor => ({
    run: { price },
    piece: {
      amounts: {
        premium: euro(10_000),
        technicalPremium: minor === undefined ? undefined : euro(minor),
        taxes: [],
        commissions: [],
      },
      replacedBy: undefined,
    },
  }))
  return { pieces } as unknown as PerilView
}

it.each([
  ['all pieces have one', [9_000, 8_000], 17_000],
  ['the first has none', [undefined, 8_000], undefined],
  ['the last has none', [9_000, undefined], undefined],
  ['there is no piece', [], undefined],
])('the technical premium of a peril is the sum of its pieces when %s', (_, technical, sum) => {
  const { technicalPremium } = perilTotals(perilWith(...technical), EUR)
  expect(technicalPremium).toEqual(sum === undefined ? undefined : euro(sum))
})

it('the technical premium of several perils is shown only if each peril in force has one', () => {
  const totalsWith = (technicalPremium: Money | undefined): Totals => ({
    isInForce: true,
    premium: euro(10_000),
    technicalPremium,
    taxes: new Map(),
    commissions: new Map(),
  })
  const technicalTotal = (...all: (Money | undefined)[]) =>
    sumTotals(all.map(totalsWith), EUR).technicalPremium
  expect(technicalTotal(euro(9_000), euro(1))).toEqual(euro(9_001))
  expect(technicalTotal(euro(9_000), undefined)).toBeUndefined()
  expect(technicalTotal()).toBeUndefined()

  const takenBack = perilTotals(perilWith(), EUR)
  const without = sumTotals([totalsWith(euro(9_000)), takenBack], EUR)
  expect(without.technicalPremium).toEqual(euro(9_000))
  expect(sumTotals([without, sumTotals([takenBack], EUR)], EUR).technicalPremium).toEqual(euro(9_000))
  expect(sumTotals([takenBack], EUR).technicalPremium).toBeUndefined()
})
