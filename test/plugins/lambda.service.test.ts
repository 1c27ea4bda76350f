// Functions of a tenant, called through HTTP.
import { beforeAll, describe, expect, it } from 'vitest'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'
import { pluginRated } from '../support/plugin-rated.ts'

const LAMBDA = `
exports.executeLambda = (operation, payload) => {
  switch (operation) {
    case 'echo': return { operation, payload, type: typeof (payload || {}).n }
    case 'names': {
      const polluted = [({}).polluted, Object.getPrototypeOf(payload) === Object.prototype, Object.getPrototypeOf(payload.list[0]) === Object.prototype]
      return { own: Object.keys(payload), polluted, payload }
    }
    case 'count': {
      const n = Number(socotraApi.getAuxData('global', 'count') || '0') + 1
      socotraApi.setAuxData('global', 'count', n)
      return n
    }
    case 'region': return socotraApi.tableLookup(0, 'region_factor', payload.region)
    case 'holder': return socotraApi.fetchByLocator(Policyholder, payload.locator)
    case 'policy': { const one = socotraApi.fetchByLocator(Policy, payload.locator); return one && [one.locator, typeof one.grossFees, one.grossFees, one.currency, one.quoteLocator] }
    case 'many': {
      let sum = 0
      for (const one of payload.all) sum += Number(socotraApi.getAuxData(one.policyLocator, 'n') || '0')
      return sum
    }
    case 'link': { for (let n = 0; n < 30; n++) socotraApi.setAuxData('at-' + n, 'next', 'at-' + (n + 1)); return 1 }
    case 'chain': { let at = 'at-0'; for (let n = 0; n < 30; n++) at = socotraApi.getAuxData(at, 'next'); return at }
    case 'each': { let sum = 0; for (let n = 0; n < payload.many; n++) sum += Number(socotraApi.getAuxData('plate-' + n, 'claims') || '1'); return sum }
    case 'odd': console.log('\\ud800 \\0'); socotraApi.setAuxData('global', 'odd', 'a\\0b'); return 1
    case 'note': socotraApi.setAuxData('global', 'note', payload.text); return
    case 'fail': socotraApi.setAuxData('global', 'count', 99); throw new Error('as asked')
  }
}`

let motor: Motor
beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('lambda', pluginRated([], { 'lambda/lambda.js': LAMBDA }))
})

const lambda = (operation: string, payload?: unknown, headers?: Record<string, string>) =>
  motor.post<unknown>(`/lambda/${operation}`, payload, headers)

