// Invoices of a transaction that comes to nothing (brief 1.3, 1.4): they become void, those that were settled without money too,
// and their payments are taken back.
import { describe, expect, it } from 'vitest'
import { planVoidInvoices } from '../../src/billing/payments.ts'
import { invoiceStatus } from '../../src/policy/records/invoice.ts'
import { BoatInUtc } from '../support/boat-in-utc.ts'

/** Status of each invoice once all are void, and what is told of it. */
function voided({ aggregate, invoices, now }: BoatInUtc) {
  const planned = planVoidInvoices(aggregate, invoices, now)
  return {
    statuses: [...planned.aggregate.invoices.values()].map(invoiceStatus),
    told: planned.events.map(one => [one.type, one.data.amount ?? one.data.totalDue]),
  }
}

/** A year of 1,200.00, of which 500.00 were paid and the rest was written off, then withdrawn. */
async function withdrawn(): Promise<BoatInUtc> {
  const boat = await BoatInUtc.issued({ schedule: 'upfront' })
  await boat.pay(boat.invoices[0]!, { amount: '500.00' })
  boat.writeOff(boat.invoices[0]!)
  await boat.withdraw()
  return boat
}

/** What is told of the first invoice. */
const THE_YEAR = [
  ['payment.reverse', '500.00'],
  ['invoice.invalidate', '1200.00'],
]

describe('an invoice that was written off, of a transaction that comes to nothing,', () => {
  it('is void where it asked for money, of which 500.00 were paid, and where it is a refund of which nothing went out', async () => {
    const boat = await withdrawn()
    boat.writeOff(boat.invoices.at(-1)!)
    expect(voided(boat)).toEqual({
      statuses: ['invalidated', 'invalidated'],
      told: [...THE_YEAR, ['invoice.invalidate', '-1200.00']],
    })
  })

  it('is void where it is a refund that went out in part: the 500.00 come back', async () => {
    const boat = await withdrawn()
    await boat.pay(boat.invoices.at(-1)!)
    expect(boat.billed.at(-1)).toEqual(['cancellation', -120_000, 0, 'writtenOff'])
    expect(voided(boat)).toEqual({
      statuses: ['invalidated', 'invalidated'],
      told: [...THE_YEAR, ['payment.reverse', '-500.00'], ['invoice.invalidate', '-1200.00']],
    })
  })
})
