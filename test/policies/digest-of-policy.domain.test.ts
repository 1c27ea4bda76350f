// What of a policy a preview rests on: every transaction, bill and payment, and no document.
import { describe, expect, it } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import type { PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import type { PolicyDocument } from '../../src/policy/records/transactions.ts'
import { digestOfPolicy } from '../../src/transactions/mechanism/preview-token.ts'
import { RefusedPayOut } from '../../src/transactions/payments/kind.ts'
import { BoatInUtc } from '../support/boat-in-utc.ts'

const digestOf = (boat: BoatInUtc): string => digestOfPolicy(boat.aggregate)

/** The records in another order, as another read might give them. */
const turned = (aggregate: PolicyAggregate): PolicyAggregate =>
  Object.fromEntries(
    Object.entries(aggregate).map(([name, value]) => [
      name,
      value instanceof Map ? new Map([...value].reverse()) : value,
    ]),
  ) as PolicyAggregate

describe('what a preview rests on', () => {
  it('changes with a payment, a cancellation and its reinstatement', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'upfront' })
    const digests = [digestOf(boat)]
    await boat.pay(boat.invoices[0]!, { amount: '500.00' })
    digests.push(digestOf(boat))
    await boat.cancel('2030-09-01')
    digests.push(digestOf(boat))
    expect(new Set(digests).size).toBe(3)
    expect(digestOfPolicy(turned(boat.aggregate))).toBe(digests.at(-1))
  })

  it('changes with a pay-out that is refused, since that writes the refund off', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'upfront' })
    boat.writeOff(boat.invoices[0]!)
    await boat.cancel('2030-09-01')
    const before = digestOf(boat)
    await expect(boat.pay(boat.invoices.at(-1)!, { source: 'credit' })).rejects.toBeInstanceOf(RefusedPayOut)
    expect(digestOf(boat)).not.toBe(before)
  })

  it('does not change with documents, nor with the version that they raise', async () => {
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
