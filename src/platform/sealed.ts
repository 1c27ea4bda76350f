// Values that must not lie in a database as they are: secrets of connections. AES-256-GCM under a key that only the
// service's environment has; bound to the place where the value is kept, so that one that is moved to another record
// or tenant does not open there.

/** Shortest key that is taken: 32 random bytes in base64 have 43 characters. */
const SHORTEST_KEY = 32

/** Which way of sealing it is, so that another can come beside it. */
const FORM = 'v1.'

const IV_BYTES = 12

const encoder = new TextEncoder()

let derived: { secret: string; key: Promise<CryptoKey> } | undefined

/** The key of the secret, made once for an isolate. */
function keyOf(secret: string | undefined): Promise<CryptoKey> {
  if (secret === undefined || secret.length < SHORTEST_KEY)
    throw new Error(`SEALING_KEY must be set, with at least ${SHORTEST_KEY} characters.`)
  if (derived?.secret !== secret)
    derived = {
      secret,
      key: crypto.subtle
        .digest('SHA-256', encoder.encode(secret))
        .then(bytes => crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])),
    }
  return derived.key
}

type Sealing = Pick<Env, 'SEALING_KEY'>

/** The text, sealed for the place (platform/tenancy, `sealedPlace`). */
export async function seal({ SEALING_KEY }: Sealing, place: string, text: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const sealed = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv, additionalData: encoder.encode(place) },
    await keyOf(SEALING_KEY),
    encoder.encode(text),
  )
  return FORM + Buffer.concat([iv, new Uint8Array(sealed)]).toString('base64url')
}

/** The text that was sealed for the place. Throws when it was for another, was changed, or the key is another. */
export async function unseal({ SEALING_KEY }: Sealing, place: string, sealed: string): Promise<string> {
  const bytes = Buffer.from(sealed.slice(FORM.length), 'base64url')
  if (!sealed.startsWith(FORM)) throw new Error('What is kept is not sealed.')
  try {
    const text = await crypto.subtle.decrypt(
      { name: 'AES-GCM', iv: bytes.subarray(0, IV_BYTES), additionalData: encoder.encode(place) },
      await keyOf(SEALING_KEY),
      bytes.subarray(IV_BYTES),
    )
    return new TextDecoder().decode(text)
  } catch (problem) {
    if (!(problem instanceof DOMException)) throw problem
    throw new Error('A sealed value does not open: SEALING_KEY is another than when it was kept.')
  }
}
