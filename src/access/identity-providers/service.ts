// Identity providers of a tenant. Someone who changes them may grant nothing beyond their own rights, neither by the former
// mappings nor by the new ones.
import { and, asc, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import {
  alreadyExists,
  invalidRequest,
  notFound,
  tooLarge,
  unavailable,
  wrongState,
} from '../../kernel/errors.ts'
import { newUuid } from '../../kernel/locators.ts'
import {
  answerForRepeat,
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
import { permissionsHeld } from '../../platform/http/permissions.ts'
import { type JsonText, jsonText } from '../../platform/http/route.ts'
import { addressProblem, mayCallLocalHost } from '../../platform/outbound/address.ts'
import { seal } from '../../platform/sealed.ts'
import { HOME_SHARD, homeDatabase, sealedPlace, type Tenant } from '../../platform/tenancy.ts'
import { type TenantRoles, typeOfRole } from '../../product/roles.ts'
import { commitAudited } from '../audit/store.ts'
import { managerStays, requireManager } from '../last-manager.ts'
import { forgetAuthTokens } from '../revocation.ts'
import { listedPermissions, requireHeldPermissions, rolePermissions } from '../rights.ts'
import type { Change as ManagerChange } from '../roles/managers.ts'
import { areUnchanged, configuredQuery, type Role, rolesQuery } from '../roles/store.ts'
import { accountIdentities, accounts, identityProviders, type RoleMapping } from '../tables.ts'
import { closingOf, type Dependents, dependentsQuery, dependsOnProvider, NO_CLOSING } from './closing.ts'
import {
  type IdentityProviderRequest,
  type IdentityProviderResponse,
  MOST_PROVIDERS,
  PROVIDER_NAME,
} from './contract.ts'

export type Provider = typeof identityProviders.$inferSelect

/** Throws 503 until all databases of the tenant have the tables. */
function requireProviders({ keepsProviders, name }: Tenant): void {
  if (!keepsProviders)
    throw unavailable(
      `The tenant '${name}' cannot have identity providers yet, because its databases are not migrated. Try again later.`,
    )
}

/** Binds the sealed client secret to its provider. */
export const secretPlace = (tenant: Tenant, name: string): string =>
  sealedPlace(tenant, 'identityProvider', name)

/** Selects all providers of the tenant, sorted by name. */
export const providersQuery = (database: Database) =>
  database.build.select().from(identityProviders).orderBy(asc(identityProviders.name))

/** The roles that determine what a mapping grants. */
type Granting = { readonly configured: TenantRoles | null; readonly own: readonly Role[] }

type Known = {
  readonly providers: readonly Provider[]
  /** The provider of that name. */
  readonly before: Provider | undefined
  /** Accounts that sign in by that provider alone. */
  readonly dependents: Dependents
  readonly granting: Granting
}

/** One round trip. */
async function readProviders(
  database: Database,
  name: string,
  { tenant, caller }: RequestContext,
): Promise<Known> {
  const [providers, [version], [dependents], own = []] = await database.batch([
    providersQuery(database),
    configuredQuery(database),
    dependentsQuery(database, name, caller.accountLocator),
    ...(tenant.keepsRoles ? [rolesQuery(database)] : []),
  ])
  return {
    providers,
    before: providers.find(provider => provider.name === name),
    dependents: dependents!,
    granting: { configured: version?.roles ?? null, own },
  }
}

/** Lists providers, sorted by name. Throws 503 until the tenant's databases have their table. One round trip. */
export async function listProviders(context: RequestContext): Promise<IdentityProviderResponse[]> {
  requireProviders(context.tenant)
  const database = homeDatabase(context)
  const [rows] = await database.batch([providersQuery(database)])
  return rows.map(providerResponse)
}

/** Throws 404 if there is no provider of that name, and like `listProviders`. */
export async function readProvider(name: string, context: RequestContext): Promise<IdentityProviderResponse> {
  const provider = (await listProviders(context)).find(one => one.name === name)
  if (!provider) throw notFound('identity provider', name)
  return provider
}

/**
 * Creates or replaces a provider. Throws 422 `beyondOwner` for a mapping, new or existing, that grants more than the caller may
 * do, and 409 for an issuer that another provider of the tenant has and for `replacesPasswords` before an administrator has signed
 * in by the provider. With `If-Match` it only replaces: it then throws 404 where there is none, and 412 if it has changed since
 * the caller read it.
 */
export async function writeProvider(
  name: string,
  request: IdentityProviderRequest,
  context: RequestContext,
): Promise<JsonText> {
  requireProviders(context.tenant)
  const database = homeDatabase(context)
  if (!PROVIDER_NAME.test(name))
    throw invalidRequest(
      'The name of a provider has 1 to 63 lower-case letters, digits and hyphens, and no hyphen first or last.',
    )
  const problem = addressProblem(request.issuer, mayCallLocalHost(context.env))
  if (problem) throw invalidRequest(`'issuer' ${problem}.`)
  const attempt = async (isFirst: boolean) => {
    const { providers, before, dependents, granting } = await readProviders(database, name, context)
    if (context.ifMatch !== undefined) requireProviderMatch(name, before, context)
    const mappings = request.mappings.map(mapping => readMapping(mapping, granting))
    requireGrantable([...mappings, ...(before?.mappings ?? [])], granting, context)
    if (providers.some(one => one.name !== name && one.issuer === request.issuer))
      throw alreadyExists('Another identity provider of the tenant has this issuer. Change that one.')
    if (!before && providers.length >= MOST_PROVIDERS)
      throw tooLarge(
        `The tenant has ${MOST_PROVIDERS} identity providers, which is the limit. Delete one first.`,
      )
    if (request.replacesPasswords) await requireAdministratorSignedIn(database, request.issuer)
    const row = await rowOf(name, request, before, mappings, context)
    const answer = jsonAnswer(providerResponse(row))
    const { issuer, clientId, replacesPasswords } = row
    const former = before && before.issuer !== issuer ? before : undefined
    const closing = former ? closingOf(former, dependents, database, context) : NO_CLOSING
    const isClosed = former !== undefined && dependents.count > 0
    const staying =
      isClosed || (replacesPasswords && !before?.replacesPasswords)
        ? await personStays({ name, after: row, isClosed }, granting, { database, context, isFirst })
        : sql`true`
    const holds = and(
      isUnchanged(name, before, issuer),
      closing.holds,
      staying,
      rolesAreUnchanged(mappings, granting),
    )!
    const committed = await commitAudited(context, database, {
      guards: [{ name: 'guard_account', holds }],
      facts: [...closing.facts, ...putRows(database, identityProviders, [row])],
      timers: closing.timers,
      answer,
      audit: {
        action: 'providers.write',
        subject: name,
        details: { issuer, clientId, replacesPasswords, mappings },
      },
    })
    await closing.announce()
    return isBySubject(committed) ? answer : committed
  }
  const answer = await writeOnce(context, database, attempt)
  forgetAuthTokens()
  return jsonText(answer)
}

const rowOf = async (
  name: string,
  request: IdentityProviderRequest,
  before: Provider | undefined,
  mappings: readonly RoleMapping[],
  context: RequestContext,
): Promise<Provider> => ({
  name,
  label: request.label ?? name,
  issuer: request.issuer,
  clientId: request.clientId,
  sealedSecret: await secretOf(request, before, name, context),
  audience: request.audience ?? request.clientId,
  scopes: [...new Set(['openid', ...(request.scopes ?? ['profile', 'email'])])],
  mappings,
  replacesPasswords: request.replacesPasswords,
  revision: newUuid(HOME_SHARD),
  createdAt: before?.createdAt ?? context.now,
  updatedAt: context.now,
})

/** Guard: the tenant's own roles that the mappings give have not changed. */
function rolesAreUnchanged(mappings: readonly RoleMapping[], { own }: Granting): SQL | undefined {
  const given = own.filter(role => mappings.some(({ roles }) => roles.includes(role.name)))
  const names = given.map(role => role.name)
  return given.length > 0 ? areUnchanged(names, given) : undefined
}

/** Runs a write. A repeat with the same key gets the first response. After a concurrent change, the write reads again. */
const writeOnce = (
  context: RequestContext,
  database: Database,
  attempt: (isFirst: boolean) => Promise<JsonAnswer>,
): Promise<JsonAnswer> =>
  unlessRepeated(context, database, () => retryOnConflict('The identity provider', attempt), answerForRepeat)

/**
 * Deletes a provider. Its accounts stay, but nobody signs in to them by this provider any more: those with no other way to sign in
 * are disabled, so their tokens end. Throws 409 if the caller's account is one of them, and 412 for a provider that has changed
 * since the caller read it.
 */
export async function deleteProvider(name: string, context: RequestContext): Promise<JsonText> {
  requireProviders(context.tenant)
  const database = homeDatabase(context)
  const attempt = async (isFirst: boolean) => {
    const { before, dependents, granting } = await readProviders(database, name, context)
    requireProviderMatch(name, before, context)
    requireGrantable(before.mappings, granting, context)
    const closing = closingOf(before, dependents, database, context)
    const staying =
      dependents.count > 0
        ? await personStays({ name, after: undefined, isClosed: true }, granting, {
            database,
            context,
            isFirst,
          })
        : sql`true`
    await commitAudited(context, database, {
      guards: [
        {
          name: 'guard_account',
          holds: and(isUnchanged(name, before, before.issuer), closing.holds, staying)!,
        },
      ],
      facts: [
        ...closing.facts,
        database.build.delete(identityProviders).where(eq(identityProviders.name, name)),
      ],
      timers: closing.timers,
      audit: { action: 'providers.delete', subject: name, details: { issuer: before.issuer } },
    })
    await closing.announce()
    return NO_BODY
  }
  const answer = await writeOnce(context, database, attempt)
  forgetAuthTokens()
  return jsonText(answer)
}

type Trying = { readonly database: Database; readonly context: RequestContext; readonly isFirst: boolean }

/** Returns the condition that the change of a provider leaves a person who may change users. Throws 409 if it was found not to. */
async function personStays(
  { isClosed, ...provider }: NonNullable<ManagerChange['provider']> & { readonly isClosed: boolean },
  { configured }: Granting,
  { database, context, isFirst }: Trying,
): Promise<SQL> {
  if (!context.tenant.keepsRoles) return sql`true`
  // Accounts that sign in by it alone are disabled in the same batch.
  const holds = managerStays(configured, {
    ...(isClosed && { loses: dependsOnProvider(provider.name) }),
    provider,
  })
  await requireManager(database, holds, isFirst)
  return holds
}

/** Throws 404 where there is no such provider, and 412 unless `If-Match` is its tag. */
function requireProviderMatch(
  name: string,
  before: Provider | undefined,
  { ifMatch }: RequestContext,
): asserts before is Provider {
  if (!before) throw notFound('identity provider', name)
  requireMatch(ifMatch, () => providerResponse(before))
}

/** Guard: the provider has not changed since, and no other provider has the issuer. */
const isUnchanged = (name: string, before: Provider | undefined, issuer: string) =>
  sql`(select ${identityProviders.revision} from ${identityProviders} where ${identityProviders.name} = ${name})
      is ${before?.revision ?? null}
    and not exists (select 1 from ${identityProviders}
      where ${identityProviders.issuer} = ${issuer} and ${identityProviders.name} <> ${name})
    and (select count(*) from ${identityProviders} where ${identityProviders.name} <> ${name}) < ${MOST_PROVIDERS}`

function readMapping(
  { claim, value, roles }: IdentityProviderRequest['mappings'][number],
  { own }: Granting,
): RoleMapping {
  const names = roles.map(role => {
    const type = typeOfRole(role)
    if (type) return type
    if (own.some(({ name }) => name === role)) return role
    throw invalidRequest(
      `'mappings' gives the role '${role.slice(0, 80).toWellFormed()}', which is neither an account type nor a role of the interface. Use account.tenant.admin, account.tenant.employee, account.tenant.claims.only.user, account.tenant.read.only.user, or a role of POST /auth/roles.`,
    )
  })
  return { claim, value, roles: [...new Set(names)] }
}

/** Throws 422 unless the caller has all permissions that accounts with these roles have now. */
function requireGrantable(
  mappings: readonly RoleMapping[],
  { configured, own }: Granting,
  { caller }: RequestContext,
): void {
  const held = permissionsHeld(caller)
  for (const name of new Set(mappings.flatMap(mapping => mapping.roles))) {
    const given = [{ name, permissions: own.find(role => role.name === name)?.permissions ?? null }]
    const permissions = rolePermissions(
      { username: '', accountType: '', source: 'interface', given },
      configured,
    )
    requireHeldPermissions(
      listedPermissions(permissions ?? []),
      held,
      `A mapping gives the ${typeOfRole(name) ? 'account type' : 'role'} ${name}, which has permissions that you lack:`,
    )
  }
}

/**
 * Throws 409 until an administrator of the tenant has signed in by the issuer. This shows that the provider works, so that
 * passwords can be replaced.
 */
async function requireAdministratorSignedIn(database: Database, issuer: string): Promise<void> {
  const [[found]] = await database.batch([
    database.build
      .select({ locator: accounts.locator })
      .from(accountIdentities)
      .innerJoin(accounts, eq(accounts.locator, accountIdentities.accountLocator))
      .where(
        and(
          eq(accountIdentities.issuer, issuer),
          inArray(accounts.type, ['account.tenant.admin']),
          isNull(accounts.disabledAt),
          isNull(accounts.deletedAt),
        ),
      )
      .limit(1),
  ])
  if (!found)
    throw wrongState(
      "'replacesPasswords' needs an administrator who has signed in by this provider. Set the provider without it, sign in by it as an administrator, and then send it again.",
    )
}

/**
 * Returns the sealed secret. A stored secret is never sent to another issuer: otherwise someone who may change providers could
 * have it sent to themselves.
 */
async function secretOf(
  { clientSecret, issuer }: IdentityProviderRequest,
  before: Provider | undefined,
  name: string,
  { env, tenant }: RequestContext,
): Promise<string | null> {
  if (clientSecret) return await seal(env, secretPlace(tenant, name), clientSecret)
  if (clientSecret !== undefined || !before?.sealedSecret) return null
  if (before.issuer === issuer) return before.sealedSecret
  throw invalidRequest(
    "'issuer' has changed. Send the 'clientSecret' of the new issuer too, or null for none.",
  )
}

const providerResponse = (row: Provider): IdentityProviderResponse => ({
  name: row.name,
  label: row.label,
  issuer: row.issuer,
  clientId: row.clientId,
  hasClientSecret: row.sealedSecret !== null,
  audience: row.audience,
  scopes: [...row.scopes],
  mappings: row.mappings.map(({ claim, value, roles }) => ({ claim, value, roles: [...roles] })),
  replacesPasswords: row.replacesPasswords,
  createdAt: new Date(row.createdAt).toISOString(),
  updatedAt: new Date(row.updatedAt).toISOString(),
})
