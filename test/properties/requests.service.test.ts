// Malformed requests, generated from the OpenAPI document: odd values, wrong methods and content types, broken and deeply nested
// JSON, injections. No response is 500 or reveals internals, and a rejected request changes nothing. `npm run fuzz -- --runs
// 20000 --seed 7` runs more of them, or others.
import { exports } from 'cloudflare:workers'
import fc from 'fast-check'
import { beforeAll, expect, inject, it } from 'vitest'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'
import { type Api, filledPath, type Operation, readApi, valueFor } from '../support/openapi.ts'
import { administrator } from '../support/sign-in.ts'
import { size } from '../support/sizes.ts'

let motor: Motor
let api: Api
let tokens: string[]
let locators: string[]

beforeAll(async () => {
  await prepareDatabases({ tenants: 4 })
  motor = await motorTenant('fuzz')
  api = await readApi()
  tokens = [motor.token, await motor.signIn('anna.admin'), await administrator()]
  const policyholderLocator = await motor.newPolicyholder()
  const draft = await motor.createPolicy({ policyholderLocator, finalize: false })
  const finalized = await motor.createPolicy({ policyholderLocator })
  const issued = await motor.createPolicy({ policyholderLocator })
  const { body } = await motor.post(`/policy/${issued.body.locator}/issue`)
  locators = [
    policyholderLocator,
    draft.body.locator,
    finalized.body.locator,
    issued.body.locator,
    finalized.body.exposures[0]!.locator,
    body.invoices[0]!.locator,
    motor.tenantLocator,
  ]
}, 120_000)

const TRAPS: readonly string[] = [
  '',
  ' ',
  '0',
  '-1',
  'null',
  'undefined',
  'NaN',
  '../../../etc/passwd',
  '..%2f..%2fx',
  '__proto__',
  'constructor',
  'toString',
  "' or 1=1 --",
  "'; drop table policy; --",
  "%' union select password_hash from account --",
  '" onload="x',
  '<script>alert(1)</script>',
  '{{ 7 | times: 7 }}{{ data }}',
  "{% include 'x' %}{% for a in (1..9999999) %}{% endfor %}",
  '{{secret:x.y}}',
  '$jndi:ldap://x',
  'x\r\nX-Injected: 1',
  'file:documents/x',
  '\u0000',
  '\ud800',
  'a\udc00b',
  '\ufeffx',
  '\u202egnp.exe',
  'İıſKẞ',
  'e\u0301\u0327'.repeat(20),
  '𝕏'.repeat(70),
  '👩‍👩‍👧‍👦',
  'x'.repeat(10_000),
  '9'.repeat(400),
  '1e999',
  '0x10',
  '٣',
  '2026-02-30',
  '253402300800000',
]

const VALUES: readonly unknown[] = [
  null,
  true,
  -0,
  0.1,
  -1,
  1e21,
  1e308,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_VALUE,
  2 ** 53,
  [],
  {},
  [[]],
  [null],
  { a: { b: null } },
  Array.from({ length: 300 }, () => 'x'),
  Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`k${at}`, at])),
]

/** Bodies that are not JSON, or JSON that no client means. */
const RAW: readonly string[] = [
  '{',
  '{"a":1,}',
  '\ufeff{}',
  '""',
  'null',
  '[]',
  '"x"',
  '{"a":1e400}',
  '{"amount":9223372036854775808}',
  '{"__proto__":{"x":1}}',
  '{"a":"\\ud800"}',
  '{"a":1,"a":2}',
  '['.repeat(65) + ']'.repeat(65),
  `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`,
  '['.repeat(100_000),
  `"${'x'.repeat(200_000)}"`,
  '<xml/>',
  'a=b&c=d',
]

const CONTENT_TYPES = [
  'application/json',
  'application/json; charset=utf-16',
  'text/plain',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'x',
]

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND']

const oddText = fc.oneof(fc.constantFrom(...TRAPS), fc.string({ unit: 'binary', maxLength: 40 }))
const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  fc.constantFrom(...VALUES),
  fc.jsonValue({ maxDepth: 3 }),
)

/** Replaces some parts of `value` by odd ones. */
function mutated(value: unknown, odd: readonly unknown[], rate: number, next: () => number): unknown {
  if (next() < rate) return odd[Math.floor(next() * odd.length)]
  if (Array.isArray(value)) return value.map(one => mutated(one, odd, rate, next))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mutated(one, odd, rate, next)]))
  return value
}

function randomFrom(seed: number): () => number {
  let state = seed | 1
  return () => {
    state = Math.imul(state ^ (state >>> 15), 2_246_822_519) ^ Math.imul(state, 3_266_489_917)
    return (state >>> 0) / 2 ** 32
  }
}

type Sent = { method: string; path: string; headers: Record<string, string>; body: BodyInit | null }

type Odd = { which: number; seed: number; values: readonly unknown[]; texts: readonly string[] }

