// A tenant on 1, 3 and 8 databases returns the same results, and one that gets more databases while it works continues as before.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid, shardOfUuid, type Uuid } from '../../src/kernel/locators.ts'
import { now } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { commit } from '../../src/platform/commit.ts'
import { type RequestContext, SYSTEM_CALLER } from '../../src/platform/context.ts'
import { readTenant, shardDatabase, type Tenant } from '../../src/platform/tenancy.ts'
import { keyedShards, shardForCreate } from '../../src/policyholders/store.ts'
import { addShards, openNewShards } from '../../src/tenants/service.ts'
import { callOk } from '../support/api.ts'
import { comparable } from '../support/comparable.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import { motorWithoutLapses } from '../support/examples.ts'
import { migratedAccount } from '../support/migrated.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'

/** Each tenant starts with one database and grows to this number. */
const SIZES = [1, 3, 8] as const
const HOLDERS = 12
const PAGE = 5

const DAY_MS = 86_400_000

/** The event types of the webhook. */
const TOLD = ['policyholder.create', 'policy.issue', 'custom.policy.welcome']

type Body = Record<string, unknown>
type Tenancy = Motor & { readonly admin: string; readonly receiver: Receiver; readonly webhook: string }

const opened = new Map<number | 'growing', Tenancy>()
const on = (size: number | 'growing'): Tenancy => opened.get(size)!

/** A configuration with a custom event for each policy, two weeks after its start of cover. */
function configured() {
  const files = motorWithoutLapses()
  const config = JSON.parse(new TextDecoder().decode(files['config.json'] as Uint8Array))
  const customEvents = [
    {
      type: 'custom.policy.welcome',
      schedule: { anchor: 'policyStart', offset: { amount: 14, unit: 'day' } },
    },
  ]
  return { ...files, 'config.json': JSON.stringify({ ...config, customEvents }) }
}

async function open(suffix: string): Promise<Tenancy> {
  const motor = await motorTenant(suffix, configured())
  const admin = await motor.signIn('anna.admin')
  const receiver = await openReceiver()
  const webhook = await callOk<{ locator: string }>('POST', `/event/${motor.tenantLocator}/webhooks`, {
    token: admin,
    body: {
      name: 'of policies',
      enabled: true,
      endpoint: { url: receiver.url, headers: {} },
      eventTypes: TOLD,
    },
  })
  return { ...motor, admin, receiver, webhook: webhook.locator }
}

const tenantOf = async ({ tenantName }: Motor): Promise<Tenant> =>
  (await readTenant(env, { name: tenantName }, noCalls()))!

/** Opens the new shards to policyholders immediately. Isolates know it 5 s later. */
async function grow({ tenantName, tenantLocator }: Motor, shards: number): Promise<void> {
  await addShards(env, tenantName, shards)
  await openNewShards(env, tenantName)
  await env.CONTROL.prepare('update shard set opens_at = 0 where tenant_locator = ?')
    .bind(tenantLocator)
    .run()
}

const KNOWN_AFTER_MS = 5_100

beforeAll(async () => {
  await prepareDatabases({ tenants: 15 })
  for (const size of SIZES) {
    const tenancy = await open(`on-${size}`)
    opened.set(size, tenancy)
    if (size > 1) await grow(tenancy, size)
  }
  opened.set('growing', await open('growing'))
  await scheduler.wait(KNOWN_AFTER_MS)
})

/** All rows of a list, and the number of its pages. */
async function pages(
  token: string,
  path: string,
  rowsOf: (page: Body) => unknown,
  from?: string,
): Promise<{ rows: Body[]; pages: number }> {
  const rows: Body[] = []
  let next = from
  for (let count = 1; ; count += 1) {
    // A paging token of the stream contains the parameters of the first call.
    const again = path.replace('startTimestamp=0&', '')
    const asked = next === undefined ? path : `${again}&pagingToken=${encodeURIComponent(next)}`
    const page = await callOk<Body>('GET', asked, { token })
    const read = rowsOf(page) as Body[]
    rows.push(...read)
    next = page.pagingToken as string | undefined
    if (next === undefined || read.length === 0 || count > 100) return { rows, pages: count }
  }
}

const holderNamed = (name: string): Body => ({
  completed: true,
  values: { ...(plainYear().request.policyholder.values as Body), last_name: name },
})

