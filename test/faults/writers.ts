// What the clients of one run do simultaneously, whether inside the runtime or against a process.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, randomOf } from '../../tools/book/random.ts'
import { type Asked, Client, type Patience, type Send, type Wish } from './client.ts'
import { live, newPolicyholder, type Samples } from './journey.ts'
import { FAULT_KINDS, type FaultKind, type Faults } from './kinds.ts'

/** The parameters of a run. The same for the same seed. */
export type Plan = {
  readonly seed: number
  readonly policies: number
  readonly steps: number
  /** The number of clerks who change each policy simultaneously. */
  readonly clerks: number
  readonly isRated: boolean
  readonly hasPapers: boolean
  /** The number of accounts of each migration. One migration begins with the run, the others later. */
  readonly accounts: readonly number[]
  /** The number of databases of the tenant at first, and after some were added while clients write. Equal if none are. */
  readonly shards: { readonly from: number; readonly to: number }
  readonly kinds: readonly FaultKind[]
}

const GROWS: Readonly<Record<number, number>> = { 1: 3, 3: 5, 8: 9 }

/** `isShort`: no more than a run of `npm test` has time for. */
export function planOf(seed: number, isShort = false): Plan {
  const random = randomOf(`plan ${seed}`)
  const from = random.pick(isShort ? [1, 1, 1, 3] : [1, 1, 1, 3, 3, 8])
  const grows = random.chance(0.5)
  const kinds = FAULT_KINDS.filter(() => random.chance(0.8))
  return {
    seed,
    policies: isShort ? 2 : random.between(2, 4),
    steps: isShort ? 6 : random.between(8, 14),
    clerks: randomOf(`clerks ${seed}`).pick([1, 1, 2, 3]),
    isRated: random.chance(0.75),
    hasPapers: random.chance(isShort ? 0.15 : 0.3),
    accounts: Array.from({ length: isShort ? 1 : random.between(1, 3) }, () => random.between(1, 3)),
    shards: { from, to: grows && kinds.includes('shardsAdded') ? GROWS[from]! : from },
    kinds,
  }
}

/** The number of databases that runs of these plans need. */
export const databasesOf = (plans: readonly Plan[]): number =>
  plans.reduce((sum, { shards }) => sum + shards.to, 0)

/** Advances the clock by some days, in which installments are invoiced and become due. */
async function moveClock(client: Client, days: number, faults: Faults): Promise<void> {
  if (!faults.has('clockMoved')) return
  faults.note('clockMoved')
  const body = { advance: { amount: days, unit: 'day' } }
  await client.wish('move clock', undefined, { method: 'POST', path: '/test/clock', body })
}

/** Advances the clock several times while the others write. */
async function letTimePass(client: Client, random: Random, faults: Faults): Promise<void> {
  for (let times = 0; times < 3; times += 1) {
    await sleep(random.between(200, 700))
    await moveClock(client, random.between(1, 40), faults)
  }
}

/** The event types that the webhook of a run subscribes to: all except sign-ins, which reading causes too. */
export const EVENT_TYPES: readonly string[] = [
  'policy',
  'policyholder',
  'endorsement',
  'renewal',
  'cancellation',
  'reinstatement',
  'invoice',
  'payment',
  'document',
  'migration',
].map(name => `${name}.*`)

export type Writing = {
  readonly plan: Plan
  readonly tenantLocator: string
  /** For an account that writes policies, and for one that migrates. */
  readonly agent: Send
  readonly admin: Send
  readonly samples: Samples
  /** Accounts to migrate meanwhile, a list for each migration. */
  readonly migrations: readonly (readonly object[])[]
  /** The tenant's configuration, to deploy again meanwhile. */
  readonly deploy?: { readonly as: Send; readonly asked: Asked }
  /** Adds databases to the tenant, which new policyholders use from then on. */
  readonly grow?: () => Promise<void>
  readonly faults: Faults
  readonly ledger: Wish[]
  readonly patience: Patience
}

/** Resolves when every client has finished or given up. */
export async function writeAll(writing: Writing): Promise<void> {
  const { plan, tenantLocator, samples, migrations, faults, ledger, patience, deploy, grow } = writing
  const client = new Client(writing.agent, faults, ledger, patience)
  const admin = new Client(writing.admin, faults, ledger, patience)
  // Moving the clock takes many steps, each of which may fail and continues where it stopped: more databases need more tries.
  const clock = new Client(writing.agent, faults, ledger, { ...patience, tries: patience.tries * 4 })
  const randomFor = (name: string): Random => randomOf(`${name} ${plan.seed}`)
  const clerksOf = (name: string): [Random, ...Random[]] => [
    randomFor(name),
    ...Array.from({ length: plan.clerks - 1 }, (_, at) => randomFor(`${name} clerk ${at}`)),
  ]
  /** Fewer steps for each clerk when there are more clerks, but more in total. */
  const stepsOfEach = (steps: number): number => Math.ceil((2 * steps) / (plan.clerks + 1))
  // Two policies share a policyholder, so that what is overpaid on one is credit for the other.
  const couple = async (name: string, policies: number, steps: number): Promise<void> => {
    const holder = await newPolicyholder(client, samples)
    if (holder === undefined) return
    const lives = Array.from({ length: policies }, (_, at) =>
      live(client, clerksOf(`policy ${name} ${at}`), samples, holder, stepsOfEach(steps)),
    )
    await Promise.all(lives)
  }
  const couples = Array.from({ length: Math.ceil(plan.policies / 2) }, (_, at) =>
    couple(`${at}`, Math.min(2, plan.policies - at * 2), plan.steps),
  )
  const migrate = async (accounts: readonly object[], afterMs: number): Promise<void> => {
    await sleep(afterMs)
    const path = `/migration/${tenantLocator}/migrations`
    await admin.wish('migrate', undefined, { method: 'POST', path, body: accounts })
  }
  const deployMeanwhile = async (): Promise<void> => {
    if (!deploy || !faults.has('deployed')) return
    await sleep(randomFor('deploy').between(200, 1_000))
    faults.note('deployed')
    await new Client(deploy.as, faults, ledger, patience).wish('deploy', undefined, deploy.asked)
  }
  /** Adds databases, then policyholders, some of whom are stored in the new databases. */
  const growMeanwhile = async (): Promise<void> => {
    if (!grow) return
    await grow()
    faults.note('shardsAdded')
    await Promise.all(
      Array.from({ length: NEWCOMERS }, (_, at) => couple(`newcomer ${at}`, 1, Math.ceil(plan.steps / 3))),
    )
  }
  await Promise.all([
    ...couples,
    letTimePass(clock, randomFor('clock'), faults),
    ...migrations.map((accounts, at) => migrate(accounts, at * 600)),
    deployMeanwhile(),
    growMeanwhile(),
  ])
  // Far enough for unpaid policies to lapse.
  await moveClock(clock, 90, faults)
}

/** Policyholders that are created once there are more databases. */
const NEWCOMERS = 3
