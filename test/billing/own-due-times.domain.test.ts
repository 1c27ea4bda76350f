// When invoices are due whose installments a plugin planned (brief 4.2): as it said, however late they are made. But what a
// change kept back, or what is made again, is never past due when it is made. A year from March 1, 2030 in UTC by the month.
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

/** The due days of what an outage until the morning of May 10 had kept back. */
async function madeOnMay10(boat: BoatInUtc): Promise<string[]> {
  boat.now = (utc('2030-05-10') + 9 * 3_600_000) as Instant
  await boat.record(await decideInvoicing(boat.loaded, boat.attempt))
  return boat.invoices
    .filter(one => one.createdAt === boat.now)
    .map(one => new Date(one.dueAt).toISOString().slice(0, 10))
}

it('invoices that an outage kept back are due when the plugin said', async () => {
  expect(await madeOnMay10(await planned())).toEqual(['2030-04-01', '2030-05-01'])
})

it('invoices that a change kept back, which then came to nothing, are due by the end of the day', async () => {
  const boat = await planned()
  await boat.endorse('2030-03-15', '1400', { state: 'accepted' })
  const [endorsement] = boat.aggregate.endorsements.keys()
  await boat.record(
    (await decideEndorsement(boat.loaded, { action: 'invalidate', endorsement: endorsement! }, boat.attempt))
      .planned,
  )
  expect(await madeOnMay10(boat)).toEqual(['2030-05-10', '2030-05-10'])
})

it('an invoice that is made again because the first one is void is due by the end of the day', async () => {
  const boat = await planned()
  await boat.advance('2030-04-02')
  const [, april] = boat.invoices
  await boat.record(planVoidInvoices(boat.aggregate, [april!], boat.now))
  expect(await madeOnMay10(boat)).toEqual(['2030-05-10', '2030-05-01'])
})
