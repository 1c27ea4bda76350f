// The deadline for accepting a reinstatement (brief 1.6), here 30 days by the type of the cancellation.
import { describe, expect, it } from 'vitest'
import type { CancellationLocator } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { decideReinstatement } from '../../src/transactions/reinstatements/decision.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'

const HOUR_MS = 3_600_000

/** Cancels on May 1 at 01:00, as of October 1. */
async function cancelled(defaultDeadlineDays = 30): Promise<[BoatInUtc, CancellationLocator]> {
  const cancellationTypes = [{ name: 'sold', title: 'Sold', reinstatement: { defaultDeadlineDays } }]
  const files = { 'products/boat/policy/cancellations.json': JSON.stringify({ cancellationTypes }) }
  const boat = await BoatInUtc.issued({ files })
  await boat.advance('2030-05-01')
  return [boat, await boat.cancel('2030-10-01')]
}

const draft = async (boat: BoatInUtc, cancellation: CancellationLocator, deadline?: number) => {
  const request = {
    effectiveTimestamp: undefined,
    reinstatementDeadlineTimestamp: deadline as Instant | undefined,
    issue: false,
  }
  const operation = { action: 'create' as const, cancellation, request }
  const { planned, reinstatement } = await decideReinstatement(boat.loaded, operation, boat.attempt)
  await boat.record(planned)
  return boat.aggregate.reinstatements.get(reinstatement)!
}

describe('A reinstatement', () => {
  it('has the deadline of its cancellation type by default, counted from its creation', async () => {
    const deadline = utc('2030-05-31') + HOUR_MS
    expect((await draft(...(await cancelled()))).deadlineAt).toBe(deadline)
    expect((await draft(...(await cancelled()), deadline + 1)).deadlineAt).toBe(deadline + 1)
  })

  it('is rejected with a deadline that is not in the future', async () => {
    const [boat, cancellation] = await cancelled()
    await expect(draft(boat, cancellation, boat.now)).rejects.toMatchObject({ code: 'invalidRequest' })
    await draft(boat, cancellation, boat.now + 1)
  })

  it('needs a deadline in the request when the type allows no days, and the message says so', async () => {
    const [boat, cancellation] = await cancelled(0)
    await expect(draft(boat, cancellation)).rejects.toMatchObject({
      code: 'invalidRequest',
      message: `The deadline of a reinstatement must be in the future, but ${boat.now} is not; send a later reinstatementDeadlineTimestamp.`,
    })
    await draft(boat, cancellation, boat.now + 1)
  })

  it('can be accepted until just before its deadline, but not at it', async () => {
    const [boat, cancellation] = await cancelled()
    const { locator, deadlineAt } = await draft(boat, cancellation)
    boat.now = deadlineAt!
    await expect(boat.onReinstatement('accept', locator)).rejects.toMatchObject({ code: 'wrongState' })
    boat.now = (deadlineAt! - 1) as Instant
    await boat.onReinstatement('accept', locator)
    expect(boat.aggregate.reinstatements.get(locator)!.state).toBe('accepted')
  })
})
