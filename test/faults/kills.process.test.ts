// The same journeys against the service as a separate process, which is killed and restarted during them while webhooks fail.
// test/journeys/kill.process.test.ts and webhooks.process.test.ts are small runs of this; `npm run faults` runs this file.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { apiClient, signIn } from '../../scripts/api-client.ts'
import { openStores } from '../../scripts/databases.ts'
import { deployTestTenant, testUsers, workedPolicies } from '../../scripts/example.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { readTenant } from '../../src/platform/tenancy.ts'
import { AS_OF } from '../../tools/book/account.ts'
import { randomOf } from '../../tools/book/random.ts'
import { accountsOf } from '../../tools/book/requests.ts'
import { bareArchive } from '../support/bare-archive.ts'
import { type Box, type MoodyReceiver, startMoodyReceiver } from '../support/moody-receiver.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { storiesOf } from './checker.ts'
import type { Send, Wish } from './client.ts'
import { readContents, type Streamed, wholeStream } from './contents.ts'
import { figuresOf } from './figures.ts'
import { Faults } from './kinds.ts'
import { EVENT_TYPES, type Plan, planOf, writeAll } from './writers.ts'

const { runs = 0, seed: first = 1 } = inject('faults')

/**
 * Tenants whose clients write simultaneously while the service is killed; the others follow in later batches. Up to three of the 64
 * databases each.
 */
const AT_ONCE = 20
const KILLS = 3
/** A lost hint costs a minute, an interrupted claim half a minute, and several may coincide. */
const LONGEST_WAIT_MS = 420_000
/** Databases of a tenant that grows. */
const GROWN = 3
/** The time after which scripts/tenant.ts opens new databases to new policyholders. */
const OPEN_AFTER_MS = 11_000

let service: ServiceProcess
let receiver: MoodyReceiver
const chance = randomOf(`moods ${first}`)

beforeAll(async () => {
  if (runs === 0) return
  receiver = await startMoodyReceiver({ failing: 0.15, silent: 0.01, mostOfOne: 3, mostSilent: 5 }, () =>
    chance.next(),
  )
  service = await startServiceProcess()
}, 300_000)

afterAll(async () => {
  receiver?.close()
  await service?.remove()
})

type Tenant = {
  readonly plan: Plan
  readonly tenantName: string
  readonly tenantLocator: string
  readonly agent: string
  readonly admin: string
  readonly box: Box
  readonly ledger: Wish[]
  readonly faults: Faults
  isWritten: boolean
}

/** The same plan as inside the runtime, except for what takes a process too long: no documents, and one database at first. */
function killedPlan(seed: number): Plan {
  const plan = planOf(seed)
  const grows = plan.shards.to > plan.shards.from
  return { ...plan, isRated: false, hasPapers: false, shards: { from: 1, to: grows ? GROWN : 1 } }
}

const tokenOf = async (hostName: string, role: string): Promise<string> => {
  const { username, password } = testUsers().find(({ roles }) => roles.includes(role))!
  return (await signIn(service.origin, { username, password, hostName })).token
}

async function newTenant(plan: Plan): Promise<Tenant> {
  const { seed } = plan
  const administration = await service.administration()
  const { tenantName, tenantLocator, hostname } = await deployTestTenant(
    administration,
    `faults${seed}`,
    bareArchive(),
  )
  const [agent, admin] = [await tokenOf(hostname, 'agent'), await tokenOf(hostname, 'admin')]
  const path = `/${seed}`
  const { endpoint } = await apiClient(service.origin, admin).call<{ endpoint: { secret: string } }>(
    'POST',
    `/event/${tenantLocator}/webhooks`,
    {
      name: 'witness',
      enabled: true,
      endpoint: { url: receiver.urlOf(path), headers: {} },
      failureHandling: {
        triggers: ['5xx', 'timeout'],
        retryStrategy: { type: 'linear', interval: 1, attempts: 10 },
      },
      eventTypes: EVENT_TYPES,
    },
  )
  return {
    plan,
    tenantName,
    tenantLocator,
    agent,
    admin,
    box: receiver.open(path, endpoint.secret),
    ledger: [],
    faults: new Faults(randomOf(`faults ${seed}`), plan.kinds),
    isWritten: false,
  }
}

