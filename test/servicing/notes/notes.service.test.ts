// Notes of staff on records: who wrote what and when. They are deleted with the values of the policyholder.
import { beforeAll, expect, it } from 'vitest'
import { EVERY_EVENT } from '../../../src/platform/events/rows.ts'
import type { NoteListResponse, NoteResponse } from '../../../src/servicing/notes/contract.ts'
import { callApi, callOk } from '../../support/api.ts'
import { afterBatches } from '../../support/between-batches.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../../support/databases.ts'
import { type Motor, motorTenant, roundTrips } from '../../support/motor.ts'

let motor: Motor
let token: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('notes')
  token = motor.token
})

const write = (body: object, as = token, headers: Record<string, string> = {}) =>
  callApi<NoteResponse & { code: string; message: string }>('POST', '/notes', { token: as, body, headers })

const list = (query: string) => callOk<NoteListResponse>('GET', `/notes?${query}`, { token })

const texts = async (query: string) => (await list(query)).items.map(({ text }) => text)

async function policyOf(holder: string) {
  const { body } = await motor.createPolicy({ policyholderLocator: holder })
  const { body: quotes } = await motor.get<{ locator: string }[]>(`/policies/${body.locator}/quotes`)
  return { policy: body.locator, quote: quotes[0]!.locator }
}

it('notes on a policy, its quotes and its policyholder are listed oldest first, with author and time', async () => {
  const holder = await motor.newPolicyholder()
  const { policy, quote } = await policyOf(holder)
  const first = await write({ recordType: 'policy', recordLocator: policy, text: 'Called: moves in May.' })
  expect([first.status, first.body]).toEqual([
    200,
    {
      locator: expect.any(String),
      recordType: 'policy',
      recordLocator: policy,
      policyholderLocator: holder,
      policyLocator: policy,
      text: 'Called: moves in May.',
      username: expect.any(String),
      createdTimestamp: expect.stringMatching(/^\d+$/),
    },
  ])
  expect(roundTrips(first).d1).toBeLessThanOrEqual(3)
  await write({ recordType: 'quote', recordLocator: quote, text: 'Second\nline' })
  await write({ recordType: 'policyholder', recordLocator: holder, text: 'Prefers letters.' })
  expect(await texts(`policyLocator=${policy}`)).toEqual(['Called: moves in May.', 'Second\nline'])
  expect(await texts(`policyholderLocator=${holder}`)).toHaveLength(3)
  expect(await texts(`policyLocator=${policy}&recordType=quote`)).toEqual(['Second\nline'])
  expect(await texts(`policyLocator=${policy}&recordLocator=${policy}`)).toEqual(['Called: moves in May.'])
  const ofHolder = (locator: string) => texts(`policyholderLocator=${locator}&recordLocator=${locator}`)
  expect(await ofHolder(holder)).toEqual(['Prefers letters.'])
  expect(await ofHolder(holder.toUpperCase())).toEqual(['Prefers letters.'])
  const page = await list(`policyholderLocator=${holder}&pageSize=2`)
  expect([page.items.length, page.listCompleted]).toEqual([2, false])
  expect(await texts(`policyholderLocator=${holder}&pageSize=2&pagingToken=${page.pagingToken}`)).toEqual([
    'Prefers letters.',
  ])
  const { status, body } = await motor.get<{ events: { type: string; data: object }[] }>(
    `/event/${motor.tenantLocator}/events/list?types=note.create&count=10`,
  )
  expect(status, JSON.stringify(body)).toBe(200)
  expect(JSON.stringify(body)).toContain(first.body.locator)
  expect(JSON.stringify(body)).not.toContain('moves in May')
})

it('a note is written once for a key, and can be deleted only by its author', async () => {
  const { policy } = await policyOf(await motor.newPolicyholder())
  const body = { recordType: 'policy', recordLocator: policy, text: 'Once.' }
  const key = { 'Idempotency-Key': 'note-once' }
  const [one, two] = [await write(body, token, key), await write(body, token, key)]
  expect(two.body).toEqual(one.body)
  expect(await texts(`policyLocator=${policy}`)).toEqual(['Once.'])
  const at = `/notes/${one.body.locator}`
  const other = await motor.signIn('anna.admin')
  const refused = await callApi<{ message: string }>('DELETE', at, { token: other })
  expect(refused.status).toBe(403)
  expect(refused.body.message).toContain('Only its author')
  expect((await callApi('DELETE', at, { token })).status).toBe(200)
  expect(await texts(`policyLocator=${policy}`)).toEqual([])
  expect((await callApi('DELETE', at, { token })).status).toBe(404)
})

