// The cost of resource requests in round trips, which are the same on every computer.
import { evictAllDurableObjects } from 'cloudflare:test'
import { beforeAll, expect, it, vi } from 'vitest'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { type Answer, callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'

let motor: Motor
let root = ''
let token = ''

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('trips')
  token = await motor.signIn('anna.admin')
  root = `/resource/${motor.tenantLocator}`
  // The first table also registers itself in the control database.
  await table('first', 'key,value\na,1\n')
})

const call = <Body>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  callApi<Body>(method, path, { token, body, headers })

const formOf = (content: string, name = 'file.csv'): FormData => {
  const form = new FormData()
  form.set('file', new Blob([content]), name)
  return form
}

const table = (name: string, content: string) =>
  call('POST', `${root}/tables?name=${name}&staticName=${name}`, formOf(content))

/** Returns the D1 and R2 round trips of a response, which must be a 200. */
async function cost(answer: Promise<Answer<unknown>>): Promise<{ d1: number; r2: number }> {
  const answered = await answer
  expect([answered.status, answered.body]).toEqual([200, answered.body])
  const { d1, r2 } = roundTrips(answered)
  return { d1: d1!, r2: r2! }
}

/** Returns the least of three reads: the account is read again after 5 s, and the computer may be slow. */
async function leastCost(path: string): Promise<{ d1: number; r2: number }> {
  const costs = [await cost(call('GET', path)), await cost(call('GET', path)), await cost(call('GET', path))]
  return costs.reduce((least, one) => (one.d1 < least.d1 ? one : least))
}

it('requests for resources, groups and secrets, and the deprecated ones, make a fixed number of round trips', async () => {
  const { body: made } = await motor.createPolicy({ finalize: true })
  const policy = made.locator
  const modification = made.modifications[0]!.locator
  const uploadedTable = call<{ lookupTableLocator: string }>(
    'POST',
    `${root}/tables?name=second&staticName=second`,
    formOf('key,value\na,1\n'),
  )
  const before = (await uploadedTable).body.lookupTableLocator
  const replacedTable = call<{ lookupTableLocator: string }>(
    'PATCH',
    `${root}/tables/second`,
    formOf('key,value\na,2\n'),
  )
  const after = (await replacedTable).body.lookupTableLocator
  const written = {
    table: await cost(uploadedTable),
    replaced: await cost(replacedTable),
    constraint: await cost(
      call('POST', `${root}/constraints?name=c&staticName=c`, formOf('make,model\na,b\n')),
    ),
    document: await cost(call('POST', `${root}/documents?name=d&staticName=d`, formOf('hello', 'd.txt'))),
    secret: await cost(
      call('POST', `${root}/secrets`, { name: 's', staticName: 's', secret: { a: 'one-1' } }),
    ),
    secretChanged: await cost(call('PATCH', `${root}/secrets/s`, { a: 'two-2' })),
    group: await cost(
      call('POST', `${root}/groups`, {
        name: 'g',
        selectionStartTime: '2026-01-01T00:00:00Z',
        resourceNames: ['c', 'd', 's'],
      }),
    ),
  }
  const read = {
    secretRead: await leastCost(`${root}/secrets/s`),
    usage: await leastCost(`${root}/secrets/s/usage`),
    groups: await leastCost(`${root}/groups/list`),
    list: await leastCost(`${root}/resources/list`),
    ofType: await leastCost(`${root}/resources/type/table/list`),
    named: await leastCost(`${root}/resources/d?byStaticName=true&explain=true`),
    bootstrap: await leastCost(`${root}/bootstrap/list`),
    jobs: await leastCost(`/billing/${motor.tenantLocator}/jobs/invoices/policies/${policy}/list`),
    quoteList: await leastCost(`/policy/${motor.tenantLocator}/quotes/list`),
    snapshots: await leastCost(`/policy/${motor.tenantLocator}/policies/snapshot/list`),
    segments: await leastCost(`/policy/${motor.tenantLocator}/transactions/${modification}/segments/list`),
    revisions: await leastCost(`/policy/${policy}/tableRevisions`),
    diff: await leastCost(`${root}/tables/second/diff?byStaticName=false&from=${before}&to=${after}`),
  }
  const deleted = await cost(call('DELETE', `${root}/secrets/s?force=true`))
  // The file's timer, the declarations, where the rows begin, the rows, whether ranges overlap, and the commit. After 5 s, the
  // account as well.
  const expected = {
    table: { d1: 6, r2: 3 },
    replaced: { d1: 6, r2: 3 },
    constraint: { d1: 4, r2: 3 },
    document: { d1: 3, r2: 1 },
    secret: { d1: 3, r2: 0 },
    secretChanged: { d1: 3, r2: 0 },
    group: { d1: 3, r2: 0 },
    deleted: { d1: 5, r2: 0 },
  }
  for (const [name, { d1, r2 }] of Object.entries({ ...written, deleted })) {
    const { d1: least, r2: files } = expected[name as keyof typeof expected]
    expect([name, r2, d1 - least]).toEqual([name, files, d1 > least ? 1 : 0])
  }
  expect(read).toEqual({
    secretRead: { d1: 1, r2: 0 },
    usage: { d1: 4, r2: 0 },
    groups: { d1: 1, r2: 0 },
    list: { d1: 1, r2: 0 },
    ofType: { d1: 1, r2: 0 },
    named: { d1: 1, r2: 0 },
    bootstrap: { d1: 1, r2: 0 },
    jobs: { d1: 1, r2: 0 },
    quoteList: { d1: 2, r2: 0 },
    snapshots: { d1: 2, r2: 0 },
    segments: { d1: 1, r2: 0 },
    revisions: { d1: 1, r2: 0 },
    diff: { d1: 7, r2: 0 },
  })
})

it('the first write to an idle policy makes one object call, one D1 read and one D1 write; a read makes one D1 read', async () => {
  const bound = await motor.createPolicy({ finalize: false })
  const { locator, originalContractStartTimestamp: start } = bound.body
  const begun = Date.now()
  let ahead = 0
  /** By then, objects have left memory, and isolates no longer trust what they read of the tenant. */
  const first = async (method: string, path: string, body?: unknown) => {
    await evictAllDurableObjects()
    ahead += 12_000
    vi.setSystemTime(begun + ahead)
    const answer = await callApi<PolicyResponse>(method, path, { token: motor.token, body })
    expect([answer.status, answer.body]).toEqual([200, answer.body])
    const { d1, object } = roundTrips(answer)
    return { trips: [d1, object], body: answer.body }
  }
  try {
    const { trips: finalize } = await first('POST', `/policy/${locator}/finalize`)
    const { trips: issue, body: policy } = await first('POST', `/policy/${locator}/issue`)
    const { trips: read } = await first('GET', `/policy/${locator}`)
    const { trips: pay } = await first('POST', `/invoice/${policy.invoices[0]!.locator}/pay`, {
      fieldValues: { method: 'card' },
    })
    const { trips: endorse } = await first('POST', `/policies/${locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: Number(start) + 86_400_000,
      state: 'issued',
      updateExposures: [
        { exposureLocator: policy.exposures[0]!.locator, fieldValues: { vehicle_value: '29000' } },
      ],
    })
    expect({ read, finalize, issue, pay, endorse }).toEqual({
      read: [1, 0],
      finalize: [2, 1],
      issue: [2, 1],
      pay: [2, 1],
      endorse: [2, 1],
    })
  } finally {
    vi.useRealTimers()
  }
})
