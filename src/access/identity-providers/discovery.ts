// Reads the discovery document and the keys of a provider (OpenID Connect Discovery 1.0). An isolate remembers both by issuer;
// they are the same for every tenant. Addresses are checked like those of webhooks, redirects are not followed, and size and time
// are limited.
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { Refusal } from '../../kernel/errors.ts'
import { isJsonObject, tryParseJson } from '../../kernel/json.ts'
import { Memo } from '../../kernel/maps.ts'
import { type Instant, isWithinLast, now } from '../../kernel/time.ts'
import { concatBytes, pieces, utf8Text } from '../../platform/http/body/bytes.ts'
import { addressProblem, callWithin, mayCallLocalHost } from '../../platform/outbound/address.ts'

const CALL_TIMEOUT_MS = 10_000
const LARGEST_ANSWER_BYTES = 262_144
const MOST_KEYS = 100

/** A document and its keys are read again after this time. */
const KNOWN_MS = 10 * 60_000

/** An unknown key or a failed call leads to another call only after this time. */
export const KEYS_AGAIN_MS = 60_000
export const FAILED_AGAIN_MS = 10_000

/** Returns the 502 for a provider that does not respond, or whose response is not valid. */
export const providerFailed = (message: string): Refusal => new Refusal('identityProviderFailed', message)

export type Metadata = {
  readonly issuer: string
  readonly keysUrl: string
  readonly authorizationUrl: string | undefined
  readonly tokenUrl: string | undefined
  /** How clients authenticate at `tokenUrl`. */
  readonly authentications: readonly string[]
  /** Whether its responses through the browser always name the issuer (RFC 9207). */
  readonly namesItself: boolean
}

type Keys = JWTVerifyGetKey

/**
 * Returns the keys, which are found by the token's `kid`. If no key has an id (RFC 7517, 4.5: it is optional), the `kid` of the
 * token is ignored and the only key that fits its algorithm is used; several fitting keys are rejected. If some keys have ids, a
 * key without one is never tried for a token that names an id.
 */
function keysIn(set: JSONWebKeySet, ids: ReadonlySet<string>): Keys {
  const keys = createLocalJWKSet(set)
  return ids.size > 0 ? keys : (header, token) => keys({ ...header, kid: undefined }, token)
}

type Known = {
  readonly metadata: Metadata
  readonly keys: Keys
  /** Key ids of the set. */
  readonly ids: ReadonlySet<string>
  readonly metadataAt: Instant
  readonly keysAt: Instant
}

type Failure = { readonly message: string; readonly at: Instant }

const MOST_ISSUERS = 200
const known = new Memo<string, Known>(MOST_ISSUERS)
const failed = new Memo<string, Failure>(MOST_ISSUERS)
/**
 * Issuers that a request of this isolate is reading. Other requests poll for the result and do not await its promise, which ends
 * with its request.
 */
const reading = new Set<string>()
const LOOK_MS = 50

/** Throws 502 `identityProviderFailed` when the provider cannot be read. It is then not called again for 10 s. */
export async function providerMetadata(env: Env, issuer: string): Promise<Metadata> {
  return (await knownProvider(env, issuer)).metadata
}

/** Returns the keys of the provider. Reads them again, at most once a minute, for a key id that they lack. */
export async function providerKeys(env: Env, issuer: string, kid: string | undefined): Promise<Keys> {
  const isEnough = ({ ids, keysAt }: Known): boolean =>
    kid === undefined || ids.has(kid) || isWithinLast(KEYS_AGAIN_MS, keysAt)
  const present = await knownProvider(env, issuer)
  if (isEnough(present)) return present.keys
  return (await readShared(issuer, isEnough, () => withKeys(env, present.metadata, present.metadataAt))).keys
}

const isFresh = ({ metadataAt }: Known): boolean => isWithinLast(KNOWN_MS, metadataAt)

const knownProvider = (env: Env, issuer: string): Promise<Known> =>
  readShared(issuer, isFresh, async () => withKeys(env, await readMetadata(env, issuer), now()))

