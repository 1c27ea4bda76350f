import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, test } from 'vitest'
import { noCalls } from '../../src/platform/calls.ts'
import { loadConfiguration } from '../../src/product/cache.ts'
import { addShards, createTenant, openNewShards } from '../../src/tenants/service.ts'
import { callApi } from '../support/api.ts'
import { afterBatches } from '../support/between-batches.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import type { ArchiveFiles } from '../support/examples.ts'
import { signIn } from '../support/sign-in.ts'
import {
  boat,
  callsOf,
  deploy,
  deploymentsOf,
  insertPolicy,
  rowsOf,
  tenantNamed,
  users,
} from './deploying.ts'

const DEPLOY = '/configuration/studio/deploy'
const REPAIR = '/configuration/studio/repair'

beforeAll(() => prepareDatabases({ tenants: 28 }))

const hashOf = async (tenantName: string, version: number): Promise<string> =>
  (
    await rowsOf<{ hash: string }>(
      tenantName,
      `select hash from configuration_version where version = ${version}`,
    )
  )[0]!.hash

/** Returns the source of the version's premium script, loaded as a request would: by the hash that the version has now. */
async function premiumOf(tenantName: string, version: number): Promise<string | undefined> {
  const tenant = (await tenantNamed(tenantName))!
  const { configuration } = await loadConfiguration(env, tenant, await hashOf(tenantName, version), noCalls())
  return configuration.products.boat?.exposures[0]?.perils[0]?.premium?.source
}

test('a repair keeps the version number, and later reads of the version get the new files', async () => {
  const fields = { tenantName: 'mended' }
  await deploy(DEPLOY, fields, boat(1))
  await deploy(DEPLOY, fields, boat(2))
  expect(await premiumOf('mended', 1)).toBe('{{ 1 | set_year_premium }}')
  const { body } = await deploy(REPAIR, { ...fields, version: '1' }, boat(11))
  expect(body).toMatchObject({ success: true, tenantName: 'mended' })
  expect(body.logfile).toContain('Deployed version 1 to')
  expect(await premiumOf('mended', 1)).toBe('{{ 11 | set_year_premium }}')
  expect(await premiumOf('mended', 2)).toBe('{{ 2 | set_year_premium }}')
  expect(await deploymentsOf('mended')).toEqual(['deploy 1', 'deploy 2', 'repair 1'])
  const next = await deploy(DEPLOY, fields, boat(3))
  expect(next.body.logfile).toContain('Deployed version 3 to')
})

