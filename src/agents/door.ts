// `/mcp`: software agents, by the Model Context Protocol (docs/agents.md). This side knows the tenant and its databases. The
// protocol and its tools are a separate bundle, which reaches the service only through `Host`.
import { version } from '../../package.json'
import { loadAgents } from '../bundles/load.ts'
import { ERROR_KINDS, forbidden, invalidRequest, Refusal, tooLarge } from '../kernel/errors.ts'
import { readJson } from '../platform/http/body/json.ts'
import type { Entry } from '../platform/http/door.ts'
import { agentsAreAllowed, type Tenant } from '../platform/tenancy.ts'
import { beginPreviewed, keepPreview, takePreview } from './kept-previews.ts'
import { productFields } from './product-fields.ts'
import type { Answered, Asked, Host } from './protocol/host.ts'

/** The limit for one message. */
const LARGEST_MESSAGE_BYTES = 65_536

/** The limit for a response to an agent, in characters. The list of tools is the longest. */
const LONGEST_RESPONSE = 262_144

/** Rejects with 403 if the tenant does not allow agents. The message says how to allow them. */
function requireAgents(tenant: Tenant): void {
  if (agentsAreAllowed(tenant)) return
  throw forbidden(
    `Agents are not allowed in the ${tenant.type} tenant '${tenant.name}'. An administrator of the tenant can allow them: PUT /tenant/agentAccess with {"allowed": true}.`,
  )
}

function requireMessage(message: unknown): void {
  if (Array.isArray(message))
    throw invalidRequest('Send one JSON-RPC message per request, not an array of messages.')
  if ((message as { method?: unknown })?.method === 'subscriptions/listen')
    throw invalidRequest(
      'Subscriptions are not supported. Call read_events with a cursor to read new events.',
    )
}

/** Throws Refusals before the protocol handles the message; answers of the protocol have a different form. */
export async function answerAgent({ request, context, dispatch }: Entry): Promise<Response> {
  requireAgents(context.tenant)
  const { value: message } = await readJson(request, { largestBytes: LARGEST_MESSAGE_BYTES })
  requireMessage(message)
  const { serveAgent } = await loadAgents()
  const { url, method, headers } = request
  const response = await serveAgent(
    new Request(url, { method, headers }),
    message,
    hostFor({ request, context, dispatch }),
  )
  return await readToEnd(response)
}

/** Reads the response to its end, so that the round trips of the tool are known when the answer leaves. */
async function readToEnd(response: Response): Promise<Response> {
  const text = await response.text()
  if (text.length > LONGEST_RESPONSE)
    throw tooLarge(`The response would have more than ${LONGEST_RESPONSE} characters. Request less.`)
  const { status } = response
  const headers = new Headers(response.headers)
  return new Response(text === '' ? null : text, { status, headers })
}

function hostFor({ request, context, dispatch }: Entry): Host {
  const { locator, name, type } = context.tenant
  return {
    tenant: { locator, name, type },
    version,
    call: asked => callRoute(asked, { request, context, dispatch }),
    products: () => answerOf(productFields(context)),
    keep: previewed => answerOf(keepPreview(context, previewed)),
    take: preview => answerOf(takePreview(context, preview)),
    begin: (preview, previewed) => answerOf(beginPreviewed(context, preview, previewed)),
  }
}

/** Calls a route of this service as the agent's account. */
async function callRoute(
  { method, path, query = {}, body, ifPreviewed }: Asked,
  { request, context, dispatch }: Entry,
): Promise<Answered> {
  const url = new URL(path, request.url)
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value))
  const headers = new Headers({
    authorization: request.headers.get('authorization')!,
    'x-client-request-id': context.requestId,
  })
  if (body) headers.set('content-type', 'application/json')
  if (ifPreviewed !== undefined) headers.set('if-previewed', ifPreviewed)
  const response = await dispatch(
    new Request(url, { method, headers, ...(body && { body: JSON.stringify(body) }) }),
  )
  const text = await response.text()
  const requestId = response.headers.get('x-request-id') ?? undefined
  return {
    status: response.status,
    body: text === '' ? {} : JSON.parse(text),
    ...(requestId && { requestId }),
  }
}

/** Returns the result in the form of a route's answer, including a Refusal. */
async function answerOf(work: Promise<unknown>): Promise<Answered> {
  try {
    return { status: 200, body: await work }
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem
    const { code, message, details } = problem
    return { status: ERROR_KINDS[code].status, body: { code, message, ...details } }
  }
}
