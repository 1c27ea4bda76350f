// For a tenant, the records of other tenants do not exist. Every route of the OpenAPI document is tried with what another tenant
// owns, so that later routes are covered automatically.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'
import { type Api, filledPath, type Operation, readApi, valueFor } from '../support/openapi.ts'
import { size } from '../support/sizes.ts'

let owner: Motor
let stranger: Motor
let api: Api
/** Everything that the owner has and that can name a record. */
let owned: string[]
/** One record of each place in a response. At full size, all of them. */
let tried: string[]
/** The kinds of each record, in lower case: `policy`, `invoice`, `lookuptable`. */
const kinds = new Map<string, Set<string>>()
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

/** The kind of the record that a place names: `policy` of `events.data.policyLocator`, `invoice` of `policy.invoices.locator`. */
function kindAt(place: string): string {
  const [holder, name] = place.split('.').slice(-2) as [string, string]
  const word = /^(?:locator|id)$/.test(name) ? holder : name
  return word
    .replace(/Locators?$|s$/, '')
    .replace(/ie$/, 'y')
    .toLowerCase()
}

/** Names that the owner gives its records, in the forms that these permit. */
const NAMES = [
  'theirs_secret',
  'theirs-role',
  'theirs_integration',
  'theirs-provider',
  'theirs_token',
  'theirs_table',
]

const DAY_MS = 86_400_000
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString()

const formWith = (field: string, name: string, text: string): FormData => {
  const form = new FormData()
  form.set(field, new Blob([text]), name)
  return form
}

/** Gives the policy one transaction of each kind, a payment, a document and a note. */
async function changePolicy(locator: string): Promise<void> {
  const token = owner.token
  const { body: policy } = await owner.get(`/policy/${locator}`)
  const start = Number(policy.originalContractStartTimestamp)
  const end = Number(policy.effectiveContractEndTimestamp)
  const send = (method: string, path: string, body: unknown = {}) =>
    callOk<{ locator: string }>(method, path, { token, body })
  await send('POST', `/policies/${locator}/endorsements`, {
    endorsementName: 'change_of_contact',
    startTimestamp: start + 30 * DAY_MS,
    fieldValues: { contact_phone: '+49 30 1234567' },
  })
  await send('POST', `/policies/${locator}/renewals`, { renewalEndTimestamp: end + 365 * DAY_MS })
  await send('POST', `/invoice/${policy.invoices[0]!.locator}/pay`, { fieldValues: { method: 'card' } })
  const cancellation = await send('POST', `/policies/${locator}/cancellations`, {
    effectiveTimestamp: start + 100 * DAY_MS,
    name: 'customer_request',
    cancellationCategory: 'other',
  })
  await send('PATCH', `/cancellations/${cancellation.locator}/issue`)
  await send('PATCH', `/cancellations/${cancellation.locator}/reinstate`)
  await send(
    'POST',
    `/policy/${locator}/addDocument?displayName=theirs&documentType=terms`,
    formWith('document', 'terms.pdf', '%PDF-1.4\n%%EOF\n'),
  )
  await send('POST', '/notes', { recordType: 'policy', recordLocator: locator, text: 'theirs' })
}

/** The last word of a path, which names what a response has: `schedules`. Lists are named for what they list. */
const lastWord = (path: string): string =>
  path
    .replace(/\/list$/, '')
    .split('?')[0]!
    .split('/')
    .at(-1)!