describe('a repair', () => {
  test('returns 400 for a version that does not exist', async () => {
    await deploy(DEPLOY, { tenantName: 'unversed' })
    for (const version of ['2', '999999']) {
      const { status, body } = await deploy(REPAIR, { tenantName: 'unversed', version })
      expect([status, body]).toEqual([400, expect.objectContaining({ code: 'unknownConfigVersion' })])
    }
    for (const version of ['0', '-1', 'one', '1.5', ''])
      expect((await deploy(REPAIR, { tenantName: 'unversed', version })).status).toBe(400)
    expect((await deploy(REPAIR, { tenantName: 'unversed' })).status).toBe(400)
  })

  test('returns 404 for an unknown tenant and 400 for a tenant of the other type', async () => {
    await deploy(DEPLOY, { tenantName: 'a-test' })
    await createTenant(env, { name: 'a-production', type: 'production' })
    const on = async (path: string, tenantName: string) =>
      (await deploy(path, { tenantName, version: '1' })).status
    expect(await on(REPAIR, 'nobody')).toBe(404)
    expect(await on('/configuration/repair', 'nobody')).toBe(404)
    expect(await on(REPAIR, 'a-production')).toBe(400)
    expect(await on('/configuration/repair', 'a-test')).toBe(400)
    await deploy('/configuration/deploy', { tenantName: 'a-production' })
    expect(await on('/configuration/repair', 'a-production')).toBe(200)
  })

  test('changes nothing when the archive has errors', async () => {
    await deploy(DEPLOY, { tenantName: 'whole' }, boat(1))
    const before = await hashOf('whole', 1)
    const { status, body } = await deploy(
      REPAIR,
      { tenantName: 'whole', version: '1' },
      { 'config.json': '[' },
    )
    expect([status, body.success]).toEqual([200, false])
    expect(await hashOf('whole', 1)).toBe(before)
  })

  test('may not change the time zone or currency while policies use the version, whereas a deploy may', async () => {
    const fields = { tenantName: 'zoned' }
    const moved = boat(1, { 'config.json': JSON.stringify({ timezone: 'Asia/Tokyo', currency: 'JPY' }) })
    await deploy(DEPLOY, fields)
    await insertPolicy('zoned', 1, 'a product of an earlier archive')
    const { body } = await deploy(REPAIR, { ...fields, version: '1' }, moved)
    expect(body.success).toBe(false)
    expect(body.logfile.split('\n').slice(1, 3)).toEqual([
      'ERROR config.json currencyChanged The currency was EUR and is now JPY. Policies of version 1 need it. Put it back, or deploy a new version.',
      'ERROR config.json timeZoneChanged The time zone was Europe/Berlin and is now Asia/Tokyo. Policies of version 1 need it. Put it back, or deploy a new version.',
    ])
    const next = await deploy(DEPLOY, fields, moved)
    expect(next.body.success).toBe(true)
    expect(next.body.logfile).toContain('WARNING config.json timeZoneChanged')
    expect((await deploy(REPAIR, { ...fields, version: '2' }, boat(2))).body.success).toBe(true)
  })

  test('may not remove what policies of the version use, and lists what is missing', async () => {
    const fields = { tenantName: 'in-force' }
    await deploy(DEPLOY, fields)
    await deploy(DEPLOY, fields)
    const changed = boat(100, {
      'products/boat/policy/policy.json': '{}',
      'products/boat/policy/exposures/hull/exposure.json': JSON.stringify({
        name: 'hull',
        displayName: 'Hull',
        fields: [{ name: 'length', title: 'Length', type: 'string' }],
      }),
    })
    await insertPolicy('in-force', 1)
    const { status, body } = await deploy(REPAIR, { ...fields, version: '1' }, changed)
    expect([status, body.success]).toEqual([200, false])
    expect(body.logfile.split('\n')).toEqual([
      '2 errors, 0 warnings',
      "ERROR products/boat/policy/policy.json fieldRemoved The field 'harbour' is missing. Policies of version 1 need it. Put it back, or deploy a new version.",
      "ERROR products/boat/policy/exposures/hull/exposure.json fieldTypeChanged The field 'length' was of type number and is now string. Policies of version 1 need it. Put it back, or deploy a new version.",
      'Deployment failed: 2 errors',
    ])
    // No policy uses version 2.
    expect((await deploy(REPAIR, { ...fields, version: '2' }, changed)).body.success).toBe(true)
  })
})

test('a repair warns about fields that bind existing policies of the version, and a deploy does not', async () => {
  const fields = { tenantName: 'bound' }
  const changed = boat(100, {
    'products/boat/policy/policy.json': JSON.stringify({
      fields: [
        { name: 'harbour', title: 'Home harbour', type: 'string' },
        { name: 'mooring', title: 'Mooring', type: 'select', values: ['buoy', 'berth'] },
        { name: 'club', title: 'Club', type: 'string', optional: true },
      ],
    }),
  })
  const ofPolicies = (log: string): string[] => log.split('\n').filter(line => line.includes('policiesBound'))
  await deploy(DEPLOY, fields)
  const unused = await deploy(REPAIR, { ...fields, version: '1' }, changed)
  expect([unused.body.success, ofPolicies(unused.body.logfile)]).toEqual([true, []])
  await deploy(REPAIR, { ...fields, version: '1' })
  await insertPolicy('bound', 1)
  const next = await deploy(DEPLOY, fields, changed)
  expect([next.body.success, ofPolicies(next.body.logfile)]).toEqual([true, []])
  const used = await deploy(REPAIR, { ...fields, version: '1' }, changed)
  expect([used.body.success, ofPolicies(used.body.logfile)]).toEqual([
    true,
    [
      "WARNING products/boat/policy/policy.json policiesBound The field 'mooring' is new (required select of 'buoy', 'berth'). Policies must satisfy it when they are next changed or renewed. They have no value for it, but need one.",
    ],
  ])
})

