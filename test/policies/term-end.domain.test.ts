import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../src/kernel/locators.ts'
import { type Instant, localParts } from '../../src/kernel/time.ts'
import { PolicyCreateRequest } from '../../src/policy/contract/requests.ts'
import type { Modification, PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import { decideCreation, decideIssue } from '../../src/transactions/new-business/decision.ts'
import {
  decideTermEnd,
  newEndTimers,
  readTermEndNotice,
  termEndTimers,
} from '../../src/transactions/term-end.ts'
import { newPolicyContextOf, plentyOfLocators, workedPolicies } from '../support/configurations.ts'

const NOW = Date.UTC(2026, 10, 21, 12) as Instant
const DAY_MS = 86_400_000

const worked = workedPolicies('motor')[0]!
const ground = newPolicyContextOf('motor', 'private_motor', worked.request.policyholder.values, NOW)
const { product, timeZone } = ground
const attempt = {
  now: NOW,
  supply: plentyOfLocators(),
  digits: async () => plentyOfLocators(),
}

let finalized: PolicyAggregate
let issued: PolicyAggregate
let end: Instant

beforeAll(async () => {
  const request = PolicyCreateRequest.parse({ ...worked.request.policy, policyholderLocator: 'unused' })
  finalized = (await decideCreation(request, ground, attempt)).aggregate
  issued = (await decideIssue({ ...ground, aggregate: finalized }, attempt)).aggregate
  end = issued.policy.effectiveEnd
})

const endingAt = (at: number): PolicyAggregate => ({
  ...issued,
  policy: { ...issued.policy, effectiveEnd: at as Instant },
})
const firing = (aggregate: PolicyAggregate, now: number = end, reminder?: string) =>
  decideTermEnd(aggregate, product, { end, ...(reminder !== undefined && { reminder }) }, now as Instant)

describe('The timers of a policy’s end', () => {
  it('are set at issue: one for each reminder, days before the end, and one for the end', async () => {
    const { timers = [] } = await decideIssue({ ...ground, aggregate: finalized }, attempt)
    expect(timers.filter(timer => timer.kind.startsWith('policy.end')).map(readTermEndNotice)).toEqual([
      { end, reminder: 'renewal_offer' },
      { end, reminder: 'last_call' },
      { end },
    ])
  })

  it('count calendar days, and keep the time of day across a change of clocks', () => {
    const summer = endingAt(Date.UTC(2027, 3, 5, 10))
    const [offer, last] = termEndTimers(summer.policy, product, NOW)
    const hours = [offer, last].map(timer => localParts(timer!.dueAt, timeZone).hour)
    expect(hours).toEqual([12, 12])
    expect(summer.policy.effectiveEnd - offer!.dueAt).toBe(42 * DAY_MS - 3_600_000)
  })

  it('are only those still to come', () => {
    const left = (now: number) => termEndTimers(issued.policy, product, now as Instant).length
    expect([end - 43 * DAY_MS, end - 42 * DAY_MS, end - 7 * DAY_MS, end].map(left)).toEqual([3, 2, 1, 0])
  })

  it('are the same timers when set again, and different ones for another end', () => {
    const locators = (policy: PolicyAggregate['policy']) =>
      termEndTimers(policy, product, NOW).map(timer => timer.locator)
    expect(locators(issued.policy)).toEqual(locators(issued.policy))
    const all = [...locators(issued.policy), ...locators(endingAt(end + DAY_MS).policy)]
    expect(new Set(all).size).toBe(6)
  })
})

describe('A transaction that may move the end', () => {
  const set = (former: Instant | undefined, now: number) =>
    newEndTimers(issued.policy, former, product, now as Instant).map(timer => [timer.kind, timer.dueAt - end])

  it('sets no timers for an unchanged end', () => {
    expect(set(end, NOW)).toEqual([])
  })

  it('reports a new end that has passed immediately, without its reminders', () => {
    expect(set((end - DAY_MS) as Instant, end + DAY_MS)).toEqual([['policy.end', 0]])
  })
})

describe('A timer of a policy’s end', () => {
  it('emits policy.end or policy.end.reminder', () => {
    expect(firing(issued)?.events).toMatchObject([
      { type: 'policy.end', policyLocator: issued.policy.locator, data: { endTimestamp: String(end) } },
    ])
    expect(firing(issued, end - 7 * DAY_MS, 'last_call')?.events).toMatchObject([
      { type: 'policy.end.reminder', data: { endTimestamp: String(end), reminderName: 'last_call' } },
    ])
  })

  it('emits nothing for a policy that is not issued or has ended earlier', () => {
    expect(firing(finalized)).toBeUndefined()
    expect(firing(endingAt(end - 1))).toBeUndefined()
  })

  it('emits nothing when the policy ended by a cancellation, or a lapse not yet reinstated', () => {
    const [creation] = issued.modifications.values()
    const more = (own: Partial<Modification>): Modification => ({ ...creation!, locator: newUuid(0), ...own })
    const told = (...added: Modification[]) => {
      const all = added.map(one => [one.locator, one] as const)
      return firing({ ...issued, modifications: new Map([...issued.modifications, ...all]) })?.events.length
    }
    const lapse = more({ kind: 'lapse', policyEnd: end })
    const back = more({ kind: 'reinstatement', undoes: lapse.locator })
    expect(told(more({ kind: 'cancellation', policyEnd: end }))).toBeUndefined()
    expect(told(lapse)).toBeUndefined()
    expect(told(lapse, { ...back, issuedAt: undefined })).toBeUndefined()
    expect(told(lapse, back)).toBe(1)
  })

  it('emits no reminder that the policy’s configuration no longer has, as after an upgrade', () => {
    const [offer] = product.endReminders
    const without = { ...product, endReminders: [offer!] }
    const due = (reminder?: string) =>
      decideTermEnd(issued, without, { end, ...(reminder !== undefined && { reminder }) }, end)?.events.length
    expect([due('last_call'), due(offer!.name), due()]).toEqual([undefined, 1, 1])
  })

  it('sets the remaining timers of an end that has moved later', () => {
    const moved = firing(endingAt(end + 30 * DAY_MS))
    expect(moved?.events).toEqual([])
    expect(moved?.timers?.map(timer => [timer.kind, timer.dueAt - end])).toEqual([
      ['policy.end.reminder', 23 * DAY_MS],
      ['policy.end', 30 * DAY_MS],
    ])
    expect(firing(endingAt(end + 1), end + 2)).toBeUndefined()
  })
})
