import { describe, expect, it } from 'vitest'
import type { Uuid } from '../../src/kernel/locators.ts'
import { type CurrencyCode, fromMinor } from '../../src/kernel/money.ts'
import { dayStart, type TimeZone } from '../../src/kernel/time.ts'
import type { Piece } from '../../src/policy/fold/pieces.ts'
import type { PerilRun } from '../../src/policy/records/aggregate.ts'
import type { EndorsementChanges } from '../../src/policy/records/transactions.ts'
import type { ProductDefinition } from '../../src/product/configuration.ts'
import { NO_FIELD_DATA } from '../../src/product/fields/groups.ts'
import { extendPrice, proratePrice, touchesOf } from '../../src/transactions/endorsements/repricing.ts'

const UTC = 'UTC' as TimeZone
const euro = (minor: number) => fromMinor(minor, 'EUR' as CurrencyCode)
const day = (date: string) => dayStart(date, UTC)!
const uuid = (digit: number): Uuid => `${digit}d9cf5b5-3d8e-4f0c-9d3f-6a51a1a0a000` as Uuid

/** A year of 1,200.00 with 1,080.00 technical premium, 228.00 of tax and 120.00 of commission. */
const run: PerilRun = {
  locator: uuid(1),
  createdAt: day('2030-03-01'),
  updatedAt: day('2030-03-01'),
  madeBy: uuid(2),
  start: day('2030-03-01'),
  end: day('2031-03-01'),
  perilLocator: uuid(3),
  data: NO_FIELD_DATA,
  amounts: {},
  cuts: [],
  price: {
    premium: { month: '100', amount: euro(120_000) },
    technicalPremium: { month: '90', amount: euro(108_000) },
    taxes: [{ name: 'premium_tax', amount: euro(22_800) }],
    commissions: [{ recipient: 'agency', month: '10', amount: euro(12_000) }],
  },
}

describe('A peril that an endorsement continues without repricing', () => {
  it('is charged at its monthly rates for three more months, with tax in proportion', () => {
    expect(extendPrice(run, { start: run.end, end: day('2031-06-01') }, UTC)).toEqual({
      premium: { month: '100', amount: euro(30_000) },
      technicalPremium: { month: '90', amount: euro(27_000) },
      taxes: [{ name: 'premium_tax', month: '19.0000000', amount: euro(5_700) }],
      commissions: [{ recipient: 'agency', month: '10', amount: euro(3_000) }],
    })
  })

  it('that lasted one month has the amount of its tax as the rate of the next month', () => {
    const end = day('2030-04-01')
    const price = { ...run.price!, taxes: [{ name: 'premium_tax', amount: euro(1_900) }] }
    const extended = extendPrice({ ...run, end, price }, { start: end, end: day('2030-05-01') }, UTC)
    expect(extended!.taxes).toEqual([{ name: 'premium_tax', month: '19.0000000', amount: euro(1_900) }])
  })

  it('keeps the amounts of its piece and its monthly rates', () => {
    const amounts = {
      premium: euro(40_000),
      technicalPremium: euro(36_000),
      taxes: [euro(7_600)],
      commissions: [euro(4_000)],
    }
    expect(proratePrice(run, { amounts } as unknown as Piece, UTC)).toEqual({
      premium: { month: '100', amount: euro(40_000) },
      technicalPremium: { month: '90', amount: euro(36_000) },
      taxes: [{ name: 'premium_tax', month: '19.0000000', amount: euro(7_600) }],
      commissions: [{ recipient: 'agency', month: '10', amount: euro(4_000) }],
    })
  })
})

describe('An endorsement', () => {
  const product = {
    endorsements: ['always', 'all', 'never'].map(reprice => ({ name: reprice, reprice })),
  } as unknown as ProductDefinition
  const touches = (name: string, changes: object, more: object = {}) =>
    touchesOf({ kind: 'endorsement', name, changes: changes as EndorsementChanges, ...more }, product)
  const update = { updateExposures: [{ exposureLocator: uuid(4) }] }

  it('touches the exposures that it names', () => {
    expect(touches('always', update)).toEqual([uuid(4)])
    expect(touches('never', { ...update, fieldValues: { colour: ['red'] } })).toEqual([uuid(4)])
  })

  it.each([
    ['whose type rates all again', touches('all', update)],
    [
      'that changes the policy where changes are rated',
      touches('always', { fieldValues: { colour: ['red'] } }),
    ],
    ['that moves the end', touches('never', update, { endAt: day('2031-06-01') })],
    ['that names a payment schedule', touches('never', { ...update, newPaymentScheduleName: 'monthly' })],
  ])('%s touches the whole policy', (_, touched) => {
    expect(touched).toBeUndefined()
  })
})
