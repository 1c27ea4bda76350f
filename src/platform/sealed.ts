// Encrypts secrets of tenants and connections before they are stored: AES-256-GCM with keys from the environment. The key and the
// associated data bind each value to its place: in another record or tenant, it cannot be decrypted.
import { createHmac, type Hmac } from 'node:crypto'

/** In characters. 32 random bytes in base64 have 43 or more. */
const SHORTEST_KEY = 32

/** Version of the format. */
const FORM = 'v1'

const IV_BYTES = 12
const KEY_ID_CHARACTERS = 8

const encoder = new TextEncoder()

/** A key from the environment and its name in sealed values. */
type MasterKey = { readonly id: string; readonly key: CryptoKey }

let derived: { readonly secrets: string; readonly keys: Promise<MasterKey[]> } | undefined

/** Splits a variable into its secrets, newest first, separated by commas. Throws when one is missing or too short. */
export function secretsIn(name: string, text: string | undefined, shortest = 1): string[] {
  const secrets = (text ?? '').split(',').map(secret => secret.trim())
  if (secrets.some(({ length }) => length < shortest))
    throw new Error(`${name} must be set${shortest > 1 ? `, with at least ${shortest} characters` : ''}.`)
  return secrets
}

const sealingKeys = (text: string | undefined): string[] => secretsIn('SEALING_KEY', text, SHORTEST_KEY)

/** Imports the keys once per isolate. */
function keysOf(secrets: string | undefined): Promise<MasterKey[]> {
  const each = sealingKeys(secrets)
  if (derived && derived.secrets === secrets) return derived.keys
  const keys = Promise.all(each.map(masterKey))
  derived = { secrets: secrets!, keys }
  return keys
}

async function masterKey(secret: string): Promise<MasterKey> {
  const [named, key] = await Promise.all([
    crypto.subtle.digest('SHA-256', encoder.encode(`id of the sealing key ${secret}`)),
    crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, ['deriveKey']),
  ])
  return { id: Buffer.from(named).toString('hex').slice(0, KEY_ID_CHARACTERS), key }
}

/** Derives the key of a place. The key of one tenant's values does not decrypt another tenant's. */
const keyOfPlace = ({ key }: MasterKey, place: string, use: 'encrypt' | 'decrypt'): Promise<CryptoKey> =>
  crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: encoder.encode(place) },
    key,
    { name: 'AES-GCM', length: 256 },
    false,
    [use],
  )

/** Keys separated by commas. The first seals; all of them unseal. */
type Sealing = Pick<Env, 'SEALING_KEY'>

/** Encrypts text. The result is format, key id and value, separated by dots. `place` is from `sealedPlace`. */
export async function seal({ SEALING_KEY }: Sealing, place: string, text: string): Promise<string> {
  const [master] = await keysOf(SEALING_KEY)
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const sealed = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv, additionalData: encoder.encode(place) },
    await keyOfPlace(master!, place, 'encrypt'),
    encoder.encode(text),
  )
  return `${FORM}.${master!.id}.${Buffer.concat([iv, new Uint8Array(sealed)]).toString('base64url')}`
}

/** Decrypts text. Throws when it was sealed for another place, was changed, or its key is gone. */
export async function unseal({ SEALING_KEY }: Sealing, place: string, sealed: string): Promise<string> {
  const [form, keyId, value] = sealed.split('.')
  if (form !== FORM || value === undefined) throw new Error('The stored value is not sealed.')
  const master = (await keysOf(SEALING_KEY)).find(({ id }) => id === keyId)
  if (!master)
    throw new Error('A sealed value cannot be opened: SEALING_KEY does not contain the key that sealed it.')
  const bytes = Buffer.from(value, 'base64url')
  try {
    const text = await crypto.subtle.decrypt(
      { name: 'AES-GCM', iv: bytes.subarray(0, IV_BYTES), additionalData: encoder.encode(place) },
      await keyOfPlace(master, place, 'decrypt'),
      bytes.subarray(IV_BYTES),
    )
    return new TextDecoder().decode(text)
  } catch (problem) {
    if (!(problem instanceof DOMException)) throw problem
    throw new Error('A sealed value cannot be opened: it was changed, or sealed for another record.')
  }
}

/**
 * Returns an HMAC for texts that may be secret: a short secret could be guessed from a plain hash. It uses the oldest key, so that
 * adding a new first key does not change hashes.
 */
export const keyedHash = ({ SEALING_KEY }: Sealing): Hmac =>
  createHmac('sha256', `hashes of ${sealingKeys(SEALING_KEY).at(-1)}`)
