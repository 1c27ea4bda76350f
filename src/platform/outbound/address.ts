// Which addresses may be called: those of the public internet. A webhook or an integration is a way to make the
// service call any address, and must not be one into the network that it runs in (resources brief 6.4, 7.4; SSRF).
// A public name that resolves to a private address is not seen here; at the edge there is no such network.

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

/** Blocks of IPv4 that are not public (IANA special-purpose registry), loopback apart. */
const PRIVATE_IPV4 = `
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3
`
  .trim()
  .split(/\s+/)
  .map(block)

const LOOPBACK_IPV4 = block('127.0.0.0/8')

/** Ends of names that networks give to their own hosts; `svc` and `cluster.local` are those of Kubernetes. */
const PRIVATE_NAME =
  /(^|\.)(internal|intern|local|localdomain|lan|home|corp|intranet|private|svc|cluster|home\.arpa|onion|invalid)$/

/** A label that means this machine in front of any name. */
const LOOPBACK_LABEL = /(^|\.)(localhost|localhost6|localdomain|loopback)\./

/** Names below which every address written into a name, or this machine, is resolved. */
const WRITTEN_ADDRESS = /(^|\.)(nip\.io|sslip\.io|xip\.io|lvh\.me|localtest\.me|vcap\.me|lacolhost\.com)$/

/** Four numbers in a name, with dots or dashes in between; those of public addresses are in names of public clouds too. */
const FOUR_NUMBERS = /(?<![\d])\d{1,3}([.-])\d{1,3}\1\d{1,3}\1\d{1,3}(?!\d)/g

/** Public IPv6 is 2000::/3, without the parts that stand for IPv4, for no host, for tests or for documentation. */
const NOT_PUBLIC_IPV6 = /^(2001:0?:|2001::|2001:[12][0-9a-f]?:|2001:db8:|2002:|3fff:)/

type Reach = 'public' | 'loopback' | 'private'

/** `host` as URL writes it: IPv4 in four decimal parts, IPv6 in brackets, names in lower case. */
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

/** As they are, which parsers of addresses pass over in silence, or with percent signs, once or twice. */
export const hasControlCharacters = (address: string): boolean =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\x00-\x20\x7f-\x9f]|%(25)*(0[\da-f]|1[\da-f]|7f)/i.test(address)

/**
 * Whether addresses of this machine may be called, also by http: only where the variable ENVIRONMENT is `local`, as on a
 * developer's machine and in tests.
 */
export const mayCallThisMachine = (env: { readonly ENVIRONMENT: string }): boolean =>
  env.ENVIRONMENT === 'local'

/**
 * Why the address may not be called, as the end of a sentence about it; undefined when it may. `local`: the
 * service runs on a developer's machine, which it may call too, also by http.
 */
export function addressProblem(address: string, local: boolean): string | undefined {
  if (hasControlCharacters(address)) return 'must have no blanks and no control characters'
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an https address'
  const reach = reachOf(url.hostname)
  if (url.protocol === 'http:' && !(local && reach === 'loopback'))
    return 'must be an https address, not http'
  if (url.username !== '' || url.password !== '') return 'must be without user name and password'
  if (reach === 'public' || (reach === 'loopback' && local)) return undefined
  return `must be an address of the public internet, which '${url.hostname}' is not`
}
