// What an administrator of a tenant, or the operator, sets for it in the control database.
import { z } from '@hono/zod-openapi'
import { recordAudit } from '../access/audit/store.ts'
import { Refusal } from '../kernel/errors.ts'
import type { RequestContext } from '../platform/context.ts'
import { type Route, tenantRoute } from '../platform/http/route.ts'
import { controlDatabase, forgetTenants } from '../platform/tenancy.ts'
import { Text } from '../platform/wire.ts'
import { setSettings } from './store.ts'

const MOST_ORIGINS = 20

export const AllowedOrigins = z
  .object({
    allowedOrigins: z.array(Text).openapi({
      description:
        'Scheme, host and port, as browsers send them in `Origin`; all of them, in the place of those before.',
      example: ['https://portal.example'],
    }),
  })
  .openapi('AllowedOrigins')
export type AllowedOrigins = z.infer<typeof AllowedOrigins>

export const settingRoutes: readonly Route[] = [
  tenantRoute({
    method: 'get',
    path: '/tenant/allowedOrigins',
    summary: 'Which pages may read answers',
    tags: ['Tenant'],
    permission: 'tenants.read',
    answer: { schema: AllowedOrigins, description: 'The origins.' },
    handle: async (_, { tenant }) => ({ allowedOrigins: [...(tenant.allowedOrigins ?? [])] }),
  }),
  tenantRoute({
    method: 'put',
    path: '/tenant/allowedOrigins',
    summary: 'Set which pages may read answers',
    description:
      "Browsers let pages of these origins read answers (CORS), if they call the tenant's own host name. Everywhere within 5 seconds.",
    tags: ['Tenant'],
    permission: 'tenants.write',
    body: { schema: AllowedOrigins, required: true },
    answer: { schema: AllowedOrigins, description: 'The origins as they are now.' },
    handle: ({ body }, context) => setAllowedOrigins(body, context),
  }),
]

/** An origin as browsers write it; neither `*` nor `null` is one. */
function checkedOrigin(text: string): string {
  const wrong = new Refusal(
    'invalidRequest',
    `'${text}' is no origin; write scheme, host and port alone, like https://portal.example.`,
  )
  if (text.length > 300 || !URL.canParse(text)) throw wrong
  const { origin, protocol } = new URL(text)
  // A star would be taken by its letter, and fit nobody.
  if (origin !== text || text.includes('*') || (protocol !== 'https:' && protocol !== 'http:')) throw wrong
  return origin
}

async function setAllowedOrigins(
  { allowedOrigins: texts }: AllowedOrigins,
  context: RequestContext,
): Promise<AllowedOrigins> {
  const { env, tenant, calls } = context
  const allowedOrigins = [...new Set(texts.map(checkedOrigin))]
  if (allowedOrigins.length > MOST_ORIGINS)
    throw new Refusal('invalidRequest', `There may be ${MOST_ORIGINS} origins at most.`)
  await recordAudit(context, {
    action: 'tenants.write',
    subject: 'allowedOrigins',
    details: { allowedOrigins },
  })
  await setSettings(controlDatabase(env, calls), tenant.locator, { allowedOrigins })
  forgetTenants()
  return { allowedOrigins }
}
