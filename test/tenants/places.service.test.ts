// The places of a tenant's data, and adding databases to a tenant.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, test } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import { type Instant, now } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import type { Place } from '../../src/platform/tenancy/places.ts'
import {
  fileKey,
  readTenant,
  shardForNewPolicyholder,
  type Tenant,
  tenantFiles,
} from '../../src/platform/tenancy.ts'
import { keyedShards } from '../../src/policyholders/store.ts'
import {
  addShards,
  createTenant,
  deleteTenant,
  hasNewShards,
  openNewShards,
  recreateTenant,
} from '../../src/tenants/service.ts'
import { wipeReturned } from '../../src/tenants/wipe.ts'
import { poolBinding, prepareDatabases } from '../support/databases.ts'

const EUROPEAN = [poolBinding(7), poolBinding(8)]

beforeAll(async () => {
  await prepareDatabases({ tenants: 9 })
  const put = env.CONTROL.prepare('update pool_database set place = ? where binding = ?')
  await env.CONTROL.batch([
    ...EUROPEAN.map(binding => put.bind('eu', binding)),
    put.bind('weur', poolBinding(9)),
  ])
})

const refusal = async (work: Promise<unknown>): Promise<Refusal> => {
  const problem = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (problem instanceof Refusal) return problem
  throw problem ?? new Error('It was not refused.')
}

describe('the place of a tenant', () => {
  test('a jurisdiction has its own databases and files', async () => {
    const tenant = await createTenant(env, { name: 'at-home', type: 'test', place: 'eu' })
    expect(tenant).toMatchObject({ place: 'eu', shards: [EUROPEAN[0]] })
    expect(await readTenant(env, { name: 'at-home' }, noCalls())).toEqual(tenant)

    const key = fileKey(tenant, 'letter')
    await tenantFiles(env, tenant).put(key, 'told within the border')
    expect(await env.FILES.head(key)).toBeNull()
    expect(await (await env.FILES_EU.get(key))!.text()).toBe('told within the border')

    const again = await recreateTenant(env, tenant)
    expect(again).toMatchObject({ place: 'eu', shards: [EUROPEAN[1]] })
    await deleteTenant(env, 'at-home')
    for (let run = 0; run < 3; run += 1) await wipeReturned(env, noCalls(), (now() + 60_000) as Instant)
    expect(await env.FILES_EU.head(key)).toBeNull()
  })

  test('a location has databases that were created there', async () => {
    const tenant = await createTenant(env, { name: 'near', type: 'test', place: 'weur' })
    expect(tenant.shards).toEqual([poolBinding(9)])
    expect(tenantFiles(env, tenant)).toBe(env.FILES)
  })

  test.each<[Place, string, string]>([
    ['weur', 'poolEmpty', 'npm run pool -- grow N --location weur'],
    ['us', 'tenantBehind', 'FILES_US'],
    ['fedramp', 'tenantBehind', 'FILES_FEDRAMP'],
  ])(
    'creating a tenant in %s is rejected if it is not ready, and uses no database of another place',
    async (place, code, told) => {
      const refused = await refusal(createTenant(env, { name: 'elsewhere', type: 'test', place }))
      expect([refused.code, refused.message]).toEqual([code, expect.stringContaining(told)])
      expect(await readTenant(env, { name: 'elsewhere' }, noCalls())).toBeUndefined()
    },
  )
})

describe('the shards of a repeatable request', () => {
  const DAY_MS = 86_400_000
  const at = (1_000 * DAY_MS) as Instant
  const keys = Array.from({ length: 200 }, (_, number) => `caller:${number}`)
  const grownAt = (times: number[]) => ({
    shards: times.map((_, shard) => poolBinding(shard + 1)),
    opensAt: times as Instant[],
  })

  test('after growth, a key leads to one shard of all, and for 30 days to the earlier shard too', () => {
    const grown = grownAt([0, at, at])
    for (const key of keys) {
      expect(keyedShards(grown, key, (at - 1) as Instant)).toEqual([0])
      const [now, ...earlier] = keyedShards(grown, key, at)
      expect(earlier).toEqual(now === 0 ? [] : [0])
      expect(keyedShards(grown, key, (at + 29 * DAY_MS) as Instant)).toEqual([now, ...earlier])
      expect(keyedShards(grown, key, (at + 31 * DAY_MS) as Instant)).toEqual([now])
    }
    expect(new Set(keys.map(key => keyedShards(grown, key, at)[0]))).toEqual(new Set([0, 1, 2]))
  })

  test('after growing twice, a key leads to its shard after each growth, the latest first', () => {
    const once = grownAt([0, at - DAY_MS])
    const twice = grownAt([0, at - DAY_MS, at, at])
    for (const key of keys) {
      const led = [keyedShards(twice, key, at)[0], keyedShards(once, key, (at - 1) as Instant)[0], 0]
      expect(keyedShards(twice, key, at)).toEqual([...new Set(led)])
    }
  })
})

describe('shards', () => {
  test('are added while the tenant works, and get policyholders once every isolate knows them', async () => {
    const tenant = await createTenant(env, { name: 'growing', type: 'production' })
    const calls = noCalls()
    const grown = await addShards(env, 'growing', 3, calls)
    // The tenant, the claim, and the fence of each new shard.
    expect(calls.d1).toBe(4)
    expect(grown.shards).toHaveLength(3)
    expect(grown.shards[0]).toBe(tenant.shards[0])
    expect(new Set(grown.shards).size).toBe(3)
    expect(grown).toMatchObject({ generation: tenant.generation, tokenEpoch: tenant.tokenEpoch })

    const chosen = (of: Tenant, at: number) =>
      new Set(Array.from({ length: 300 }, () => shardForNewPolicyholder(of, at as Instant)))
    expect(hasNewShards(grown)).toBe(true)
    expect(chosen(grown, now() + 60_000)).toEqual(new Set([0]))
    const open = await openNewShards(env, 'growing')
    expect(hasNewShards(open)).toBe(false)
    expect(chosen(open, now())).toEqual(new Set([0]))
    expect(chosen(open, now() + 60_000)).toEqual(new Set([0, 1, 2]))
    expect(await openNewShards(env, 'growing')).toEqual(open)
  })

  test('stay the same when their number is requested again; fewer shards, or more than 64, are rejected', async () => {
    const before = await readTenant(env, { name: 'growing' }, noCalls())
    expect(await addShards(env, 'growing', 3)).toEqual(before)
    for (const shards of [2, 0, 65]) {
      const refused = await refusal(addShards(env, 'growing', shards))
      expect([refused.code, refused.message]).toEqual([
        'invalidRequest',
        expect.stringContaining('has 3 shards and can have up to 64'),
      ])
    }
    expect((await refusal(addShards(env, 'nobody', 2))).code).toBe('notFound')
  })

  test('are added all or none, and only once by two simultaneous calls', async () => {
    const before = await readTenant(env, { name: 'growing' }, noCalls())
    expect((await refusal(addShards(env, 'growing', 20))).code).toBe('poolEmpty')
    expect(await readTenant(env, { name: 'growing' }, noCalls())).toEqual(before)
    const outcomes = await Promise.allSettled([addShards(env, 'growing', 4), addShards(env, 'growing', 4)])
    expect((await readTenant(env, { name: 'growing' }, noCalls()))!.shards).toHaveLength(4)
    const codes = outcomes.map(outcome => (outcome.status === 'fulfilled' ? 'done' : outcome.reason.code))
    expect(codes).toContain('done')
    expect(codes.filter(code => code !== 'done' && code !== 'versionConflict')).toEqual([])
  })
})
