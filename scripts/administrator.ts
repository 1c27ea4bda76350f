import { randomBytes } from 'node:crypto'
import { PLAIN_RULES, passwordProblems } from '../src/access/password-rules/rules.ts'
import { hashPassword, needsRehash, verifyPassword } from '../src/access/passwords.ts'
import { newUuid } from '../src/kernel/locators.ts'

export type Statement = { readonly sql: string; readonly values: readonly (string | number | null)[] }

/** The control database, as a file of this machine (local-databases.ts) or as a binding. */
export type StatementTarget = {
  /** The first row of a query. */
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
  /** What signs in; undefined when the account keeps a password that only its owner knows. */
  password: string | undefined
  /** Whether the password was made up just now: to be shown, since nothing keeps it. */
  madeUp: boolean
}

/**
 * Makes the administration account, or sets its password to the one given, which unlocks it; another one than it had ends its
 * sessions and its long-lived tokens: so an account is got back. Without one, a password is made up for a new account, and
 * for one with `needed` (the start has to sign in and nobody can tell it how).
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
  // To hash it again is a fifth of a start. Of several peppers, new hashes have the first.
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

/** An Error in one line where the password breaks the rules that hold for every account. */
async function requireGoodPassword(username: string, password: string): Promise<void> {
  const problems = await passwordProblems(password, PLAIN_RULES, { username, email: null })
  if (problems.length > 0)
    throw new Error(
      `ADMIN_PASSWORD ${problems.join('; it ')}. Choose another, or leave it out to have one made up.`,
    )
}

/** Ends everything that the account is signed in with: its sessions, by a new epoch, and its long-lived tokens. */
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