describe('a repair of a tenant with three databases', () => {
  const fields = { tenantName: 'spread' }
  const repair = (files: ArchiveFiles) => deploy(REPAIR, { ...fields, version: '1' }, files)
  const withoutHarbour = boat(1, { 'products/boat/policy/policy.json': '{}' })

  const databases = async () => (await tenantNamed('spread'))!.shards.map(binding => boundDatabase(binding))

  /** Returns the hash of version 1 in each database. */
  const hashes = async (): Promise<unknown[]> =>
    Promise.all(
      (await databases()).map(database =>
        database.prepare('select hash from configuration_version where version = 1').first('hash'),
      ),
    )

  /** Inserts a policy in the last database if its version still has the hash, as a policy's own guard demands. */
  const sell = async (hash: string): Promise<boolean> => {
    const { meta } = await (await databases())
      .at(-1)!
      .prepare(
        `insert into policy (locator, policyholder_locator, product_name, config_version, version, created_at,
           updated_at, original_start, original_end, effective_end, currency, time_zone, payment_schedule_name,
           exposure_count, peril_count)
         select 1, 'holder', 'boat', 1, 1, 0, 0, 0, 0, 0, 'EUR', 'Europe/Berlin', 'total', 0, 0
         where (select hash from configuration_version where version = 1) = ?`,
      )
      .bind(hash)
      .run()
    return meta.changes > 0
  }

  test('never takes a field from a policy that is sold in another database in the meantime', async () => {
    await deploy(DEPLOY, fields, boat(1))
    await addShards(env, 'spread', 3)
    await openNewShards(env, 'spread')
    const results: string[] = []
    for (let batches = 0; ; batches += 1) {
      const former = await hashOf('spread', 1)
      const raced = await afterBatches(
        batches,
        () => repair(withoutHarbour),
        () => sell(former),
      )
      if (!raced) break
      const { sent, acted: isSold } = raced
      expect(sent.body.success, `after ${batches} batches`).toBe(!isSold)
      const each = await hashes()
      expect(each, `after ${batches} batches`).toEqual(Array(3).fill(each[0]))
      expect(each[0] === former, `after ${batches} batches`).toBe(isSold)
      results.push(isSold ? 'refused' : 'repaired')
      await (await databases()).at(-1)!.exec('delete from policy')
      if (!isSold) expect((await repair(boat(1))).body.success).toBe(true)
    }
    // The policy is sold before, between and after the reads and writes of the repair.
    expect(new Set(results)).toEqual(new Set(['refused', 'repaired']))
    expect(results.indexOf('repaired')).toBe(results.lastIndexOf('refused') + 1)
  })
})

test('concurrent repairs are carried out one after the other', async () => {
  await deploy(DEPLOY, { tenantName: 'hammered' })
  const answers = await Promise.all(
    [1, 2, 3, 4].map(premium => deploy(REPAIR, { tenantName: 'hammered', version: '1' }, boat(premium))),
  )
  expect(answers.map(({ body }) => body.success)).toEqual([true, true, true, true])
  expect(await deploymentsOf('hammered')).toHaveLength(5)
  const [last] = await rowsOf<{ hash: string }>(
    'hammered',
    'select hash from deployment order by rowid desc limit 1',
  )
  expect(await hashOf('hammered', 1)).toBe(last!.hash)
})

