// Webhooks under adverse conditions: the receiver fails, does not respond and is stopped, and the service is killed as well.
// Every event of the stream arrives, only at its own tenant, signed, and in the order of its policy.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../client/index.ts'
import { apiClient, signIn } from '../../scripts/api-client.ts'
import { deployTestTenant, testUsers } from '../../scripts/example.ts'
import { bareArchive } from '../support/bare-archive.ts'
import { type Box, type MoodyReceiver, startMoodyReceiver } from '../support/moody-receiver.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { measured, size } from '../support/sizes.ts'
import { type Caller, KINDS, liveOnce, TRANSACTIONS_OF_A_LIFE } from './policy-life.ts'

const TENANTS = ['north', 'south']
const WRITERS_OF_A_TENANT = 4
/** Minimum number of transactions of both tenants together. */
const TRANSACTIONS = size(60, 5_000)

/**
 * Events of one policy are sent one after the other, so their delays add up: a second or more for each failure, and 15 for each
 * post without a response. The small size has as many of these as fit into a minute.
 */
const MOOD = {
  failing: 0.3,
  silent: 0.05,
  mostOfOne: size(1, 4),
  mostSilent: size(3, Number.POSITIVE_INFINITY),
}
const LIVES_OF_A_TENANT = Math.ceil(TRANSACTIONS / TRANSACTIONS_OF_A_LIFE / TENANTS.length)

const STOPPED_MS = 3_000
/** Time within which everything must arrive. */
const LONGEST_WAIT_MS = size(300_000, 1_800_000)

type Tenant = { name: string; tenantLocator: string; hostname: string; webhook: string; box: Box }

let service: ServiceProcess
let receiver: MoodyReceiver
let tenants: Tenant[]
let deployed: Omit<Tenant, 'box' | 'webhook'>[]

/** Returns numbers from 0 to 1, the same in every run (mulberry32). */
function seededChance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const chance = seededChance(20_261_122)

beforeAll(async () => {
  receiver = await startMoodyReceiver(MOOD, chance)
  service = await startServiceProcess()
  const administration = await service.administration()
  deployed = []
  for (const name of TENANTS) {
    const { tenantLocator, hostname } = await deployTestTenant(administration, name, bareArchive())
    deployed.push({ name, tenantLocator, hostname })
  }
})

afterAll(async () => {
  receiver?.close()
  await service?.remove()
})

async function tokenOf(hostname: string, role: string): Promise<string> {
  const { username, password } = testUsers().find(({ roles }) => roles.includes(role))!
  return (await signIn(service.origin, { username, password, hostName: hostname })).token
}

/** Creates a webhook for all types for each tenant, with a separate box. */
async function subscribe(purpose: string): Promise<void> {
  tenants = []
  for (const tenant of deployed) {
    const admin = apiClient(service.origin, await tokenOf(tenant.hostname, 'admin'))
    const path = `/${purpose}-${tenant.name}`
    const { locator, endpoint } = await admin.call<{ locator: string; endpoint: { secret: string } }>(
      'POST',
      `/event/${tenant.tenantLocator}/webhooks`,
      {
        name: `witness ${purpose}`,
        enabled: true,
        endpoint: { url: receiver.urlOf(path), headers: {} },
        failureHandling: {
          triggers: ['5xx', 'timeout'],
          retryStrategy: { type: 'exponential', interval: 1, attempts: 10 },
        },
        eventTypes: ['policyholder.*', 'policy.*', 'endorsement.*', 'renewal.*', 'cancellation.*'].concat([
          'reinstatement.*',
          'invoice.*',
          'payment.*',
          'login.*',
        ]),
      },
    )
    tenants.push({ ...tenant, webhook: locator, box: receiver.open(path, endpoint.secret) })
  }
}

async function unsubscribe(): Promise<void> {
  for (const { hostname, tenantLocator, webhook } of tenants) {
    const admin = apiClient(service.origin, await tokenOf(hostname, 'admin'))
    await admin.call('DELETE', `/event/${tenantLocator}/webhooks/${webhook}`)
  }
}

/** Retries for longer than the service is down. */
const PATIENT = { attempts: 1_000, firstWaitMs: 100, longestWaitMs: 2_000 }

/**
 * Calls until there is a response. After an outage the client retries under the same key, so that nothing is done twice. A
 * rejection fails the test.
 */
function patient(hostName: string): Caller {
  const { username, password } = testUsers().find(({ roles }) => roles.includes('agent'))!
  const signIn = { username, password, hostName }
  const { api } = createClient({ baseUrl: service.origin, signIn, retry: PATIENT })
  return async (method, path, body) => {
    const { data } = await api.request(method.toLowerCase() as 'post', path as never, { body } as never)
    return data
  }
}

