// Who may have a secret sent, and to which hosts.
import { beforeAll, describe, expect, it } from 'vitest'
import { type Answer, callApi, callOk } from '../../support/api.ts'
import { prepareDatabases } from '../../support/databases.ts'
import { type Motor, motorTenant } from '../../support/motor.ts'
import { externallyRated } from '../../support/rater.ts'
import { openReceiver, type Receiver } from '../../support/receiver.ts'

// biome-ignore lint/suspicious/noExplicitAny: refusals are read as what they are.
type Any = any

const REFERENCE = '{{secret:vault.key}}'

let motor: Motor
let admin: string
let hooksOnly: string
let receiver: Receiver

const as =
  (token: () => string) =>
  (method: string, path: string, body?: unknown): Promise<Answer<Any>> =>
    callApi(method, path, { token: token(), body })
const boss = as(() => admin)
const limited = as(() => hooksOnly)

const hooks = (path = '') => `/event/${motor.tenantLocator}/webhooks${path}`
const secret = (path = '') => `/resource/${motor.tenantLocator}/secrets${path}`
const hook = (name: string, endpoint: object) => ({
  name,
  enabled: true,
  eventTypes: ['policy.issue'],
  endpoint,
})

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('secret-naming', externallyRated('acme'))
  admin = await motor.signIn('anna.admin')
  receiver = await openReceiver()
  hooksOnly = await callOk<string>('POST', '/auth/users/tokens', {
    token: admin,
    body: {
      name: 'hooks',
      expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
      permissions: ['webhooks.*', 'integrations.*'],
      tenants: ['any'],
    },
  })
  await boss('POST', secret(), { name: 'vault1', staticName: 'vault', secret: { key: 'geheim-4711' } })
  await callOk('POST', `/resource/${motor.tenantLocator}/groups`, {
    token: admin,
    body: { name: 'g', selectionStartTime: '2020-01-01T00:00:00Z', resourceNames: ['vault1'] },
  })
})

describe('a reference to a secret', () => {
  it('requires secrets.read in webhooks, their alerts and integrations', async () => {
    const headers = { 'X-Key': [REFERENCE] }
    const plain = { url: receiver.url }
    const refusals = [
      await limited('POST', hooks(), hook('a', { ...plain, headers })),
      await limited('POST', hooks(), {
        ...hook('b', plain),
        failureHandling: { alertEndpoint: { ...plain, headers } },
      }),
      await limited('POST', '/integrations', {
        name: 'c',
        url: receiver.url,
        headers: { 'X-Key': REFERENCE },
      }),
    ]
    for (const { status, body } of refusals)
      expect([status, body.code, body.message]).toEqual([
        403,
        'forbidden',
        expect.stringContaining('secrets.read'),
      ])
    expect((await limited('POST', hooks(), hook('a', plain))).status).toBe(200)
    expect((await receiver.received()).length).toBe(0)
  })

  it('can be neither moved nor redirected without secrets.read when a webhook is changed', async () => {
    const { body } = await boss(
      'POST',
      hooks(),
      hook('own', { url: receiver.url, headers: { A: [REFERENCE] } }),
    )
    const patch = async (endpoint: object, call = limited) =>
      (await call('PATCH', hooks(`/${body.locator}`), { endpoint })).status
    const elsewhere = await openReceiver()
    expect(await patch({ url: elsewhere.url })).toBe(403)
    expect(await patch({ addHeaders: { B: [`x ${REFERENCE}`] } })).toBe(403)
    expect(await patch({ addHeaders: { C: ['plain'] } })).toBe(200)
    expect((await limited('PATCH', hooks(`/${body.locator}`), { enabled: false })).status).toBe(200)
    expect((await limited('POST', hooks(`/${body.locator}/test`))).body.delivered).toBe(true)
    expect((await receiver.received()).at(-1)!.headers).toMatchObject({ a: 'geheim-4711' })
    expect(await patch({ url: elsewhere.url }, boss)).toBe(200)
    expect(await patch({ url: elsewhere.url, removeHeaders: ['A'] })).toBe(200)
  })

  it('can only be kept in place without secrets.read when an integration is replaced', async () => {
    const headers = { 'X-Key': REFERENCE }
    const { body: made } = await boss('POST', '/integrations', { name: 'kept', url: receiver.url, headers })
    const put = async (body: object, call = limited) => {
      const answer = await call('PUT', '/integrations/kept', body)
      return [answer.status, answer.body.code]
    }
    expect(JSON.stringify(made)).toContain('kept')
    const elsewhere = (await openReceiver()).url
    expect(await put({ url: receiver.url, headers })).toEqual([200, undefined])
    expect(await put({ url: receiver.url, headers: { ...headers, 'X-More': 'plain' } })).toEqual([
      200,
      undefined,
    ])
    expect(await put({ url: receiver.url, headers: { 'X-Key': '********' } })).toEqual([200, undefined])
    const forbidden = [403, 'forbidden']
    expect(await put({ url: elsewhere, headers })).toEqual(forbidden)
    expect(await put({ url: elsewhere, headers: { 'X-Key': '********' } })).toEqual(forbidden)
    expect(await put({ url: `${receiver.url}?to=log`, headers: { 'X-Key': '********' } })).toEqual(forbidden)
    expect(await put({ url: receiver.url, headers: { 'X-Echo': REFERENCE } })).toEqual(forbidden)
    expect(await put({ url: receiver.url, headers: { 'X-Key': `${REFERENCE} and more` } })).toEqual(forbidden)
    expect(await put({ url: elsewhere, headers }, boss)).toEqual([200, undefined])
    expect(await put({ url: receiver.url, headers: {} })).toEqual([200, undefined])
  })

  it('is needed to take masked values of an endpoint to another host', async () => {
    const headers = { Authorization: 'Bearer 4711-geheim' }
    const keyed = `${receiver.url}?api_key=4711`
    // All receivers have the same host. This is another name of it.
    const other = await openReceiver()
    const elsewhere = { ...other, url: other.url.replace('127.0.0.1', 'localhost') }
    await boss('POST', '/integrations', { name: 'masked', url: keyed, headers })
    const put = async (body: object, call = limited) => {
      const answer = await call('PUT', '/integrations/masked', body)
      return [answer.status, answer.body.code]
    }
    const [done, forbidden] = [
      [200, undefined],
      [403, 'forbidden'],
    ]
    const masks = { Authorization: '********' }
    expect(await put({ url: `${receiver.url}?api_key=********&more=1`, headers: masks })).toEqual(done)
    expect(await put({ url: elsewhere.url, headers: masks })).toEqual(forbidden)
    expect(await put({ url: `${elsewhere.url}?api_key=********`, headers: {} })).toEqual(forbidden)
    expect(await put({ url: elsewhere.url, headers: { Authorization: 'Bearer another' } })).toEqual(done)
    expect(await put({ url: receiver.url, headers: masks }, boss)).toEqual(done)

    const alertEndpoint = { url: keyed, headers: { 'X-Token': ['4711'] } }
    const endpoint = { url: receiver.url, headers: { Authorization: ['Bearer 4711-geheim'] } }
    const { body: made } = await boss('POST', hooks(), {
      ...hook('masked', endpoint),
      failureHandling: { alertEndpoint },
    })
    const patch = async (change: object, call = limited) =>
      (await call('PATCH', hooks(`/${made.locator}`), change)).status
    expect(await patch({ endpoint: { url: elsewhere.url } })).toBe(403)
    expect(await patch({ failureHandling: { alertEndpoint: { url: elsewhere.url } } })).toBe(403)
    expect(await patch({ endpoint: { url: `${receiver.url}/below` } })).toBe(200)
    expect(await patch({ endpoint: { url: elsewhere.url, removeHeaders: ['Authorization'] } })).toBe(200)
    expect(await patch({ failureHandling: { alertEndpoint: { url: elsewhere.url } } }, boss)).toBe(200)
    expect(await other.received()).toEqual([])
  })

  it('is rejected in a URL with 400', async () => {
    for (const part of [REFERENCE, encodeURIComponent(REFERENCE)]) {
      const answer = await boss('POST', hooks(), hook('d', { url: `https://h.example.com/?k=${part}` }))
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining('secret')])
    }
  })
})

