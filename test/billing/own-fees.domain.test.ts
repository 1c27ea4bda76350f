// Reversing a fee when a plugin planned the bills: they do not change, and the fee is given back immediately. A year from March 1,
// 2030 in UTC, billed monthly.
import { expect, it } from 'vitest'
import type { InstallmentsInput } from '../../src/extension/plugins/contract.ts'
import { futureInstallments } from '../../src/policy/bills/amounts-due.ts'
import { BoatInUtc } from '../support/boat-in-utc.ts'
import {
  expectBillsMatchPrice,
  expectChargesBilledOnce,
  expectItemsSumToCharges,
} from '../support/money-checks.ts'
import { ownBillsFiles } from '../support/own-bills.ts'
import { pairingBills } from '../support/pairing-bills.ts'
import '../../src/transactions/kinds.ts'

it('reversing a fee leaves the bills of a plugin unchanged and gives the fee back immediately', async () => {
  const { 'scripts/main/installments.js': script, 'products/boat/policy/policy.json': policy } =
    ownBillsFiles('exports.createInstallments = () => ({})')
  const boat = await BoatInUtc.issued({
    fees: { reminder: 24 },
    files: { 'scripts/main/installments.js': script!, 'products/boat/policy/policy.json': policy! },
    plugins: now => ({ createInstallments: (input: InstallmentsInput) => pairingBills(input, now) }),
  })
  const plan = futureInstallments(boat.aggregate)
  expect(boat.amounts).toEqual(Array.from({ length: 11 }, () => '102.00'))
  const [fee] = boat.aggregate.fees.keys()
  await boat.changeFees({ reverseFees: [fee] })
  expect(boat.billed.at(-1)!.slice(0, 2)).toEqual(['other', -2_400])
  expect(futureInstallments(boat.aggregate)).toEqual(plan)
  expectItemsSumToCharges(boat.loaded)
  expectBillsMatchPrice(boat.loaded)
  expectChargesBilledOnce(boat.loaded)
})
