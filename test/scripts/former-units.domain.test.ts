// Which tenants of an earlier release have amounts in its minor units, as `npm start`, `npm run migrate` and `npm run deploy`
// determine it.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkFormerUnits } from '../../scripts/former-units.ts'
import { openDatabaseFile } from '../../scripts/local-databases.ts'
import { migrationFiles } from '../../scripts/migration-files.ts'
import { prepareControl } from '../../scripts/prepare-databases.ts'
import { digitsOfCurrency } from '../../src/kernel/currencies.ts'
import { migrate } from '../../src/platform/database/migrations.ts'
import { FORMER_UNITS_CURRENCIES } from '../../src/platform/tenancy/former-units.ts'

type LocalDatabase = ReturnType<typeof openDatabaseFile>

let control: LocalDatabase
let databases: Map<string, LocalDatabase>

const target = (binding: string): LocalDatabase => databases.get(binding)!
const open = () => ({ target, close: async () => {} })

/** The control database of the earlier release. */
beforeEach(async () => {
  databases = new Map()
  control = openDatabaseFile('CONTROL', ':memory:')
  const all = await migrationFiles('control')
  await migrate(
    control,
    all.filter(({ name }) => name < '0007'),
  )
})
afterEach(() => {
  for (const database of [control, ...databases.values()]) database.close()
})

const ROWS = {
  configuration: (currency: string) =>
    `insert into configuration_version (version, hash, time_zone, currency) values (1, 'h', 'UTC', '${currency}')`,
  policy: (currency: string) =>
    `insert into policy (locator, policyholder_locator, product_name, config_version, version, created_at, updated_at, original_start,
       original_end, effective_end, currency, time_zone, payment_schedule_name, exposure_count, peril_count)
     values (1, 'p', 'motor', 1, 1, 1, 1, 1, 2, 2, '${currency}', 'UTC', 'annual', 1, 1)`,
  payment: (currency: string) =>
    `insert into payment (locator, display_id, policy_locator, policyholder_locator, invoice_locator, source, amount, credited, currency, field_values, posted_at)
     values ('a', 1, 1, 'p', 'i', 'external', 5, 0, '${currency}', '{}', 1)`,
  disbursement: (currency: string) =>
    `insert into disbursement (locator, policyholder_locator, type, amount, currency, data, disbursed_at, created_at)
     values ('d', 'p', 'refund', 5, '${currency}', '{}', 1, 1)`,
}

type Rows = readonly (readonly [kind: keyof typeof ROWS, currency: string])[]

/** Adds a tenant of the earlier release with these rows in each of its databases, which have only their first migration. */
async function addTenant(name: string, ...shards: readonly Rows[]): Promise<void> {
  const [first] = await migrationFiles('tenant')
  const statements = [
    `insert into tenant (locator, name, host_name, type, status, generation, token_epoch, versioned, created_at)
     values ('${name}', '${name}', '${name}.example', 'test', 'active', 1, 1, 1, 0)`,
  ]
  for (const [number, rows] of shards.entries()) {
    const binding = `${name}-${number}`
    const database = openDatabaseFile(binding, ':memory:')
    databases.set(binding, database)
    await migrate(database, [first!])
    await database.execute(rows.map(([kind, currency]) => ROWS[kind](currency)))
    statements.push(
      `insert into shard (tenant_locator, number, binding) values ('${name}', ${number}, '${binding}')`,
    )
  }
  await control.execute(statements)
}

const marked = async (): Promise<string[]> =>
  (
    await control.query(
      `select name from tenant where former_units is not null and status = 'active' order by name`,
    )
  ).map(({ name }) => String(name))

describe('A tenant of an earlier release', () => {
  test('is marked by the migration, and served once no such currency is found', async () => {
    await addTenant('euro', [
      ['configuration', 'EUR'],
      ['policy', 'EUR'],
    ])
    await addTenant('yen', [
      ['configuration', 'JPY'],
      ['policy', 'JPY'],
    ])
    await addTenant('new', [])
    await prepareControl(control)
    expect(await marked()).toEqual(['euro', 'new', 'yen'])
    await checkFormerUnits(control, open, { isServed: true })
    expect(await marked()).toEqual([])
  })

  test.each(FORMER_UNITS_CURRENCIES)('with a policy in %s is rejected by name', async currency => {
    expect(digitsOfCurrency(currency)).toBe(currency === 'IQD' ? 3 : 2)
    await addTenant('held', [
      ['configuration', currency],
      ['policy', currency],
    ])
    await prepareControl(control)
    await expect(checkFormerUnits(control, open)).rejects.toThrow('(IQD: a thousand times): held. Export')
    expect(await marked()).toEqual(['held'])
  })

  test.each(['policy', 'payment', 'disbursement'] as const)(
    'is rejected for a %s of such a currency in any of its databases, even if its configuration has changed',
    async kind => {
      await addTenant('other', [['configuration', 'EUR']])
      await addTenant('grown', [['configuration', 'EUR']], [[kind, 'HUF']])
      await prepareControl(control)
      await expect(checkFormerUnits(control, open)).rejects.toThrow(': grown. Export')
      expect(await marked()).toEqual(['grown'])
    },
  )

  test('with the currency but no amounts is served, but not before the earlier release has ended', async () => {
    await addTenant('empty', [['configuration', 'HUF']])
    await prepareControl(control)
    await checkFormerUnits(control, open, { isServed: true })
    expect(await marked()).toEqual(['empty'])
    await checkFormerUnits(control, open)
    expect(await marked()).toEqual([])
  })

  test('blocks nothing while it is suspended or deleted, or once its mark is cleared', async () => {
    for (const name of ['suspended', 'deleted', 'cleared']) await addTenant(name, [['policy', 'HUF']])
    await control.execute([
      `update tenant set suspension = '{"state":"suspended","reason":"exported","since":1}' where name = 'suspended'`,
      `update tenant set status = 'deleted' where name = 'deleted'`,
    ])
    await prepareControl(control)
    await expect(checkFormerUnits(control, open)).rejects.toThrow(': cleared. Export')
    await control.execute([`update tenant set former_units = null where name = 'cleared'`])
    await checkFormerUnits(control, open)
    expect(await marked()).toEqual(['suspended'])
    await control.execute([`update tenant set suspension = null where name = 'suspended'`])
    await expect(checkFormerUnits(control, open)).rejects.toThrow(': suspended. Export')
  })

  test('that cannot be read stays marked, while others are served', async () => {
    await addTenant('read', [['configuration', 'EUR']])
    await addTenant('unreadable', [])
    await target('unreadable-0').execute(['drop table policy'])
    await prepareControl(control)
    await expect(checkFormerUnits(control, open)).rejects.toThrow(
      'unreadable-0 could not be checked for its currencies',
    )
    expect(await marked()).toEqual(['unreadable'])
  })

  test('created by its Worker after the migration is marked too', async () => {
    await prepareControl(control)
    await addTenant('late', [['policy', 'IQD']])
    await expect(checkFormerUnits(control, open)).rejects.toThrow(': late. Export')
  })
})

test('no database is opened when no tenant is marked', async () => {
  await prepareControl(control)
  await checkFormerUnits(control, () => {
    throw new Error('opened')
  })
})
