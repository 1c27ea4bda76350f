// Due times of invoices whose installments a plugin planned (brief 4.2): as the plugin said, however late they are created.
// Invoices that a change held back, or that are created again, are never past due at creation. A year from March 1, 2030 in UTC,
// billed monthly.
import { expect, it } from 'vitest'
import { decideInvoicing } from '../../src/billing/billing.ts'
import { planVoidInvoices } from '../../src/billing/payments.ts'
import type { InstallmentsInput } from '../../src/extension/plugins/contract.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'
import { ownBillsFiles } from '../support/own-bills.ts'
import { pairingBills } from '../support/pairing-bills.ts'
import '../../src/transactions/kinds.ts'

const planned = (): Promise<BoatInUtc> =>
  BoatInUtc.issued({
    files: ownBillsFiles('exports.createInstallments = () => ({})'),
    plugins: now => ({ createInstallments: (input: InstallmentsInput) => pairingBills(input, now) }),
  })

/** The due days of the invoices created after an outage that ended on the morning of May 10. */
async function madeOnMay10(boat: BoatInUtc): Promise<string[]> {
  boat.now = (utc('2030-05-10') + 9 * 3_600_000) as Instant
  await boat.record(await decideInvoicing(boat.loaded, boat.attempt))
  return boat.invoices
    .filter(one => one.createdAt === boat.now)
    .map(one => new Date(one.dueAt).toISOString().slice(0, 10))
}

it('invoices delayed by an outage are due when the plugin said', async () => {
  expect(await madeOnMay10(await planned())).toEqual(['2030-04-01', '2030-05-01'])
})

it('invoices that a change held back until it was invalidated are due at the end of the day', async () => {
  const boat = await planned()
  await boat.endorse('2030-03-15', '1400', { state: 'accepted' })
  const [endorsement] = boat.aggregate.endorsements.keys()
  await boat.record(
    (await decideEndorsement(boat.loaded, { action: 'invalidate', endorsement: endorsement! }, boat.attempt))
      .planned,
  )
  expect(await madeOnMay10(boat)).toEqual(['2030-05-10', '2030-05-10'])
})

it('an invoice created again because the first is void is due at the end of the day', async () => {
  const boat = await planned()
  await boat.advance('2030-04-02')
  const [, april] = boat.invoices
  await boat.record(planVoidInvoices(boat.aggregate, [april!], boat.now))
  expect(await madeOnMay10(boat)).toEqual(['2030-05-10', '2030-05-01'])
})
