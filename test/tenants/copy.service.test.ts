// Copying the rows and files of a tenant to another place: everything arrives unchanged, even if an earlier copy was interrupted.
import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { noCalls } from '../../src/platform/calls.ts'
import { SHARED_EVENT_ROWS } from '../../src/platform/database/migrations.ts'
import { openDatabase } from '../../src/platform/database.ts'
import { copyDatabase, copyFiles } from '../../src/tenants/copy.ts'
import { continueAfter, LEAP, readIssuedNumbers } from '../../src/tenants/restore.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { size } from '../support/sizes.ts'

beforeAll(async () => {
  await prepareDatabases({ tenants: 6 })
  for (const number of [1, 2, 3, 4])
    await boundDatabase(poolBinding(number))
      .prepare(
        `create table keyed (text text not null, locator text not null, policy_locator integer not null,
           primary key (policy_locator, locator)) without rowid`,
      )
      .run()
})

const TABLES = ['event', 'write', 'policy'] as const

/** Every row with its row id, and the sequence of events. */
async function contents(database: D1Database): Promise<unknown[]> {
  const answers = await database.batch([
    ...TABLES.map(table => database.prepare(`select rowid, * from "${table}" order by rowid`)),
    database.prepare('select * from keyed order by policy_locator, locator'),
    database.prepare('select * from aux_data order by locator, key'),
  ])
  return answers.map(({ results }) => results)
}

const empty = (database: D1Database) =>
  database.batch([...TABLES, 'keyed', 'aux_data'].map(table => database.prepare(`delete from "${table}"`)))

const event = (database: D1Database, sequence: number, text: string, policy: number | null) =>
  database
    .prepare(
      `insert into event (sequence, locator, request_id, type, at, data, account_locator, username, policy_locator)
       values (?, ?, 'r', 't', ?, '{}', ?, 'u', ?)`,
    )
    .bind(sequence, `e${sequence}`, sequence * 7, text, policy)
const auxiliary = (database: D1Database, key: string, text: string) =>
  database
    .prepare(`insert into aux_data (locator, key, value, ui_type, updated_at) values (?, ?, ?, '', 1)`)
    .bind(key, key, text)

/** A row of a table without row ids: many rows of one policy, with locators that do not ascend. */
const keyed = (database: D1Database, number: number, text: string) =>
  database
    .prepare('insert into keyed (policy_locator, locator, text) values (?, ?, ?)')
    .bind(number % 7, `${(number * 7_919) % 10_007}`, text)

