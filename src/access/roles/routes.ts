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
    summary: 'List the users of the tenant with what they may',
    description:
      'Bindery only. The accounts of `GET /account/v1/accounts/list`, chosen by name, type, state or role, each with its permissions: those of the roles that it was given, else of the roles of the newest configuration, else of its account type. A long-lived token has at most these.',
    permission: ['users.list', 'users.read'],
    query: UsersQuery,
    answer: { schema: contract.UserListResponse, description: 'In the order in which they were made.' },
    handle: async ({ query }, context) => (await import('./users.ts')).listUsers(query, context),
  }),
  put('/auth/users/{locator}/roles', {
    summary: 'Give an account roles',
    description:
      'Bindery only. In the place of those that it has; they replace what its account type gives. Not to your own account, not to users of the configuration, and not to who signs in by an identity provider (409). Nothing that you may not do yourself (422 `beyondOwner`). If the roles are others, its access tokens end everywhere within 5 seconds.',
    permission: 'users.write',
    body: { schema: contract.UserRolesRequest, required: true },
    answer: { schema: contract.UserResponse, description: 'The account with what it may now.' },
    handle: async ({ params, body }, context) =>
      (await import('./assignment.ts')).giveRoles(params.locator, body, context),
  }),
  get('/auth/roles', {
    summary: 'List the roles of the tenant with what they give',
    description:
      'Bindery only. Account types first; then the roles of the newest configuration (`security/roles.json`), which a deploy changes, and those of the interface.',
    permission: ['users.list', 'users.read', 'roles.write'],
    answer: { schema: z.array(contract.RoleResponse), description: 'The roles.' },
    handle: async (_, context) => (await service()).listRoles(context),
  }),
  get('/auth/roles/{name}', {
    summary: 'Read a role',
    description: 'Bindery only. By the name that the list has; an account type by its whole name.',
    permission: ['users.list', 'users.read', 'roles.write'],
    answer: role,
    handle: async ({ params }, context) => (await service()).readRole(params.name, context),
  }),
  post('/auth/roles', {
    summary: 'Make a role',
    description:
      'Bindery only. Beside the roles of the configuration; accounts get it with `PUT /auth/users/{locator}/roles`, and people who sign in by an identity provider by its mappings. It may give nothing that you may not do (422 `beyondOwner`).',
    permission: 'roles.write',
    body: { schema: contract.RoleCreateRequest, required: true },
    answer: role,
    handle: async ({ body }, context) => (await service()).createRole(body, context),
  }),
  put('/auth/roles/{name}', {
    summary: 'Change what a role gives',
    description:
      'Bindery only. A role of the interface; one of the configuration is 409. Neither before nor after may it give what you may not do (422 `beyondOwner`). Access tokens of all accounts that have it end everywhere within 5 seconds, and long-lived tokens may what is left of their lists.',
    permission: 'roles.write',
    body: { schema: contract.RoleWriteRequest, required: true },
    answer: role,
    handle: async ({ params, body }, context) => (await service()).replaceRole(params.name, body, context),
  }),
  remove('/auth/roles/{name}', {
    summary: 'Delete a role',
    description:
      'Bindery only. A role of the interface that no account has and no mapping gives; else 409, which names them.',
    permission: 'roles.write',
    answer: { description: 'It is deleted.' },
    handle: async ({ params }, context) => (await service()).deleteRole(params.name, context),
  }),
]
