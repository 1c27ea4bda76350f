// A conflicting transaction leads to a rejection that says what the request can do about it (brief 2.4). A year from March 1, 2030
// in UTC.
import { describe, expect, it } from 'vitest'
import { decideCancellation } from '../../src/transactions/cancellations/decision.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import { RenewalCreateRequest } from '../../src/transactions/renewals/contract.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'
import { inState } from '../support/policy-story.ts'
import '../../src/transactions/kinds.ts'

const quoted = async (): Promise<BoatInUtc> => {
  const boat = await BoatInUtc.issued()
  await boat.endorse('2030-06-01', '2400', { state: 'quoted' })
  return boat
}

describe('When a quoted endorsement conflicts,', () => {
  it('a renewal created as quoted is told to use PATCH with conflictHandling=invalidate, which works', async () => {
    const boat = await quoted()
    const request = (state: 'application' | 'quoted') =>
      RenewalCreateRequest.parse({ renewalEndTimestamp: utc('2032-03-01'), state })
    await expect(
      decideEndorsement(boat.loaded, { action: 'renew', request: request('quoted') }, boat.attempt),
    ).rejects.toThrow(
      /Invalidate them, or create the renewal as an application, then quote, accept or issue it with PATCH \/renewals\/\{renewalLocator\} and conflictHandling=invalidate\.$/,
    )
    const { planned, endorsement } = await decideEndorsement(
      boat.loaded,
      { action: 'renew', request: request('application') },
      boat.attempt,
    )
    await boat.record(planned)
    const issue = { action: 'issue', endorsement, conflictHandling: 'invalidate' } as const
    await boat.record((await decideEndorsement(boat.loaded, issue, boat.attempt)).planned)
    expect(inState(boat.aggregate.endorsements, 'invalidated')).toHaveLength(1)
    expect(boat.aggregate.policy.effectiveEnd).toBe(utc('2032-03-01'))
  })

  it('a change of the payment schedule is only told to invalidate it first', async () => {
    const boat = await quoted()
    await expect(boat.reschedule('quarterly')).rejects.toThrow(/Invalidate them first\.$/)
  })

  it('issuing a cancellation is told to set conflictHandling=invalidate on the cancellation', async () => {
    const boat = await quoted()
    const request = {
      effectiveTimestamp: utc('2030-08-01'),
      name: 'sold',
      conflictHandling: 'block' as const,
      cancellationCategory: undefined,
      issue: true,
    }
    await expect(
      decideCancellation(boat.loaded, { action: 'create', request }, boat.attempt),
    ).rejects.toThrow(/create or change the cancellation with conflictHandling=invalidate\.$/)
  })
})
