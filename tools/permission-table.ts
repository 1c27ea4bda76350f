// Writes docs/permissions.md from the routes and the table of permissions. npm run docs:permissions
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadRoutes } from '../scripts/routes.ts'
import { ACCOUNT_TYPES, type AccountType } from '../src/platform/http/account-types.ts'
import { ALL_PERMISSIONS, type Permission, typeHasPermission } from '../src/platform/http/permissions.ts'
import type { Access, Route } from '../src/platform/http/route.ts'

const HEADINGS: Record<AccountType, string> = {
  'account.internal': 'internal',
  'account.tenant.admin': 'admin',
  'account.test.tenant.admin': 'test admin',
  'account.tenant.employee': 'employee',
  'account.tenant.claims.only.user': 'claims only',
  'account.tenant.read.only.user': 'read only',
}

const INTRODUCTION = `# Permissions

Generated from the routes and \`src/platform/http/permissions.ts\` by \`npm run docs:permissions\`; a test checks it.

A permission is \`group.action\`. A route names permissions, and any one of them is enough. A caller has the permissions of its account
type or, instead of those, the permissions of its roles (below) or of its long-lived token. A caller without a permission of the route
gets 403, with the name of the permission, before the query and the body are read. \`GET /auth/permissions\` lists the permissions of the caller, and \`GET /auth/whoami\`
also its identity. The tenant is checked first: a locator of another tenant gets 404, even if the caller has every permission.

\`custom\` covers a caller's own records: a caller with it, and without another permission of the route, may only act on its own account
and on records that it created (\`requireAccountAccess\`).

Administration accounts (\`internal\`) sign in without a tenant. They cannot use the paths of a tenant, even if they
have the permissions. To do so, they sign in to the tenant with \`POST /account/authenticateAdmin\`, as its administrator. Their own long-lived
tokens have at most \`deployments.*\`.

## Roles of a tenant

\`security/roles.json\` of a configuration gives a role a name, or a name and permissions:

\`\`\`json
{
  "agent": { "displayName": "Agent", "permissions": ["policies.*", "policyholders.*", "quotes.read"] },
  "read-only": { "displayName": "Reads policies", "permissions": ["policies.read", "policies.list"] },
  "underwriter": "Underwriter"
}
\`\`\`

A user has the permissions of all its roles together. A role that names an account type (\`admin\`, \`employee\`,
\`claims-only\`, \`read-only\`, in any spelling) redefines the permissions of accounts of that type, including accounts without
roles. A role without permissions gives the permissions of the account type. A deployment rejects permissions that do not exist, and
\`deployments.deploy\`, which no account of a tenant can have. The roles of the newest configuration apply. A deployment or repair that
changes them ends the access tokens of the tenant within 5 seconds, so that the next sign-in of every user has the new permissions. Within the
same time, long-lived tokens lose the permissions that the new roles do not give. The roles of the archive only apply to its own users:
an account that was added with the name of such a user has the permissions of its type.

A tenant can also create roles with the API (\`POST /auth/roles\`), and give them to accounts that were added and to people who
sign in with an identity provider. They replace the permissions of the account type. An account type among them has the permissions that
the configuration gives it, if the configuration redefines it ([accounts](accounts.md), "Roles").
`

const cell = (access: Access): string => {
  if (access.kind === 'public') return 'none: no token needed'
  if (access.permissions) return access.permissions.map(name => `\`${name}\``).join(' or ')
  return 'any valid token'
}

const mark = (access: Access, type: AccountType): string => {
  if (access.kind === 'public') return '✓'
  if (access.kind === 'tenant' && type === 'account.internal') return ''
  if (access.kind === 'administration' && type !== 'account.internal') return ''
  return !access.permissions || access.permissions.some(name => typeHasPermission(type, name)) ? '✓' : ''
}

const groupOf = ({ access }: Route): string => {
  if (access.kind === 'public' || !access.permissions) return '–'
  return [...new Set(access.permissions.map(name => name.split('.')[0]!))].join(', ')
}

function byPath(a: Route, b: Route): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1
  return a.method < b.method ? -1 : 1
}

/** Returns the document of these routes. */
export function permissionDocument(routes: readonly Route[]): string {
  const types = ACCOUNT_TYPES.map(type => HEADINGS[type])
  const rows = [...routes]
    .sort(byPath)
    .map(route => [
      `\`${route.method.toUpperCase()} ${route.path}\``,
      groupOf(route),
      cell(route.access),
      ...ACCOUNT_TYPES.map(type => mark(route.access, type)),
    ])
  const requiredByRoutes = new Set<Permission>(
    routes.flatMap(({ access }) => (access.kind === 'public' ? [] : (access.permissions ?? []))),
  )
  const permissionRows = ALL_PERMISSIONS.map(permission => [
    `\`${permission}\``,
    ...ACCOUNT_TYPES.map(type => (typeHasPermission(type, permission) ? '✓' : '')),
    requiredByRoutes.has(permission) ? '' : 'no route requires it yet',
  ])
  return [
    INTRODUCTION,
    '## Routes\n',
    table(['Route', 'Group', 'Permission, any of', ...types], rows),
    '\n## Permissions of the account types\n',
    table(['Permission', ...types, ''], permissionRows),
    '',
  ].join('\n')
}

/** A Markdown table, aligned as the formatter of this repository does. */
function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, at) =>
    Math.max(3, heading.length, ...rows.map(row => row[at]!.length)),
  )
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`
  return [headings, widths.map(width => '-'.repeat(width)), ...rows].map(line).join('\n')
}

export const PERMISSIONS_DOCUMENT = join(import.meta.dirname, '../docs/permissions.md')

if (import.meta.main) writeFileSync(PERMISSIONS_DOCUMENT, permissionDocument(await loadRoutes()))
