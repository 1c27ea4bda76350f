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
import { storyOf, violationsOf } from './checker.ts'
import { Client, type Send, type Wish } from './client.ts'
import { type Contents, readContents } from './contents.ts'
import { goAhead, inject, wrapBindings } from './injection.ts'
import { live, newPolicyholder, type Samples } from './journey.ts'
import { FAULT_KINDS, type FaultKind, Faults } from './kinds.ts'

/** What a run is made of; the same for the same seed. */
export type Plan = {
  readonly seed: number
  readonly policies: number
  readonly steps: number
  readonly isRated: boolean
  readonly hasPapers: boolean
  readonly accounts: number
  readonly kinds: readonly FaultKind[]
}

/** `isShort`: as much as a run of `npm test` has time for. */
export function planOf(seed: number, isShort = false): Plan {
  const random = randomOf(`plan ${seed}`)
  return {
    seed,
    policies: isShort ? 2 : random.between(2, 4),
    steps: isShort ? 6 : random.between(8, 14),
    isRated: random.chance(0.4),
    hasPapers: random.chance(0.15),
    accounts: random.between(0, 3),
    kinds: FAULT_KINDS.filter(() => random.chance(0.8)),
  }
}

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

const EVENT_TYPES = ['policy', 'policyholder', 'endorsement', 'renewal', 'cancellation', 'reinstatement']
  .concat(['invoice', 'payment', 'document', 'migration'])
  .map(name => `${name}.*`)

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

/** Moves the clock on by some days, in which installments are invoiced and fall due. */
async function moveClock(client: Client, days: number, faults: Faults): Promise<void> {
  if (!faults.has('clockMoved')) return
  faults.note('clockMoved')
  const body = { advance: { amount: days, unit: 'day' } }
  await client.wish('move clock', undefined, { method: 'POST', path: '/test/clock', body })
}

/** Moves the clock on several times while the others write. */
async function letTimePass(client: Client, random: Random, faults: Faults): Promise<void> {
  for (let times = 0; times < 3; times += 1) {
    await scheduler.wait(random.between(200, 700))
    await moveClock(client, random.between(1, 40), faults)
  }
}

/** Ends all objects at once, as a process that dies does. */
async function resetObjects(random: Random, faults: Faults): Promise<void> {
  await scheduler.wait(random.between(100, 1_500))
  if (!faults.has('objectsReset')) return
  faults.note('objectsReset')
  await abortAllDurableObjects()
}

async function writeAll(plan: Plan, world: World, faults: Faults, ledger: Wish[]): Promise<void> {
  const { motor, adminToken } = world
  const { policyholder, policy } = plainYear().request
  const samples: Samples = { policyholder, policy }
  const client = new Client(sendAs(motor.token), faults, ledger)
  const admin = new Client(sendAs(adminToken), faults, ledger)
  const randomFor = (name: string): Random => randomOf(`${name} ${plan.seed}`)
  // Two policies have one policyholder: what one of them is paid too much is credit of the other.
  const couples = Array.from({ length: Math.ceil(plan.policies / 2) }, async (_, couple) => {
    const holder = await newPolicyholder(client, samples)
    if (holder === undefined) return
    const mine = Math.min(2, plan.policies - couple * 2)
    await Promise.all(
      Array.from({ length: mine }, (_, at) =>
        live(client, randomFor(`policy ${couple} ${at}`), samples, holder, plan.steps),
      ),
    )
  })
  const migrate = async (): Promise<void> => {
    if (plan.accounts === 0) return
    const body = Array.from({ length: plan.accounts }, (_, at) => migratedAccount(`${plan.seed}-${at}`))
    const path = `/migration/${motor.tenantLocator}/migrations`
    await admin.wish('migrate', undefined, { method: 'POST', path, body })
  }
  await Promise.all([
    ...couples,
    letTimePass(client, randomFor('clock'), faults),
    resetObjects(randomFor('reset'), faults),
    migrate(),
  ])
  // So far that what is not paid has lapsed.
  await moveClock(client, 90, faults)
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
    await writeAll(plan, world, faults, ledger)
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
    return await readContents({
      env,
      tenant,
      ledger,
      get: path => callOk('GET', path, { token }),
      posts: async () =>
        (await world.receiver.received()).map(one => one.headers['webhook-id'] ?? tenantName),
    })
  }
  await world.countMoods()
  const contents = await read()
  const stories = violationsOf(contents).map(one => storyOf(contents, one))
  await look(read, world)
  goAhead(0)
  return { contents, stories, counts: faults.counts }
}
