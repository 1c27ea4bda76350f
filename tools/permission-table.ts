// Writes docs/permissions.md from the routes and the table of permissions. npm run docs:permissions
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadRoutes } from '../scripts/routes.ts'
import { ACCOUNT_TYPES, type AccountType } from '../src/platform/http/account-types.ts'
import { ALL_PERMISSIONS, holds, type Permission } from '../src/platform/http/permissions.ts'
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

Written from the routes and \`src/platform/http/permissions.ts\` by \`npm run docs:permissions\`; a test holds it.

A permission is \`group.action\`. A route names permissions, and any one of them is enough. A caller holds what its account type
holds; or, in its place, what roles give it (below), or the list of its long-lived token. Anyone who lacks a route's permission is answered 403, before the query and the body are read, with the permission
by name; \`GET /auth/permissions\` lists what the caller holds, and \`GET /auth/whoami\` also who it is. The tenant comes first: another tenant's locator is
answered 404, even if the caller holds every permission.

\`custom\` is for what is one's own: who holds it, and no other permission of the route, may act on its own account and on
what it created (\`requireReach\`).

Administration accounts (\`internal\`) sign in without a tenant. The paths of a tenant do not serve them, however much
they hold: they sign in to one with \`POST /account/authenticateAdmin\`, and are its administrator then. Their own long-lived
tokens hold \`deployments.*\` at most.

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
\`claims-only\`, \`read-only\`, in any spelling) redefines what accounts of that type hold, also of accounts that have no
roles. A role without permissions gives what the account type holds. A deploy refuses permissions that do not exist, and
\`deployments.deploy\`, which no account of a tenant holds. The roles of the newest configuration count; a deploy or repair that
changes them ends the tenant's access tokens within 5 seconds, so that everybody's next sign-in has the new ones, and within
as many long-lived tokens may what the new ones leave of their lists. A user's own roles are those of the archive's users:
an account that was added under such a name has what its type holds.

A tenant also makes roles by the interface (\`POST /auth/roles\`), and gives them to accounts that were added and to people who
sign in by an identity provider. They replace what the account type holds, and account types among them are those of
the configuration where it redefines them ([accounts](accounts.md), "Roles").
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
  return !access.permissions || access.permissions.some(name => holds(type, name)) ? '✓' : ''
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
  const asked = new Set<Permission>(
    routes.flatMap(({ access }) => (access.kind === 'public' ? [] : (access.permissions ?? []))),
  )
  const held = ALL_PERMISSIONS.map(permission => [
    `\`${permission}\``,
    ...ACCOUNT_TYPES.map(type => (holds(type, permission) ? '✓' : '')),
    asked.has(permission) ? '' : 'no route asks for it yet',
  ])
  return [
    INTRODUCTION,
    '## Routes\n',
    table(['Route', 'Group', 'Permission, any of', ...types], rows),
    '\n## What the account types hold\n',
    table(['Permission', ...types, ''], held),
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
