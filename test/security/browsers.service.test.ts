// Response headers for browsers: security headers everywhere, and the origins whose pages may read responses.
import { exports } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

let motor: Motor
let admin: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  motor = await motorTenant('browsers')
  admin = await motor.signIn('anna.admin')
})

const PORTAL = 'https://portal.example'

const send = (host: string, path: string, init: RequestInit = {}): Promise<Response> =>
  exports.default.fetch(new Request(`http://${host}${path}`, init))

const setOrigins = (allowedOrigins: unknown[], token = admin) =>
  callApi('PUT', '/tenant/allowedOrigins', { token, body: { allowedOrigins } })

describe('every response', () => {
  it.each([
    ['of a route', '/v1/ping', {}],
    ['of a refusal', '/policies', {}],
    ['of no path', '/nowhere', {}],
    ['of no method', '/v1/ping', { method: 'DELETE' }],
    ['to OPTIONS', '/v1/ping', { method: 'OPTIONS' }],
    ['that is a page', '/docs', {}],
    ['that is the console', '/console', {}],
    ['of the document', '/openapi.json', {}],
    ['of a file that is not there', '/files/x', {}],
    ['of a bad path', '/policy/%00', {}],
  ])('%s has the security headers', async (_, path, init) => {
    const { headers } = await send('bindery.test', path, init)
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      'x-frame-options': 'DENY',
      'cache-control': expect.stringMatching(/no-store|no-cache/),
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('pages of other origins', () => {
  const ask = (origin: string, host = motor.hostname) =>
    send(host, '/policy/1/update', {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    })
  const read = (origin: string, token = motor.token, host = motor.hostname) =>
    send(host, '/products', { headers: { origin, authorization: token } })

  it('can read nothing until the tenant lists them', async () => {
    expect((await ask(PORTAL)).headers.get('access-control-allow-origin')).toBeNull()
    expect((await read(PORTAL)).headers.get('access-control-allow-origin')).toBeNull()
  })

  it('can read responses with a token, but never with credentials of the browser, once they are listed', async () => {
    expect((await setOrigins([PORTAL, PORTAL])).body).toEqual({ allowedOrigins: [PORTAL] })
    expect((await callApi('GET', '/tenant/allowedOrigins', { token: admin })).body).toEqual({
      allowedOrigins: [PORTAL],
    })
    const preflight = await ask(PORTAL)
    expect(preflight.status).toBe(204)
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': PORTAL,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': expect.stringContaining('authorization'),
      vary: 'origin',
    })
    for (const answer of [preflight, await read(PORTAL)]) {
      expect(answer.headers.get('access-control-allow-origin')).toBe(PORTAL)
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    }
    // A page must be able to read why its request was rejected, and to sign in.
    expect((await read(PORTAL, 'x')).headers.get('access-control-allow-origin')).toBe(PORTAL)
    const signIn = await send(motor.hostname, '/account/authenticate', {
      method: 'POST',
      headers: { origin: PORTAL },
    })
    expect(signIn.headers.get('access-control-allow-origin')).toBe(PORTAL)
  })

  it('can read all headers of a file, and request a part of it under conditions', async () => {
    const documents = `/resource/${motor.tenantLocator}/documents`
    await callApi('POST', `${documents}?name=terms_1&staticName=terms`, {
      token: admin,
      body: 'the terms',
      headers: { 'content-type': 'text/plain' },
    })
    const form = new FormData()
    form.set('file', new Blob(['the front']), 'front.txt')
    const medium = await callApi<{ url: string }>('POST', '/media', { token: motor.token, body: form })
    const { pathname } = new URL(medium.body.url)
    const get = (path: string, headers: Record<string, string>) =>
      send(motor.hostname, path, { headers: { origin: PORTAL, ...headers } })
    const answers = [
      await get(`${documents}/terms_1`, { authorization: admin }),
      await get(pathname, { range: 'bytes=0-2' }),
      await get('/products', { authorization: 'x' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 206, 401])
    // Pages may always read these, or only the browser needs them.
    const others =
      /^(?:cache-control|content-length|content-type|vary|access-control-.*|cross-origin-.*|content-security-policy|referrer-policy|strict-transport-security|x-content-type-options|x-frame-options)$/
    const hidden = answers.flatMap(({ headers }) => {
      const exposed = headers.get('access-control-expose-headers')!.split(', ')
      return [...headers.keys()].filter(name => !others.test(name) && !exposed.includes(name))
    })
    expect(hidden).toEqual([])
    expect(await answers[1]!.text()).toBe('the')
    const allowed = (await ask(PORTAL)).headers.get('access-control-allow-headers')!.split(', ')
    expect(allowed).toEqual(
      expect.arrayContaining([
        'range',
        'if-match',
        'if-none-match',
        'if-modified-since',
        'if-unmodified-since',
      ]),
    )
  })

  it('cannot read with an unlisted origin, on another host name or with the token of another tenant', async () => {
    for (const origin of [
      'https://evil.example',
      `${PORTAL}.evil.example`,
      'http://portal.example',
      'null',
      '*',
    ])
      for (const answer of [await ask(origin), await read(origin)])
        expect(answer.headers.get('access-control-allow-origin'), origin).toBeNull()
    const other = await motorTenant('browsers-other')
    expect((await read(PORTAL, other.token)).headers.get('access-control-allow-origin')).toBeNull()
    expect((await ask(PORTAL, other.hostname)).headers.get('access-control-allow-origin')).toBeNull()
  })

  it('can use the shared host if a tenant lists them, but only read responses for that tenant', async () => {
    const SHARED = 'api.local.bindery.test'
    const reader = (answer: Response): string | null => answer.headers.get('access-control-allow-origin')
    const other = await motorTenant('browsers-shared')
    expect(reader(await ask(PORTAL, SHARED))).toBe(PORTAL)
    expect(reader(await read(PORTAL, motor.token, SHARED))).toBe(PORTAL)
    expect(reader(await read(PORTAL, 'x', SHARED))).toBe(PORTAL)
    expect(reader(await read(PORTAL, other.token, SHARED))).toBeNull()
    const signIn = await send(SHARED, '/account/authenticate', {
      method: 'POST',
      headers: { origin: PORTAL },
    })
    expect(reader(signIn)).toBe(PORTAL)
    const EVIL = 'https://evil.example'
    for (const answer of [await ask(EVIL, SHARED), await read(EVIL, motor.token, SHARED)])
      expect(reader(answer)).toBeNull()
  })

  it('can be listed only by administrators, in the form that browsers send, and changes are audited', async () => {
    expect((await setOrigins([PORTAL], motor.token)).status).toBe(403)
    for (const wrong of [
      '*',
      'null',
      '',
      'portal.example',
      `${PORTAL}/`,
      `${PORTAL}/path`,
      'https://*.portal.example',
      'ftp://x.example',
      5,
    ])
      expect((await setOrigins([wrong])).status, String(wrong)).toBe(400)
    const many = Array.from({ length: 21 }, (_, at) => `https://p${at}.example`)
    expect((await setOrigins(many)).status).toBe(400)
    const trail = await callApi<{ entries: { subject: string; details: object }[] }>(
      'GET',
      '/audit/list?action=tenants.write',
      { token: admin },
    )
    expect(trail.body.entries.map(({ subject, details }) => ({ subject, details }))).toEqual([
      { subject: 'allowedOrigins', details: { allowedOrigins: [PORTAL] } },
    ])
  })

  it('lose access on every host when no tenant lists them any more', async () => {
    const SHARED = 'api.local.bindery.test'
    const gone = 'https://gone.example'
    await setOrigins([PORTAL, gone])
    expect((await ask(gone, SHARED)).headers.get('access-control-allow-origin')).toBe(gone)
    await setOrigins([PORTAL])
    for (const host of [SHARED, motor.hostname])
      expect((await ask(gone, host)).headers.get('access-control-allow-origin')).toBeNull()
  })
})
