// The same journeys against the service as a process of its own, which is killed under them and started again; webhooks fail
// meanwhile. Small runs of it are test/journeys/kill.process.test.ts and webhooks.process.test.ts; this is of `npm run faults`.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { apiClient, signIn } from '../../scripts/api-client.ts'
import { AS_OF } from '../../scripts/book/account.ts'
import { randomOf } from '../../scripts/book/random.ts'
import { accountsOf } from '../../scripts/book/requests.ts'
import { openStores } from '../../scripts/databases.ts'
import { testUsers, workedPolicies } from '../../scripts/example.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { readTenant } from '../../src/platform/tenancy.ts'
import { bareArchive } from '../support/bare-archive.ts'
import { type Box, type MoodyReceiver, startMoodyReceiver } from '../support/moody-receiver.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { storiesOf } from './checker.ts'
import type { Send, Wish } from './client.ts'
import { readContents, type Streamed, wholeStream } from './contents.ts'
import { figuresOf } from './figures.ts'
import { Faults } from './kinds.ts'
import { EVENT_TYPES, planOf, writeAll } from './writers.ts'

const { runs = 0, seed: first = 1 } = inject('faults')

/** Tenants whose clients write at once while the service is killed; more come after them. */
const AT_ONCE = 5
const KILLS = 3
const ACCOUNTS = 3
/** A hint that is lost costs a minute, a claim that is cut off half of one; and several may come together. */
const LONGEST_WAIT_MS = 420_000

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
  readonly seed: number
  readonly tenantLocator: string
  readonly agent: string
  readonly admin: string
  readonly box: Box
  readonly ledger: Wish[]
  readonly faults: Faults
}

const tokenOf = async (hostName: string, role: string): Promise<string> => {
  const { username, password } = testUsers().find(({ roles }) => roles.includes(role))!
  return (await signIn(service.origin, { username, password, hostName })).token
}

async function newTenant(seed: number): Promise<Tenant> {
  const form = new FormData()
  form.set('tenantNameSuffix', `faults${seed}`)
  form.set('zipFile', bareArchive(), 'motor.zip')
  const administration = await service.administration()
  const { tenantLocator, hostname } = await administration.call<{ tenantLocator: string; hostname: string }>(
    'POST',
    '/configuration/deployTest',
    form,
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
  const faults = new Faults(randomOf(`faults ${seed}`))
  return {
    seed,
    tenantLocator,
    agent,
    admin,
    box: receiver.open(path, endpoint.secret),
    ledger: [],
    faults,
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

const write = ({ seed, tenantLocator, agent, admin, ledger, faults }: Tenant): Promise<void> =>
  writeAll({
    plan: planOf(seed),
    tenantLocator,
    agent: sendAs(agent),
    admin: sendAs(admin),
    samples: { policyholder, policy },
    accounts: [...accountsOf({ accounts: ACCOUNTS, seed: String(seed), asOf: AS_OF })].map(
      ({ account }) => account,
    ),
    faults,
    ledger,
    // As long as a start takes, and longer.
    patience: { tries: 60, waitMs: 600 },
  })

async function kill(tenants: readonly Tenant[]): Promise<void> {
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(chance.between(500, 4_000))
    await service.kill9()
    for (const { faults } of tenants) faults.note('processKilled')
    await service.start()
  }
}

const streamOf = ({ agent }: Tenant): Promise<Streamed[]> =>
  wholeStream(path => apiClient(service.origin, agent).call('GET', path))

type Migrations = { listCompleted: boolean; items: { locator: string; migrationState: string }[] }

/** Whether nothing is left to do; migrations that gave up are told to go on. */
async function isSettled(tenant: Tenant): Promise<boolean> {
  const admin = apiClient(service.origin, tenant.admin)
  const root = `/migration/${tenant.tenantLocator}/migrations`
  const { items } = await admin.call<Migrations>('GET', `${root}/list`)
  for (const { locator, migrationState } of items)
    if (migrationState === 'error') await admin.call('PATCH', `${root}/${locator}/recover`)
  if (items.some(one => one.migrationState !== 'finished')) return false
  const events = (await streamOf(tenant)).filter(({ type }) => !type.startsWith('login.'))
  return events.every(({ id }) => tenant.box.taken.has(id))
}

async function settle(tenants: readonly Tenant[]): Promise<void> {
  const until = Date.now() + LONGEST_WAIT_MS
  // Of timers that failed, the next look may be a minute away.
  await sleep(65_000)
  for (const tenant of tenants)
    while (Date.now() < until && !(await isSettled(tenant).catch(() => false))) await sleep(500)
}

/** What GET answers of each policy, while the service runs: it is stopped to be read. */
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

// Skipped where nobody asks for runs: `npm run faults` does.
it
  .runIf(runs > 0)
  .each(Array.from({ length: Math.max(1, Math.ceil(runs / AT_ONCE)) }, (_, at) => [first + at * AT_ONCE]))(
  'killed three times under load, nothing is lost, done twice or done by half: seeds from %i',
  async seed => {
    const count = Math.min(AT_ONCE, first + runs - seed)
    const tenants: Tenant[] = []
    for (let at = 0; at < count; at += 1) tenants.push(await newTenant(seed + at))
    await Promise.all([...tenants.map(write), kill(tenants)])
    for (const { faults } of tenants) faults.end()
    await settle(tenants)
    const streams = new Map<Tenant, Streamed[]>()
    const answers = new Map<Tenant, Map<string, unknown>>()
    for (const tenant of tenants) {
      streams.set(tenant, await streamOf(tenant))
      answers.set(tenant, await answersOf(tenant))
    }
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
        })
        const found = storiesOf(contents)
        const figures = figuresOf(one.seed, contents, found, faults.counts)
        console.log(`faults: ${JSON.stringify({ ...figures, repeats: box.repeats })}`)
        stories.push(...found.map(story => `seed ${one.seed}: ${story}`))
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
