// Roles of a tenant. Roles of account types and of the configuration are shown. Roles of the interface are created, changed and
// deleted here. Nobody can create or change a role that gives more than they may do themselves.
import { sql } from 'drizzle-orm'
import {
  alreadyExists,
  invalidRequest,
  notFound,
  type Refusal,
  tooLarge,
  unavailable,
  wrongState,
} from '../../kernel/errors.ts'
import { newUuid } from '../../kernel/locators.ts'
import {
  answerForRepeat,
  type Commit,
  isBySubject,
  type JsonAnswer,
  jsonAnswer,
  NO_BODY,
  retryOnConflict,
  unlessRepeated,
} from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { putRows } from '../../platform/database/rows.ts'
import type { Database } from '../../platform/database.ts'
import { requireMatch } from '../../platform/http/entity-tags.ts'
import { isGrantable, permissionsHeld } from '../../platform/http/permissions.ts'
import { type JsonText, jsonText } from '../../platform/http/route.ts'
import { HOME_SHARD, homeDatabase, type Tenant } from '../../platform/tenancy.ts'
import { loadConfiguration, type VersionRow, versionQuery } from '../../product/cache.ts'
import type { Configuration } from '../../product/configuration.ts'
import {
  ACCOUNT_TYPES_BY_RANK,
  accountType,
  type TestUserType,
  tenantRoles,
  typeOfRole,
} from '../../product/roles.ts'
import { commitAudited } from '../audit/store.ts'
import { managerStays, requireManager } from '../last-manager.ts'
import { forgetAuthTokens, revocationsOf } from '../revocation.ts'
import { compactPermissions, listedPermissions, requireHeldPermissions, rolePermissions } from '../rights.ts'
import { roles } from '../tables.ts'
import { MOST_ROLES, type RoleCreateRequest, type RoleResponse, type RoleWriteRequest } from './contract.ts'
import { includesUserManagement } from './managers.ts'
import * as store from './store.ts'

/** Throws 503 until all databases of the tenant have the tables. */
export function requireRoles({ keepsRoles, name }: Tenant): void {
  if (!keepsRoles)
    throw unavailable(
      `The tenant '${name}' cannot have its own roles yet, because its databases are not migrated. Try again later.`,
    )
}

/** Lists account types with their permissions in this tenant, then all roles by name. One round trip. */
export async function listRoles(context: RequestContext): Promise<RoleResponse[]> {
  const database = homeDatabase(context)
  const [[version], own = []] = await database.batch([
    versionQuery(database, undefined),
    ...(context.tenant.keepsRoles ? [store.rolesQuery(database)] : []),
  ])
  const configuration = await configurationOf(version, context)
  const grants = configuration && tenantRoles(configuration, false)
  const ofType = (type: TestUserType): string[] => {
    const permissions = rolePermissions({ username: '', accountType: type, source: 'interface' }, grants)
    return compactPermissions(
      new Set(permissionsHeld({ accountType: type, ...(permissions && { permissions }) })),
    )
  }
  const types = ACCOUNT_TYPES_BY_RANK.map(type => ({
    name: type,
    accountType: type,
    source: 'accountType' as const,
    permissions: ofType(type),
  }))
  const configured = Object.entries(configuration?.roles ?? {}).map(([name, title]) => {
    const type = accountType({ roles: [name] })
    const listed = configuration?.rolePermissions?.[name]
    const permissions = listed ? compactPermissions(new Set(listedPermissions(listed))) : ofType(type)
    return { name, title, accountType: type, source: 'configuration' as const, permissions }
  })
  const named: RoleResponse[] = [...configured, ...own.map(roleResponse)]
  return [...types, ...named.sort((a, b) => (a.name < b.name ? -1 : 1))]
}

/**
 * Returns one of `listRoles`. Throws 404 for an unknown name. If both the configuration and the interface have the name, returns
 * the role of the interface, like accounts and changes do. One round trip.
 */
export async function readRole(name: string, context: RequestContext): Promise<RoleResponse> {
  const named = (await listRoles(context)).filter(one => one.name === name)
  const role = named.find(({ source }) => source === 'interface') ?? named[0]
  if (!role) throw notFound('role', name)
  return role
}

