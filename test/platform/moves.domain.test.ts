// A migration that moves tables, on SQLite as a process uses it. Each story has a separate database.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { openDatabaseFile } from '../../scripts/local-databases.ts'
import { migrationFiles } from '../../scripts/migration-files.ts'
import {
  type Migration,
  migrate,
  migrateInSteps,
  OPTIONAL_MOVES,
  readMigrations,
} from '../../src/platform/database/migrations.ts'
import { moveOf } from '../../src/platform/database/moves.ts'
import type { MigrationTarget } from '../../src/platform/database/target.ts'
import {
  AFTER_MOVE,
  BEFORE_MOVE,
  moveDuring,
  NAMES_MOVED,
  namesOf,
  stories,
  WITH_MOVE,
} from '../support/sample-move.ts'
import { size } from '../support/sizes.ts'

const newDatabase = () => openDatabaseFile('made up', ':memory:')

test('rows written, changed or deleted between any two steps arrive, even if the move is interrupted', async () => {
  await fc.assert(
    fc.asyncProperty(stories, async story => {
      const database = newDatabase()
      try {
        await moveDuring(database, story)
        expect(await database.query('pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
      } finally {
        database.close()
      }
    }),
    { numRuns: size(20, 1_000) },
  )
})

test('a run that read the state before another run finished does not start the move again', async () => {
  const database = newDatabase()
  await migrate(database, BEFORE_MOVE)
  await database.execute(['insert into fence (id) values (1)'])
  const late = {
    ...database,
    async query(statement: string) {
      if (statement.includes('as is_begun')) await migrate(database, AFTER_MOVE)
      return database.query(statement)
    },
  }
  await expect(migrate(late, AFTER_MOVE)).rejects.toThrow('NOT NULL')
  expect(await migrate(database, AFTER_MOVE)).toEqual([])
  expect(await namesOf(database)).toEqual(NAMES_MOVED)
  database.close()
})

test('comments of a migration file mark a move and the statements for its end', async () => {
  const [move] = await readMigrations({
    '0001_x.sql':
      '-- moves: a, b\nCREATE TABLE `a_moved` (`x` integer);\n--> statement-breakpoint\nCREATE TABLE `b_moved` (`x` integer);\n--> statement-breakpoint\n-- at the end\nDROP INDEX `c`;\n--> statement-breakpoint\nDROP INDEX `d`;\n',
  })
  expect(moveOf(move!)).toEqual({
    tables: ['a', 'b'],
    making: ['CREATE TABLE `a_moved` (`x` integer)', 'CREATE TABLE `b_moved` (`x` integer)'],
    atEnd: ['DROP INDEX `c`', 'DROP INDEX `d`'],
  })
  expect(moveOf(BEFORE_MOVE[0]!)).toBeUndefined()
})

test('a migration may wait for its release as moves do, without moving anything', async () => {
  const [waiting] = await readMigrations({ '0002_x.sql': '-- after its release\nDROP INDEX `x`;\n' })
  expect(moveOf(waiting!)).toEqual({ tables: [], making: [], atEnd: ['DROP INDEX `x`'] })
  const database = newDatabase()
  const first = await readMigrations({
    '0001_x.sql': 'CREATE TABLE y (z);\n--> statement-breakpoint\nCREATE INDEX x ON y (z);',
  })
  await migrate(database, first)
  const before = await migrateInSteps(database, [...first, waiting!], { left: 0 })
  expect(before).toEqual({ applied: ['0002_x'], newest: '0002_x', isDone: true })
  expect(await database.query(`select name from sqlite_master where type = 'index' and name = 'x'`)).toEqual(
    [],
  )
  database.close()
})

test('a release that does not know moves fails on one and changes nothing', async () => {
  const database = newDatabase()
  await migrate(database, BEFORE_MOVE)
  const before = await namesOf(database)
  await expect(database.execute(WITH_MOVE[1]!.statements)).rejects.toThrow('syntax error')
  expect(await namesOf(database)).toEqual(before)
  database.close()
})

test('a free database applies a move in one batch, and then the later migrations', async () => {
  const database = newDatabase()
  let batches = 0
  const counting = {
    ...database,
    execute: (statements: readonly string[]) => {
      batches += 1
      return database.execute(statements)
    },
  }
  expect(await migrate(counting, AFTER_MOVE)).toEqual(['0000_first', '0001_keys', '0002_later'])
  expect(batches).toBe(3)
  expect(await namesOf(database)).toEqual(NAMES_MOVED)
  database.close()
})

test('a free database claimed during its one-batch move fails, and the next run moves it in steps', async () => {
  const database = newDatabase()
  await migrate(database, BEFORE_MOVE)
  let isClaimed = false
  const claimed = {
    ...database,
    async execute(statements: readonly string[]) {
      if (!isClaimed)
        await database.execute([
          'insert into fence (id) values (1)',
          `insert into quote values ('q', 1, 's', 1)`,
        ])
      isClaimed = true
      return database.execute(statements)
    },
  }
  await expect(migrate(claimed, WITH_MOVE)).rejects.toThrow('NOT NULL')
  await migrate(claimed, WITH_MOVE)
  expect(await database.query('select locator from quote')).toEqual([{ locator: 'q' }])
  expect(await namesOf(database)).toEqual(NAMES_MOVED)
  database.close()
})

test('a run stops when its steps are used up and reports its progress; the next one continues', async () => {
  const database = newDatabase()
  await migrate(database, BEFORE_MOVE)
  await database.execute([
    'insert into fence (id) values (1)',
    `with recursive n(x) as (select 1 union all select x + 1 from n where x < 9000)
     insert into quote (locator, policy_locator, state, amount) select 'q' || x, x % 5, 's', x from n`,
  ])
  const run = (left: number) => migrateInSteps(database, AFTER_MOVE, { left })
  expect(await run(4)).toEqual({ applied: [], newest: '0000_first', isDone: false })
  expect(await database.query(`select table_name, stage, reached from migration_move`)).toEqual([
    { table_name: 'quote', stage: 'copying', reached: 6_000 },
    { table_name: 'event', stage: 'made', reached: 0 },
    { table_name: 'timer', stage: 'made', reached: 0 },
  ])
  expect(await run(100)).toEqual({ applied: ['0001_keys', '0002_later'], newest: '0002_later', isDone: true })
  expect(await database.query('select count(*) as n from quote')).toEqual([{ n: 9_000 }])
  database.close()
})

test('a table whose new columns differ is rejected and stays unchanged', async () => {
  const database = newDatabase()
  await migrate(database, BEFORE_MOVE)
  await database.execute(['insert into fence (id) values (1)'])
  const [wrong] = await readMigrations({
    '0001_wrong.sql': '-- moves: other\nCREATE TABLE `other_moved` (`y` integer)',
  })
  await expect(migrate(database, [BEFORE_MOVE[0]!, wrong!])).rejects.toThrow(
    'other_moved must have the columns of other.',
  )
  await database.execute(['insert into other values (1)'])
  database.close()
})

test('a database restored to the middle of a move continues the move', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bindery-move-'))
  const [file, kept] = [join(folder, 'a.sqlite'), join(folder, 'b.sqlite')] as const
  try {
    const database = openDatabaseFile('made up', file)
    await migrate(database, BEFORE_MOVE)
    await database.execute([
      'insert into fence (id) values (1)',
      `with recursive n(x) as (select 1 union all select x + 1 from n where x < 5000)
       insert into quote (locator, policy_locator, state, amount) select 'q' || x, x % 5, 's', x from n`,
    ])
    await migrateInSteps(database, WITH_MOVE, { left: 2 })
    copyFileSync(file, kept)
    await database.execute(['delete from quote where amount > 10'])
    await migrate(database, AFTER_MOVE)
    database.close()
    const restored = openDatabaseFile('made up', kept)
    await restored.execute(['delete from quote where amount <= 10'])
    await migrate(restored, AFTER_MOVE)
    expect(await restored.query('select count(*) as n, min(amount) as least from quote')).toEqual([
      { n: 4_990, least: 11 },
    ])
    expect(await namesOf(restored)).toEqual(NAMES_MOVED)
    restored.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a run ahead of a restored database fails and changes nothing, and the next one completes the move', async () => {
  const database = newDatabase()
  await migrate(database, BEFORE_MOVE)
  await database.execute([
    'insert into fence (id) values (1)',
    `insert into quote (locator, policy_locator, state, amount) values ('q', 1, 's', 1)`,
  ])
  let isRestored = false
  const restored = {
    ...database,
    async execute(statements: readonly string[]) {
      if (!isRestored && statements.some(statement => statement.includes('rename to "quote_left"'))) {
        isRestored = true
        await database.execute([
          `update migration_move set stage = 'copying', reached = 0 where table_name = 'quote'`,
          'delete from quote_moved',
        ])
      }
      return database.execute(statements)
    },
  }
  await expect(migrate(restored, WITH_MOVE)).rejects.toThrow('NOT NULL')
  await migrate(restored, WITH_MOVE)
  expect(await database.query('select locator from quote')).toEqual([{ locator: 'q' }])
  database.close()
})

/** Sets of columns whose values are unique: the key, and each unique index. */
async function uniqueColumns(target: MigrationTarget, table: string): Promise<string[][]> {
  const key = await target.query(`select name from pragma_table_info('${table}') where pk > 0`)
  const indexes = await target.query(
    `select name from pragma_index_list('${table}') where "unique" and not partial`,
  )
  const columns = await Promise.all(
    indexes.map(({ name }) => target.query(`select name from pragma_index_info('${String(name)}')`)),
  )
  return [key, ...columns].map(rows => rows.map(({ name }) => String(name)))
}

const schemaOf = async (target: MigrationTarget): Promise<string[]> =>
  (await target.query('select sql from sqlite_master where sql is not null order by name')).map(({ sql }) =>
    String(sql).replaceAll(/["`]/g, ''),
  )

test.each([
  ['made up', () => AFTER_MOVE],
  ['of the repository', () => migrationFiles('tenant')],
] as const)(
  'moves (%s) yield one schema on free and used databases, and require no uniqueness that is new',
  async (_, read) => {
    const migrations: readonly Migration[] = await read()
    for (const name of OPTIONAL_MOVES) {
      const optional = (await migrationFiles('tenant')).find(migration => migration.name === name)
      expect(optional && moveOf(optional)).toBeDefined()
    }
    for (const [at, migration] of migrations.entries()) {
      const move = moveOf(migration)
      if (!move) continue
      const [free, used] = [newDatabase(), newDatabase()]
      await migrate(free, migrations.slice(0, at + 1))
      await migrate(used, migrations.slice(0, at))
      const before = new Map<string, string[][]>()
      for (const table of move.tables) before.set(table, await uniqueColumns(used, table))
      const columns = `select group_concat("notnull") as nulls from pragma_table_info('fence')`
      const [{ nulls }] = (await used.query(columns)) as [{ nulls: string }]
      await used.execute([`insert into fence values (${nulls.split(',').fill('1').join()})`])
      await migrate(used, migrations.slice(0, at + 1))
      expect(await schemaOf(used)).toEqual(await schemaOf(free))
      for (const table of move.tables)
        for (const columns of await uniqueColumns(used, table))
          expect(before.get(table)!.some(former => former.every(one => columns.includes(one)))).toBe(true)
      for (const database of [free, used]) database.close()
    }
  },
)
