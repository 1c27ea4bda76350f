// Invoices of a transaction that is taken back (brief 1.3, 1.4). They become void, including those settled without money, and
// their payments are reversed.
import { describe, expect, it } from 'vitest'
import { planVoidInvoices } from '../../src/billing/payments.ts'
import { invoiceStatus } from '../../src/policy/records/invoice.ts'
import { BoatInUtc } from '../support/boat-in-utc.ts'

/** The status of each invoice once all are void, and the events that report it. */
function voided({ aggregate, invoices, now }: BoatInUtc) {
  const planned = planVoidInvoices(aggregate, invoices, now)
  return {
    statuses: [...planned.aggregate.invoices.values()].map(invoiceStatus),
    told: planned.events.map(one => [one.type, one.data.amount ?? one.data.totalDue]),
  }
}

/** Returns a withdrawn policy of 1,200.00 a year, of which 500.00 was paid and the rest written off. */
async function withdrawn(): Promise<BoatInUtc> {
  const boat = await BoatInUtc.issued({ schedule: 'upfront' })
  await boat.pay(boat.invoices[0]!, { amount: '500.00' })
  boat.writeOff(boat.invoices[0]!)
  await boat.withdraw()
  return boat
}

/** The events for the first invoice. */
const THE_YEAR = [
  ['payment.reverse', '500.00'],
  ['invoice.invalidate', '1200.00'],
]

describe('A written-off invoice of a transaction that is taken back', () => {
  it('is invalidated, with its payment of 500.00 reversed, like a refund that was not paid out', async () => {
    const boat = await withdrawn()
    boat.writeOff(boat.invoices.at(-1)!)
    expect(voided(boat)).toEqual({
      statuses: ['invalidated', 'invalidated'],
      told: [...THE_YEAR, ['invoice.invalidate', '-1200.00']],
    })
  })

  it('is invalidated with the payout of 500.00 reversed when it is a refund', async () => {
    const boat = await withdrawn()
    await boat.pay(boat.invoices.at(-1)!)
    expect(boat.billed.at(-1)).toEqual(['cancellation', -120_000, 0, 'writtenOff'])
    expect(voided(boat)).toEqual({
      statuses: ['invalidated', 'invalidated'],
      told: [...THE_YEAR, ['payment.reverse', '-500.00'], ['invoice.invalidate', '-1200.00']],
    })
  })
})