const createHolder = (token: string, name: string, headers: Record<string, string> = {}) =>
  callOk<{ locator: string }>('POST', '/policyholder/create', { token, headers, body: holderNamed(name) })

/** The value without the times of the run itself. */
const timeless = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (name, inner) => (/(At|Millis|Seconds)$/.test(name) ? 'then' : inner))

const inOrder = (rows: Body[]): Body[] =>
  rows.sort((one, other) => Number(one.createdTimestamp) - Number(other.createdTimestamp))

/** Returns the results of everything that is done with the tenant, in an order that does not depend on its shards. */
async function journey(tenancy: Tenancy): Promise<{ told: Record<string, unknown>; shards: Set<number> }> {
  const { token, admin, tenantLocator, receiver } = tenancy
  const told: Record<string, unknown> = {}
  const holders: string[] = []
  const policies: string[] = []
  const ok = async <Of = Body>(method: string, path: string, body?: object, as = token): Promise<Of> =>
    callOk<Of>(method, path, { token: as, body })

  for (let at = 0; at < HOLDERS; at += 1) {
    const holder = await createHolder(token, at % 2 === 0 ? 'Evening' : 'Oddly')
    holders.push(holder.locator)
    if (at % 3 !== 0) continue
    const policy = await ok<{ locator: string }>('POST', '/policy', {
      ...plainYear().request.policy,
      policyholderLocator: holder.locator,
    })
    await ok('POST', `/policy/${policy.locator}/issue`)
    policies.push(policy.locator)
  }
  const [policy] = policies as [string]
  const { policyStartTimestamp } = plainYear().request.policy as { policyStartTimestamp: number }
  told.endorsement = await ok('POST', `/policies/${policy}/endorsements`, {
    endorsementName: 'change_of_risk',
    startTimestamp: policyStartTimestamp + 30 * DAY_MS,
    fieldValues: { claims_free_years: 9 },
    state: 'issued',
  })
  const { invoices } = await ok<{ invoices: { locator: string }[] }>('GET', `/policy/${policy}`)
  told.payment = await ok('POST', `/invoice/${invoices[0]!.locator}/pay`, { fieldValues: { method: 'card' } })
  told.media = await ok('PUT', `/auxData/${policy}`, {
    auxData: [{ key: 'note', value: 'of its shard', uiType: 'normal' }],
  }).catch(() => 'none')

  const holdersListed = await pages(token, `/policyholders?pageSize=${PAGE}`, page => page.policyholders)
  told.holders = holdersListed.rows
  told.holdersFound = (
    await pages(
      token,
      `/policyholders?pageSize=2&searchField=last_name&searchValue=oddly`,
      one => one.policyholders,
    )
  ).rows
  told.policies = (await pages(token, `/policies?pageSize=3`, page => page.policies)).rows
  told.policiesOfOne = await ok('GET', `/policies?policyholderLocator=${holders[0]}`)
  told.ofHolder = await ok('GET', `/policyholder/${holders[0]}/policies`)
  told.invoicesOfHolder = await ok('GET', `/policyholder/${holders[0]}/invoices`)
  // These lists are in the order of locators, which each shard numbers for itself.
  const snapshots = await ok<{ items: Body[] }>('GET', `/policy/${tenantLocator}/policies/snapshot/list`)
  told.snapshots = inOrder(snapshots.items)
  const quotes = await ok<{ items: Body[] }>('GET', `/policy/${tenantLocator}/quotes/list`)
  told.quotes = inOrder(quotes.items)
  for (const view of ['events', 'attributedEvents'])
    told[view] = (
      await pages(token, `/eventstream/${view}?startTimestamp=0&pageSize=7`, one => one.events)
    ).rows

  // Until 20 days after the start of cover: invoices and custom events fall due in each shard.
  told.clock = await ok('POST', '/test/clock', { timestamp: policyStartTimestamp + 20 * DAY_MS })
  told.afterwards = await ok('GET', `/policy/${policy}`)
  const { events } = await ok<{ events: Body[] }>(
    'GET',
    '/eventstream/events?startTimestamp=0&eventType=custom.policy.welcome&pageSize=50',
  )
  told.custom = events
  told.scheduleList = await ok('GET', `/event/${tenantLocator}/events/schedules/list`, undefined, admin)

  told.erased = await ok(
    'PATCH',
    `/policyholder/${holders[0]}/overwriteData`,
    { overwrites: { last_name: 'Erased' } },
    admin,
  )

  const migrations = `/migration/${tenantLocator}/migrations`
  const migration = await ok<Body>(
    'POST',
    migrations,
    [migratedAccount('A-1'), migratedAccount('A-2')] as never,
    admin,
  )
  let state: Body
  do {
    await scheduler.wait(20)
    state = await ok<Body>('GET', `${migrations}/${migration.locator}`, undefined, admin)
  } while (['submitted', 'processing'].includes(state.migrationState as string))
  told.migration = state
  told.migratedPolicies = (await pages(token, '/policies?pageSize=3', page => page.policies)).rows.length

  const wanted = new Set(
    (await pages(token, '/eventstream/events?startTimestamp=0&pageSize=50', one => one.events)).rows
      .filter(({ type }) => TOLD.includes(String(type)))
      .map(({ id }) => String(id)),
  )
  const received = await receiver.wait(wanted.size)
  told.delivered = received.length
  expect(new Set(received.map(({ headers }) => headers['webhook-id']))).toEqual(wanted)
  told.audit = (
    await pages(admin, '/audit/list?pageSize=4', page => page.entries ?? page.items ?? [])
  ).rows.map(({ action }) => action)
  return { told, shards: new Set(holders.map(locator => shardOfUuid(locator as Uuid))) }
}

