// The audit trail through HTTP: each change of auxiliary data records who made it, when, and which keys, but never the values.
import { beforeAll, describe, expect, it } from 'vitest'
import type { AuditPageResponse } from '../../src/access/audit/contract.ts'
import { callApi } from '../support/api.ts'
import { autofilled } from '../support/autofilled.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'

const AUTOFILL = `
exports.getDataAutofill = data => {
  socotraApi.setAuxData(data.policyholderLocator, 'seen', 'yes')
  socotraApi.setAuxData('global', 'last', data.operation)
  socotraApi.setAuxData('global', 'count', '1', 'hidden')
  if (data.updates.fieldValues.contact_email[0] === 'fail@example.com') throw new Error('no')
  return {}
}`

let motor: Motor
let admin: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('audit', autofilled(AUTOFILL))
  admin = await motor.signIn('anna.admin')
})

const put = (locator: string, keys: readonly string[], headers: Record<string, string> = {}) =>
  callApi('PUT', `/auxData/${locator}`, {
    token: motor.token,
    headers,
    body: { auxData: keys.map(key => ({ key, value: 'secret of the holder' })) },
  })

const remove = (locator: string, key: string) =>
  callApi('DELETE', `/auxData/${locator}/${key}`, { token: motor.token })

const trail = async (query: string) => {
  const answer = await callApi<AuditPageResponse>('GET', `/audit/list?${query}`, { token: admin })
  expect(answer.status).toBe(200)
  return answer.body
}

describe('a change of auxiliary data', () => {
  it('records who made it, when, which keys and which request', async () => {
    const before = Date.now()
    const written = await put('one', ['a', 'b'])
    const deleted = await remove('one', 'a')
    const { entries, pagingToken } = await trail('subject=one')
    expect(pagingToken).toBeUndefined()
    const [first, second] = entries
    expect(entries).toEqual([
      {
        locator: expect.stringMatching(/^[0-9a-f-]{36}$/),
        timestamp: expect.stringMatching(/^\d{13}$/),
        action: 'auxdata.write',
        subject: 'one',
        details: { keys: ['a', 'b'] },
        username: 'alice.agent',
        accountLocator: expect.stringMatching(/^[0-9a-f-]{36}$/),
        requestId: written.headers.get('x-request-id'),
      },
      { ...first, ...second, action: 'auxdata.delete', details: { keys: ['a'] } },
    ])
    expect(second!.requestId).toBe(deleted.headers.get('x-request-id'))
    expect(Number(first!.timestamp)).toBeGreaterThanOrEqual(before)
    expect(JSON.stringify(entries)).not.toContain('secret')
  })

  it('that changes nothing is not recorded: a repeat, no keys, or deleting a missing key', async () => {
    for (let time = 0; time < 2; time += 1)
      expect((await put('repeated', ['a'], { 'idempotency-key': 'audit-1' })).status).toBe(200)
    expect((await remove('repeated', 'b')).status).toBe(200)
    expect((await put('repeated', [])).status).toBe(200)
    expect((await trail('subject=repeated')).entries.map(one => one.details)).toEqual([{ keys: ['a'] }])
  })

  it('with 450 keys is recorded in entries of up to 200 keys, in the same round trip', async () => {
    const keys = Array.from({ length: 450 }, (_, at) => `key-${at}`)
    expect(roundTrips(await put('many', keys))).toMatchObject({ d1: 1 })
    const { entries } = await trail('subject=many')
    expect(entries.map(one => (one.details.keys as string[]).length).sort()).toEqual([200, 200, 50])
    expect(new Set(entries.flatMap(one => one.details.keys as string[]))).toEqual(new Set(keys))
    expect(roundTrips(await remove('many', 'key-1'))).toMatchObject({ d1: 1 })
  })

  it('by a plugin is recorded with the user of the request and the plugin, unless the request fails', async () => {
    const { policy } = plainYear().request
    const withEmail = (name: string) => ({
      finalize: false,
      fieldValues: { ...policy.fieldValues, contact_email: `${name}@example.com` },
    })
    const created = await motor.createPolicy(withEmail('anna'))
    const holder = created.body.policyholderLocator
    const ofGlobal = await trail('subject=global')
    expect(ofGlobal.entries).toMatchObject([
      {
        action: 'auxdata.write',
        username: 'alice.agent',
        details: { keys: ['last', 'count'], plugin: 'getDataAutofill' },
        requestId: created.headers.get('x-request-id'),
      },
    ])
    expect((await trail(`subject=${holder}`)).entries.map(one => one.details)).toEqual([
      { keys: ['seen'], plugin: 'getDataAutofill' },
    ])
    expect((await motor.createPolicy(withEmail('fail'))).status).toBe(422)
    expect((await trail('subject=global')).entries).toHaveLength(1)
  })
})

