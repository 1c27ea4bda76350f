import { eq, sql } from 'drizzle-orm'
import {
  alreadyExists,
  invalidRequest,
  notFound,
  type Refusal,
  tooLarge,
  wrongState,
} from '../../kernel/errors.ts'
import { newUuid, readUuid } from '../../kernel/locators.ts'
import { now as realNow } from '../../kernel/time.ts'
import {
  type AnswerBySubject,
  answerForRepeat,
  type Guard,
  isBySubject,
  type JsonAnswer,
  jsonAnswer,
  retryOnConflict,
  returnStored,
  unlessRepeated,
} from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { putRows } from '../../platform/database/rows.ts'
import type { Database, Query } from '../../platform/database.ts'
import { requireMatch } from '../../platform/http/entity-tags.ts'
import { permissionsHeld } from '../../platform/http/permissions.ts'
import { type JsonText, jsonText } from '../../platform/http/route.ts'
import { HOME_SHARD, homeDatabase, type Tenant } from '../../platform/tenancy.ts'
import { typeOfRole } from '../../product/roles.ts'
import type { AuditAction } from '../audit/actions.ts'
import { commitAudited } from '../audit/store.ts'
import type * as contract from '../contract.ts'
import { managerGuards, type Reading } from '../last-manager.ts'
import { isLocked } from '../lock-out.ts'
import { type PasswordRules, PLAIN_RULES, requireGoodPassword } from '../password-rules/rules.ts'
import { hashPassword } from '../passwords.ts'
import { announceOrLog, forgetAuthTokens, revocationWrites } from '../revocation.ts'
import { requireAccountAccess, requireAuthority, requireHeldPermissions, rolePermissions } from '../rights.ts'
import * as store from '../store.ts'
import { accounts, authTokens, passwordRules } from '../tables.ts'

/** Maximum number of accounts of one tenant. Deleted accounts do not count. */
export const MOST_ACCOUNTS = 10_000

type TenantAccountType = (typeof accounts.$inferSelect)['type']

const SERVICE_TYPE = 'service'

/**
 * Adds a person's account, with a password that follows the rules, or with type `service` a program's, which never has one. Throws
 * 422 for a type with more rights than the caller, and 409 for a user name that is taken.
 */
export async function addAccount(
  request: contract.AccountAddRequest,
  context: RequestContext,
): Promise<JsonText> {
  const database = homeDatabase(context)
  const add = () => addOnce(request, context, database)
  return jsonText(await unlessRepeated(context, database, add, answerForRepeat))
}

async function addOnce(
  request: contract.AccountAddRequest,
  context: RequestContext,
  database: Database,
): Promise<JsonAnswer> {
  const { tenant, caller, env, now } = context
  const { username, name, email, password } = request
  const isService = request.type === SERVICE_TYPE
  const type = isService ? ownType(caller.accountType) : personType(request.type, tenant)
  const { account: taken, rules, roles } = await store.readAccount(database, { username }, tenant)
  const permissions = rolePermissions({ username, accountType: type, source: 'interface' }, roles)
  if (!isService)
    requireHeldPermissions(
      permissionsHeld({ accountType: type, ...(permissions && { permissions }) }),
      permissionsHeld(caller),
      `Accounts of type ${type} have permissions that you lack:`,
    )
  if (taken) throw usernameTaken(username)
  if (!isService) await requireGoodPassword(password, rules, { username, email })
  const row = {
    locator: newUuid(HOME_SHARD),
    username,
    name,
    email,
    type,
    isService,
    passwordHash: isService ? null : await hashPassword(password, env.PASSWORD_PEPPER),
    formerHashes: [],
    passwordChangedAt: isService ? null : realNow(),
    failedSignIns: 0,
    lockedUntil: null,
    tokenEpoch: 0,
    disabledAt: null,
    deletedAt: null,
    source: 'interface' as const,
    createdBy: caller.accountLocator,
    createdAt: now,
  }
  const answer = accountAnswer(store.storedAccount(row), context)
  const committed = await retryOnConflict('The account', async () => {
    const present = await store.readRoom(database, username)
    if (present.isTaken) throw usernameTaken(username)
    if (present.count >= MOST_ACCOUNTS)
      throw tooLarge(`The tenant has ${MOST_ACCOUNTS} accounts, which is the limit. Delete some first.`)
    return commitAudited(context, database, {
      guards: [{ name: 'guard_account', holds: store.hasRoomFor(username, MOST_ACCOUNTS) }],
      facts: putRows(database, accounts, [row]),
      answer,
      audit: {
        action: 'accounts.write',
        subject: row.locator,
        details: { username, accountType: type, ...(isService && { service: true }) },
      },
    })
  })
  return isBySubject(committed) ? answer : committed
}

