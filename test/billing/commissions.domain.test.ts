// Commissions that change nothing of what the policyholder pays. They are on invoices or planned invoices all the same (brief 3.1),
// which add up to what is in force. A year from March 1, 2030 in UTC at 1,200.00, of which a broker has a tenth.
import { expect, it } from 'vitest'
import type { ProrationInput } from '../../src/extension/plugins/contract.ts'
import { toNumber } from '../../src/kernel/money.ts'
import { futureInstallments, installmentOf, standingInvoices } from '../../src/policy/bills/amounts-due.ts'
import { billedItemsOf } from '../../src/policy/projection/billed-items.ts'
import { BoatInUtc, type BoatTerms } from '../support/boat-in-utc.ts'

const POLICY = 'products/boat/policy'

const PREMIUM = 'products/boat/policy/exposures/hull/perils/sinking.premium.liquid'

const RATES = `{% assign yearly = data.exposure_characteristics.field_values.yearly %}{{ yearly | set_year_premium }}
{{ yearly | times: 0.1 | add_year_commission: "broker" }}`

/** The commission of each invoice and then of each planned invoice. */
function commissionsOf({ aggregate }: BoatInUtc): number[] {
  const itemsOf = billedItemsOf(aggregate)
  const bills = [
    ...standingInvoices(aggregate).map(invoice => installmentOf(aggregate, invoice)),
    ...futureInstallments(aggregate),
  ]
  return bills.map(bill =>
    itemsOf(bill)
      .filter(({ charge }) => charge.type === 'commission')
      .reduce((sum, { amount }) => sum + toNumber(amount), 0),
  )
}

/** The cancellation keeps half of the commission that it takes back, and nothing else. */
const holdingBack = ({ operation, items, segmentSplitTimestamp }: ProrationInput) => ({
  items: items.map(({ id, type, amount, segmentStartTimestamp, segmentEndTimestamp }) => {
    const [start, split, end] = [segmentStartTimestamp, segmentSplitTimestamp, segmentEndTimestamp].map(
      Number,
    )
    const months = Math.round((12 * (split! - start!)) / (end! - start!))
    const before = (Number(amount) * months) / 12
    return {
      id,
      proratedAmount: before.toFixed(2),
      ...(type === 'commission' &&
        operation === 'cancellation' && { holdbackAmount: ((Number(amount) - before) / 2).toFixed(2) }),
    }
  }),
})

const holding = (schedule: string): Promise<BoatInUtc> => {
  const plugins: BoatTerms['plugins'] = () => ({ getProrationResult: holdingBack as never })
  const policy = {
    fields: [],
    paymentSchedules: ['monthly', 'upfront'].map(name => ({
      type: name === 'upfront' ? 'total' : name,
      name,
      displayName: name,
    })),
    defaultPaymentTerms: { amount: 10, unit: 'day' },
    plugins: { getProrationResult: { path: 'main/prorater.js', enabled: true } },
  }
  return BoatInUtc.issued({
    schedule,
    plugins,
    files: {
      [PREMIUM]: RATES,
      [`${POLICY}/policy.json`]: JSON.stringify(policy),
      'scripts/main/prorater.js': 'exports.getProrationResult = () => ({ items: [] })',
    },
  })
}

it('a held-back commission is on the last planned bill that remains, as other holdbacks are', async () => {
  const boat = await holding('monthly')
  await boat.cancel('2030-06-01')
  expect(boat.billed).toEqual([['newBusiness', 10_000, 10_000, 'unfulfilled']])
  expect(boat.planned).toEqual([
    ['2030-04-01', 10_000],
    ['2030-05-01', 10_000],
  ])
  // Nine months of 10.00 are taken back, and 45.00 of it is kept.
  expect(commissionsOf(boat)).toEqual([10, 10, 55])
})

it('a held-back commission is on the invoice that gives back if no bill is planned', async () => {
  const boat = await holding('upfront')
  await boat.cancel('2030-06-01')
  expect(boat.billed).toEqual([
    ['newBusiness', 120_000, 30_000, 'unfulfilled'],
    ['cancellation', -90_000, 0, 'paid'],
  ])
  expect(commissionsOf(boat)).toEqual([120, -45])
})

it('a held-back commission has an invoice that asks for nothing if no other bill has it', async () => {
  const boat = await holding('monthly')
  await boat.advance('2030-05-01')
  await boat.cancel('2030-06-01')
  expect(boat.billed.at(-1)).toEqual(['cancellation', 0, 0, 'zeroDue'])
  expect(commissionsOf(boat)).toEqual([10, 10, 10, 45])
})

it('a commission that an endorsement changes alone has an invoice that asks for nothing', async () => {
  const rates = `{{ 1200 | set_year_premium }}{% assign share = 0.1 %}
{% if data.operation == "endorsement" %}{% assign share = 0.2 %}{% endif %}{{ 1200 | times: share | add_year_commission: "broker" }}`
  const boat = await BoatInUtc.issued({ schedule: 'upfront', files: { [PREMIUM]: rates } })
  await boat.endorse('2030-09-01', '1201')
  expect(boat.billed.at(-1)).toEqual(['endorsement', 0, 0, 'zeroDue'])
  expect(commissionsOf(boat)).toEqual([120, 60])
})

it('an endorsement that changes neither premium nor commission has no invoice', async () => {
  const boat = await BoatInUtc.issued({ schedule: 'upfront', files: { [PREMIUM]: RATES } })
  await boat.endorse('2030-09-01', '1200.00')
  expect(boat.billed).toHaveLength(1)
})

it('a held-back commission that a reinstatement reverses is on the first bill that returns, not on one of zero', async () => {
  const boat = await holding('monthly')
  await boat.advance('2030-05-01')
  const cancellation = await boat.cancel('2030-06-01')
  await boat.reinstate(cancellation, '2030-06-01')
  expect(boat.billed.at(-1)).toEqual(['cancellation', 0, 0, 'zeroDue'])
  expect(boat.planned.map(([, minor]) => minor)).toEqual(Array.from({ length: 9 }, () => 10_000))
  // June has its own 10.00 less the 45.00 that were kept.
  expect(commissionsOf(boat)).toEqual([10, 10, 10, 45, -35, ...Array.from({ length: 8 }, () => 10)])
})
