// Registering, changing and removing external services, through HTTP.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../src/kernel/locators.ts'
import { type Answer, callApi } from '../support/api.ts'
import { afterBatches } from '../support/between-batches.ts'
import { prepareDatabases } from '../support/databases.ts'
import { archiveOf, type DeployAnswer, deployForm, deployNextVersion } from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'
import { externallyRated, openRater } from '../support/rater.ts'
import { administrator } from '../support/sign-in.ts'

type Listed = {
  externalServiceIntegrations: {
    name: string
    url: string
    type: string
    tenantLocator: string
    headers: Record<string, string>
    securitySpec?: Record<string, unknown>
  }[]
}

const MASK = '********'
const URL_OF = 'https://rater.example.com/rate'

let motor: Motor
let admin: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 12 })
  motor = await motorTenant('integrations')
  admin = await motor.signIn('anna.admin')
})

// biome-ignore lint/suspicious/noExplicitAny: refusals are read as what they are.
type Any = any

const call = (
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  token = admin,
): Promise<Answer<Listed & Any>> => callApi(method, path, { token, body, headers })

const add = (body: object, headers?: Record<string, string>) => call('POST', '/integrations', body, headers)
const put = (name: string, body: object) => call('PUT', `/integrations/${encodeURIComponent(name)}`, body)
const remove = (name: string) => call('DELETE', `/integrations/${encodeURIComponent(name)}`)
const list = async () => (await call('GET', '/integrations')).body.externalServiceIntegrations
const named = async (name: string) => (await list()).find((one: { name: string }) => one.name === name)

