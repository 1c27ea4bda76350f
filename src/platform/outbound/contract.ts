// Addresses that a client configures for the service to call, and their headers (resources brief 7.3).
import { z } from '@hono/zod-openapi'
import { reportProblem, rule } from '../wire-problem.ts'
import { hasControlCharacters } from './address.ts'
import { hasBrokenReference, meansReference } from './masking.ts'

const MOST_HEADERS = 20
const MOST_HEADER_CHARACTERS = 4_096

/** An address to call. address.ts checks the host when the call is made. */
export const OutboundUrl = z
  .string()
  .max(2_048)
  .refine(text => {
    const url = URL.parse(text)
    return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  }, rule('must be an http or https address without user name and password'))
  .refine(text => !hasControlCharacters(text), rule('must have no spaces or control characters'))
  .refine(
    text => !meansReference(text),
    rule('must not refer to a secret; headers may, with {{secret:staticName.item}}'),
  )
  .openapi({ format: 'uri' })

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Headers that the service sets. With `Upgrade`, the runtime sends a GET without the body. */
const OWN_HEADERS =
  /^(host|content-length|connection|upgrade|transfer-encoding|idempotency-key|webhook-.*|socotra-signature.*)$/i
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Whether the text can be the value of a header: one line of Latin-1 characters. */
export const isHeaderValue = (text: string): boolean => HEADER_VALUE.test(text)

export const HeaderValue = z
  .string()
  .regex(HEADER_VALUE, rule('must be one line of Latin text'))
  .refine(
    text => !hasBrokenReference(text),
    rule('must refer to a secret as {{secret:staticName.item}}, without spaces'),
  )

/** Reports invalid and reserved names, duplicates, and too many headers. */
export function checkHeaders(
  ctx: z.core.ParsePayload,
  headers: Readonly<Record<string, string | readonly string[]>>,
): void {
  const names = new Set<string>()
  for (const name of Object.keys(headers)) {
    if (!HEADER_NAME.test(name)) reportProblem(ctx, 'is not a valid header name', [name])
    else if (OWN_HEADERS.test(name)) reportProblem(ctx, 'is set by the service; leave it out', [name])
    else if (names.has(name.toLowerCase()))
      reportProblem(ctx, 'is given twice, with different letter case', [name])
    names.add(name.toLowerCase())
  }
  const problem = headersProblem(headers)
  if (problem !== undefined) reportProblem(ctx, problem)
}

/** Returns the end of a sentence about the headers, or undefined when they are valid. */
export function headersProblem(
  headers: Readonly<Record<string, string | readonly string[]>>,
): string | undefined {
  const texts = Object.entries(headers).flat(2)
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  return Object.keys(headers).length > MOST_HEADERS || characters > MOST_HEADER_CHARACTERS
    ? `must be at most ${MOST_HEADERS} headers of ${MOST_HEADER_CHARACTERS} characters in all`
    : undefined
}
