// What calls of the resources cost: counted round trips, which hold on any machine.
import { beforeAll, expect, it } from 'vitest'
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
  // The first table tells the control database of itself.
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

/** D1 and R2 of an answer, which must be a good one. */
async function cost(answer: Promise<Answer<unknown>>): Promise<{ d1: number; r2: number }> {
  const answered = await answer
  expect([answered.status, answered.body]).toEqual([200, answered.body])
  const { d1, r2 } = roundTrips(answered)
  return { d1: d1!, r2: r2! }
}

it('calls of resources, their groups and secrets, and deprecated ones, cost what they did', async () => {
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
  const seen = {
    table: await cost(uploadedTable),
    replaced: await cost(replacedTable),
    constraint: await cost(
      call('POST', `${root}/constraints?name=c&staticName=c`, formOf('make,model\na,b\n')),
    ),
    document: await cost(call('POST', `${root}/documents?name=d&staticName=d`, formOf('hello', 'd.txt'))),
    secret: await cost(call('POST', `${root}/secrets`, { name: 's', staticName: 's', secret: { a: '1' } })),
    secretChanged: await cost(call('PATCH', `${root}/secrets/s`, { a: '2' })),
    secretRead: await cost(call('GET', `${root}/secrets/s`)),
    usage: await cost(call('GET', `${root}/secrets/s/usage`)),
    group: await cost(
      call('POST', `${root}/groups`, {
        name: 'g',
        selectionStartTime: '2026-01-01T00:00:00Z',
        resourceNames: ['c', 'd', 's'],
      }),
    ),
    groups: await cost(call('GET', `${root}/groups/list`)),
    list: await cost(call('GET', `${root}/resources/list`)),
    ofType: await cost(call('GET', `${root}/resources/type/table/list`)),
    named: await cost(call('GET', `${root}/resources/d?byStaticName=true&explain=true`)),
    bootstrap: await cost(call('GET', `${root}/bootstrap/list`)),
    jobs: await cost(call('GET', `/billing/${motor.tenantLocator}/jobs/invoices/policies/${policy}/list`)),
    quoteList: await cost(call('GET', `/policy/${motor.tenantLocator}/quotes/list`)),
    snapshots: await cost(call('GET', `/policy/${motor.tenantLocator}/policies/snapshot/list`)),
    segments: await cost(
      call('GET', `/policy/${motor.tenantLocator}/transactions/${modification}/segments/list`),
    ),
    revisions: await cost(call('GET', `/policy/${policy}/tableRevisions`)),
    diff: await cost(call('GET', `${root}/tables/second/diff?byStaticName=false&from=${before}&to=${after}`)),
    deleted: await cost(call('DELETE', `${root}/secrets/s?force=true`)),
  }
  expect(seen).toEqual({
    // What is declared, where rows begin, the rows, whether ranges overlap, the commit.
    table: { d1: 5, r2: 3 },
    replaced: { d1: 5, r2: 3 },
    constraint: { d1: 3, r2: 3 },
    document: { d1: 2, r2: 1 },
    secret: { d1: 3, r2: 0 },
    secretChanged: { d1: 4, r2: 0 },
    secretRead: { d1: 2, r2: 0 },
    usage: { d1: 4, r2: 0 },
    group: { d1: 3, r2: 0 },
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
    deleted: { d1: 5, r2: 0 },
  })
})