describe('copying a database', () => {
  it('copies every row with its row id, wherever an earlier copy was interrupted', async () => {
    const [from, to] = [1, 2].map(number => boundDatabase(poolBinding(number))) as [D1Database, D1Database]
    const rows = fc.array(
      fc.record({
        gap: fc.integer({ min: 1, max: 1_000 }),
        text: fc.string({ unit: 'binary', maxLength: 200 }).map(text => text.replaceAll('\0', '')),
        policy: fc.option(fc.integer({ min: 100_000_000, max: Number.MAX_SAFE_INTEGER })),
      }),
      { maxLength: 60 },
    )
    await fc.assert(
      fc.asyncProperty(rows, fc.nat(60), async (made, lost) => {
        await Promise.all([empty(from), empty(to)])
        let sequence = 0
        const statements = made.flatMap(({ gap, text, policy }) => {
          sequence += gap
          return [
            event(from, sequence, text, policy),
            auxiliary(from, `k${sequence}`, text),
            keyed(from, sequence, text),
          ]
        })
        if (statements.length > 0) await from.batch(statements)
        expect(await copyDatabase(from, to)).toBe(statements.length)
        const whole = await contents(from)
        expect(await contents(to)).toEqual(whole)
        await to
          .prepare(
            'delete from event where sequence in (select sequence from event order by sequence desc limit ?)',
          )
          .bind(lost)
          .run()
        await to
          .prepare(
            `delete from keyed where (policy_locator, locator) in (
               select policy_locator, locator from keyed order by policy_locator desc, locator desc limit ?)`,
          )
          .bind(lost)
          .run()
        await copyDatabase(from, to)
        expect(await contents(to)).toEqual(whole)
      }),
      { numRuns: size(5, 60) },
    )
  })

  it('copies the roles of the tenant and the accounts that have them', async () => {
    const [from, to] = [1, 2].map(number => boundDatabase(poolBinding(number))) as [D1Database, D1Database]
    await Promise.all([empty(from), empty(to)])
    const TABLES_OF_ROLES = ['role', 'account_role']
    const ofRoles = async (database: D1Database) =>
      (await database.batch(TABLES_OF_ROLES.map(table => database.prepare(`select * from ${table}`)))).map(
        ({ results }) => results,
      )
    await from.batch([
      from.prepare(
        `insert into role (name, permissions, revision, created_at, updated_at) values ('desk', '["claims.*"]', 'r', 1, 2)`,
      ),
      from.prepare(`insert into account_role (account_locator, role) values ('a', 'desk'), ('b', 'desk')`),
    ])
    expect(await copyDatabase(from, to)).toBe(3)
    const whole = await ofRoles(from)
    expect(await ofRoles(to)).toEqual(whole)
    for (const database of [from, to])
      await database.batch(TABLES_OF_ROLES.map(table => database.prepare(`delete from ${table}`)))
  })

  it('can be repeated after the move raised the numbers of the copy and was interrupted', async () => {
    const [from, to] = [5, 6].map(number => boundDatabase(poolBinding(number))) as [D1Database, D1Database]
    await event(from, 1, 'text', null).run()
    expect(await copyDatabase(from, to)).toBe(1)
    const copy = openDatabase(to, noCalls())
    await copy.batch(continueAfter(copy, await readIssuedNumbers(openDatabase(from, noCalls()))))
    expect(await copyDatabase(from, to)).toBe(1)
    expect(await readIssuedNumbers(copy)).toMatchObject({ lastEvent: 1, nextNumber: LEAP + 1 })
  })

  it('rejects a table whose key is different in the other database', async () => {
    const [from, to] = [5, 6].map(number => boundDatabase(poolBinding(number))) as [D1Database, D1Database]
    await from.prepare('create table unlike (a text primary key not null) without rowid').run()
    await to.prepare('create table unlike (a text primary key not null)').run()
    await expect(copyDatabase(from, to)).rejects.toThrow('The table unlike is not the same in both databases')
    for (const database of [from, to]) await database.prepare('drop table unlike').run()
  })

  it('rejects rows of several events until the other database has their migration', async () => {
    const [from, to] = [5, 6].map(number => boundDatabase(poolBinding(number))) as [D1Database, D1Database]
    for (const database of [from, to]) await database.prepare('delete from event').run()
    await event(from, 1, 'text', null).run()
    await from.prepare(`update event set type = '["t","u"]'`).run()
    await to.prepare(`update migration set name = '_' || name where name = ?`).bind(SHARED_EVENT_ROWS).run()
    await expect(copyDatabase(from, to)).rejects.toThrow(
      `Run this again when that environment has ${SHARED_EVENT_ROWS}`,
    )
    await to.prepare(`update migration set name = substr(name, 2) where name like '\\_%' escape '\\'`).run()
    expect(await copyDatabase(from, to)).toBe(1)
  })

  it('copies pages that fit one parameter, and longer rows one by one', async () => {
    const [from, to] = [3, 4].map(number => boundDatabase(poolBinding(number))) as [D1Database, D1Database]
    // In JSON each quote is two bytes, so that the row is too long for one parameter.
    const long = '"'.repeat(1_900_000)
    await auxiliary(from, 'long', long).run()
    await keyed(from, 1, long).run()
    for (let at = 0; at < 30; at += 1)
      await from.batch([
        auxiliary(from, `k${at}`, `${at}`.repeat(40_000)),
        keyed(from, 2 + at, `${at}`.repeat(40_000)),
      ])
    expect(await copyDatabase(from, to)).toBe(62)
    expect(await contents(to)).toEqual(await contents(from))
  })
})

describe('copying files', () => {
  it('copies their metadata, and skips files that are already there', async () => {
    const bucket = env.FILES
    for (let at = 0; at < 3; at += 1)
      await bucket.put(`here/${at}`, `file ${at}`, {
        httpMetadata: { contentType: 'text/plain' },
        customMetadata: { at: String(at) },
      })
    const prefixed = {
      head: (key: string) => bucket.head(`there/${key}`),
      put: (key: string, body: ArrayBuffer, options: R2PutOptions) => {
        written.push(key)
        return bucket.put(`there/${key}`, body, options)
      },
    } as unknown as R2Bucket
    const written: string[] = []
    expect(await copyFiles(bucket, prefixed, 'here/')).toBe(3)
    const copy = await bucket.get('there/here/2')
    expect([await copy!.text(), copy!.httpMetadata?.contentType, copy!.customMetadata]).toEqual([
      'file 2',
      'text/plain',
      { at: '2' },
    ])
    await bucket.put('here/3', 'another')
    expect(await copyFiles(bucket, prefixed, 'here/')).toBe(4)
    expect(written).toEqual(['here/0', 'here/1', 'here/2', 'here/3'])
  })
})