async function readShared(
  issuer: string,
  isEnough: (present: Known) => boolean,
  read: () => Promise<Known>,
): Promise<Known> {
  for (let looks = 0; ; looks += 1) {
    const present = known.get(issuer)
    if (present && isEnough(present)) return present
    const failure = failed.get(issuer)
    if (failure && isWithinLast(FAILED_AGAIN_MS, failure.at)) throw providerFailed(failure.message)
    if (!reading.has(issuer) || looks >= (2 * CALL_TIMEOUT_MS) / LOOK_MS) break
    await scheduler.wait(LOOK_MS)
  }
  reading.add(issuer)
  try {
    const value = await read()
    known.set(issuer, value)
    failed.delete(issuer)
    return value
  } catch (problem) {
    if (problem instanceof Refusal) failed.set(issuer, { message: problem.message, at: now() })
    throw problem
  } finally {
    reading.delete(issuer)
  }
}

async function withKeys(env: Env, metadata: Metadata, metadataAt: Instant): Promise<Known> {
  const set = await fetchJson(env, metadata.keysUrl, 'keys')
  const list = set.keys
  if (!Array.isArray(list) || list.length > MOST_KEYS || !list.every(isJsonObject))
    throw providerFailed(`The keys of the identity provider are not a key set of at most ${MOST_KEYS} keys.`)
  const ids = new Set(list.flatMap(({ kid }) => (typeof kid === 'string' ? [kid] : [])))
  const keys = keysIn({ keys: list } as unknown as JSONWebKeySet, ids)
  return { metadata, keys, ids, metadataAt, keysAt: now() }
}

async function readMetadata(env: Env, issuer: string): Promise<Metadata> {
  const document = await fetchJson(
    env,
    `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    'discovery document',
  )
  if (document.issuer !== issuer)
    throw providerFailed(
      "The discovery document of the identity provider names a different issuer than the tenant's 'issuer'. The two texts must be equal.",
    )
  const address = (property: string): string | undefined => {
    const value = document[property]
    if (value === undefined) return undefined
    if (typeof value !== 'string' || value.length > 2_048 || addressProblem(value, mayCallLocalHost(env)))
      throw providerFailed(
        `The discovery document of the identity provider has an address that must not be called: '${property}'.`,
      )
    return value
  }
  const keysUrl = address('jwks_uri')
  if (keysUrl === undefined)
    throw providerFailed("The discovery document of the identity provider lacks 'jwks_uri'.")
  const authentications = document.token_endpoint_auth_methods_supported
  return {
    issuer,
    keysUrl,
    authorizationUrl: address('authorization_endpoint'),
    tokenUrl: address('token_endpoint'),
    authentications: Array.isArray(authentications) ? authentications.map(String) : ['client_secret_basic'],
    namesItself: document.authorization_response_iss_parameter_supported === true,
  }
}

/**
 * Calls the provider and reads a JSON object of at most 256 KiB. `what` names the object in the message of a 502. `accepts` is a
 * status other than 200 whose object is also returned.
 */
export async function fetchJson(
  env: Env,
  address: string,
  what: string,
  { accepts, ...request }: RequestInit & { readonly accepts?: number } = {},
): Promise<Record<string, unknown>> {
  // Checked again, because the environment of the service decides which addresses are allowed.
  if (addressProblem(address, mayCallLocalHost(env)))
    throw providerFailed(`The address of the identity provider's ${what} must not be called.`)
  try {
    return await callWithin(CALL_TIMEOUT_MS, async signal => {
      const response = await fetch(address, {
        ...request,
        headers: { accept: 'application/json', 'user-agent': 'Bindery', ...request.headers },
        redirect: 'manual',
        signal,
      })
      const { status, body } = response
      if (status !== 200 && status !== accepts) {
        await body?.cancel()
        const redirects = status >= 300 && status < 400 ? '; redirects are not followed' : ''
        throw providerFailed(`The identity provider responded with ${status} for its ${what}${redirects}.`)
      }
      const parts: Uint8Array<ArrayBuffer>[] = []
      try {
        if (body) for await (const piece of pieces(body, LARGEST_ANSWER_BYTES)) parts.push(piece)
      } catch (problem) {
        if (!(problem instanceof Refusal)) throw problem
        await body?.cancel()
        throw providerFailed(`The identity provider's ${what} is larger than ${LARGEST_ANSWER_BYTES} bytes.`)
      }
      const value = tryParseJson(utf8Text(concatBytes(parts)) ?? '')
      if (!isJsonObject(value)) throw providerFailed(`The identity provider's ${what} is not a JSON object.`)
      return value
    })
  } catch (problem) {
    if (problem instanceof Refusal) throw problem
    throw providerFailed(
      problem instanceof Error && problem.name === 'TimeoutError'
        ? `The identity provider did not respond within ${CALL_TIMEOUT_MS / 1000} seconds.`
        : 'The identity provider cannot be reached.',
    )
  }
}
