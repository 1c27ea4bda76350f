// Files that are stored but whose record is never written. None of them stays, at whichever step the failure was, and none is
// deleted that may still be recorded.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { keepCall, type LoggedCall } from '../../src/extension/integrations/call/log.ts'
import { newUuid } from '../../src/kernel/locators.ts'
import { now } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import type { RequestContext } from '../../src/platform/context.ts'
import { RECORDED_WITHIN_MS } from '../../src/platform/events/timers.ts'
import { readTenant } from '../../src/platform/tenancy.ts'
import type { ClockResponse } from '../../src/tenants/routes.ts'
import { type Answer, callApi, callOk } from '../support/api.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import { faultyDatabase } from '../support/faulty-database.ts'
import { migratedAccount } from '../support/migrated.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

let motor: Motor
let admin: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('unrecorded')
  admin = await motor.signIn('anna.admin')
})

const storedIn = async (folder: string): Promise<string[]> => {
  const { objects } = await env.FILES.list({ prefix: `${motor.tenantLocator}/` })
  return objects.map(({ key }) => key).filter(key => key.includes(`/${folder}/`))
}

type Methods = Record<string, (this: object, ...given: never[]) => Promise<unknown>>

/** Stores the next file, but loses the response of the store. */
function losesAnAnswer(): void {
  const methods = Object.getPrototypeOf(env.FILES) as Methods
  const own = methods.put!
  methods.put = async function (this: object, ...given: never[]) {
    methods.put = own
    await own.apply(this, given)
    throw new Error('put: We encountered an internal error. (10001)')
  }
}

/** Moves the tenant's clock by an hour. With `isReal`, the service's own clock also moves while the call runs. */
async function anHourOn({ isReal }: { isReal: boolean }): Promise<void> {
  const real = Date.now
  if (isReal) Date.now = () => real() + RECORDED_WITHIN_MS
  try {
    const token = await motor.signIn('alice.agent')
    const advance = { amount: 61, unit: 'minute' }
    const body = await callOk<ClockResponse>('POST', '/test/clock', { token, body: { advance } })
    expect([body.completed, body.failed]).toEqual([true, 0])
  } finally {
    Date.now = real
  }
}

const medium = (headers: Record<string, string> = {}): Promise<Answer<{ locator: string }>> => {
  const form = new FormData()
  form.set('file', new Blob(['a photograph']), 'front.jpg')
  return callApi('POST', '/media', { token: motor.token, body: form, headers })
}

const migration = (id: string): Promise<Answer<{ locator: string }>> =>
  callApi('POST', `/migration/${motor.tenantLocator}/migrations`, {
    token: admin,
    body: [migratedAccount(id)],
  })

/** Uploads a resource, or replaces its contents. */
const resource = (method: 'POST' | 'PATCH', path: string, content: string, key?: string) =>
  callApi(method, `/resource/${motor.tenantLocator}/${path}`, {
    token: admin,
    body: content,
    headers: { 'content-type': 'text/csv', ...(key && { 'idempotency-key': key }) },
  })

describe.each([
  ['a medium', 'media', () => medium()],
  ['what is sent of a migration', 'migrations', () => migration('A-1')],
  [
    'a document of resources',
    'resources',
    () => resource('POST', 'documents?name=never&staticName=never', 'a,b'),
  ],
  ['a table', 'resources', () => resource('POST', 'tables?name=none&staticName=none', 'key,value\na,1\n')],
])('The stored file of %s', (_, folder, send) => {
  it('is deleted if the response of the store was lost, but not while a request may still be running', async () => {
    const before = await storedIn(folder)
    losesAnAnswer()
    expect((await send()).status).toBe(503)
    const left = (await storedIn(folder)).filter(key => !before.includes(key))
    expect(left).toHaveLength(1)
    await anHourOn({ isReal: false })
    expect(await storedIn(folder)).toEqual(expect.arrayContaining(left))
    await anHourOn({ isReal: true })
    expect(await storedIn(folder)).toEqual(before)
  })
})

it('a recorded medium stays, also when its request was repeated with the same key', async () => {
  const before = await storedIn('media')
  const headers = { 'idempotency-key': 'twice' }
  const [first, again] = [await medium(headers), await medium(headers)]
  expect(again.body.locator).toBe(first.body.locator)
  const left = async () => (await storedIn('media')).filter(key => !before.includes(key))
  await expect
    .poll(async () => (await left()).map(key => key.split('/').at(-1)))
    .toEqual([first.body.locator])
  await anHourOn({ isReal: true })
  expect(await left()).toHaveLength(1)
})

it('files of resources stay, even after their contents are replaced, and a rejected upload leaves no file', async () => {
  const before = await storedIn('resources')
  const sent = [
    await resource('POST', 'documents?name=terms&staticName=terms', 'a,b', 'terms'),
    await resource('POST', 'documents?name=terms&staticName=terms', 'a,b', 'terms'),
    await resource('PATCH', 'documents/terms', 'a,c'),
    await resource('POST', 'tables?name=rates&staticName=rates', 'key,value\na,1\n', 'rates'),
    await resource('POST', 'tables?name=rates&staticName=rates', 'key,value\na,1\n', 'rates'),
    await resource('PATCH', 'tables/rates', 'key,value\na,2\n'),
  ]
  expect(sent.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
  const refused = [
    await resource('POST', 'documents?name=terms&staticName=terms', 'a,d'),
    await resource('PATCH', 'tables/rates', 'key,value\na,1\na,2,3\n'),
  ]
  expect(refused.map(({ status }) => status)).toEqual([409, 400])
  const kept = async () => (await storedIn('resources')).filter(key => !before.includes(key))
  await expect.poll(kept).toHaveLength(4)
  const files = await kept()
  await anHourOn({ isReal: true })
  expect(await kept()).toEqual(files)
  expect((await resource('PATCH', 'tables/rates', 'key,value\na,3\n')).status).toBe(200)
})

it('the bodies of an integration call are not kept when its row cannot be written', async () => {
  const tenant = (await readTenant(env, { name: motor.tenantName }, noCalls()))!
  const [binding] = tenant.shards as [string]
  const lost = faultyDatabase(boundDatabase(binding), () => 'before')
  const context = { env: { ...env, [binding]: lost }, tenant, calls: noCalls() } as unknown as RequestContext
  const locator = newUuid(0)
  const call: LoggedCall = {
    locator,
    createdAt: now(),
    at: now(),
    integrationName: 'rates',
    type: 'external_rater',
    operation: 'rate',
    requestId: newUuid(0),
    username: 'alice.agent',
    url: 'https://rates.example',
    attempts: [],
    durationMs: 1,
    requestBytes: 2,
    requestHash: '',
    warnings: [],
  }
  await expect(keepCall(context, 0, call, { request: '{}', response: null })).rejects.toThrow()
  expect(await storedIn('integration-calls')).toEqual([])
})
