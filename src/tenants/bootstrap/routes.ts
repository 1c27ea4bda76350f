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
  message: Text.optional().describe('The reason for the failure.'),
})

export const BootstrapListResponse = component('BootstrapListResponse', {
  listCompleted: Flag,
  items: z.array(BootstrapItemResponse),
})
export type BootstrapListResponse = z.output<typeof BootstrapListResponse>

const { get } = forTenant('Resources')

export const bootstrapRoutes: readonly Route[] = [
  get('/resource/{tenantLocator}/bootstrap/list', {
    summary: "List the results of creating the tenant's initial resources",
    description:
      'Resources and groups of `bootstrap/resources` in the archive of the tenant’s first configuration, in the order of creation, which begins after the deploy. Upload the failed ones yourself.',
    permission: 'resources.list',
    answer: {
      schema: BootstrapListResponse,
      description: 'All initial resources and groups; an empty list if the archive had none.',
    },
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
