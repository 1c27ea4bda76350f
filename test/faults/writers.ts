// What the clients of one run do, all at once: whatever carries it out, and whatever fails meanwhile.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, randomOf } from '../../scripts/book/random.ts'
import { Client, type Patience, type Send, type Wish } from './client.ts'
import { live, newPolicyholder, type Samples } from './journey.ts'
import { FAULT_KINDS, type FaultKind, type Faults } from './kinds.ts'

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
    await sleep(random.between(200, 700))
    await moveClock(client, random.between(1, 40), faults)
  }
}

/** What the webhook of a run asks for: everything but sign-ins, which reading needs too. */
export const EVENT_TYPES: readonly string[] = [
  ...['policy', 'policyholder', 'endorsement', 'renewal', 'cancellation', 'reinstatement'],
  ...['invoice', 'payment', 'document', 'migration'],
].map(name => `${name}.*`)

export type Writing = {
  readonly plan: Plan
  readonly tenantLocator: string
  /** As who writes policies, and as who migrates. */
  readonly agent: Send
  readonly admin: Send
  readonly samples: Samples
  /** To be migrated meanwhile. */
  readonly accounts: readonly object[]
  readonly faults: Faults
  readonly ledger: Wish[]
  readonly patience: Patience
}

/** Resolves when every client is done, or has given up. */
export async function writeAll(writing: Writing): Promise<void> {
  const { plan, tenantLocator, samples, accounts, faults, ledger, patience } = writing
  const client = new Client(writing.agent, faults, ledger, patience)
  const admin = new Client(writing.admin, faults, ledger, patience)
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
    if (accounts.length === 0) return
    const path = `/migration/${tenantLocator}/migrations`
    await admin.wish('migrate', undefined, { method: 'POST', path, body: accounts })
  }
  await Promise.all([...couples, letTimePass(client, randomFor('clock'), faults), migrate()])
  // So far that what is not paid has lapsed.
  await moveClock(client, 90, faults)
}
