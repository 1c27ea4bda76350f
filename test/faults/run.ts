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
import { type FaultKind, Faults, FAULT_KINDS } from './kinds.ts'

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

export function planOf(seed: number): Plan {
  const random = randomOf(`plan ${seed}`)
  return {
    seed,
    policies: random.between(2, 4),
    steps: random.between(8, 14),
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

export type World = { readonly motor: Motor; readonly tenant: Tenant; readonly webhook: Uuid; readonly receiver: Receiver }

const EVENT_TYPES = ['policy', 'policyholder', 'endorsement', 'renewal', 'cancellation', 'reinstatement']
  .concat(['invoice', 'payment', 'document', 'migration'])
  .map(name => `${name}.*`)

/** How often the services of the tenant's own are asked, at least: they are well after that. */
const BEHAVIOURS = 200

function webhookBehaviours(faults: Faults): Behaviour[] {
  const bad = Array.from({ length: BEHAVIOURS }, (): Behaviour => {
    if (faults.comes('webhookFails')) return { status: 503 }
    return faults.comes('webhookSlow') ? { status: 204, delayMs: faults.wait(300) } : { status: 204 }
  })
  return [...bad, { status: 204 }]
}

const RATES = { '*': { yearlyPremium: 120 } }

function raterBehaviours(faults: Faults): RaterBehaviour[] {
  const bad = Array.from({ length: BEHAVIOURS }, (): RaterBehaviour => {
    if (faults.comes('raterFails')) return { status: 503 }
    return faults.comes('raterSlow') ? { rates: RATES, delayMs: faults.wait(300) } : { rates: RATES }
  })
  return [...bad, { rates: RATES }]
}

async function newWorld(plan: Plan, faults: Faults): Promise<World> {
  const plain = plan.hasPapers ? exampleFiles('motor') : motorWithoutPapers()
  const motor = await motorTenant(`faults${plan.seed}`, plan.isRated ? externallyRated('rates', plain) : plain)
  if (plan.isRated) await register(motor, 'rates', await openRater(...raterBehaviours(faults)))
  const receiver = await openReceiver(...webhookBehaviours(faults))
  const webhook = await callOk<{ locator: Uuid }>('POST', `/event/${motor.tenantLocator}/webhooks`, {
    token: await motor.signIn('anna.admin'),
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
  return { motor, tenant, webhook: webhook.locator, receiver }
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

/** Moves the clock on, several times while the others write. */
async function moveClock(client: Client, random: Random, faults: Faults): Promise<void> {
  for (let times = 0; times < 3; times += 1) {
    await scheduler.wait(random.between(100, 500))
    if (!faults.has('clockMoved')) return
    faults.note('clockMoved')
    const amount = random.between(1, 50)
    await client.wish('move clock', undefined, {
      method: 'POST',
      path: '/test/clock',
      body: { advance: { amount, unit: 'day' } },
    })
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
  const { motor } = world
  const { policyholder, policy } = plainYear().request
  const samples: Samples = { policyholder, policy }
  const client = new Client(sendAs(motor.token), faults, ledger)
  const admin = new Client(sendAs(await motor.signIn('anna.admin')), faults, ledger)
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
    moveClock(client, randomFor('clock'), faults),
    resetObjects(randomFor('reset'), faults),
    migrate(),
  ])
}

const info = console.info
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
        (select count(*) from migration_account where state not in ('finished', 'error', 'failed')) as accounts,
        (select coalesce(group_concat(locator), '') from migration_run where state in ('error', 'failed')) as failed`,
    )
    .bind(at)
    .first<Counts>())!
}

/** Lets time pass, a minute at a time, until nothing that is due is left; whoever has an alarm is woken by it. */
async function settle(world: World): Promise<void> {
  const { tenant, webhook, motor } = world
  const token = await motor.signIn('anna.admin')
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
    if (failed === '' && Object.values(counts).every(count => count === 0)) return void info(`rounds ${round}`)
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
    const t0 = performance.now()
    await writeAll(plan, world, faults, ledger)
    faults.end()
    inject(undefined)
    const t1 = performance.now()
    await settle(world)
    info(`write ${t1-t0} settle ${performance.now()-t1}`)
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
      posts: async () => (await world.receiver.received()).map(one => one.headers['webhook-id'] ?? tenantName),
    })
  }
  const contents = await read()
  const stories = violationsOf(contents).map(one => storyOf(contents, one))
  await look(read, world)
  goAhead(0)
  return { contents, stories, counts: faults.counts }
}

export const acknowledgedOf = ({ contents: { ledger } }: Ran, outcome: Wish['outcome']): number =>
  ledger.filter(one => one.outcome === outcome).length

