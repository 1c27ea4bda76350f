// The report of a restore on what it undid, with policy records in tables with row ids and in tables without.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, test } from 'vitest'
import type { RestoreOperation } from '../../src/platform/tenancy/control-tables.ts'
import { mendShard, noteShard } from '../../src/tenants/restore.ts'
import { createTenant } from '../../src/tenants/service.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'

beforeAll(() => prepareDatabases({ tenants: 2 }))

const TO = 1_800_000_000_000
/** More than one file of saved records can contain. */
const ROWS = 4_500

/** Recreates the table with the same columns and a primary key of policy and locator. */
async function withoutRowIds(database: D1Database, table: string): Promise<void> {
  const text = await database
    .prepare(`select sql from sqlite_master where type = 'table' and name = ?`)
    .bind(table)
    .first<string>('sql')
  const keyed = text!
    .replace(/`locator` text PRIMARY KEY NOT NULL/, '`locator` text NOT NULL')
    .replace(/\)$/, ', PRIMARY KEY(`policy_locator`, `locator`)) WITHOUT ROWID')
  await database.batch([`drop table ${table}`, keyed].map(statement => database.prepare(statement)))
}

const NUMBERS = `with recursive n(x) as (select 1 union all select x + 1 from n where x < ${ROWS})`

describe.each([
  ['with row ids', async () => {}],
  [
    'without row ids',
    async (database: D1Database) => {
      for (const table of ['payment', 'document']) await withoutRowIds(database, table)
    },
  ],
] as const)('a tenant whose tables are %s', (layout, change) => {
  test('a restore reports each payment and document after its target time', async () => {
    const tenant = await createTenant(env, { name: layout.replaceAll(' ', '-'), type: 'test' })
    const database = boundDatabase(tenant.shards[0]!)
    await change(database)
    const inserts = [
      `${NUMBERS} insert into payment (locator, display_id, policy_locator, policyholder_locator, invoice_locator, source, amount, credited, currency, field_values, posted_at)
         select 'p' || x, x, 9007199254740000 + x % 900, 'h', 'i', 's', x, 0, 'EUR', '{}', ${TO} + x - 100 from n`,
      `${NUMBERS} insert into document (locator, policy_locator, subject, subject_locator, display_name, file_name, type, state, created_at, updated_at)
         select 'd' || x, 9007199254740000 + x % 900, 's', 's', 'n', 'f', 't', 's', ${TO} + x - 100, 0 from n`,
    ]
    await database.batch(inserts.map(statement => database.prepare(statement)))
    await database.prepare(`update payment set posted_at = 1 where amount <= 100`).run()
    const restore: RestoreOperation = { kind: 'restore', to: TO, number: 1, databases: {} }
    const noted = await noteShard(env, tenant, restore, 0)
    expect(noted.files).toBe(6)
    await database.batch(
      ['delete from payment where posted_at > ?', 'delete from document where created_at > ?'].map(
        statement => database.prepare(statement).bind(TO + 200),
      ),
    )
    const { payments, documents } = await mendShard(env, tenant, restore, 0, noted)
    const undone = Array.from({ length: ROWS - 300 }, (_, at) => at + 301)
    const sorted = <Row extends { locator: string }>(rows: readonly Row[]): Row[] =>
      rows.toSorted((a, b) => Number(a.locator.slice(1)) - Number(b.locator.slice(1)))
    expect(
      sorted(payments).map(({ locator, policyLocator, amount }) => [locator, policyLocator, amount]),
    ).toEqual(undone.map(x => [`p${x}`, String(9007199254740000 + (x % 900)), x]))
    expect(sorted(documents).map(({ locator }) => locator)).toEqual(undone.map(x => `d${x}`))
  })
})
