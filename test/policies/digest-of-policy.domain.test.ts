// The state of a policy that a preview depends on: every transaction, bill and payment, but no document.
import { describe, expect, it } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import type { PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import type { PolicyDocument } from '../../src/policy/records/transactions.ts'
import { digestOfPolicy } from '../../src/transactions/mechanism/preview-token.ts'
import { RefusedPayOut } from '../../src/transactions/payments/kind.ts'
import { BoatInUtc } from '../support/boat-in-utc.ts'

const digestOf = (boat: BoatInUtc): string => digestOfPolicy(boat.aggregate)

/** The records in another order, as another read might return them. */
const turned = (aggregate: PolicyAggregate): PolicyAggregate =>
  Object.fromEntries(
    Object.entries(aggregate).map(([name, value]) => [
      name,
      value instanceof Map ? new Map([...value].reverse()) : value,
    ]),
  ) as PolicyAggregate

describe('The digest of a policy', () => {
  it('changes with a payment and a cancellation, and does not depend on the order of records', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'upfront' })
    const digests = [digestOf(boat)]
    await boat.pay(boat.invoices[0]!, { amount: '500.00' })
    digests.push(digestOf(boat))
    await boat.cancel('2030-09-01')
    digests.push(digestOf(boat))
    expect(new Set(digests).size).toBe(3)
    expect(digestOfPolicy(turned(boat.aggregate))).toBe(digests.at(-1))
  })

  it('changes when a payout is rejected, because that writes the refund off', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'upfront' })
    boat.writeOff(boat.invoices[0]!)
    await boat.cancel('2030-09-01')
    const before = digestOf(boat)
    await expect(boat.pay(boat.invoices.at(-1)!, { source: 'credit' })).rejects.toBeInstanceOf(RefusedPayOut)
    expect(digestOf(boat)).not.toBe(before)
  })

  it('does not change with documents or with the version that they raise', async () => {
    const boat = await BoatInUtc.issued()
    const { policy, documents } = boat.aggregate
    const made = {
      locator: 'made',
      state: 'ready',
      updatedAt: (boat.now + 1) as Instant,
    } as unknown as PolicyDocument
    const after: PolicyAggregate = {
      ...boat.aggregate,
      policy: { ...policy, version: policy.version + 1 },
      documents: new Map(documents).set(made.locator, made),
    }
    expect(digestOfPolicy(after)).toBe(digestOf(boat))
  })
})
