// Events of one commit share a row where they can, and readers do not notice it.
import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newUuid, type PolicyLocator, type Uuid } from '../../../../src/kernel/locators.ts'
import { now } from '../../../../src/kernel/time.ts'
import { noCalls } from '../../../../src/platform/calls.ts'
import type { RequestContext } from '../../../../src/platform/context.ts'
import { type Database, openDatabase, type Query } from '../../../../src/platform/database.ts'
import { eventRows, type NewEvent } from '../../../../src/platform/events/outbox.ts'
import { EVERY_EVENT, MOST_IN_ROW } from '../../../../src/platform/events/rows.ts'
import { isStreamed, newerTypeOf, typesNamed } from '../../../../src/platform/events/types.ts'
import {
  eventsAfter,
  eventsOfRequest,
  findEvent,
  type StreamFilter,
  type View,
} from '../../../../src/servicing/events/stream/store.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../../../support/databases.ts'
import { size } from '../../../support/sizes.ts'

beforeAll(() => prepareDatabases({ tenants: 1 }))

let client: D1Database
let database: Database

beforeEach(() => {
  client = boundDatabase(poolBinding(1))
  database = openDatabase(client, noCalls())
})

const POLICIES = [100_000_001, 100_000_065] as PolicyLocator[]
const HOLDERS = [newUuid(0), newUuid(0)]

type Written = NewEvent & { readonly requestId: Uuid; readonly at: number }

/** Commits the events. `joins`: as in a database that has rows of several events. */
async function happen(happened: readonly NewEvent[], joins: boolean, at = now(), requestId = newUuid(0)) {
  const tenant = { clockOffsetMs: -now(), ...(joins && { sharesEventRows: true }) }
  const caller = { accountLocator: newUuid(0), username: 'anna' }
  const context = { tenant, requestId, caller, now: at } as unknown as RequestContext
  await database.batch(eventRows(database, context, happened, 0) as [Query, ...Query[]])
  return happened.map((event): Written => ({ ...event, requestId, at }))
}

const locators = {
  policyLocator: fc.constantFrom(...POLICIES),
  policyholderLocator: fc.constantFrom(...HOLDERS),
}
const texts = fc.record(
  {
    policyLocator: fc.constantFrom(...POLICIES.map(String)),
    policyholderLocator: fc.constantFrom<string>(...HOLDERS),
    productName: fc.constantFrom('motor', 'boat'),
    state: fc.constantFrom('a "quoted" one', 'ü\n\\', ''),
  },
  { requiredKeys: [] },
)
const anEvent: fc.Arbitrary<NewEvent> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      {
        type: fc.constantFrom(
          'policy.issue',
          'policy.create',
          'invoice.issue',
          'document.ready',
          'document.failed',
          'login.success',
          'custom.x',
          'custom.y.z',
        ) as fc.Arbitrary<NewEvent['type']>,
        data: texts as fc.Arbitrary<Record<string, string>>,
        ...locators,
      },
      { requiredKeys: ['type', 'data'] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constantFrom<NewEvent['type']>(
        'policy.quote.update',
        'policy.quote.quoted',
        'policy.quote.declined',
      ),
      newerType: fc.constantFrom(
        'policy.quote.reset',
        'policy.quote.manualunderwrite',
        undefined,
      ) as fc.Arbitrary<never>,
      data: texts as fc.Arbitrary<Record<string, string>>,
      ...locators,
    }),
  },
)
/** Commits of one policy, as most are, and mixed ones. */
const aCommit = fc.record({
  events: fc.oneof(
    fc.array(anEvent, { minLength: 1, maxLength: 8 }),
    fc
      .array(anEvent, { minLength: 1, maxLength: 8 })
      .map(list =>
        list.map(one => ({ ...one, policyLocator: POLICIES[0]!, policyholderLocator: HOLDERS[0]! })),
      ),
  ),
  joins: fc.boolean(),
  later: fc.integer({ min: 0, max: 2 }),
})

const expectedRow = (event: Written) => ({
  type: event.type,
  newerType: newerTypeOf(event) ?? null,
  data: event.data,
  requestId: event.requestId,
})

