import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../src/kernel/locators.ts'
import { EVERY_EVENT } from '../../src/platform/events/rows.ts'
import { callApi } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { roundTrips } from '../support/motor.ts'
import { type Holders, holdersTenant, type Refused } from './tenant.ts'

let holders: Holders
let others: Holders

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  holders = await holdersTenant('holders')
  others = await holdersTenant('others')
})

const events = async (locator: string): Promise<unknown[]> => {
  const { results } = await boundDatabase(poolBinding(1))
    .prepare(`select type, data from ${EVERY_EVENT} where policyholder_locator = ? order by sequence`)
    .bind(locator)
    .all<{ type: string; data: string }>()
  return results.map(({ type, data }) => [type, JSON.parse(data)])
}

const versions = async (
  locator: string,
): Promise<{ version: number; completed: number; entity: string }[]> => {
  const { results } = await boundDatabase(poolBinding(1))
    .prepare(
      'select version, completed, entity from policyholder_version where policyholder_locator = ? order by version',
    )
    .bind(locator)
    .all<{ version: number; completed: number; entity: string }>()
  return results
}

describe('A policyholder', () => {
  it('is returned as created, and policyholder.create contains no values', async () => {
    const { status, body } = await holders.create({
      completed: true,
      values: { first_name: 'Ada', date_of_birth: '1980-06-15', gender: null, contact: 'home' },
      subEntities: [
        { completed: true, ontologyUri: 'contact', values: { street: ['Main'], number: 5 }, localId: 'home' },
      ],
    })
    expect(status).toBe(200)
    const { locator, entity } = body
    const [home] = Object.keys(entity.subEntitiesByLocator!)
    const times = { createdTimestamp: body.createdTimestamp, updatedTimestamp: body.createdTimestamp }
    const shared = {
      ...times,
      accountLocator: expect.stringMatching(/^[0-9a-f-]{36}$/),
      completed: true,
      flags: ['flag.entity.workflow.complete'],
      revision: '1',
    }
    expect(body).toEqual({
      locator,
      version: 1,
      ...times,
      entity: {
        ...shared,
        locator,
        values: { first_name: ['Ada'], date_of_birth: ['329868000000'], contact: [home] },
        subEntitiesByLocator: {
          [home!]: {
            ...shared,
            locator: home,
            ontologyUri: 'contact',
            values: { street: ['Main'], number: ['5'] },
          },
        },
      },
    })
    expect((await holders.get(locator)).body).toEqual(body)
    expect((await holders.get(locator.toUpperCase())).body).toEqual(body)
    expect(await events(locator)).toEqual([
      ['policyholder.create', { policyholderLocator: locator, version: '1' }],
    ])
  })

  it('is completed unless the request says that it is a draft', async () => {
    const { body: whole } = await holders.create({ completed: null })
    expect(whole.entity).toMatchObject({
      completed: true,
      flags: ['flag.entity.workflow.complete'],
      values: {},
    })
    for (const nothing of [undefined, 'null', '{}']) {
      const { status, body } = await holders.create(nothing, { 'content-type': 'application/json' })
      expect([status, body.entity.completed, body.entity.values]).toEqual([200, true, {}])
    }
    const { body: draft } = await holders.create({ completed: false })
    expect(draft.entity).toMatchObject({
      completed: false,
      flags: ['flag.entity.workflow.started'],
      values: {},
    })
  })

  it('gets a new version from each update, and former versions are kept', async () => {
    const { locator } = (
      await holders.create({ completed: false, values: { first_name: 'Ada', last_name: 'Byron' } })
    ).body
    const { status, body } = await holders.update({
      locator,
      version: 1,
      completed: true,
      values: { last_name: 'Lovelace', first_name: null },
      addSubEntities: [{ completed: false, ontologyUri: 'contact', values: { street: 'Main' } }],
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ version: 2, entity: { revision: '2', values: { last_name: ['Lovelace'] } } })
    expect((await holders.get(locator)).body).toEqual(body)

    const [part] = Object.keys(body.entity.subEntitiesByLocator!)
    const { body: third } = await holders.update({
      locator,
      version: '2',
      completed: 'true',
      values: null,
      deleteSubEntities: [part],
    })
    expect(third).toMatchObject({ version: 3, entity: { subEntitiesByLocator: {} } })
    expect(third.entity.values).toEqual({ last_name: ['Lovelace'] })
    expect(
      (await versions(locator)).map(({ version, completed, entity }) => [
        version,
        completed,
        JSON.parse(entity).values,
      ]),
    ).toEqual([
      [1, 0, { first_name: ['Ada'], last_name: ['Byron'] }],
      [2, 1, { last_name: ['Lovelace'] }],
    ])
    expect(await events(locator)).toEqual([
      ['policyholder.create', { policyholderLocator: locator, version: '1' }],
      ['policyholder.update', { policyholderLocator: locator, version: '2' }],
      ['policyholder.update', { policyholderLocator: locator, version: '3' }],
    ])
  })

  it('costs one D1 round trip to read, two to create or update, and four to overwrite', async () => {
    const created = await holders.create({ completed: true, values: { first_name: 'Ada' } })
    const { locator } = created.body
    const updated = await holders.update({ locator, version: 1, completed: true })
    expect(roundTrips(created).d1).toBe(2)
    expect(roundTrips(updated).d1).toBe(2)
    expect(roundTrips(await holders.get(locator)).d1).toBe(1)
    expect(roundTrips(await holders.list('pageSize=10')).d1).toBe(1)
    expect(roundTrips(await holders.overwrite(locator, { first_name: 'X' })).d1).toBe(4)
  })
})

