import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventTypes } from '../../../../src/platform/events/catalogue.ts'
import { EVERY_EVENT } from '../../../../src/platform/events/rows.ts'
import { streamTypes, unstreamedTypes } from '../../../../src/platform/events/types.ts'
import { forgetTenants, type Tenant } from '../../../../src/platform/tenancy.ts'
import { readToken, writeToken } from '../../../../src/servicing/events/stream/service.ts'
import { prepareDatabases } from '../../../support/databases.ts'
import { type Client, clientOf } from '../http.ts'
import { happen, makeTenant } from '../tenant.ts'

beforeAll(() => prepareDatabases({ tenants: 30 }))

let tenant: Tenant
let call: Client

beforeEach(async () => {
  tenant = await makeTenant()
  call = await clientOf(tenant)
})

const STREAM = '/eventstream/events'
const named = (...names: string[]) => names.map(name => ({ data: { name } }))
const namesOf = (body: { events: { data: { name: string } }[] }) => body.events.map(({ data }) => data.name)
const pageAfter = (token: string) => `${STREAM}?pagingToken=${encodeURIComponent(token)}`

/** Sets the time of one event, as if the clock had been different. */
const happenedAt = (of: Tenant, name: string, at: number, shard = 0) =>
  (env as unknown as Record<string, D1Database>)
    [of.shards[shard]!]!.prepare(`update event set at = ? where data ->> 'name' = ?`)
    .bind(at, name)
    .run()

