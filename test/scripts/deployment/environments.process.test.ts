import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrationFiles } from '../../../scripts/migration-files.ts'
import { newestMigration } from '../../../src/platform/database/migrations.ts'
import { type Account, changeAccount, openStored, readAccount } from '../../support/provider/account.ts'
import { type Checkout, type Ended, newAccountFolder, newCheckout } from '../../support/provider/checkout.ts'

/** In a first deployment, moves are announced too. */
const NEWEST = newestMigration(await migrationFiles('tenant'))

const EU1 = ['--environment', 'eu1', '--domain', 'example.com', '--jurisdiction', 'eu', '--databases', '2']
const STAGING = [
  '--environment',
  'staging',
  '--domain',
  'example.com',
  '--location',
  'enam',
  '--databases',
  '1',
]

/** All that exists in the account, without the record of commands. */
function made(folder: string): Omit<Account, 'commands' | 'work'> {
  const { commands: _, work: __, ...rest } = readAccount(folder)
  return rest
}

/** Changes a database of the account. */
function change(folder: string, name: string, ...statements: string[]): void {
  const database = openStored(folder, readAccount(folder).databases[name]!.id)
  for (const statement of statements) database.exec(statement)
  database.close()
}

/** Removes the file during the work, and then restores it. */
async function without<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  const kept = readFileSync(file)
  rmSync(file)
  try {
    return await work()
  } finally {
    writeFileSync(file, kept)
  }
}

