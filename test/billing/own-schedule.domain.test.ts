// Another payment schedule where a plugin plans the bills, and what is planned comes to nothing of every charge. Figures of a year
// from March 1, 2030 in UTC.
import { expect, it } from 'vitest'
import type { InstallmentsInput } from '../../src/extension/plugins/contract.ts'
import { openInstallments } from '../../src/policy/bills/amounts-due.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'
import { billsWhatStands, chargesAreBilledOnce } from '../support/money-checks.ts'
import { ownBillsFiles } from '../support/own-bills.ts'
import '../../src/transactions/kinds.ts'

/** All at once; then 100.00 more in June, which are given back in September. */
function upAndDown({ charges: [charge] }: InstallmentsInput): unknown {
  const { chargeId, amount } = charge!
  const parts = [
    ['2030-03-01', amount],
    ['2030-06-01', '100.00'],
    ['2030-09-01', '-100.00'],
  ] as const
  return {
    installments: parts.map(([date, part]) => ({
      startTimestamp: utc(date),
      endTimestamp: utc('2031-03-01'),
      issueTimestamp: utc(date),
      dueTimestamp: utc(date),
      invoiceItems: [{ chargeId, amount: part }],
    })),
  }
}

const planned = async (): Promise<BoatInUtc> => {
  const { 'scripts/main/installments.js': script, 'products/boat/policy/policy.json': policy } =
    ownBillsFiles('exports.createInstallments = () => ({})')
  const boat = await BoatInUtc.issued({
    files: { 'scripts/main/installments.js': script!, 'products/boat/policy/policy.json': policy! },
    plugins: () => ({ createInstallments: upAndDown }),
  })
  expect(boat.planned).toEqual([
    ['2030-06-01', 10_000],
    ['2030-09-01', -10_000],
  ])
  return boat
}

it.each([
  ['by itself', (boat: BoatInUtc) => boat.reschedule('quarterly')],
  [
    'by an endorsement',
    (boat: BoatInUtc) => boat.endorse('2030-03-01', undefined, { newPaymentScheduleName: 'quarterly' }),
  ],
])('another schedule %s leaves nothing to bill, and is not refused', async (_, change) => {
  const boat = await planned()
  await change(boat)
  expect([boat.aggregate.policy.paymentScheduleName, boat.planned]).toEqual(['quarterly', []])
  expect(openInstallments(boat.aggregate)).toEqual([])
  billsWhatStands(boat.loaded)
  chargesAreBilledOnce(boat.loaded)
})
