// The end of grace that a product's plugin sets for an invoice that is unpaid again (brief 5.6, getPostPaymentReversal). A boat's
// year from March 1, 2030 in UTC, billed upfront.
import { describe, expect, it } from 'vitest'
import { planReversal, planVoidInvoices } from '../../src/billing/payments.ts'
import type { PostPaymentReversalInput } from '../../src/extension/plugins/contract.ts'
import type { Instant } from '../../src/kernel/time.ts'
import type { Payment } from '../../src/policy/records/invoice.ts'
import type { Planned } from '../../src/policy/transitions.ts'
import { withConsequences } from '../../src/transactions/object/consequences.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'
import { attemptAt } from '../support/policy-story.ts'

const payments = ({ aggregate }: BoatInUtc): Payment[] => [...aggregate.payments.values()]

/** The plugin's input when the plan is recorded, and the end of grace of each invoice then. */
async function graceEnds({ loaded, aggregate: before, now }: BoatInUtc, plan: Planned, endAt?: Instant) {
  const asked: PostPaymentReversalInput[] = []
  const product = {
    ...loaded.product,
    lapse: { ...loaded.product.lapse, gracePeriodDays: 10 },
    plugins: { getPostPaymentReversal: { path: 'grace.js', enabled: true } },
  }
  const attempt = attemptAt(now, {
    getPostPaymentReversal: (input: PostPaymentReversalInput) => {
      asked.push(input)
      return endAt === undefined ? {} : { gracePeriodEndTimestamp: String(endAt) }
    },
  })
  const { after } = await withConsequences(before, { ...loaded, product }, plan, attempt, {
    isAttended: true,
    withMedia: async aggregate => aggregate,
  })
  return { asked, ends: [...after.invoices.values()].map(one => one.graceEndAt) }
}

describe('The end of grace set by a plugin', () => {
  it('is requested for the unpaid invoice of a reversed offset, not for the refund', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'upfront' })
    await boat.cancel('2030-09-01')
    const [out, into] = payments(boat)
    expect([out!.source, out!.amount.minor, into!.amount.minor]).toEqual(['offset', -60_000, 60_000])
    const plan = planReversal(boat.aggregate, into!, boat.now)
    const { asked, ends } = await graceEnds(boat, plan, utc('2030-04-01'))
    expect(asked).toMatchObject([
      { operationType: 'payment_reversal', paymentLocator: into!.locator, invoiceAmount: '1200.00' },
    ])
    expect(ends).toEqual([utc('2030-04-01'), undefined])
  })

  it('is never before the invoice’s new due time, and one before the reversal is rejected', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'upfront' })
    await boat.pay(boat.invoices[0]!)
    const plan = planReversal(boat.aggregate, payments(boat)[0]!, boat.now)
    const { ends } = await graceEnds(boat, plan, boat.now)
    const [unpaid] = plan.aggregate.invoices.values()
    expect(unpaid!.dueAt).toBeGreaterThan(boat.now)
    expect(ends).toEqual([unpaid!.dueAt])
    await expect(graceEnds(boat, plan, (boat.now - 1) as Instant)).rejects.toThrow('is before the reversal')
  })

  it('is also set on an invoice that the surplus of a reversed payment had paid', async () => {
    const boat = await BoatInUtc.issued()
    const surplus = await boat.pay(boat.invoices[0]!, { amount: '200.00' })
    await boat.advance('2030-04-01')
    const fromCredit = payments(boat).at(-1)!
    expect([fromCredit.source, fromCredit.amount.minor]).toEqual(['credit', 10_000])
    const reversed = boat.aggregate.payments.get(surplus)!
    const plan = planReversal(boat.aggregate, reversed, boat.now)
    const { asked, ends } = await graceEnds(boat, plan, utc('2030-04-20'))
    expect(asked.map(one => one.paymentLocator)).toEqual([surplus, fromCredit.locator])
    expect(ends).toEqual([utc('2030-04-20'), utc('2030-04-20')])
  })

  it('is not set on a void invoice', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'upfront' })
    await boat.pay(boat.invoices[0]!)
    const plan = planVoidInvoices(boat.aggregate, boat.invoices, boat.now)
    const { asked, ends } = await graceEnds(boat, plan, utc('2030-04-01'))
    expect(asked.map(one => one.operationType)).toEqual(['payment_invalidation'])
    expect(ends).toEqual([undefined])
  })
})