/** Creates records that do not belong to a policy, and returns the responses with their locators and those of lists. */
async function makeOthers(): Promise<[of: string, body: unknown][]> {
  const token = await owner.signIn('anna.admin')
  const { tenantLocator } = owner
  const resources = `/resource/${tenantLocator}`
  const policyholderLocator = await owner.newPolicyholder()
  const [secret, role, integration, provider, name, table] = NAMES
  const requests: [method: string, path: string, body?: unknown][] = [
    ['POST', '/media', formWith('file', 'front.jpg', 'a photograph')],
    ['POST', '/report/ledger?wait=20', { period: 'previousDay' }],
    [
      'POST',
      '/reports/schedules',
      {
        reportName: 'ledger',
        calendar: { every: 'day', hour: 6 },
        parameters: { period: 'previousDay' },
      },
    ],
    ['POST', `/policy/${tenantLocator}/quickquotes`, { ...plainYear().request.policy, policyholderLocator }],
    ['POST', `${resources}/secrets`, { name: secret, staticName: secret, secret: { key: 'chalk' } }],
    ['POST', '/auth/roles', { name: role, permissions: ['policies.read'] }],
    ...[integration, 'theirs_autofill'].map((one, at): [string, string, object] => [
      'POST',
      '/integrations',
      {
        apiVersion: '3',
        name: one,
        url: 'https://rater.example.com/',
        type: at === 0 ? 'external_rater' : 'data_autofill',
      },
    ]),
    ['PUT', '/integrations/autofill', { operation: '*.*.*', callSequence: ['theirs_autofill'] }],
    [
      'PUT',
      `/auth/providers/${provider}`,
      {
        issuer: 'https://issuer.example.com',
        clientId: 'x',
        mappings: [{ claim: 'groups', value: 'x', roles: ['account.tenant.admin'] }],
      },
    ],
    [
      'POST',
      '/auth/users/tokens',
      { name, permissions: ['policies.read'], tenants: [], expiresAt: inDays(3) },
    ],
    [
      'POST',
      '/account/v1/account',
      { name: 'theirs', email: 'r@example.com', type: 'service', username: 'theirs' },
    ],
    [
      'POST',
      `${resources}/tables?name=${table}&staticName=${table}`,
      formWith('file', 't.csv', 'a,value\n1,2\n'),
    ],
    [
      'POST',
      `${resources}/groups`,
      { name: 'theirs', selectionStartTime: inDays(1), resourceNames: [table] },
    ],
    ['GET', '/account/v1/accounts/list'],
    ['GET', `/event/${tenantLocator}/events/list`],
    ['GET', '/deployments/log/list'],
  ]
  const answers: [string, unknown][] = []
  for (const [method, path, body] of requests)
    answers.push([lastWord(path), await callOk(method, path, { token, body })])
  for (const path of ['/policies', '/policyholders', '/audit/list', `/event/${tenantLocator}/events/list`])
    pages.push(...pagingTokensIn(await callOk('GET', `${path}?pageSize=1&extended=true`, { token })))
  return answers
}

/** Tokens that continue the owner's lists. */
const pages: string[] = []

const pagingTokensIn = (value: unknown, name = ''): string[] =>
  typeof value === 'string'
    ? name === 'pagingToken'
      ? [value]
      : []
    : Object.entries(value ?? {}).flatMap(([key, inner]) => pagingTokensIn(inner, key))

/** What the first responses have. */
const ANSWERS = ['policyholder', 'policies', 'policy', 'price', 'events', 'webhooks']

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
  await changePolicy(policyLocator)
  const others = await makeOthers()
  shared.add(policy.productLocator)
  // The administration account that deployed to both.
  const { results } = await env.CONTROL.prepare('select locator from administrator').all<{
    locator: string
  }>()
  for (const { locator } of results) shared.add(locator)
  const isOwn = (one: string): boolean => !shared.has(one) && !(one.length >= 13 && /^\d+$/.test(one))
  const read = answers.map(({ body }, at): [string, unknown] => [ANSWERS[at]!, body])
  const found = [...read, ...others]
    .flatMap(([of, body]) => locatorsIn(body, of))
    .filter(([, one]) => isOwn(one))
  for (const [place, one] of found) kinds.set(one, (kinds.get(one) ?? new Set()).add(kindAt(place)))
  for (const name of NAMES) kinds.set(name, new Set([name.replace(/^theirs./, '')]))
  owned = [...new Set([owner.tenantLocator, ...found.map(([, locator]) => locator)])]
  const firsts = new Map(found.toReversed()).values()
  tried = size([...new Set([owner.tenantLocator, ...firsts])], owned)
  api = await readApi()
}, 120_000)

const reveals = (text: string): string | undefined =>
  owned.find(one => text.includes(one)) ??
  [owner.tenantName, owner.hostname].find(name => text.includes(name))

/** Whether a parameter or property of this name can name a record. */
const isWord = (name: string): boolean => /locator|name|token|subject|key|reference/i.test(name)

const queryWords = ({ parameters }: Operation): string[] =>
  parameters.filter(one => one.in === 'query' && isWord(one.name)).map(({ name }) => name)

