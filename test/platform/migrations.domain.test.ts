import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { migrationFiles } from '../../scripts/migration-files.ts'
import { migrateAll, newestMigration, readMigrations } from '../../src/platform/database/migrations.ts'
import type { MigrationTarget } from '../../src/platform/database/target.ts'

/** A database that keeps only what the migration runner records in it. */
function fakeTarget(name: string, around: { begin(): void; end(): void }): MigrationTarget {
  const applied: { name: string; hash: string }[] = []
  return {
    name,
    async execute(statements) {
      around.begin()
      await turn()
      const [, migration, hash] = /values \('([^']+)', '([^']+)'/.exec(statements.at(-1)!)!
      applied.push({ name: migration!, hash: hash! })
      around.end()
    },
    query: async () => applied,
  }
}

test('migration files are split at breakpoints and applied in the order of their names', async () => {
  const migrations = await readMigrations({
    'migrations/tenant/0002_later.sql': 'SELECT 2;',
    'migrations/tenant/0001_first.sql': "SELECT 1;\n--> statement-breakpoint\nSELECT 'a;b';\n",
  })
  expect(migrations.map(({ name, statements }) => [name, statements])).toEqual([
    ['0001_first', ['SELECT 1', "SELECT 'a;b'"]],
    ['0002_later', ['SELECT 2']],
  ])
  expect(newestMigration(migrations)).toBe('0002_later')
})

test('a migration file without a sortable name is rejected', async () => {
  await expect(readMigrations({ 'migrations/tenant/later.sql': 'SELECT 1;' })).rejects.toThrow(
    '0001_what_it_does.sql',
  )
})

test('the migrations of the repository can be read', async () => {
  for (const kind of ['control', 'tenant'] as const) {
    const migrations = await migrationFiles(kind)
    expect(migrations.length).toBeGreaterThan(0)
    for (const { statements } of migrations)
      expect(statements.every(text => !text.includes('-->'))).toBe(true)
  }
})

test('many databases are migrated concurrently, but never more than the limit', async () => {
  let now = 0
  let most = 0
  const around = {
    begin() {
      now += 1
      most = Math.max(most, now)
    },
    end() {
      now -= 1
    },
  }
  const targets = Array.from({ length: 50 }, (_, at) => fakeTarget(`TENANT_${at}`, around))
  const done: string[] = []
  const migrations = await readMigrations({ '0000_a.sql': 'SELECT 1;', '0001_b.sql': 'SELECT 2;' })
  await migrateAll(targets, migrations, 4, {
    done({ name }, applied) {
      expect(applied).toEqual(['0000_a', '0001_b'])
      done.push(name)
    },
  })
  expect(done).toHaveLength(50)
  expect(most).toBe(4)
})

test('a migration that fails everywhere is cut short before it is tried on thousands of databases', async () => {
  let tried = 0
  const targets = Array.from({ length: 4_300 }, (_, at) => ({
    name: `TENANT_${at}`,
    execute: async () => {
      tried += 1
      throw new Error('no such table')
    },
    query: async () => [],
  }))
  const migrations = await readMigrations({ '0000_a.sql': 'SELECT 1;' })
  const failure = await migrateAll(targets, migrations, 8, { done() {} }).catch((error: unknown) => error)
  expect(failure).toMatchObject({ name: 'MigrationFailures', isCutShort: true })
  expect(tried).toBeLessThan(20)
})
