// Keys that sign access tokens: Ed25519, so that the public half can verify tokens but not create them. Several simultaneous keys
// allow rotation without ending sessions.

/** The only accepted algorithm: a token does not choose how it is verified. */
export const TOKEN_ALGORITHM = 'EdDSA'

/** A key of /.well-known/jwks.json (RFC 7517, RFC 8037). */
export type PublicKey = {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly kid: string
  readonly alg: typeof TOKEN_ALGORITHM
  readonly use: 'sig'
}

type Keys = {
  readonly signing: { readonly kid: string; readonly key: CryptoKey }
  readonly verifying: ReadonlyMap<string, CryptoKey>
  readonly shown: readonly PublicKey[]
}

/** A JSON Web Key Set. The first key signs; tokens signed by any of the keys are accepted. */
export type TokenKeys = Pick<Env, 'TOKEN_KEYS'>

let imported: { readonly text: string; readonly keys: Promise<Keys> } | undefined

/** Imports the keys once per isolate. Throws when they are missing or invalid. */
export function tokenKeys({ TOKEN_KEYS }: TokenKeys): Promise<Keys> {
  if (imported?.text !== TOKEN_KEYS) imported = { text: TOKEN_KEYS, keys: importKeys(TOKEN_KEYS) }
  return imported.keys
}

/** Builds an error without the text of the keys, which is secret: errors are logged. */
const tokenKeysError = (why: string): Error =>
  new Error(
    `TOKEN_KEYS must be a JSON Web Key Set of Ed25519 keys; ${why}. \`npm run token-key\` creates a key.`,
  )

const BASE64URL_32_BYTES = /^[\w-]{43}$/

async function importKeys(text: string | undefined): Promise<Keys> {
  const keySet = readKeySet(text)
  if (typeof keySet[0]!.d !== 'string')
    throw tokenKeysError('the first key, which signs, lacks its private half')
  const verifying = new Map<string, CryptoKey>()
  const shown: PublicKey[] = []
  for (const { kty, crv, x, kid } of keySet) {
    if (kty !== 'OKP' || crv !== 'Ed25519' || !BASE64URL_32_BYTES.test(String(x)))
      throw tokenKeysError('one of the keys is of another type')
    if (typeof kid !== 'string' || kid === '' || verifying.has(kid))
      throw tokenKeysError("each key needs its own 'kid'")
    const publicKey: PublicKey = { kty, crv, x: String(x), kid, alg: TOKEN_ALGORITHM, use: 'sig' }
    verifying.set(kid, await importKey({ kty, crv, x: publicKey.x }, 'verify'))
    shown.push(publicKey)
  }
  const { d } = keySet[0]!
  const { kid, kty, crv, x } = shown[0]!
  return { signing: { kid, key: await importKey({ kty, crv, x, d: d as string }, 'sign') }, verifying, shown }
}

const importKey = (key: JsonWebKey, use: 'sign' | 'verify'): Promise<CryptoKey> =>
  crypto.subtle.importKey('jwk', key, { name: 'Ed25519' }, false, [use])

function readKeySet(text: string | undefined): readonly Readonly<Record<string, unknown>>[] {
  let set: unknown
  try {
    set = JSON.parse(text ?? '')
  } catch {
    throw tokenKeysError('it is not set, or is not JSON')
  }
  const keys = (set as { keys?: unknown } | null)?.keys
  if (!Array.isArray(keys) || keys.length === 0) throw tokenKeysError('it has no keys')
  if (!keys.every(key => typeof key === 'object' && key !== null))
    throw tokenKeysError('one of the keys is not an object')
  return keys
}