describe('a secret with allowed hosts', () => {
  it('is rejected for other hosts when it is referenced', async () => {
    const bound = await boss('PATCH', secret('/vault1?allowedHosts=*.Example.com'), {})
    expect(bound.body.allowedHosts).toEqual(['*.example.com'])
    const named = (url: string) => boss('POST', hooks(), hook(url, { url, headers: { A: [REFERENCE] } }))
    const refused = await named(receiver.url)
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('*.example.com')])
    expect((await named('https://example.com/')).status).toBe(400)
    expect((await named('https://notexample.com/')).status).toBe(400)
    expect((await named('https://a.example.com./')).status).toBe(200)
    const integrated = (url: string) =>
      boss('POST', '/integrations', { name: url, url, headers: { A: REFERENCE } })
    expect((await integrated(receiver.url)).status).toBe(400)
    expect((await integrated('https://a.example.com/')).status).toBe(200)
  })

  it('is not sent to other hosts by endpoints that referenced it before', async () => {
    await boss('PATCH', secret('/vault1?allowedHosts='), {})
    const { body } = await boss(
      'POST',
      hooks(),
      hook('late', { url: receiver.url, headers: { A: [REFERENCE] } }),
    )
    expect((await boss('GET', secret('/vault1'))).body.allowedHosts).toBeUndefined()
    const before = (await receiver.received()).length
    await boss('PATCH', secret('/vault1?allowedHosts=a.example.com&allowedHosts=b.example.com'), {})
    const test = await boss('POST', hooks(`/${body.locator}/test`))
    expect(test.body).toMatchObject({ delivered: false, outcome: 'secretMissing' })
    expect((await receiver.received()).length).toBe(before)
  })

  it('lists them in responses, and accepts only host names', async () => {
    expect((await boss('GET', secret('/vault1'))).body).toMatchObject({
      secret: { key: '********' },
      allowedHosts: ['a.example.com', 'b.example.com'],
    })
    const make = (allowedHosts: unknown) =>
      boss('POST', secret(), { name: 'v2', staticName: 'v2', secret: { key: 'geheim' }, allowedHosts })
    for (const wrong of ['https://a.example.com', 'a.example.com:443', '*', 'a.*.com', 'a/b'])
      expect((await make([wrong])).status).toBe(400)
    expect((await make(['Rater.Example.com'])).body.allowedHosts).toEqual(['rater.example.com'])
  })
})
