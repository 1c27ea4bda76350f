// Users of a tenant. They do one thing, think, and do another. What each does follows from its seed and from what was created
// before.
import { setTimeout as sleep } from 'node:timers/promises'
import { workedPolicies } from '../../../scripts/example.ts'
import { type Ask, GivenUp } from './samples.ts'
import { type Chance, chanceOf } from './seeded.ts'
import type { LoadTenant } from './tenants.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** A policy that the user issued. Only that user changes it. */
type Policy = { readonly locator: string; readonly start: number; endorsements: number }

type User = {
  readonly tenant: LoadTenant
  readonly chance: Chance
  readonly ask: Ask
  readonly policies: Policy[]
  policyholder: string | undefined
  streamToken: string | undefined
  /** Pauses for this share of the average pause between two actions. Throws `GivenUp` when the run is over. */
  think(share?: number): Promise<void>
}

type Answer = { locator: string }

const worked = workedPolicies()[0]!.request

const get = <Body>({ ask, tenant }: User, kind: string, path: string): Promise<Body> =>
  ask<Body>(kind, tenant.token, 'GET', path)

const post = <Body>({ ask, tenant }: User, kind: string, path: string, body?: object): Promise<Body> =>
  ask<Body>(kind, tenant.token, 'POST', path, body)

/** The pause between the steps of one action, as a share of the pause between two actions. */
const BETWEEN_STEPS = 0.3

async function quoteToIssue(user: User): Promise<void> {
  if (user.policyholder === undefined || user.chance.next() < 0.5) {
    const body = { completed: true, ...worked.policyholder }
    user.policyholder = (
      await post<Answer>(user, 'create policyholder', '/policyholder/create', body)
    ).locator
    await user.think(BETWEEN_STEPS)
  }
  const request = { ...worked.policy, policyholderLocator: user.policyholder, finalize: false }
  const policy = await post<Answer & { originalContractStartTimestamp: string }>(
    user,
    'create policy',
    '/policy',
    request,
  )
  await user.think(BETWEEN_STEPS)
  await get(user, 'price', `/policy/${policy.locator}/price`)
  await user.think(BETWEEN_STEPS)
  await post(user, 'finalize', `/policy/${policy.locator}/finalize`)
  await user.think(BETWEEN_STEPS)
  await post(user, 'issue', `/policy/${policy.locator}/issue`)
  const start = Number(policy.originalContractStartTimestamp)
  user.policies.push({ locator: policy.locator, start, endorsements: 0 })
  user.tenant.policies.push(policy.locator)
}

async function viewPolicy(user: User): Promise<void> {
  const { policyholderLocator } = await get<{ policyholderLocator: string }>(
    user,
    'get policy',
    `/policy/${user.chance.pick(user.tenant.policies)}`,
  )
  await user.think(BETWEEN_STEPS)
  await get(user, 'get policyholder', `/policyholder/${policyholderLocator}`)
}

/** Endorsements of a policy. Each is a month after the one before, within the year, and changes the price. */
const MOST_ENDORSEMENTS = 10

async function endorse(user: User): Promise<void> {
  const policy = user.chance.pick(user.policies)
  if (policy.endorsements === MOST_ENDORSEMENTS) return quoteToIssue(user)
  policy.endorsements += 1
  await post(user, 'endorse', `/policies/${policy.locator}/endorsements`, {
    endorsementName: 'change_of_risk',
    startTimestamp: policy.start + 30 * policy.endorsements * DAY_MS,
    fieldValues: { claims_free_years: 8 + policy.endorsements },
    state: 'issued',
  })
}

async function pay(user: User): Promise<void> {
  const policy = user.chance.pick(user.policies)
  type Invoice = Answer & { settlementStatus: string }
  const { invoices } = await get<{ invoices: Invoice[] }>(user, 'get policy', `/policy/${policy.locator}`)
  const open = invoices.find(({ settlementStatus }) => settlementStatus === 'outstanding')
  if (!open) return
  await user.think(BETWEEN_STEPS)
  await post(user, 'pay', `/invoice/${open.locator}/pay`, { fieldValues: { method: 'card' } })
}

async function list(user: User): Promise<void> {
  const path = user.chance.next() < 0.5 ? '/policyholders' : '/policies'
  await get(user, 'list', `${path}?pageSize=20`)
}

async function readEvents(user: User): Promise<void> {
  const { streamToken } = user
  const query =
    streamToken === undefined
      ? 'startTimestamp=0&pageSize=100'
      : `pagingToken=${encodeURIComponent(streamToken)}`
  const page = await get<{ pagingToken: string }>(user, 'event stream page', `/eventstream/events?${query}`)
  user.streamToken = page.pagingToken
}

