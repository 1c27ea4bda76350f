import { randomBytes } from 'node:crypto'
import { hashPassword } from '../src/accounts/passwords.ts'
import { newUuid } from '../src/platform/locators.ts'

export type Administrator = {
  username: string
  /** What signs in; undefined when the account keeps a password that only its owner knows. */
  password: string | undefined
  /** Whether the password was made up just now: to be shown, since nothing keeps it. */
  madeUp: boolean
}

/**
 * Makes the administration account, or sets its password to the one given, which unlocks it. Without one, a password is made up
 * for a new account, and for one with `needed` (the start has to sign in and nobody can tell it how).
 */
export async function prepareAdministrator(
  control: D1Database,
  pepper: string,
  { username, password }: { username: string; password: string | undefined },
  needed: boolean,
): Promise<Administrator> {
  const present = await control
    .prepare('select 1 from administrator where username = ?')
    .bind(username)
    .first()
  if (present && password === undefined && !needed) return { username, password: undefined, madeUp: false }
  const chosen = password ?? randomBytes(15).toString('base64url')
  await control
    .prepare(
      `insert into administrator (locator, username, name, password_hash, created_at) values (?, ?, ?, ?, ?)
       on conflict (username) do update
         set password_hash = excluded.password_hash, failed_sign_ins = 0, locked_until = null`,
    )
    .bind(newUuid(0), username, 'Administrator', await hashPassword(chosen, pepper), Date.now())
    .run()
  return { username, password: chosen, madeUp: password === undefined }
}