/** Reads pages of this size until one is empty. */
async function read(view: View, filter: StreamFilter, size: number) {
  const found: object[] = []
  for (let position = 0; ; ) {
    const { rows, reached } = await eventsAfter(database, view, position, filter, size)
    if (rows.length === 0) return found
    expect(rows.length).toBeLessThanOrEqual(size)
    found.push(...rows)
    position = reached
  }
}

describe('events in rows of one and of several', () => {
  it('are read as written, once and in order, with any page size and filter', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(aCommit, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 9 }),
        async (commits, size) => {
          await client.exec('delete from event')
          const [[before]] = await database.batch([
            database.build.all<{ seq: number }>(
              `select coalesce(max(seq), 0) as seq from sqlite_sequence where name = 'event'`,
            ),
          ])
          const written: Written[] = []
          let at = 1_000
          for (const { events, joins, later } of commits) {
            at += later
            written.push(...(await happen(events, joins, at as ReturnType<typeof now>)))
          }
          const { results } = await client
            .prepare(`select * from ${EVERY_EVENT} order by sequence`)
            .all<Record<string, string | number | null>>()
          expect(
            results.map(row => ({
              type: row.type,
              newerType: row.newer_type,
              data: JSON.parse(String(row.data)),
              requestId: row.request_id,
              sequence: row.sequence,
              at: row.at,
              policy: row.policy_locator,
              holder: row.policyholder_locator,
            })),
          ).toEqual(
            written.map((event, place) => ({
              ...expectedRow(event),
              sequence: before!.seq + place + 1,
              at: event.at,
              policy: event.policyLocator ?? null,
              holder: event.policyholderLocator ?? null,
            })),
          )
          const ids = results.map(({ locator }) => String(locator))
          expect(new Set(ids).size).toBe(ids.length)

          const expectEvents = async (filter: StreamFilter, isWanted: (event: Written) => boolean) =>
            expect((await read('events', filter, size)).map(row => expectedRow(row as Written))).toEqual(
              written.filter(isWanted).map(expectedRow),
            )
          await expectEvents({}, () => true)
          await expectEvents(
            { start: 1_002 as never, end: 1_006 as never },
            one => one.at >= 1_002 && one.at < 1_006,
          )
          for (const name of [
            'policy.issue',
            'policy.quote.reset',
            'policy.quote.manualunderwrite',
            'custom.x',
            'document.ready',
            'policy.quote.update',
            'policy.quote.issue',
          ])
            await expectEvents(
              { name },
              one =>
                one.type === name ||
                (newerTypeOf(one) === name && typesNamed(name).includes(one.type as never)),
            )
          await expectEvents(
            { name: 'invoice.issue', start: 1_001 as never, end: 1_005 as never },
            one => one.type === 'invoice.issue' && one.at >= 1_001 && one.at < 1_005,
          )

          // SQL and the code split a row into the same columns.
          const inSql = results.map(row => ({ ...row, data: JSON.parse(String(row.data)) }))
          expect((await read('events', {}, size)).map(row => Object.values(row))).toEqual(
            inSql.map(row => Object.values(row)),
          )

          const expectStream = async (filter: StreamFilter, isWanted: (event: Written) => boolean) =>
            expect(await read('stream', filter, size)).toEqual(
              written.flatMap((one, place) =>
                isWanted(one) && isStreamed(one.type)
                  ? [expect.objectContaining({ locator: ids[place], at: one.at, ...expectedRow(one) })]
                  : [],
              ),
            )
          await expectStream({ start: 0 as never }, () => true)
          await expectStream({ type: 'policy.issue' }, one => one.type === 'policy.issue')
          await expectStream({ start: 1_003 as never }, one => one.at >= 1_003)

          for (const [place, id] of [...ids.entries()].slice(0, 12))
            expect(expectedRow((await findEvent(database, id as Uuid)) as never)).toEqual(
              expectedRow(written[place]!),
            )
          for (const id of ids.slice(0, 3)) {
            const absent = `${id.slice(0, 32)}${'fe'}${id.slice(34)}` as Uuid
            expect(await findEvent(database, absent)).toBeUndefined()
          }
          for (const [request, ofRequest] of Map.groupBy(written, ({ requestId }) => requestId))
            expect((await eventsOfRequest(database, request)).map(row => expectedRow(row as never))).toEqual(
              ofRequest.map(expectedRow),
            )
        },
      ),
      { numRuns: size(8, 500) },
    )
  })

  it('never reuse a sequence number, even after the last rows are deleted', async () => {
    const last = async () => Number(await client.prepare(`select max(sequence) as n from event`).first('n'))
    const some = (count: number): NewEvent[] =>
      Array.from({ length: count }, () => ({ type: 'policy.create', data: {}, policyLocator: POLICIES[0]! }))
    await happen(some(3), true)
    const first = await last()
    await client.exec('delete from event')
    await happen(some(2), true)
    expect(await last()).toBe(first + 2)
    await happen(some(2), false)
    await client.exec('delete from event')
    await happen(some(1), true)
    expect(await last()).toBe(first + 5)
  })

  it('are at most 64 per row, and their times never decrease', async () => {
    await client.exec('delete from event')
    const many = Array.from(
      { length: 3 * MOST_IN_ROW + 1 },
      (_, at): NewEvent => ({
        type: 'policy.create',
        data: { name: String(at) },
        policyLocator: POLICIES[0]!,
      }),
    )
    await happen(many, true, 9_000 as ReturnType<typeof now>)
    await happen([many[0]!, many[1]!], true, 5_000 as ReturnType<typeof now>)
    const { results } = await client.prepare('select type, at from event order by sequence').all()
    expect(results.map(({ at }) => at)).toEqual([9_000, 9_000, 9_000, 9_000, 9_000])
    expect(results.map(({ type }) => type)).toEqual([
      ...Array.from({ length: 3 }, () => '["policy.create"]'),
      'policy.create',
      '["policy.create"]',
    ])
    expect(await read('events', {}, 100)).toHaveLength(3 * MOST_IN_ROW + 3)
  })
})

