import { z } from '@hono/zod-openapi'
import { component, Flag, Name, OptionalName, OptionalText, Text, Texts } from '../../platform/wire.ts'
import { rule } from '../../platform/wire-problem.ts'
import { ACCOUNT_TYPES_BY_RANK } from '../../product/roles.ts'
import { AccountResponse } from '../contract.ts'

/** Maximum number of roles of one tenant, in addition to the roles of its configuration. */
export const MOST_ROLES = 100

/** Maximum number of roles of one account. */
export const MOST_ROLES_OF_ACCOUNT = 20

/** There are fewer permissions than this. */
const MOST_PERMISSIONS = 500

/** Names that need no encoding in a path. */
const ROLE_NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

const content = {
  title: OptionalName.describe('Display name. Default: the name.'),
  permissions: z
    .array(Name)
    .min(1)
    .max(MOST_PERMISSIONS)
    .openapi({
      description:
        'Permissions of the role, as `group.action`, or `group.*` for a whole group, including permissions that the group gets later. Only permissions that you have.',
      example: ['policies.read', 'policies.list', 'quotes.*'],
    }),
}

export const RoleWriteRequest = component('RoleWriteRequest', content)
export type RoleWriteRequest = z.output<typeof RoleWriteRequest>

export const RoleCreateRequest = component('RoleCreateRequest', {
  name: z
    .string()
    .regex(
      ROLE_NAME,
      rule('must have 1 to 63 lower-case letters, digits and hyphens, with no hyphen first or last'),
    )
    .openapi({
      description:
        'Lower-case letters, digits and hyphens. Not the name of a role of the configuration, and not a word that means an account type, such as `admin`.',
      example: 'claims-desk',
    }),
  ...content,
})
export type RoleCreateRequest = z.output<typeof RoleCreateRequest>

export const RoleResponse = component('RoleResponse', {
  name: Text.describe('Name of the account type or of the role.'),
  title: OptionalText.describe('Display name. Absent for account types.'),
  source: z
    .enum(['accountType', 'configuration', 'interface'])
    .describe(
      'Where the role comes from. Roles of the interface are changed there, those of the configuration by a deploy.',
    ),
  accountType: z
    .enum(ACCOUNT_TYPES_BY_RANK)
    .optional()
    .describe(
      'Account type that has the role. Absent for roles of the interface, which any account can have.',
    ),
  permissions: Texts.describe('Permissions of the role, as `group.action`; `group.*` for a whole group.'),
})
export type RoleResponse = z.infer<typeof RoleResponse>

export const UserRolesRequest = component('UserRolesRequest', {
  roles: z
    .array(Name)
    .max(MOST_ROLES_OF_ACCOUNT)
    .openapi({
      description:
        'Names of roles of the interface, and account types, by full name or last part, such as `employee`. The account has all their permissions together. Empty: the permissions of its account type.',
      example: ['claims-desk'],
    }),
})
export type UserRolesRequest = z.output<typeof UserRolesRequest>

export const UserResponse = component('UserResponse', {
  ...AccountResponse.shape,
  roles: Texts.describe(
    'Roles of the interface and account types that the account was given; they replace the permissions of its account type. Empty if its type or the configuration determines its permissions.',
  ),
  identityProvider: OptionalText.describe(
    'Name of the identity provider by which it signs in, or the issuer if the tenant no longer has that provider. Absent if it is not tied to one.',
  ),
  permissions: Texts.describe('Permissions of the account, as `group.action`; `group.*` for a whole group.'),
})
export type UserResponse = z.infer<typeof UserResponse>

export const UserListResponse = component('UserListResponse', {
  listCompleted: Flag.describe('Whether this is the last page.'),
  items: z.array(UserResponse),
})
export type UserListResponse = z.infer<typeof UserListResponse>
