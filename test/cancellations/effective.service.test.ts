// A cancellation emits cancellation.effective once, at the time when cover ends (brief 9).
import { beforeAll, expect, it } from 'vitest'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import { callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutLapses } from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

const DAY_MS = 86_400_000

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('effective', motorWithoutLapses())
})

const send = <Body>(method: string, path: string, body?: object) =>
  callOk<Body>(method, path, { token: motor.token, body })

async function issued(): Promise<PolicyResponse> {
  const { body } = await motor.createPolicy({
    policyStartTimestamp: undefined,
    policyEndTimestamp: undefined,
  })
  return await send('POST', `/policy/${body.locator}/issue`)
}

const cancel = (policy: PolicyResponse, effectiveTimestamp: number) =>
  send<CancellationResponse>('POST', `/policies/${policy.locator}/cancellations`, {
    name: 'customer_request',
    cancellationCategory: 'other',
    effectiveTimestamp,
    issue: true,
  })

const reinstate = ({ locator }: CancellationResponse) =>
  send('PATCH', `/cancellations/${locator}/reinstate`, { issue: true })

type StreamEvent = { data: Record<string, string> }

async function eventsOf(
  policy: PolicyResponse,
  type = 'cancellation.effective',
): Promise<StreamEvent['data'][]> {
  const path = `/eventstream/events?eventType=${type}`
  const { events } = await send<{ events: StreamEvent[] }>('GET', path)
  return events.map(({ data }) => data).filter(data => data.policyLocator === policy.locator)
}

it('cancellation.effective is emitted when a cancellation takes effect, or immediately for a past time', async () => {
  const soon = Date.now() + 10 * DAY_MS
  const [kept, late, brought, moved] = [await issued(), await issued(), await issued(), await issued()]
  const first = await cancel(kept, soon)
  const past = await cancel(late, Date.now())
  // After a reinstatement cover continues. Cancelled again for the same time, it ends there once.
  await reinstate(await cancel(brought, soon))
  await reinstate(await cancel(moved, soon))
  const again = await cancel(moved, soon)
  expect(await eventsOf(kept)).toEqual([])
  expect(await eventsOf(late)).toMatchObject([{ cancellationLocator: past.locator }])
  await send('POST', '/test/clock', { advance: { amount: 11, unit: 'day' } })
  expect(await eventsOf(kept)).toEqual([
    {
      policyLocator: kept.locator,
      policyholderLocator: kept.policyholderLocator,
      productName: 'private_motor',
      cancellationLocator: first.locator,
      cancellationName: 'customer_request',
      effectiveTimestamp: String(soon),
      modificationLocator: expect.any(String),
      modificationName: 'modification.policy.cancel',
    },
  ])
  expect(await eventsOf(late)).toHaveLength(1)
  expect(await eventsOf(brought)).toEqual([])
  expect(await eventsOf(moved)).toMatchObject([{ cancellationLocator: again.locator }])
})

it('after an earlier cancellation is reinstated the later one emits its event, and not policy.end', async () => {
  const later = Date.now() + 420 * DAY_MS
  const { body } = await motor.createPolicy({
    policyStartTimestamp: Date.now(),
    policyEndTimestamp: Date.now() + 500 * DAY_MS,
  })
  const policy = await send<PolicyResponse>('POST', `/policy/${body.locator}/issue`)
  const first = await cancel(policy, later)
  await reinstate(await cancel(policy, later - 100 * DAY_MS))
  await send('POST', '/test/clock', { advance: { amount: 430, unit: 'day' } })
  expect(await eventsOf(policy)).toMatchObject([
    { cancellationLocator: first.locator, effectiveTimestamp: String(later) },
  ])
  expect(await eventsOf(policy, 'policy.end')).toEqual([])
  expect(await eventsOf(policy, 'policy.end.reminder')).toEqual([])
})

it('reinstating after the later cancellation’s time emits its event once, immediately', async () => {
  const at = (days: number): number => start + days * DAY_MS
  const start = Date.now() + 500 * DAY_MS
  await send('POST', '/test/clock', { timestamp: start })
  const policyOf = async () => {
    const span = { policyStartTimestamp: start, policyEndTimestamp: at(300) }
    const { body } = await motor.createPolicy(span)
    return await send<PolicyResponse>('POST', `/policy/${body.locator}/issue`)
  }
  const [policy, withGap, thrice] = [await policyOf(), await policyOf(), await policyOf()]
  const first = await cancel(policy, at(100))
  const second = await cancel(policy, at(50))
  const other = await cancel(withGap, at(100))
  const otherSecond = await cancel(withGap, at(50))
  const chain = [await cancel(thrice, at(100)), await cancel(thrice, at(80)), await cancel(thrice, at(50))]
  await send('POST', '/test/clock', { timestamp: at(120) })
  for (const one of [policy, withGap, thrice]) expect(await eventsOf(one)).toHaveLength(1)
  // The cover that comes back ended at the time of the first cancellation, 20 days ago.
  await reinstate(second)
  await send('PATCH', `/cancellations/${otherSecond.locator}/reinstate`, {
    issue: true,
    effectiveTimestamp: at(60),
  })
  expect(await eventsOf(policy)).toMatchObject([
    { cancellationLocator: second.locator },
    { cancellationLocator: first.locator, effectiveTimestamp: String(at(100)) },
  ])
  expect((await eventsOf(withGap)).map(one => one.cancellationLocator)).toEqual([
    otherSecond.locator,
    other.locator,
  ])
  // Cancelled for the past and reinstated again, the cover has already ended by the first cancellation.
  await reinstate(await cancel(policy, at(40)))
  expect((await eventsOf(policy)).map(one => one.effectiveTimestamp)).toEqual(
    [50, 100, 40].map(days => String(at(days))),
  )
  await reinstate(chain[2]!)
  await reinstate(chain[1]!)
  expect((await eventsOf(thrice)).map(one => one.effectiveTimestamp)).toEqual(
    [50, 80, 100].map(days => String(at(days))),
  )
  // Each is reported after the reinstatement that restored its cover.
  const { events } = await send<{ events: (StreamEvent & { type: string })[] }>(
    'GET',
    `/eventstream/events?startTimestamp=${start}&pageSize=1000`,
  )
  const types = events.filter(({ data }) => data.policyLocator === thrice.locator).map(({ type }) => type)
  const back = types.filter(type => /effective|reinstatement.issue/.test(type))
  expect(back.slice(-4)).toEqual(
    Array.from({ length: 2 }, () => ['reinstatement.issue', 'cancellation.effective']).flat(),
  )
  expect(await eventsOf(policy, 'policy.end')).toEqual([])
})
