import { randomBytes } from 'node:crypto'
import { hashPassword, verifyPassword } from '../src/accounts/passwords.ts'
import { newUuid } from '../src/platform/locators.ts'

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
  control: D1Database,
  pepper: string,
  { username, password }: { username: string; password: string | undefined },
  needed: boolean,
): Promise<Administrator> {
  const present = await control
    .prepare('select password_hash as hash from administrator where username = ?')
    .bind(username)
    .first<{ hash: string }>()
  if (present && password === undefined && !needed) return { username, password: undefined, madeUp: false }
  const chosen = password ?? randomBytes(15).toString('base64url')
  const isAnother = present !== null && !(await verifyPassword(chosen, present.hash, pepper))
  const put = control
    .prepare(
      `insert into administrator (locator, username, name, password_hash, created_at) values (?, ?, ?, ?, ?)
       on conflict (username) do update
         set password_hash = excluded.password_hash, failed_sign_ins = 0, locked_until = null`,
    )
    .bind(newUuid(0), username, 'Administrator', await hashPassword(chosen, pepper), Date.now())
  await control.batch([put, ...(isAnother ? endAll(control, username) : [])])
  return { username, password: chosen, madeUp: password === undefined }
}

/** What ends all that the account is signed in with: its epoch, told to everybody, and its long-lived tokens. */
const endAll = (control: D1Database, username: string): D1PreparedStatement[] => [
  control.prepare('update administrator set token_epoch = token_epoch + 1 where username = ?').bind(username),
  control
    .prepare(
      `insert into revocation (account_locator, tenant_locator, epoch, at)
       select locator, '', token_epoch, ? from administrator where username = ?
       on conflict (account_locator) do update set epoch = excluded.epoch, at = excluded.at`,
    )
    .bind(Date.now(), username),
  control
    .prepare(
      `delete from administration_token
       where account_locator = (select locator from administrator where username = ?)`,
    )
    .bind(username),
]
