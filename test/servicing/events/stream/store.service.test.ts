// Finding events without indexes on times, newer names and requests.
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  boundsOfEvents,
  eventLocators,
  newUuid,
  orderedUuid,
  readUuid,
  shardOfUuid,
} from '../../../../src/kernel/locators.ts'
import { noCalls } from '../../../../src/platform/calls.ts'
import { putRows } from '../../../../src/platform/database/rows.ts'
import { type Database, openDatabase, type Query } from '../../../../src/platform/database.ts'
import { events } from '../../../../src/platform/events/tables.ts'
import { eventsOfRequest, firstSequenceFrom } from '../../../../src/servicing/events/stream/store.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../../../support/databases.ts'
import { size } from '../../../support/sizes.ts'

beforeAll(() => prepareDatabases({ tenants: 1 }))

let client: D1Database
let database: Database

beforeEach(async () => {
  client = boundDatabase(poolBinding(1))
  database = openDatabase(client, noCalls())
  await client.exec('delete from event')
})

const eventOf = (sequence: number, at: number, request = newUuid(0)) => ({
  sequence,
  locator: orderedUuid(0),
  requestId: request,
  type: 'policy.create',
  newerType: null,
  at,
  data: {},
  accountLocator: newUuid(0),
  username: 'anna',
  policyholderLocator: null,
  policyLocator: null,
})

describe('the first event at or after a time', () => {
  /** The gaps between sequence numbers, and the times between events. */
  const stream = fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 3 })), {
    maxLength: 40,
  })

  it('is found by binary search, with any gaps and any number of events at the same time', async () => {
    await fc.assert(
      fc.asyncProperty(stream, fc.integer({ min: -1, max: 130 }), async (steps, time) => {
        await client.exec('delete from event')
        let [sequence, at] = [0, 0]
        const rows = steps.map(([gap, step]) => {
          sequence += gap
          at += step
          return eventOf(sequence, at)
        })
        if (rows.length > 0) await database.batch(putRows(database, events, rows) as [Query, ...Query[]])
        const [[found]] = await database.batch([
          database.build.all<{ low: number }>(sql`select ${firstSequenceFrom(time)} as low`),
        ])
        const from = (isFrom: (one: (typeof rows)[number]) => boolean) =>
          rows.filter(isFrom).map(one => one.sequence)
        expect(from(one => one.sequence >= found!.low)).toEqual(from(one => one.at >= time))
      }),
      { numRuns: size(35, 2_000) },
    )
  })

  it('is found in 20,000 events with fewer than 200 rows read', async () => {
    await client.exec(
      `insert into event (sequence, locator, request_id, type, at, data, account_locator, username) with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) select i, 'e' || i, 'r' || i, 'policy.create', i, '{}', '', '' from n`,
    )
    const calls = noCalls()
    const counting = openDatabase(client, calls)
    const [[found]] = await counting.batch([
      counting.build.all<{ low: number }>(sql`select ${firstSequenceFrom(12_345)} as low`),
    ])
    expect(found!.low).toBe(12_345)
    expect(calls.rowsRead).toBeLessThan(200)
  })
})

describe('events of a request', () => {
  it('are those with locators that begin with its id, and those of earlier releases', async () => {
    const [request, other] = [newUuid(0), newUuid(0)]
    const rows = [
      eventOf(1, 1, request),
      { ...eventOf(2, 2, request), locator: eventLocators(request, 1, 0)[0]! },
      { ...eventOf(3, 3, other), locator: eventLocators(other, 1, 0)[0]! },
      // An event of another request whose id begins in the same way.
      { ...eventOf(4, 4, other), locator: eventLocators(request, 1, 0)[0]! },
    ]
    await database.batch(putRows(database, events, rows) as [Query, ...Query[]])
    const found = await eventsOfRequest(database, request)
    expect(found.map(one => one.at)).toEqual([1, 2])
  })

  it('have unique locators in ascending bounds over many commits', () => {
    const request = newUuid(0)
    const all = Array.from({ length: 200 }, () => eventLocators(request, 100, 3)).flat()
    expect(new Set(all).size).toBe(20_000)
    const { from, to } = boundsOfEvents(request)
    for (const one of all)
      expect([readUuid(one), shardOfUuid(one), one > from && one < to]).toEqual([one, 3, true])
  })
})