const configurationOf = async (
  version: VersionRow | undefined,
  { env, tenant, calls }: RequestContext,
): Promise<Configuration | undefined> =>
  version && (await loadConfiguration(env, tenant, version.hash, calls)).configuration

const roleResponse = ({ name, title, permissions }: store.Role): RoleResponse => ({
  name,
  title: title ?? name,
  source: 'interface',
  permissions: compactPermissions(new Set(listedPermissions(permissions))),
})

/**
 * Throws 409 for a name that a role of the interface or of the configuration has, and 422 `beyondOwner` for a role that gives more
 * than the caller may do.
 */
export const createRole = (
  { name, ...content }: RoleCreateRequest,
  context: RequestContext,
): Promise<JsonText> =>
  write(context, async database => {
    if (typeOfRole(name))
      throw invalidRequest(
        `'name' must not be '${name}', because it means an account type. Choose another name.`,
      )
    const row = newRow(name, content, undefined, context)
    requireGivable(row.permissions, context)
    const [[version], present] = await database.batch([
      versionQuery(database, undefined),
      store.rolesQuery(database),
    ])
    if (present.some(role => role.name === name))
      throw alreadyExists(`A role '${name}' already exists. Change that one, or choose another name.`)
    if (await isConfigured(name, version, context))
      throw alreadyExists(
        `The configuration has a role '${name}' (security/roles.json). Choose another name.`,
      )
    if (present.length >= MOST_ROLES)
      throw tooLarge(`The tenant has ${MOST_ROLES} roles of its own, which is the limit. Delete one first.`)
    const hasRoom = sql`${store.areUnchanged([name], [])} and (select count(*) from ${roles}) < ${MOST_ROLES}`
    return commitRole(context, database, row, {
      guards: [{ name: 'guard_account', holds: hasRoom }],
      facts: [],
    })
  })

/**
 * Throws 404 for a name without a role; 412 for a role that has changed since the caller read it; 422 `beyondOwner` for a role
 * that gives, or gave, more than the caller may do; 409 for a role of the configuration, and where nobody would be left who may
 * change users. If the permissions change, the access tokens of all accounts that have the role end.
 */
export const replaceRole = (
  name: string,
  content: RoleWriteRequest,
  context: RequestContext,
): Promise<JsonText> =>
  write(context, async (database, isFirst) => {
    const [[version], present, [own]] = await database.batch([
      versionQuery(database, undefined),
      store.rolesQuery(database),
      store.isHolderQuery(database, name, context.caller.accountLocator),
    ])
    const before = present.find(role => role.name === name)
    if (!before) throw await missingRoleRefusal(name, version, context)
    requireMatch(context.ifMatch, () => roleResponse(before))
    const row = newRow(name, content, before, context)
    requireGivable([...row.permissions, ...before.permissions], context)
    const keepsManager =
      includesUserManagement(before.permissions) &&
      !includesUserManagement(row.permissions) &&
      managerStays(version?.roles, { role: name })
    if (keepsManager) await requireManager(database, keepsManager, isFirst)
    const changes = !isSame(row.permissions, before.permissions)
    const ending = revocationsOf(context, database, {
      which: store.hasRole(name),
      hasCaller: changes && own !== undefined,
    })
    const holds = sql`${store.areUnchanged([name], [before])} and ${keepsManager || sql`true`}`
    const answer = await commitRole(context, database, row, {
      guards: [{ name: 'guard_account', holds }],
      ...(changes ? ending : { facts: [] }),
    })
    if (changes) await ending.announce()
    return answer
  })

/**
 * Throws 409 while accounts have the role or mappings give it, with their names; 412 for a role that has changed since the caller
 * read it; 422 `beyondOwner` for a role that gives more than the caller may do.
 */
