// The input of a plugin that splits amounts (brief 3.2, 5.6, getProrationResult): a boat's year of 1,200.00 from March 1, 2030 in
// UTC. The plugin leaves half of each amount on either side.
import { describe, expect, it } from 'vitest'
import type { ProrationInput } from '../../src/extension/plugins/contract.ts'
import { mayHoldBack } from '../../src/policy/fold/splits.ts'
import type { Modification } from '../../src/policy/records/aggregate.ts'
import { BoatInUtc, type BoatTerms, utc } from '../support/boat-in-utc.ts'
import '../../src/transactions/kinds.ts'

const day = (timestamp: string): string => new Date(Number(timestamp)).toISOString().slice(0, 10)

/**
 * Issues a policy and records the calls of its plugin: the time of the split, and for each amount its type, value, start and
 * following amount.
 */
async function splitting(terms: BoatTerms = {}) {
  const calls: unknown[] = []
  const features = { 'property.endorsement.policy.end.enabled': true }
  const boat = await BoatInUtc.issued({
    schedule: 'upfront',
    files: { 'config.json': JSON.stringify({ timezone: 'UTC', currency: 'EUR', features }) },
    ...terms,
    plugins: () => ({
      getProrationResult: ({ segmentSplitTimestamp, items }: ProrationInput) => {
        const asked = items.map(one => [
          one.type,
          one.amount,
          day(one.segmentStartTimestamp),
          one.followingAmount,
        ])
        calls.push([day(segmentSplitTimestamp), asked])
        return {
          items: items.map(one => ({
            id: one.id,
            proratedAmount:
              one.segmentStartTimestamp === segmentSplitTimestamp ? '0' : (Number(one.amount) / 2).toFixed(2),
          })),
        }
      },
    }),
  })
  const { product } = boat.loaded
  const plugins = { getProrationResult: { path: 'main/splits.js', enabled: true } }
  boat.loaded = { ...boat.loaded, product: { ...product, plugins } }
  return { boat, calls }
}

describe('The proration plugin', () => {
  it('receives the peril’s premium after the split segment as followingAmount of a cancellation', async () => {
    const { boat, calls } = await splitting()
    await boat.endorse('2030-10-01', '2400')
    await boat.cancel('2030-07-15')
    expect(calls).toEqual([
      ['2030-10-01', [['premium', '1200.00', '2030-03-01', '0.00']]],
      // Half of it was left, and five months of 2,400.00 follow.
      ['2030-07-15', [['premium', '600.00', '2030-03-01', '1000.00']]],
    ])
  })

  it('receives the premium of a renewal that the cancellation also removes as followingAmount', async () => {
    const { boat, calls } = await splitting()
    await boat.renew('2032-03-01')
    await boat.cancel('2030-07-15')
    expect(calls).toEqual([['2030-07-15', [['premium', '1200.00', '2030-03-01', '1200.00']]]])
  })

  it('receives the fee of a renewal that the cancellation also removes, once, with the fee of that name', async () => {
    const { boat, calls } = await splitting({ fees: { mooring: 60 } })
    const fee = { feeName: 'mooring', amount: '30.00', startTimestamp: utc('2030-04-01') }
    await boat.changeFees({ newFees: [{ ...fee, endTimestamp: utc('2031-03-01') }] })
    await boat.renew('2032-03-01')
    await boat.cancel('2030-07-15')
    expect(calls).toEqual([
      [
        '2030-07-15',
        [
          ['premium', '1200.00', '2030-03-01', '1200.00'],
          ['fee', '60.00', '2030-03-01', '60.00'],
          ['fee', '30.00', '2030-04-01', '0.00'],
        ],
      ],
    ])
  })

  it('receives all amounts, including fees, of a cancellation from the start, which may hold back a part', async () => {
    const { boat, calls } = await splitting({ fees: { mooring: 60 } })
    await boat.cancel('2030-03-01')
    expect(calls).toEqual([
      [
        '2030-03-01',
        [
          ['premium', '1200.00', '2030-03-01', '0.00'],
          ['fee', '60.00', '2030-03-01', '0.00'],
        ],
      ],
    ])
  })

  it('receives for a reinstatement with a gap the amounts taken back from the cancellation on', async () => {
    const { boat, calls } = await splitting()
    const cancellation = await boat.cancel('2030-10-15')
    await boat.reinstate(cancellation, '2030-12-01')
    expect(calls.slice(1)).toEqual([['2030-12-01', [['premium', '600.00', '2030-10-15', '0.00']]]])
  })

  it('is called for the change and for the end, with fees, by an endorsement that ends the policy earlier', async () => {
    const { boat, calls } = await splitting({ fees: { mooring: 60 } })
    await boat.endorse('2030-08-20', '600', { newPolicyEndTimestamp: utc('2030-09-01') })
    expect(calls).toEqual([
      ['2030-08-20', [['premium', '1200.00', '2030-03-01', '0.00']]],
      ['2030-09-01', [['fee', '60.00', '2030-03-01', '0.00']]],
    ])
  })

  it('is not called for amounts of zero, or ones that begin after the cancellation', async () => {
    const { boat, calls } = await splitting({ yearly: '0' })
    await boat.renew('2032-03-01')
    await boat.endorse('2031-03-01', '1200')
    await boat.cancel('2030-10-15')
    expect(calls).toEqual([])
  })
})

it('only a cancellation with a cancellation type can hold back amounts', () => {
  const ofKind = (kind: Modification['kind'], cancellationName?: string): boolean =>
    mayHoldBack({ kind, cancellationName } as Modification)
  expect([ofKind('cancellation', 'sold'), ofKind('cancellation'), ofKind('lapse', 'sold')]).toEqual([
    true,
    false,
    false,
  ])
})
