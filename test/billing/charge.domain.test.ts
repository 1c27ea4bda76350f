import { describe, expect, test } from 'vitest'
import type { QuoteLocator, Uuid } from '../../src/kernel/locators.ts'
import { fromMinor, toText, zero } from '../../src/kernel/money.ts'
import { feeCharges, isPayable, perilCharges } from '../../src/policy/bills/charge.ts'
import type { Fee, PerilRun } from '../../src/policy/records/aggregate.ts'
import { NO_FIELD_DATA } from '../../src/product/fields/groups.ts'
import { EUR } from './charges.ts'
import { local } from './spans.ts'

const uuid = (digit: number): Uuid => `${digit}d9cf5b5-3d8e-4f0c-9d3f-6a51a1a0a000` as Uuid
const start = local('2024-05-15', 'UTC')
const end = local('2025-05-15', 'UTC')

const run: PerilRun = {
  locator: uuid(1),
  createdAt: start,
  updatedAt: start,
  madeBy: uuid(9),
  start,
  end,
  perilLocator: uuid(2),
  data: NO_FIELD_DATA,
  amounts: {},
  cuts: [],
  price: {
    premium: { month: '100.0000000', amount: fromMinor(120_000, EUR) },
    technicalPremium: { month: '90.0000000', amount: fromMinor(108_000, EUR) },
    taxes: [
      { name: 'premium_tax', amount: fromMinor(22_800, EUR) },
      { name: 'fire_tax', amount: zero(EUR) },
    ],
    commissions: [
      { recipient: 'agency', month: '10.0000000', amount: fromMinor(12_000, EUR) },
      { recipient: 'agency', month: '1.0000000', amount: fromMinor(1_200, EUR) },
    ],
  },
}

const fee = (digit: number, amountMinor: number): Fee => ({
  locator: uuid(digit),
  quoteLocator: 100_000_064 as QuoteLocator,
  name: 'policy_fee',
  description: '',
  amount: fromMinor(amountMinor, EUR),
  changes: [],
  madeBy: uuid(9),
  start,
  end,
})

describe('charges', () => {
  test('a priced peril is charged its premium, taxes and commissions, not its technical premium, and no zeros', () => {
    const charges = perilCharges(run, 'collision')
    expect(charges.map(({ type, amount }) => [type, toText(amount)])).toEqual([
      ['premium', '1200.00'],
      ['tax', '228.00'],
      ['commission', '120.00'],
      ['commission', '12.00'],
    ])
    for (const charge of charges)
      expect(charge).toMatchObject({
        start,
        end,
        perilRunLocator: run.locator,
        perilLocator: run.perilLocator,
        perilName: 'collision',
        policyModificationLocator: run.madeBy,
      })
    expect(charges[1]).toMatchObject({ taxName: 'premium_tax' })
    expect(charges[2]).toMatchObject({ commissionRecipient: 'agency' })
  })

  test('every charge has an id of its own, the same each time', () => {
    const ids = perilCharges(run, 'collision').map(charge => charge.id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(perilCharges({ ...run }, 'collision').map(charge => charge.id)).toEqual(ids)
  })

  test('a peril without a price is not charged', () => {
    expect(perilCharges({ ...run, price: undefined }, 'collision')).toEqual([])
  })

  test('fees are charged over their span', () => {
    expect(feeCharges([fee(3, 2_500), fee(4, 0)])).toEqual([
      {
        id: `${uuid(3)}/fee`,
        type: 'fee',
        amount: fromMinor(2_500, EUR),
        start,
        end,
        policyModificationLocator: uuid(9),
        feeLocator: uuid(3),
        feeName: 'policy_fee',
      },
    ])
  })

  test('commissions are not for the policyholder to pay', () => {
    expect([...perilCharges(run, 'collision'), ...feeCharges([fee(3, 100)])].map(isPayable)).toEqual([
      true,
      true,
      false,
      false,
      true,
    ])
  })
})
