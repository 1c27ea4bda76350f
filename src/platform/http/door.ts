// A door: one path next to the routes that has its own protocol and calls routes with the rights of its caller. The routes check
// permissions, input and conditions and write the audit trail, as for any other request.
import { forbidden } from '../../kernel/errors.ts'
import { addFigures, type Calls, noCalls } from '../calls.ts'
import type { RequestContext } from '../context.ts'
import { tenantNow } from '../tenancy.ts'
import { checkTarget, type Exchange } from './exchange.ts'
import type { Callers } from './permissions.ts'
import { limitAddress, limitAgent, limitCaller } from './rate-limits.ts'
import { publicOrigin } from './serve.ts'

export type Door = {
  readonly path: string
  /** Path of the metadata that describe to a client how to sign in (RFC 9728). */
  readonly metadata: string
  /** Imported with the first request. */
  readonly load: () => Promise<(entry: Entry) => Promise<Response>>
}

export type Entry = {
  readonly request: Request
  readonly context: RequestContext
  /** Calls a route. Its round trips count as those of the entry. */
  readonly dispatch: (request: Request) => Promise<Response>
}

type Hall = {
  readonly env: Env
  readonly later: RequestContext['later']
  readonly callers: Callers
  readonly fetch: (request: Request) => Promise<Response>
}

/** Requests that a door makes, with their own figures. Only this module adds requests, so no caller can pose as a door. */
const callsOfRequests = new WeakMap<Request, Calls>()

/** Returns the figures of a request that came through a door, or undefined for any other request. */
export const callsWithin = (request: Request): Calls | undefined => callsOfRequests.get(request)

/** Authenticates the caller and lets the door respond. Throws problems that `problemResponse` turns into responses. */
export async function serveDoor(
  door: Door,
  exchange: Exchange,
  { env, later, callers, fetch }: Hall,
): Promise<Response> {
  checkTarget(exchange)
  const { request, requestId, calls } = exchange
  const who = await callers.signedIn(exchange, env).catch(async problem => {
    await limitAddress(env, request, door)
    throw problem
  })
  exchange.isSignedIn = true
  const { tenant } = who
  if (!tenant)
    throw forbidden(
      `${door.path} serves accounts of a tenant; use a long-lived token of one of its accounts.`,
    )
  exchange.tenant = tenant
  await limitCaller(env, who)
  await limitAgent(env, request)
  const caller = { ...who.caller, isAgent: true } as const
  const context = {
    env,
    tenant,
    caller,
    requestId,
    now: tenantNow(tenant),
    idempotency: undefined,
    calls,
    later,
  }
  const dispatch = async (inner: Request): Promise<Response> => {
    const figures = noCalls()
    callsOfRequests.set(inner, figures)
    try {
      return await fetch(inner)
    } finally {
      addFigures(calls, figures)
    }
  }
  const answer = await door.load()
  return await answer({ request, context, dispatch })
}

const originOf = (env: Env, exchange: Exchange): string => publicOrigin(env, exchange, exchange.tenant)

/** Returns the header of a 401 that says where a client can read how to sign in. */
export const challenge = ({ metadata }: Door, env: Env, exchange: Exchange): string =>
  `Bearer resource_metadata="${originOf(env, exchange)}${metadata}"`

/**
 * Responds with the metadata of RFC 9728. It names no authorization server: tokens are created with the API (docs/accounts.md).
 */
export function metadataResponse({ path }: Door, env: Env, exchange: Exchange): Response {
  const origin = originOf(env, exchange)
  return Response.json({
    resource: `${origin}${path}`,
    resource_name: 'Bindery',
    bearer_methods_supported: ['header'],
    resource_documentation: `${origin}/docs`,
  })
}