const told = new Map<number, { told: Record<string, unknown>; shards: Set<number> }>()

describe('the same operations on 1, 3 and 8 databases', () => {
  it.each(SIZES)('work on %d, with records distributed over all of them', async size => {
    const result = await journey(on(size))
    told.set(size, result)
    if (size === 1) expect(result.shards).toEqual(new Set([0]))
    else expect(result.shards.size).toBeGreaterThan(1)
    expect((result.told.holders as unknown[]).length).toBe(HOLDERS)
    expect((result.told.holdersFound as unknown[]).length).toBe(HOLDERS / 2)
    expect((result.told.policies as unknown[]).length).toBe(HOLDERS / 3)
    expect((result.told.custom as unknown[]).length).toBe(HOLDERS / 3)
  })

  it.each([3, 8])('return the same on %d databases as on one', size => {
    const [one, more] = [told.get(1)!.told, told.get(size)!.told]
    expect(Object.keys(more)).toEqual(Object.keys(one))
    for (const what of Object.keys(one))
      expect([what, comparable(timeless(more[what]))]).toEqual([what, comparable(timeless(one[what]))])
  })
})

describe('a tenant that gets more databases while it works', () => {
  it('keeps its tokens, keys, webhooks and schedules, which also work in the new ones', async () => {
    const tenancy = on('growing')
    const { token, admin, tenantLocator, receiver, webhook } = tenancy
    const before: string[] = []
    const keyed: string[] = []
    for (let at = 0; at < 8; at += 1) {
      const body = await createHolder(token, 'Before', { 'idempotency-key': `key-${at}` })
      before.push(body.locator)
      keyed.push(body.locator)
    }
    const first = await callOk<{ policyholders: Body[]; pagingToken: string }>(
      'GET',
      '/policyholders?pageSize=3',
      { token },
    )
    const seen = await callOk<{ events: Body[]; pagingToken: string }>(
      'GET',
      '/eventstream/events?startTimestamp=0&pageSize=3',
      { token },
    )
    const policyOf = (policyholderLocator: string) =>
      callOk<{ locator: string }>('POST', '/policy', {
        token,
        body: { ...plainYear().request.policy, policyholderLocator },
      })
    const old = await policyOf(before[0]!)

    await grow(tenancy, 3)
    await scheduler.wait(KNOWN_AFTER_MS)

    // A repeat finds the record of the first try, even if its key leads to another shard now.
    await env.CONTROL.prepare('update shard set opens_at = ? where tenant_locator = ? and number > 0')
      .bind(Date.now() - KNOWN_AFTER_MS, tenantLocator)
      .run()
    await scheduler.wait(KNOWN_AFTER_MS)
    for (const [at, locator] of keyed.entries()) {
      const body = await createHolder(token, 'Before', { 'idempotency-key': `key-${at}` })
      expect(body.locator).toBe(locator)
    }

    const after: string[] = []
    const shards = new Set<number>()
    while (shards.size < 3 && after.length < 60) {
      const body = await createHolder(token, 'After')
      after.push(body.locator)
      shards.add(shardOfUuid(body.locator as Uuid))
    }
    expect(shards).toEqual(new Set([0, 1, 2]))
    const inNew = [1, 2].map(shard => after.find(one => shardOfUuid(one as Uuid) === shard)!)
    const policies: string[] = [old.locator]
    for (const policyholderLocator of inNew) {
      policies.push((await policyOf(policyholderLocator)).locator)
    }
    for (const policy of policies) expect((await tenancy.post(`/policy/${policy}/issue`)).status).toBe(200)

    // Earlier paging tokens continue, with the new records and without duplicates.
    const { rows } = await pages(
      token,
      '/policyholders?pageSize=3',
      page => page.policyholders,
      first.pagingToken,
    )
    const listed = [...first.policyholders, ...rows].map(({ locator }) => locator)
    expect(listed).toEqual([...before, ...after])
    const stream = [...seen.events]
    for (let next = seen.pagingToken; ; ) {
      const page = await callOk<{ events: Body[]; pagingToken: string }>(
        'GET',
        `/eventstream/events?pageSize=20&pagingToken=${encodeURIComponent(next)}`,
        { token },
      )
      if (page.events.length === 0) break
      stream.push(...page.events)
      next = page.pagingToken
    }
    const whole = await pages(token, '/eventstream/events?startTimestamp=0&pageSize=200', page => page.events)
    expect(stream.map(({ id }) => id)).toEqual(whole.rows.map(({ id }) => id))

    // Scheduled events are emitted, and events are delivered, from each shard.
    const { policyStartTimestamp } = plainYear().request.policy as unknown as { policyStartTimestamp: number }
    await callOk('POST', '/test/clock', { token, body: { timestamp: policyStartTimestamp + 20 * DAY_MS } })
    const wanted = before.length + after.length + 2 * policies.length
    const received = await receiver.wait(wanted)
    expect(received.length).toBe(wanted)
    const welcome = await callOk<{ events: Body[] }>(
      'GET',
      '/eventstream/events?startTimestamp=0&eventType=custom.policy.welcome&pageSize=50',
      { token },
    )
    expect(welcome.events.length).toBe(policies.length)

    // A change of something that every shard stores reaches the new ones too.
    await callOk('DELETE', `/event/${tenantLocator}/webhooks/${webhook}`, { token: admin })
    for (const binding of (await tenantOf(tenancy)).shards) {
      const left = await boundDatabase(binding)
        .prepare('select count(*) as n from webhook')
        .first<{ n: number }>()
      expect([binding, left!.n]).toEqual([binding, 0])
    }
  })

  it('carries out a repeated request once, even if the first try is still on its way to the former shard', async () => {
    const tenancy = on('growing')
    const tenant = await tenantOf(tenancy)
    const key = Array.from({ length: 50 }, (_, at) => `somebody:late-${at}`).find(
      one => keyedShards(tenant, one, now()).join() === '1,0',
    )!
    const calls = noCalls()
    const context: RequestContext = {
      env,
      tenant,
      calls,
      caller: SYSTEM_CALLER,
      requestId: newUuid(0),
      now: now(),
      idempotency: { key, bodyHash: 'of the body' },
      later: work => void work,
    }
    const written = (shard: number) =>
      commit({ ...context, requestId: newUuid(shard) }, shardDatabase(env, tenant, shard, calls), {
        shard,
        guards: [],
        facts: [],
        events: [],
        subject: 'x',
        answer: { status: 200, text: `"in ${shard}"` },
      })
    expect(await shardForCreate(context)).toBe(1)
    await expect(written(0)).rejects.toMatchObject({ code: 'versionConflict' })
    expect(await shardForCreate(context)).toBe(1)
    expect(await written(1)).toEqual({ status: 200, text: '"in 1"' })
    expect(await written(1)).toEqual({ status: 200, text: '"in 1"' })
    await expect(written(0)).rejects.toMatchObject({ code: 'versionConflict' })
  })
})
