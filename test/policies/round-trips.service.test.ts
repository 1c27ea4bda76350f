// Round trips, counted: the one cost that does not depend on the machine (docs/design.md, section 1).
import { evictAllDurableObjects } from 'cloudflare:test'
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { type Answer, callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { exampleFiles } from '../support/examples.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('trips', exampleFiles('motor'))
  await motor.createPolicy()
})

const monthsIn = (policy: PolicyResponse, count: number): Instant =>
  add(Number(policy.originalContractStartTimestamp) as Instant, count, 'month', 'Europe/Berlin' as TimeZone)

/** Reads the tenant, so that a token costs nothing for 5 seconds. */
const warmUp = () => motor.get('/v1/ping/authorized')

describe('Round trips', () => {
  it('a bearer token takes none within 5 seconds', async () => {
    await warmUp()
    expect(roundTrips(await motor.get('/v1/ping/authorized'))).toEqual({ d1: 0, object: 0, r2: 0, queue: 0 })
  })

  it('GET /policy/{locator} takes one D1 round trip and no Durable Object', async () => {
    const { body } = await motor.createPolicy()
    await warmUp()
    expect(roundTrips(await motor.get(`/policy/${body.locator}`))).toEqual({
      d1: 1,
      object: 0,
      r2: 0,
      queue: 0,
    })
  })

  it('POST /policy with finalize takes at most two D1 round trips and one object', async () => {
    await warmUp()
    const trips = roundTrips(await motor.createPolicy())
    expect(trips.d1).toBeLessThanOrEqual(2)
    expect(trips.object).toBe(1)
  })

  it('create, price, finalize and issue take at most 4 D1 round trips when warm', async () => {
    await warmUp()
    const created = await motor.createPolicy({ finalize: false })
    const path = `/policy/${created.body.locator}`
    const steps = [
      created,
      await motor.post(`${path}/price`),
      await motor.post(`${path}/finalize`),
      await motor.post(`${path}/issue`),
    ]
    expect(steps.map(step => step.status)).toEqual([200, 200, 200, 200])
    const d1 = steps.map(step => roundTrips(step).d1!)
    expect(d1.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(4)
  })

  it('create, price, finalize and issue take at most 7 D1 round trips when the object is always cold', async () => {
    await warmUp()
    const created = await motor.createPolicy({ finalize: false })
    const path = `/policy/${created.body.locator}`
    const steps = [created]
    for (const step of ['price', 'finalize', 'issue']) {
      await evictAllDurableObjects()
      steps.push(await motor.post(`${path}/${step}`))
    }
    expect(steps.map(step => step.status)).toEqual([200, 200, 200, 200])
    const d1 = steps.map(step => roundTrips(step).d1!)
    expect(d1.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(7)
  })

  /** The most round trips of each kind that one of the calls made, with a token that costs nothing. */
  const most = async (...calls: (() => Promise<Answer<unknown>>)[]) => {
    const trips = []
    for (const call of calls) {
      await warmUp()
      const answer = await call()
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      trips.push(roundTrips(answer))
    }
    return {
      d1: Math.max(...trips.map(one => one.d1!)),
      object: Math.max(...trips.map(one => one.object!)),
      r2: Math.max(...trips.map(one => one.r2!)),
    }
  }

  const patch = (path: string, body?: object) => callApi('PATCH', path, { token: motor.token, body })

  async function issued() {
    const { body } = await motor.createPolicy()
    const { body: policy } = await motor.post(`/policy/${body.locator}/issue`)
    return { policy, path: `/policies/${policy.locator}`, months: (count: number) => monthsIn(policy, count) }
  }

  it('prices of endorsements and renewals take one look-up when warm, and decisions on them one write more', async () => {
    const { path, months } = await issued()
    const { body: endorsement } = await motor.post(`${path}/endorsements`, {
      endorsementName: 'change_of_contact',
      startTimestamp: months(6),
    })
    const { body: renewal } = await motor.post(`${path}/renewals`, { renewalEndTimestamp: months(24) })
    expect(
      await most(
        () => motor.get(`/endorsements/${endorsement.locator}/price`),
        () => motor.get(`/endorsements/${endorsement.locator}/automatedUnderwritingResult`),
        () => motor.get(`/renewals/${renewal.locator}/price`),
      ),
    ).toEqual({ d1: 1, object: 1, r2: 0 })
    expect(
      await most(
        () => motor.post(`/endorsements/${endorsement.locator}/underwriting`, { decision: 'accept' }),
        () => motor.post(`/renewals/${renewal.locator}/underwriting`, { decision: 'accept' }),
      ),
    ).toEqual({ d1: 2, object: 1, r2: 0 })
  })

  it('issueRenewal takes one D1 round trip, and previewRenewalPrice none', async () => {
    const { policy, months } = await issued()
    const request = { renewalEndTimestamp: months(24) }
    const path = `/policy/${policy.locator}`
    expect(await most(() => motor.post(`${path}/previewRenewalPrice`, request))).toEqual({
      d1: 0,
      object: 1,
      r2: 0,
    })
    expect((await most(() => motor.post(`${path}/issueRenewal`, request))).d1).toBe(1)
  })

  it('an action on a reinstatement takes a look-up and a write, and its price one look-up', async () => {
    const { path, months } = await issued()
    const { body: cancellation } = await motor.post(`${path}/cancellations`, {
      effectiveTimestamp: months(5),
      name: 'customer_request',
      cancellationCategory: 'other',
      issue: true,
    })
    let locator = ''
    const begun = await most(async () => {
      const answer = await patch(`/cancellations/${cancellation.locator}/reinstate`, {})
      locator = (answer.body as { locator: string }).locator
      return answer
    })
    const of = `/reinstatements/${locator}`
    expect(begun.d1).toBe(2)
    expect(await most(() => motor.get(`${of}/price`))).toEqual({ d1: 1, object: 1, r2: 0 })
    const actions = await most(
      () => patch(of, { effectiveTimestamp: months(6) }),
      () => patch(`${of}/accept`),
      () => patch(`${of}/invalidate`),
      () => patch(`${of}/accept`),
      () => patch(`${of}/issue`),
    )
    expect(actions.d1).toBe(2)
    expect(await most(() => motor.get(of))).toEqual({ d1: 1, object: 0, r2: 0 })
  })

  it('each request of the console’s pages takes one D1 round trip, and the console and permissions none', async () => {
    const { policy, path } = await issued()
    const own = `/policy/${policy.locator}`
    const holder = policy.policyholderLocator
    const { body: quotes } = await motor.get<{ locator: string }[]>(`${path}/quotes`)
    const token = await motor.signIn('anna.admin')
    const events = `/event/${motor.tenantLocator}`
    const asked = async (address: string) => {
      await callApi('GET', '/v1/ping/authorized', { token })
      const answer = await callApi('GET', address, { token })
      return [address, answer.status, roundTrips(answer)] as const
    }
    for (const address of ['/console', '/auth/permissions'])
      expect(await asked(address)).toEqual([address, 200, { d1: 0, object: 0, r2: 0, queue: 0 }])
    for (const address of [
      '/products',
      '/policies?createdAfterTimestamp=0&pageSize=200',
      '/policyholders?searchField=last_name&searchPrefix=A&pageSize=20',
      `/policyholder/${holder}`,
      `/policies?policyholderLocator=${holder}&pageSize=50`,
      own,
      `${path}/endorsements`,
      `${path}/renewals`,
      `${path}/cancellations`,
      `${path}/quotes`,
      `/quotes/${quotes[0]!.locator}/price`,
      `${own}/checkInvoices`,
      `${own}/gracePeriods`,
      `/policyholder/${holder}/credits`,
      `${events}/events/list?startTimestamp=2020-01-01T00:00:00Z&pageSize=1000`,
      `${events}/webhooks/list`,
    ])
      expect(await asked(address)).toEqual([address, 200, { d1: 1, object: 0, r2: 0, queue: 0 }])
  })
})
