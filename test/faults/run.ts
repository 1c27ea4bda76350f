// One seeded run inside the runtime: a tenant of its own, clients who live through policies all at once, faults on the way; then
// time passes until nothing is left to do, and everything is read and checked.
import { abortAllDurableObjects, runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { vi } from 'vitest'
import { type Random, randomOf } from '../../scripts/book/random.ts'
import { noCalls } from '../../src/platform/calls.ts'
import type { Uuid } from '../../src/platform/locators.ts'
import {
  dispatcherObject,
  forgetTenants,
  migrationObject,
  readTenant,
  type Tenant,
  webhookObject,
} from '../../src/platform/tenancy.ts'
import { callApi, callOk } from '../support/api.ts'
import { exampleFiles, motorWithoutPapers } from '../support/examples.ts'
import { migratedAccount } from '../support/migrated.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'
import { externallyRated, openRater, register } from '../support/rater.ts'
import type { RaterBehaviour } from '../support/rater-server.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import type { Behaviour } from '../support/receiver-server.ts'
import { storiesOf } from './checker.ts'
import type { Send, Wish } from './client.ts'
import { type Contents, readContents, wholeStream } from './contents.ts'
import { goAhead, inject, wrapBindings } from './injection.ts'
import { type FaultKind, Faults } from './kinds.ts'
import { EVENT_TYPES, type Plan, writeAll } from './writers.ts'

export type Ran = {
  readonly contents: Contents
  /** What was violated, each with its story. */
  readonly stories: readonly string[]
  readonly counts: Readonly<Record<FaultKind, number>>
}

export type World = {
  readonly motor: Motor
  readonly adminToken: string
  readonly tenant: Tenant
  readonly webhook: Uuid
  readonly receiver: Receiver
  /** Counts what the tenant's own services did badly. */
  readonly countMoods: () => Promise<void>
}

/** How often the services of the tenant's own do badly by chance, at most: they are well after so many calls. */
const MOODS = 200

type Mood = 'well' | 'fails' | 'slow'

/** How a service of the tenant's own does, call by call; faults that were called for are counted when all is over. */
class Moods {
  readonly #moods: readonly Mood[]
  readonly #kinds: { fails: FaultKind; slow: FaultKind }

  constructor(faults: Faults, kinds: { fails: FaultKind; slow: FaultKind }) {
    this.#kinds = kinds
    this.#moods = Array.from({ length: MOODS }, (): Mood => {
      if (faults.draws(kinds.fails)) return 'fails'
      return faults.draws(kinds.slow) ? 'slow' : 'well'
    })
  }

  /** What to tell the service, the last for all calls after that. */
  behaviours<B>(of: Readonly<Record<Mood, B>>): B[] {
    return [...this.#moods, 'well' as const].map(mood => of[mood])
  }

  /** Counts those of the first calls. */
  count(faults: Faults, calls: number): void {
    for (const mood of this.#moods.slice(0, calls)) if (mood !== 'well') faults.note(this.#kinds[mood])
  }
}

const SLOW_MS = 150
const RATES = { '*': { yearlyPremium: 120 } }

async function newWorld(plan: Plan, faults: Faults): Promise<World> {
  const plain = plan.hasPapers ? exampleFiles('motor') : motorWithoutPapers()
  const motor = await motorTenant(
    `faults${plan.seed}`,
    plan.isRated ? externallyRated('rates', plain) : plain,
  )
  const adminToken = await motor.signIn('anna.admin')
  const raterMoods = new Moods(faults, { fails: 'raterFails', slow: 'raterSlow' })
  const [well, slow] = [{ rates: RATES }, { rates: RATES, delayMs: SLOW_MS }]
  const rater = await openRater(
    ...raterMoods.behaviours<RaterBehaviour>({ well, slow, fails: { status: 503 } }),
  )
  if (plan.isRated) await register(motor, 'rates', rater)
  const webhookMoods = new Moods(faults, { fails: 'webhookFails', slow: 'webhookSlow' })
  const receiver = await openReceiver(
    ...webhookMoods.behaviours<Behaviour>({
      well: { status: 204 },
      slow: { status: 204, delayMs: SLOW_MS },
      fails: { status: 503 },
    }),
  )
  const webhook = await callOk<{ locator: Uuid }>('POST', `/event/${motor.tenantLocator}/webhooks`, {
    token: adminToken,
    body: {
      name: 'witness',
      enabled: true,
      endpoint: { url: receiver.url, headers: {} },
      failureHandling: {
        triggers: ['5xx', 'timeout'],
        retryStrategy: { type: 'linear', interval: 1, attempts: 10 },
      },
      eventTypes: EVENT_TYPES,
    },
  })
  const tenant = (await readTenant(env, { name: motor.tenantName }, noCalls()))!
  const countMoods = async (): Promise<void> => {
    raterMoods.count(faults, (await rater.calls()).length)
    webhookMoods.count(faults, (await receiver.received()).length)
  }
  return { motor, adminToken, tenant, webhook: webhook.locator, receiver, countMoods }
}

const sendAs =
  (token: string): Send =>
  async ({ method, path, body, headers }) => {
    const answer = await callApi(method, path, { token, body, headers: { ...headers } })
    return {
      status: answer.status,
      requestId: answer.headers.get('x-request-id') ?? undefined,
      body: answer.body,
    }
  }

/** Ends all objects at once, as a process that dies does. */
async function resetObjects(random: Random, faults: Faults): Promise<void> {
  await scheduler.wait(random.between(100, 1_500))
  if (!faults.has('objectsReset')) return
  faults.note('objectsReset')
  await abortAllDurableObjects()
}

const ROUNDS = 60
const STEP_MS = 61_000

type Counts = { deliveries: number; jobs: number; timers: number; accounts: number; failed: string }

async function left({ tenant }: World, at: number): Promise<Counts> {
  const client = (env as unknown as Record<string, D1Database>)[tenant.shards[0]!]!
  return (await client
    .prepare(
      `select (select count(*) from delivery where state in ('pending', 'waiting')) as deliveries,
        (select count(*) from document_job) as jobs,
        (select count(*) from timer where due_at <= ?) as timers,
        (select count(*) from migration_account where state in ('pending', 'processing')) as accounts,
        (select coalesce(group_concat(locator), '') from migration_run where state in ('error', 'failed')) as failed`,
    )
    .bind(at)
    .first<Counts>())!
}

/** Lets time pass, a minute at a time, until nothing that is due is left; whoever has an alarm is woken by it. */
async function settle(world: World): Promise<void> {
  const { tenant, webhook, adminToken: token } = world
  const client = (env as unknown as Record<string, D1Database>)[tenant.shards[0]!]!
  for (let round = 1; round <= ROUNDS; round += 1) {
    goAhead(round * STEP_MS)
    forgetTenants()
    const runs = await client.prepare('select locator from migration_run').all<{ locator: Uuid }>()
    const objects = [
      dispatcherObject(env, tenant, 0),
      webhookObject(env, tenant, 0, webhook),
      ...runs.results.map(({ locator }) => migrationObject(env, tenant, locator)),
    ] as unknown as DurableObjectStub[]
    for (const object of objects) await runDurableObjectAlarm(object).catch(() => undefined)
    await scheduler.wait(20)
    const now = (await readTenant(env, { name: tenant.name }, noCalls()))!
    const { failed, ...counts } = await left(world, Date.now() + now.clockOffsetMs)
    for (const locator of failed.split(',').filter(one => one !== ''))
      await callApi('PATCH', `/migration/${tenant.locator}/migrations/${locator}/recover`, { token })
    if (failed === '' && Object.values(counts).every(count => count === 0)) return
  }
}

/** Carries the run out. `look` sees the tenant before it is given up. */
export async function run(
  plan: Plan,
  look: (read: () => Promise<Contents>, world: World) => Promise<void> = async () => {},
): Promise<Ran> {
  await wrapBindings()
  goAhead(0)
  const faults = new Faults(randomOf(`faults ${plan.seed}`), plan.kinds)
  const world = await newWorld(plan, faults)
  const ledger: Wish[] = []
  // The service tells of each fault: thousands of lines that nobody reads.
  const quiet = (['error', 'warn', 'log'] as const).map(name =>
    vi.spyOn(console, name).mockImplementation(() => {}),
  )
  try {
    inject(faults)
    const { policyholder, policy } = plainYear().request
    const writing = writeAll({
      plan,
      tenantLocator: world.motor.tenantLocator,
      agent: sendAs(world.motor.token),
      admin: sendAs(world.adminToken),
      samples: { policyholder, policy },
      accounts: Array.from({ length: plan.accounts }, (_, at) => migratedAccount(`${plan.seed}-${at}`)),
      faults,
      ledger,
      patience: { tries: 5, waitMs: 60 },
    })
    await Promise.all([writing, resetObjects(randomOf(`reset ${plan.seed}`), faults)])
    faults.end()
    inject(undefined)
    await settle(world)
  } finally {
    inject(undefined)
    for (const spy of quiet) spy.mockRestore()
  }
  const read = async (): Promise<Contents> => {
    const tenant = (await readTenant(env, { name: world.tenant.name }, noCalls()))!
    const { tenantName } = world.motor
    const token = await world.motor.signIn('alice.agent')
    const get = <Body>(path: string): Promise<Body> => callOk('GET', path, { token })
    return await readContents({
      env,
      tenant,
      ledger,
      get,
      stream: () => wholeStream(get),
      posts: async () =>
        (await world.receiver.received()).map(one => one.headers['webhook-id'] ?? tenantName),
    })
  }
  await world.countMoods()
  const contents = await read()
  const stories = storiesOf(contents)
  await look(read, world)
  goAhead(0)
  return { contents, stories, counts: faults.counts }
}
