// A client that gave up waiting repeats its request with the same Idempotency-Key while the first is still running. At whichever
// moment that happens, both get the response of the one that did the work: the repeat is not rejected because the name is taken or
// the record is gone.
import { beforeAll, expect, it } from 'vitest'
import { type Answer, callApi, callOk } from '../../support/api.ts'
import { afterBatches } from '../../support/between-batches.ts'
import { prepareDatabases } from '../../support/databases.ts'
import { type Motor, motorTenant } from '../../support/motor.ts'

let motor: Motor
let admin: string
let holder: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('repeats')
  admin = await motor.signIn('anna.admin')
  holder = await motor.newPolicyholder()
})

type Write = { method: string; path: string; body?: unknown; ifMatch?: string }

const DAY_MS = 86_400_000

const FIRST_DAY = Date.UTC(2020, 0, 1)

let daysClosed = 0

let names = 0

/** A name that is not used yet. */
const newName = (): string => {
  names += 1
  return `n${names}`
}

const make = <Body>(path: string, body: unknown): Promise<Body> =>
  callOk<Body>('POST', path, { token: admin, body })

const tagOf = async (path: string): Promise<string> =>
  (await callApi('GET', path, { token: admin })).headers.get('etag')!

const of = (path: string): string => path.replace('{tenant}', motor.tenantLocator)
const WEBHOOKS = '/event/{tenant}/webhooks'
const SECRETS = '/resource/{tenant}/secrets'
const ACCOUNTS = '/account/v1/account'
const TOKENS = '/auth/users/tokens'
const SCHEDULES = '/reports/schedules'
const REPORT = '/report/writtenPremium'

const webhook = () => ({
  name: newName(),
  enabled: true,
  eventTypes: ['policy.create'],
  endpoint: { url: 'http://localhost:9/x', headers: {}, secureSsl: false, hmacEnabled: false },
})
const integration = () => ({
  name: newName(),
  type: 'external_rater',
  url: 'http://localhost:9/x',
  headers: {},
})
const account = () => ({
  username: newName(),
  name: 'Ada',
  email: 'ada@example.com',
  password: 'Rhabarber-7-Kisten',
  type: 'account.tenant.employee',
})
const role = () => ({ name: newName(), permissions: ['policies.read'] })
const secret = () => ({ name: newName(), staticName: newName(), secret: { key: 'geheim' } })
const note = () => ({ recordType: 'policyholder', recordLocator: holder, text: 'Rang twice.' })
const token = () => ({
  name: newName(),
  permissions: ['policies.read'],
  tenants: ['any'],
  expiresAt: new Date(Date.now() + DAY_MS).toISOString(),
})
const schedule = {
  reportName: 'writtenPremium',
  parameters: { period: 'previousDay' },
  calendar: { every: 'day', hour: 6 },
}
const period = { from: 1_798_758_000_000, to: 1_814_482_800_000 }

const post = (path: string, body: unknown): Write => ({ method: 'POST', path: of(path), body })
const remove = (path: string, name: string): Write => ({ method: 'DELETE', path: `${of(path)}/${name}` })
const createdLocator = async (path: string, body: unknown): Promise<string> =>
  (await make<{ locator: string }>(of(path), body)).locator
const named = async (path: string, body: { name: string }): Promise<string> => {
  await make(of(path), body)
  return body.name
}
const stopped = async (): Promise<string> => {
  const locator = await createdLocator(REPORT, period)
  await callApi('PATCH', `/report/${locator}/pause`, { token: admin })
  return locator
}

