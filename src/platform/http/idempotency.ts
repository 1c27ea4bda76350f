import { Refusal } from '../../kernel/errors.ts'
import type { Caller, IdempotencyKey } from '../context.ts'
import { keyedHash } from '../sealed.ts'
import type { Exchange } from './exchange.ts'
import type { Form } from './form-body.ts'

const KEY = /^[\x21-\x7e]{1,255}$/

/** The body as it was sent, for the hash: bytes of JSON, a form by its parts, or none. */
export type SentBody = { readonly bytes: Uint8Array } | { readonly form: Form } | undefined

/**
 * The key of a write that the client may repeat, with a hash of all that makes the request this one; undefined
 * without the header. A form counts by its parts, since clients draw a new boundary for every try. The hash is keyed:
 * bodies have passwords and secrets, and the row is kept for weeks.
 */
export function idempotencyKey(
  { request, url }: Exchange,
  env: Pick<Env, 'SEALING_KEY'>,
  caller: Caller,
  body: SentBody,
): IdempotencyKey | undefined {
  // Migrations spell it with an X (resources brief 9.1).
  const key = request.headers.get('idempotency-key') ?? request.headers.get('x-idempotency-key')
  if (key === null) return undefined
  if (!KEY.test(key))
    throw new Refusal(
      'invalidParameter',
      'The Idempotency-Key must have 1 to 255 visible ASCII characters and no blanks.',
    )
  const hash = keyedHash(env)
  hash.update(`${request.method} ${url.pathname.replace(/\/$/, '')}${url.search}\n`)
  if (body && 'bytes' in body) hash.update(body.bytes)
  else if (body) {
    const { texts, file } = body.form
    hash.update(JSON.stringify(Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1))))
    if (file) hash.update('\n').update(file.bytes)
  }
  return { key: `${caller.accountLocator}:${key}`, bodyHash: hash.digest('hex') }
}
