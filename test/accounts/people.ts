// A tenant with an administrator and an employee and without a configuration, for tests of accounts.
import { env } from 'cloudflare:workers'
import { createHmac, scryptSync } from 'node:crypto'
import { newUuid, type Uuid } from '../../src/kernel/locators.ts'
import { type Answer, callApi } from '../support/api.ts'
import { boundDatabase, poolBinding } from '../support/databases.ts'

export const PASSWORD = 'Quittenmus-4-Tage'

/** Hashes at the cost that the service has in tests (test/support/service-bundle.ts), so that signing in does not hash again. */
function hashed(): string {
  const peppered = createHmac('sha256', env.PASSWORD_PEPPER).update(PASSWORD).digest()
  const plain = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '')
  const salt = new TextEncoder().encode('salt of everybody')
  return `$scrypt$ln=11,r=8,p=5$${plain(salt)}$${plain(scryptSync(peppered, salt, 32, { N: 2048, r: 8, p: 5 }))}`
}

export type Authentication = { authorizationToken: string; expiresTimestamp: string }
export type Refused = { code: string; message: string; httpStatus: string; requestUri: string }

export type People = {
  readonly tenant: { locator: Uuid; name: string; hostName: string }
  readonly database: D1Database
  /** Locators by user name; `add` adds more. */
  readonly locators: Readonly<Record<string, Uuid>>
  add(username: string, type: string): Promise<Uuid>
  /** The response of POST /account/authenticate. */
  tryToEnter(username: string, password?: string): Promise<Answer<Authentication & Refused>>
  /** A new token. */
  token(username: string, password?: string): Promise<string>
}

/** Makes the pool database of this number a tenant with `boss`, an administrator, and `alice`, an employee. */
export async function peopleOf(number: number): Promise<People> {
  const tenant = {
    locator: newUuid(0),
    name: `people-${number}`,
    hostName: `people-${number}.co.local.bindery.test`,
  }
  await env.CONTROL.batch([
    env.CONTROL.prepare(
      `insert into tenant (locator, name, host_name, type, status, generation, token_epoch, versioned, created_at, former_units) values (?, ?, ?, 'test', 'active', 1, 1, 1, 0, null)`,
    ).bind(tenant.locator, tenant.name, tenant.hostName),
    env.CONTROL.prepare('insert into shard (tenant_locator, number, binding) values (?, 0, ?)').bind(
      tenant.locator,
      poolBinding(number),
    ),
  ])
  const database = boundDatabase(poolBinding(number))
  const hash = hashed()
  const locators: Record<string, Uuid> = {}
  const people: People = {
    tenant,
    database,
    locators,
    async add(username, type) {
      const locator = newUuid(0)
      await database
        .prepare(
          `insert into account (locator, username, name, type, password_hash, source, created_at) values (?, ?, ?, ?, ?, 'archive', 0)`,
        )
        .bind(locator, username, `Name of ${username}`, type, hash)
        .run()
      locators[username] = locator
      return locator
    },
    tryToEnter: (username, password = PASSWORD) =>
      callApi('POST', '/account/authenticate', { body: { username, password, tenantName: tenant.name } }),
    async token(username, password) {
      const { status, body } = await people.tryToEnter(username, password)
      if (status !== 200) throw new Error(`${username} cannot sign in: ${body.message}`)
      return body.authorizationToken
    },
  }
  await people.add('boss', 'account.tenant.admin')
  await people.add('alice', 'account.tenant.employee')
  return people
}

/** Adds the administration account `root`, with the same password. */
export async function addRoot(username = 'root'): Promise<Uuid> {
  const locator = newUuid(0)
  await env.CONTROL.prepare(
    `insert into administrator (locator, username, name, password_hash, created_at) values (?, ?, 'Root', ?, 0)`,
  )
    .bind(locator, username, hashed())
    .run()
  return locator
}