describe('a lambda', () => {
  it('accepts and returns any JSON unchanged', async () => {
    expect((await lambda('echo', { n: 1, deep: [null, 'x'] })).body).toEqual({
      operation: 'echo',
      payload: { n: 1, deep: [null, 'x'] },
      type: 'number',
    })
    expect((await lambda('echo')).body).toMatchObject({ payload: null })
  })

  it('can be called with its name in the body, and then returns its result under payload', async () => {
    const called = (body: unknown, headers?: Record<string, string>) =>
      motor.post<unknown>('/lambda', body, headers)
    const payload = { n: 1, deep: [null, 'x'] }
    expect(await called({ operation: 'echo', payload })).toMatchObject({
      status: 200,
      body: { payload: { operation: 'echo', payload, type: 'number' } },
    })
    expect((await called({ operation: 'echo' })).body).toMatchObject({ payload: { payload: null } })
    expect((await called({ operation: 'note', payload: { text: 'by body' } })).body).toEqual({
      payload: null,
    })
    const headers = { 'idempotency-key': 'lambda-by-body' }
    const first = await called({ operation: 'count' }, headers)
    expect(await called({ operation: 'count' }, headers)).toMatchObject({ status: 200, body: first.body })
    expect(await called({ payload })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("'operation' is missing") },
    })
    const proto = await callApi<{ payload: object }>('POST', '/lambda', {
      token: motor.token,
      headers: { 'content-type': 'application/json' },
      body: '{"operation":"echo","payload":{"__proto__":{"polluted":1}}}',
    })
    expect(JSON.stringify(proto.body)).toContain('"payload":{"__proto__":{"polluted":1}}')
  })

  it('receives and returns a property named __proto__ as data', async () => {
    const body =
      '{"__proto__":{"polluted":1},"list":[{"\\u005f_proto__":{"x":[2]},"b":null}],"constructor":{"prototype":3}}'
    const answer = await callApi<{ payload: object }>('POST', '/lambda/names', {
      token: motor.token,
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(answer.status).toBe(200)
    expect(JSON.stringify(answer.body)).toBe(
      `{"own":["__proto__","list","constructor"],"polluted":[null,true,true],"payload":${JSON.stringify(JSON.parse(body))}}`,
    )
    expect(Object.keys(answer.body.payload)).toContain('__proto__')
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  it('looks up tables and fetches records as text, and gets null for a record that does not exist', async () => {
    expect((await lambda('region', { region: 'R6' })).body).toMatch(/^\d\.\d+$/)
    const locator = await motor.newPolicyholder()
    expect((await lambda('holder', { locator })).body).toMatchObject({
      locator,
      version: '1',
      entity: { completed: true },
    })
    const { body: policy } = await motor.createPolicy({ finalize: true })
    const [quote] = (await motor.get<{ locator: string }[]>(`/policies/${policy.locator}/quotes`)).body
    expect((await lambda('policy', { locator: policy.locator })).body).toEqual([
      policy.locator,
      'string',
      policy.grossFees.toFixed(2),
      'EUR',
      quote!.locator,
    ])
    for (const nowhere of ['1', 'x', '640064'])
      expect((await lambda('policy', { locator: nowhere })).body).toBeNull()
  })

  it('writes when it returns, only once for an Idempotency-Key, and not if it throws', async () => {
    const count = (await lambda('count')).body as number
    const headers = { 'idempotency-key': 'lambda-1' }
    expect((await lambda('count', {}, headers)).body).toBe(count + 1)
    expect((await lambda('count', {}, headers)).body).toBe(count + 1)
    const failed = await lambda('fail')
    expect(failed.status).toBe(422)
    expect(failed.body).toMatchObject({
      message: 'Plugin executeLambda failed: lambda/lambda.js:27: Error: as asked',
    })
    expect((await lambda('count')).body).toBe(count + 2)
  })

  it('returns null if it only writes', async () => {
    expect(await lambda('note', { text: 'seen' })).toMatchObject({ status: 200, body: null })
    expect((await motor.get<{ value: string }>('/auxData/global/note')).body.value).toBe('seen')
  })

  it('reads one key of 1,000 records in one query', async () => {
    const all = Array.from({ length: 1_000 }, (_, at) => ({ policyLocator: `record-${at}` }))
    for (const at of [0, 499, 999])
      await callApi('PUT', `/auxData/record-${at}`, {
        token: motor.token,
        body: { auxData: [{ key: 'n', value: '7' }] },
      })
    const answer = await lambda('many', { all })
    expect(answer.body).toBe(21)
    expect(answer.headers.get('server-timing')).toContain('d1;desc="2"')
  })

  it('rejects a body that is nested too deep with 4xx, and text that cannot be stored with 422', async () => {
    const deep = await callApi('POST', '/lambda/echo', {
      token: motor.token,
      headers: { 'content-type': 'application/json' },
      body: '['.repeat(1_000_000) + ']'.repeat(1_000_000),
    })
    expect(deep.status).toBeGreaterThanOrEqual(400)
    expect(deep.status).toBeLessThan(500)
    const odd = await lambda('odd')
    expect(odd.status).toBe(422)
    expect(odd.body).toMatchObject({ message: expect.stringContaining('cannot be stored') })
  })

  it('reads the data of 300 locators that the request does not name in two queries', async () => {
    for (const [plate, value] of [
      ['plate-7', '5'],
      ['plate-299', '11'],
    ])
      await callApi('PUT', `/auxData/${plate}`, {
        token: motor.token,
        body: { auxData: [{ key: 'claims', value }] },
      })
    const answer = await lambda('each', { many: 300 })
    expect(answer.body).toBe(314)
    // The version, and the locators in two queries: the first one, and all others.
    expect(roundTrips(answer).d1).toBe(3)
  })

  it('fails with 422 if it needs more than 20 rounds of reads', async () => {
    await lambda('link')
    const { status, body } = await lambda('chain')
    expect(status).toBe(422)
    expect(body).toMatchObject({ message: expect.stringContaining('more values in over 20 rounds') })
  })

  it('returns 404 if the configuration has no function, and 401 without a token', async () => {
    const other = await motorTenant('lambda-none')
    expect((await other.post('/lambda/echo')).status).toBe(404)
    expect((await callApi('POST', '/lambda/echo', {})).status).toBe(401)
  })
})
