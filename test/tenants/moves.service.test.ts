// Deleting and copying a tenant while a migration moves the tables of its database.
import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Instant, now } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { readMigrations } from '../../src/platform/database/migrations.ts'
import { carryOutMove, moveOf } from '../../src/platform/database/moves.ts'
import { bindingTarget } from '../../src/platform/database/target.ts'
import { copyDatabase } from '../../src/tenants/copy.ts'
import { createTenant, deleteTenant } from '../../src/tenants/service.ts'
import { wipeReturned } from '../../src/tenants/wipe.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'

beforeAll(() => prepareDatabases({ tenants: 4 }))

const ROWS = 7_000
const [migration] = await readMigrations({
  '9999_keys.sql':
    '-- moves: made_up\ncreate table made_up_moved (y text, x integer not null, primary key (y, x)) without rowid',
})
const move = moveOf(migration!)!
const RECORD = `insert into migration (name, hash, applied_at) values ('9999_keys', '', 0)`

const make = (database: D1Database) =>
  database.batch([
    database.prepare('drop table if exists made_up'),
    database.prepare(`delete from migration where name = '9999_keys'`),
    database.prepare('create table made_up (x integer primary key, y text)'),
  ])
const fill = (database: D1Database) =>
  database
    .prepare(
      `with recursive n(x) as (select 1 union all select x + 1 from n where x < ?) insert into made_up select x, 'y' from n`,
    )
    .bind(ROWS)
    .run()

const moveOn = (database: D1Database, left: number) =>
  carryOutMove(bindingTarget('made up', database), '9999_keys', move, RECORD, { left })

const stageOf = (database: D1Database) =>
  database.prepare('select stage from migration_move').first<string>('stage')

/** The number of rows in the tables of the move and in those that it creates meanwhile. */
async function rowsOf(database: D1Database): Promise<Record<string, number>> {
  const { results } = await database
    .prepare(`select name from sqlite_master where type = 'table' and name like 'made_up%' order by name`)
    .all<{ name: string }>()
  const counted = await Promise.all(
    results.map(({ name }) => database.prepare(`select count(*) as n from "${name}"`).first<number>('n')),
  )
  return Object.fromEntries(results.map(({ name }, at) => [name, counted[at]!]))
}

describe('deleting a tenant', () => {
  test.each([
    ['copying', 2, 'made_up_moved'],
    ['swapped', 10, 'made_up_left'],
  ])(
    'while its tables move (%s) leaves no rows behind, and the move continues',
    async (stage, steps, also) => {
      const { shards, name } = await createTenant(env, { name: `deleted-${stage}`, type: 'test' })
      const database = boundDatabase(shards[0]!)
      await make(database)
      await fill(database)
      expect(await moveOn(database, steps)).toBe(false)
      expect(await stageOf(database)).toBe(stage)
      await deleteTenant(env, name)
      const freed: string[] = []
      for (let run = 0; run < 10 && freed.length === 0; run += 1)
        freed.push(...(await wipeReturned(env, noCalls(), (now() + 60_000) as Instant)).freed)
      expect(freed).toEqual(shards)
      expect(await rowsOf(database)).toEqual({ made_up: 0, [also]: 0 })
      await database.prepare(`insert into made_up (x, y) values (1, 'of the next tenant')`).run()
      expect(await moveOn(database, 100)).toBe(true)
      expect(await rowsOf(database)).toEqual({ made_up: 1 })
      await database.prepare('delete from made_up').run()
    },
  )
})

describe('moving a tenant to another environment', () => {
  const [from, to] = [3, 4].map(number => boundDatabase(poolBinding(number))) as [D1Database, D1Database]
  beforeEach(async () => {
    for (const database of [from, to]) await make(database)
    await fill(from)
    expect(await moveOn(from, 2)).toBe(false)
  })

  test('while its tables move here copies the rows without the state of the move', async () => {
    expect(await copyDatabase(from, to)).toBe(ROWS)
    expect(await rowsOf(to)).toEqual({ made_up: ROWS })
    expect(await moveOn(from, 100)).toBe(true)
  })

  test('while its tables move there copies the rows into the move', async () => {
    await to.prepare(`insert into made_up values (100000, 'y')`).run()
    expect(await moveOn(to, 1)).toBe(false)
    await to.prepare('delete from made_up').run()
    expect(await copyDatabase(from, to)).toBe(ROWS)
    expect(await moveOn(to, 100)).toBe(true)
    expect(await rowsOf(to)).toEqual({ made_up: ROWS })
    expect(await moveOn(from, 100)).toBe(true)
  })

  test('rejects the copy while its tables have moved here but not there', async () => {
    expect(await moveOn(from, 100)).toBe(true)
    await expect(copyDatabase(from, to)).rejects.toThrow(
      'The table made_up is not the same in both databases',
    )
    await to.prepare(`insert into made_up values (1, 'y')`).run()
    expect(await moveOn(to, 100)).toBe(true)
    await to.prepare('delete from made_up').run()
    expect(await copyDatabase(from, to)).toBe(ROWS)
    expect(await rowsOf(to)).toEqual({ made_up: ROWS })
  })
})