const usernameTaken = (username: string): Refusal =>
  alreadyExists(`An account '${username}' already exists. Choose another user name.`)

const TEST_ADMINISTRATOR = 'account.test.tenant.admin'

/** Accepts any spelling. Throws 400 for a type that the tenant cannot have. */
function personType(given: string, tenant: Tenant): TenantAccountType {
  if (given === TEST_ADMINISTRATOR && tenant.type === 'test') return TEST_ADMINISTRATOR
  const type = given === TEST_ADMINISTRATOR ? undefined : typeOfRole(given)
  if (type) return type
  throw invalidRequest(
    "'type' must be one of account.tenant.admin, account.tenant.employee, account.tenant.read.only.user, account.tenant.claims.only.user and service; in test tenants also account.test.tenant.admin.",
  )
}

/**
 * A program has the account type of its creator, and therefore at most the creator's rights. Each of its tokens is checked against
 * this type and against the caller, and has only the permissions that it lists.
 */
const ownType = (callersType: string): TenantAccountType =>
  accounts.type.enumValues.find(type => type === callersType) ?? 'account.tenant.read.only.user'

/** Lists accounts, oldest first, without deleted accounts. */
export async function listAccounts(
  { offset, count }: contract.AccountsQuery,
  context: RequestContext,
): Promise<contract.AccountListResponse> {
  const database = homeDatabase(context)
  const [rows] = await database.batch([store.accountsQuery(database, { offset, count: count + 1 })])
  return {
    listCompleted: rows.length <= count,
    items: rows.slice(0, count).map(row => accountResponse(store.storedAccount(row), context.tenant)),
  }
}

/** Throws 404 for a missing or deleted account, and 403 for one that the caller may not read. One round trip. */
export async function readOneAccount(
  locator: string,
  context: RequestContext,
): Promise<contract.AccountResponse> {
  const { account } = await accountAt(homeDatabase(context), locator, context.tenant)
  requireAccountAccess(context.caller, account, ['users.read'])
  return accountResponse(account, context.tenant)
}

type AccountChange = {
  readonly set: Partial<typeof accounts.$inferInsert>
  /** Whether to end access tokens everywhere within 5 s. */
  readonly endsAccess?: boolean
  /** Whether to delete long-lived tokens. */
  readonly endsTokens?: boolean
  /** For the same batch, in addition to the row of the account. */
  readonly guards?: readonly Guard[]
  readonly facts?: readonly Query[]
  /** For the audit trail, in addition to the user name. */
  readonly details?: Readonly<Record<string, unknown>>
  /** By default a response without a body. */
  readonly answer?: JsonAnswer
}

type Decide = (
  account: store.StoredAccount,
  rules: PasswordRules,
  reading: Reading,
) => Promise<AccountChange> | AccountChange

/**
 * Changes one account and writes its audit entry in the same commit. `decide` runs again when another request changed the account
 * first. Throws 404 for a missing or deleted account, and 422 for one with more rights than the caller. A repeat returns the
 * original response.
 */
export async function changeAccount(
  context: RequestContext,
  locator: string,
  action: AuditAction,
  decide: Decide,
): Promise<JsonText> {
  const database = homeDatabase(context)
  const attempt = (isFirst: boolean) => changeOnce(context, database, { locator, action, isFirst }, decide)
  const change = () => retryOnConflict('The account', attempt)
  const answer = await unlessRepeated(context, database, change, returnStored)
  return jsonText(answerForRepeat(answer))
}

