// Round trips of migrating an account: a large account needs as many as a small one.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid, type Uuid } from '../../src/kernel/locators.ts'
import { now } from '../../src/kernel/time.ts'
import { type Calls, noCalls } from '../../src/platform/calls.ts'
import { type Database, openDatabase, type Query } from '../../src/platform/database.ts'
import { BLOCK_SIZE } from '../../src/platform/tenancy/sequence.ts'
import { tenantOfShard } from '../../src/platform/tenancy.ts'
import { BODY, sourceKey } from '../../src/servicing/migration/files.ts'
import { runMigrationAlarm } from '../../src/servicing/migration/run/run.ts'
import { countsQuery, newMigrationQueries, readCounts } from '../../src/servicing/migration/store.ts'
import { generateAccount } from '../../tools/book/account.ts'
import { callOk } from '../support/api.ts'
import { boundDatabase, nextNumber, poolBinding, prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { exportedAccounts } from '../support/export-to-migration.ts'
import { motorTenant } from '../support/motor.ts'

let shard: { tenantLocator: Uuid; generation: number; shard: number }
let database: Database
let binding = poolBinding(1)

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  const { tenantLocator } = await motorTenant('calls')
  shard = { tenantLocator: tenantLocator as Uuid, generation: 1, shard: 0 }
  database = openDatabase(boundDatabase(poolBinding(1)), noCalls())
  // Leases sequence numbers and reads the configuration, which an isolate does once.
  await migrated('warm', 1, 1)
})

/** The output of `generateAccount` and `toldAccount`: a migration request of one account. */
type Account = {
  readonly accountData: { readonly id: string }
} & Partial<Record<'policies' | 'invoices' | 'payments' | 'disbursements', readonly unknown[]>>

/** Migrates generated accounts. */
const migrated = (seed: string, accounts: number, policies: number, isHalted = (): boolean => false) =>
  migratedAccounts(generated(seed, accounts, policies), isHalted)

const generated = (seed: string, accounts: number, policies: number): Account[] =>
  Array.from({ length: accounts }, (_, at) => generateAccount({ seed, policies }, at))

/**
 * Writes a migration as a request leaves it but wakes no object, so that nothing else works on it. Then works on it as the alarm
 * of the object does. Returns the calls that this needed.
 */
async function migratedAccounts(
  requests: readonly Account[],
  isHalted = (): boolean => false,
  calls: Calls = noCalls(),
  completed = requests.length,
): Promise<Calls & { leases: number }> {
  const tenant = (await tenantOfShard(env, shard))!
  const locator = newUuid(0)
  const accounts = requests.length
  const texts = requests.map(account => {
    const { policies = [], invoices = [], payments = [], disbursements = [] } = account
    return {
      originalId: account.accountData.id,
      totalItems: 1 + policies.length + invoices.length + payments.length + disbursements.length,
      bytes: new TextEncoder().encode(JSON.stringify(account)),
    }
  })
  const body = new Uint8Array(texts.reduce((sum, { bytes }) => sum + bytes.length, 0))
  let start = 0
  const rows = texts.map(({ originalId, totalItems, bytes }, ordinal) => {
    body.set(bytes, start)
    start += bytes.length
    return {
      migrationLocator: locator,
      ordinal,
      accountLocator: newUuid(0),
      originalId,
      totalItems,
      state: 'pending' as const,
      source: BODY,
      start: start - bytes.length,
      length: bytes.length,
      processedItems: 0,
      errorItems: 0,
      warnings: [],
      tries: 0,
      updatedAt: now(),
    }
  })
  const migration = {
    locator,
    state: 'processing' as const,
    type: 'fullMigration' as const,
    validateOnly: false,
    totalAccounts: accounts,
    createdAt: now(),
    createdBy: newUuid(0),
    username: 'anna.admin',
    updatedAt: now(),
    runningSince: now(),
    doneBefore: 0,
  }
  await env.FILES.put(sourceKey(tenant, locator, BODY), body)
  await database.batch(newMigrationQueries(database, migration, rows) as [Query, ...Query[]])
  // Read again within seconds, the tenant needs no query of the control database.
  await tenantOfShard(env, shard)
  const before = await nextNumber(boundDatabase(binding))
  await runMigrationAlarm(env, shard, locator, isHalted, calls)
  // Numbers are leased a thousand at a time, at most once per account.
  const leases = Math.min(
    accounts,
    Math.ceil(((await nextNumber(boundDatabase(binding))) - before) / BLOCK_SIZE),
  )
  const [states] = await database.batch([countsQuery(database, locator)])
  expect(readCounts(states)).toMatchObject({ completed, failed: 0, error: 0 })
  while ((await runMigrationAlarm(env, shard, locator, () => false)) !== undefined);
  const [ended] = await database.batch([countsQuery(database, locator)])
  expect(readCounts(ended)).toMatchObject({ completed: accounts, failed: 0, error: 0 })
  return { ...calls, leases }
}

/**
 * Round trips of an alarm: the migration, its place, the waiting accounts with the version of the configuration, ids that are
 * taken, and starting the first accounts.
 */
const OF_AN_ALARM = 5

