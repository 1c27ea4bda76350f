// What a request makes of an integration. What it leaves out is gone; what it sends as `********`, as answers show
// secrets, stays what it was.
import { Refusal } from '../../kernel/errors.ts'
import { MASK } from '../../platform/outbound/masking.ts'
import type { ExternalServiceIntegrationUpdateRequest, SecuritySpecRequest } from './contract.ts'
import type { Connection, Security } from './integration.ts'

/** The connection of the request; refuses (400) a mask where `before` has nothing to keep. */
export function connectionOf(
  { url, headers, securitySpec }: ExternalServiceIntegrationUpdateRequest,
  before: Connection | undefined,
): Connection {
  return {
    url: keptUrl(url, before?.url),
    headers: keptHeaders(headers, before?.headers ?? {}),
    ...(securitySpec && { security: securityOf(securitySpec, before?.security) }),
  }
}

/** The 400 for a mask that stands for nothing. */
export const nothingKept = (what: string): Refusal =>
  new Refusal(
    'invalidRequest',
    `'${what}' is ${MASK}, which stands for a value that is kept, and none is; send the value.`,
  )

function keptHeaders(headers: Connection['headers'], before: Connection['headers']): Connection['headers'] {
  const kept = new Map(Object.entries(before).map(([name, value]) => [name.toLowerCase(), value]))
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (value !== MASK) return [name, value]
      const own = kept.get(name.toLowerCase())
      if (own === undefined) throw nothingKept(`headers.${name}`)
      return [name, own]
    }),
  )
}

/** The address with the kept values in the place of masks; refuses (400) a mask where `before` has none. */
export function keptUrl(address: string, before: string | undefined): string {
  const url = new URL(address)
  const masked = [...url.searchParams].filter(([, value]) => value === MASK)
  if (masked.length === 0) return address
  const kept = before === undefined ? undefined : new URL(before).searchParams
  for (const [name] of masked) {
    const own = kept?.get(name)
    if (own === undefined || own === null) throw nothingKept(`url?${name}`)
    url.searchParams.set(name, own)
  }
  return url.href
}

function securityOf(
  { hmacEnabled, secret: given, secureSSL, tag }: SecuritySpecRequest,
  before: Security | undefined,
): Security {
  const secret = given === MASK ? before?.secret : given
  if (given === MASK && secret === undefined) throw nothingKept('securitySpec.secret')
  return {
    hmacEnabled: hmacEnabled ?? secret !== undefined,
    secureSsl: secureSSL,
    ...(secret !== undefined && { secret }),
    ...(tag !== undefined && { tag }),
  }
}