describe('Two environments in one account', { timeout: 240_000 }, () => {
  const account = newAccountFolder()
  let checkout: Checkout
  let first: Ended
  beforeAll(async () => {
    checkout = newCheckout(account, { TIME_FLIES: '1' })
    first = await checkout.run('deploy', ...EU1)
  }, 120_000)
  afterAll(() => {
    checkout.remove()
    rmSync(account, { recursive: true })
  })

  test('give the resources of the first its name, and place its data in its jurisdiction', () => {
    expect(first).toMatchObject({ code: 0 })
    const { databases, buckets, queues, workers } = readAccount(account)
    const places = Object.entries(databases).map(([name, { place }]) => `${name} ${place}`)
    expect(places.sort()).toEqual([
      'bindery-eu1-control eu',
      'bindery-eu1-tenant-001-eu eu',
      'bindery-eu1-tenant-002-eu eu',
    ])
    expect(buckets).toEqual(['bindery-eu1-files/', 'bindery-eu1-files-eu/eu'])
    expect(queues).toHaveLength(6)
    expect(queues.every(name => name.startsWith('bindery-eu1-'))).toBe(true)
    const { versions, domains, objectUpdates } = workers['bindery-eu1']!
    expect([domains, objectUpdates]).toEqual([['api.eu1.example.com'], 'deferred 30s'])
    expect(versions[0]!.config).toContain('[placement]\nregion = "aws:eu-central-1"')
    expect(versions[0]!.config).toMatch(/ENVIRONMENT = "eu1"\nDOMAIN = "example.com"\n(?:#.*\n)*PLACE = "eu"/)
    expect(versions[0]!.config).toContain('PLUGIN_RUNNER = "isolate"')
    expect(Object.keys(versions[0]!.secrets).sort()).toEqual([
      'PASSWORD_PEPPER',
      'SEALING_KEY',
      'TOKEN_KEYS',
      'TOKEN_SECRET',
    ])
  })

  test('give a tenant a database in the right place, and print where its users sign in', async () => {
    const { code, output } = await checkout.run('tenant', 'create', 'acme', '--environment', 'eu1')
    expect({ code, output }).toMatchObject({ code: 0 })
    expect(output).toContain('https://api.eu1.example.com')
    expect(output).toContain('acme.co.eu1.example.com')
    const control = openStored(account, readAccount(account).databases['bindery-eu1-control']!.id)
    const rows = control.prepare('select binding, state, place from pool_database order by binding').all()
    control.close()
    expect(rows.map(({ state, place }) => `${state} ${place}`)).toEqual(['claimed eu', 'free eu'])
  })

  test('share no secret and no rate limit, and deploying the second leaves the first unchanged', async () => {
    const before = made(account)
    const second = await checkout.run('deploy', ...STAGING)
    expect(second).toMatchObject({ code: 0 })
    const after = made(account)
    expect(after.workers['bindery-eu1']).toEqual(before.workers['bindery-eu1'])
    expect(Object.keys(after.databases).filter(name => name.startsWith('bindery-staging-'))).toHaveLength(2)
    expect(after.databases).toMatchObject(before.databases)
    const [production, staging] = ['bindery-eu1', 'bindery-staging'].map(
      name => after.workers[name]!.versions[0]!,
    ) as [Account['workers'][string]['versions'][number], Account['workers'][string]['versions'][number]]
    for (const [name, value] of Object.entries(production.secrets))
      expect(staging.secrets[name]).not.toBe(value)
    const limits = ({ config }: { config: string }) => config.match(/(?<=namespace_id = ")\d+/g)!
    expect(new Set([...limits(production), ...limits(staging)]).size).toBe(10)
    expect(production.config).not.toContain('staging')
    expect(staging.config).not.toContain('eu1')
  })

  test('create nothing again in a second deployment', async () => {
    const before = made(account)
    const begun = readAccount(account).commands.length
    const again = await checkout.run('deploy', '--environment', 'eu1')
    expect(again).toMatchObject({ code: 0 })
    const after = made(account)
    expect(after.buckets).toEqual(before.buckets)
    expect(after.queues).toEqual(before.queues)
    expect(Object.keys(after.databases)).toEqual(Object.keys(before.databases))
    // A database that has every migration is not even read.
    const commands = readAccount(account).commands
    expect(commands.slice(begun).filter(command => command.includes('TENANT_'))).toEqual([])
    expect(after.workers['bindery-eu1']!.versions).toHaveLength(2)
    expect(after.workers['bindery-eu1']!.versions[1]!.secrets).toEqual(
      before.workers['bindery-eu1']!.versions[0]!.secrets,
    )
  })

  test('deploy the Worker and migrate all other databases even if one cannot be migrated', async () => {
    const { databases } = readAccount(account)
    // As if it had a migration of another history.
    const last = `update migration set name = 'x' || name where name = (select max(name) from migration)`
    change(account, 'bindery-eu1-control', `update pool_database set migration = '0003_number_sequence'`)
    change(account, 'bindery-eu1-tenant-001-eu', last)
    const { code, output } = await checkout.run('deploy', '--environment', 'eu1')
    expect(code, output).toBe(0)
    expect(output).toContain('TENANT_001 could not be migrated')
    expect(output).toContain('requests for tenants whose database is not migrated yet get 503')
    const commands = readAccount(account).commands
    expect(commands.filter(command => command.includes('TENANT_'))).toEqual([])
    const control = openStored(account, databases['bindery-eu1-control']!.id)
    const rows = control.prepare('select binding, migration from pool_database order by binding').all()
    control.close()
    expect(rows).toMatchObject([{ migration: '0003_number_sequence' }, { migration: NEWEST }])
    const shown = await checkout.run('tenant', 'show', 'acme', '--environment', 'eu1')
    expect(shown.output).toMatch(/waits for a migration[\s\S]*problem {7}TENANT_001: .* lacks/)
    change(
      account,
      'bindery-eu1-tenant-001-eu',
      `update migration set name = substr(name, 2) where name like 'x%'`,
    )
    expect((await checkout.run('migrate', '--environment', 'eu1')).output).toContain('up to date')
  })

  test('report, when the pool of one is full, which other environment has a free database', async () => {
    const create = (name: string) => checkout.run('tenant', 'create', name, '--environment', 'eu1')
    expect(await create('second')).toMatchObject({ code: 0 })
    const none = await create('third')
    expect(none.code).toBe(1)
    expect(none.output).toContain("No tenant database is free in 'eu'")
    expect(none.output).toContain('No other environment of this domain has a free database there.')
    change(account, 'bindery-staging-control', `update pool_database set place = 'eu'`)
    expect((await create('third')).output).toContain('--environment staging has 1 free database there')
    change(account, 'bindery-staging-control', `update pool_database set place = 'enam'`)
    const commands = readAccount(account).commands.length
    const { code, output } = await checkout.run('pool', 'grow', '4499', '--environment', 'eu1')
    expect([code, output]).toEqual([
      1,
      expect.stringContaining('one Worker can have only 4500. Create another cell'),
    ])
    expect(
      readAccount(account)
        .commands.slice(commands)
        .filter(one => one.includes('create')),
    ).toEqual([])
  })

  test('must be named in a command, because there are two', async () => {
    const { code, output } = await checkout.run('deploy')
    expect(code).toBe(1)
    expect(output).toContain('Choose an environment with --environment. This checkout has eu1, staging.')
  })

  test('reject a missing secret and a wrong one with different messages, and upload neither', async () => {
    const versions = (): number => readAccount(account).workers['bindery-eu1']!.versions.length
    const before = versions()
    const file = join(checkout.folder, '.secrets.eu1')
    const missing = await without(file, () => checkout.run('deploy', '--environment', 'eu1'))
    expect(missing.code).toBe(1)
    expect(missing.output).toContain('PASSWORD_PEPPER is missing from .secrets.eu1')
    const wrong = await without(file, async () => {
      writeFileSync(file, readFileSync(join(checkout.folder, '.secrets.staging')))
      return checkout.run('deploy', '--environment', 'eu1')
    })
    expect(wrong.code).toBe(1)
    expect(wrong.output).toContain(
      'PASSWORD_PEPPER in .secrets.eu1 is not the one with which the data of this environment was written',
    )
    expect(versions()).toBe(before)
  })

  test('accept a new sealing key only after one deployment with both keys', async () => {
    const file = join(checkout.folder, '.secrets.eu1')
    const kept = readFileSync(file, 'utf8')
    const key = kept.match(/^SEALING_KEY=(.*)$/m)![1]!
    const fresh = 'n'.repeat(43)
    const deployed = async (value: string): Promise<Ended> => {
      writeFileSync(file, kept.replace(/^SEALING_KEY=.*$/m, `SEALING_KEY=${value}`))
      return checkout.run('deploy', '--environment', 'eu1')
    }
    expect(await deployed(fresh)).toMatchObject({ code: 1 })
    expect(await deployed(`${fresh},${key}`)).toMatchObject({ code: 0 })
    expect(await deployed(fresh)).toMatchObject({ code: 0 })
    const old = await deployed(key)
    expect(old.output).toContain('SEALING_KEY in .secrets.eu1 is not the one')
    writeFileSync(file, kept.replace(/^SEALING_KEY=.*$/m, `SEALING_KEY=${fresh}`))
  })

  describe('from another checkout', () => {
    let other: Checkout
    beforeAll(() => {
      other = newCheckout(account)
    })
    afterAll(() => other.remove())

    test('reject the name of an environment under another domain', async () => {
      const before = made(account)
      const refused = await other.run(
        'deploy',
        ...['--environment', 'eu1', '--domain', 'example.org', '--location', 'weur'],
      )
      expect(refused.code).toBe(1)
      expect(refused.output).toContain('belongs to the environment eu1 of example.com')
      expect(made(account)).toEqual(before)
    })

    test('are not deployed without their secrets', async () => {
      const before = made(account)
      const refused = await other.run('deploy', ...EU1)
      expect(refused.code).toBe(1)
      expect(refused.output).toContain('PASSWORD_PEPPER is missing from .secrets.eu1')
      expect(made(account)).toEqual(before)
    })
  })

  test('reject a bucket, queue or Worker of their name that they did not create', async () => {
    changeAccount(account, ({ buckets, queues, workers }) => {
      buckets.push('bindery-eu2-files/')
      queues.push('bindery-eu3-announcements')
      workers['bindery-eu4'] = { versions: [], shares: [], domains: [], objectUpdates: undefined }
    })
    const refused = async (name: string): Promise<string> => {
      const { code, output } = await checkout.run(
        'deploy',
        ...['--environment', name, '--domain', 'example.com', '--location', 'weur', '--databases', '1'],
      )
      expect(code).toBe(1)
      return output
    }
    const mine = 'already exists and was not created by this deployment'
    expect(await refused('eu2')).toContain(`bucket bindery-eu2-files ${mine}`)
    expect(await refused('eu3')).toContain(`queue bindery-eu3-announcements ${mine}`)
    expect(await refused('eu4')).toContain(`Worker bindery-eu4 ${mine}`)
    expect(readAccount(account).workers['bindery-eu4']!.versions).toEqual([])
  })
})

describe('A new environment', { timeout: 60_000 }, () => {
  const account = newAccountFolder()
  let checkout: Checkout
  beforeAll(() => {
    checkout = newCheckout(account)
  })
  afterAll(() => {
    checkout.remove()
    rmSync(account, { recursive: true })
  })

  test.each([
    [['--environment', 'eu1', '--domain', 'example.com'], 'Where should the data of eu1 be stored?'],
    [['--environment', 'eu1', '--location', 'weur'], 'A new environment needs --domain'],
    [['--environment', 'local', '--domain', 'example.com'], "'local' is not a valid name for an environment"],
    [['--environment', 'Eu_1', '--domain', 'example.com'], "'Eu_1' is not a valid name for an environment"],
    [
      ['--domain', 'example.com', '--location', 'weur'],
      'Choose an environment with --environment. This checkout has none.',
    ],
    [
      ['--environment', 'eu1', '--domain', 'example.com', '--location', 'mars'],
      "'mars' is not a known location",
    ],
  ])('is rejected with the options %j before anything is created', async (options, message) => {
    const { code, output } = await checkout.run('deploy', ...options)
    expect(code).toBe(1)
    expect(output).toContain(message)
    expect(readAccount(account).commands).toEqual([])
  })

  test('can be planned with --dry-run from an edited checkout, which creates nothing', async () => {
    appendFileSync(join(checkout.folder, 'wrangler.toml'), '\n# edited\n')
    const { code, output } = await checkout.run('deploy', ...STAGING, '--dry-run')
    expect({ code, output }).toMatchObject({ code: 0 })
    expect(output).toContain('database bindery-staging-control: would be created')
    expect(output).toContain('queue bindery-staging-documents: would be created')
    expect(made(account)).toEqual({ databases: {}, buckets: [], queues: [], workers: {} })
  })
})

describe('Releases that move tables', { timeout: 120_000 }, () => {
  const account = newAccountFolder()
  let checkout: Checkout
  beforeAll(async () => {
    checkout = newCheckout(account, { TIME_FLIES: '1' })
    expect(await checkout.run('deploy', ...EU1)).toMatchObject({ code: 0 })
  }, 120_000)
  afterAll(() => {
    checkout.remove()
    rmSync(account, { recursive: true })
  })

  const MOVE = `-- moves: medium
CREATE TABLE \`medium_moved\` (\`locator\` text PRIMARY KEY NOT NULL, \`file_name\` text NOT NULL, \`mime_type\` text NOT NULL,
  \`size_bytes\` integer NOT NULL, \`created_at\` integer NOT NULL) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX \`medium_by_time\` ON \`medium_moved\` (\`created_at\`);
`
  const deploy = () => checkout.run('deploy', '--environment', 'eu1')
  const migrations = (): string[] => {
    const control = openStored(account, readAccount(account).databases['bindery-eu1-control']!.id)
    const rows = control.prepare('select migration from pool_database').all()
    control.close()
    return rows.map(({ migration }) => String(migration))
  }
  /** Makes a migration necessary that comes after the move, as in the release after the one that brought the move. */
  function needLater(): void {
    writeFileSync(
      join(checkout.folder, 'migrations/tenant/9999_later.sql'),
      'CREATE TABLE `later` (`x` integer)',
    )
    const file = join(checkout.folder, 'migrations/tenant/meta/_journal.json')
    const journal = JSON.parse(readFileSync(file, 'utf8'))
    journal.entries.push({ ...journal.entries.at(-1), tag: '9999_later' })
    writeFileSync(file, JSON.stringify(journal))
  }

  test('cannot be skipped: the release with the move comes first, and the next one moves the tables', async () => {
    const journal = join(checkout.folder, 'migrations/tenant/meta/_journal.json')
    const later = join(checkout.folder, 'migrations/tenant/9999_later.sql')
    const kept = readFileSync(journal, 'utf8')
    writeFileSync(join(checkout.folder, 'migrations/tenant/9998_keys.sql'), MOVE)
    needLater()
    const early = await deploy()
    expect(early.code).toBe(1)
    expect(early.output).toContain('First deploy the release that introduced 9998_keys, and then this one.')

    rmSync(later)
    writeFileSync(journal, kept)
    expect(await deploy()).toMatchObject({ code: 0 })
    expect(migrations()).toEqual([NEWEST, NEWEST])

    needLater()
    expect(await deploy()).toMatchObject({ code: 0 })
    expect(migrations()).toEqual(['9999_later', '9999_later'])
    const database = openStored(account, readAccount(account).databases['bindery-eu1-tenant-001-eu']!.id)
    const [medium] = database.prepare(`select sql from sqlite_master where name = 'medium'`).all()
    database.close()
    expect(medium!.sql).toContain('WITHOUT ROWID')
  })
})