describe('integrations', () => {
  it('are all listed in every response, in the order of their creation', async () => {
    const first = await add({ name: 'b', url: URL_OF, headers: { 'X-Region': 'eu' } })
    expect([first.status, first.body]).toEqual([
      200,
      {
        externalServiceIntegrations: [
          {
            name: 'b',
            url: URL_OF,
            type: 'external_rater',
            tenantLocator: motor.tenantLocator,
            headers: { 'X-Region': 'eu' },
          },
        ],
      },
    ])
    const second = await add({ name: 'a / ü', url: URL_OF, type: 'data_autofill' })
    expect(second.body.externalServiceIntegrations.map((one: Any) => [one.name, one.type])).toEqual([
      ['b', 'external_rater'],
      ['a / ü', 'data_autofill'],
    ])
    expect(await list()).toEqual(second.body.externalServiceIntegrations)
    const third = await remove('a / ü')
    expect(third.body.externalServiceIntegrations.map((one: Any) => one.name)).toEqual(['b'])
    expect((await remove('b')).body).toEqual({ externalServiceIntegrations: [] })
    expect(await list()).toEqual([])
  })

  it('show headers as text, even if they read like the name of a file', async () => {
    const headers = { url: `file:media/${newUuid(0)}/photo.png`, expiresTimestamp: '0' }
    await add({ name: 'file', url: URL_OF, headers })
    expect((await named('file')).headers).toEqual(headers)
    await remove('file')
  })

  it('have unique names, even if two are created at the same time', async () => {
    await add({ name: 'once', url: URL_OF })
    const again = await add({ name: 'once', url: URL_OF })
    expect([again.status, again.body.code]).toEqual([409, 'alreadyExists'])
    const both = await Promise.all([add({ name: 'race', url: URL_OF }), add({ name: 'race', url: URL_OF })])
    expect(both.map(one => one.status).sort()).toEqual([200, 409])
  })

  it('are replaced as a whole, except for their name and type', async () => {
    const securitySpec = { secret: 'a secret of ours', tag: 'k1', secureSSL: false }
    await add({ name: 'whole', url: URL_OF, type: 'fe-plugins', headers: { A: '1', B: '2' }, securitySpec })
    expect(await named('whole')).toMatchObject({
      headers: { A: '1', B: '2' },
      securitySpec: { hmacEnabled: true, secret: MASK, secureSSL: false, tag: 'k1' },
    })
    const { status } = await put('whole', {
      url: `${URL_OF}/2`,
      headers: { B: '3' },
      name: 'other',
      type: 'webhook',
    })
    expect(status).toBe(200)
    expect(await named('whole')).toEqual({
      name: 'whole',
      url: `${URL_OF}/2`,
      type: 'fe-plugins',
      tenantLocator: motor.tenantLocator,
      headers: { B: '3' },
    })
    expect((await put('whole', { url: URL_OF })).status).toBe(200)
    expect((await named('whole')).headers).toEqual({})
  })

  it('have secret values masked in responses, and keep them when the masks are sent back', async () => {
    const rater = await openRater()
    const secrets = { Authorization: 'Bearer abcdef', 'X-Api-Key': 'ghijkl', 'X-Region': 'eu' }
    const created = await add({
      name: 'secretive',
      url: `${rater.url}?code=mnopqr&lang=de`,
      headers: secrets,
      securitySpec: { secret: 'stuvwx' },
    })
    const shown = {
      headers: { Authorization: MASK, 'X-Api-Key': MASK, 'X-Region': 'eu' },
      url: `${rater.url}?code=${MASK}&lang=de`,
      securitySpec: { hmacEnabled: true, secret: MASK, secureSSL: true },
    }
    expect(await named('secretive')).toMatchObject(shown)
    const again = await put('secretive', shown)
    expect(again.status).toBe(200)
    expect(JSON.stringify([created.body, again.body])).not.toMatch(/abcdef|ghijkl|mnopqr|stuvwx/)

    // The stored values are those that were sent, because the rater receives them.
    const own = await motorTenant('integrations-kept', externallyRated('secretive'))
    const token = await own.signIn('anna.admin')
    await call(
      'POST',
      '/integrations',
      { ...shown, name: 'secretive', url: rater.url, headers: secrets, securitySpec: undefined },
      {},
      token,
    )
    await call('PUT', '/integrations/secretive', { url: rater.url, headers: shown.headers }, {}, token)
    expect((await own.createPolicy()).status).toBe(200)
    expect((await rater.calls())[0]!.headers).toMatchObject({
      authorization: 'Bearer abcdef',
      'x-api-key': 'ghijkl',
      'x-region': 'eu',
    })
  })

  it('are encrypted in the database, and their secrets are not in stored responses', async () => {
    await add(
      {
        name: 'sealed',
        url: `${URL_OF}?code=in-the-url`,
        headers: { 'X-Key': 'in-the-header' },
        securitySpec: { secret: 'in-the-spec' },
      },
      { 'idempotency-key': 'sealed' },
    )
    for (let number = 1; number <= 12; number += 1) {
      const database = (env as unknown as Record<string, D1Database>)[
        `TENANT_${String(number).padStart(3, '0')}`
      ]!
      for (const table of ['integration', 'write']) {
        const { results } = await database.prepare(`select * from "${table}"`).all()
        expect(JSON.stringify(results)).not.toMatch(/in-the-(url|header|spec)/)
      }
    }
  })

  it('are created once for an Idempotency-Key', async () => {
    const first = await add({ name: 'keyed', url: URL_OF }, { 'idempotency-key': 'k' })
    const second = await add({ name: 'keyed', url: URL_OF }, { 'idempotency-key': 'k' })
    expect(second.status).toBe(200)
    expect(second.body).toEqual(first.body)
  })

  it('are changed by one of two concurrent requests, and the other one is decided by the result', async () => {
    const secret = { authorization: 'Bearer geheim' }
    const kept = { authorization: MASK }
    for (const [name, change, then] of [
      ['at-once-removed', () => remove('at-once-removed'), 404],
      ['at-once-emptied', () => put('at-once-emptied', { url: URL_OF, headers: {} }), 400],
    ] as const) {
      await add({ name, type: 'external_rater', url: URL_OF, headers: secret })
      const both = await afterBatches(1, () => put(name, { url: `${URL_OF}/2`, headers: kept }), change)
      expect([both?.acted.status, both?.sent.status], name).toEqual([200, then])
    }
    expect(await named('at-once-removed')).toBeUndefined()
    expect(await named('at-once-emptied')).toMatchObject({ url: URL_OF, headers: {} })
    await remove('at-once-emptied')
  })

  it('return 404 if they do not exist', async () => {
    for (const answer of [
      await put('nobody', { url: URL_OF }),
      await remove('nobody'),
      await call('GET', '/integrations/nobody/calls'),
      await call('GET', `/integrations/nobody/calls/${crypto.randomUUID()}`),
      await call('POST', `/integrations/keyed/calls/${crypto.randomUUID()}/replay`),
      await call('GET', '/integrations/keyed/calls/x'),
    ])
      expect([answer.status, answer.body.code]).toEqual([404, 'notFound'])
  })

  it('are limited to 100 for a tenant', async () => {
    const own = await motorTenant('integrations-many')
    const token = await own.signIn('anna.admin')
    const adding = (n: number) => call('POST', '/integrations', { name: `n${n}`, url: URL_OF }, {}, token)
    for (let n = 0; n < 100; n += 1) expect((await adding(n)).status).toBe(200)
    const more = await adding(100)
    expect([more.status, more.body.message]).toEqual([413, 'A tenant can have at most 100 integrations.'])
  })
})

