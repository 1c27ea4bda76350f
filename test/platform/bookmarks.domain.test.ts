import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import {
  addCalls,
  type Calls,
  noCalls,
  noteBookmark,
  readBookmarks,
  writeBookmarks,
} from '../../src/platform/calls.ts'
import { openDatabase } from '../../src/platform/database.ts'
import type { Tenant } from '../../src/platform/tenancy.ts'

const tenant = {
  locator: '0a1b2c3d-0000-4000-8000-000000000000',
  generation: 3,
  shards: ['A', 'B'],
} as unknown as Tenant

test('the response carries the later bookmark of each database: the one of the client or the one seen', () => {
  const calls = noCalls()
  calls.clientBookmarks = readBookmarks('0a1b2c3d.3.0=0005-a,1=0007-b', tenant)
  expect(calls.clientBookmarks).toEqual({ A: '0005-a', B: '0007-b' })
  noteBookmark(calls, 'A', '0009-c')
  noteBookmark(calls, 'A', '0008-c')
  noteBookmark(calls, 'B', '0006-c')
  expect(writeBookmarks(calls, tenant)).toBe('0a1b2c3d.3.0=0009-c,1=0007-b')
  expect(writeBookmarks(noCalls(), tenant)).toBeUndefined()
})

test('bookmarks seen by the object of a policy are added together with its call counts', () => {
  const [calls, more] = [noCalls(), { ...noCalls(), d1: 2, bookmarks: { A: '2' } }]
  addCalls(calls, more)
  addCalls(calls, { ...noCalls(), d1: 1, bookmarks: { A: '1', B: '1' } })
  expect(calls).toEqual({ ...noCalls(), d1: 3, ofObjects: 3, bookmarks: { A: '2', B: '1' } })
})

/**
 * A database with a replica that lags, which the local runtime does not have. Records where sessions began and fails those that
 * begin at `unknown`.
 */
function copied(unknown?: string) {
  const begun: (string | undefined)[] = []
  const client = {
    withSession(from?: string) {
      begun.push(from)
      return {
        prepare: () => ({ bind: () => undefined }),
        batch: async () => {
          if (from === unknown) throw new Error('D1_ERROR: no such bookmark')
          return [{ results: [], meta: { rows_read: 1, rows_written: 0, size_after: 0 } }]
        },
        getBookmark: () => '0009',
      }
    },
  } as unknown as D1Database
  const query = async (calls: Calls) => {
    const database = openDatabase(client, calls, 'A')
    await database.batch([database.build.run(sql`select 1`)])
  }
  return { begun, query }
}

test('a read begins at the bookmark of the client; a write, or a request without bookmarks, at the primary', async () => {
  const { begun, query } = copied()
  const brought = { A: '0005' }
  await query({ ...noCalls(), clientBookmarks: brought, isRead: true })
  await query({ ...noCalls(), clientBookmarks: brought, isRead: false })
  await query({ ...noCalls(), clientBookmarks: {}, isRead: true })
  await query(noCalls())
  expect(begun).toEqual(['0005', 'first-primary', 'first-primary', 'first-primary'])
})

test('an unknown bookmark costs one more round trip, and the primary responds', async () => {
  const { begun, query } = copied('0005')
  const calls: Calls = { ...noCalls(), clientBookmarks: { A: '0005' }, isRead: true }
  await query(calls)
  expect(begun).toEqual(['0005', 'first-primary'])
  expect([calls.d1, calls.bookmarks]).toEqual([2, { A: '0009' }])
})
