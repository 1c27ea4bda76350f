// The common calls, in the order in which a round makes them: what one leaves behind the next may take up.
import type { Call } from './load.ts'

/** What every operation of the service may name. */
export type World = {
  token: string
  credentials: Record<string, string>
  policyholderLocator: string
  /** Bodies of the example: a policyholder, and a policy without its policyholder. */
  policyholder: Record<string, unknown>
  policy: Record<string, unknown>
}

/**
 * Records that a call is about: each of the first two is read over and over, in turn; a draft or a finalized
 * policy is taken once, in the round that made it; `new` is about a record that the call itself makes.
 */
export type SubjectKind = 'policyholder' | 'policy' | 'draft' | 'finalized' | 'new'

export type Operation = {
  name: string
  /** Which goal it has. */
  kind: 'read' | 'write'
  takes: SubjectKind
  /** What the record that it makes or changes is afterwards. */
  leaves?: 'draft' | 'finalized'
  /** Whether it hashes a password: slow on purpose, refused when many come at once. */
  hashes?: true
  call(world: World, locator: string): Call
}

/** Goals for the ratio to the floor (reads, writes). */
export const GOALS = { read: 0.8, write: 0.6 } as const

const get = ({ token }: World, path: string): Call => ({ method: 'GET', path, token })

const post = ({ token }: World, path: string, body?: unknown): Call => ({
  method: 'POST',
  path,
  token,
  ...(body !== undefined && { body: JSON.stringify(body) }),
})

const newPolicy = (world: World, finalize: boolean): Call =>
  post(world, '/policy', { ...world.policy, policyholderLocator: world.policyholderLocator, finalize })

export const OPERATIONS: readonly Operation[] = [
  {
    name: 'sign in',
    kind: 'write',
    takes: 'new',
    hashes: true,
    call: ({ credentials }) => ({
      method: 'POST',
      path: '/account/authenticate',
      body: JSON.stringify(credentials),
    }),
  },
  {
    name: 'create policyholder',
    kind: 'write',
    takes: 'new',
    call: world => post(world, '/policyholder/create', world.policyholder),
  },
  {
    name: 'get policyholder',
    kind: 'read',
    takes: 'policyholder',
    call: (world, locator) => get(world, `/policyholder/${locator}`),
  },
  {
    name: 'create draft policy',
    kind: 'write',
    takes: 'new',
    leaves: 'draft',
    call: world => newPolicy(world, false),
  },
  {
    name: 'finalize',
    kind: 'write',
    takes: 'draft',
    leaves: 'finalized',
    call: (world, locator) => post(world, `/policy/${locator}/finalize`),
  },
  {
    name: 'issue',
    kind: 'write',
    takes: 'finalized',
    call: (world, locator) => post(world, `/policy/${locator}/issue`),
  },
  {
    name: 'create and finalize policy',
    kind: 'write',
    takes: 'new',
    call: world => newPolicy(world, true),
  },
  {
    name: 'get policy',
    kind: 'read',
    takes: 'policy',
    call: (world, locator) => get(world, `/policy/${locator}`),
  },
  {
    name: 'price',
    kind: 'read',
    takes: 'policy',
    call: (world, locator) => get(world, `/policy/${locator}/price`),
  },
  {
    name: 'event stream page',
    kind: 'read',
    takes: 'new',
    call: world => get(world, '/eventstream/events?startTimestamp=0&pageSize=100'),
  },
]

/** The operation's name as a part of a path. */
export const planName = ({ name }: Operation): string => name.replaceAll(' ', '-')
