import { randomBytes } from 'node:crypto'
import { PLAIN_RULES, passwordProblems } from '../src/access/password-rules/rules.ts'
import { hashPassword, needsRehash, verifyPassword } from '../src/access/passwords.ts'
import { newUuid } from '../src/kernel/locators.ts'

export type Statement = { readonly sql: string; readonly values: readonly (string | number | null)[] }

/** The control database, as a local file (local-databases.ts) or as a binding. */
export type StatementTarget = {
  /** Returns the first row of a query. */
  first(statement: Statement): Promise<Record<string, unknown> | undefined>
  /** Runs the statements in order, all or none. */
  batch(statements: readonly Statement[]): Promise<void>
}

/** A D1 binding as the control database. */
export function bindingStatements(client: D1Database): StatementTarget {
  const prepared = ({ sql, values }: Statement): D1PreparedStatement => client.prepare(sql).bind(...values)
  return {
    first: async statement => (await prepared(statement).first()) ?? undefined,
    async batch(statements) {
      await client.batch(statements.map(prepared))
    },
  }
}

export type Administrator = {
  username: string
  /** The password that signs in. Undefined if the account keeps a password that only its owner knows. */
  password: string | undefined
  /** Whether the password was just generated. It must be shown, because it is not stored. */
  madeUp: boolean
}

/**
 * Creates the administration account, or sets its password to the given one, which also unlocks it. If that differs from the
 * former password, the account's sessions and long-lived tokens end, so that a lost account can be recovered. Without a given
 * password, one is generated for a new account. With `needed`, one is also generated for an existing account, because the start
 * has to sign in and has no other password.
 */
export async function prepareAdministrator(
  control: StatementTarget,
  pepper: string,
  { username, password }: { username: string; password: string | undefined },
  needed: boolean,
): Promise<Administrator> {
  const present = await control.first({
    sql: 'select password_hash as hash from administrator where username = ?',
    values: [username],
  })
  if (present && password === undefined && !needed) return { username, password: undefined, madeUp: false }
  const chosen = password ?? randomBytes(15).toString('base64url')
  const former = String(present?.hash)
  const isSame = present !== undefined && (await verifyPassword(chosen, former, pepper))
  if (password !== undefined && !isSame) await requireGoodPassword(username, password)
  // Hashing again would take a fifth of a start. With several peppers, a new hash is needed, because it uses the first one.
  const isKept = isSame && !needsRehash(former) && !pepper.includes(',')
  const hash = isKept ? former : await hashPassword(chosen, pepper)
  const put: Statement = {
    sql: `insert into administrator (locator, username, name, password_hash, created_at) values (?, ?, ?, ?, ?)
       on conflict (username) do update
         set password_hash = excluded.password_hash, failed_sign_ins = 0, locked_until = null`,
    values: [newUuid(0), username, 'Administrator', hash, Date.now()],
  }
  await control.batch([put, ...(present && !isSame ? endAll(username) : [])])
  return { username, password: chosen, madeUp: password === undefined }
}

/** Throws a one-line Error if the password breaks the rules that apply to every account. */
async function requireGoodPassword(username: string, password: string): Promise<void> {
  const problems = await passwordProblems(password, PLAIN_RULES, { username, email: null })
  if (problems.length > 0)
    throw new Error(
      `ADMIN_PASSWORD ${problems.join('; it ')}. Choose another password, or leave it out to have one generated.`,
    )
}

/** Ends every session of the account, by a new epoch, and deletes its long-lived tokens. */
const endAll = (username: string): Statement[] => [
  { sql: 'update administrator set token_epoch = token_epoch + 1 where username = ?', values: [username] },
  {
    sql: `insert into revocation (account_locator, tenant_locator, epoch, at)
       select locator, '', token_epoch, ? from administrator where username = ?
       on conflict (account_locator) do update set epoch = excluded.epoch, at = excluded.at`,
    values: [Date.now(), username],
  },
  {
    sql: `delete from administration_token
       where account_locator = (select locator from administrator where username = ?)`,
    values: [username],
  },
]