/** Counts the places where a request can name a record. */
const wordsOf = (route: Operation): number =>
  (route.path.replace('{tenantLocator}', '').match(/\{/g)?.length ?? 0) +
  queryWords(route).length +
  (route.body || route.multipart ? 1 : 0)

/** Everything that a route calls a record by, in lower case: its path, and the names of its parameters and properties. */
function textOf(route: Operation): string {
  const names: string[] = []
  const schema = route.body ?? route.multipart
  if (schema)
    valueFor(api, schema, '', name => {
      names.push(name)
      return 'x'
    })
  return [route.path, ...queryWords(route), ...names].join(' ').replaceAll(/ies\b/g, 'y').toLowerCase()
}

/** The share of the routes for which a record is tried where none of its kind is expected. */
const SHARE = size(6, 1)

/**
 * What a route is tried with: the tenant, each record and name of a kind that the route mentions, and of the others a share, which
 * differs from route to route.
 */
function triedWith(route: Operation, at: number): string[] {
  const text = textOf(route)
  const isOfRoute = (one: string): boolean => [...(kinds.get(one) ?? [])].some(kind => text.includes(kind))
  const isTurn = (nth: number, share: number): boolean => (at + nth) % share === 0
  const takesPages = text.includes('pagingtoken')
  return [
    owner.tenantLocator,
    ...tried
      .filter(one => one !== owner.tenantLocator)
      .filter((one, nth) => isOfRoute(one) || isTurn(nth, SHARE)),
    ...NAMES.filter((one, nth) => isOfRoute(one) || isTurn(nth, Math.min(SHARE, 3))),
    ...pages.filter((_, nth) => takesPages || isTurn(nth, Math.min(SHARE, pages.length))),
  ]
}

/** Returns something of the same form that neither tenant has. */
const nobody = (one: string): string =>
  /^\d+$/.test(one)
    ? String(256 * 4_000_003)
    : LOCATOR.test(one)
      ? `0f0e0d0c-0000-${one.slice(14, 15)}000-8000-0000000000${one.slice(-2)}`
      : one.replace('theirs', 'nobody')

const formFrom = (values: object): FormData => {
  const form = new FormData()
  for (const [key, value] of Object.entries(values))
    form.set(key, /file|document/i.test(key) ? new Blob(['a,value\n1,2\n']) : String(value))
  return form
}

/** Calls the route with the value wherever a record can be named. Returns the status and the body without that value. */
async function shownFor(route: Operation, value: string, withQuery: boolean, token: string): Promise<string> {
  const query = withQuery ? `?${new URLSearchParams(queryWords(route).map(name => [name, value]))}` : ''
  const path = filledPath(route.path, name => (name === 'tenantLocator' ? stranger.tenantLocator : value))
  const schema = route.body ?? route.multipart
  const values = schema && valueFor(api, schema, '', name => (isWord(name) ? value : 'x'))
  const body = values && !route.body ? formFrom(values) : values
  const answer = await callApi(route.method, `${path}${query}`, { token, body })
  const text = JSON.stringify(answer.body)
    .replaceAll(encodeURIComponent(value), '…')
    .replaceAll(value, '…')
    .replaceAll(value.toLowerCase(), '…')
  return `${answer.status} ${text}`
}

/** Compares only the status of a success, and no locators and times in an error. */
const withoutChance = (shown: string): string =>
  shown.startsWith('200')
    ? '200'
    : shown.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d{9,}|\d{4}-\d\d-\d\dT[\d:.]+Z/g, '')

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
      const body = route.body && valueFor(api, route.body, '', () => 'x')
      const { status } = await callApi(route.method, path, { token: admin, body })
      expect(status, `${route.method} ${path}`).toBe(404)
    }
  })

  it('gets the same response for what the first has as for what nobody has, and no information about it', async () => {
    expect(tried.length).toBeGreaterThan(40)
    expect(pages).toHaveLength(4)
    const admin = await stranger.signIn('anna.admin')
    const routes = api.operations.filter(
      one => one.needsToken && one.access !== 'administration' && wordsOf(one) > 0,
    )
    expect(routes.length).toBeGreaterThan(200)
    const times = new Map<string, number>()
    for (const [at, route] of routes.entries()) {
      const values = triedWith(route, at)
      for (const one of values) times.set(one, (times.get(one) ?? 0) + 1)
      const queries = queryWords(route).length > 0 ? [false, true] : [false]
      for (const withQuery of queries) {
        const nobodys = new Map<string, string>()
        for (const one of values) {
          const other = nobody(one)
          const name = `${route.method} ${route.path}${withQuery ? '?' : ''} with ${one}`
          // A paging token is a position, which nobody owns: only what it shows matters.
          if (!nobodys.has(other) && !pages.includes(one))
            nobodys.set(other, await shownFor(route, other, withQuery, admin))
          const shown = await shownFor(route, one, withQuery, admin)
          expect(reveals(shown), name).toBeUndefined()
          expect(Number(shown.slice(0, 3)), name).toBeLessThan(500)
          if (pages.includes(one)) continue
          expect(withoutChance(shown), name).toBe(withoutChance(nobodys.get(other)!))
          // Other routes may have given the stranger records of the same names.
          const isLocator = LOCATOR.test(one) && one !== owner.tenantLocator
          if (isLocator && namesRecord(route) && route.method === 'GET')
            expect(shown, name).toMatch(/^4(?:00|03|04) /)
        }
      }
    }
    for (const one of [...tried, ...NAMES, ...pages])
      expect(times.get(one), one).toBeGreaterThanOrEqual(Math.floor(routes.length / SHARE))
  }, 600_000)

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