export const deleteRole = (name: string, context: RequestContext): Promise<JsonText> =>
  write(context, async database => {
    const [[version], [before], holders, providers] = await database.batch([
      versionQuery(database, undefined),
      store.rolesNamedQuery(database, [name]),
      store.holdersQuery(database, name, MOST_NAMED + 1),
      store.mappersQuery(database, name),
    ])
    if (!before) throw await missingRoleRefusal(name, version, context)
    requireMatch(context.ifMatch, () => roleResponse(before))
    requireGivable(before.permissions, context)
    if (holders.length + providers.length > 0) throw roleInUse(name, holders, providers)
    await commitAudited(context, database, {
      guards: [
        {
          name: 'guard_account',
          holds: sql`${store.areUnchanged([name], [before])} and ${store.isFree(name)}`,
        },
      ],
      facts: [database.build.delete(roles).where(sql`${roles.name} = ${name}`)],
      audit: { action: 'roles.delete', subject: name, details: {} },
    })
    return NO_BODY
  })

/** Names listed in a message. */
const MOST_NAMED = 20

type Named = { readonly name: string }

function roleInUse(
  name: string,
  holders: readonly { username: string }[],
  providers: readonly Named[],
): Refusal {
  const listed = (names: readonly string[]): string =>
    names.slice(0, MOST_NAMED).join(', ') + (names.length > MOST_NAMED ? ' and more' : '')
  const accounts =
    holders.length > 0 && `the accounts ${listed(holders.map(({ username }) => username))} have it`
  const mappings =
    providers.length > 0 &&
    `the identity providers ${listed(providers.map(provider => provider.name))} give it`
  return wrongState(
    `The role '${name}' is in use: ${[accounts, mappings].filter(Boolean).join(', and ')}. Give them other roles first (GET /auth/users?role=${name} lists all accounts).`,
  )
}

async function missingRoleRefusal(
  name: string,
  version: VersionRow | undefined,
  context: RequestContext,
): Promise<Refusal> {
  return (await isConfigured(name, version, context))
    ? wrongState(
        `The role '${name}' comes from the configuration (security/roles.json); a deploy changes it.`,
      )
    : notFound('role', name)
}

const isConfigured = async (
  name: string,
  version: VersionRow | undefined,
  context: RequestContext,
): Promise<boolean> => Object.hasOwn((await configurationOf(version, context))?.roles ?? {}, name)

/** Runs a write. A repeat with the same key gets the first response. After a concurrent change, the write reads again. */
async function write(
  context: RequestContext,
  attempt: (database: Database, isFirst: boolean) => Promise<JsonAnswer>,
): Promise<JsonText> {
  requireRoles(context.tenant)
  const database = homeDatabase(context)
  const answer = await unlessRepeated(
    context,
    database,
    () => retryOnConflict('The role', isFirst => attempt(database, isFirst)),
    answerForRepeat,
  )
  forgetAuthTokens()
  return jsonText(answer)
}

function newRow(
  name: string,
  { title, permissions }: RoleWriteRequest,
  before: store.Role | undefined,
  { now }: RequestContext,
): store.Role {
  const unknown = permissions.filter(permission => !isGrantable(permission))
  if (unknown.length > 0)
    throw invalidRequest(
      `'permissions' lists permissions that no account of a tenant can have: ${unknown
        .slice(0, MOST_NAMED)
        .map(one => `'${one.slice(0, 80).toWellFormed()}'`)
        .join(', ')}. Use group.action or group.*; GET /auth/permissions lists yours.`,
    )
  return {
    name,
    title: title ?? null,
    permissions: [...new Set(permissions)],
    revision: newUuid(HOME_SHARD),
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  }
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  listedPermissions(a).join() === listedPermissions(b).join() && a.toSorted().join() === b.toSorted().join()

const requireGivable = (permissions: readonly string[], { caller }: RequestContext): void =>
  requireHeldPermissions(
    listedPermissions(permissions),
    permissionsHeld(caller),
    'The role gives, or gave, permissions that you lack:',
  )

async function commitRole(
  context: RequestContext,
  database: Database,
  row: store.Role,
  { guards, facts, timers = [] }: Pick<Commit, 'guards' | 'facts' | 'timers'>,
): Promise<JsonAnswer> {
  const { name, title, permissions } = row
  const answer = jsonAnswer(roleResponse(row))
  const committed = await commitAudited(context, database, {
    guards,
    facts: [...putRows(database, roles, [row]), ...facts],
    timers,
    answer,
    audit: { action: 'roles.write', subject: name, details: { title: title ?? name, permissions } },
  })
  return isBySubject(committed) ? answer : committed
}
