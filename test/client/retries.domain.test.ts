// How the client retries, against a server that fails on command.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BinderyError, createClient } from '../../client/index.ts'

type Seen = { method: string; path: string; key: string | undefined; token: string | undefined; body: string }
type Turn = (response: ServerResponse, request: IncomingMessage) => void

let server: ReturnType<typeof createServer>
let baseUrl: string
let seen: Seen[]
/** What the server does with each request, in their order. The last one is repeated. */
let turns: Turn[]

beforeEach(async () => {
  seen = []
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    seen.push({
      method: request.method!,
      path: request.url!,
      key: request.headers['idempotency-key'] as string | undefined,
      token: request.headers.authorization,
      body: Buffer.concat(chunks).toString('latin1'),
    })
    const turn = turns.length > 1 ? turns.shift()! : turns[0]!
    turn(response, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Turn =>
  response => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }
const problem = (status: number, code: string, headers: Record<string, string> = {}): Turn =>
  json(status, { httpStatus: status, httpErrorCode: status, apiErrorCode: 1, code, message: code }, headers)
const broken: Turn = (_, request) => request.socket.destroy()
const brokenInside: Turn = (response, request) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
  response.write('{"locator":')
  setTimeout(() => request.socket.destroy(), 5)
}
const html =
  (status: number): Turn =>
  response => {
    response.writeHead(status, { 'content-type': 'text/html' })
    response.end('<h1>Bad gateway</h1>')
  }
const policy = json(200, { locator: '100000001' })

const QUICK = { firstWaitMs: 1, longestWaitMs: 1_500 }
const client = (options: object = {}) => createClient({ baseUrl, token: 't', retry: QUICK, ...options })
const read = (options: object = {}) =>
  client().get('/policy/{policyLocator}', { params: { path: { policyLocator: '100000001' } }, ...options })
const write = (options: object = {}) =>
  client().post('/policy/{policyLocator}/issue', {
    params: { path: { policyLocator: '100000001' } },
    ...options,
  })

describe('a call is retried', () => {
  test.each([
    ['after 429', problem(429, 'tooManyRequests', { 'retry-after': '0' })],
    ['after 503', problem(503, 'overloaded', { 'retry-after': '0' })],
    ['after 503 without Retry-After', problem(503, 'unavailable')],
    ['after the page of a gateway', html(502)],
    ['after a connection that broke', broken],
    ['after one that broke inside the answer', brokenInside],
  ])('%s, and a write keeps its key', async (_, fault) => {
    turns = [fault, fault, policy]
    expect(await read()).toEqual({ locator: '100000001' })
    turns = [fault, policy]
    expect(await write()).toEqual({ locator: '100000001' })
    expect(seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'POST', 'POST'])
    expect(seen[0]!.key).toBeUndefined()
    expect(seen[3]!.key).toMatch(/^[0-9a-f-]{36}$/)
    expect(seen[4]!.key).toBe(seen[3]!.key)
  })

  test('with its whole body, even if that is a form', async () => {
    turns = [problem(503, 'overloaded', { 'retry-after': '0' }), json(200, { success: true })]
    await client().post('/configuration/deployTest', {
      body: { tenantNameSuffix: 'motor', zipFile: new Blob(['PK file']) },
    })
    expect(seen).toHaveLength(2)
    for (const { body } of seen) expect(body).toMatch(/name="tenantNameSuffix"\r\n\r\nmotor[\s\S]*PK file/)
  })

  test('no sooner than Retry-After says', async () => {
    turns = [problem(503, 'overloaded', { 'retry-after': '1' }), policy]
    const before = performance.now()
    await read()
    expect(performance.now() - before).toBeGreaterThanOrEqual(990)
  })
})

describe('a call is not retried', () => {
  test.each([
    ['a refusal', problem(409, 'wrongState'), 'wrongState'],
    ['a fault of the service', problem(500, 'internal'), 'internal'],
    ['a service of the tenant that failed', problem(502, 'externalRaterFailed'), 'externalRaterFailed'],
    ['a wait that is too long', problem(429, 'tooManyRequests', { 'retry-after': '60' }), 'tooManyRequests'],
  ])('after %s', async (_, fault, code) => {
    turns = [fault]
    const error = await write().catch((thrown: BinderyError) => thrown)
    expect(error).toMatchObject({ name: 'BinderyError', code })
    expect(seen).toHaveLength(1)
  })

  test('more than three times, and the last response becomes the error', async () => {
    turns = [problem(503, 'unavailable', { 'retry-after': '0', 'x-request-id': 'r1' })]
    const error = await write().catch((thrown: BinderyError) => thrown)
    expect(error).toBeInstanceOf(BinderyError)
    expect(error).toMatchObject({
      status: 503,
      code: 'unavailable',
      requestId: 'r1',
      retryAfterSeconds: 0,
      message: 'POST /policy/100000001/issue responded with 503: unavailable',
    })
    expect(seen).toHaveLength(4)
  })

  test('more than three times without a server, and the error of fetch is thrown', async () => {
    turns = [broken]
    await expect(read()).rejects.toThrow(TypeError)
    expect(seen).toHaveLength(4)
  })

  test('once it is aborted, even during a wait', async () => {
    turns = [problem(503, 'unavailable', { 'retry-after': '1' })]
    const controller = new AbortController()
    const call = read({ signal: controller.signal })
    const refused = expect(call).rejects.toThrow('enough')
    await expect.poll(() => seen.length).toBe(1)
    controller.abort(new Error('enough'))
    await refused
    expect(seen).toHaveLength(1)
  })
})

