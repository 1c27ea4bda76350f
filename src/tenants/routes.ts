import { z } from '@hono/zod-openapi'
import { recordAudit } from '../access/audit/store.ts'
import { invalidRequest } from '../kernel/errors.ts'
import type { RequestContext } from '../platform/context.ts'
import { forTenant, type Route } from '../platform/http/route.ts'
import { agentsAreAllowed, controlDatabase, forgetTenants } from '../platform/tenancy.ts'
import {
  component,
  Flag,
  Integer,
  OptionalTimestamp,
  optionalRecord,
  RequestBoolean,
  requestInteger,
  Text,
  Timestamp,
} from '../platform/wire.ts'
import { reportProblem } from '../platform/wire-problem.ts'
import { moveClock } from './clock.ts'
import { putAgentAccess, putAllowedOrigins } from './store.ts'

/** A calendar span in the tenant's time zone. */
export const ClockAdvance = component('ClockAdvance', {
  amount: requestInteger(1, 1_000_000_000),
  unit: z.enum(['second', 'minute', 'hour', 'day', 'week', 'month', 'year']),
})

export const ClockRequest = z
  .object({ timestamp: OptionalTimestamp, advance: optionalRecord(ClockAdvance) })
  .check(ctx => {
    const { timestamp, advance } = ctx.value
    if ((timestamp === undefined) === (advance === undefined))
      reportProblem(ctx, "must have exactly one of 'timestamp' and 'advance'")
  })
  .openapi('ClockRequest')
export type ClockRequest = z.infer<typeof ClockRequest>

/** The clock continues from this time. Everything due until then was attempted. */
export const ClockResponse = component('ClockResponse', {
  timestamp: Timestamp,
  /** Not reached unless `completed`. */
  targetTimestamp: Timestamp,
  completed: Flag,
  /** Failed timers. They are tried again a minute after the target. */
  failed: Integer,
})
export type ClockResponse = z.infer<typeof ClockResponse>

const { get, put } = forTenant('Tenant')
const testTenants = forTenant('Test tenants')

export const tenantRoutes: readonly Route[] = [
  testTenants.post('/test/clock', {
    summary: "Move a test tenant's clock forward",
    description:
      "Moves the clock to `timestamp`, or by `advance` in the calendar of the tenant's time zone, by at most 10 years per call and never back. Everything that falls due in between (invoices, reminders, ends of policies) happens before the response, in order and each at its time; then the clock continues to run. Tokens, links and webhook deliveries use the real time. If `completed` is false, there was more to do than one call can do: the clock is at `timestamp`; send `targetTimestamp` as `timestamp` to continue. Other requests use the new time within 5 seconds. Not for production tenants.",
    permission: 'tenants.clock',
    body: { schema: ClockRequest, required: true },
    answer: { schema: ClockResponse, description: "The time of the tenant's clock." },
    handle: ({ body }, context) => moveClock(body, context),
  }),
]

const MOST_ORIGINS = 20

export const AllowedOrigins = component('AllowedOrigins', {
  allowedOrigins: z.array(Text).openapi({
    description:
      'Scheme, host and port, as browsers send them in `Origin`. Replaces all previous origins. Pages of these origins may call the API at the host that all tenants share.',
    example: ['https://portal.example'],
  }),
})
export type AllowedOrigins = z.infer<typeof AllowedOrigins>

const AgentAccessRequest = component('AgentAccessRequest', {
  allowed: RequestBoolean.describe('Whether software agents are allowed through `/mcp`.'),
})
type AgentAccessRequest = z.infer<typeof AgentAccessRequest>

const AgentAccessResponse = component('AgentAccessResponse', {
  allowed: Flag.describe('Whether software agents are allowed through `/mcp`.'),
})
type AgentAccessResponse = z.infer<typeof AgentAccessResponse>

export const settingRoutes: readonly Route[] = [
  get('/tenant/allowedOrigins', {
    summary: 'List the origins whose pages may read responses',
    permission: 'tenants.read',
    answer: { schema: AllowedOrigins, description: 'The origins.' },
    handle: async (_, { tenant }) => ({ allowedOrigins: [...(tenant.allowedOrigins ?? [])] }),
  }),
  get('/tenant/agentAccess', {
    summary: 'Read whether software agents are allowed',
    description: 'Bindery only. Agents connect through `/mcp` (docs/agents.md).',
    permission: 'tenants.read',
    answer: { schema: AgentAccessResponse, description: 'Whether they are allowed.' },
    handle: async (_, { tenant }) => ({ allowed: agentsAreAllowed(tenant) }),
  }),
  put('/tenant/agentAccess', {
    summary: 'Allow or block software agents',
    description:
      'Bindery only. Agents connect through `/mcp` with long-lived tokens and have the permissions of the token (docs/agents.md). By default, they are allowed in test tenants and not in production tenants. In effect everywhere within 5 seconds.',
    permission: 'tenants.write',
    body: { schema: AgentAccessRequest, required: true },
    answer: { schema: AgentAccessResponse, description: 'The new setting.' },
    handle: ({ body }, context) => setAgentAccess(body, context),
  }),
  put('/tenant/allowedOrigins', {
    summary: 'Set the origins whose pages may read responses',
    description:
      'Browsers let pages of these origins read responses (CORS), at the host that all tenants share. In effect everywhere within 5 seconds.',
    permission: 'tenants.write',
    body: { schema: AllowedOrigins, required: true },
    answer: { schema: AllowedOrigins, description: 'The new origins.' },
    handle: ({ body }, context) => setAllowedOrigins(body, context),
  }),
]

async function setAgentAccess(
  { allowed }: AgentAccessRequest,
  context: RequestContext,
): Promise<AgentAccessResponse> {
  const { env, tenant, calls } = context
  await recordAudit(context, {
    action: 'tenants.write',
    subject: 'agentAccess',
    details: { allowed },
  })
  await putAgentAccess(controlDatabase(env, calls), tenant.locator, allowed)
  forgetTenants()
  return { allowed }
}

/** Checks an origin as browsers send it. Rejects `*` and `null`. */
function parseOrigin(text: string): string {
  const wrong = invalidRequest(
    `'${text}' is not an origin. Use only scheme, host and port, such as https://portal.example.`,
  )
  if (text.length > 300 || !URL.canParse(text)) throw wrong
  const { origin, protocol } = new URL(text)
  // An asterisk would be taken literally and match no origin.
  if (origin !== text || text.includes('*') || (protocol !== 'https:' && protocol !== 'http:')) throw wrong
  return origin
}

async function setAllowedOrigins(
  { allowedOrigins: texts }: AllowedOrigins,
  context: RequestContext,
): Promise<AllowedOrigins> {
  const { env, tenant, calls } = context
  const allowedOrigins = [...new Set(texts.map(parseOrigin))]
  if (allowedOrigins.length > MOST_ORIGINS)
    throw invalidRequest(`At most ${MOST_ORIGINS} origins are allowed.`)
  await recordAudit(context, {
    action: 'tenants.write',
    subject: 'allowedOrigins',
    details: { allowedOrigins },
  })
  await putAllowedOrigins(controlDatabase(env, calls), tenant.locator, allowedOrigins)
  forgetTenants()
  return { allowedOrigins }
}
