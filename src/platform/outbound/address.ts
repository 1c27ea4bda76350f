// Calls to other servers: their time limit, and a check that a URL leads to the public internet. Webhooks and integrations must not
// reach the service's own network (resources brief 6.4, 7.4; SSRF). Public names that resolve to private addresses are not detected;
// the edge network has no private addresses.

type Block = { first: number; last: number }

const ipv4 = (text: string): number | undefined => {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return undefined
  return text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

const block = (cidr: string): Block => {
  const [base, bits] = cidr.split('/') as [string, string]
  const first = ipv4(base)!
  return { first, last: first + 2 ** (32 - Number(bits)) - 1 }
}

/** Non-public IPv4 ranges (IANA special-purpose registry), without loopback. */
const PRIVATE_IPV4 = `
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3
`
  .trim()
  .split(/\s+/)
  .map(block)

const LOOPBACK_IPV4 = block('127.0.0.0/8')

/** Suffixes of private host names. `svc` and `cluster.local` belong to Kubernetes. */
const PRIVATE_NAME =
  /(^|\.)(internal|intern|local|localdomain|lan|home|corp|intranet|private|svc|cluster|home\.arpa|onion|invalid)$/

/** A label that means the local host, before any suffix. */
const LOOPBACK_LABEL = /(^|\.)(localhost|localhost4|localhost6|localdomain|loopback)\./

/** Domains that resolve names to the address within the name, or to the local host. */
const WRITTEN_ADDRESS =
  /(^|\.)(nip\.io|sslip\.io|xip\.io|traefik\.me|rbndr\.us|lvh\.me|localtest\.me|vcap\.me|lacolhost\.com|localho\.st|lcl\.host|local\.gd|fuf\.me)$/

/** Four numbers with dots or dashes. Names in public clouds also contain public addresses. */
const FOUR_NUMBERS = /(?<![\d])\d{1,3}([.-])\d{1,3}\1\d{1,3}\1\d{1,3}(?!\d)/g

/** Public IPv6 is 2000::/3 without these parts: IPv4 tunnels, unroutable, benchmarks, documentation. */
const NOT_PUBLIC_IPV6 = /^(2001:0?:|2001::|2001:[12][0-9a-f]?:|2001:db8:|2002:|3fff:)/

type Reach = 'public' | 'loopback' | 'private'

/** Classifies a host as URL writes it: IPv4 in four decimal parts, IPv6 in brackets, names in lower case. */
function reachOf(host: string): Reach {
  const name = host.replace(/\.+$/, '')
  const address = ipv4(name)
  if (address !== undefined) {
    const within = ({ first, last }: Block): boolean => address >= first && address <= last
    if (within(LOOPBACK_IPV4)) return 'loopback'
    return PRIVATE_IPV4.some(within) ? 'private' : 'public'
  }
  if (name.startsWith('[')) {
    const text = name.slice(1, -1)
    if (text === '::1') return 'loopback'
    return /^[23]/.test(text) && /^[0-9a-f]{4}:/.test(text) && !NOT_PUBLIC_IPV6.test(text)
      ? 'public'
      : 'private'
  }
  if (name === 'localhost' || name.endsWith('.localhost')) return 'loopback'
  const leadsInside =
    !name.includes('.') ||
    PRIVATE_NAME.test(name) ||
    LOOPBACK_LABEL.test(name) ||
    WRITTEN_ADDRESS.test(name) ||
    [...name.matchAll(FOUR_NUMBERS)].some(([text]) => reachOf(text.replaceAll('-', '.')) !== 'public')
  return leadsInside ? 'private' : 'public'
}

/** Whether the address contains control characters: raw, which URL parsers silently drop, or percent-encoded once or twice. */
export const hasControlCharacters = (address: string): boolean =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\x00-\x20\x7f-\x9f]|%(25)*(0[\da-f]|1[\da-f]|7f)/i.test(address)

/** Whether calls to the local host are allowed, also by http: only where ENVIRONMENT is `local` (developers, tests). */
export const mayCallLocalHost = (env: { readonly ENVIRONMENT: string }): boolean =>
  env.ENVIRONMENT === 'local'

/**
 * Returns why the address may not be called, as the end of a sentence about it, or undefined if it may. `local`: the service runs
 * on a developer's computer and may also call that computer, by http too.
 */
export function addressProblem(address: string, local: boolean): string | undefined {
  if (hasControlCharacters(address)) return 'must have no spaces or control characters'
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an https address'
  const reach = reachOf(url.hostname)
  if (url.protocol === 'http:' && !(local && reach === 'loopback'))
    return 'must be an https address, not http'
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password'
  if (reach === 'public' || (reach === 'loopback' && local)) return undefined
  return `must be an address on the public internet, which '${url.hostname}' is not`
}

/**
 * Makes a call and aborts its signal with a `TimeoutError` after `timeoutMs`. Read the body of the response within `call` too.
 * Unlike `AbortSignal.timeout`, leaves no timer behind, which would keep a Durable Object in memory until it expires.
 */
export async function callWithin<Result>(
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  const late = new DOMException(`There was no response within ${timeoutMs} ms.`, 'TimeoutError')
  const timer = setTimeout(() => controller.abort(late), timeoutMs)
  try {
    return await call(controller.signal)
  } finally {
    clearTimeout(timer)
  }
}