async function changeOnce(
  context: RequestContext,
  database: Database,
  { locator: given, action, isFirst }: { locator: string; action: AuditAction; isFirst: boolean },
  decide: Decide,
): Promise<JsonAnswer | AnswerBySubject> {
  const { tenant } = context
  const { account, rules, configured } = await accountAt(database, given, tenant)
  const change = await decide(account, rules, { configured, isFirst })
  requireAuthority(context.caller, account)
  const { set, endsAccess = false, endsTokens = false, answer } = change
  const { locator, username } = account
  const epoch = account.tokenEpoch + (endsAccess ? 1 : 0)
  const { build } = database
  const ending = endsAccess && revocationWrites(context, database, locator, epoch)
  const committed = await commitAudited(context, database, {
    guards: [{ name: 'guard_account', holds: isUnchanged(account) }, ...(change.guards ?? [])],
    facts: [
      build
        .update(accounts)
        .set({ ...set, tokenEpoch: epoch })
        .where(eq(accounts.locator, locator)),
      ...(endsTokens ? [build.delete(authTokens).where(eq(authTokens.accountLocator, locator))] : []),
      ...(change.facts ?? []),
      ...(ending ? ending.facts : []),
    ],
    ...(ending && { timers: ending.timers }),
    ...(answer && { answer }),
    audit: { action, subject: locator, details: { username, ...change.details } },
  })
  if (ending) await announceOrLog(context, { tenant, accountLocator: locator, epoch })
  forgetAuthTokens()
  return committed
}

/** Throws 404 for a missing or deleted account. */
export async function accountAt(
  database: Database,
  given: string,
  tenant: store.Keeping,
): Promise<{ account: store.StoredAccount; rules: PasswordRules; configured: Reading['configured'] }> {
  const locator = readUuid(given)
  const { account, rules, roles } = locator ? await store.readAccount(database, { locator }, tenant) : {}
  if (!account || !rules) throw notFound('account', given)
  return { account, rules, configured: roles }
}

/** Guard: nothing that `decide` read has changed. */
const isUnchanged = ({ locator, tokenEpoch, passwordHash, disabledAt }: store.StoredAccount) =>
  sql`exists (select 1 from ${accounts} where ${accounts.locator} = ${locator} and ${accounts.deletedAt} is null
    and ${accounts.tokenEpoch} = ${tokenEpoch} and ${accounts.passwordHash} is ${passwordHash}
    and ${accounts.disabledAt} is ${disabledAt})`

/**
 * Disables an account, so that it cannot sign in. Its access tokens end everywhere within 5 s. Its long-lived tokens are kept, but
 * do not work until it is enabled again.
 */
export const disableAccount = (locator: string, context: RequestContext): Promise<JsonText> =>
  changeAccount(context, locator, 'accounts.disable', async (account, _, reading) => {
    requireAccountAccess(context.caller, account, ['users.write'])
    requireNotSelf(account.locator, context.caller, 'disable')
    const disabledAt = account.disabledAt ?? realNow()
    return {
      set: { disabledAt },
      endsAccess: true,
      facts: store.keptDisabledQueries(homeDatabase(context), account.locator, context.tenant),
      guards: await managerGuards(account, reading, context),
      answer: accountAnswer({ ...account, disabledAt }, context),
    }
  })

/** Enables an account. Its password and long-lived tokens work again. */
export const enableAccount = (locator: string, context: RequestContext): Promise<JsonText> =>
  changeAccount(context, locator, 'accounts.enable', account => ({
    set: { disabledAt: null },
    answer: accountAnswer({ ...account, disabledAt: null }, context),
  }))

/** Deletes an account. Its row stays because records name the account; its user name is free. */
export const deleteAccount = (locator: string, context: RequestContext): Promise<JsonText> =>
  changeAccount(context, locator, 'accounts.delete', async (account, _, reading) => {
    requireAccountAccess(context.caller, account, ['users.write'])
    requireNotSelf(account.locator, context.caller, 'delete')
    const set = { deletedAt: realNow(), passwordHash: null, formerHashes: [] }
    const facts = context.tenant.keepsRoles
      ? store.rolesQueries(homeDatabase(context), account.locator, [])
      : []
    const guards = await managerGuards(account, reading, context)
    return { set, endsAccess: true, endsTokens: true, guards, facts }
  })

/**
 * Sets another account's password without the old one, for a person who forgot it. Unlocks the account and ends its access tokens.
 * Throws 422 for an account with more rights than the caller, who could otherwise sign in as it and gain them.
 */