describe('a long stream', () => {
  /** The number of rows that reading the page needs. */
  async function readFor(view: View, position: number, filter: StreamFilter): Promise<number> {
    const calls = noCalls()
    const { rows } = await eventsAfter(openDatabase(client, calls), view, position, filter, 50)
    expect(rows).toHaveLength(50)
    return calls.rowsRead
  }

  it('is read without scanning, also by type and time', async () => {
    await client.exec('delete from event')
    const first = await happen(
      (['policy.create', 'policy.quote.update', 'policy.create', 'invoice.issue'] as const).map(type => ({
        type,
        data: { policyLocator: String(POLICIES[0]) },
        policyLocator: POLICIES[0]!,
      })),
      true,
      1_000 as ReturnType<typeof now>,
    )
    expect(first).toHaveLength(4)
    // Ten thousand more commits like this one, and as many single events, which do not share rows.
    await client.exec(
      `insert into event (sequence, locator, request_id, type, newer_type, at, data, account_locator, username, policyholder_locator, policy_locator) with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000) select sequence + 5 * i - k.value, substr(locator, 1, 24) || printf('%08x', i * 2 + k.value) || '0000', request_id, iif(k.value, type, 'policy.create'), iif(k.value, newer_type, null), at + i, iif(k.value, data, '{}'), account_locator, username, policyholder_locator, policy_locator from n cross join (select 0 as value union all select 1) k cross join (select * from event) where true`,
    )
    const [[half]] = await database.batch([
      database.build.all<{ low: number }>(`select max(sequence) / 2 as low from event`),
    ])
    expect(await readFor('stream', half!.low, {})).toBeLessThan(500)
    expect(await readFor('events', half!.low, {})).toBeLessThan(500)
    expect(await readFor('events', 0, { start: 6_000 as never })).toBeLessThan(800)
    expect(await readFor('stream', half!.low, { type: 'policy.create' })).toBeLessThan(1_000)
    expect(await readFor('events', half!.low, { name: 'policy.create', start: 6_000 as never })).toBeLessThan(
      1_500,
    )
    expect(await readFor('events', 0, { name: 'billing.invoice.generate' })).toBeLessThan(1_000)
  })
})
