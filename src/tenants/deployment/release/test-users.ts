// An archive's users become accounts of its test tenant (resources brief 10.3) and follow the archive: they change and go with
// it. Accounts made through the interface stay as they are.
import type { Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import type { Finding, TestUser } from '../../../product/configuration.ts'
import { accountType, type TestUserType } from '../../../product/roles.ts'

/** Each new password takes the Worker a fifth of a second. */
export const MOST_TEST_USERS = 100

const FILE = 'security/test_users.json'

/** An account as it is now. */
export type PresentAccount = {
  locator: Uuid
  username: string
  type: string
  /** Null where an administrator removed it. */
  passwordHash: string | null
  source: 'archive' | 'interface'
  createdAt: Instant
}

/** An account to write. Without a hash, its password still has to be hashed. */
export type WantedAccount = {
  /** The existing account; undefined for a new one. */
  present: PresentAccount | undefined
  user: TestUser
  type: TestUserType
  passwordHash: string | undefined
}

export type AccountPlan = {
  write: WantedAccount[]
  remove: Uuid[]
  /**
   * Whether tokens are in use that would grant more than the account has afterwards: it goes, or its type changes.
   */
  revokesTokens: boolean
  findings: Finding[]
}

/** The error for more users than a deploy can create. */
export const userFindings = (users: readonly TestUser[]): Finding[] =>
  users.length <= MOST_TEST_USERS
    ? []
    : [
        {
          severity: 'ERROR',
          path: FILE,
          code: 'tooManyTestUsers',
          message: `The file has ${users.length} users; at most ${MOST_TEST_USERS} are made. Leave the others out.`,
        },
      ]

/**
 * The changes that turn the present accounts into those of `users`. `before` are the users of the archive that made them: an
 * unchanged user is left alone, an unchanged password keeps its hash.
 */
export function planAccounts(
  users: readonly TestUser[],
  present: readonly PresentAccount[],
  before: readonly TestUser[],
): AccountPlan {
  const accounts = new Map(present.map(account => [account.username, account]))
  const earlier = new Map(before.map(user => [user.username, user]))
  const wanted = new Set(users.map(({ username }) => username))
  const remove = present.filter(({ source, username }) => source === 'archive' && !wanted.has(username))
  const plan: AccountPlan = {
    write: [],
    remove: remove.map(({ locator }) => locator),
    revokesTokens: remove.length > 0,
    findings: [],
  }
  for (const user of users) {
    const account = accounts.get(user.username)
    const was = account && earlier.get(user.username)
    const type = accountType(user)
    if (account?.source === 'interface')
      plan.findings.push({
        severity: 'WARNING',
        path: FILE,
        code: 'usernameTaken',
        message: `The account '${user.username}' was made through the interface and is left as it is.`,
      })
    else if (!was || account.type !== type || JSON.stringify(was) !== JSON.stringify(user)) {
      if (account && account.type !== type) plan.revokesTokens = true
      plan.write.push({
        present: account,
        user,
        type,
        passwordHash: was?.password === user.password ? (account?.passwordHash ?? undefined) : undefined,
      })
    }
  }
  return plan
}