/** What users do, with shares in per cent. */
const HABITS: readonly (readonly [share: number, act: (user: User) => Promise<void>])[] = [
  [20, quoteToIssue],
  [40, viewPolicy],
  [10, endorse],
  [10, pay],
  [10, list],
  [10, readEvents],
]

/** Actions on a policy that the user issued. A user without one issues a policy instead. */
const OWN_POLICY: readonly unknown[] = [endorse, pay]

function habitOf({ chance, policies, tenant }: User): (user: User) => Promise<void> {
  if (tenant.policies.length === 0) return quoteToIssue
  let left = chance.next() * 100
  for (const [share, act] of HABITS) {
    left -= share
    if (left < 0) return policies.length === 0 && OWN_POLICY.includes(act) ? quoteToIssue : act
  }
  return quoteToIssue
}

type LoadUser = {
  /** Does one thing. Ends early if a response does not allow the user to continue, or if the run is over. */
  act(): Promise<void>
  /** Pauses for the average time between two actions. Returns immediately if the run is over. */
  think(): Promise<void>
}

/** Chance, and the average pause between two actions. */
type Manner = { readonly chance: Chance; readonly thinkMs: number }

/** A user until `over`. After each pause, the user waits for `turn`. */
function newUser(
  ask: Ask,
  tenant: LoadTenant,
  { chance, thinkMs }: Manner,
  over: AbortSignal,
  turn: () => Promise<void> = async () => {},
): LoadUser {
  const user: User = {
    tenant,
    chance,
    ask,
    policies: [],
    policyholder: undefined,
    streamToken: undefined,
    async think(share = 1) {
      await sleep(chance.pause(thinkMs) * share, undefined, { signal: over }).catch(() => undefined)
      if (!over.aborted) await turn()
      if (over.aborted) throw new GivenUp()
    },
  }
  const unlessGivenUp = (problem: unknown): void => {
    if (!(problem instanceof GivenUp)) throw problem
  }
  return {
    act: () => habitOf(user)(user).catch(unlessGivenUp),
    think: () => user.think().catch(unlessGivenUp),
  }
}

export type Traffic = {
  /** Ends after the requests in progress. */
  stop(): Promise<void>
}

/** `stop` rejects with what went wrong. */
function traffic(over: AbortController, going: Promise<unknown>): Traffic {
  going.catch(() => undefined)
  return {
    async stop() {
      over.abort()
      await going
    },
  }
}

/** Starts users who do one thing after the other and think in between. */
export function startUsers(
  ask: Ask,
  tenants: readonly LoadTenant[],
  seeds: () => number,
  thinkMs: number,
): Traffic {
  const over = new AbortController()
  const live = async (tenant: LoadTenant): Promise<void> => {
    const user = newUser(ask, tenant, { chance: chanceOf(seeds()), thinkMs }, over.signal)
    for (await user.think(); !over.signal.aborted; await user.think()) await user.act()
  }
  return traffic(over, Promise.all(tenants.map(live)))
}

const TICK_MS = 20

/**
 * Starts as many users as are needed for `perSecond` requests to begin each second, however long the responses take. Whenever
 * fewer requests have begun than should have, a user who has paused continues, or one more user begins an action. `begun` returns
 * how many requests have begun so far, including those of other users.
 */
export function startBurst(
  ask: Ask,
  tenants: readonly LoadTenant[],
  seeds: () => number,
  thinkMs: number,
  perSecond: number,
  begun: () => number,
): Traffic {
  const over = new AbortController()
  const free = new Map<LoadTenant, LoadUser[]>(tenants.map(tenant => [tenant, []]))
  const paused: (() => void)[] = []
  const turn = (): Promise<void> => new Promise(go => paused.push(go))
  const busy = new Set<Promise<void>>()
  let next = 0
  const beginAct = (): void => {
    const tenant = tenants[next % tenants.length]!
    next += 1
    const manner = () => ({ chance: chanceOf(seeds()), thinkMs })
    const user = free.get(tenant)!.pop() ?? newUser(ask, tenant, manner(), over.signal, turn)
    const acted = user.act().then(() => {
      free.get(tenant)!.push(user)
      busy.delete(acted)
    })
    // Failures are reported at the end, by awaiting the promises in `busy`.
    acted.catch(() => undefined)
    busy.add(acted)
  }
  const from = performance.now()
  const before = begun()
  const work = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const due = ((performance.now() - from) / 1_000) * perSecond
      for (let missing = due - (begun() - before); missing >= 1; missing -= 1) (paused.shift() ?? beginAct)()
      await sleep(TICK_MS)
    }
    for (const go of paused.splice(0)) go()
    await Promise.all(busy)
  }
  return traffic(over, work())
}
