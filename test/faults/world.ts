// The surroundings of a run: a tenant with databases, a rater and a webhook, and operations on it while clients write.
import { env } from 'cloudflare:workers'
import { testTenantName } from '../../src/access/tenant-names.ts'
import type { Uuid } from '../../src/kernel/locators.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { KNOWN_EVERYWHERE_MS, readTenant, type Tenant } from '../../src/platform/tenancy.ts'
import {
  addShards,
  createTenant,
  openNewShards,
  SHARDS_KNOWN_AFTER_MS,
  setQuotas,
} from '../../src/tenants/service.ts'
import { closeDatabases, resumeTenant, suspendTenant } from '../../src/tenants/suspension.ts'
import { callOk } from '../support/api.ts'
import {
  type ArchiveFiles,
  archiveOf,
  deployForm,
  exampleFiles,
  motorWithoutPapers,
} from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'
import { externallyRated, openRater, register } from '../support/rater.ts'
import type { RaterBehaviour } from '../support/rater-server.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import type { Behaviour } from '../support/receiver-server.ts'
import { administrator } from '../support/sign-in.ts'
import type { Asked } from './client.ts'
import { type Away, elapse, takeAway } from './injection.ts'
import type { FaultKind, Faults } from './kinds.ts'
import { EVENT_TYPES, type Plan } from './writers.ts'

export type World = {
  readonly motor: Motor
  readonly adminToken: string
  readonly tenant: Tenant
  readonly webhook: Uuid
  readonly receiver: Receiver
  readonly administratorToken: string
  /** Deploys the tenant's configuration again, with only a line break added. */
  readonly redeploy: Asked
  /** Counts the faults of the tenant's rater and webhook. */
  readonly countMoods: () => Promise<void>
}

/** The number of first calls in which the tenant's rater or webhook may fail by chance. It is well afterwards. */
const MOODS = 200

type Mood = 'well' | 'fails' | 'slow'

/**
 * How the tenant's rater or webhook behaves, call by call. Its faults are counted at the end, because only those count that were
 * called for.
 */
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

  /** The behaviors for the rater or webhook. The last one applies to all later calls. */
  behaviours<B>(of: Readonly<Record<Mood, B>>): B[] {
    return [...this.#moods, 'well' as const].map(mood => of[mood])
  }

  /** Counts the faults of the first `calls` calls. */
  count(faults: Faults, calls: number): void {
    for (const mood of this.#moods.slice(0, calls)) if (mood !== 'well') faults.note(this.#kinds[mood])
  }
}

const SLOW_MS = 150
const RATES = { '*': { yearlyPremium: 120 } }

export async function newWorld(plan: Plan, faults: Faults): Promise<World> {
  const plain = plan.hasPapers ? exampleFiles('motor') : motorWithoutPapers()
  const files = plan.isRated ? externallyRated('rates', plain) : plain
  const suffix = `faults${plan.seed}`
  if (plan.shards.from > 1) await begin(testTenantName('administrator', suffix), plan.shards.from)
  const motor = await motorTenant(suffix, files)
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
  const archive = archiveOf({ ...files, 'config.json': `${textOf(files['config.json']!)}\n` })
  const redeploy = {
    method: 'POST',
    path: '/configuration/deployTest',
    body: deployForm(archive, { tenantNameSuffix: suffix }),
  }
  return {
    motor,
    adminToken,
    administratorToken: await administrator(),
    redeploy,
    tenant,
    webhook: webhook.locator,
    receiver,
    countMoods,
  }
}

const textOf = (content: ArchiveFiles[string]): string =>
  typeof content === 'string' ? content : new TextDecoder().decode(content)

/** Creates the tenant with this many databases, all of them open. */
async function begin(name: string, shards: number): Promise<void> {
  const { locator } = await createTenant(env, { name, type: 'test' })
  await addShards(env, name, shards)
  await env.CONTROL.prepare('update shard set opens_at = 0 where tenant_locator = ?').bind(locator).run()
}

/** Longer than the service takes until all of it knows of new databases, and until they are open. */
const KNOWN_MS = SHARDS_KNOWN_AFTER_MS + 500

/** The most runs that `npm run tenant -- shards` may need until it is done. */
const MOST_ATTEMPTS = 50

/**
 * Adds databases to the tenant up to this number, as `npm run tenant -- shards NAME N` does. It is interrupted by the same faults
 * as everything else, and run again. It waits only briefly and advances the real time by the true waits, during which `meanwhile`
 * runs.
 */
export async function grow(
  { tenantName: name }: Pick<Motor, 'tenantName'>,
  shards: number,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  await untilDone(() => addShards(env, name, shards))
  await meanwhile()
  elapse(KNOWN_MS)
  await untilDone(() => openNewShards(env, name))
  await meanwhile()
  elapse(KNOWN_MS)
}

/**
 * Suspends the tenant and resumes it, as the commands of `npm run tenant` do. They are interrupted by the same faults as everything
 * else, and run again. Advances the real time by as much as they wait.
 */
export async function suspendAndResume(
  { tenantName: name }: Pick<Motor, 'tenantName'>,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  await untilDone(() => suspendTenant(env, name))
  await meanwhile()
  elapse(KNOWN_EVERYWHERE_MS + 500)
  await untilDone(async () => closeDatabases(env, (await readTenant(env, { name }, noCalls()))!))
  await meanwhile()
  await untilDone(() => resumeTenant(env, name))
  elapse(KNOWN_MS)
}

/** Makes the tenant's databases full for a while, so that additions are rejected. */
export async function fillAndEmpty(
  { tenantName: name }: Pick<Motor, 'tenantName'>,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  await untilDone(() => setQuotas(env, name, { databaseBytes: 1 }))
  elapse(KNOWN_EVERYWHERE_MS)
  await meanwhile()
  await untilDone(() => setQuotas(env, name, {}))
  elapse(KNOWN_EVERYWHERE_MS)
}

/** Makes databases unavailable for longer than cached data of tenants is trusted. */
export async function takeAwayAndBack(which: Away, meanwhile: () => Promise<unknown>): Promise<void> {
  takeAway(which)
  elapse(KNOWN_EVERYWHERE_MS)
  await meanwhile()
  takeAway(undefined)
  elapse(KNOWN_EVERYWHERE_MS)
}

async function untilDone(work: () => Promise<unknown>): Promise<void> {
  for (let attempts = 1; ; attempts += 1)
    try {
      return void (await work())
    } catch (problem) {
      if (attempts === MOST_ATTEMPTS) throw problem
      await scheduler.wait(attempts)
    }
}
