// A permission is `group.action`. A route lists permissions, any one of which is enough (resources brief 0.5). Account types have
// permissions (brief 7).
import { forbidden } from '../../kernel/errors.ts'
import type { Instant } from '../../kernel/time.ts'
import type { Caller } from '../context.ts'
import type { Tenant } from '../tenancy.ts'
import type { AccountType } from './account-types.ts'
import type { Exchange } from './exchange.ts'
import type { Access, Route } from './route.ts'

type Area = 'policyData' | 'resources' | 'administration'

const group = <const Actions extends readonly string[]>(area: Area, ...actions: Actions) => ({
  area,
  actions,
})

/** The permission groups. The area decides which account types have them. */
export const PERMISSION_GROUPS = {
  policies: group('policyData', 'read', 'list', 'write', 'price', 'issue', 'discard'),
  accounts: group('policyData', 'read'),
  policyholders: group('policyData', 'read', 'list', 'write', 'overwrite'),
  quotes: group('policyData', 'read', 'list', 'write', 'price', 'underwrite', 'accept', 'issue', 'discard'),
  'quick-quotes': group('policyData', 'read', 'write'),
  endorsements: group('policyData', 'read', 'list', 'write', 'price', 'underwrite', 'accept', 'issue'),
  renewals: group('policyData', 'read', 'list', 'write', 'price', 'underwrite', 'accept', 'issue'),
  cancellations: group('policyData', 'read', 'list', 'write', 'issue'),
  reinstatements: group('policyData', 'read', 'list', 'write', 'accept', 'issue'),
  lapses: group('policyData', 'read', 'write'),
  invoices: group('policyData', 'read', 'list', 'write', 'issue', 'pay'),
  payments: group('policyData', 'read', 'list', 'write', 'reverse'),
  transactions: group('policyData', 'read', 'list'),
  calculations: group('policyData', 'check'),
  auxdata: group('policyData', 'read', 'write', 'delete'),
  lambda: group('policyData', 'execute'),
  notes: group('policyData', 'read', 'write'),
  media: group('policyData', 'read', 'update'),
  reports: group('policyData', 'read', 'create'),
  claims: group('policyData', 'read', 'list', 'write'),
  events: group('policyData', 'read', 'list', 'write'),
  products: group('resources', 'read', 'list'),
  // An archive contains the passwords of test users, even of administrators, so downloading it is more than reading.
  deployments: group('resources', 'read', 'download', 'deploy'),
  constraints: group('resources', 'read', 'upload'),
  documents: group('resources', 'read', 'upload', 'update'),
  fonts: group('resources', 'read', 'update', 'upload'),
  resources: group('resources', 'read', 'list'),
  'resource-groups': group('resources', 'read', 'list', 'write'),
  tables: group('resources', 'read', 'upload'),
  templates: group('resources', 'read', 'upload'),
  webhooks: group('administration', 'read', 'list', 'write'),
  'diverted-events': group('administration', 'read', 'list', 'resend', 'delete'),
  secrets: group('administration', 'read', 'write'),
  users: group('administration', 'read', 'list', 'write', 'token', 'revoke', 'custom'),
  roles: group('administration', 'write'),
  integrations: group('administration', 'read', 'write'),
  migration: group('administration', 'read', 'list', 'write'),
  impacts: group('administration', 'read', 'write'),
  books: group('administration', 'read', 'close'),
  export: group('administration', 'read'),
  plugins: group('administration', 'read'),
  audit: group('administration', 'list'),
  tenants: group('administration', 'clock', 'read', 'write'),
} as const

type Group = keyof typeof PERMISSION_GROUPS

/** E.g. `policies.write`. */
export type Permission = { [G in Group]: `${G}.${(typeof PERMISSION_GROUPS)[G]['actions'][number]}` }[Group]

/** Returns the part before the dot, e.g. `policies`. The text must contain a dot. */
export const groupOf = (permission: string): string => permission.slice(0, permission.indexOf('.'))

/** In the order of the groups. */
export const ALL_PERMISSIONS: readonly Permission[] = Object.entries(PERMISSION_GROUPS).flatMap(
  ([group, { actions }]) => actions.map(action => `${group}.${action}` as Permission),
)

/** Actions of every group of an area (`*` for all), or actions of one group with or without exceptions. */
type Grant =
  | { area: Area; actions: readonly string[] | '*' }
  | { group: Group; except?: readonly string[] }
  | { group: Group; only: readonly string[] }

const READING: readonly Grant[] = [
  { area: 'policyData', actions: ['read', 'list'] },
  { area: 'resources', actions: ['read', 'list'] },
  // For the caller's own account and accounts that it created: see `requireAccountAccess` of rights.ts.
  { group: 'users', only: ['custom'] },
]

const EVERYTHING: readonly Grant[] = [
  { area: 'policyData', actions: '*' },
  { area: 'resources', actions: '*' },
  { area: 'administration', actions: '*' },
]

/** Only administration accounts deploy (contract, Authentication 2). */
const ONLY_ADMINISTRATION: readonly Permission[] = ['deployments.deploy']

