// No 500 for anything a client sends: random calls of every route, with bodies near what the contract asks.
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { callApi } from '../../support/api.ts'
import { prepareDatabases } from '../../support/databases.ts'
import { type Motor, motorTenant, plainYear } from '../../support/motor.ts'
import { type Api, filledPath, readApi, valueFor } from '../../support/openapi.ts'
import { administrator } from '../../support/sign-in.ts'
import { size } from '../../support/sizes.ts'

let motor: Motor
let api: Api
let tokens: (string | undefined)[]
let locators: string[]

beforeAll(async () => {
  await prepareDatabases({ tenants: 4 })
  motor = await motorTenant('fuzz')
  api = await readApi()
  tokens = [motor.token, await motor.signIn('anna.admin'), await administrator(), undefined, 'nonsense']
  const policyholderLocator = await motor.newPolicyholder()
  const draft = await motor.createPolicy({ policyholderLocator, finalize: false })
  const finalized = await motor.createPolicy({ policyholderLocator })
  locators = [
    policyholderLocator,
    draft.body.locator,
    finalized.body.locator,
    finalized.body.exposures[0]!.locator,
    motor.tenantLocator,
  ]
}, 120_000)

const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    'null',
    '../../x',
    "' or 1=1 --",
    '__proto__',
    'constructor',
    '\u0000',
    '𝕏'.repeat(70),
  ),
)

const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(null, true, 1e308, -0, 1e21, Number.MAX_SAFE_INTEGER, [], {}, [[]], { a: { b: null } }),
)

/** `value` with some of its parts replaced by odd ones. */
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

it('answers every random call with a status below 500 and, when it refuses, with the one shape of errors', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(1_000),
      fc.nat(),
      fc.array(oddValue, { minLength: 3, maxLength: 8 }),
      fc.array(oddText, { minLength: 2, maxLength: 4 }),
      async (which, seed, odd, texts) => {
        const next = randomFrom(seed)
        const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!
        const operation = api.operations[which % api.operations.length]!
        const path = filledPath(operation.path, name =>
          name === 'tenantLocator' ? motor.tenantLocator : next() < 0.7 ? pick(locators) : pick(texts) || 'x',
        )
        const queries = operation.parameters
          .filter(one => one.in === 'query' && next() < 0.5)
          .map(
            one =>
              `${one.name}=${encodeURIComponent(next() < 0.5 ? String(Math.floor(next() * 2e12)) : pick(texts).toWellFormed())}`,
          )
        const likely =
          operation.path === '/policy' && operation.method === 'POST'
            ? { ...plainYear().request.policy, policyholderLocator: locators[0] }
            : operation.body && valueFor(api, operation.body, '', () => pick([...locators, ...texts]))
        const body =
          likely === undefined
            ? operation.method !== 'GET' && next() < 0.1
              ? pick(texts)
              : undefined
            : mutated(likely, odd, 0.15, next)
        const answer = await callApi<Record<string, unknown>>(
          operation.method,
          queries.length > 0 ? `${path}?${queries.join('&')}` : path,
          { token: next() < 0.8 ? tokens[next() < 0.7 ? 0 : 1] : pick(tokens), body },
        )
        const what = `${operation.method} ${path} ${JSON.stringify(body)?.slice(0, 600)} → ${JSON.stringify(answer.body)}`
        expect(answer.status, what).toBeLessThan(500)
        if (answer.status < 400) return
        expect(answer.body, what).toMatchObject({
          httpErrorCode: expect.any(Number),
          apiErrorCode: expect.any(Number),
          code: expect.any(String),
          message: expect.any(String),
          referenceId: answer.headers.get('x-request-id'),
        })
        expect(JSON.stringify(answer.body), what).not.toMatch(/SQLITE|D1_ERROR|\.ts:\d|at async/)
      },
    ),
    { seed: 20261121, numRuns: size(1_000, 20_000), endOnFailure: true },
  )
}, 240_000)
