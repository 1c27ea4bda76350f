// What the caller may do.
import { z } from '@hono/zod-openapi'
import { permissionsHeld } from '../platform/http/permissions.ts'
import { type Route, signedInRoute } from '../platform/http/route.ts'
import { OptionalText, Text } from '../platform/wire.ts'

export const OwnPermissionsResponse = z
  .object({
    username: Text,
    accountType: Text,
    tenantName: OptionalText.openapi({ description: 'Absent for an administration account.' }),
    permissions: z.array(Text).openapi({
      description: 'As `group.action`, each by its whole name.',
      example: ['policies.read', 'policies.write'],
    }),
  })
  .openapi('OwnPermissionsResponse')

export const ownPermissionRoutes: readonly Route[] = [
  signedInRoute({
    method: 'get',
    path: '/auth/permissions',
    summary: 'List what the caller may do',
    description:
      'By the permissions of the token where it has some of its own, else by the roles that the configuration defines, else by the account type.',
    tags: ['Accounts'],
    answer: { schema: OwnPermissionsResponse, description: 'The permissions of the caller.' },
    handle: async (_, { caller, tenant }) => ({
      username: caller.username,
      accountType: caller.accountType,
      ...(tenant && { tenantName: tenant.name }),
      permissions: permissionsHeld(caller),
    }),
  }),
]
