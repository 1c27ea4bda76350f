import { describe, expect, test } from 'vitest'
import type { QuoteLocator, Uuid } from '../../src/kernel/locators.ts'
import { fromMinor, toText, zero } from '../../src/kernel/money.ts'
import {
  type Charge,
  cancelOut,
  feeCharges,
  installmentFeeReversals,
  isPayable,
  joinedRests,
  lineOfCharge,
  perilCharges,
  unpaidPart,
} from '../../src/policy/bills/charge.ts'
import type { Fee, PerilRun } from '../../src/policy/records/aggregate.ts'
import type { PlannedInstallment } from '../../src/policy/records/invoice.ts'
import { NO_FIELD_DATA } from '../../src/product/fields/groups.ts'
import { chargeOf, EUR } from './charges.ts'
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

describe('Charges', () => {
  test('a priced peril has charges for premium, taxes and commissions, but not for technical premium or zeros', () => {
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

  test('every charge has a unique id, which stays the same when the charges are computed again', () => {
    const ids = perilCharges(run, 'collision').map(charge => charge.id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(perilCharges({ ...run }, 'collision').map(charge => charge.id)).toEqual(ids)
  })

  test('a peril without a price has no charges', () => {
    expect(perilCharges({ ...run, price: undefined }, 'collision')).toEqual([])
  })

  test('a fee is charged over its span, and a fee of zero is not charged', () => {
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

  test('premiums, taxes and fees are payable by the policyholder, and commissions are not', () => {
    expect([...perilCharges(run, 'collision'), ...feeCharges([fee(3, 100)])].map(isPayable)).toEqual([
      true,
      true,
      false,
      false,
      true,
    ])
  })

  test('two commissions of the same recipient are separate lines', () => {
    const [, , first, second] = perilCharges(run, 'collision')
    expect(lineOfCharge(second!)).not.toBe(lineOfCharge(first!))
  })

  test('payments reduce the charges owed in proportion, but not amounts given back or commissions', () => {
    const charges = [
      chargeOf('premium', 6_000, { start, end }),
      chargeOf('tax', 2_000, { start, end }),
      chargeOf('fee', -1_000, { start, end }),
      chargeOf('commission', 4_000, { start, end }),
    ]
    const unpaid = (paid: number) => unpaidPart(charges, paid).map(({ type, amount }) => [type, amount.minor])
    expect(unpaid(2_000)).toEqual([
      ['premium', 4_500],
      ['tax', 1_500],
      ['fee', -1_000],
      ['commission', 4_000],
    ])
    expect(unpaid(8_000)).toEqual([
      ['fee', -1_000],
      ['commission', 4_000],
    ])
  })

  test('rests of one charge are joined from first start to last end, and dropped when they cancel out', () => {
    const middle = local('2024-11-15', 'UTC')
    const rest = (minor: number, from = start, to = end) => ({
      ...chargeOf('premium', minor, { start, end }, { id: 'one' }),
      rest: { start: from, end: to },
    })
    const joined = (...rests: ReturnType<typeof rest>[]) => joinedRests(rests, one => one.id)
    expect(joined(rest(300, middle), rest(200, start, middle))).toEqual([rest(500)])
    expect(joined(rest(300, middle), rest(-300))).toEqual([])
  })

  test('a fee of an installment is given back by the modification that reversed it', () => {
    const installment = (digit: number, by: Uuid) =>
      ({
        modificationLocator: uuid(8),
        start,
        end,
        fees: [
          {
            locator: uuid(digit),
            name: 'installment_fee',
            description: '',
            amount: fromMinor(250, EUR),
            reversedBy: by,
          },
        ],
      }) as unknown as PlannedInstallment
    const charges = installmentFeeReversals([installment(1, uuid(5)), installment(2, uuid(6))], uuid(6))
    expect(charges).toMatchObject([
      { feeLocator: uuid(2), amount: { minor: -250 }, policyModificationLocator: uuid(6), keptUntil: 0 },
    ])
  })
})

describe('Items', () => {
  const item = (charge: Charge) => ({ charge, amount: charge.amount })
  const premium = (minor: number) => item(chargeOf('premium', minor, { start, end }))
  const tax = (minor: number, taxName: string) =>
    item({ ...chargeOf('tax', minor, { start, end }), taxName } as Charge)
  const commission = (minor: number, commissionRecipient: string) =>
    item({ ...chargeOf('commission', minor, { start, end }), commissionRecipient } as Charge)
  const feeOf = (minor: number, digit: number) =>
    item({ ...chargeOf('fee', minor, { start, end }), feeLocator: uuid(digit) } as Charge)

  test('cancel out if those of each premium, tax, commission and fee do', () => {
    expect(cancelOut([])).toBe(true)
    expect(cancelOut([premium(500), feeOf(300, 3), premium(-200), feeOf(-300, 3), premium(-300)])).toBe(true)
    expect(
      cancelOut([tax(19, 'fire'), commission(50, 'broker'), tax(-19, 'fire'), commission(-50, 'broker')]),
    ).toBe(true)
  })

  test.each([
    ['a premium and a tax', premium(500), tax(-500, 'fire')],
    ['two taxes', tax(500, 'fire'), tax(-500, 'flood')],
    ['the commissions of two recipients', commission(500, 'broker'), commission(-500, 'agency')],
    ['two fees', feeOf(500, 3), feeOf(-500, 4)],
    ['a premium and a fee', premium(500), feeOf(-500, 3)],
  ])('of %s do not cancel out, even if they add up to zero', (_, one, other) => {
    expect(cancelOut([one, other])).toBe(false)
  })
})
