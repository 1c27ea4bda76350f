// Auxiliary data through HTTP (contract 1; brief 7).
import { beforeAll, describe, expect, it } from 'vitest'
import type { AuxDataKeySetResponse, AuxDataResponse } from '../../src/extension/auxdata/contract.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'

let motor: Motor
beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('auxdata')
})

const put = (locator: string, auxData: unknown, headers: Record<string, string> = {}) =>
  callApi<{ message: string }>('PUT', `/auxData/${encodeURIComponent(locator)}`, {
    token: motor.token,
    headers,
    body: { auxData },
  })
const read = async (locator: string, key: string) =>
  (await motor.get<AuxDataResponse>(`/auxData/${encodeURIComponent(locator)}/${encodeURIComponent(key)}`))
    .body
const keys = (locator: string, page: number | string) =>
  motor.get<AuxDataKeySetResponse>(`/auxData/${locator}?page=${page}`)

describe('auxiliary data', () => {
  it('is text under any locator and key, and is merged with what is stored', async () => {
    expect(
      (
        await put('global', [
          { key: 'a', value: '1' },
          { key: 'b', value: '2', uiType: 'hidden' },
        ])
      ).status,
    ).toBe(200)
    expect(
      (
        await put('global', [
          { key: 'b', value: '3' },
          { key: 'c', uiType: 'readonly' },
          { key: 'ü/ ?', value: 'odd' },
        ])
      ).status,
    ).toBe(200)
    expect(await read('global', 'a')).toEqual({ locator: 'global', key: 'a', value: '1', uiType: 'normal' })
    expect(await read('global', 'b')).toEqual({ locator: 'global', key: 'b', value: '3', uiType: 'hidden' })
    expect(await read('global', 'c')).toEqual({ locator: 'global', key: 'c', value: '', uiType: 'readonly' })
    expect((await read('global', 'ü/ ?')).value).toBe('odd')
    await put('global', [
      { key: 'b', uiType: 'normal' },
      { key: 'a', value: '' },
    ])
    expect(await read('global', 'b')).toMatchObject({ value: '3', uiType: 'normal' })
    expect(await read('global', 'a')).toMatchObject({ value: '' })
  })

  it('stores numbers and booleans as text, and rejects lists and objects with 400', async () => {
    const { status } = await put('scalars', [
      { key: 'count', value: 5 },
      { key: 'rate', value: 0.25 },
      { key: 'isNew', value: true },
    ])
    expect(status).toBe(200)
    const values = await Promise.all(['count', 'rate', 'isNew'].map(key => read('scalars', key)))
    expect(values.map(one => one.value)).toEqual(['5', '0.25', 'true'])
    const refused = await put('scalars', [{ key: 'count', value: { of: 5 } }])
    expect([refused.status, refused.body.message]).toEqual([
      400,
      "'auxData[0].value' must be text, not an object.",
    ])
  })

  it('accepts a single record in place of a list, and reports what is wrong in it', async () => {
    await put('single', [{ key: 'colour', value: 'teal' }])
    expect((await put('single', { key: 'draft-step', value: '{"step":3}', uiType: 'hidden' })).status).toBe(
      200,
    )
    expect(await read('single', 'draft-step')).toMatchObject({ value: '{"step":3}', uiType: 'hidden' })
    expect((await read('single', 'colour')).value).toBe('teal')
    expect((await put('single', { key: 'tries', value: 4 }, { 'if-match': '*' })).status).toBe(200)
    const refused = [await put('single', { value: 'no key' }), await put('single', 'colour')]
    expect(refused.map(({ status, body }) => [status, body.message])).toEqual([
      [400, "'auxData[0].key' is missing; it must be text."],
      [400, "'auxData' must be a list, not text."],
    ])
  })

  it('applies both records in order if a request has a key twice', async () => {
    await put('twice', [
      { key: 'a', value: '1', uiType: 'hidden' },
      { key: 'a', value: '2' },
    ])
    expect(await read('twice', 'a')).toMatchObject({ value: '2', uiType: 'hidden' })
  })

  it('is empty if it does not exist, and leaves no key behind when it is deleted', async () => {
    expect(await read('nobody', 'nothing')).toEqual({
      locator: 'nobody',
      key: 'nothing',
      value: '',
      uiType: 'normal',
    })
    await put('gone', [{ key: 'a', value: '1' }])
    for (let time = 0; time < 2; time += 1)
      expect((await callApi('DELETE', '/auxData/gone/a', { token: motor.token })).status).toBe(200)
    expect((await read('gone', 'a')).value).toBe('')
    expect((await keys('gone', 0)).body).toEqual({ keys: [], page: 0 })
  })

  it('lists its keys in pages of 100, from page 0', async () => {
    const names = Array.from({ length: 250 }, (_, at) => `key-${String(at).padStart(3, '0')}`)
    await put(
      'many',
      names.map(key => ({ key, value: 'x' })),
    )
    const pages = [await keys('many', 0), await keys('many', 1), await keys('many', 2), await keys('many', 3)]
    expect(pages.map(({ body }) => body.keys.length)).toEqual([100, 100, 50, 0])
    expect(pages.flatMap(({ body }) => body.keys.map(one => one.key))).toEqual(names)
    for (const query of ['', '?', '?page='])
      expect((await motor.get(`/auxData/many${query}`)).body).toEqual(pages[0]!.body)
    expect(pages[1]!.body).toMatchObject({
      page: 1,
      keys: expect.arrayContaining([{ key: 'key-100', uiType: 'normal' }]),
    })
    for (const wrong of ['-1', 'x', '1.5']) expect((await keys('many', wrong)).status).toBe(400)
  })

  it('is read and written in one round trip, and a repeated Idempotency-Key writes nothing', async () => {
    expect(roundTrips(await put('trips', [{ key: 'a', value: '1' }]))).toMatchObject({
      d1: 1,
      object: 0,
      r2: 0,
    })
    expect(roundTrips(await motor.get('/auxData/trips/a'))).toMatchObject({ d1: 1, object: 0, r2: 0 })
    const headers = { 'idempotency-key': 'aux-1' }
    await put('trips', [{ key: 'a', value: '2' }], headers)
    await put('trips', [{ key: 'a', value: '3' }])
    expect((await put('trips', [{ key: 'a', value: '2' }], headers)).status).toBe(200)
    expect((await read('trips', 'a')).value).toBe('3')
  })

  it('rejects values, keys, locators and types beyond its limits with 400', async () => {
    expect((await put('x', [{ key: 'a', value: 'v'.repeat(100_000) }])).status).toBe(200)
    for (const [locator, auxData] of [
      ['x', [{ key: 'a', value: 'v'.repeat(100_001) }]],
      ['x', [{ key: 'k'.repeat(257), value: '' }]],
      ['x', [{ key: '', value: '' }]],
      ['x', [{ key: 'a', uiType: 'loud' }]],
      ['x'.repeat(257), [{ key: 'a', value: '' }]],
    ] as const) {
      const answer = await put(locator, auxData)
      expect(answer.status).toBe(400)
      expect(answer.body.message).toMatch(/\w/)
    }
  })

  it('is visible only to its own tenant, and requires a token', async () => {
    const other = await motorTenant('auxdata-other')
    await put('shared', [{ key: 'a', value: 'mine' }])
    expect((await other.get<AuxDataResponse>('/auxData/shared/a')).body.value).toBe('')
    expect((await callApi('GET', '/auxData/shared/a', {})).status).toBe(401)
  })
})
