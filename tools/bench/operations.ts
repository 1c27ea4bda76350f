// The operations that are measured, in the order in which a round makes them. Later operations use the records of earlier ones.
import { archiveNumber, type Files } from './example-tenant.ts'
import type { Call } from './load.ts'
import type { Records } from './world.ts'

/** Data that the operations of the service refer to. */
export type World = {
  /** Tokens of an agent who sells policies, of an administrator of the tenant, and of an account that may deploy. */
  token: string
  adminToken: string
  deployerToken: string
  credentials: Record<string, string>
  tenantLocator: string
  policyholderLocator: string
  /** Bodies of the example: a policyholder, and a policy without its policyholder. */
  policyholder: Record<string, unknown>
  policy: Record<string, unknown>
  /** Start and end of the example's policy, in milliseconds. */
  start: number
  end: number
  /** The archive that is deployed repeatedly. */
  archive: Files
  /** Rows of the table `points`, whose keys are `k0`, `k1` and so on. */
  tableRows: number
}

/** Records for later operations. Each is used once, in the round that created it. */
export type StockKind =
  | 'unquoted'
  | 'quoted'
  | 'priced'
  | 'finalized'
  | 'issued'
  | 'endorsed'
  | 'renewed'
  | 'billed'

/**
 * The subject of a call: an existing record that is read repeatedly, in turn; a record of the stock; or `new`, a record that the
 * call creates.
 */
export type SubjectKind = keyof Records | StockKind | 'new'

/** Identifies a subject: the record whose Durable Object is called, followed, after `~`, by what else the call names. */
export type Subject = string

/** A response from which a later operation takes its subject. */
type PolicyAnswer = {
  locator: string
  policyLocator?: string
  exposures: { locator: string }[]
  invoices: { locator: string }[]
}

export type Operation = {
  name: string
  /** Which goal applies. */
  kind: 'read' | 'write'
  takes: SubjectKind
  /** The kinds of stock that the created or changed record becomes, and its subject there. */
  leaves?: Partial<Record<StockKind, (subject: Subject, answer: PolicyAnswer) => Subject>>
  /** A call made once for each subject before the run, for what the operation must name and no response has contained. */
  find?: { call(world: World, subject: Subject): Call; read(subject: Subject, answer: never): Subject }
  /** Whether it hashes a password, which is slow on purpose and rejected when many requests arrive together. */
  hashes?: true
  /**
   * Whether it is measured with few records, all of which were requested just before, as in its plan. A policy's object trusts
   * its memory for two seconds. Otherwise some responses would need another round trip, the more the slower the machine is.
   */
  warmed?: true
  /** A lower concurrency, because one call takes long. */
  atOnce?: number
  call(world: World, subject: Subject): Call
}

/** Goals for the ratio to the floor. */
export const GOALS = { read: 0.8, write: 0.6 } as const

const DAY_MS = 86_400_000

const first = (subject: Subject): string => subject.split('~')[0]!
const second = (subject: Subject): string => subject.split('~')[1]!

const get = (token: string, path: string): Call => ({ method: 'GET', path, token })

const callWithBody = (method: 'POST' | 'PATCH', token: string, path: string, body?: unknown): Call => ({
  method,
  path,
  token,
  ...(body !== undefined && { body: JSON.stringify(body) }),
})

const post = ({ token }: World, path: string, body?: unknown): Call => callWithBody('POST', token, path, body)

const newPolicy = (world: World, finalize: boolean): Call =>
  post(world, '/policy', { ...world.policy, policyholderLocator: world.policyholderLocator, finalize })

/**
 * Returns a number that differs from earlier ones, spread over those below `most`: the multiplier is a prime that does not divide
 * it.
 */
const spread = (subject: Subject, most: number): number =>
  (Number(subject.slice('new-'.length)) * 7_919) % most