/** A request of the operation with one or more errors, or occasionally none. */
function requestOf(operation: Operation, { seed, values, texts }: Odd): Sent {
  const next = randomFrom(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!
  const path = filledPath(operation.path, name =>
    name === 'tenantLocator' && next() < 0.9
      ? motor.tenantLocator
      : next() < 0.7
        ? pick(locators)
        : pick(texts).toWellFormed() || 'x',
  )
  const queries = operation.parameters
    .filter(one => one.in === 'query' && next() < 0.5)
    .map(one => {
      const value = next() < 0.5 ? String(Math.floor(next() * 2e12)) : pick(texts).toWellFormed()
      return `${one.name}=${encodeURIComponent(value)}`
    })
  const headers: Record<string, string> = {}
  const likelyToken = next() < 0.7 ? tokens[0]! : pick(tokens)
  if (next() < 0.95) headers.authorization = next() < 0.95 ? likelyToken : `Bearer ${'a.'.repeat(9)}`
  if (next() < 0.1) headers['idempotency-key'] = next() < 0.5 ? 'again' : 'k'.repeat(300)
  const method = next() < 0.95 ? operation.method : pick(METHODS)
  const likely =
    operation.path === '/policy' && operation.method === 'POST'
      ? { ...plainYear().request.policy, policyholderLocator: locators[0] }
      : operation.body && valueFor(api, operation.body, '', () => pick([...locators, ...texts]))
  let body: BodyInit | null = null
  if (method !== 'GET' && method !== 'HEAD') {
    if (next() < 0.15) body = pick(RAW)
    else if (likely !== undefined) body = JSON.stringify(mutated(likely, values, 0.15, next)) ?? null
    if (body !== null) headers['content-type'] = next() < 0.85 ? 'application/json' : pick(CONTENT_TYPES)
    if (next() < 0.02) headers['content-encoding'] = 'gzip'
  }
  return { method, path: queries.length > 0 ? `${path}?${queries.join('&')}` : path, headers, body }
}

const FORBIDDEN =
  /SQLITE|D1_ERROR|Failed query|insert into "|select "|update "|\.ts:\d|\.m?js:\d|at async |node_modules|\$scrypt\$|"stack"|"throwable"/i

/** Tables that are also written for rejected requests: the rejections themselves, and failed sign-ins. */
const BESIDE = new Set(['audit', 'plugin_log', 'integration_call', 'sqlite_sequence'])

/** All rows of the tenant's database, except in those tables. */
async function contents(): Promise<string> {
  const database = boundDatabase(poolBinding(1))
  const { results } = await database
    .prepare(`select name from sqlite_master where type = 'table' and substr(name, 1, 3) <> '_cf'`)
    .all<{ name: string }>()
  const tables = results.map(({ name }) => name).filter(name => !BESIDE.has(name))
  const all = await database.batch(tables.map(name => database.prepare(`select * from "${name}"`)))
  return JSON.stringify(all.map(({ results }, at) => [tables[at], results]))
}

/** Number of requests between two comparisons of the data. */
const BLOCK = 25

it('no malformed request gets a 500 or reveals internals, and a rejected request changes no data', async () => {
  let before = await contents()
  let inBlock = 0
  let changed = false
  const counts = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        which: fc.nat(1_000_000),
        seed: fc.nat(),
        values: fc.array(oddValue, { minLength: 3, maxLength: 8 }),
        texts: fc.array(oddText, { minLength: 2, maxLength: 4 }),
      }),
      async odd => {
        const operation = api.operations[odd.which % api.operations.length]!
        const { method, path, headers, body } = requestOf(operation, odd)
        const request = new Request(`http://bindery.test${path}`, { method, headers, body })
        const answer = await exports.default.fetch(request)
        const text = await answer.text()
        counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1)
        const sent = typeof body === 'string' ? body.slice(0, 600) : ''
        const { authorization, ...others } = headers
        const who = tokens.indexOf(authorization ?? '')
        const what = `${method} ${path} token ${who} ${JSON.stringify(others)} ${sent} → ${answer.status} ${text.slice(0, 1_000)}`
        expect(answer.status === 502 || answer.status < 500, what).toBe(true)
        expect(answer.headers.get('x-injected'), what).toBeNull()
        expect(answer.headers.get('x-content-type-options'), what).toBe('nosniff')
        if (answer.status >= 400 && method !== 'HEAD') {
          expect(JSON.parse(text), what).toMatchObject({
            httpErrorCode: answer.status,
            apiErrorCode: expect.any(Number),
            code: expect.any(String),
            message: expect.any(String),
            referenceId: answer.headers.get('x-request-id'),
          })
          expect(text, what).not.toMatch(FORBIDDEN)
        }
        if (answer.status < 400 && !['GET', 'HEAD', 'OPTIONS'].includes(method)) changed = true
        // A failed sign-in is reported in the stream.
        if (path.startsWith('/account/')) changed = true
        inBlock += 1
        if (inBlock < BLOCK) return
        const after = await contents()
        if (!changed) expect(after === before, `One of ${BLOCK} refused requests up to ${what}`).toBe(true)
        before = after
        inBlock = 0
        changed = false
      },
    ),
    {
      seed: inject('fuzz').seed ?? 20261122,
      numRuns: inject('fuzz').runs ?? size(700, 20_000),
      endOnFailure: true,
    },
  )
  // Some requests succeed, and some are rejected for their body, state, path and permission.
  for (const status of [200, 400, 401, 403, 404, 405, 409])
    expect(counts.get(status), `${status}`).toBeGreaterThan(0)
}, 3_600_000)