describe('An update of an outdated version', () => {
  it('returns 409 with the current version and changes nothing', async () => {
    const { locator } = await holders.made({ first_name: 'Ada' })
    await holders.update({ locator, version: 1, completed: true, values: { first_name: 'Augusta' } })
    const stale = await holders.update({ locator, version: 1, completed: true, values: { first_name: 'X' } })
    expect(stale.status).toBe(409)
    expect(stale.body).toMatchObject({
      code: 'versionConflict',
      message: expect.stringContaining('version 2'),
    })
    expect((await holders.get(locator)).body.entity.values).toEqual({ first_name: ['Augusta'] })
  })

  it('fails for all but one of 20 concurrent updates, and each version has one winner', async () => {
    const { locator } = await holders.made({ first_name: 'Ada' })
    const change = async (name: string): Promise<number> => {
      for (let refused = 0; ; refused += 1) {
        const { version } = (await holders.get(locator)).body
        const { status } = await holders.update({
          locator,
          version,
          completed: true,
          addSubEntities: [{ completed: true, ontologyUri: 'contact', values: { name } }],
        })
        if (status === 200) return refused
        expect(status).toBe(409)
      }
    }
    const first = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        holders.update({ locator, version: 1, completed: true, values: { alias: `a${at}` } }),
      ),
    )
    expect(first.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)])

    await Promise.all(Array.from({ length: 20 }, (_, at) => change(`c${at}`)))
    const { version, entity } = (await holders.get(locator)).body
    expect(version).toBe(22)
    const names = Object.values(entity.subEntitiesByLocator!).map(one => one.values.name![0])
    expect(new Set(names).size).toBe(20)
    expect(await versions(locator)).toHaveLength(21)
    expect(await events(locator)).toHaveLength(22)
  }, 120_000)
})

describe('Repeating a request with the same Idempotency-Key', () => {
  it('creates one policyholder and returns the same response', async () => {
    const headers = { 'idempotency-key': newUuid(0) }
    const request = { completed: true, values: { first_name: 'Once' } }
    const tries = await Promise.all(Array.from({ length: 5 }, () => holders.create(request, headers)))
    const answers = [...tries, await holders.create(request, headers)]
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect((await holders.list('searchField=first_name&searchValue=once')).body.policyholders).toHaveLength(1)
    expect((await holders.create({ ...request, completed: false }, headers)).body.code).toBe(
      'idempotencyConflict',
    )
  })

  it('returns the original response of an update although the version has changed', async () => {
    const { locator } = await holders.made({ first_name: 'Ada' })
    const headers = { 'idempotency-key': newUuid(0) }
    const request = { locator, version: 1, completed: true, values: { first_name: 'Augusta' } }
    const first = await holders.update(request, headers)
    const second = await holders.update(request, headers)
    expect(second).toMatchObject({ status: 200, body: first.body })
    expect((await holders.get(locator)).body.version).toBe(2)
  })

  it('returns a large new policyholder from its record', async () => {
    const headers = { 'idempotency-key': newUuid(0) }
    const request = { values: { notes: Array(20).fill('x'.repeat(5_000)) } }
    const first = await holders.create(request, headers)
    expect(await holders.create(request, headers)).toMatchObject({ status: 200, body: first.body })
  })
})