describe('test users', () => {
  type AccountRow = {
    username: string
    type: string
    password_hash: string
    source: string
    created_at: number
  }
  const accountsOf = (tenantName: string) =>
    rowsOf<AccountRow>(tenantName, 'select * from account order by username')

  const userFile = (list: { username: string; name?: string; password: string; roles?: string[] }[]) => ({
    'security/test_users.json': JSON.stringify(list.map(user => ({ name: user.username, ...user }))),
  })

  test('follow the archive, and keep their hash while the password is unchanged', async () => {
    const fields = { tenantName: 'staffed' }
    const [ann, bob, cat] = ['ann', 'bob', 'cat'].map(username => ({ username, password: 'short' }))
    await deploy(DEPLOY, fields, boat(1, userFile([ann!, bob!, { ...cat!, roles: ['admin'] }])))
    const before = await accountsOf('staffed')
    expect(before.map(({ username, type }) => [username, type])).toEqual([
      ['ann', 'account.tenant.employee'],
      ['bob', 'account.tenant.employee'],
      ['cat', 'account.tenant.admin'],
    ])
    const users = [ann!, { ...bob!, password: 'other' }, { username: 'dan', password: 'short' }]
    await deploy(DEPLOY, fields, boat(2, userFile(users)))
    const after = await accountsOf('staffed')
    expect(after.map(({ username }) => username)).toEqual(['ann', 'bob', 'dan'])
    expect(after[0]).toEqual(before[0])
    expect(after[1]!.password_hash).not.toBe(before[1]!.password_hash)
    expect(after[1]!.created_at).toBe(before[1]!.created_at)
  })

  test('lose their tokens when their type changes or they are removed, but not when others change', async () => {
    const fields = { tenantName: 'revoked' }
    const [ann, bob] = ['ann', 'bob'].map(username => ({ username, password: 'short' }))
    const deployUsers = (
      premium: number,
      ...list: { username: string; password: string; roles?: string[] }[]
    ) => deploy(DEPLOY, fields, boat(premium, userFile(list)))
    const statusOf = async (token: string) => (await callApi('GET', '/products', { token })).status
    await deployUsers(1, ann!, bob!)
    const token = await signIn('revoked', 'ann', 'short')
    const added = await deployUsers(2, ann!, bob!, { username: 'cat', password: 'short' })
    expect([await statusOf(token), callsOf(added, 'd1')]).toEqual([200, 3])
    const changed = await deployUsers(3, { ...ann!, roles: ['reader'] }, bob!, { ...bob!, username: 'cat' })
    // Two more: the tenant's token epoch, in the control database and in the fence.
    expect([await statusOf(token), callsOf(changed, 'd1')]).toEqual([401, 5])
    const reader = await signIn('revoked', 'ann', 'short')
    const writing = await callApi('POST', '/policyholder/create', { token: reader, body: { values: {} } })
    expect([await statusOf(reader), writing.status]).toEqual([200, 403])
    await deployUsers(4, bob!)
    expect(await statusOf(reader)).toBe(401)
  })

  test('with the same password share a hash, and a user who changed the password keeps it', async () => {
    const fields = { tenantName: 'alike' }
    const [ann, bob, cat] = ['ann', 'bob', 'cat'].map(username => ({ username, password: 'short' }))
    await deploy(DEPLOY, fields, boat(1, userFile([ann!, bob!])))
    const hashes = async () =>
      (await accountsOf('alike')).map(({ password_hash: passwordHash }) => passwordHash)
    const [first, second] = await hashes()
    expect(second).toBe(first)
    await rowsOf('alike', `update account set password_hash = 'her own' where username = 'ann' returning 1`)
    await deploy(DEPLOY, fields, boat(2, userFile([{ ...ann!, name: 'Ann' }, bob!, cat!])))
    const [own, unchanged, added] = await hashes()
    expect([own, unchanged]).toEqual(['her own', first])
    expect(await signIn('alike', 'cat', 'short')).toBeTruthy()
    expect(added).not.toBe('her own')
  })

  test('follow only the latest version', async () => {
    const fields = { tenantName: 'latest-users' }
    await deploy(DEPLOY, fields, boat(1, users('ann')))
    await deploy(DEPLOY, fields, boat(2, users('bob')))
    await deploy(REPAIR, { ...fields, version: '1' }, boat(1, users('cat')))
    expect((await accountsOf('latest-users')).map(({ username }) => username)).toEqual(['bob'])
    await deploy(REPAIR, { ...fields, version: '2' }, boat(1, users('dan')))
    expect((await accountsOf('latest-users')).map(({ username }) => username)).toEqual(['dan'])
  })

  test('do not replace an account that was created through the interface', async () => {
    const fields = { tenantName: 'hired' }
    await deploy(DEPLOY, fields, boat(1, users('ann', 'bob')))
    await rowsOf('hired', `update account set source = 'interface' where username = 'ann' returning 1`)
    const { body } = await deploy(DEPLOY, fields, boat(2, users('ann')))
    expect(body.logfile).toContain('WARNING security/test_users.json usernameTaken')
    expect((await accountsOf('hired')).map(({ username, source }) => [username, source])).toEqual([
      ['ann', 'interface'],
    ])
  })

  test('are limited to 100', async () => {
    const names = Array.from({ length: 101 }, (_, at) => `user-${at}`)
    const { body } = await deploy(DEPLOY, { tenantName: 'crowd' }, boat(1, users(...names)))
    expect(body).toMatchObject({ success: false })
    expect(body.logfile).toContain('ERROR security/test_users.json tooManyTestUsers')
  })
})

test('every shard of a tenant has every version', async () => {
  await deploy(DEPLOY, { tenantName: 'sharded' }, boat(1))
  const tenant = (await tenantNamed('sharded'))!
  await env.CONTROL.batch([
    env.CONTROL.prepare(
      `insert into shard (tenant_locator, number, binding) values (?, 1, 'TENANT_024')`,
    ).bind(tenant.locator),
    env.CONTROL.prepare(`update pool_database set state = 'claimed' where binding = 'TENANT_024'`),
  ])
  await deploy(DEPLOY, { tenantName: 'sharded' }, boat(2))
  await deploy(REPAIR, { tenantName: 'sharded', version: '1' }, boat(3))
  const { results } = await env.TENANT_024.prepare('select * from configuration_version').all()
  expect(results).toEqual(await rowsOf('sharded', 'select * from configuration_version'))
})