const sendAs =
  (token: string): Send =>
  async ({ method, path, body, headers }) => {
    const form = body instanceof FormData
    const response = await fetch(`${service.origin}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && !form && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : form ? body : JSON.stringify(body),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') ?? false
    return {
      status: response.status,
      requestId: response.headers.get('x-request-id') ?? undefined,
      body: isJson && text !== '' ? JSON.parse(text) : text,
    }
  }

const { policyholder, policy } = workedPolicies()[0]!.request

/** Adds databases to the tenant like an operator, while the service is killed and restarted. */
async function grow(tenantName: string): Promise<void> {
  const growing = spawn(process.execPath, ['scripts/tenant.ts', 'shards', tenantName, String(GROWN)], {
    stdio: 'ignore',
    env: { ...process.env, BINDERY_DATA: service.dataFolder },
  })
  const [code] = (await once(growing, 'exit')) as [number | null]
  if (code !== 0) return await grow(tenantName)
  await sleep(OPEN_AFTER_MS)
}

async function write(tenant: Tenant): Promise<void> {
  const { plan, tenantLocator, agent, admin, ledger, faults } = tenant
  const all = plan.accounts.reduce((sum, count) => sum + count, 0)
  const accounts = [...accountsOf({ accounts: all, seed: String(plan.seed), asOf: AS_OF })]
  await writeAll({
    plan,
    tenantLocator,
    agent: sendAs(agent),
    admin: sendAs(admin),
    samples: { policyholder, policy },
    migrations: plan.accounts.map(count => accounts.splice(0, count).map(({ account }) => account)),
    ...(plan.shards.to > plan.shards.from && { grow: () => grow(tenant.tenantName) }),
    faults,
    ledger,
    // Longer than a start takes on a busy machine.
    patience: { tries: 120, waitMs: 1_500 },
  })
  tenant.isWritten = true
}

async function kill(tenants: readonly Tenant[]): Promise<void> {
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(chance.between(500, 4_000))
    await service.kill9()
    for (const { faults, isWritten } of tenants) if (!isWritten) faults.note('processKilled')
    await service.start()
  }
}

const streamOf = ({ agent, tenantLocator }: Tenant): Promise<Streamed[]> =>
  wholeStream(path => apiClient(service.origin, agent).call('GET', path), tenantLocator)

/** Whether nothing is left to do. Resumes migrations that gave up. */
async function isSettled(tenant: Tenant): Promise<boolean> {
  const admin = apiClient(service.origin, tenant.admin)
  const events = (await streamOf(tenant)).filter(({ type }) => !type.startsWith('login.'))
  const locators = new Set(events.flatMap(({ data }) => data?.migrationLocator ?? []))
  let areMigrated = true
  for (const locator of locators) {
    const path = `/migration/${tenant.tenantLocator}/migrations/${locator}`
    const { migrationState } = await admin.call<{ migrationState: string }>('GET', path)
    if (migrationState === 'error') await admin.call('PATCH', `${path}/recover`)
    areMigrated &&= migrationState === 'finished'
  }
  return areMigrated && events.every(({ id }) => tenant.box.taken.has(id))
}

async function settle(tenants: readonly Tenant[]): Promise<void> {
  const until = Date.now() + LONGEST_WAIT_MS
  // After a failure, a timer may be tried again only a minute later.
  await sleep(65_000)
  for (const tenant of tenants)
    while (Date.now() < until && !(await isSettled(tenant).catch(() => false))) await sleep(500)
}

/** The response to a GET of each policy. Read while the service runs, because it is stopped before its data is read. */
async function answersOf(tenant: Tenant): Promise<Map<string, unknown>> {
  const client = apiClient(service.origin, tenant.agent)
  const answers = new Map<string, unknown>()
  let query = 'pageSize=100'
  for (;;) {
    const page = await client.call<{ policies: { locator: string }[]; pagingToken?: string }>(
      'GET',
      `/policies?${query}`,
    )
    for (const { locator } of page.policies)
      answers.set(`/policy/${locator}`, await client.call('GET', `/policy/${locator}`))
    if (page.pagingToken === undefined || page.policies.length === 0) return answers
    query = `pageSize=100&pagingToken=${encodeURIComponent(page.pagingToken)}`
  }
}

// Skipped unless runs are requested, as `npm run faults` does.
it
  .runIf(runs > 0)
  .each(Array.from({ length: Math.max(1, Math.ceil(runs / AT_ONCE)) }, (_, at) => [first + at * AT_ONCE]))(
  'a service killed three times under load loses nothing and does nothing twice or by half: seeds from %i',
  async seed => {
    const count = Math.min(AT_ONCE, first + runs - seed)
    const tenants: Tenant[] = []
    for (let at = 0; at < count; at += 1) tenants.push(await newTenant(killedPlan(seed + at)))
    await Promise.all([...tenants.map(write), kill(tenants)])
    for (const { faults } of tenants) faults.end()
    await settle(tenants)
    const streams = new Map<Tenant, Streamed[]>()
    const answers = new Map<Tenant, Map<string, unknown>>()
    for (const tenant of tenants) {
      streams.set(tenant, await streamOf(tenant))
      answers.set(tenant, await answersOf(tenant))
    }
    const ranUntil = Date.now()
    await service.stop()
    const stores = await openStores(service.dataFolder)
    const stories: string[] = []
    try {
      for (const one of tenants) {
        const { tenantLocator, box, ledger, faults } = one
        const tenant = (await readTenant(stores.env, { locator: tenantLocator }, noCalls()))!
        const contents = await readContents({
          env: stores.env,
          tenant,
          ledger,
          stream: async () => streams.get(one)!,
          get: async <Body>(path: string) => answers.get(one)!.get(path) as Body,
          posts: async () => box.arrivals.map(({ id }) => id),
          ranUntil,
        })
        const found = storiesOf(contents)
        const figures = figuresOf(one.plan, contents, found, faults.counts)
        console.log(`faults: ${JSON.stringify({ ...figures, repeats: box.repeats })}`)
        stories.push(...found.map(story => `seed ${one.plan.seed}: ${story}`))
      }
    } finally {
      await stores.close()
    }
    expect(stories).toEqual([])
    expect(tenants.map(({ box }) => box.refused)).toEqual(tenants.map(() => 0))
    await service.start()
  },
  LONGEST_WAIT_MS * 3,
)
