import { z } from '@hono/zod-openapi'
import { forTenant, type Route } from '../../platform/http/route.ts'
import { UsersQuery } from '../contract.ts'
import * as contract from './contract.ts'

const { delete: remove, get, post, put } = forTenant('Accounts')
const role = { schema: contract.RoleResponse, description: 'The role.' }

/** Loaded with the first call, because other requests about accounts do not need it. */
const service = () => import('./service.ts')

export const roleRoutes: readonly Route[] = [
  get('/auth/users', {
    summary: 'List the users of the tenant with their permissions',
    description:
      'Bindery only. The accounts of `GET /account/v1/accounts/list`, filtered by name, type, state or role, each with its permissions: those of the roles that it was given, otherwise of the roles of the newest configuration, otherwise of its account type. A long-lived token has at most these.',
    permission: ['users.list', 'users.read'],
    query: UsersQuery,
    answer: { schema: contract.UserListResponse, description: 'Oldest first.' },
    handle: async ({ query }, context) => (await import('./users.ts')).listUsers(query, context),
  }),
  put('/auth/users/{locator}/roles', {
    summary: 'Set the roles of an account',
    description:
      'Bindery only. Replaces the roles that it has. Roles replace the permissions of its account type. Not for your own account, users of the configuration, or accounts that sign in by an identity provider (409). The roles must not give permissions that you lack (422 `beyondOwner`). If the roles change, the access tokens of the account end everywhere within 5 seconds.',
    permission: 'users.write',
    body: { schema: contract.UserRolesRequest, required: true },
    answer: { schema: contract.UserResponse, description: 'The account with its new permissions.' },
    handle: async ({ params, body }, context) =>
      (await import('./assignment.ts')).giveRoles(params.locator, body, context),
  }),
  get('/auth/roles', {
    summary: 'List the roles of the tenant with their permissions',
    description:
      'Bindery only. Account types first; then the roles of the newest configuration (`security/roles.json`), which only a deploy changes, and the roles of the interface.',
    permission: ['users.list', 'users.read', 'roles.write'],
    answer: { schema: z.array(contract.RoleResponse), description: 'The roles.' },
    handle: async (_, context) => (await service()).listRoles(context),
  }),
  get('/auth/roles/{name}', {
    summary: 'Read a role',
    description: 'Bindery only. By its name in the list; an account type by its full name.',
    permission: ['users.list', 'users.read', 'roles.write'],
    answer: role,
    handle: async ({ params }, context) => (await service()).readRole(params.name, context),
  }),
  post('/auth/roles', {
    summary: 'Create a role',
    description:
      'Bindery only. In addition to the roles of the configuration. Accounts get it with `PUT /auth/users/{locator}/roles`, and people who sign in by an identity provider by the mappings of the provider. It must not give permissions that you lack (422 `beyondOwner`).',
    permission: 'roles.write',
    body: { schema: contract.RoleCreateRequest, required: true },
    answer: role,
    handle: async ({ body }, context) => (await service()).createRole(body, context),
  }),
  put('/auth/roles/{name}', {
    summary: 'Change the permissions of a role',
    description:
      'Bindery only. For a role of the interface; 409 for one of the configuration. Neither its old nor its new permissions may be ones that you lack (422 `beyondOwner`). Access tokens of all accounts that have it end everywhere within 5 seconds, and long-lived tokens keep only those listed permissions that their account still has.',
    permission: 'roles.write',
    body: { schema: contract.RoleWriteRequest, required: true },
    answer: role,
    handle: async ({ params, body }, context) => (await service()).replaceRole(params.name, body, context),
  }),
  remove('/auth/roles/{name}', {
    summary: 'Delete a role',
    description:
      'Bindery only. For a role of the interface that no account has and no mapping gives; otherwise 409, with their names.',
    permission: 'roles.write',
    answer: { description: 'The role is deleted.' },
    handle: async ({ params }, context) => (await service()).deleteRole(params.name, context),
  }),
]
