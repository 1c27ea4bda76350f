// Removes secrets from texts that are stored or shown. It does so in a single pass: someone who controls both the text and the
// secrets could make repeated searches slow.
import type { Signing } from './signature.ts'

/** Shown instead of a secret. When a client sends it back, the stored secret remains. */
export const MASK = '********'

/** In characters. Shorter texts occur in bodies by chance, so they are not masked. A signing secret must be at least this long. */
export const SHORTEST_SECRET = 4

/** Prefix of long-lived tokens (access/tokens.ts). */
export const AUTH_TOKEN_PREFIX = 'bdy_'

/** Whether the text is a long-lived token. Checks the prefix only. */
export const isAuthToken = (text: string): boolean => text.startsWith(AUTH_TOKEN_PREFIX)

const AUTH_TOKENS = new RegExp(`${AUTH_TOKEN_PREFIX}\\w+`, 'g')

/** Masks long-lived tokens, for logs and responses that repeat a path. */
export const withoutAuthTokens = (text: string): string =>
  text.replace(AUTH_TOKENS, `${AUTH_TOKEN_PREFIX}***`)

/**
 * Masks every secret, also in the encodings of JSON, URLs, forms and base64. `isCut` means that the text is only the beginning of
 * a longer one: an end that may be the beginning of a secret is then removed.
 */
export function withoutSecrets(text: string, secrets: readonly string[], isCut = false): string {
  const forms = new Set(secrets.filter(secret => secret.length >= SHORTEST_SECRET).flatMap(formsOf))
  return forms.size === 0 ? text : maskFound(text, new Automaton(forms), isCut)
}

