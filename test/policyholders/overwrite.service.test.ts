import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../src/kernel/locators.ts'
import { EVERY_EVENT } from '../../src/platform/events/rows.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { callApi, callOk } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { plainYear } from '../support/motor.ts'
import { type Holders, holdersTenant } from './tenant.ts'

let holders: Holders

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  holders = await holdersTenant('erasure')
})

/** `table.column` of every text in the tenant's database that contains one of the words, in any case. */
async function traces(...words: string[]): Promise<string[]> {
  const database = boundDatabase(poolBinding(1))
  const { results: tables } = await database
    .prepare(`select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\'`)
    .all<{ name: string }>()
  const places = new Set<string>()
  for (const { name } of tables) {
    const { results } = await database.prepare(`select * from "${name}"`).all<Record<string, unknown>>()
    for (const row of results)
      for (const [column, value] of Object.entries(row))
        if (words.some(word => String(value).toLowerCase().includes(word.toLowerCase())))
          places.add(`${name}.${column}`)
  }
  return [...places].sort()
}

type Known = { locator: string; policy: string; keys: string[]; old: [string, string] }

let names = 0

/** A policyholder whose old names are stored everywhere they can be, with its policy. */
async function known(): Promise<Known> {
  names += 1
  const old: Known['old'] = [`Zzyzxson${names}`, `Qwertman${names}`]
  const keys = [newUuid(0), newUuid(0), newUuid(0)]
  const { body } = await holders.create(
    {
      completed: true,
      values: { first_name: 'Ada', last_name: old[0], alias: ['A', 'B'] },
      subEntities: [
        { completed: true, ontologyUri: 'spouse', values: { last_name: old[0], first_name: 'Bo' } },
      ],
    },
    { 'idempotency-key': keys[0]! },
  )
  const { locator } = body
  await holders.update(
    { locator, version: 1, completed: true, values: { last_name: old[1] } },
    { 'idempotency-key': keys[1]! },
  )
  const policy = await callOk<PolicyResponse>('POST', '/policy', {
    token: holders.token,
    headers: { 'idempotency-key': keys[2]! },
    body: { ...plainYear().request.policy, policyholderLocator: locator },
  })
  return { locator, policy: policy.locator, keys, old }
}

/** Inserts an event that a plugin emitted. */
const tellOf = (policy: string, data: object) =>
  boundDatabase(poolBinding(1))
    .prepare(
      `insert into event (locator, request_id, type, at, data, account_locator, username, policy_locator)
       values (?, ?, 'custom.rate.asked', ?, ?, ?, 'alice', ?)`,
    )
    .bind(newUuid(0), newUuid(0), Date.now(), JSON.stringify(data), newUuid(0), Number(policy))
    .run()

const policyOf = (locator: string): Promise<PolicyResponse> =>
  callOk<PolicyResponse>('GET', `/policy/${locator}`, { token: holders.token })