describe('A policyholder of another tenant', () => {
  it('returns 404', async () => {
    const { locator } = await holders.made({ first_name: 'Private' })
    const update = { locator, version: 1, completed: true }
    for (const { status, body } of [
      await others.get(locator),
      await others.update(update),
      await others.overwrite(locator, { first_name: 'X' }),
      await others.get(newUuid(0)),
    ]) {
      expect(status).toBe(404)
      expect(body.code).toBe('notFound')
    }
    const { body } = await others.list('searchField=first_name&searchValue=private')
    expect(body.policyholders).toEqual([])
    expect((await holders.get(locator)).body.version).toBe(1)
  })
})

describe('An invalid request', () => {
  const codes = ({ fieldErrors }: Refused): string[] =>
    fieldErrors!.map(({ ontologyUri, code }) => `${ontologyUri} ${code}`)

  it('lists every invalid value', async () => {
    const { status, body } = await holders.create({
      completed: true,
      values: { gender: 'x', email: 'none', shoe_size: 43, children: ['1', '2'], date_of_birth: {} },
    })
    expect(status).toBe(400)
    expect(body.message).toContain("'values.date_of_birth'")
    const second = await holders.create({
      completed: true,
      values: { gender: 'x', email: 'none', shoe_size: 43, children: ['1', '2'] },
    })
    expect(second.body.code).toBe('policyholderValidation')
    expect(codes(second.body)).toEqual(['gender 4', 'email 3', 'children 4', 'shoe_size 2'])
  })

  it('of any shape is rejected without an internal error', async () => {
    const { locator } = await holders.made({ first_name: 'Ada' })
    const update = { locator, version: 1, completed: true }
    const part = { completed: true, ontologyUri: 'contact', values: {} }
    const cases: [number, Promise<{ status: number; body: Refused }>][] = [
      [400, holders.create([])],
      [400, holders.create({ values: 'x' })],
      [400, holders.create({ values: { first_name: { a: 1 } } })],
      [400, holders.create({ values: { 'first_name\0': 'x' } })],
      [400, holders.create('{"values":{"__proto__":"x"}}', { 'content-type': 'application/json' })],
      [400, holders.create({ values: { first_name: 'a\0b' } })],
      [400, holders.create({ values: { first_name: '\ud800' } })],
      [400, holders.create({ subEntities: [null] })],
      [400, holders.create({ subEntities: [{ ...part, ontologyUri: '' }] })],
      [413, holders.create({ subEntities: Array(201).fill(part) })],
      [413, holders.create({ subEntities: Array(20_000).fill(part) })],
      [413, holders.create({ values: { notes: Array(60).fill('x'.repeat(10_000)) } })],
      [
        413,
        holders.create({
          values: { alias: Array.from({ length: 1_000 }, (_, at) => `a${at}`), first_name: 'x' },
        }),
      ],
      [400, holders.update({ ...update, version: undefined })],
      [400, holders.update({ ...update, version: 0 })],
      [400, holders.update({ ...update, version: 1.5 })],
      [400, holders.update({ ...update, completed: 'perhaps' })],
      [404, holders.update({ ...update, locator: 'nobody' })],
      [400, holders.update({ ...update, deleteSubEntities: [newUuid(0)] })],
      [400, holders.update({ ...update, updateSubEntities: [{ ...part, locator: newUuid(0) }] })],
      [404, holders.get('100000000')],
      [404, holders.get(newUuid(200))],
      [400, holders.overwrite(locator, {})],
      [400, holders.overwrite(locator, { shoe_size: 'x' })],
      [400, holders.overwrite(locator, { first_name: ['x'] })],
      [400, holders.overwrite(locator, { first_name: '\0' })],
      [400, holders.overwrite(locator, 'x')],
      [404, holders.overwrite(newUuid(0), { first_name: 'x' })],
    ]
    for (const [index, [expected, answer]] of cases.entries())
      expect((await answer).status, `case ${index}`).toBe(expected)
    expect((await holders.get(locator)).body.version).toBe(1)
  })

  it('without a token returns 401, and without permission to write returns 403', async () => {
    expect((await callApi('GET', '/policyholders')).status).toBe(401)
    await boundDatabase(poolBinding(1))
      .prepare(`update account set type = 'account.tenant.read.only.user' where username = 'rita.reader'`)
      .run()
    const token = await holders.signIn('rita.reader')
    const { locator } = await holders.made({ first_name: 'Ada' })
    const body = { overwrites: { first_name: 'X' } }
    expect((await callApi('GET', `/policyholder/${locator}`, { token })).status).toBe(200)
    expect((await callApi('GET', '/policyholders', { token })).status).toBe(200)
    expect((await callApi('POST', '/policyholder/create', { token, body: {} })).status).toBe(403)
    expect((await callApi('PATCH', `/policyholder/${locator}/overwriteData`, { token, body })).status).toBe(
      403,
    )
  })
})