it('simultaneous deletions of a note succeed once and emit one event', async () => {
  const holder = await motor.newPolicyholder()
  const { body } = await write({ recordType: 'policyholder', recordLocator: holder, text: 'Twice.' })
  const remove = () => callApi('DELETE', `/notes/${body.locator}`, { token })
  const both = await afterBatches(1, remove, remove)
  expect([both?.acted.status, both?.sent.status]).toEqual([200, 404])
  const told = await boundDatabase(poolBinding(1))
    .prepare(
      `select count(*) as told from ${EVERY_EVENT} where type = 'note.delete' and data ->> 'noteLocator' = ?`,
    )
    .bind(body.locator)
    .first<number>('told')
  expect(told).toBe(1)
})

it('an invalid note returns 400, and an unknown record 404', async () => {
  const holder = await motor.newPolicyholder()
  const { policy } = await policyOf(holder)
  const on = (changes: object) => ({ recordType: 'policy', recordLocator: policy, text: 'x', ...changes })
  for (const [body, status] of [
    [on({ text: '' }), 400],
    [on({ text: 'x'.repeat(4_001) }), 400],
    [on({ recordType: 'claim' }), 400],
    [on({ recordLocator: '123' }), 404],
    [on({ recordLocator: 'abc' }), 404],
    [on({ recordType: 'quote' }), 404],
    [on({ recordType: 'policyholder' }), 404],
  ] as const) {
    const answer = await write(body)
    expect([body, answer.status]).toEqual([body, status])
  }
  expect((await write(on({ text: 'ü'.repeat(4_000) }))).status).toBe(200)
  for (const query of ['', `policyLocator=${policy}&policyholderLocator=${holder}`])
    expect((await callApi('GET', `/notes?${query}`, { token })).status).toBe(400)
  expect((await callApi('GET', '/notes?policyLocator=123', { token })).status).toBe(404)
})

it('a policyholder can have at most 1,000 notes', async () => {
  const holder = await motor.newPolicyholder()
  await boundDatabase(poolBinding(1))
    .prepare(
      `with recursive n(n) as (select 1 union all select n + 1 from n where n < 999)
       insert into note select printf('%08d-0000-7000-8000-000000000000', n), ?, null, 'policyholder', ?, 'x', '', '', 1 from n`,
    )
    .bind(holder, holder)
    .run()
  const note = { recordType: 'policyholder', recordLocator: holder, text: 'Last.' }
  expect((await write(note)).status).toBe(200)
  const { status, body } = await write(note)
  expect([status, body.code]).toEqual([413, 'tooLarge'])
  expect(body.message).toContain('1000 notes')
  await boundDatabase(poolBinding(1))
    .prepare('delete from note where policyholder_locator = ?')
    .bind(holder)
    .run()
})

it('notes are exported, and are deleted when values of their policyholder are erased', async () => {
  const holder = await motor.newPolicyholder()
  const { policy } = await policyOf(holder)
  await write({ recordType: 'policy', recordLocator: policy, text: 'Knows Ms Erased.' })
  const admin = await motor.signIn('anna.admin')
  const exported = async () => {
    const { body } = await callApi<string>('GET', '/export/notes/records?pageSize=1000', { token: admin })
    return typeof body === 'string' ? body : JSON.stringify(body)
  }
  expect(await exported()).toContain('Knows Ms Erased.')
  const overwritten = await callApi('PATCH', `/policyholder/${holder}/overwriteData`, {
    token: admin,
    body: { overwrites: { last_name: 'erased' } },
  })
  expect(overwritten.status, JSON.stringify(overwritten.body)).toBe(200)
  expect(await exported()).not.toContain('Knows Ms Erased.')
  expect(await texts(`policyholderLocator=${holder}`)).toEqual([])
})