describe('PATCH /policyholder/{locator}/overwriteData', () => {
  it('leaves no trace of the old values in any table', async () => {
    const { locator, policy, old } = await known()
    await tellOf(policy, { asked: `by ${old[1]}`, why: 'age' })
    expect(await traces(...old)).toEqual(
      expect.arrayContaining([
        'event.data',
        'fee.description',
        'modification.underwriting',
        'peril_run.price',
        'policyholder.entity',
        'policyholder_term.term',
        'policyholder_version.entity',
        'quote.underwriting',
        'write.answer',
      ]),
    )
    const { status, body } = await holders.overwrite(locator, { last_name: 'ERASED', alias: '' })
    expect([status, body]).toEqual([200, { policyholderLocator: locator }])
    expect(await traces(...old)).toEqual([])

    const after = (await holders.get(locator)).body
    expect(after.version).toBe(3)
    expect(after.entity.values).toEqual({ first_name: ['Ada'], last_name: ['ERASED'] })
    expect(Object.values(after.entity.subEntitiesByLocator!)[0]!.values).toEqual({
      last_name: ['ERASED'],
      first_name: ['Bo'],
    })
    const read = await policyOf(policy)
    expect(read.modifications[0]!.automatedUnderwritingResult!.notes).toEqual([
      'Asked by ERASED, that is ERASED',
    ])
    expect(read.fees[0]!.description).toBe('ERASED')
    const { events } = await callOk<{ events: { data: object }[] }>(
      'GET',
      '/eventstream/events?eventType=custom.rate.asked',
      { token: holders.token },
    )
    expect(events.map(({ data }) => data)).toEqual([{ asked: 'by ERASED', why: 'age' }])
  })

  it('updates the search: the new text is found, the old one is not', async () => {
    const { locator, old } = await known()
    await holders.overwrite(locator, { last_name: 'Anonymous' })
    const search = async (text: string) =>
      (await holders.list(`searchField=last_name&searchValue=${text}`)).body.policyholders.map(
        one => one.locator,
      )
    expect(await search(old[1])).toEqual([])
    expect(await search('anonymous')).toEqual([locator])
  })

  it('emits an event without values, and does nothing more when repeated with the same key', async () => {
    const { locator } = await known()
    const headers = { 'idempotency-key': newUuid(0) }
    const first = await holders.overwrite(locator, { first_name: 'X' }, headers)
    expect(await holders.overwrite(locator, { first_name: 'X' }, headers)).toMatchObject({
      status: 200,
      body: first.body,
    })
    expect((await holders.get(locator)).body.version).toBe(3)
    const { results } = await boundDatabase(poolBinding(1))
      .prepare(
        `select data from ${EVERY_EVENT} where policyholder_locator = ? order by sequence desc limit 1`,
      )
      .bind(locator)
      .all<{ data: string }>()
    expect(JSON.parse(results[0]!.data)).toEqual({ policyholderLocator: locator, version: '3' })
  })

  it('makes repeats of earlier requests return the present values', async () => {
    const { locator, policy, keys, old } = await known()
    await holders.overwrite(locator, { last_name: 'ERASED' })
    const again = await holders.update(
      { locator, version: 1, completed: true, values: { last_name: old[1] } },
      { 'idempotency-key': keys[1]! },
    )
    expect(again.status).toBe(200)
    expect(again.body.entity.values.last_name).toEqual(['ERASED'])
    const repeated = await callApi<PolicyResponse>('POST', '/policy', {
      token: holders.token,
      headers: { 'idempotency-key': keys[2]! },
      body: { ...plainYear().request.policy, policyholderLocator: locator },
    })
    expect([repeated.status, repeated.body.locator]).toEqual([200, policy])
  })

  it('is not undone by a request that read before it (409)', async () => {
    const { locator, old } = await known()
    await holders.overwrite(locator, { last_name: 'ERASED' })
    const stale = await holders.update({
      locator,
      version: 2,
      completed: true,
      values: { last_name: old[1] },
    })
    expect(stale.status).toBe(409)
    expect((await holders.get(locator)).body.entity.values.last_name).toEqual(['ERASED'])
  })

  it('is not undone by the memory of a policy’s object', async () => {
    const { locator, old } = await known()
    const post = (path: string, body: object) =>
      callOk<PolicyResponse>('POST', path, { token: holders.token, body })
    const { policy } = plainYear().request
    const draft = await post('/policy', { ...policy, policyholderLocator: locator, finalize: false })
    await post(`/policy/${draft.locator}/update`, { finalize: false })
    await holders.overwrite(locator, { last_name: 'ERASED' })
    await post(`/policy/${draft.locator}/finalize`, {})
    expect((await policyOf(draft.locator)).fees[0]!.description).toBe('ERASED')
    expect(await traces(...old)).toEqual([])
  })

  it('loses nothing among concurrent updates', async () => {
    const { locator, old } = await known()
    const overwriting = async (): Promise<void> => {
      while ((await holders.overwrite(locator, { last_name: 'ERASED' })).status === 409);
    }
    const updating = async (at: number): Promise<void> => {
      for (;;) {
        const { version } = (await holders.get(locator)).body
        const addSubEntities = [{ completed: true, ontologyUri: 'n', values: { at } }]
        const { status } = await holders.update({ locator, version, completed: true, addSubEntities })
        if (status === 200) return
      }
    }
    await Promise.all([overwriting(), ...Array.from({ length: 8 }, (_, at) => updating(at)), overwriting()])
    const { version, entity } = (await holders.get(locator)).body
    expect(version).toBe(2 + 10)
    expect(Object.values(entity.subEntitiesByLocator!)).toHaveLength(1 + 8)
    expect(await traces(...old)).toEqual([])
  })

  it('accepts any text for any field, and later changes still work', async () => {
    const { locator } = await holders.made({ date_of_birth: '1980-06-15', children: 2, first_name: 'Ada' })
    expect((await holders.overwrite(locator, { date_of_birth: 'ERASED', children: 'n/a' })).status).toBe(200)
    const { status, body } = await holders.update({
      locator,
      version: 2,
      completed: true,
      values: { first_name: 'X' },
    })
    expect(status).toBe(200)
    expect(body.entity.values).toEqual({ date_of_birth: ['ERASED'], children: ['n/a'], first_name: ['X'] })
  })

  it('keeps names and values that look like JSON unchanged', async () => {
    const values = { first_name: 'a"b\\c\n"]', last_name: '["x"]', notes: ['{"a":1}', 'ü😀', 'null'] }
    const { locator } = await holders.made(values)
    const part = {
      completed: true,
      ontologyUri: 'o"dd',
      values: { 'quo"te': 'q"', "ap'os": "'", 'a.b$[0]': '$' },
    }
    await holders.update({ locator, version: 1, completed: true, addSubEntities: [part] })
    const before = (await holders.get(locator)).body
    await holders.overwrite(locator, { 'quo"te': '"', last_name: '[]' })
    const after = (await holders.get(locator)).body
    expect(after.entity.values).toEqual({ ...before.entity.values, last_name: ['[]'] })
    expect(Object.values(after.entity.subEntitiesByLocator!)[0]).toMatchObject({
      ontologyUri: 'o"dd',
      values: { 'quo"te': ['"'], "ap'os": ["'"], 'a.b$[0]': ['$'] },
    })
  })

  it('returns 413 when a version would become too large', async () => {
    const { locator } = await holders.made({})
    const parts = Array.from({ length: 200 }, () => ({
      completed: true,
      ontologyUri: 'n',
      values: { text: 'x' },
    }))
    await holders.update({ locator, version: 1, completed: true, addSubEntities: parts })
    expect((await holders.overwrite(locator, { text: 'x'.repeat(20_000) })).status).toBe(413)
    expect((await holders.overwrite(locator, { text: 'x'.repeat(2_000) })).status).toBe(200)
  })
})
