// Endorsing in one step, as clients of the legacy routes do, and its preview (brief 0.10).
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyPriceChangeResponse } from '../../src/rating/contract-change.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('legacyendorse', {
    ...motorWithoutPapers(),
    'products/private_motor/policy/endorsements.json': JSON.stringify({
      endorsements: ['always', 'input'].map(reprice => ({
        name: reprice,
        displayName: reprice,
        reprice,
        documents: [],
      })),
    }),
  })
})

async function issued(changes: object = {}): Promise<PolicyResponse> {
  const { body } = await motor.createPolicy(changes)
  return (await motor.post(`/policy/${body.locator}/issue`)).body
}

const read = async ({ locator }: PolicyResponse): Promise<PolicyResponse> =>
  (await motor.get(`/policy/${locator}`)).body

const endorse = <Body = PolicyResponse>(policy: PolicyResponse, body: object, headers = {}) =>
  motor.post<Body>(`/policy/${policy.locator}/endorse`, body, headers)

const preview = <Body = PolicyPriceChangeResponse>(policy: PolicyResponse, body: object) =>
  motor.post<Body>(`/policy/${policy.locator}/previewEndorsementPrice`, body)

const halfWay = (policy: PolicyResponse): Instant =>
  add(Number(policy.originalContractStartTimestamp) as Instant, 6, 'month', 'Europe/Berlin' as TimeZone)

const dearer = (policy: PolicyResponse) => ({
  updateExposures: [
    { exposureLocator: policy.exposures[0]!.locator, fieldValues: { vehicle_value: '49000' } },
  ],
})

type Event = { type: string; data: Record<string, string> }

describe('POST /policy/{locator}/endorse', () => {
  it('issues an endorsement for the previewed price, and the preview changes nothing', async () => {
    const policy = await issued()
    const request = {
      endorsementName: 'always',
      startTimestamp: halfWay(policy),
      newPolicyEndTimestamp: null,
      updatePolicy: dearer(policy),
    }
    const asked = await preview(policy, request)
    expect(asked.status).toBe(200)
    expect(asked.body.grossPremiumChange).toBeGreaterThan(0)
    expect(await read(policy)).toEqual(policy)
    expect((await motor.get<unknown[]>(`/policies/${policy.locator}/endorsements`)).body).toEqual([])

    const { status, body } = await endorse(policy, request)
    expect(status).toBe(200)
    expect(body).toEqual(await read(policy))
    expect(body.modifications.at(-1)).toMatchObject({
      name: 'always',
      premiumChange: asked.body.grossPremiumChange,
      effectiveTimestamp: String(halfWay(policy)),
    })
    const { body: price } = await motor.post<PolicyPriceResponse>(`/policy/${policy.locator}/price`)
    expect(price.total).toBe(asked.body.newTotal)
    expect(body.invoices.at(-1)!.totalDue).toBe(asked.body.totalChange)
  })

  it('creates a usual endorsement, with an event for each step', async () => {
    const policy = await issued()
    await endorse(policy, {
      endorsementName: 'always',
      startTimestamp: halfWay(policy),
      updatePolicy: dearer(policy),
    })
    const { body: endorsements } = await motor.get<EndorsementResponse[]>(
      `/policies/${policy.locator}/endorsements`,
    )
    expect(endorsements.map(one => [one.state, one.endorsementName])).toEqual([['issued', 'always']])
    const { body } = await motor.get<{ events: Event[] }>(
      '/eventstream/events?startTimestamp=0&pageSize=1000',
    )
    const own = body.events.filter(one => one.data.policyLocator === policy.locator)
    const eventTypes = own.map(one => one.type).filter(type => /endors/.test(type))
    expect(eventTypes).toEqual([
      'endorsement.create',
      'endorsement.quote',
      'endorsement.accept',
      'endorsement.issue',
      'policy.endorse',
    ])
    const modification = (await read(policy)).modifications.at(-1)!.locator
    expect(own.find(one => one.type === 'policy.endorse')!.data.modificationLocator).toBe(modification)
  })

  it('accepts no changes, and the present end as the new end', async () => {
    const policy = await issued()
    const { status, body } = await endorse(policy, {
      endorsementName: 'always',
      startTimestamp: halfWay(policy),
      newPolicyEndTimestamp: policy.effectiveContractEndTimestamp,
    })
    expect([status, body.modifications.at(-1)!.premiumChange]).toEqual([200, 0])
  })

  it('needs reprice for an endorsement type with reprice input', async () => {
    const policy = await issued()
    const request = { endorsementName: 'input', updatePolicy: dearer(policy) }
    expect((await endorse(policy, request)).status).toBe(400)
    expect((await endorse(policy, { ...request, reprice: true })).status).toBe(200)
  })

  it('makes one call to the object, and returns the original response for a repeat with the same key', async () => {
    const policy = await issued()
    const request = { endorsementName: 'always', startTimestamp: halfWay(policy) }
    const headers = { 'idempotency-key': 'legacy-once' }
    const first = await endorse(policy, request, headers)
    expect([first.status, roundTrips(first).object]).toEqual([200, 1])
    expect(roundTrips(first).d1).toBeLessThanOrEqual(4)
    expect((await endorse(policy, request, headers)).body).toEqual(first.body)
    expect((await read(policy)).modifications).toHaveLength(2)
  })
})

describe('An invalid legacy endorsement', () => {
  it('is rejected with 400, 404 or 409 and changes nothing', async () => {
    const policy = await issued()
    const bad: [object, number, RegExp][] = [
      [{}, 400, /endorsementName/],
      [{ endorsementName: 'no such' }, 400, /has no endorsement 'no such'/],
      [{ endorsementName: 'always', startTimestamp: 5 }, 400, /startTimestamp/],
      [{ endorsementName: 'always', updatePolicy: { endExposures: ['none'] } }, 400, /none/],
      [
        { endorsementName: 'always', newPolicyEndTimestamp: halfWay(policy) },
        400,
        /property\.endorsement\.policy\.end\.enabled/,
      ],
    ]
    for (const [body, status, message] of bad)
      for (const ask of [endorse<{ message: string }>, preview<{ message: string }>]) {
        const answer = await ask(policy, body)
        expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringMatching(message)])
      }
    expect(await read(policy)).toEqual(policy)
    const { body: draft } = await motor.createPolicy()
    expect((await endorse(draft, { endorsementName: 'always' })).status).toBe(409)
    expect((await motor.post('/policy/64/endorse', { endorsementName: 'always' })).status).toBe(404)
  })

  it('is rejected with 409 while a quoted endorsement conflicts, and the message names it', async () => {
    const policy = await issued()
    const { body: quoted } = await motor.post<EndorsementResponse>(
      `/policies/${policy.locator}/endorsements`,
      { endorsementName: 'always', startTimestamp: halfWay(policy), state: 'quoted' },
    )
    const { status, body } = await endorse<{ message: string }>(policy, { endorsementName: 'always' })
    expect([status, body.message]).toEqual([409, expect.stringContaining(quoted.locator)])
  })
})
