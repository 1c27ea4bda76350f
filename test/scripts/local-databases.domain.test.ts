import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  databaseFile,
  openDatabaseFile,
  openLocalDatabases,
  prepareLocalDatabases,
} from '../../scripts/local-databases.ts'
import { readPool } from '../../scripts/pool-file.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bindery-databases-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Prepares the databases as `npm start` does. Returns the lines of progress. */
async function prepare(free?: number): Promise<string[]> {
  const lines: string[] = []
  const databases = openLocalDatabases(folder)
  try {
    await prepareLocalDatabases(databases, (done, all, what) => lines.push(`${done} of ${all} ${what}`), free)
  } finally {
    await databases.close()
  }
  return lines
}

async function inControl<Result>(
  work: (control: ReturnType<typeof openLocalDatabases>['control']) => Promise<Result>,
): Promise<Result> {
  const databases = openLocalDatabases(folder)
  try {
    return await work(databases.control)
  } finally {
    await databases.close()
  }
}

const states = (): Promise<string[]> =>
  inControl(async control =>
    (await control.query('select state from pool_database order by binding')).map(({ state }) =>
      String(state),
    ),
  )

const claim = (count: number): Promise<void> =>
  inControl(control =>
    control.execute([
      `update pool_database set state = 'claimed' where binding in (select binding from pool_database where state = 'free' order by binding limit ${count})`,
    ]),
  )

const files = (): string[] =>
  readdirSync(join(folder, 'v3/d1/miniflare-D1DatabaseObject')).filter(name => name.endsWith('.sqlite'))

describe('The databases of a data folder', () => {
  test('have the file names that the local runtime expects', () => {
    expect(databaseFile('data', '00000000-0000-4000-8000-000000000001')).toBe(
      'data/v3/d1/miniflare-D1DatabaseObject/37202af4a48e51a6f9bf1676145f85cdbaaf76a4a51b95f5120b328bf5460e72.sqlite',
    )
  })

  test('are the control database and the whole pool, copied from one database that is migrated once', async () => {
    const pool = readPool()
    const lines = await prepare()
    expect(lines.at(-1)).toMatch(/^64 of 64 tenant databases at \d{4}_\w+, 0 migrated now$/)
    expect(files()).toHaveLength(65)
    expect(await states()).toEqual(Array(64).fill('free'))
    for (const { databaseId } of pool) {
      const database = openDatabaseFile('one', databaseFile(folder, databaseId))
      expect(await database.query('select count(*) as n from policy')).toEqual([{ n: 0 }])
      database.close()
    }
  })

  test('stay unchanged in a second start, which only adds as many as tenants have claimed', async () => {
    await prepare(8)
    const before = files()
    await prepare(8)
    expect(files()).toEqual(before)
    await claim(3)
    await prepare(8)
    expect(files()).toHaveLength(12)
    expect((await states()).filter(state => state === 'free')).toHaveLength(8)
  })

  test('are never more than the pool lists', async () => {
    await prepare()
    await claim(5)
    await prepare()
    expect(files()).toHaveLength(65)
  })

  test('are created by the next start if the last one was cut off before registering them', async () => {
    await prepare(2)
    rmSync(databaseFile(folder, readPool()[1]!.databaseId))
    await inControl(control => control.execute([`delete from pool_database where binding = 'TENANT_002'`]))
    await prepare(2)
    expect(files()).toHaveLength(3)
    expect(await states()).toEqual(['free', 'free'])
  })

  test('are not replaced by empty ones when one of a tenant is missing: the error names the tenant', async () => {
    await prepare(2)
    await inControl(control =>
      control.execute([
        `insert into tenant (locator, name, host_name, type, status, generation, token_epoch, versioned, former_units, created_at)
         values ('t', 'acme', 'acme.test', 'test', 'active', 1, 1, 0, null, 1)`,
        `insert into shard (tenant_locator, number, binding) values ('t', 0, 'TENANT_002')`,
        `update pool_database set state = 'claimed' where binding = 'TENANT_002'`,
      ]),
    )
    await prepare(2)
    const before = files()
    const lost = databaseFile(folder, readPool()[1]!.databaseId)
    rmSync(lost)
    await expect(prepare(2)).rejects.toThrow(/^The database TENANT_002 of the tenant 'acme' is missing: /)
    expect(files()).toEqual(before.filter(name => !lost.endsWith(name)))
    // A tenant that was deleted has no databases.
    await inControl(control => control.execute(['delete from shard', 'delete from tenant']))
    await prepare(2)
    expect(files()).toEqual(before)
  })

  test('are not served without the control database, which records the tenant of each', async () => {
    await prepare(2)
    const [own] = files().filter(name =>
      readPool().every(({ databaseId }) => !databaseFile(folder, databaseId).endsWith(name)),
    )
    rmSync(join(folder, 'v3/d1/miniflare-D1DatabaseObject', own!))
    await expect(prepare(2)).rejects.toThrow(/^The control database is missing, /)
    expect(files()).toHaveLength(2)
  })

  test('change in whole batches or not at all, and a full disk is an error', async () => {
    const file = join(folder, 'small.sqlite')
    const database = openDatabaseFile('small', file)
    await database.execute(['create table row (text text not null)', 'pragma max_page_count = 3'])
    const insert = (text: string) => ({ sql: 'insert into row values (?)', values: [text] })
    await database.batch([insert('kept')])
    await expect(database.batch([insert('lost'), insert('x'.repeat(50_000))])).rejects.toThrow('full')
    await expect(
      database.batch([insert('lost'), { sql: 'insert into missing values (1)', values: [] }]),
    ).rejects.toThrow('no such table')
    expect(await database.query('select text from row')).toEqual([{ text: 'kept' }])
    expect(
      await database.first({ sql: 'select text from row where text = ?', values: ['none'] }),
    ).toBeUndefined()
    database.close()
  })

  test('accept writes of one process after another', async () => {
    await prepare(1)
    const file = databaseFile(folder, readPool()[0]!.databaseId)
    const [one, other] = [openDatabaseFile('one', file), openDatabaseFile('other', file)]
    await one.execute(['create table seen (n integer)'])
    await other.execute(['insert into seen values (1)'])
    expect(await one.query('select n from seen')).toEqual([{ n: 1 }])
    one.close()
    other.close()
  })
})