/** A deploy request as a form. */
function deployment({ deployerToken, archive }: World, number: number): Call {
  const boundary = 'bindery-bench'
  const part = (disposition: string, content: Uint8Array, type = 'text/plain'): Uint8Array[] => [
    Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\ncontent-type: ${type}\r\n\r\n`,
    ),
    content,
    Buffer.from('\r\n'),
  ]
  return {
    method: 'POST',
    path: '/configuration/deployTest',
    token: deployerToken,
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([
      ...part('name="tenantNameSuffix"', Buffer.from('deployed')),
      ...part('name="zipFile"; filename="motor.zip"', archiveNumber(archive, number), 'application/zip'),
      Buffer.from(`--${boundary}--\r\n`),
    ]),
  }
}

const itself = (_: Subject, { locator }: PolicyAnswer): Subject => locator
const stays = (subject: Subject): Subject => first(subject)

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
    call: ({ token }, locator) => get(token, `/policyholder/${locator}`),
  },
  {
    name: 'create draft policy',
    kind: 'write',
    takes: 'new',
    leaves: { unquoted: itself },
    call: world => newPolicy(world, false),
  },
  {
    name: 'quote',
    kind: 'write',
    takes: 'unquoted',
    leaves: { quoted: stays },
    find: {
      call: ({ token }, policy) => get(token, `/policies/${policy}/quotes`),
      read: (policy, quotes: { locator: string }[]) => `${policy}~${quotes[0]!.locator}`,
    },
    call: ({ token }, subject) => callWithBody('PATCH', token, `/quotes/${second(subject)}/quote`),
  },
  {
    name: 'price',
    kind: 'read',
    takes: 'quoted',
    leaves: { priced: stays },
    call: (world, policy) => post(world, `/policy/${policy}/price`),
  },
  {
    name: 'finalize',
    kind: 'write',
    takes: 'priced',
    leaves: { finalized: itself },
    call: (world, policy) => post(world, `/policy/${policy}/finalize`),
  },
  {
    name: 'issue',
    kind: 'write',
    takes: 'finalized',
    leaves: {
      issued: (_, { locator, exposures }) => `${locator}~${exposures[0]!.locator}`,
      billed: (_, { locator, invoices }) => `${locator}~${invoices[0]!.locator}`,
    },
    call: (world, policy) => post(world, `/policy/${policy}/issue`),
  },
  {
    name: 'pay',
    kind: 'write',
    takes: 'billed',
    call: (world, subject) =>
      post(world, `/invoice/${second(subject)}/pay`, { fieldValues: { method: 'card' } }),
  },
  {
    name: 'endorse',
    kind: 'write',
    takes: 'issued',
    leaves: { endorsed: stays },
    call: (world, subject) =>
      post(world, `/policies/${first(subject)}/endorsements`, {
        endorsementName: 'change_of_risk',
        startTimestamp: world.start + 180 * DAY_MS,
        state: 'issued',
        updateExposures: [{ exposureLocator: second(subject), fieldValues: { vehicle_value: '29000' } }],
      }),
  },
  {
    name: 'renew',
    kind: 'write',
    takes: 'endorsed',
    leaves: { renewed: stays },
    call: (world, policy) =>
      post(world, `/policies/${policy}/renewals`, {
        renewalEndTimestamp: world.end + (world.end - world.start),
        state: 'issued',
      }),
  },
  {
    name: 'cancel',
    kind: 'write',
    takes: 'renewed',
    call: (world, policy) =>
      post(world, `/policies/${policy}/cancellations`, {
        effectiveTimestamp: world.start + 240 * DAY_MS,
        name: 'customer_request',
        cancellationCategory: 'other',
        issue: true,
      }),
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
    call: ({ token }, locator) => get(token, `/policy/${locator}`),
  },
  {
    name: 'get policy of 1,000 exposures',
    kind: 'read',
    takes: 'largePolicy',
    atOnce: 2,
    call: ({ token }, locator) => get(token, `/policy/${locator}`),
  },
  {
    name: 'get price',
    kind: 'read',
    takes: 'policy',
    warmed: true,
    call: ({ token }, locator) => get(token, `/policy/${locator}/price`),
  },
  {
    name: 'event stream page',
    kind: 'read',
    takes: 'new',
    call: ({ token }) => get(token, '/eventstream/events?startTimestamp=0&pageSize=100'),
  },
  {
    name: 'table look-up',
    kind: 'read',
    takes: 'new',
    call: ({ adminToken, tenantLocator, tableRows }, subject) =>
      get(adminToken, `/resource/${tenantLocator}/tables/points/record?key=k${spread(subject, tableRows)}`),
  },
  {
    name: 'constraint evaluation',
    kind: 'read',
    takes: 'constrained',
    call: ({ adminToken, tenantLocator }, subject) =>
      callWithBody(
        'POST',
        adminToken,
        `/policy/${tenantLocator}/quotes/${first(subject)}/constraints/evaluate`,
        {
          [second(subject)]: { model: {} },
        },
      ),
  },
  {
    name: 'deploy',
    kind: 'write',
    takes: 'new',
    atOnce: 1,
    call: (world, subject) => deployment(world, Number(subject.slice('new-'.length))),
  },
]

/**
 * Returns the operations of these names and those before them whose records they use, or all operations without names. Throws an
 * Error for an unknown name.
 */
export function operationsFor(names: readonly string[] | undefined): readonly Operation[] {
  if (!names) return OPERATIONS
  const chosen = new Set(names.map(name => OPERATIONS.find(one => one.name === name) ?? unknownName(name)))
  for (const { takes } of chosen) {
    const before = OPERATIONS.find(({ leaves = {} }) => takes in leaves)
    if (before) chosen.add(before)
  }
  return OPERATIONS.filter(one => chosen.has(one))
}

function unknownName(name: string): never {
  const known = OPERATIONS.map(one => one.name).join(', ')
  throw new Error(`There is no operation '${name}'. Known operations: ${known}.`)
}

/** The operation's name as part of a path. */
export const planName = ({ name }: Operation): string => name.replaceAll(/\W+/g, '-')
