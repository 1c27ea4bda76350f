import { z } from '@hono/zod-openapi'
import type { RequestContext } from '../../platform/context.ts'
import { forTenant, type Route } from '../../platform/http/route.ts'
import { homeDatabase } from '../../platform/tenancy.ts'
import { component, Flag, Text } from '../../platform/wire.ts'
import { RESOURCE_TYPES } from '../../product/resources.ts'
import { BOOTSTRAP_STATUSES, readItems } from './store.ts'

export const BootstrapItemResponse = component('BootstrapItemResponse', {
  name: Text,
  kind: z.enum(['resource', 'group']),
  resourceType: z.enum(RESOURCE_TYPES).optional(),
  status: z.enum(BOOTSTRAP_STATUSES),
  message: Text.optional().describe('Why it failed.'),
})

export const BootstrapListResponse = component('BootstrapListResponse', {
  listCompleted: Flag,
  items: z.array(BootstrapItemResponse),
})
export type BootstrapListResponse = z.output<typeof BootstrapListResponse>

const { get } = forTenant('Resources')

export const bootstrapRoutes: readonly Route[] = [
  get('/resource/{tenantLocator}/bootstrap/list', {
    summary: 'See what became of the resources that the tenant started with',
    description:
      'Resources and groups of `bootstrap/resources` in the archive of the tenant’s first configuration, in the order in which they are made, which happens after the deploy. What failed has to be uploaded.',
    permission: 'resources.list',
    answer: { schema: BootstrapListResponse, description: 'All of them; none where the archive had none.' },
    handle: (_, context) => listBootstrap(context),
  }),
]

async function listBootstrap(context: RequestContext): Promise<BootstrapListResponse> {
  const items = await readItems(homeDatabase(context))
  return {
    listCompleted: true,
    items: items.map(({ name, kind, type, status, message }) => ({
      name,
      kind,
      ...(type !== null && { resourceType: type }),
      status,
      ...(message !== null && { message }),
    })),
  }
}
