// The log of calls, replays from it, the circuit, and the purge of old calls.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { callIntegration, OPEN_MS, OPENING_FAILURES } from '../../src/extension/integrations/call/call.ts'
import { LARGEST_BODY } from '../../src/extension/integrations/call/exchange.ts'
import { KEEP_CALLS_MS } from '../../src/extension/integrations/call/log.ts'
import type {
  IntegrationCallBodiesResponse,
  IntegrationCallPageResponse,
} from '../../src/extension/integrations/contract.ts'
import type { Integration } from '../../src/extension/integrations/integration.ts'
import { newUuid } from '../../src/kernel/locators.ts'
import { now } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { type RequestContext, SYSTEM_CALLER } from '../../src/platform/context.ts'
import { fileKey, readTenant, shardName } from '../../src/platform/tenancy.ts'
import { dispatchDue } from '../../src/servicing/events/dispatch.ts'
import { type Answer, callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'
import { externallyRated, openRater, type Rater, register } from '../support/rater.ts'

type Page = IntegrationCallPageResponse
type Call = IntegrationCallBodiesResponse

const SECRET = 'of-the-header'

const rates = { rates: { '*': { yearlyPremium: 100 } } }

async function rated(suffix: string): Promise<{ motor: Motor; rater: Rater; token: string }> {
  const rater = await openRater(rates)
  const motor = await motorTenant(suffix, externallyRated('acme'))
  await register(motor, 'acme', rater, { headers: { Authorization: `Bearer ${SECRET}` } })
  return { motor, rater, token: await motor.signIn('anna.admin') }
}

beforeAll(() => prepareDatabases({ tenants: 8 }))

const hex = async (text: string): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('hex')

describe('the log of calls', () => {
  let motor: Motor
  let rater: Rater
  let token: string
  beforeAll(async () => {
    ;({ motor, rater, token } = await rated('calls-log'))
  })

  const page = (query = ''): Promise<Page> => callOk('GET', `/integrations/acme/calls?${query}`, { token })
  const one = (locator: string): Promise<Call> =>
    callOk('GET', `/integrations/acme/calls/${locator}`, { token })
  const replay = (locator: string, headers = {}): Promise<Answer<Call>> =>
    callApi('POST', `/integrations/acme/calls/${locator}/replay`, { token, headers })
  const drafted = async () => (await motor.createPolicy({ finalize: false })).body.locator
  const finalize = (locator: string) => motor.post(`/policy/${locator}/finalize`)

  it('records what was sent and what came back, by whom and for what', async () => {
    const policy = await drafted()
    const answer = await finalize(policy)
    const { calls } = await page(`policyLocator=${policy}`)
    const { body } = (await rater.calls()).at(-1)!
    expect(calls).toHaveLength(1)
    const { locator, attempts, durationMs, timestamp, responseBytes, responseHash, ...rest } = calls[0]!
    expect(rest).toEqual({
      type: 'external_rater',
      operation: 'new_business',
      policyLocator: policy,
      requestId: answer.headers.get('x-request-id'),
      username: 'alice.agent',
      url: rater.url,
      status: 200,
      requestBytes: Buffer.byteLength(body),
      requestHash: await hex(body),
      warnings: [],
    })
    expect(attempts.map(attempt => attempt.outcome)).toEqual(['200'])
    const whole = await one(locator)
    expect(whole.request).toBe(body)
    expect(JSON.parse(whole.response!)).toHaveProperty('pricedPerilCharacteristics')
    expect([responseBytes, responseHash]).toEqual([
      Buffer.byteLength(whole.response!),
      await hex(whole.response!),
    ])
  })

  it('contains no secret, even if the rater sends it back', async () => {
    await rater.answers({ status: 500, answer: { error: `not for Bearer ${SECRET}`, echo: SECRET } })
    const policy = await drafted()
    const { body } = await motor.post<{ message: string }>(`/policy/${policy}/finalize`)
    expect(body.message).toBe("External rater 'acme' failed: it responded with 500: not for ********.")
    const { calls } = await page(`policyLocator=${policy}`)
    const whole = await one(calls[0]!.locator)
    expect(whole.response).toBe('{"error":"not for ********","echo":"********"}')
    expect(JSON.stringify([calls, whole])).not.toContain(SECRET)
    await rater.answers(rates)
  })

  it('is read page by page, and can be filtered by failure and time', async () => {
    for (let calls = 0; calls < 3; calls += 1) await finalize(await drafted())
    const all = (await page()).calls
    const read: string[] = []
    let pagingToken: string | undefined
    do {
      const next = await page(`pageSize=2${pagingToken ? `&pagingToken=${pagingToken}` : ''}`)
      expect(next.calls.length).toBeLessThanOrEqual(2)
      read.push(...next.calls.map(call => call.locator))
      pagingToken = next.pagingToken
    } while (pagingToken)
    expect(read).toEqual(all.map(call => call.locator))
    expect((await page('failed=true')).calls).toEqual(all.filter(call => call.failure !== undefined))
    expect((await page('failed=false')).calls).toEqual(all.filter(call => call.failure === undefined))
    const from = all[2]!.timestamp
    expect((await page(`startTimestamp=${from}`)).calls).toEqual(
      all.filter(call => Number(call.timestamp) >= Number(from)),
    )
  })

  it('replays a call with the same body, returns the response, and changes nothing in the policy', async () => {
    const policy = await drafted()
    await finalize(policy)
    const before = await motor.get(`/policy/${policy}`)
    const { calls } = await page(`policyLocator=${policy}`)
    await rater.answers({ rates: { '*': { yearlyPremium: 999 } } })
    const { status, body: again } = await replay(calls[0]!.locator)
    expect(status).toBe(200)
    expect(again).toMatchObject({
      replayOf: calls[0]!.locator,
      requestHash: calls[0]!.requestHash,
      policyLocator: policy,
      operation: 'new_business',
      username: 'anna.admin',
      status: 200,
    })
    expect(Object.values(JSON.parse(again.response!).pricedPerilCharacteristics)).toEqual(
      Array(4).fill({ yearlyPremium: 999 }),
    )
    const sent = (await rater.calls()).slice(-2)
    expect(sent[1]!.body).toBe(sent[0]!.body)
    expect(sent[1]!.headers['idempotency-key']).not.toBe(sent[0]!.headers['idempotency-key'])
    expect((await motor.get(`/policy/${policy}`)).body).toEqual(before.body)
    expect((await page(`policyLocator=${policy}`)).calls.map(call => call.locator)).toEqual([
      calls[0]!.locator,
      again.locator,
    ])
    await rater.answers(rates)
  })

  it('returns 200 for a replay that fails, with the failure in the response', async () => {
    const [first] = (await page()).calls
    await rater.answers({ status: 500 })
    const { status, body } = await replay(first!.locator)
    expect([status, body.status, body.failure]).toEqual([
      200,
      500,
      "External rater 'acme' failed: it responded with 500.",
    ])
    await rater.answers(rates)
    await replay(first!.locator)
  })

  it('replays a call once for an Idempotency-Key', async () => {
    const [first] = (await page()).calls
    const before = (await rater.calls()).length
    const key = { 'idempotency-key': 'replay' }
    const [one, two] = [await replay(first!.locator, key), await replay(first!.locator, key)]
    expect(two.body).toEqual(one.body)
    expect((await rater.calls()).length - before).toBe(1)
  })

  it('returns 409 for a replay if the stored body is masked or gone', async () => {
    const fieldValues = { ...plainYear().request.policy.fieldValues, contact_email: `${SECRET}@example.com` }
    const policy = (await motor.createPolicy({ finalize: false, fieldValues })).body.locator
    await motor.post(`/policy/${policy}/price`)
    const { calls } = await page(`policyLocator=${policy}`)
    expect((await one(calls[0]!.locator)).request).toContain('********@example.com')
    const held = await replay(calls[0]!.locator)
    expect([held.status, held.body]).toMatchObject([409, { code: 'wrongState' }])

    const [first] = (await page()).calls
    const tenant = (await readTenant(env, { locator: motor.tenantLocator }, noCalls()))!
    await env.FILES.delete(fileKey(tenant, 'integration-calls', first!.locator))
    const lost = await replay(first!.locator)
    expect([lost.status, lost.body]).toMatchObject([
      409,
      { message: `The body of call '${first!.locator}' is no longer stored.` },
    ])
    expect(await one(first!.locator)).not.toHaveProperty('request')
  })
})

it("a tenant neither sees nor replays the calls of another tenant's integration of the same name", async () => {
  const [owner, stranger] = [await rated('calls-owner'), await rated('calls-stranger')]
  await owner.motor.createPolicy()
  const path = '/integrations/acme/calls'
  const { calls } = await callOk<Page>('GET', path, { token: owner.token })
  expect(calls).toHaveLength(1)
  const own = await callOk<Page>('GET', path, { token: stranger.token })
  expect(own.calls).toEqual([])
  const { token } = stranger
  expect((await callApi('GET', `${path}/${calls[0]!.locator}`, { token })).status).toBe(404)
  expect((await callApi('POST', `${path}/${calls[0]!.locator}/replay`, { token })).status).toBe(404)
  expect(await stranger.rater.calls()).toEqual([])
})

it('a request body larger than 10 MB is rejected with 413 and not sent', async () => {
  const rater = await openRater()
  const { motor } = await rated('calls-large')
  const tenant = (await readTenant(env, { locator: motor.tenantLocator }, noCalls()))!
  const context: RequestContext = {
    env,
    tenant,
    caller: SYSTEM_CALLER,
    requestId: newUuid(0),
    now: now(),
    idempotency: undefined,
    calls: noCalls(),
    later: () => {},
  }
  const integration: Integration = {
    locator: newUuid(0),
    name: 'large',
    type: 'data_autofill',
    url: rater.url,
    headers: {},
    createdAt: now(),
    updatedAt: now(),
  }
  const call = (characters: number) =>
    callIntegration(context, integration, {
      shard: 0,
      operation: 'newBusiness',
      input: 'x'.repeat(characters - 2),
      read: answer => answer,
    })
  await expect(call(LARGEST_BODY + 1)).rejects.toMatchObject({ code: 'tooLarge', status: 413 })
  expect(await rater.calls()).toEqual([])
})

describe('old calls', () => {
  it('are purged with their bodies after 30 days, and younger ones are kept', async () => {
    const { motor, token } = await rated('calls-purge')
    await motor.createPolicy()
    await motor.createPolicy()
    const page = (): Promise<Page> => callOk('GET', '/integrations/acme/calls', { token })
    const [old, young] = (await page()).calls
    const tenant = (await readTenant(env, { locator: motor.tenantLocator }, noCalls()))!
    const database = (env as unknown as Record<string, D1Database>)[tenant.shards[0]!]!
    const age = (locator: string, at: number) =>
      database.prepare('update integration_call set at = ? where locator = ?').bind(at, locator).run()
    const bodies = async () =>
      (await env.FILES.list({ prefix: fileKey(tenant, 'integration-calls') })).objects.map(one =>
        one.key.split('/').at(-1),
      )
    expect((await bodies()).sort()).toEqual([old!.locator, young!.locator].sort())
    await age(old!.locator, Date.now() - KEEP_CALLS_MS)
    await age(young!.locator, Date.now() - KEEP_CALLS_MS + 60_000)
    await dispatchDue(env, shardName(tenant, 0))
    expect((await page()).calls.map(call => call.locator)).toEqual([young!.locator])
    expect(await bodies()).toEqual([young!.locator])
  })
})

describe('the circuit', () => {
  it('opens over a rater that is down, rejects calls immediately, and closes when one call succeeds', async () => {
    const { motor, rater } = await rated('calls-circuit')
    const neighbour = await rated('calls-neighbour')
    await rater.answers({ status: 500 })
    const { body: policy } = await motor.createPolicy({ finalize: false })
    const price = () => motor.post<{ message: string }>(`/policy/${policy.locator}/price`)
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      for (let calls = 0; calls < OPENING_FAILURES; calls += 1) expect((await price()).status).toBe(502)
      expect(await rater.calls()).toHaveLength(OPENING_FAILURES)

      await rater.answers(rates)
      const refused = await price()
      expect([refused.status, refused.headers.get('retry-after'), refused.body.message]).toEqual([
        502,
        '30',
        "External rater 'acme' failed: it has failed several times in a row and will not be called again for 30 s.",
      ])
      expect(await rater.calls()).toHaveLength(OPENING_FAILURES)
      expect((await neighbour.motor.createPolicy()).status).toBe(200)

      vi.setSystemTime(Date.now() + OPEN_MS)
      expect((await price()).status).toBe(200)
      expect((await price()).status).toBe(200)
      expect(await rater.calls()).toHaveLength(OPENING_FAILURES + 2)
    } finally {
      vi.useRealTimers()
    }
  })

  it('starts again when the integration is changed', async () => {
    const { motor, rater, token } = await rated('calls-changed')
    await rater.answers({ status: 500 })
    const { body: policy } = await motor.createPolicy({ finalize: false })
    const price = () => motor.post(`/policy/${policy.locator}/price`)
    for (let calls = 0; calls <= OPENING_FAILURES; calls += 1) await price()
    expect(await rater.calls()).toHaveLength(OPENING_FAILURES)
    const other = await openRater(rates)
    await callOk('PUT', '/integrations/acme', { token, body: { url: other.url } })
    expect((await price()).status).toBe(200)
  })
})