describe('an invalid integration', () => {
  const wrong: [what: string, change: object, message: RegExp][] = [
    ['no name', { name: undefined }, /'name' is missing/],
    ['an empty name', { name: '' }, /'name' must not be empty/],
    ['a name with NUL', { name: 'a\0' }, /'name' has a character that cannot be stored/],
    ['no url', { url: undefined }, /'url' is missing/],
    ['no address', { url: 'rater' }, /'url' must be an http or https address/],
    ['another scheme', { url: 'ftp://rater.example.com/' }, /'url' must be an http or https/],
    ['a password in it', { url: 'https://a:b@rater.example.com/' }, /without user name and password/],
    ['a private address', { url: 'https://10.1.2.3/' }, /public internet, which '10.1.2.3' is not/],
    ['the cloud’s own', { url: 'https://169.254.169.254/latest' }, /public internet/],
    ['an inner name', { url: 'https://rater.internal/' }, /public internet/],
    ['an unknown type', { type: 'rater' }, /'type'/],
    ['headers that are none', { headers: { 'a b': '1' } }, /is not a valid header name/],
    ['a header twice', { headers: { 'X-A': '1', 'x-a': '2' } }, /is given twice/],
    ['the service’s own', { headers: { 'Idempotency-Key': '1' } }, /is set by the service/],
    ['an upgrade', { headers: { Upgrade: 'websocket' } }, /is set by the service/],
    ['its signature', { headers: { 'Socotra-Signature': '1' } }, /is set by the service/],
    ['a line break', { headers: { a: '1\r\nb: 2' } }, /one line of Latin text/],
    ['a list', { headers: { a: ['1'] } }, /'headers.a'/],
    [
      'too many headers',
      { headers: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`h${n}`, '1'])) },
      /at most 20 headers/,
    ],
    ['a mask for nothing', { headers: { 'X-Key': MASK } }, /'headers.X-Key' is \*{8}, which stands for/],
    ['a masked address', { url: `${URL_OF}?code=${MASK}` }, /'url\?code' is \*{8}/],
    ['a masked secret', { securitySpec: { secret: MASK } }, /'securitySpec.secret' is \*{8}/],
    ['a tag without a secret', { securitySpec: { tag: 'k' } }, /'securitySpec.tag' needs a secret/],
    ['signing without one', { securitySpec: { hmacEnabled: true } }, /hmacEnabled' needs a secret/],
    ['a secret that cannot sign', { securitySpec: { secret: 'whsec_?' } }, /after whsec_ it must be base64/],
  ]
  it.each(wrong)('is rejected with 400: %s', async (_what, change, message) => {
    const answer = await add({ name: 'wrong', url: URL_OF, ...change })
    expect([answer.status, answer.body.code]).toEqual([400, 'invalidRequest'])
    expect(answer.body.message).toMatch(message)
    expect(await named('wrong')).toBeUndefined()
  })

  it('is rejected with 400 by PUT too, which then changes nothing', async () => {
    await add({ name: 'steady', url: URL_OF, headers: { A: '1' } })
    for (const body of [{}, { url: 'https://10.0.0.1/' }, { url: URL_OF, headers: { 'X-Key': MASK } }])
      expect((await put('steady', body)).status).toBe(400)
    expect(await named('steady')).toMatchObject({ url: URL_OF, headers: { A: '1' } })
  })
})