describe('the event stream', () => {
  it('returns events oldest first, with the username in attributedEvents only', async () => {
    await happen(tenant, [
      { type: 'policy.create', data: { policyLocator: '100000001' } },
      { type: 'policy.issue' },
    ])
    const plain = await call('GET', `${STREAM}?startTimestamp=0`)
    expect(plain.body).toEqual({
      events: [
        {
          id: expect.any(String),
          timestamp: expect.stringMatching(/^\d{13}$/),
          type: 'policy.create',
          data: { policyLocator: '100000001' },
        },
        expect.objectContaining({ type: 'policy.issue' }),
      ],
      pagingToken: expect.any(String),
    })
    const attributed = await call('GET', '/eventstream/attributedEvents?startTimestamp=0')
    expect(attributed.body.events).toEqual(
      plain.body.events.map((event: object) => ({ ...event, username: 'alice' })),
    )
    // One round trip. The tenant was read for the previous call.
    expect(attributed.calls).toContain('d1;desc="1"')
  })

  it('returns the data of events unchanged, with any texts and property names', async () => {
    const data = { 2: 'two', name: 'Zoë "Q." \\ / \n\u2028 \ud83d\ude97 \ud800', __proto: '}', '"': ']}' }
    await happen(tenant, [{ data }, { data: {} }])
    const { body } = await call('GET', `${STREAM}?startTimestamp=0`)
    expect(body.events.map((event: { data: object }) => event.data)).toEqual([data, {}])
    const { body: attributed } = await call('GET', '/eventstream/attributedEvents?startTimestamp=0')
    expect(attributed.events.map((event: { data: object }) => event.data)).toEqual([data, {}])
  })

  it('continues after a paging token, with the filter and page size of the first call, indefinitely', async () => {
    await happen(tenant, named('a', 'b', 'c'))
    await happen(tenant, [{ type: 'policyholder.create', data: { name: 'x' } }])
    const first = await call('GET', `${STREAM}?eventType=policy.create&pageSize=2`)
    expect(namesOf(first.body)).toEqual(['a', 'b'])
    const second = await call('GET', pageAfter(first.body.pagingToken))
    expect(namesOf(second.body)).toEqual(['c'])
    const third = await call('GET', pageAfter(second.body.pagingToken))
    expect(namesOf(third.body)).toEqual([])
    await happen(tenant, named('d', 'e', 'f'))
    const fourth = await call('GET', pageAfter(third.body.pagingToken))
    expect(namesOf(fourth.body)).toEqual(['d', 'e'])
    expect(namesOf((await call('GET', pageAfter(first.body.pagingToken))).body)).toEqual(['c', 'd'])
    expect(namesOf((await call('GET', `${pageAfter(first.body.pagingToken)}&pageSize=1`)).body)).toEqual([
      'c',
    ])
  })

  it('filters from startTimestamp (inclusive) to endTimestamp (exclusive)', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await happen(tenant, named(name))
    for (const [at, name] of ['a', 'b', 'c', 'd'].entries()) await happenedAt(tenant, name, 1_000 + at)
    const names = async (query: string) => namesOf((await call('GET', `${STREAM}?${query}`)).body)
    expect(await names('startTimestamp=1001')).toEqual(['b', 'c', 'd'])
    expect(await names('endTimestamp=1002')).toEqual(['a', 'b'])
    expect(await names('startTimestamp=1001&endTimestamp=1003')).toEqual(['b', 'c'])
    expect(await names('startTimestamp=1004')).toEqual([])
    expect(await names('startTimestamp=1003&endTimestamp=1001')).toEqual([])
    expect(await names('startTimestamp=0&eventType=policy.issue')).toEqual([])
  })

  it('never goes back in time, even if a machine with a slow clock commits', async () => {
    await happen(tenant, named('a'))
    const ahead = Date.now() + 5_000
    await happenedAt(tenant, 'a', ahead)
    await happen(tenant, named('b', 'c'))
    const { body } = await call('GET', `${STREAM}?startTimestamp=${ahead}`)
    expect(namesOf(body)).toEqual(['a', 'b', 'c'])
    expect(new Set(body.events.map(({ timestamp }: { timestamp: string }) => timestamp)).size).toBe(1)
  })

  it('needs either a filter or a paging token, but not both', async () => {
    await happen(tenant, named('a'))
    const bare = await call('GET', STREAM)
    expect(bare).toMatchObject({ status: 400, body: { code: 'invalidParameter' } })
    expect(bare.body.message).toContain("'startTimestamp'")
    expect((await call('GET', `${STREAM}?pageSize=5`)).status).toBe(400)
    const { body } = await call('GET', `${STREAM}?startTimestamp=0`)
    for (const filter of ['startTimestamp=0', 'endTimestamp=5', 'eventType=policy.create']) {
      const both = await call('GET', `${pageAfter(body.pagingToken)}&${filter}`)
      expect(both.status).toBe(400)
      expect(both.body.message).toContain(`'${filter.split('=')[0]}'`)
    }
    expect((await call('GET', `${STREAM}?startTimestamp=yesterday`)).status).toBe(400)
    expect((await call('GET', `${STREAM}?startTimestamp=0&pageSize=0`)).status).toBe(400)
  })

  it('filters by full type names of the catalogue only', async () => {
    await happen(tenant, named('a'))
    expect(namesOf((await call('GET', `${STREAM}?eventType=policy.create`)).body)).toEqual(['a'])
    expect((await call('GET', `${STREAM}?eventType=claim.open`)).body.events).toEqual([])
    for (const type of ['policy.sold', 'policy.*', 'Policy.create', 'constructor']) {
      const { status, body } = await call('GET', `${STREAM}?eventType=${type}&startTimestamp=0`)
      expect([status, body.code]).toEqual([400, 'invalidParameter'])
      expect(body.message).toContain(`'${type}'`)
    }
  })

  it('shows types of the contract, three more and those of plugins, but rejects newer families', async () => {
    const streamed = [...streamTypes, 'custom.rate.referred'] as const
    for (const type of [...eventTypes, 'custom.rate.referred'] as const)
      await happen(tenant, [{ type, data: { name: type } }])
    const { body } = await call('GET', `${STREAM}?startTimestamp=0`)
    expect(namesOf(body)).toEqual(streamed)
    const attributed = await call('GET', '/eventstream/attributedEvents?startTimestamp=0')
    expect(namesOf(attributed.body)).toEqual(streamed)
    const list = `/event/${tenant.locator}/events/list`
    expect((await call('GET', `${list}?pageSize=1000`)).body.events).toHaveLength(eventTypes.length + 1)
    for (const type of unstreamedTypes) {
      const refused = await call('GET', `${STREAM}?eventType=${type}`)
      expect(refused).toMatchObject({ status: 400, body: { code: 'invalidParameter' } })
      expect(refused.body.message).toContain(`/events/list?type=${type}`)
      expect(namesOf((await call('GET', `${list}?type=${type}`)).body)).toEqual([type])
      const reading = { filter: { type }, pageSize: 5, positions: [], restores: 0 }
      const token = writeToken(env.SEALING_KEY, 'stream', tenant, reading)
      expect((await call('GET', pageAfter(token))).status).toBe(400)
    }
  })

  it('skips long runs of other events without empty pages and without reading a run twice', async () => {
    const other = Array.from({ length: 2_000 }, () => ({ type: 'document.ready' as const }))
    await happen(tenant, [...named('a', 'b'), ...other, ...named('c'), ...other])
    const first = await call('GET', `${STREAM}?startTimestamp=0&pageSize=2`)
    expect(namesOf(first.body)).toEqual(['a', 'b'])
    const second = await call('GET', pageAfter(first.body.pagingToken))
    expect(namesOf(second.body)).toEqual(['c'])
    expect(second.calls).toContain('d1;desc="1"')
    const reading = readToken(env.SEALING_KEY, 'stream', tenant, second.body.pagingToken)
    expect(reading.positions).toEqual([4_003])
    const third = await call('GET', pageAfter(second.body.pagingToken))
    expect(namesOf(third.body)).toEqual([])
    await happen(tenant, named('d'))
    expect(namesOf((await call('GET', pageAfter(third.body.pagingToken))).body)).toEqual(['d'])
  })

  it('returns 409 with a new start time to a token from before a restore, and accepts later tokens', async () => {
    for (const name of ['kept', 'undone']) await happen(tenant, named(name))
    await happenedAt(tenant, 'kept', 1_000)
    const early = (await call('GET', `${STREAM}?startTimestamp=0&pageSize=1`)).body.pagingToken
    const late = (await call('GET', `${STREAM}?startTimestamp=0`)).body.pagingToken
    const database = (env as unknown as Record<string, D1Database>)[tenant.shards[0]!]!
    const restores = [{ to: 1, at: 2 }]
    await database.batch([
      database.prepare(`delete from event where data ->> 'name' = 'undone'`),
      database.prepare('update fence set restores = 1'),
    ])
    await env.CONTROL.prepare('update tenant set restores = ? where locator = ?')
      .bind(JSON.stringify(restores), tenant.locator)
      .run()
    forgetTenants()
    await happen({ ...tenant, restores }, named('new'))
    await happenedAt(tenant, 'new', 5_000)
    for (const token of [early, late]) {
      const { status, body } = await call('GET', pageAfter(token))
      expect(status).toBe(409)
      expect(body).toMatchObject({ code: 'streamRestored', timestamp: '5000' })
      expect(body.message).toContain('startTimestamp=5000')
    }
    const again = await call('GET', `${STREAM}?startTimestamp=5000`)
    expect(namesOf(again.body)).toEqual(['new'])
    expect((await call('GET', pageAfter(again.body.pagingToken))).status).toBe(200)
  })

  it('rejects a paging token that is altered, malformed or of another tenant', async () => {
    await happen(tenant, named('a'))
    const { body } = await call('GET', `${STREAM}?startTimestamp=0`)
    const token: string = body.pagingToken
    const [text, seal] = token.split('.') as [string, string]
    const reading = JSON.parse(atob(text.replaceAll('-', '+').replaceAll('_', '/')))
    const moved = btoa(JSON.stringify([...reading.slice(0, 4), [0]])).replaceAll('=', '')
    const tampered = [
      `${moved}.${seal}`,
      text,
      `${text}.`,
      `${text}.${seal.slice(1)}`,
      'nonsense',
      '.',
      `${token}x`,
    ]
    for (const wrong of tampered)
      expect(await call('GET', pageAfter(wrong)), wrong).toMatchObject({
        status: 400,
        body: { code: 'invalidParameter' },
      })
    const stranger = await clientOf(await makeTenant())
    expect((await stranger('GET', pageAfter(token))).status).toBe(400)
    expect((await call('GET', pageAfter(token))).status).toBe(200)
  })

  it('has pages of 100 events by default, and of at most 1,000', async () => {
    await happen(tenant, named(...Array.from({ length: 1_100 }, (_, n) => String(n))))
    expect((await call('GET', `${STREAM}?startTimestamp=0`)).body.events).toHaveLength(100)
    expect((await call('GET', `${STREAM}?startTimestamp=0&pageSize=5000`)).body.events).toHaveLength(1_000)
  })

  it('shows no events of another tenant', async () => {
    await happen(tenant, named('a'))
    const stranger = await clientOf(await makeTenant())
    expect((await stranger('GET', `${STREAM}?startTimestamp=0`)).body.events).toEqual([])
  })
})

