// How many requests there may be (wrangler.toml has the figures). What brings a valid token counts for its account and its
// tenant, all else for the address that it comes from: colleagues behind one address do not slow each other down, and
// guessing tokens or passwords does not use up a tenant's share. The platform counts in each of its locations for itself,
// in memory: no round trip.
import { Refusal } from '../../kernel/errors.ts'
import type { SignedIn } from './permissions.ts'
import type { Route } from './route.ts'

/** The period of every limit. */
const PERIOD_SECONDS = 10

type Limits = Pick<
  Env,
  'ENVIRONMENT' | 'TRUSTED_PROXIES' | 'ADDRESS_LIMIT' | 'SIGN_IN_LIMIT' | 'ACCOUNT_LIMIT' | 'TENANT_LIMIT'
>

/**
 * On one's own machine nothing is limited: tests and benchmarks all come from one address, and there the platform's
 * counters are simulated by a database, which costs more than the requests.
 */
const isUnlimited = ({ ENVIRONMENT }: Limits): boolean => ENVIRONMENT === 'local'

const tooMany = (whose: string): Refusal =>
  new Refusal(
    'tooManyRequests',
    `There are too many requests of ${whose}; try again in ${PERIOD_SECONDS} seconds.`,
    {},
    PERIOD_SECONDS,
  )

/** Where connections come from without the provider's edge: the service listens on this machine alone. */
const CONNECTION = '127.0.0.1'

/**
 * From where a request comes, as far as it can be believed: the edge says it in `CF-Connecting-IP`; proxies that are trusted each add
 * to the end of `X-Forwarded-For`, so that the last which is not theirs counts; nobody else is asked.
 */
export function clientAddress(headers: Headers, trusted: string): string {
  if (trusted.trim() === 'cloudflare') return headers.get('cf-connecting-ip') ?? CONNECTION
  const proxies = new Set(trusted.split(',').map(proxy => proxy.trim()))
  if (!proxies.has(CONNECTION)) return CONNECTION
  const passed = (headers.get('x-forwarded-for') ?? '').split(',').map(address => address.trim())
  return passed.findLast(address => address !== '' && !proxies.has(address)) ?? CONNECTION
}

/**
 * What an address counts as: an IPv6 one by its first 64 bits, since every customer of a provider has as many as that
 * leaves.
 */
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

/** Whether there is room. A counter that does not answer lets everybody in: it is not what keeps people out. */
const hasRoom = (limiter: RateLimit, key: string): Promise<boolean> =>
  limiter.limit({ key }).then(
    ({ success }) => success,
    problem => {
      console.error(JSON.stringify({ at: 'rateLimit', problem: String(problem) }))
      return true
    },
  )

const isSignIn = ({ path }: Pick<Route, 'path'>): boolean => path.startsWith('/account/authenticate')

/** Counts a request without a token that counts, and refuses (429) when there were too many of its address. */
export async function limitAddress(
  limits: Limits,
  { headers }: Request,
  route: Pick<Route, 'path'>,
): Promise<void> {
  if (isUnlimited(limits)) return
  const key = addressKey(clientAddress(headers, limits.TRUSTED_PROXIES))
  const limiter = isSignIn(route) ? limits.SIGN_IN_LIMIT : limits.ADDRESS_LIMIT
  if (!(await hasRoom(limiter, key))) throw tooMany('your address')
}

/** Counts a request of whoever is signed in, and refuses (429) when there were too many of the account or the tenant. */
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
