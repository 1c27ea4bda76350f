import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  type Migration,
  MigrationFailures,
  migrate,
  migrateAll,
  readMigrations,
} from '../../src/platform/database/migrations.ts'
import { bindingTarget } from '../../src/platform/database/target.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'

const FILES = {
  '0000_first.sql':
    'CREATE TABLE `a` (`x` integer);\n--> statement-breakpoint\nCREATE INDEX `a_x` ON `a` (`x`);',
  '0001_second.sql':
    "ALTER TABLE `a` ADD `y` text;--> statement-breakpoint\nINSERT INTO `a` VALUES (1, 'one; two');",
}
const BROKEN = {
  '0001_second.sql': 'ALTER TABLE `a` ADD `y` text;--> statement-breakpoint\nINSERT INTO `b` VALUES (1);',
}

let used = 20
/** A database that no test has used yet. */
const fresh = () => {
  used += 1
  return bindingTarget(poolBinding(used), boundDatabase(poolBinding(used)))
}

const names = async (target: ReturnType<typeof fresh>): Promise<unknown[]> =>
  (await target.query('select name from migration order by name')).map(row => row.name)

describe('Migrating one database', () => {
  test('applies every migration in order, and a second run finds nothing to do', async () => {
    const target = fresh()
    const migrations = await readMigrations(FILES)
    expect(await migrate(target, migrations)).toEqual(['0000_first', '0001_second'])
    expect(await target.query('select x, y from a')).toEqual([{ x: 1, y: 'one; two' }])
    expect(await migrate(target, migrations)).toEqual([])
  })

  test('undoes a migration that fails, and the next run continues from there', async () => {
    const target = fresh()
    await expect(migrate(target, await readMigrations({ ...FILES, ...BROKEN }))).rejects.toThrow(
      'no such table: b',
    )
    expect(await names(target)).toEqual(['0000_first'])
    expect((await target.query("select * from pragma_table_info('a')")).map(row => row.name)).toEqual(['x'])
    expect(await migrate(target, await readMigrations(FILES))).toEqual(['0001_second'])
  })

  test('applies each migration once when two runs compete', async () => {
    const target = fresh()
    const migrations = await readMigrations(FILES)
    const outcomes = await Promise.allSettled([migrate(target, migrations), migrate(target, migrations)])
    expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true)
    expect(await target.query('select count(*) as n from a')).toEqual([{ n: 1 }])
    expect(await migrate(target, migrations)).toEqual([])
  })

  test('rejects a migration that was edited, and one inserted before an applied one', async () => {
    const target = fresh()
    await migrate(target, await readMigrations(FILES))
    await expect(migrate(target, await readMigrations({ ...FILES, ...BROKEN }))).rejects.toThrow(
      'has a different 0001_second than the code',
    )
    await expect(
      migrate(target, await readMigrations({ ...FILES, '0000_zero.sql': 'SELECT 1;' })),
    ).rejects.toThrow('lacks 0000_zero but has later migrations')
  })
})

describe('Migrating many databases', () => {
  let migrations: Migration[]
  beforeEach(async () => {
    migrations = await readMigrations(FILES)
  })

  test('reports the database that fails without delaying the others, and the next run completes it', async () => {
    const targets = [fresh(), fresh(), fresh(), fresh()]
    const broken = targets[1]!
    await broken.execute(['create table a (x integer)'])
    const done: string[] = []
    const progress = { done: ({ name }: { name: string }) => void done.push(name) }
    const failure = await migrateAll(targets, migrations, 1, progress).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(MigrationFailures)
    expect(failure).toMatchObject({ isCutShort: false })
    expect((failure as Error).message).toMatch(
      new RegExp(`^${broken.name} could not be migrated: .*already exists`),
    )
    expect(done).toEqual(targets.filter(one => one !== broken).map(({ name }) => name))
    await broken.execute(['drop table a'])
    await migrateAll(targets, migrations, 3, progress)
    expect(new Set(done)).toEqual(new Set(targets.map(({ name }) => name)))
  })
})

test('the databases of a test are migrated and free', async () => {
  await prepareDatabases({ tenants: 8 })
  const { results } = await env.CONTROL.prepare('select distinct state from pool_database').all()
  expect(results).toEqual([{ state: 'free' }])
})
