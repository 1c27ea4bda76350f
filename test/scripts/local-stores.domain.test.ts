import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, describe, expect, test } from 'vitest'
import { databaseFile } from '../../scripts/local-databases.ts'
import { openLocalStores } from '../../scripts/local-stores.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-stores-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const CONFIG = `[vars]
PLACE = "eu"

[[d1_databases]]
binding = "OWN"
database_id = "own"

[[d1_databases]]
binding = "LOST"
database_id = "lost"

[[r2_buckets]]
binding = "FILES"
bucket_name = "files"
`
mkdirSync(dirname(databaseFile(folder, 'own')), { recursive: true })
writeFileSync(databaseFile(folder, 'own'), '')
const stores = openLocalStores(CONFIG, folder)
const runtime = new Miniflare(
  convertV4MiniflareOptions({
    modules: true,
    script: 'export default {}',
    d1Databases: { THEIRS: { id: 'theirs' } },
  }),
)
afterAll(async () => {
  await stores.dispose()
  await runtime.dispose()
})

type Env = Record<string, D1Database> & { PLACE: string; FILES: R2Bucket }
const env = stores.env as unknown as Env

test('a database whose file is missing is neither bound nor created', () => {
  expect(env.LOST).toBeUndefined()
  expect(existsSync(databaseFile(folder, 'lost'))).toBe(false)
})

/** The results of a database, without durations and costs. */
async function ask(database: D1Database) {
  const failed = (problem: unknown) =>
    String((problem as Error).message).replace(/(?:: SQLITE_| at offset).*/, '')
  const plain = <Row>({ results, success, meta }: D1Result<Row>) => ({
    results,
    success,
    changes: meta.changes,
  })
  const statement = (text: string, ...values: unknown[]) => database.prepare(text).bind(...values)
  await database.batch([
    statement('create table thing (name text primary key, size integer, share real, bytes blob, fits)'),
    statement('create table part (of text references thing (name))'),
  ])
  const bytes = new Uint8Array([1, 2, 255])
  const insert = 'insert into thing values (?, ?, ?, ?, ?)'
  return {
    written: plain(await statement(insert, 'one', 1, 0.5, bytes, true).run()),
    batch: (
      await database
        .withSession('first-primary')
        .batch<Record<string, unknown>>([
          statement(insert, 'two', 2, 2, [...bytes], false),
          statement(insert, 'three', null, 1e300, bytes.buffer, 'text'),
          statement('update thing set size = 3 where name = ? returning name, size', 'three'),
        ])
    ).map(({ results }) => results),
    all: (await statement('select * from thing order by name').all()).results,
    raw: await statement('select name, bytes, name from thing order by name').raw(),
    types: await statement('select typeof(?) as a, typeof(?) as b, typeof(?) as c', 1, 'x', null).first(),
    one: await statement('select size from thing where name = ?', 'two').first('size'),
    none: await statement('select size from thing where name = ?', 'no').first(),
    problems: [
      await database
        .batch([
          statement(`delete from thing where name = 'two'`),
          statement(insert, 'one', 1, 1, null, null),
        ])
        .catch(failed),
      await statement(`insert into part values ('no')`).run().catch(failed),
      await statement('select missing from thing').all().catch(failed),
    ],
    left: await statement('select count(*) as count from thing').first(),
  }
}

describe('The stores of a data folder, opened without a runtime', () => {
  test('have databases that return the same results as D1', async () => {
    const theirs = (await runtime.getD1Database('THEIRS')) as unknown as D1Database
    const own = await ask(env.OWN!)
    expect(own).toEqual(await ask(theirs))
    expect(own.left).toEqual({ count: 3 })
    expect(own.problems[0]).toContain('UNIQUE constraint failed: thing.name')
  })

  test('include variables and buckets', async () => {
    expect(env.PLACE).toBe('eu')
    await env.FILES.put('a/b', 'text')
    expect(await (await env.FILES.get('a/b'))?.text()).toBe('text')
    expect((await env.FILES.list({ prefix: 'a/' })).objects.map(({ key }) => key)).toEqual(['a/b'])
    await env.FILES.delete('a/b')
    expect(await env.FILES.head('a/b')).toBeNull()
  })
})
