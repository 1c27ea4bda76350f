// The typed client against the service: it signs in by itself, returns whole lists, writes once, and throws refusals as errors.
import { strFromU8, unzipSync } from 'fflate'
import { beforeAll, describe, expect, test } from 'vitest'
import { type BinderyClient, BinderyError } from '../../client/index.ts'
import { itemsOf, LIST_PROPERTIES } from '../../client/paging.ts'
import { callOk } from '../support/api.ts'
import { clientOf } from '../support/client.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'
import type { JsonSchema } from '../support/openapi.ts'

let tenant: Motor
let agent: BinderyClient
let admin: BinderyClient

/** The password of all users in examples/motor/configuration/security/test_users.json. */
const password = 'password'
const signedIn = (username: string): BinderyClient =>
  clientOf({ signIn: { username, password, tenantName: tenant.tenantName } })

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  tenant = await motorTenant('client')
  agent = signedIn('alice.agent')
  admin = signedIn('anna.admin')
})

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

const newPolicyholder = (last_name: string) =>
  agent.post('/policyholder/create', {
    body: { completed: true, values: { ...plainYear().request.policyholder.values, last_name } },
  })

describe('the client', () => {
  test('goes from a policyholder to a paid invoice and a renewal with typed responses', async () => {
    const holder = await newPolicyholder('Keller')
    const { locator } = await agent.post('/policy', {
      body: {
        ...plainYear().request.policy,
        policyholderLocator: holder.locator,
      },
    })
    const params = { path: { policyLocator: locator } }
    const price = await agent.get('/policy/{policyLocator}/price', { params })
    expect(price.totalDue).toBe(Number(plainYear().expected.total))
    const issued = await agent.post('/policy/{policyLocator}/issue', { params })
    expect(issued.issuedTimestamp).toMatch(/^\d{13}$/)
    const [invoice] = issued.invoices
    const paid = await agent.post('/invoice/{invoiceLocator}/pay', {
      params: { path: { invoiceLocator: invoice!.locator } },
      body: { fieldValues: { method: 'card' } },
    })
    expect(paid).toMatchObject({ invoiceLocator: invoice!.locator })
    const end = Number(issued.originalContractEndTimestamp)
    const renewal = await agent.post('/policies/{policyLocator}/renewals', {
      params,
      body: { renewalEndTimestamp: end + 365 * 86_400_000 },
    })
    const about = { params: { path: { renewalLocator: renewal.locator } } }
    await agent.patch('/renewals/{renewalLocator}', { ...about, body: { action: 'quote' } })
    const decided = await agent.get('/renewals/{renewalLocator}/automatedUnderwritingResult', about)
    expect(decided.decision).toBe('accept')
  })

  test('throws a refusal as a BinderyError with its code, message and request id', async () => {
    const error = await agent
      .get('/policy/{policyLocator}', { params: { path: { policyLocator: '999999999' } } })
      .catch((thrown: BinderyError) => thrown)
    expect(error).toBeInstanceOf(BinderyError)
    expect(error).toMatchObject({
      status: 404,
      code: 'notFound',
      message: "GET /policy/999999999 responded with 404: There is no policy '999999999'.",
    })
    expect((error as BinderyError).requestId).toBe((error as BinderyError).problem!.referenceId)
  })

  test('writes once when it gets an idempotency key twice, and otherwise sends a new key with each call', async () => {
    const body = { completed: true, values: plainYear().request.policyholder.values }
    const headers = { 'idempotency-key': 'the-same' }
    const [first, second] = [
      await agent.post('/policyholder/create', { body, headers }),
      await agent.post('/policyholder/create', { body, headers }),
    ]
    expect(second.locator).toBe(first.locator)
    const third = await agent.post('/policyholder/create', { body })
    expect(third.locator).not.toBe(first.locator)
  })

  test('returns the locator of its tenant, and signs in again when its tokens were revoked', async () => {
    expect(await agent.tenantLocator()).toBe(tenant.tenantLocator)
    const accounts = await collected(admin.list('/account/v1/accounts/list'))
    const { id: locator } = accounts.find(({ username }) => username === 'alice.agent')!
    await admin.post('/auth/users/{locator}/revoke', { params: { path: { locator } } })
    expect((await agent.get('/auth/permissions')).username).toBe('alice.agent')
  })

  test('stops when it is aborted', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(agent.get('/auth/permissions', { signal })).rejects.toThrow('enough')
  })

  test('reads, changes and retires a resource group', async () => {
    const path = { tenantLocator: tenant.tenantLocator }
    const { locator } = await admin.post('/resource/{tenantLocator}/groups', {
      params: { path },
      body: { name: 'winter', selectionStartTime: '2026-01-01T00:00:00Z', resourceNames: [] },
    })
    const params = { path: { ...path, locator } }
    const group = await admin.get('/resource/{tenantLocator}/groups/{locator}', { params })
    expect(group.name).toBe('winter')
    const changed = await admin.patch('/resource/{tenantLocator}/groups/{locator}', {
      params,
      body: {
        name: 'late winter',
        selectionStartTime: '2026-02-01T00:00:00Z',
        addResources: [],
        removeResources: [],
      },
    })
    expect(changed.name).toBe('late winter')
    const retired = await admin.patch('/resource/{tenantLocator}/groups/{locator}/retire', { params })
    expect(retired.name).toBe('late winter')
  })

  test('creates and changes a webhook', async () => {
    const path = { tenantLocator: tenant.tenantLocator }
    const { locator } = await admin.post('/event/{tenantLocator}/webhooks', {
      params: { path },
      body: {
        name: 'ledger',
        enabled: false,
        endpoint: { url: 'https://example.com/hook', headers: {} },
        eventTypes: ['policy.issue'],
        failureHandling: { triggers: ['5xx'], divert: false, suspend: false },
      },
    })
    const changed = await admin.patch('/event/{tenantLocator}/webhooks/{webhookLocator}', {
      params: { path: { ...path, webhookLocator: locator } },
      body: {
        name: 'general ledger',
        enabled: false,
        endpoint: null,
        failureHandling: null,
        removeFailureHandling: false,
        addEventTypes: ['policy.cancel'],
        removeEventTypes: ['policy.issue'],
      },
    })
    expect(changed).toMatchObject({ name: 'general ledger', eventTypes: ['policy.cancel'] })
  })

  test('uploads a file as a form or as bytes, and downloads it as a Blob', async () => {
    const path = { tenantLocator: tenant.tenantLocator }
    const file = new Blob(['code,factor\nA,1.5\n'], { type: 'text/csv' })
    for (const [staticName, body] of Object.entries({ form: { file }, bytes: file })) {
      const query = { staticName, name: `${staticName}_1` }
      const made = await admin.post('/resource/{tenantLocator}/tables', { params: { path, query }, body })
      expect(made.name).toBe(query.name)
      const params = { path: { ...path, name: query.name } }
      const down = await admin.get('/resource/{tenantLocator}/tables/{name}', { params })
      const [csv] = Object.values(unzipSync(new Uint8Array(await down.arrayBuffer())))
      expect(strFromU8(csv!)).toBe('code,factor\nA,1.5\n')
    }
  })
})

