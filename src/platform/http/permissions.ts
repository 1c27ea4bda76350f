// Who may what. A permission is `group.action`; a route names those of which any one is enough (resources
// brief 0.5), and the type of the caller's account says which it holds (brief 7).
import { forbidden } from '../../kernel/errors.ts'
import type { Instant } from '../../kernel/time.ts'
import type { Caller } from '../context.ts'
import type { Tenant } from '../tenancy.ts'
import type { Exchange } from './exchange.ts'
import type { Access, Route } from './route.ts'

type Area = 'policyData' | 'resources' | 'administration'

const group = <const Actions extends readonly string[]>(area: Area, ...actions: Actions) => ({
  area,
  actions,
})

/** Every permission that a route can ask for, by group; the area decides which account types hold it. */
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
  media: group('policyData', 'read', 'update'),
  reports: group('policyData', 'read', 'create'),
  claims: group('policyData', 'read', 'list', 'write'),
  events: group('policyData', 'read', 'list', 'write'),
  products: group('resources', 'read', 'list'),
  // An archive has the passwords of its test users, administrators among them: to download it is not just to read.
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
  integrations: group('administration', 'read', 'write'),
  migration: group('administration', 'read', 'list', 'write'),
  plugins: group('administration', 'read'),
  audit: group('administration', 'list'),
  tenants: group('administration', 'clock', 'read', 'write'),
} as const

type Group = keyof typeof PERMISSION_GROUPS

/** `group.action`, e.g. `policies.write`. */
export type Permission = { [G in Group]: `${G}.${(typeof PERMISSION_GROUPS)[G]['actions'][number]}` }[Group]

/** The types of a tenant's own accounts. */
export const TENANT_ACCOUNT_TYPES = [
  'account.tenant.admin',
  'account.test.tenant.admin',
  'account.tenant.employee',
  'account.tenant.claims.only.user',
  'account.tenant.read.only.user',
] as const

/** With that of administration accounts. */
export const ACCOUNT_TYPES = ['account.internal', ...TENANT_ACCOUNT_TYPES] as const
export type AccountType = (typeof ACCOUNT_TYPES)[number]

/** The group of a permission. */
export const groupOf = (permission: string): string => permission.slice(0, permission.indexOf('.'))

/** Every permission, in the order of the groups. */
export const ALL_PERMISSIONS: readonly Permission[] = Object.entries(PERMISSION_GROUPS).flatMap(
  ([group, { actions }]) => actions.map(action => `${group}.${action}` as Permission),
)

/** Grants: actions of every group of an area, `*` for all; or those of one group, all but for those excepted. */
type Grant =
  | { area: Area; actions: readonly string[] | '*' }
  | { group: Group; except?: readonly string[] }
  | { group: Group; only: readonly string[] }

const READING: readonly Grant[] = [
  { area: 'policyData', actions: ['read', 'list'] },
  { area: 'resources', actions: ['read', 'list'] },
  // What is one's own: see `requireReach` of rights.ts.
  { group: 'users', only: ['custom'] },
]

const EVERYTHING: readonly Grant[] = [
  { area: 'policyData', actions: '*' },
  { area: 'resources', actions: '*' },
  { area: 'administration', actions: '*' },
]

/** Deploying is the administration account's alone (contract, Authentication 2). */
export const ONLY_ADMINISTRATION: readonly Permission[] = ['deployments.deploy']

const GRANTS: Record<AccountType, readonly Grant[]> = {
  'account.internal': EVERYTHING,
  'account.tenant.admin': EVERYTHING,
  'account.test.tenant.admin': EVERYTHING,
  // Whoever writes policies tests with them too: the clock is that of test tenants only.
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
    // To quote is not to decide in underwriting's place.
    { group: 'quotes', except: ['underwrite'] },
    { group: 'calculations' },
  ],
}

