// Rate limits (figures in wrangler.toml). A request with a valid token counts for its account and tenant, any other request for
// its address. Colleagues behind one address therefore do not slow each other down, and guessing does not use up a tenant's share.
// The platform counts in memory in each location, without a round trip.
import { Refusal } from '../../kernel/errors.ts'
import { Memo } from '../../kernel/maps.ts'
import { type Instant, isWithinLast, now } from '../../kernel/time.ts'
import { entityTag } from './entity-tags.ts'
import type { SignedIn } from './permissions.ts'
import type { Route } from './route.ts'

const PERIOD_SECONDS = 10

type Limits = Pick<
  Env,
  | 'ENVIRONMENT'
  | 'TRUSTED_PROXIES'
  | 'ADDRESS_LIMIT'
  | 'SIGN_IN_LIMIT'
  | 'ACCOUNT_LIMIT'
  | 'TENANT_LIMIT'
  | 'AGENT_LIMIT'
>

/**
 * Local services have no limits: tests and benchmarks all use one address, and the local runtime simulates the counters with a
 * database, which costs more than the requests.
 */
const isUnlimited = ({ ENVIRONMENT }: Limits): boolean => ENVIRONMENT === 'local'

const tooMany = (whose: string): Refusal =>
  new Refusal(
    'tooManyRequests',
    `Too many requests from ${whose}. Try again in ${PERIOD_SECONDS} seconds.`,
    {},
    PERIOD_SECONDS,
  )

/** The address without the provider's edge: the service then listens only on the local host. */
const CONNECTION = '127.0.0.1'

/**
 * Returns the address of the client. The edge sets `CF-Connecting-IP`. Trusted proxies append to `X-Forwarded-For`, so the last
 * address there that is not a proxy's counts. No other header is trusted.
 */
export function clientAddress(headers: Headers, trusted: string): string {
  if (trusted.trim() === 'cloudflare') return headers.get('cf-connecting-ip') ?? CONNECTION
  const proxies = new Set(trusted.split(',').map(plainAddress))
  if (!proxies.has(CONNECTION)) return CONNECTION
  const addresses = (headers.get('x-forwarded-for') ?? '').split(',').map(plainAddress)
  return addresses.findLast(address => address !== '' && !proxies.has(address)) ?? CONNECTION
}

/**
 * Returns the address without the port that some proxies append, which is another one for each connection, and an IPv4 address
 * that is written as IPv6 (`::ffff:203.0.113.9`) in its own form: all of these would be in one /64.
 */
function plainAddress(written: string): string {
  const text = written.trim().replace(/^\[(.*)\](?::\d+)?$/, '$1')
  return /^(?:::ffff:)?(\d+(?:\.\d+){3})(?::\d+)?$/i.exec(text)?.[1] ?? text
}

/** Returns the key under which an address counts: for IPv6 its first 64 bits, because each customer has a whole /64. */
export function addressKey(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const groups = head.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length)
  return [...groups, ...Array.from({ length: Math.max(0, missing) }, () => '0'), ...(tail ?? '').split(':')]
    .slice(0, 4)
    .map(group => Number.parseInt(group || '0', 16).toString(16))
    .join(':')
}

/** Whether the limit is not reached yet. A counter that fails admits everyone: it is not access control. */
const hasRoom = (limiter: RateLimit, key: string): Promise<boolean> =>
  limiter.limit({ key }).then(
    ({ success }) => success,
    problem => {
      console.error(JSON.stringify({ at: 'rateLimit', problem: String(problem) }))
      return true
    },
  )

const isSignIn = ({ path }: Pick<Route, 'path'>): boolean => path.startsWith('/account/authenticate')

/** When this isolate last rejected an address, except for sign-ins. */
const refusals = new Memo<string, Instant>(10_000)

const keyOf = ({ TRUSTED_PROXIES }: Limits, { headers }: Request): string =>
  addressKey(clientAddress(headers, TRUSTED_PROXIES))

/**
 * For a request whose token is not known yet and must be looked up: throws 429 when its address was rejected recently. The look-up
 * would cost the same even if the request were rejected afterwards.
 */
export function requireNotLimited(limits: Limits, request: Request): void {
  const at = isUnlimited(limits) ? undefined : refusals.get(keyOf(limits, request))
  if (at !== undefined && isWithinLast(PERIOD_SECONDS * 1_000, at)) throw tooMany('your address')
}

/** For a request without a valid token: throws 429 when its address has sent too many. */
export async function limitAddress(
  limits: Limits,
  request: Request,
  route: Pick<Route, 'path'>,
): Promise<void> {
  if (isUnlimited(limits)) return
  const key = keyOf(limits, request)
  const isOfSignIns = isSignIn(route)
  if (await hasRoom(isOfSignIns ? limits.SIGN_IN_LIMIT : limits.ADDRESS_LIMIT, key)) return
  if (!isOfSignIns) refusals.set(key, now())
  throw tooMany('your address')
}

/** For a signed-in caller: throws 429 when the account or tenant has sent too many. */
export async function limitCaller(
  limits: Limits,
  { caller, tenant }: Pick<SignedIn, 'caller' | 'tenant'>,
): Promise<void> {
  if (isUnlimited(limits)) return
  const [account, all] = await Promise.all([
    hasRoom(limits.ACCOUNT_LIMIT, `${tenant?.locator ?? ''}/${caller.accountLocator}`),
    tenant ? hasRoom(limits.TENANT_LIMIT, tenant.locator) : true,
  ])
  if (!account) throw tooMany('the account')
  if (!all) throw tooMany('the tenant')
}

/** For a software agent, in addition to the limits of its account: throws 429 when too many requests used its token. */
export async function limitAgent(limits: Limits, { headers }: Request): Promise<void> {
  if (isUnlimited(limits)) return
  if (!(await hasRoom(limits.AGENT_LIMIT, entityTag(tokenIn(headers)))))
    throw tooMany('agents with this token')
}

/**
 * Returns the accepted token without what a client can write differently: the scheme, blanks, and the signature of an access token,
 * whose last character has bits that do not count.
 */
function tokenIn(headers: Headers): string {
  const token = (headers.get('authorization') ?? '').trim().split(/\s+/).at(-1)!
  return token.split('.').slice(0, 2).join('.')
}