describe('a list of the client', () => {
  const names = ['Adler', 'Bauer', 'Conrad', 'Dietz', 'Ebert']
  let policyholders: string[]
  beforeAll(async () => {
    policyholders = []
    for (const name of names) policyholders.push((await newPolicyholder(name)).locator)
  })

  test('is complete when pages have tokens', async () => {
    const query = { pageSize: 2, searchField: 'last_name', searchValue: 'Conrad' }
    const found = await collected(agent.list('/policyholders', { params: { query } }))
    expect(found.map(({ locator }) => locator)).toEqual([policyholders[2]])
    const all = await collected(agent.list('/policyholders', { params: { query: { pageSize: 2 } } }))
    const locators = all.map(({ locator }) => locator)
    expect(locators).toEqual(expect.arrayContaining(policyholders))
    expect(new Set(locators).size).toBe(locators.length)
  })

  test('is complete when pages have an offset and a count, and say whether there is more', async () => {
    const query = { count: 1 }
    const pages = await collected(admin.pages('/account/v1/accounts/list', { params: { query } }))
    expect(pages.length).toBeGreaterThan(1)
    for (const { items } of pages) expect(items).toHaveLength(1)
    const accounts = await collected(admin.list('/account/v1/accounts/list', { params: { query } }))
    expect(accounts.map(({ username }) => username)).toEqual(
      expect.arrayContaining(['alice.agent', 'anna.admin']),
    )
  })

  test('is complete when pages have an offset and a count, and are bare lists', async () => {
    const path = { tenantLocator: tenant.tenantLocator }
    for (const name of ['spring', 'summer', 'autumn'])
      await admin.post('/resource/{tenantLocator}/groups', {
        params: { path },
        body: { name, selectionStartTime: '2026-01-01T00:00:00Z', resourceNames: [] },
      })
    const groups = await collected(
      admin.list('/resource/{tenantLocator}/groups/list', { params: { path, query: { count: 2 } } }),
    )
    expect(groups.map(({ name }) => name)).toEqual(expect.arrayContaining(['spring', 'summer', 'autumn']))
  })

  test('is complete when pages have numbers', async () => {
    const path = { locator: policyholders[0]! }
    const keys = Array.from({ length: 150 }, (_, at) => `key ${String(at).padStart(3, '0')}`)
    const auxData = keys.map(key => ({ key, value: 'v' }))
    await agent.put('/auxData/{locator}', { params: { path }, body: { auxData } })
    const listed = await collected(agent.list('/auxData/{locator}', { params: { path, query: { page: 0 } } }))
    expect(listed.map(({ key }) => key).sort()).toEqual(keys)
  })

  test('of events ends at the present, and continues from the last token', async () => {
    const query = { eventType: 'policyholder.create', pageSize: 3 }
    const pages = await collected(admin.pages('/eventstream/events', { params: { query } }))
    const holdersInEvents = pages.flatMap(({ events }) => events.map(({ data }) => data.policyholderLocator))
    expect(holdersInEvents).toEqual(expect.arrayContaining(policyholders))
    const { pagingToken } = pages.at(-1)!
    const { locator } = await newPolicyholder('Fuchs')
    const later = await collected(admin.list('/eventstream/events', { params: { query: { pagingToken } } }))
    expect(later.map(({ data }) => data.policyholderLocator)).toEqual([locator])
  })

  test('has a form that the client knows, for every list in the contract', async () => {
    const { paths, components } = await callOk<Document>('GET', '/openapi.json')
    const resolved = (schema: JsonSchema): JsonSchema =>
      schema.$ref ? components.schemas[schema.$ref.split('/').at(-1)!]! : schema
    // Exports are lines of NDJSON, and the last line of each page says how to continue.
    const paged = Object.entries(paths).filter(
      ([path, { get }]) =>
        !path.startsWith('/export/') &&
        get?.parameters?.some(
          ({ in: place, name }) => place === 'query' && /^(?:pagingToken|offset|page)$/.test(name),
        ),
    )
    expect(paged.length).toBeGreaterThan(25)
    for (const [path, { get }] of paged) {
      const schema = resolved(get!.responses[200]!.content['application/json']!.schema)
      for (const form of (schema.anyOf ?? schema.oneOf ?? [schema]).map(resolved)) {
        const lists = LIST_PROPERTIES.filter(name => resolved(form.properties?.[name] ?? {}).type === 'array')
        expect(form.type === 'array' ? ['itself'] : lists, path).toHaveLength(1)
      }
    }
  })

  test('cannot be read from a response that is not a page', () => {
    expect(() => itemsOf({ locator: '1' })).toThrow('not a page of a list')
  })
})

type Operation = {
  parameters?: { in: string; name: string }[]
  responses: Record<number, { content: Record<string, { schema: JsonSchema }> }>
}
type Document = {
  paths: Record<string, { get?: Operation }>
  components: { schemas: Record<string, JsonSchema> }
}