const writes: Record<string, () => Promise<Write>> = {
  'POST webhook': async () => post(WEBHOOKS, webhook()),
  'PATCH webhook with If-Match': async () => {
    const path = `${of(WEBHOOKS)}/${await createdLocator(WEBHOOKS, webhook())}`
    return { method: 'PATCH', path, body: { name: newName() }, ifMatch: await tagOf(path) }
  },
  'DELETE webhook': async () => remove(WEBHOOKS, await createdLocator(WEBHOOKS, webhook())),
  'POST integration': async () => post('/integrations', integration()),
  'DELETE integration': async () => remove('/integrations', await named('/integrations', integration())),
  'POST account': async () => post(ACCOUNTS, account()),
  'DELETE account': async () => remove(`${ACCOUNTS}s`, (await make<{ id: string }>(ACCOUNTS, account())).id),
  'DELETE token': async () => remove(TOKENS, await named(TOKENS, token())),
  'PUT password rules with If-Match': async () => {
    const path = '/account/v1/passwordRules'
    names += 1
    return { method: 'PUT', path, body: { minLength: 8 + (names % 50) }, ifMatch: await tagOf(path) }
  },
  'POST role': async () => post('/auth/roles', role()),
  'PUT role with If-Match': async () => {
    const path = `/auth/roles/${await named('/auth/roles', role())}`
    return { method: 'PUT', path, body: { permissions: ['quotes.read'] }, ifMatch: await tagOf(path) }
  },
  'DELETE role': async () => remove('/auth/roles', await named('/auth/roles', role())),
  'POST secret': async () => post(SECRETS, secret()),
  'DELETE secret': async () => remove(SECRETS, await named(SECRETS, secret())),
  'DELETE note': async () => remove('/notes', await createdLocator('/notes', note())),
  'PUT auxiliary data with If-Match': async () => {
    const name = newName()
    const body = { auxData: [{ key: 'k', value: 'v', uiType: 'normal' }] }
    return { method: 'PUT', path: `/auxData/${name}`, body, ifMatch: await tagOf(`/auxData/${name}/k`) }
  },
  'POST report schedule': async () => post(SCHEDULES, schedule),
  'DELETE report schedule': async () => remove(SCHEDULES, await createdLocator(SCHEDULES, schedule)),
  'POST books period': async () => {
    daysClosed += 1
    return post('/books/periods', {
      until: new Date(FIRST_DAY + daysClosed * DAY_MS).toISOString().slice(0, 10),
    })
  },
  'DELETE report': async () => remove('/reports', await stopped()),
}

const send = ({ method, path, body, ifMatch }: Write, key: string): Promise<Answer<object>> =>
  callApi(method, path, {
    token: admin,
    body,
    headers: { 'idempotency-key': key, ...(ifMatch !== undefined && { 'if-match': ifMatch }) },
  })

const MOST_BATCHES = 20

for (const [name, prepare] of Object.entries(writes))
  it(`${name}: a repeat sent at any moment of the first request returns its response`, async () => {
    let moments = 0
    for (; moments < MOST_BATCHES; moments += 1) {
      const write = await prepare()
      const key = crypto.randomUUID()
      const both = await afterBatches(
        moments,
        () => send(write, key),
        () => send(write, key),
      )
      if (!both) break
      expect([both.sent.status, both.acted.status], `after ${moments} batches`).toEqual([200, 200])
      expect(both.sent.body, `after ${moments} batches`).toEqual(both.acted.body)
    }
    expect(moments).toBeGreaterThan(1)
    expect(moments).toBeLessThan(MOST_BATCHES)
  })

type Entry = { subject: string; action: string }

const deletions: Record<string, [prepare: () => Promise<Write>, action: string]> = {
  webhook: [writes['DELETE webhook']!, 'webhooks.delete'],
  token: [writes['DELETE token']!, 'tokens.delete'],
  'report schedule': [writes['DELETE report schedule']!, 'reports.create'],
}

for (const [what, [prepare, action]] of Object.entries(deletions))
  it(`a ${what} that two requests without a key delete simultaneously is deleted once`, async () => {
    const recorded = async () =>
      (await callOk<{ entries: Entry[] }>('GET', `/audit/list?action=${action}&count=1000`, { token: admin }))
        .entries.length
    let moments = 0
    for (; moments < MOST_BATCHES; moments += 1) {
      const { method, path } = await prepare()
      const remove = () => callApi(method, path, { token: admin })
      const before = await recorded()
      const both = await afterBatches(moments, remove, remove)
      if (!both) break
      expect([both.acted.status, [200, 404]], `after ${moments} batches`).toEqual([
        200,
        expect.arrayContaining([both.sent.status]),
      ])
      expect((await recorded()) - before, `after ${moments} batches`).toBe(1)
    }
    expect(moments).toBeGreaterThan(1)
  })