describe('permission to manage integrations', () => {
  it('belongs to administrators of the tenant, and to authenticateAdmin', async () => {
    const { body } = await callApi<{ authorizationToken: string }>('POST', '/account/authenticateAdmin', {
      body: {
        username: 'administrator',
        password: 'correct horse battery staple',
        tenantLocator: motor.tenantLocator,
      },
    })
    const asAdmin = await call('GET', '/integrations', undefined, {}, body.authorizationToken)
    expect(asAdmin.status).toBe(200)
    expect(asAdmin.body).toEqual((await call('GET', '/integrations')).body)
  })

  it('is denied to other users with 403 and the missing permission, and without a token with 401', async () => {
    for (const [method, path, send] of [
      ['GET', '/integrations', undefined],
      ['POST', '/integrations', { name: 'x', url: URL_OF }],
      ['PUT', '/integrations/x', { url: URL_OF }],
      ['DELETE', '/integrations/x', undefined],
    ] as const) {
      const employee = await call(method, path, send, {}, motor.token)
      expect([employee.status, employee.body.message]).toEqual([
        403,
        expect.stringMatching(/lacks the permission integrations\.(read|write) or deployments\.deploy/),
      ])
      expect((await call(method, path, send, {}, await administrator())).status).toBe(403)
      expect((await callApi(method, path, { body: send })).status).toBe(401)
    }
  })
})

describe('an integration that a product names', () => {
  const deploy = async (suffix: string, files: Parameters<typeof archiveOf>[0]) => {
    const { body } = await callApi<DeployAnswer>('POST', '/configuration/deployTest', {
      token: await administrator(),
      body: deployForm(archiveOf(files), { tenantNameSuffix: suffix }),
    })
    expect(body.success).toBe(true)
    return body.logfile
  }

  it('gets a warning in the log of each deploy until one of the right type exists', async () => {
    const suffix = 'integrations-log'
    const files = externallyRated('quick')
    const own = await motorTenant(suffix, files)
    const missed =
      /WARNING products\/private_motor\/policy\/policy\.json\S* externalRater The tenant has no external rater 'quick'/
    expect(own.logfile).toMatch(missed)
    const token = await own.signIn('anna.admin')
    await call('POST', '/integrations', { name: 'quick', url: URL_OF, type: 'webhook' }, {}, token)
    expect(await deploy(suffix, files)).toMatch(missed)
    await call('DELETE', '/integrations/quick', undefined, {}, token)
    await call('POST', '/integrations', { name: 'quick', url: URL_OF }, {}, token)
    expect(await deploy(suffix, files)).not.toContain('externalRater')
  })

  it('cannot be removed while the newest configuration or one with policies names it', async () => {
    const own = await motorTenant('integrations-use', externallyRated('needed'))
    const token = await own.signIn('anna.admin')
    const rater = await openRater()
    await call('POST', '/integrations', { name: 'needed', url: rater.url }, {}, token)
    const removing = () => call('DELETE', '/integrations/needed', undefined, {}, token)
    const refused = await removing()
    expect([refused.status, refused.body.code]).toEqual([409, 'wrongState'])
    expect(refused.body.message).toMatch(
      /^The newest configuration has a product with "externalRater": "needed"/,
    )

    expect((await own.createPolicy()).status).toBe(200)
    await deployNextVersion(own.tenantName, externallyRated('another'))
    const stillRefused = await removing()
    expect(stillRefused.status).toBe(409)
    expect(stillRefused.body.message).toMatch(/^Configuration version 1, which has policies, has a product/)
  })

  it('can be removed when no configuration in use names it any more', async () => {
    const suffix = 'integrations-unused'
    const own = await motorTenant(suffix, externallyRated('former'))
    const token = await own.signIn('anna.admin')
    await call('POST', '/integrations', { name: 'former', url: URL_OF }, {}, token)
    await deploy(suffix, externallyRated('another'))
    const removed = await call('DELETE', '/integrations/former', undefined, {}, token)
    expect([removed.status, removed.body]).toEqual([200, { externalServiceIntegrations: [] }])
  })
})