describe('migrating an account', () => {
  it('needs one round trip to D1, for one policy or for forty', async () => {
    const small = await migrated('small', 1, 1)
    const large = await migrated('large', 1, 40)
    expect(small).toMatchObject({ d1: OF_AN_ALARM + 1 + small.leases, r2: 1, queue: 0 })
    expect(large).toMatchObject({ d1: OF_AN_ALARM + 1 + large.leases, r2: 1, queue: 0 })
    expect([small.leases, large.leases].every(leases => leases <= 1)).toBe(true)
    expect(large.rowsWritten).toBeGreaterThan(10 * small.rowsWritten)
    // At most a lease of sequence numbers, and once in half a minute the alarm for timers.
    expect(small.object).toBeLessThanOrEqual(2)
    expect(large.object).toBeLessThanOrEqual(2)
  })

  it('needs the same for an exported account whose policies have their history', async () => {
    const from = await motorTenant('exported')
    const policyholderLocator = await from.newPolicyholder()
    for (let at = 0; at < 3; at += 1) {
      const { body: policy } = await from.createPolicy({ policyholderLocator })
      await callOk('POST', `/policy/${policy.locator}/issue`, { token: from.token })
      await callOk('POST', `/policies/${policy.locator}/endorsements`, {
        token: from.token,
        body: {
          endorsementName: 'change_of_risk',
          state: 'issued',
          fieldValues: { claims_free_years: 9 },
          startTimestamp: Number(policy.originalContractStartTimestamp) + 180 * 86_400_000,
        },
      })
    }
    const accounts = await exportedAccounts(await from.signIn('anna.admin'))
    expect(accounts.flatMap(one => one.policies).map(one => one.as)).toEqual([
      'history',
      'history',
      'history',
    ])
    const calls = await migratedAccounts(accounts.map(one => one.request as Account))
    expect(calls).toMatchObject({ d1: OF_AN_ALARM + 1 + calls.leases, r2: 1, queue: 0 })
    expect(calls.leases).toBeLessThanOrEqual(1)
    expect(calls.object).toBeLessThanOrEqual(2)
  })

  it('shares the round trips of an alarm among accounts, and records sixteen in one batch', async () => {
    const { d1, r2, queue, leases } = await migrated('many', 40, 1)
    expect({ d1, r2, queue }).toEqual({ d1: OF_AN_ALARM + 3 + leases, r2: 1, queue: 0 })
    expect(leases).toBeLessThanOrEqual(4)
  })

  it('leaves the accounts after the first batch to the next alarm when this one has sent as many statements as it should', async () => {
    await migratedAccounts(generated('full', 40, 1), undefined, { ...noCalls(), statements: 501 }, 16)
  })

  it('stops preparing accounts when it has sent as many statements as it may, and records those it has', async () => {
    const calls = noCalls()
    // As if each account needed 300 statements for what was migrated before it.
    const isHalted = () => {
      calls.statements = (calls.statements ?? 0) + 300
      return false
    }
    await migratedAccounts(generated('costly', 16, 1), isHalted, calls, 2)
  })

  it('starts only after other waiting work had its turn', async () => {
    let begun = 0
    const others: number[] = []
    // Called before each account. A timeout set here fires before that account, or at the latest before the next one.
    await migrated('turns', 12, 1, () => {
      begun += 1
      const own = begun
      setTimeout(() => others.push(begun - own), 0)
      return false
    })
    expect(others).toEqual(Array.from({ length: 12 }, () => 0))
  })
})

describe('migrating the policies of a tenant with scheduled events', () => {
  const POLICIES = 40
  const SCHEDULES = 50

  beforeAll(async () => {
    const files = motorWithoutPapers()
    const config = JSON.parse(new TextDecoder().decode(files['config.json'] as Uint8Array))
    const customEvents = Array.from({ length: SCHEDULES }, (_, at) => ({
      type: `custom.policy.day${at}`,
      schedule: { anchor: 'policyEnd', offset: { amount: at + 1, unit: 'day' } },
    }))
    const { tenantLocator } = await motorTenant('timed', {
      ...files,
      'config.json': JSON.stringify({ ...config, customEvents }),
    })
    shard = { tenantLocator: tenantLocator as Uuid, generation: 1, shard: 0 }
    binding = poolBinding(3)
    database = openDatabase(boundDatabase(binding), noCalls())
  })

  it('needs no statements for each policy or schedule', async () => {
    const one = await migrated('timed-one', 1, 1)
    const many = await migrated('timed-many', 1, POLICIES)
    expect(many.statements! - one.statements!).toBeLessThanOrEqual(5)
    const counts = await boundDatabase(binding)
      .prepare(
        `select (select count(*) from event_schedule) as schedules,
          (select count(*) from policy where issued_at is not null) as policies,
          (select count(distinct payload ->> 'schedule') from timer where kind = 'event.schedule') as timed`,
      )
      .first<{ schedules: number; policies: number; timed: number }>()
    expect(counts!.policies).toBeGreaterThan(POLICIES / 2)
    expect(counts!.schedules).toBe(SCHEDULES * counts!.policies)
  })
})