export function setPassword(
  locator: string,
  { password }: contract.PasswordSetRequest,
  context: RequestContext,
): Promise<JsonText> {
  let passwordHash: string | undefined
  return changeAccount(context, locator, 'accounts.password', async (account, rules) => {
    requireAccountAccess(context.caller, account, ['users.write'])
    requireNotSelf(account.locator, context.caller, 'set the password of')
    if (account.isService) throw wrongState(`'${account.username}' is a service account and has no password.`)
    if (await store.isOfProvider(homeDatabase(context), account.locator, context.tenant))
      throw wrongState(
        `'${account.username}' signs in by an identity provider. With a password it could still sign in after the provider removed it.`,
      )
    requireAuthority(context.caller, account)
    await requireGoodPassword(password, rules, account)
    passwordHash ??= await hashPassword(password, context.env.PASSWORD_PEPPER)
    return { set: newPassword(passwordHash, account, rules), endsAccess: true }
  })
}

/** Returns the columns that a new password changes. It also unlocks the account. */
export const newPassword = (
  passwordHash: string,
  account: store.StoredAccount,
  { history }: PasswordRules,
): Partial<typeof accounts.$inferInsert> => ({
  passwordHash,
  formerHashes: [
    ...(account.passwordHash === null ? [] : [account.passwordHash]),
    ...account.formerHashes,
  ].slice(0, history),
  passwordChangedAt: realNow(),
  failedSignIns: 0,
  lockedUntil: null,
})

/** Rejects the caller's own account: otherwise a tenant could lose its last administrator. */
export function requireNotSelf(locator: string, caller: RequestContext['caller'], what: string): void {
  if (locator === caller.accountLocator)
    throw wrongState(`You cannot ${what} your own account; another administrator can.`)
}

const accountAnswer = (account: store.StoredAccount, { tenant }: RequestContext): JsonAnswer =>
  jsonAnswer(accountResponse(account, tenant))

export const readPasswordRules = async (context: RequestContext): Promise<PasswordRules> =>
  (await storedRules(homeDatabase(context))) ?? PLAIN_RULES

/** Returns undefined where the tenant has set none. */
async function storedRules(database: Database): Promise<PasswordRules | undefined> {
  const [[row]] = await database.batch([database.build.select().from(passwordRules)])
  return row?.rules
}

/** Sets the rules. Existing passwords stay valid until too old. Throws 412 if the rules changed since the caller read them. */
export async function writePasswordRules(rules: PasswordRules, context: RequestContext): Promise<JsonText> {
  const database = homeDatabase(context)
  const answer = jsonAnswer(rules)
  const attempt = async () =>
    commitAudited(context, database, {
      guards: context.ifMatch === undefined ? [] : [await rulesAsRead(database, context)],
      facts: putRows(database, passwordRules, [{ locator: 'rules', rules }]),
      answer,
      subject: 'password rules',
      audit: { action: 'accounts.rules', subject: 'passwordRules', details: { ...rules } },
    })
  const write = () => retryOnConflict('The password rules', attempt)
  const committed = await unlessRepeated(context, database, write, returnStored)
  return jsonText(isBySubject(committed) ? answer : committed)
}

/** Throws 412 unless `If-Match` is the tag of the rules. The guard checks the same at the commit. */
async function rulesAsRead(database: Database, { ifMatch }: RequestContext): Promise<Guard> {
  const rules = await storedRules(database)
  requireMatch(ifMatch, () => rules ?? PLAIN_RULES)
  const text = rules ? JSON.stringify(rules) : null
  return {
    name: 'guard_account',
    holds: sql`(select ${passwordRules.rules} from ${passwordRules}) is ${text}`,
  }
}

/** Returns the account as the contract has it. `locked` depends on real time, also in a test tenant whose clock was moved. */
export const accountResponse = (
  account: store.StoredAccount,
  { name: tenant }: Tenant,
): contract.AccountResponse => ({
  id: account.locator,
  name: account.name,
  createdTimestamp: String(account.createdAt),
  accountType: account.accountType as contract.AccountResponse['accountType'],
  // Deleted accounts are never found.
  deleted: false,
  email: account.email ?? '',
  locked: isLocked(account, realNow()),
  tenant,
  username: account.username,
  disabled: account.disabledAt !== null,
  service: account.isService,
})