describe('a reader that follows the paging tokens during fifty simultaneous commits', () => {
  it.each([1, 3])(
    'gets every event once and in the order of commits, in a tenant of %i shards',
    async shards => {
      const wide = await makeTenant(shards)
      const reader = await clientOf(wide)
      const written: string[][] = Array.from({ length: shards }, () => [])
      let writing = true
      const write = async (writer: number): Promise<void> => {
        for (let n = 0; n < 3; n += 1) {
          const shard = (writer + n) % shards
          const names = Array.from({ length: 1 + (n % 3) }, (_, at) => `${shard}:${writer}-${n}-${at}`)
          await happen(wide, named(...names), shard)
          written[shard]!.push(...names)
        }
      }
      const follow = async (first: string, next: (token: string) => string): Promise<string[]> => {
        const read: string[] = []
        let token = (await reader('GET', first)).body
        for (;;) {
          read.push(...namesOf(token))
          const last = token.events.length === 0 && !writing
          if (last) return read
          token = (await reader('GET', next(token.pagingToken))).body
        }
      }
      const list = `/event/${wide.locator}/events/list`
      const reading = Promise.all([
        follow(`${STREAM}?startTimestamp=0&pageSize=7`, pageAfter),
        follow(`${list}?type=policy.create&pageSize=11`, token => `${list}?pagingToken=${token}`),
      ])
      await Promise.all(Array.from({ length: 50 }, (_, writer) => write(writer)))
      writing = false
      const [read, listed] = await reading
      expect(listed).toHaveLength(new Set(listed).size)
      expect([...listed].sort()).toEqual(written.flat().sort())
      expect(read).toHaveLength(new Set(read).size)
      expect([...read].sort()).toEqual(written.flat().sort())
      for (const shard of written.keys()) {
        const client = (env as unknown as Record<string, D1Database>)[wide.shards[shard]!]!
        const { results } = await client
          .prepare(`select data ->> 'name' as name from ${EVERY_EVENT} order by sequence`)
          .all()
        expect(read.filter(name => name.startsWith(`${shard}:`))).toEqual(results.map(({ name }) => name))
      }
    },
  )
})

it('the id of an event contains the number of its shard', async () => {
  const wide = await makeTenant(2)
  await happen(wide, named('a'), 1)
  const { body } = await (await clientOf(wide))('GET', `${STREAM}?startTimestamp=0`)
  expect(body.events[0].id.slice(34)).toBe('01')
})
