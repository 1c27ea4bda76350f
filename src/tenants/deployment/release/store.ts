import { and, eq, isNull, or, sql } from 'drizzle-orm'
import { accounts } from '../../../access/tables.ts'
import { newUuid, type Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import { deleteRows, putRows } from '../../../platform/database/rows.ts'
import type { Database, Query } from '../../../platform/database.ts'
import { HOME_SHARD } from '../../../platform/tenancy.ts'
import { policies } from '../../../policy/tables/policies.ts'
import type { VersionRow } from '../../../product/cache.ts'
import type { Finding, TestUser } from '../../../product/configuration.ts'
import { accountType, type TestUserType } from '../../../product/roles.ts'
import { configurationVersions, deployments } from '../../../product/tables.ts'

/** Selects accounts that archives created, and those with a user name of this archive. */
export const archiveAccountsQuery = (database: Database, usernames: readonly string[]) =>
  database.build
    .select({
      locator: sql<Uuid>`${accounts.locator}`,
      username: accounts.username,
      type: accounts.type,
      passwordHash: accounts.passwordHash,
      source: accounts.source,
      createdAt: sql<Instant>`${accounts.createdAt}`,
    })
    .from(accounts)
    .where(
      and(
        isNull(accounts.deletedAt),
        or(
          eq(accounts.source, 'archive'),
          sql`${accounts.username} in (select value from json_each(${JSON.stringify(usernames)}))`,
        ),
      ),
    )

/** A product name, or null for the whole tenant. */
export type Scope = string | null

/** Selects the scopes that have policies of the version, or of any version if none is given. */
export const usedScopesQuery = (database: Database, scopes: readonly Scope[], version: number | undefined) =>
  database.build.all<{ name: Scope }>(sql`
    select wanted.value as name from json_each(${JSON.stringify(scopes)}) as wanted
    where exists (
      select 1 from ${policies} where ${and(
        eq(policies.productName, sql`coalesce(wanted.value, ${policies.productName})`),
        version === undefined ? undefined : eq(policies.configVersion, version),
      )}
    )`)

/** A guard. 0 means that there is no version. */
export const latestVersionIs = (version: number) =>
  sql`coalesce((select max(${configurationVersions.version}) from ${configurationVersions}), 0) = ${version}`

/** A guard: the version still has the archive with this hash. */
export const versionHasHash = (version: number, hash: string) =>
  sql`(select ${configurationVersions.hash} from ${configurationVersions} where ${configurationVersions.version} = ${version}) = ${hash}`

/** A guard: no policy of the version is in one of the scopes. It sees only the database whose batch it is in. */
export const noPolicyOf = (scopes: readonly Scope[], version: number) => sql`not exists (
  select 1 from ${policies} where ${and(
    eq(policies.configVersion, version),
    scopes.includes(null)
      ? undefined
      : sql`${policies.productName} in (select value from json_each(${JSON.stringify(scopes)}))`,
  )}
)`

/** Stores the version, or replaces it if it exists, and adds the deploy or repair to the list of deployments. */
export const releaseQueries = (
  database: Database,
  row: VersionRow,
  done: { kind: 'deploy' | 'repair'; at: Instant; by: string },
): Query[] => [
  ...putRows(database, configurationVersions, [row]),
  database.build.insert(deployments).values({
    locator: newUuid(HOME_SHARD),
    version: row.version,
    hash: row.hash,
    kind: done.kind,
    deployedAt: done.at,
    deployedBy: done.by,
  }),
]

/** Writes and removes accounts. Other columns of existing accounts do not change. */
export const accountQueries = (
  database: Database,
  write: readonly (WantedAccount & { passwordHash: string })[],
  remove: readonly Uuid[],
  at: Instant,
): Query[] => [
  ...deleteRows(database, accounts, remove),
  ...write.map(({ present, user: { username, name }, type, passwordHash }) => {
    const row = { username, name, type, passwordHash, source: 'archive' } as const
    return database.build
      .insert(accounts)
      .values({ ...row, locator: present?.locator ?? newUuid(HOME_SHARD), createdAt: at })
      .onConflictDoUpdate({ target: accounts.locator, set: row })
  }),
]

// An archive's users become accounts of its test tenant (resources brief 10.3). They follow the archive: they are changed and
// removed with it. Accounts that were added through the interface do not change.
/** A limit, since hashing a password takes a fifth of a second. */
const MOST_TEST_USERS = 100

const FILE = 'security/test_users.json'

export type PresentAccount = {
  locator: Uuid
  username: string
  type: string
  /** Null if an administrator removed it. */
  passwordHash: string | null
  source: 'archive' | 'interface'
  createdAt: Instant
}

/** Without `passwordHash`, the password must still be hashed. */
export type WantedAccount = {
  /** Undefined for a new account. */
  present: PresentAccount | undefined
  user: TestUser
  type: TestUserType
  passwordHash: string | undefined
}

export type AccountPlan = {
  write: WantedAccount[]
  remove: Uuid[]
  /** Set if an account is removed or changes its type, since its tokens would grant more than it has. */
  revokesTokens: boolean
  findings: Finding[]
}

/** Returns an error if there are more users than are created, otherwise nothing. */
export function userFindings({ length }: readonly TestUser[]): Finding[] {
  const message = `The file has ${length} users, but at most ${MOST_TEST_USERS} are created. Leave the others out.`
  const tooMany: Finding = { severity: 'ERROR', path: FILE, code: 'tooManyTestUsers', message }
  return length > MOST_TEST_USERS ? [tooMany] : []
}

/**
 * Plans the changes that turn the present accounts into those of `users`. `before` are the users of the archive that created
 * them: an unchanged user is skipped, and an unchanged password keeps its hash.
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
        message: `The account '${user.username}' was created through the interface and stays unchanged.`,
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