describe('a change of the setup of the tenant', () => {
  const entriesOf = async (query: string) =>
    (await trail(query)).entries.map(({ subject, username, details }) => ({ subject, username, details }))

  it('by a deploy is recorded with the version and the hash of the archive', async () => {
    expect(await entriesOf('action=configuration.deploy')).toEqual([
      {
        subject: 'version 1',
        username: 'administrator',
        details: { hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    ])
  })

  it('of an integration is recorded by name, without the URL', async () => {
    const url = 'http://127.0.0.1:9/secret-path'
    const body = { name: 'filler', type: 'data_autofill', url }
    expect((await callApi('POST', '/integrations', { token: admin, body })).status).toBe(200)
    expect((await callApi('PUT', '/integrations/filler', { token: admin, body: { url } })).status).toBe(200)
    expect((await callApi('DELETE', '/integrations/filler', { token: admin })).status).toBe(200)
    expect((await callApi('DELETE', '/integrations/filler', { token: admin })).status).toBe(404)
    const entry = { subject: 'filler', username: 'anna.admin', details: { type: 'data_autofill' } }
    expect(await entriesOf('action=integrations.write')).toEqual([entry, entry])
    expect(await entriesOf('action=integrations.delete')).toEqual([entry])
    expect(JSON.stringify(await entriesOf('subject=filler'))).not.toContain('secret-path')
  })

  it('of the clock is recorded with the target time', async () => {
    const moved = await callApi<{ targetTimestamp: string }>('POST', '/test/clock', {
      token: motor.token,
      body: { advance: { amount: 1, unit: 'second' } },
    })
    expect(await entriesOf('action=tenants.clock')).toEqual([
      {
        subject: 'clock',
        username: 'alice.agent',
        details: { targetTimestamp: moved.body.targetTimestamp },
      },
    ])
  })
})

describe('the audit trail', () => {
  it('is paged, oldest first, and can be filtered', async () => {
    for (let at = 0; at < 5; at += 1) await put(`paged-${at}`, ['a'])
    const all = (await trail('pageSize=1000')).entries
    const times = all.map(one => Number(one.timestamp))
    expect(times).toEqual([...times].sort((a, b) => a - b))
    const paged: string[] = []
    let token = ''
    do {
      const page = await trail(`pageSize=3${token && `&pagingToken=${encodeURIComponent(token)}`}`)
      expect(page.entries.length).toBeLessThanOrEqual(3)
      paged.push(...page.entries.map(one => one.locator))
      token = page.pagingToken ?? ''
    } while (token !== '')
    expect(paged).toEqual(all.map(one => one.locator))
    const last = all.at(-1)!
    expect((await trail(`startTimestamp=${last.timestamp}`)).entries.map(one => one.locator)).toContain(
      last.locator,
    )
    expect((await trail(`endTimestamp=${all[0]!.timestamp}`)).entries).toEqual([])
    expect((await trail('action=auxdata.delete')).entries.every(one => one.action === 'auxdata.delete')).toBe(
      true,
    )
    expect((await trail('username=nobody')).entries).toEqual([])
    const mine = all.filter(one => one.username === 'alice.agent')
    expect(mine.length).toBeLessThan(all.length)
    expect((await trail('username=alice.agent&pageSize=1000')).entries).toEqual(mine)
    expect(
      (await trail(`accountLocator=${last.accountLocator.toUpperCase()}&pageSize=1000`)).entries,
    ).toEqual(mine)
    expect((await trail(`requestId=${last.requestId}`)).entries.map(one => one.locator)).toEqual([
      last.locator,
    ])
  })

  it('returns 403 to other users than administrators, and 400 for an unknown action', async () => {
    expect((await callApi('GET', '/audit/list', { token: motor.token })).status).toBe(403)
    const wrong = await callApi('GET', '/audit/list?action=everything', { token: admin })
    expect(wrong.status).toBe(400)
  })
})

describe('the audit trail with the newest first', () => {
  it('has the same entries in reverse order, page by page', async () => {
    const oldest = (await trail('pageSize=1000')).entries
    expect(oldest.length).toBeGreaterThan(5)
    const seen: AuditPageResponse['entries'] = []
    for (let token: string | undefined = ''; token !== undefined; ) {
      const page = await trail(`order=newestFirst&pageSize=2${token && `&pagingToken=${token}`}`)
      seen.push(...page.entries)
      token = page.pagingToken
    }
    expect(seen).toEqual(oldest.toReversed())
    expect((await trail('order=newestFirst&subject=one&pageSize=1')).entries).toEqual(
      (await trail('subject=one')).entries.slice(-1),
    )
    const wrong = await callApi('GET', '/audit/list?order=up', { token: admin })
    expect(wrong.status).toBe(400)
  })

  it('reads its page from an index, with and without a subject', async () => {
    const database = boundDatabase(poolBinding(1))
    for (const [where, name] of [
      ['(created_at, locator) < (1, ?1)', 'audit_created'],
      ["subject = 'one' and (created_at, locator) < (1, ?1)", 'audit_subject'],
    ]) {
      const { results } = await database
        .prepare(
          `explain query plan select * from audit where ${where} order by created_at desc, locator desc limit 3`,
        )
        .bind('a')
        .all<{ detail: string }>()
      expect(results.map(({ detail }) => detail)).toEqual([expect.stringContaining(`USING INDEX ${name}`)])
    }
  })
})
