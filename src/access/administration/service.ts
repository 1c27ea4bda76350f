// Adds, lists, disables and deletes the accounts of a tenant, and sets their passwords.
import { alreadyExists, invalidRequest, type Refusal, tooLarge, wrongState } from '../../kernel/errors.ts'
import { newUuid } from '../../kernel/locators.ts'
import { type Instant, now as realNow } from '../../kernel/time.ts'
import { commit, isBySubject, retryOnConflict, storedAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { putRows } from '../../platform/database.ts'
import { permissionsHeld } from '../../platform/http/permissions.ts'
import { type JsonText, jsonText } from '../../platform/http/route.ts'
import { HOME_SHARD, homeDatabase, type Tenant } from '../../platform/tenancy.ts'
import { typeOfRole } from '../../product/roles.ts'
import { auditRows } from '../audit/store.ts'
import type {
  AccountAddRequest,
  AccountListResponse,
  AccountResponse,
  AccountsQuery,
  PasswordSetRequest,
} from '../contract.ts'
import { isLocked } from '../lock-out.ts'
import { type PasswordRules, PLAIN_RULES, requireGoodPassword } from '../password-rules/rules.ts'
import { hashPassword } from '../passwords.ts'
import { requireAuthority, requireReach, requireWithin } from '../rights.ts'
import { rolePermissions } from '../roles.ts'
import {
  accountsQuery,
  hasRoomFor,
  readAccount,
  readRoom,
  type StoredAccount,
  storedAccount,
} from '../store.ts'
import { accounts, passwordRules } from '../tables.ts'
import { accountAt, changeAccount } from './change.ts'

/** Accounts of one tenant that are not deleted. */
export const MOST_ACCOUNTS = 10_000

type TenantAccountType = (typeof accounts.$inferSelect)['type']

/** The type that stands for a program's account. */
const SERVICE = 'service'

/**
 * Adds an account: a person's, with a password that fits the rules, or with type `service` a program's, which has none. 422 for
 * a type with more rights than the caller; 409 for a user name that is taken.
 */
export async function addAccount(request: AccountAddRequest, context: RequestContext): Promise<JsonText> {
  const { tenant, caller, env, now } = context
  const database = homeDatabase(context)
  const earlier = await storedAnswer(context, database)
  if (earlier && !isBySubject(earlier)) return jsonText(earlier)
  const { username, name, email, password } = request
  const isService = request.type === SERVICE
  const type = isService ? ownType(caller.accountType) : personType(request.type, tenant)
  const { account: taken, rules, roles } = await readAccount(database, { username })
  const permissions = rolePermissions({ username, accountType: type, source: 'interface' }, roles)
  if (!isService)
    requireWithin(
      permissionsHeld({ accountType: type, ...(permissions && { permissions }) }),
      permissionsHeld(caller),
      `Accounts of type ${type} may what you may not:`,
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
  const answer = {
    status: 200,
    text: JSON.stringify(accountResponse(storedAccount(row), tenant, realNow())),
  }
  const committed = await retryOnConflict('The account', async () => {
    const present = await readRoom(database, username)
    if (present.isTaken) throw usernameTaken(username)
    if (present.count >= MOST_ACCOUNTS)
      throw tooLarge(`The tenant has ${MOST_ACCOUNTS} accounts, which is the most; delete some.`)
    return commit(context, database, {
      shard: HOME_SHARD,
      guards: [{ name: 'guard_account', holds: hasRoomFor(username, MOST_ACCOUNTS) }],
      facts: [
        ...putRows(database, accounts, [row]),
        ...auditRows(database, context, HOME_SHARD, [
          {
            action: 'accounts.write',
            subject: row.locator,
            details: { username, accountType: type, ...(isService && { service: true }) },
          },
        ]),
      ],
      events: [],
      answer,
      subject: row.locator,
    })
  })
  return jsonText(isBySubject(committed) ? answer : committed)
}

const usernameTaken = (username: string): Refusal =>
  alreadyExists(`There is an account '${username}' already; choose another user name.`)

const TEST_ADMINISTRATOR = 'account.test.tenant.admin'

/** The type of a person's account, in any spelling; 400 for one that the tenant cannot have. */
function personType(given: string, tenant: Tenant): TenantAccountType {
  if (given === TEST_ADMINISTRATOR && tenant.type === 'test') return TEST_ADMINISTRATOR
  const type = given === TEST_ADMINISTRATOR ? undefined : typeOfRole(given)
  if (type) return type
  throw invalidRequest(
    "'type' must be one of account.tenant.admin, account.tenant.employee, account.tenant.read.only.user, account.tenant.claims.only.user and service; in test tenants also account.test.tenant.admin.",
  )
}

/**
 * A program has at most the rights of the account that made it: each of its tokens is checked against its account's type and
 * against the caller, and has only the permissions that it lists.
 */
const ownType = (callersType: string): TenantAccountType =>
  accounts.type.enumValues.find(type => type === callersType) ?? 'account.tenant.read.only.user'

/** Oldest first, without deleted accounts. */
export async function listAccounts(
  { offset, count }: AccountsQuery,
  context: RequestContext,
): Promise<AccountListResponse> {
  const database = homeDatabase(context)
  const [rows] = await database.batch([accountsQuery(database, { offset, count: count + 1 })])
  return {
    listCompleted: rows.length <= count,
    items: rows.slice(0, count).map(row => accountResponse(storedAccount(row), context.tenant, realNow())),
  }
}

export async function readOneAccount(locator: string, context: RequestContext): Promise<AccountResponse> {
  const { account } = await accountAt(homeDatabase(context), locator)
  requireReach(context.caller, account, ['users.read'])
  return accountResponse(account, context.tenant, realNow())
}

/**
 * A disabled account cannot sign in; its access tokens end everywhere within 5 s, and its long-lived tokens do not work.
 */
export async function disableAccount(locator: string, context: RequestContext): Promise<JsonText> {
  return jsonText(
    await changeAccount(context, locator, account => {
      requireReach(context.caller, account, ['users.write'])
      requireAnother(account, context, 'disable')
      const disabledAt = account.disabledAt ?? realNow()
      return {
        set: { disabledAt },
        endsAccess: true,
        told: {
          action: 'accounts.disable',
          subject: account.locator,
          details: { username: account.username },
        },
        answer: shown({ ...account, disabledAt }, context),
      }
    }),
  )
}

/** Undoes `disableAccount`: password and long-lived tokens work again. */
export async function enableAccount(locator: string, context: RequestContext): Promise<JsonText> {
  return jsonText(
    await changeAccount(context, locator, account => {
      return {
        set: { disabledAt: null },
        told: {
          action: 'accounts.enable',
          subject: account.locator,
          details: { username: account.username },
        },
        answer: shown({ ...account, disabledAt: null }, context),
      }
    }),
  )
}

/** Records of what the account did keep its name; the user name is free for another account. */
export async function deleteAccount(locator: string, context: RequestContext): Promise<void> {
  await changeAccount(context, locator, account => {
    requireReach(context.caller, account, ['users.write'])
    requireAnother(account, context, 'delete')
    return {
      set: { deletedAt: realNow(), passwordHash: null, formerHashes: [] },
      endsAccess: true,
      endsTokens: true,
      told: {
        action: 'accounts.delete',
        subject: account.locator,
        details: { username: account.username },
      },
      answer: { status: 200, text: '' },
    }
  })
}

/**
 * Sets another account's password without the old one, for somebody who forgot it. Unlocks the account and ends its access
 * tokens. 422 for an account with more rights than the caller, who would gain them otherwise.
 */
export async function setPassword(
  locator: string,
  { password }: PasswordSetRequest,
  context: RequestContext,
): Promise<void> {
  let passwordHash: string | undefined
  await changeAccount(context, locator, async (account, rules) => {
    requireReach(context.caller, account, ['users.write'])
    requireAnother(account, context, 'set the password of')
    if (account.isService) throw wrongState(`'${account.username}' is a service account and has no password.`)
    requireAuthority(context.caller, account)
    await requireGoodPassword(password, rules, account)
    passwordHash ??= await hashPassword(password, context.env.PASSWORD_PEPPER)
    return {
      set: {
        passwordHash,
        formerHashes: formerHashes(account, rules),
        passwordChangedAt: realNow(),
        failedSignIns: 0,
        lockedUntil: null,
      },
      endsAccess: true,
      told: {
        action: 'accounts.password',
        subject: account.locator,
        details: { username: account.username },
      },
      answer: { status: 200, text: '' },
    }
  })
}

/** The former hashes to remember once the account has another password. */
export const formerHashes = (
  { passwordHash, formerHashes: before }: StoredAccount,
  { history }: PasswordRules,
): string[] => [...(passwordHash === null ? [] : [passwordHash]), ...before].slice(0, history)

/** You cannot disable or delete your own account: that could leave a tenant without an administrator. */
function requireAnother(account: StoredAccount, { caller }: RequestContext, what: string): void {
  if (account.locator === caller.accountLocator)
    throw wrongState(`You cannot ${what} your own account; another administrator can.`)
}

const shown = (account: StoredAccount, { tenant }: RequestContext) => ({
  status: 200,
  text: JSON.stringify(accountResponse(account, tenant, realNow())),
})

/** The tenant's rules for passwords. */
export async function readPasswordRules(context: RequestContext): Promise<PasswordRules> {
  const database = homeDatabase(context)
  const [[row]] = await database.batch([database.build.select().from(passwordRules)])
  return row?.rules ?? PLAIN_RULES
}

/** Sets the rules for new passwords. Existing passwords stay valid until they are too old. */
export async function writePasswordRules(rules: PasswordRules, context: RequestContext): Promise<JsonText> {
  const database = homeDatabase(context)
  const answer = { status: 200, text: JSON.stringify(rules) }
  const earlier = await storedAnswer(context, database)
  if (earlier && !isBySubject(earlier)) return jsonText(earlier)
  const committed = await commit(context, database, {
    shard: HOME_SHARD,
    guards: [],
    facts: [
      ...putRows(database, passwordRules, [{ locator: 'rules', rules }]),
      ...auditRows(database, context, HOME_SHARD, [
        { action: 'accounts.rules', subject: 'passwordRules', details: { ...rules } },
      ]),
    ],
    events: [],
    answer,
    subject: 'password rules',
  })
  return jsonText(isBySubject(committed) ? answer : committed)
}

/** The account as the contract shows it; `now` is the real time, in which locks end. */
export const accountResponse = (
  account: StoredAccount,
  { name: tenant }: Pick<Tenant, 'name'>,
  now: Instant,
): AccountResponse => ({
  id: account.locator,
  name: account.name,
  createdTimestamp: String(account.createdAt),
  accountType: account.accountType as AccountResponse['accountType'],
  // A deleted account is not found.
  deleted: false,
  email: account.email ?? '',
  locked: isLocked(account, now),
  tenant,
  username: account.username,
  disabled: account.disabledAt !== null,
  service: account.isService,
})