/** Returns all encodings in which a secret may occur. */
function formsOf(secret: string): string[] {
  const text = secret.toWellFormed()
  const json = JSON.stringify(secret).slice(1, -1)
  const url = encodeURIComponent(text)
  const base64 = Buffer.from(text).toString('base64').replace(/=+$/, '')
  return [
    secret,
    json,
    json.replaceAll('/', '\\/'),
    JSON.stringify(json).slice(1, -1),
    json.replace(/[\u0080-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    url,
    url.replace(/%[\dA-F]{2}/g, code => code.toLowerCase()),
    new URLSearchParams([['', text]]).toString().slice(1),
    base64,
    base64.replaceAll('+', '-').replaceAll('/', '_'),
  ]
}

/** Finds all texts of a set in one pass (Aho-Corasick). */
class Automaton {
  /** Next state by `state * 65,536 + character`. */
  readonly #next = new Map<number, number>()
  /** By state: the state of the longest suffix that starts one of the texts. */
  readonly #fallback: number[] = [0]
  /** By state: the length of the longest text that ends there. 0 for none. */
  readonly #found: number[] = [0]
  /** By state: the number of characters of the text that it represents. */
  readonly #depth: number[] = [0]

  constructor(texts: Iterable<string>) {
    const depths: number[][] = []
    const parents: number[] = [0]
    const characters: number[] = [0]
    for (const text of texts) {
      let state = 0
      for (let at = 0; at < text.length; at += 1) {
        const key = state * 65_536 + text.charCodeAt(at)
        let next = this.#next.get(key)
        if (next === undefined) {
          next = this.#found.length
          this.#next.set(key, next)
          this.#found.push(0)
          this.#fallback.push(0)
          this.#depth.push(at + 1)
          parents.push(state)
          characters.push(text.charCodeAt(at))
          depths[at] ??= []
          depths[at]!.push(next)
        }
        state = next
      }
      this.#found[state] = text.length
    }
    for (const states of depths)
      for (const state of states) {
        const parent = parents[state]!
        const fallback = parent === 0 ? 0 : this.step(this.#fallback[parent]!, characters[state]!)
        this.#fallback[state] = fallback
        this.#found[state] = Math.max(this.#found[state]!, this.#found[fallback]!)
      }
  }

  step(from: number, character: number): number {
    for (let state = from; ; state = this.#fallback[state]!) {
      const next = this.#next.get(state * 65_536 + character)
      if (next !== undefined) return next
      if (state === 0) return 0
    }
  }

  foundAt = (state: number): number => this.#found[state]!

  depthAt = (state: number): number => this.#depth[state]!
}

type Span = { from: number; to: number }

/** Replaces overlapping secrets by one mask, so that no end of one remains. */
function maskFound(text: string, automaton: Automaton, isCut: boolean): string {
  const spans: Span[] = []
  let state = 0
  for (let at = 0; at < text.length; at += 1) {
    state = automaton.step(state, text.charCodeAt(at))
    const length = automaton.foundAt(state)
    if (length === 0) continue
    const span = { from: at + 1 - length, to: at + 1 }
    for (let last = spans.at(-1); last && last.to > span.from; last = spans.at(-1)) {
      span.from = Math.min(span.from, last.from)
      spans.pop()
    }
    spans.push(span)
  }
  let shown = ''
  let end = 0
  for (const { from, to } of spans) {
    shown += text.slice(end, from) + MASK
    end = to
  }
  return shown + text.slice(end, isCut ? Math.max(end, text.length - automaton.depthAt(state)) : undefined)
}

// Which parts of a connection are secret, and how responses and logs show them.
const SECRET_NAME =
  /auth|token|secret|passw|pwd|passphrase|credential|cookie|session|signature|sig$|key|^code$/i

/** A scheme with its value, a JWT, or a long random run of letters and digits. */
const SECRET_VALUES = [
  /^(basic|bearer|digest|negotiate|token|apikey|hmac|aws4-hmac-sha256)\s+\S/i,
  /^ey[\w-]{8,}\.[\w-]+\.[\w-]*$/,
  /^(?=.*\d)(?=.*[a-z])[\w+/=~-]{20,}$/i,
]

/** Whether a header or query parameter looks secret, by its name or its value. */
export const looksSecret = (name: string, value: string): boolean =>
  SECRET_NAME.test(name) || SECRET_VALUES.some(pattern => pattern.test(value.trim()))

/** Whether the value is only a reference to a secret, perhaps after a scheme. Everyone may read such a value. */
const isReferenceAlone = (value: string): boolean => {
  const rest = withoutReferences(value)
  return rest !== value && /^[\w-]*\s*$/.test(rest) && rest.length <= LONGEST_SCHEME
}

const LONGEST_SCHEME = 20

const isMasked = (name: string, value: string): boolean =>
  looksSecret(name, value) && !isReferenceAlone(value)

/** Returns the headers as responses show them: values that look secret are masked, references to secrets are not. */
export const maskedHeaders = (headers: SecretBearing['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isMasked(name, value) ? MASK : value]),
  )

/** Masks secrets in the query and leaves everything else as written. */
export const maskedUrl = (address: string): string =>
  withParameters(address, (name, value) => (looksSecret(name, value) ? MASK : undefined))

/**
 * Replaces the values of query parameters by the results of `change`, which must be encoded already. Where `change` returns
 * undefined, the parameter stays unchanged. `nth` counts the parameters of the same name from 0.
 */
export function withParameters(
  address: string,
  change: (name: string, value: string, nth: number, written: string) => string | undefined,
): string {
  const [, before, query, after] = /^([^?#]*\??)([^#]*)(.*)$/s.exec(address)!
  const seen = new Map<string, number>()
  const pairs = query!.split('&').map(pair => {
    const [parameter] = new URLSearchParams(pair)
    if (!parameter) return pair
    const [name, value] = parameter
    const nth = seen.get(name) ?? 0
    seen.set(name, nth + 1)
    const [writtenName, ...rest] = pair.split('=') as [string, ...string[]]
    const changed = change(name, value, nth, rest.join('='))
    return changed === undefined ? pair : `${writtenName}=${changed}`
  })
  return `${before}${pairs.join('&')}${after}`
}

type SecretBearing = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly security?: Signing & { readonly secureSsl: boolean }
}

/** A header of a webhook may have several values. */
type SentHeaders = Readonly<Record<string, string | readonly string[]>>
type SentRequest = { readonly url: string; readonly headers: SentHeaders }

/** Returns the headers and the parameters of the address as pairs of name and value. */
const partsOf = ({ headers, url }: SentRequest): [string, string][] => [
  ...Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  ),
  ...new URL(url).searchParams,
]

/**
 * Returns texts that no log may contain: the signing secret, secrets in headers and address, and `secretValues` put into headers.
 */
export function secretsOf(
  { headers, url, security }: Omit<SecretBearing, 'headers'> & { readonly headers: SentHeaders },
  secretValues: readonly string[] = [],
): string[] {
  const secretParts = partsOf({ headers, url })
    .filter(([name, value]) => looksSecret(name, value))
    .flatMap(([, value]) => [value, value.trim().replace(/^[\w-]+\s+/, '')])
  return [...new Set([security?.secret ?? '', ...secretValues, ...secretParts])].filter(
    text => text.length >= SHORTEST_SECRET,
  )
}

/**
 * Returns the values of a request that responses mask, each as one text with its name. References to secrets are shown as stored.
 */
export const maskedValues = (request: SentRequest): string[] =>
  partsOf(request)
    .filter(([name, value]) => isMasked(name, value))
    .map(([name, value]) => JSON.stringify([name.toLowerCase(), value]))

// `{{secret:staticName.item}}` in the value of a header. It is replaced by the item of a secret when the header is sent (resources
// brief 5).

export type SecretReference = { readonly staticName: string; readonly item: string }

export const SECRET_ITEM_NAME = /^[\w$-]{1,128}$/

const REFERENCE = /\{\{secret:(_?[a-zA-Z$][a-zA-Z\d_$]*)\.([\w$-]{1,128})\}\}/g

/** An intended reference, valid or not. */
const INTENDED_REFERENCE = /\{\{\s*secret\b/gi

/** Returns the valid references in the order of the text, including repetitions. */
export const referencesIn = (text: string): SecretReference[] =>
  [...text.matchAll(REFERENCE)].map(([, staticName, item]) => ({ staticName: staticName!, item: item! }))

/** Whether the text has a valid reference. `meansReference` also finds malformed ones. */
export const hasReference = (text: string): boolean => referencesIn(text).length > 0

/** Whether the text contains an intended reference, also percent-encoded. */
export const meansReference = (text: string): boolean => /(\{|%7b){2}(\s|%20|\+)*secret\b/i.test(text)

/** Whether a reference is malformed, so that it would be sent literally. */
export const hasBrokenReference = (text: string): boolean =>
  (text.match(INTENDED_REFERENCE)?.length ?? 0) > referencesIn(text).length

/** Replaces each reference by the result of `valueOfReference`. */
export const withReferences = (
  text: string,
  valueOfReference: (reference: SecretReference) => string,
): string =>
  text.replace(REFERENCE, (_, staticName: string, item: string) => valueOfReference({ staticName, item }))

/** Returns the text without its references. */
const withoutReferences = (text: string): string => text.replace(REFERENCE, '')