function permissionsOf(type: AccountType): ReadonlySet<string> {
  const held = new Set<string>()
  for (const [group, { area, actions }] of Object.entries(PERMISSION_GROUPS))
    for (const action of actions)
      for (const grant of GRANTS[type]) {
        const granted =
          'group' in grant
            ? grant.group === group &&
              ('only' in grant ? grant.only.includes(action) : !grant.except?.includes(action))
            : grant.area === area && (grant.actions === '*' || grant.actions.includes(action))
        if (granted) held.add(`${group}.${action}`)
      }
  if (type !== 'account.internal') for (const permission of ONLY_ADMINISTRATION) held.delete(permission)
  return held
}

const PERMISSIONS_BY_TYPE = new Map<string, ReadonlySet<string>>(
  (Object.keys(GRANTS) as AccountType[]).map(type => [type, permissionsOf(type)]),
)

/** Whether accounts of the type hold the permission; unknown types hold none. */
export const holds = (accountType: string, permission: Permission): boolean =>
  PERMISSIONS_BY_TYPE.get(accountType)?.has(permission) ?? false

/** Whether a list of `group.action` and `group.*` has the permission. */
export const grants = (listed: readonly string[], permission: Permission): boolean =>
  listed.includes(permission) || listed.includes(`${groupOf(permission)}.*`)

/** Whether the caller may: by the list that it brings, else by its account's type. */
export const may = (
  { accountType, permissions }: Pick<Caller, 'accountType' | 'permissions'>,
  permission: Permission,
): boolean => (permissions ? grants(permissions, permission) : holds(accountType, permission))

/** What the caller may, each by its whole name. */
export const permissionsHeld = (caller: Pick<Caller, 'accountType' | 'permissions'>): Permission[] =>
  ALL_PERMISSIONS.filter(permission => may(caller, permission))

/** Refuses (403) a caller who holds none of the permissions, naming them. */
export function requirePermission(caller: Caller, anyOf: readonly Permission[]): void {
  if (anyOf.some(permission => may(caller, permission))) return
  throw forbidden(
    `The account '${caller.username}' (${caller.accountType}) lacks the permission ${anyOf.join(' or ')}.`,
  )
}

/** Whether the text is a permission that a tenant's role may give, or all of a group. */
export function isGrantable(text: string): boolean {
  if (text.endsWith('.*'))
    return ALL_PERMISSIONS.some(permission => groupOf(permission) === text.slice(0, -2))
  return ALL_PERMISSIONS.some(permission => permission === text) && !isReserved(text)
}

/** Whether the permission is the administration account's alone. */
export const isReserved = (text: string): boolean =>
  ONLY_ADMINISTRATION.some(permission => permission === text)

// Whether who is signed in may call a route. Asked before the query and the body are read.

export type SignedIn = {
  readonly caller: Caller
  /** Undefined for an administration account. */
  readonly tenant: Tenant | undefined
  /** Undefined with a long-lived token. */
  readonly signedInAt: Instant | undefined
  readonly accountEpoch: number
  readonly isPasswordExpired: boolean
}

/** What a layer above knows of callers; `mount` takes it. */
export type Callers = {
  /** Who is signed in; throws a Refusal (401) when nobody is. */
  signedIn(exchange: Exchange, env: Env): Promise<SignedIn>
  /** Notes in the audit trail that the caller was refused the route. */
  recordRefusal(env: Env, exchange: Exchange, who: SignedIn, route: Route): Promise<void>
}

/** Refuses (403) whoever the route is not for, and whoever holds none of its permissions. */
export function requireAccess(
  { caller, tenant, isPasswordExpired }: Pick<SignedIn, 'caller' | 'tenant' | 'isPasswordExpired'>,
  access: Exclude<Access, { kind: 'public' }>,
): void {
  const isOwnSignIn = access.kind === 'signedIn' && !access.permissions
  if (isPasswordExpired && !isOwnSignIn)
    throw forbidden(
      'The password is older than the tenant allows; choose another with PATCH /account/v1/accounts/password.',
    )
  if (access.kind === 'tenant' && !tenant)
    throw forbidden(
      'This path serves accounts of a tenant; sign in with tenantName or hostName, or with authenticateAdmin.',
    )
  if (access.kind === 'administration' && tenant)
    throw forbidden(
      'This path serves administration accounts; sign in with user name and password only, without a tenant.',
    )
  if (access.permissions) requirePermission(caller, access.permissions)
}
