import { z } from '@hono/zod-openapi'
import { Flag, Text } from '../../platform/wire.ts'
import { RESOURCE_TYPES } from '../../reference/resource.ts'
import { BOOTSTRAP_STATUSES } from './bootstrap.ts'

export const BootstrapItemResponse = z
  .object({
    name: Text,
    kind: z.enum(['resource', 'group']),
    resourceType: z.enum(RESOURCE_TYPES).optional(),
    status: z.enum(BOOTSTRAP_STATUSES),
    message: Text.optional().openapi({ description: 'Why it failed.' }),
  })
  .openapi('BootstrapItemResponse')

export const BootstrapListResponse = z
  .object({ listCompleted: Flag, items: z.array(BootstrapItemResponse) })
  .openapi('BootstrapListResponse')
export type BootstrapListResponse = z.output<typeof BootstrapListResponse>