/** Runs lives for every tenant. The interruptions run in between, evenly spread over the transactions. */
async function write(interruptions: readonly (() => Promise<void>)[]): Promise<Map<string, number>> {
  const acknowledged = new Map<string, number>()
  let count = 0
  const acknowledge = (kind: string): void => {
    count += 1
    acknowledged.set(kind, (acknowledged.get(kind) ?? 0) + 1)
  }
  const all = LIVES_OF_A_TENANT * TENANTS.length * TRANSACTIONS_OF_A_LIFE
  const interrupt = async (): Promise<void> => {
    for (const [at, interruption] of interruptions.entries()) {
      while (count < ((at + 1) * all) / (interruptions.length + 1)) await sleep(20)
      await interruption()
    }
  }
  const writers = tenants.flatMap(({ hostname }) => {
    const lives = Array.from({ length: LIVES_OF_A_TENANT }).values()
    return Array.from({ length: WRITERS_OF_A_TENANT }, async () => {
      const call = patient(hostname)
      for (const _ of lives) await liveOnce(call, acknowledge)
    })
  })
  await Promise.all([interrupt(), ...writers])
  return acknowledged
}

type Streamed = { id: string; type: string; data: Record<string, string> }

/** Reads the tenant's whole stream from that time on. */
async function streamOf({ hostname }: Tenant, since: number): Promise<Streamed[]> {
  const client = apiClient(service.origin, await tokenOf(hostname, 'agent'))
  const events: Streamed[] = []
  let query = `startTimestamp=${since}&pageSize=1000`
  for (;;) {
    const page = await client.call<{ events: Streamed[]; pagingToken: string }>(
      'GET',
      `/eventstream/events?${query}`,
    )
    if (page.events.length === 0) return events
    events.push(...page.events)
    query = `pagingToken=${encodeURIComponent(page.pagingToken)}`
  }
}

const ofPolicies = <E extends { data: Record<string, string> }>(events: readonly E[]): Map<string, E[]> =>
  Map.groupBy(
    events.filter(({ data }) => data.policyLocator !== undefined),
    ({ data }) => data.policyLocator!,
  )

/** Waits until everything has arrived, and compares it with the stream. */
async function holdAgainstStream(since: number): Promise<{ events: number; posts: number; repeats: number }> {
  const sum = { events: 0, posts: 0, repeats: 0 }
  for (const tenant of tenants) {
    const { box } = tenant
    const begun = performance.now()
    // Signing in to read the stream is also an event.
    const streamed = await streamOf(tenant, since)
    const missing = (): Streamed[] => streamed.filter(({ id }) => !box.taken.has(id))
    while (missing().length > 0 && performance.now() - begun < LONGEST_WAIT_MS) await sleep(200)
    expect(missing()).toEqual([])

    const others = tenants.filter(other => other !== tenant).map(other => other.box)
    const own = new Set(streamed.map(({ id }) => id))
    for (const other of others) expect(other.arrivals.filter(({ id }) => own.has(id))).toEqual([])
    expect(box.refused).toBe(0)

    const arrived = ofPolicies(box.arrivals)
    for (const [policy, events] of ofPolicies(streamed)) {
      const ids = (arrived.get(policy) ?? []).map(({ id }) => id)
      expect(ids).toEqual(events.map(({ id }) => id))
      const sequences = arrived.get(policy)!.map(({ sequence }) => sequence)
      expect(sequences).toEqual([...sequences].sort((a, b) => a - b))
    }
    sum.events += streamed.length
    sum.posts += box.posts
    sum.repeats += box.repeats
  }
  return sum
}

/** Stops the receiver, which does not affect the writers. */
const stop = async (): Promise<void> => await receiver.stopFor(STOPPED_MS)

const kill = async (): Promise<void> => {
  await sleep(chance() * 500)
  await service.kill9()
  await service.start()
}

const MOODY = { purpose: 'moody', happens: 'stopped twice', interruptions: [stop, stop] }
const KILLED = {
  purpose: 'killed',
  happens: size('stopped, with the service killed', 'stopped twice, with the service killed twice'),
  interruptions: size([stop, kill], [stop, kill, stop, kill]),
}

// The run with kills also stops the receiver.
describe.each(size([KILLED], [MOODY, KILLED]))(
  'Webhooks with a receiver that fails 30 %, does not respond to 5 %, and is $happens',
  ({ purpose, interruptions }) => {
    test(
      'deliver every event of the stream, only to its tenant, signed, in the order of its policy',
      async () => {
        await subscribe(purpose)
        // The sign-in that created the webhook was before it.
        const since = Date.now()
        const begun = performance.now()
        const acknowledged = await write(interruptions)
        expect(new Set(acknowledged.keys())).toEqual(KINDS)
        expect(KINDS.size).toBeGreaterThanOrEqual(20)
        const { events, posts, repeats } = await holdAgainstStream(since)
        const transactions = [...acknowledged.values()].reduce((sum, one) => sum + one)
        const seconds = (performance.now() - begun) / 1000
        await unsubscribe()
        measured(`webhooks, ${purpose}: transactions`, transactions, 'transactions')
        measured(`webhooks, ${purpose}: events, all of which arrived`, events, 'events')
        measured(`webhooks, ${purpose}: posts`, posts, 'posts')
        measured(`webhooks, ${purpose}: events that arrived again after they were taken`, repeats, 'posts')
        measured(`webhooks, ${purpose}: until all had arrived`, Math.round(seconds), 's')
      },
      LONGEST_WAIT_MS * 2,
    )
  },
)