describe('a response that is not from the service', () => {
  test('becomes an error without a problem', async () => {
    turns = [html(403)]
    const error = await read().catch((thrown: BinderyError) => thrown)
    expect(error).toMatchObject({ status: 403, problem: undefined, code: undefined })
  })
})

/** Returns a token that expires this many seconds after it was issued. */
const tokenOf = (name: string, seconds: number): string =>
  `h.${Buffer.from(JSON.stringify({ iat: 1_000, exp: 1_000 + seconds, name })).toString('base64url')}.s`
const signedIn = (token: string): Turn => json(200, { authorizationToken: token, expiresTimestamp: '1' })
const withSignIn = () => client({ signIn: { username: 'a', password: 'p', hostName: 'h' } })
const paths = () => seen.map(({ path }) => path.replace('/account/', ''))

describe('signing in', () => {
  test('happens once for concurrent calls', async () => {
    turns = [signedIn(tokenOf('one', 3_600)), json(200, [])]
    const { get } = withSignIn()
    await Promise.all([get('/products'), get('/products'), get('/products')])
    expect(paths()).toEqual(['authenticate', '/products', '/products', '/products'])
    expect(JSON.parse(seen[0]!.body)).toEqual({ username: 'a', password: 'p', hostName: 'h' })
    expect(seen[0]!.token).toBeUndefined()
    expect(new Set(seen.slice(1).map(({ token }) => token)).size).toBe(1)
  })

  test('works if a proxy serves the service below a path', async () => {
    turns = [signedIn(tokenOf('one', 3_600)), json(200, [])]
    const signIn = { username: 'a', password: 'p', hostName: 'h' }
    await createClient({ baseUrl: `${baseUrl}/bindery/`, signIn }).get('/products')
    expect(seen.map(({ path }) => path)).toEqual(['/bindery/account/authenticate', '/bindery/products'])
    expect(seen[0]).toMatchObject({ key: undefined, token: undefined })
    expect(seen[1]!.token).toBe(`Bearer ${tokenOf('one', 3_600)}`)
  })

  test('is not tried at an address without http or https', () => {
    expect(() => createClient({ baseUrl: 'localhost:8787' })).toThrow(
      new TypeError("baseUrl must begin with 'https://' or 'http://', not 'localhost:'."),
    )
  })

  test('renews a token near its end with the token itself, and with the password if that is rejected', async () => {
    const short = tokenOf('one', 0)
    turns = [
      signedIn(short),
      json(200, []),
      signedIn(tokenOf('two', 0)),
      json(200, []),
      problem(401, 'unauthenticated'),
    ]
    turns.push(signedIn(tokenOf('three', 3_600)), json(200, []))
    const { get } = withSignIn()
    for (let call = 0; call < 3; call += 1) await get('/products')
    expect(paths()).toEqual([
      'authenticate',
      '/products',
      'renewAuthentication',
      '/products',
      'renewAuthentication',
      'authenticate',
      '/products',
    ])
    expect(seen[2]!.token).toBe(`Bearer ${short}`)
  })

  test('replaces a token that is no longer valid once, and repeats the call with its body and key', async () => {
    turns = [
      signedIn(tokenOf('one', 3_600)),
      problem(401, 'unauthenticated'),
      signedIn(tokenOf('two', 3_600)),
    ]
    turns.push(policy, problem(401, 'unauthenticated'))
    const { post } = withSignIn()
    const create = () => post('/policyholder/create', { body: { values: { last_name: 'Keller' } } })
    await create()
    expect(paths()).toEqual(['authenticate', '/policyholder/create', 'authenticate', '/policyholder/create'])
    expect(seen[3]).toMatchObject({
      body: seen[1]!.body,
      key: seen[1]!.key,
      token: `Bearer ${tokenOf('two', 3_600)}`,
    })
    expect(seen[1]!.body).toContain('Keller')
  })

  test('fails with a wrong password without a second try', async () => {
    turns = [problem(401, 'signInFailed')]
    const error = await withSignIn()
      .get('/products')
      .catch((thrown: BinderyError) => thrown)
    expect(error).toMatchObject({ status: 401, code: 'signInFailed' })
    expect(seen).toHaveLength(1)
  })

  test('does not replace a given token that is rejected, but asks a function for another one', async () => {
    turns = [problem(401, 'unauthenticated'), problem(401, 'unauthenticated'), json(200, [])]
    await expect(client().get('/products')).rejects.toThrow(BinderyError)
    expect(seen).toHaveLength(1)
    let asked = 0
    await client({ token: () => `token ${++asked}` }).get('/products')
    expect(seen.map(({ token }) => token)).toEqual(['Bearer t', 'Bearer token 1', 'Bearer token 2'])
  })
})