const GRANTS: Record<AccountType, readonly Grant[]> = {
  'account.internal': EVERYTHING,
  'account.tenant.admin': EVERYTHING,
  'account.test.tenant.admin': EVERYTHING,
  // People who write policies also test with them. Only test tenants have a clock to move.
  'account.tenant.employee': [
    ...READING,
    { area: 'policyData', actions: '*' },
    { group: 'tenants', only: ['clock'] },
  ],
  'account.tenant.read.only.user': READING,
  'account.tenant.claims.only.user': [
    ...READING,
    { group: 'claims' },
    { group: 'media' },
    // Quoting does not include underwriting decisions.
    { group: 'quotes', except: ['underwrite'] },
    { group: 'calculations' },
  ],
}

function includes(grant: Grant, group: string, area: Area, action: string): boolean {
  if ('area' in grant) return grant.area === area && (grant.actions === '*' || grant.actions.includes(action))
  if (grant.group !== group) return false
  return 'only' in grant ? grant.only.includes(action) : !grant.except?.includes(action)
}

function permissionsOf(type: AccountType): ReadonlySet<string> {
  const held = new Set<string>()
  for (const [group, { area, actions }] of Object.entries(PERMISSION_GROUPS))
    for (const action of actions)
      if (GRANTS[type].some(grant => includes(grant, group, area, action))) held.add(`${group}.${action}`)
  if (type !== 'account.internal') for (const permission of ONLY_ADMINISTRATION) held.delete(permission)
  return held
}

const PERMISSIONS_BY_TYPE = new Map<string, ReadonlySet<string>>(
  (Object.keys(GRANTS) as AccountType[]).map(type => [type, permissionsOf(type)]),
)

/** Whether the account type has the permission. An unknown type has none. */
export const typeHasPermission = (accountType: string, permission: Permission): boolean =>
  PERMISSIONS_BY_TYPE.get(accountType)?.has(permission) ?? false

/** Whether a list of `group.action` and `group.*` includes the permission. */
export const grants = (listed: readonly string[], permission: Permission): boolean =>
  listed.includes(permission) || listed.includes(`${groupOf(permission)}.*`)

/** Whether the caller has the permission: by its own list if it has one, otherwise by its account type. */
export const hasPermission = (
  { accountType, permissions }: Pick<Caller, 'accountType' | 'permissions'>,
  permission: Permission,
): boolean => (permissions ? grants(permissions, permission) : typeHasPermission(accountType, permission))

/** Returns the caller's permissions by their full names. */
export const permissionsHeld = (caller: Pick<Caller, 'accountType' | 'permissions'>): Permission[] =>
  ALL_PERMISSIONS.filter(permission => hasPermission(caller, permission))

/** Throws 403 for a caller who has none of the permissions, and names them. */
export function requirePermission(caller: Caller, anyOf: readonly Permission[]): void {
  if (anyOf.some(permission => hasPermission(caller, permission))) return
  throw forbidden(
    `The account '${caller.username}' (${caller.accountType}) lacks the permission ${anyOf.join(' or ')}.`,
  )
}

/** Whether a role of a tenant may contain the text: a permission, or all permissions of a group. */
export function isGrantable(text: string): boolean {
  if (text.endsWith('.*'))
    return ALL_PERMISSIONS.some(permission => groupOf(permission) === text.slice(0, -2))
  return ALL_PERMISSIONS.some(permission => permission === text) && !isReserved(text)
}

/** Whether only administration accounts can have the permission. Roles of tenants cannot list it. */
export const isReserved = (text: string): boolean =>
  ONLY_ADMINISTRATION.some(permission => permission === text)

// Access is checked before query and body are read.

export type SignedIn = {
  readonly caller: Caller
  /** Undefined for an administration account. */
  readonly tenant: Tenant | undefined
  /** Undefined with a long-lived token. */
  readonly signedInAt: Instant | undefined
  readonly accountEpoch: number
  readonly isPasswordExpired: boolean
  /** Whether the token may have been revoked since. A database of the tenant must then accept it before the response is sent. */
  readonly isStale?: boolean
}

/** Authenticates callers. Implemented by a higher layer and passed to `mount`. */
export type Callers = {
  /** Throws 401 without a valid sign-in. */
  signedIn(exchange: Exchange, env: Env): Promise<SignedIn>
  /** Records the rejection in the audit trail. */
  recordRefusal(env: Env, exchange: Exchange, who: SignedIn, route: Route): Promise<void>
}

/** Throws 403 for callers of another kind and for callers without any of the permissions. */
export function requireAccess(
  { caller, tenant, isPasswordExpired }: Pick<SignedIn, 'caller' | 'tenant' | 'isPasswordExpired'>,
  access: Exclude<Access, { kind: 'public' }>,
): void {
  const isOwnSignIn = access.kind === 'signedIn' && !access.permissions
  if (isPasswordExpired && !isOwnSignIn)
    throw forbidden(
      'The password is older than the tenant allows. Choose another with PATCH /account/v1/accounts/password.',
    )
  if (access.kind === 'tenant' && !tenant)
    throw forbidden(
      'This path serves accounts of a tenant. Sign in with tenantName or hostName, or with authenticateAdmin.',
    )
  if (access.kind === 'administration' && tenant)
    throw forbidden(
      'This path serves administration accounts. Sign in with only user name and password, without a tenant.',
    )
  if (access.permissions) requirePermission(caller, access.permissions)
}
