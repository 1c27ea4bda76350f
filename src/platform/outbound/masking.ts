// Taking secrets out of texts that are kept or shown. The text is read once, whatever the secrets are: a search for one
// after another could be made slow by whoever writes both.
import type { Signing } from './signature.ts'

/** What stands in the place of a secret; sent back, it means the one that is kept. */
export const MASK = '********'

/** Characters. Shorter texts stand in bodies by chance; no such secret is taken any more. */
export const SHORTEST_SECRET = 4

/** What long-lived tokens begin with (access/tokens.ts). */
export const AUTH_TOKEN_PREFIX = 'bdy_'

const AUTH_TOKENS = new RegExp(`${AUTH_TOKEN_PREFIX}\\w+`, 'g')

/** The text with long-lived tokens in it made unreadable: for logs and for answers that repeat a path. */
export const withoutAuthTokens = (text: string): string =>
  text.replace(AUTH_TOKENS, `${AUTH_TOKEN_PREFIX}***`)

/** The text with `********` for every secret, also where JSON, an address, a form or base64 writes it otherwise. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const forms = new Set(secrets.filter(secret => secret.length >= SHORTEST_SECRET).flatMap(formsOf))
  return forms.size === 0 ? text : masked(text, new Automaton(forms))
}

/** The texts that a secret may stand as. */
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

/** Finds all of a set of texts in one pass (Aho and Corasick). */
class Automaton {
  /** State by the state before and the character: `state * 65,536 + character`. */
  readonly #next = new Map<number, number>()
  /** The state of the longest suffix that begins one of the texts. */
  readonly #fallback: number[] = [0]
  /** Length of the longest text that ends in the state; 0 for none. */
  readonly #found: number[] = [0]

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
}

type Span = { from: number; to: number }

/** Secrets that overlap become one mask, so that no end of one is left. */
function masked(text: string, automaton: Automaton): string {
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
  return shown + text.slice(end)
}

// Which parts of a connection are secret, and how answers and logs show them.
const SECRET_NAME =
  /auth|token|secret|passw|pwd|passphrase|credential|cookie|session|signature|sig$|key|^code$/i

/** A scheme with its value, a JWT, or a long run of letters and digits that nobody would type. */
const SECRET_VALUES = [
  /^(basic|bearer|digest|negotiate|token|apikey|hmac|aws4-hmac-sha256)\s+\S/i,
  /^ey[\w-]{8,}\.[\w-]+\.[\w-]*$/,
  /^(?=.*\d)(?=.*[a-z])[\w+/=~-]{20,}$/i,
]

/** Whether a header or query parameter looks secret, by its name or its value. */
export const looksSecret = (name: string, value: string): boolean =>
  SECRET_NAME.test(name) || SECRET_VALUES.some(pattern => pattern.test(value.trim()))

/** A reference to a secret, perhaps after a scheme: everybody may read it. */
const isReferenceAlone = (value: string): boolean => {
  const beside = besideReferences(value)
  return beside !== value && /^[\w-]*\s*$/.test(beside) && beside.length <= LONGEST_SCHEME
}

const LONGEST_SCHEME = 20

export const maskedHeaders = (headers: SecretBearing['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      looksSecret(name, value) && !isReferenceAlone(value) ? MASK : value,
    ]),
  )

/** The address with `********` for what looks secret in its query. */
export function maskedUrl(address: string): string {
  const url = new URL(address)
  const secret = [...url.searchParams].filter(([name, value]) => looksSecret(name, value))
  if (secret.length === 0) return address
  for (const [name] of secret) url.searchParams.set(name, MASK)
  return url.href
}

/** What may hold secrets of a connection to the outside. */
type SecretBearing = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly security?: Signing & { readonly secureSsl: boolean }
}

/**
 * Texts that no log may contain: the signing secret, what looks secret in headers and address, and the values of secrets that
 * headers contained, of the connection as it was sent.
 */
export function secretsOf({ headers, url, security }: SecretBearing, put: readonly string[] = []): string[] {
  const carried = [...Object.entries(headers), ...new URL(url).searchParams]
    .filter(([name, value]) => looksSecret(name, value))
    .flatMap(([, value]) => [value, value.trim().replace(/^[\w-]+\s+/, '')])
  return [...new Set([security?.secret ?? '', ...put, ...carried])].filter(
    text => text.length >= SHORTEST_SECRET,
  )
}

// `{{secret:staticName.item}}` in the value of a header: the item of a secret, put in its place when the header is sent
// (resources brief 5). What secrets there are is none of this file's business.

export type SecretReference = { readonly staticName: string; readonly item: string }

/** How items of secrets may be called. */
export const SECRET_ITEM_NAME = /^[\w$-]{1,128}$/

const REFERENCE = /\{\{secret:(_?[a-zA-Z$][a-zA-Z\d_$]*)\.([\w$-]{1,128})\}\}/g

/** What its author took for a reference, whether it is one or not. */
const MEANT = /\{\{\s*secret\b/gi

export const referencesIn = (text: string): SecretReference[] =>
  [...text.matchAll(REFERENCE)].map(([, staticName, item]) => ({ staticName: staticName!, item: item! }))

export const hasReference = (text: string): boolean => referencesIn(text).length > 0

/** Whether the text, or what it stands for once it is decoded, was meant to have a reference. */
export const meansReference = (text: string): boolean => /(\{|%7b){2}(\s|%20|\+)*secret\b/i.test(text)

/** Whether a reference in the text is written wrongly, and would be sent as it stands. */
export const hasBrokenReference = (text: string): boolean =>
  (text.match(MEANT)?.length ?? 0) > referencesIn(text).length

/** The text with what `put` says in the place of each reference. */
export const withReferences = (text: string, put: (reference: SecretReference) => string): string =>
  text.replace(REFERENCE, (_, staticName: string, item: string) => put({ staticName, item }))

/** The text without its references: what of it its author wrote out. */
export const besideReferences = (text: string): string => text.replace(REFERENCE, '')
