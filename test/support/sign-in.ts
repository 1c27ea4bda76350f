import { env } from 'cloudflare:workers'
import { newUuid } from '../../src/kernel/locators.ts'
import { callOk } from './api.ts'

const ADMINISTRATOR = { username: 'administrator', password: 'correct horse battery staple' }

/** The result of `hashPassword` for that password with the tests' pepper (vitest.config.ts) and cost (service-bundle.ts). */
const HASH = '$scrypt$ln=4,r=8,p=5$oA/TulNVhqRiJZQxvJkx5w$a6Ta6u6UPixVerv3O3/gn2iAZiAhJjLnmsIuwNAu1gg'

type Authentication = { authorizationToken: string; expiresTimestamp: string }

/** Returns a token of the administration account. Creates the account if this test file has none yet. */
export async function administrator(): Promise<string> {
  const present = await env.CONTROL.prepare('select 1 from administrator where username = ?')
    .bind(ADMINISTRATOR.username)
    .first()
  if (!present) {
    await env.CONTROL.prepare(
      'insert into administrator (locator, username, name, password_hash, created_at) values (?, ?, ?, ?, ?)',
    )
      .bind(newUuid(0), ADMINISTRATOR.username, 'Administrator', HASH, Date.now())
      .run()
  }
  const { authorizationToken } = await callOk<Authentication>('POST', '/account/authenticate', {
    body: ADMINISTRATOR,
  })
  return authorizationToken
}

/** Returns a token of a tenant's user. */
export async function signIn(tenantName: string, username: string, password: string): Promise<string> {
  const { authorizationToken } = await callOk<Authentication>('POST', '/account/authenticate', {
    body: { username, password, tenantName },
  })
  return authorizationToken
}
