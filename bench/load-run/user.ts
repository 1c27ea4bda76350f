// A user of a tenant: does one thing, thinks, does another. What each does follows from its seed and from what it made.
import { setTimeout as sleep } from 'node:timers/promises'
import { workedPolicies } from '../../scripts/example.ts'
import { type Ask, GivenUp } from './samples.ts'
import { type Chance, chanceOf } from './seeded.ts'
import type { LoadTenant } from './tenants.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** A policy that the user issued, and changes alone. */
type Policy = { readonly locator: string; readonly start: number; endorsements: number; paid: number }

type User = {
  readonly tenant: LoadTenant
  readonly chance: Chance
  readonly ask: Ask
  readonly policies: Policy[]
  policyholder: string | undefined
  streamToken: string | undefined
  think(share?: number): Promise<void>
}

type Answer = { locator: string }

const worked = workedPolicies()[0]!.request

const get = <Body>({ ask, tenant }: User, kind: string, path: string): Promise<Body> =>
  ask<Body>(kind, tenant.token, 'GET', path)

const post = <Body>({ ask, tenant }: User, kind: string, path: string, body?: object): Promise<Body> =>
  ask<Body>(kind, tenant.token, 'POST', path, body)

/** Of the pause between two things, what lies between the steps of one. */
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
  user.policies.push({ locator: policy.locator, start, endorsements: 0, paid: 0 })
}

async function look(user: User): Promise<void> {
  const { locator } = user.chance.pick(user.policies)
  const { policyholderLocator } = await get<{ policyholderLocator: string }>(
    user,
    'get policy',
    `/policy/${locator}`,
  )
  await user.think(BETWEEN_STEPS)
  await get(user, 'get policyholder', `/policyholder/${policyholderLocator}`)
}

/** Each a month after the one before, within the year; what it changes has a price. */
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

/** What a user does, and how often of a hundred times. */
const HABITS: readonly (readonly [share: number, act: (user: User) => Promise<void>])[] = [
  [20, quoteToIssue],
  [40, look],
  [10, endorse],
  [10, pay],
  [10, list],
  [10, readEvents],
]

export type LoadUser = {
  /** Ends after what the user is at. */
  stop(): Promise<void>
}

/** The user begins at once with a policy of its own, and pauses `thinkMs` between two things on average. */
export function startUser(ask: Ask, tenant: LoadTenant, seed: number, thinkMs: number): LoadUser {
  const chance = chanceOf(seed)
  const stopped = new AbortController()
  const user: User = {
    tenant,
    chance,
    ask,
    policies: [],
    policyholder: undefined,
    streamToken: undefined,
    think: (share = 1) =>
      sleep(chance.pause(thinkMs) * share, undefined, { signal: stopped.signal }).catch(() => undefined),
  }
  const live = async (): Promise<void> => {
    await user.think()
    while (!stopped.signal.aborted) {
      await habitOf(user)(user).catch(problem => {
        if (!(problem instanceof GivenUp)) throw problem
      })
      await user.think()
    }
  }
  const lived = live()
  // Whoever stops it is told of what went wrong.
  lived.catch(() => undefined)
  return {
    stop() {
      stopped.abort()
      return lived
    },
  }
}

function habitOf({ chance, policies }: User): (user: User) => Promise<void> {
  if (policies.length === 0) return quoteToIssue
  let left = chance.next() * 100
  for (const [share, act] of HABITS) {
    left -= share
    if (left < 0) return act
  }
  return quoteToIssue
}
