// One seeded run inside the runtime: a separate tenant, clients who change policies simultaneously, and faults meanwhile. Then time
// passes until nothing is left to do, and everything is read and checked.
import { abortAllDurableObjects, runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { vi } from 'vitest'
import type { Uuid } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { dispatcherObject, migrationObject, webhookObject } from '../../src/platform/objects.ts'
import { readTenant, type Tenant } from '../../src/platform/tenancy.ts'
import { wakeTenants } from '../../src/tenants/housekeeping.ts'
import { type Random, randomOf } from '../../tools/book/random.ts'
import { callApi, callOk } from '../support/api.ts'
import { migratedAccount } from '../support/migrated.ts'
import { plainYear } from '../support/motor.ts'
import { storiesOf } from './checker.ts'
import type { Send, Wish } from './client.ts'
import { type Contents, type Outside, readContents, wholeStream } from './contents.ts'
import { elapse, goAhead, inject, wrapBindings } from './injection.ts'
import { type FaultKind, Faults } from './kinds.ts'
import { fillAndEmpty, grow, newWorld, suspendAndResume, takeAwayAndBack, type World } from './world.ts'
import { type Plan, writeAll } from './writers.ts'

export type Ran = {
  readonly contents: Contents
  /** The violations, each with its story. */
  readonly stories: readonly string[]
  readonly counts: Readonly<Record<FaultKind, number>>
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

/** Ends all objects together, as the end of a process does. */
async function resetObjects(random: Random, faults: Faults): Promise<void> {
  await scheduler.wait(random.between(100, 1_500))
  if (!faults.has('objectsReset')) return
  faults.note('objectsReset')
  await abortAllDurableObjects()
}

/** Suspends the tenant for a while. */
async function suspendMeanwhile({ motor }: World, random: Random, faults: Faults): Promise<void> {
  await scheduler.wait(random.between(100, 1_200))
  if (!faults.has('suspended')) return
  faults.note('suspended')
  await suspendAndResume(motor, () => scheduler.wait(random.between(20, 150)))
}

/** Makes databases unavailable or full for a while, one after the other. */
async function troubleMeanwhile({ motor }: World, random: Random, faults: Faults): Promise<void> {
  const meanwhile = (): Promise<unknown> => scheduler.wait(random.between(30, 300))
  const troubles = {
    controlAway: () => takeAwayAndBack('control', meanwhile),
    databasesAway: () => takeAwayAndBack('tenants', meanwhile),
    databaseFull: () => fillAndEmpty(motor, meanwhile),
  } as const
  for (const kind of ['controlAway', 'databasesAway', 'databaseFull'] as const) {
    await scheduler.wait(random.between(50, 500))
    if (!faults.has(kind)) continue
    faults.note(kind)
    await troubles[kind]()
  }
}

/** Runs the housekeeping that wakes the tenant at its minute of the day. */
async function wakeAtItsMinute({ locator }: Tenant): Promise<void> {
  const row = await env.CONTROL.prepare('select rowid % 1440 as minute from tenant where locator = ?')
    .bind(locator)
    .first<{ minute: number }>()
  await wakeTenants(env, noCalls(), (row!.minute * 60_000) as Instant)
}

const ROUNDS = 60
const STEP_MS = 61_000
/** Twice the half hour for which a file without a row may stay. */
const CLEANED_MS = 60 * 60_000

type Counts = { deliveries: number; jobs: number; timers: number; accounts: number; failed: string }

const databaseOf = (binding: string): D1Database => (env as unknown as Record<string, D1Database>)[binding]!

/** Counts what is left to do in a shard. */
const left = async (binding: string, at: number): Promise<Counts> =>
  (await databaseOf(binding)
    .prepare(
      `select (select count(*) from delivery where state in ('pending', 'waiting')) as deliveries,
        (select count(*) from document_job) as jobs,
        (select count(*) from timer where due_at <= ?) as timers,
        (select count(*) from migration_account where state in ('pending', 'processing')) as accounts,
        (select coalesce(group_concat(locator), '') from migration_run where state in ('error', 'failed')) as failed`,
    )
    .bind(at)
    .first<Counts>())!

/** Wakes each object that may have an alarm; those of a shard one after the other. */
async function wake({ webhook }: World, tenant: Tenant): Promise<void> {
  const inShard = async (binding: string, shard: number): Promise<void> => {
    const runs = await databaseOf(binding)
      .prepare('select locator from migration_run')
      .all<{ locator: Uuid }>()
    const objects = [
      dispatcherObject(env, tenant, shard),
      webhookObject(env, tenant, shard, webhook),
      ...runs.results.map(({ locator }) => migrationObject(env, tenant, locator)),
    ] as unknown as DurableObjectStub[]
    for (const object of objects) await runDurableObjectAlarm(object).catch(() => undefined)
  }
  await Promise.all(tenant.shards.map(inShard))
}

/** Lets time pass, a minute at a time, until nothing that is due is left. Runs the alarm of each object that has one. */
async function settle(world: World): Promise<void> {
  const { adminToken: token } = world
  await wakeAtItsMinute(world.tenant)
  for (let rounds = 0; rounds < ROUNDS; rounds += 1) {
    elapse(STEP_MS)
    const tenant = (await readTenant(env, { name: world.tenant.name }, noCalls()))!
    await wake(world, tenant)
    await scheduler.wait(20)
    const at = Date.now() + tenant.clockOffsetMs
    const all = await Promise.all(tenant.shards.map(binding => left(binding, at)))
    for (const { failed } of all)
      for (const locator of failed.split(',').filter(one => one !== ''))
        await callApi('PATCH', `/migration/${tenant.locator}/migrations/${locator}/recover`, { token })
    if (all.every(({ failed, ...counts }) => failed === '' && Object.values(counts).every(n => n === 0)))
      return
  }
}

/** Carries out the run. `look` sees the tenant before the run ends. */
export async function run(
  plan: Plan,
  look: (read: (known?: Outside) => Promise<Contents>, world: World) => Promise<void> = async () => {},
): Promise<Ran> {
  await wrapBindings()
  goAhead(0)
  const faults = new Faults(randomOf(`faults ${plan.seed}`), plan.kinds)
  const world = await newWorld(plan, faults)
  const ledger: Wish[] = []
  // The service would log thousands of lines about the faults.
  const quiet = (['error', 'warn', 'log'] as const).map(name =>
    vi.spyOn(console, name).mockImplementation(() => {}),
  )
  try {
    inject(faults)
    const { policyholder, policy } = plainYear().request
    const random = randomOf(`growth ${plan.seed}`)
    const writing = writeAll({
      plan,
      tenantLocator: world.motor.tenantLocator,
      agent: sendAs(world.motor.token),
      admin: sendAs(world.adminToken),
      samples: { policyholder, policy },
      migrations: plan.accounts.map((count, nth) =>
        Array.from({ length: count }, (_, at) => migratedAccount(`${plan.seed}-${nth}-${at}`)),
      ),
      deploy: { as: sendAs(world.administratorToken), asked: world.redeploy },
      ...(plan.shards.to > plan.shards.from && {
        grow: () => grow(world.motor, plan.shards.to, () => scheduler.wait(random.between(50, 300))),
      }),
      faults,
      ledger,
      patience: { tries: 5, waitMs: 60 },
    })
    await Promise.all([
      writing,
      resetObjects(randomOf(`reset ${plan.seed}`), faults),
      suspendMeanwhile(world, randomOf(`suspended ${plan.seed}`), faults),
      troubleMeanwhile(world, randomOf(`trouble ${plan.seed}`), faults),
    ])
    faults.end()
    inject(undefined)
    await settle(world)
    // By then, files that were stored but never recorded have been deleted.
    elapse(CLEANED_MS)
    await settle(world)
  } finally {
    inject(undefined)
    for (const spy of quiet) spy.mockRestore()
  }
  const { tenantName } = world.motor
  const token = await world.motor.signIn('alice.agent')
  const read = async (known?: Outside): Promise<Contents> => {
    const tenant = (await readTenant(env, { name: world.tenant.name }, noCalls()))!
    const get = <Body>(path: string): Promise<Body> => callOk('GET', path, { token })
    const stream = () => wholeStream(get, world.motor.tenantLocator)
    const posts = async () =>
      (await world.receiver.received()).map(one => one.headers['webhook-id'] ?? tenantName)
    return await readContents({ env, tenant, ledger, get, stream, posts }, known)
  }
  await world.countMoods()
  const contents = await read()
  const stories = storiesOf(contents)
  await look(read, world)
  goAhead(0)
  return { contents, stories, counts: faults.counts }
}
