// For a tenant, the records of other tenants do not exist. Every route of the OpenAPI document is tried with what another tenant
// owns, so that later routes are covered automatically.
import { beforeAll, describe, expect, it } from 'vitest'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'
import { type Api, filledPath, type Operation, readApi, valueFor } from '../support/openapi.ts'
import { size } from '../support/sizes.ts'

let owner: Motor
let stranger: Motor
let api: Api
/** Everything that the owner has and that can name a record. */
let owned: string[]
/** One of each kind of record, by its place in a response. At full size, all of them. */
let tried: string[]
let policyLocator: string

const LOCATOR = /^(?:[0-9a-f]{8}-[0-9a-f-]{27}|[1-9]\d{8,15})$/
/** Records that both tenants share, because they are derived from the configuration alone. */
const shared = new Set<string>()

/** Every locator with its place: the names of properties. Items of a list have the place of the list. */
const locatorsIn = (value: unknown, place = ''): [place: string, locator: string][] =>
  typeof value === 'string'
    ? LOCATOR.test(value)
      ? [[place, value]]
      : []
    : Object.entries(value ?? {}).flatMap(([name, inner]) =>
        locatorsIn(inner, Array.isArray(value) ? place : `${place}.${name}`),
      )

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  owner = await motorTenant('owner')
  stranger = await motorTenant('stranger')
  const policyholderLocator = await owner.newPolicyholder()
  const { body: policy } = await owner.createPolicy({ policyholderLocator }, { 'idempotency-key': 'theirs' })
  policyLocator = policy.locator
  await owner.post(`/policy/${policy.locator}/issue`)
  await owner.createPolicy({ policyholderLocator, finalize: false })
  const answers = await Promise.all([
    owner.get(`/policyholder/${policyholderLocator}`),
    owner.get(`/policyholder/${policyholderLocator}/policies`),
    owner.get(`/policy/${policy.locator}?summarizeQuotes=true`),
    owner.get(`/policy/${policy.locator}/price`),
    owner.get('/eventstream/events?eventType=policy.issue'),
    callApi('POST', `/event/${owner.tenantLocator}/webhooks`, {
      token: await owner.signIn('anna.admin'),
      body: {
        name: 'theirs',
        enabled: true,
        endpoint: { url: 'http://127.0.0.1:9/never', headers: {} },
        failureHandling: { triggers: [], divert: false, suspend: false },
        eventTypes: ['claim.open'],
      },
    }),
  ])
  shared.add(policy.productLocator)
  const isOwn = (one: string): boolean => !shared.has(one) && !(one.length >= 13 && /^\d+$/.test(one))
  const found = answers
    .flatMap((answer, at) => locatorsIn(answer.body, String(at)))
    .filter(([, one]) => isOwn(one))
  owned = [...new Set([owner.tenantLocator, ...found.map(([, locator]) => locator)])]
  const firsts = new Map(found.toReversed()).values()
  tried = size([...new Set([owner.tenantLocator, ...firsts])], owned)
  api = await readApi()
}, 120_000)

const reveals = (text: string): string | undefined =>
  owned.find(one => text.includes(one)) ??
  [owner.tenantName, owner.hostname].find(name => text.includes(name))

const call = (operation: Operation, path: string, token: string, text: (name: string) => string) =>
  callApi(operation.method, path, {
    token,
    body: operation.body && valueFor(api, operation.body, '', text),
  })

/**
 * Whether a path names a record other than the tenant, which is the stranger's own here. Auxiliary data is filed under any text,
 * including a record of another tenant, and a type of resources is not a record.
 */
const namesRecord = ({ path }: Operation): boolean =>
  !path.startsWith('/auxData/') && path.replace('{tenantLocator}', '').replace('{type}', '').includes('{')

describe('A second tenant', () => {
  it('gets 404 for every path with the tenant locator of the first', async () => {
    const admin = await stranger.signIn('anna.admin')
    const routes = api.operations.filter(one => one.path.includes('{tenantLocator}'))
    for (const route of routes) {
      const path = filledPath(route.path, name =>
        name === 'tenantLocator' ? owner.tenantLocator : owned[1]!,
      )
      const { status } = await call(route, path, admin, () => 'x')
      expect(status, `${route.method} ${path}`).toBe(404)
    }
  })

  it('gets 404 (or 400, 403) for every path with a record of the first, and no information about it', async () => {
    expect(tried.length).toBeGreaterThan(20)
    const admin = await stranger.signIn('anna.admin')
    const routes = api.operations.filter(one => namesRecord(one) && one.needsToken && !one.multipart)
    expect(routes.length).toBeGreaterThan(10)
    for (const route of routes)
      for (const locator of tried) {
        const path = filledPath(route.path, name =>
          name === 'tenantLocator' && locator !== owner.tenantLocator ? stranger.tenantLocator : locator,
        )
        const { status, body } = await call(route, path, admin, name =>
          name.toLowerCase().endsWith('locator') ? locator : 'x',
        )
        const shown = JSON.stringify(body).replaceAll(locator, '')
        expect(reveals(shown), `${route.method} ${path}`).toBeUndefined()
        expect([400, 403, 404], `${route.method} ${path} answered ${status}: ${shown}`).toContain(status)
        if (route.method === 'GET' && !route.parameters.some(one => one.in === 'query' && one.required))
          expect([403, 404], `${route.method} ${path}`).toContain(status)
      }
  }, 300_000)

  it('sees no record of the first in any list, nor when it names one in a request body', async () => {
    const admin = await stranger.signIn('anna.admin')
    const routes = api.operations.filter(one => !namesRecord(one) && one.needsToken && !one.multipart)
    for (const route of routes) {
      const query = route.path.startsWith('/eventstream') ? '?startTimestamp=0' : ''
      for (const locator of route.body ? tried : tried.slice(0, 1)) {
        const path = filledPath(route.path, () => stranger.tenantLocator)
        const { body } = await call(route, `${path}${query}`, admin, name =>
          name.toLowerCase().endsWith('locator') ? locator : 'x',
        )
        const shown = JSON.stringify(body).replaceAll(locator, '')
        expect(reveals(shown), `${route.method} ${route.path} with ${locator}`).toBeUndefined()
      }
    }
  }, 300_000)

  it('gets 404 when it creates a policy for a policyholder of the first', async () => {
    const theirs = await owner.newPolicyholder()
    const { status, body } = await stranger.createPolicy({ policyholderLocator: theirs })
    expect(status).toBe(404)
    expect(body).toMatchObject({ code: 'notFound' })
  })

  it('gets its own response for an Idempotency-Key that the first has used', async () => {
    const { status, body } = await stranger.createPolicy(
      { ...plainYear().request.policy },
      { 'idempotency-key': 'theirs' },
    )
    expect(status).toBe(200)
    expect(body.locator).not.toBe(policyLocator)
  })

  it('cannot sign in as a user of the first', async () => {
    const { status } = await callApi('POST', '/account/authenticate', {
      body: { username: 'alice.agent', password: 'wrong', tenantName: owner.tenantName },
    })
    expect(status).toBe(401)
  })
})
