// Changing the payment schedule when a plugin plans the bills and the planned amounts of every charge total zero. A year from
// March 1, 2030 in UTC.
import { expect, it } from 'vitest'
import type { InstallmentsInput } from '../../src/extension/plugins/contract.ts'
import { openInstallments } from '../../src/policy/bills/amounts-due.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'
import { expectBillsMatchPrice, expectChargesBilledOnce } from '../support/money-checks.ts'
import { ownBillsFiles } from '../support/own-bills.ts'
import '../../src/transactions/kinds.ts'

/** Bills everything immediately, then 100.00 more in June, and gives that back in September. */
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
])('changing the payment schedule %s succeeds with nothing left to bill', async (_, change) => {
  const boat = await planned()
  await change(boat)
  expect([boat.aggregate.policy.paymentScheduleName, boat.planned]).toEqual(['quarterly', []])
  expect(openInstallments(boat.aggregate)).toEqual([])
  expectBillsMatchPrice(boat.loaded)
  expectChargesBilledOnce(boat.loaded)
})
