// A revoked account is rejected regardless of what an isolate has cached, because each database of the tenant stores the
// revocation next to its fence. The service is one isolate here. This test's own copy of it (`mounted`) is another, which trusts
// what it read for 5 s.
import { env } from 'cloudflare:workers'
import { decodeJwt } from 'jose'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { accountRoutes } from '../../src/access/routes.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { fireDue, TIMER_LEASE_MS } from '../../src/platform/events/timers.ts'
import { serviceRoutes } from '../../src/platform/http/health.ts'
import { forgetTenants, HOME_SHARD, readTenant, type Tenant } from '../../src/platform/tenancy.ts'
import { policyholderRoutes } from '../../src/servicing/policyholders/routes.ts'
import { addShards, openNewShards } from '../../src/tenants/service.ts'
import { policyRoutes } from '../../src/transactions/policies/routes.ts'
import { elapse, takeAway, wrapBindings } from '../faults/injection.ts'
import { mounted } from '../platform/http/mounted.ts'
import { callApi, callOk } from '../support/api.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'
import { administrator } from '../support/sign-in.ts'

let motor: Motor
let tenant: Tenant
let admin: string
let holders: string[]
/** The token that each test revokes. */
let token: string

const KNOWN_AFTER_MS = 11_000

async function grow(shards: number): Promise<void> {
  await addShards(env, motor.tenantName, shards)
  await openNewShards(env, motor.tenantName)
  elapse(KNOWN_AFTER_MS)
  forgetTenants()
  globalThis.forgetTenants?.()
  tenant = (await readTenant(env, { name: motor.tenantName }, noCalls()))!
}

const shardOf = (locator: string): number => Number.parseInt(locator.slice(-2), 16)

beforeAll(async () => {
  await prepareDatabases({ tenants: 6 })
  await wrapBindings()
  motor = await motorTenant('revoking')
  await grow(2)
  admin = await motor.signIn('anna.admin')
  holders = []
  while (holders.length < 2) {
    const holder = await motor.newPolicyholder()
    if (shardOf(holder) === holders.length) holders.push(holder)
  }
})

beforeEach(async () => {
  token = await motor.signIn('alice.agent')
  admin = await motor.signIn('anna.admin')
})
afterEach(() => {
  takeAway(undefined)
  vi.restoreAllMocks()
})

const accountOf = (one: string) => String(decodeJwt(one)['account.uuid'])
const revoke = () => callApi('POST', `/auth/users/${accountOf(token)}/revoke`, { token: admin })
const isolate = mounted([...serviceRoutes, ...accountRoutes, ...policyholderRoutes, ...policyRoutes])
const elsewhere = async (method: string, path: string, body?: object, of = token) => {
  const headers = { authorization: of, 'content-type': 'application/json' }
  const { status } = await isolate(method, path, { headers, ...(body && { body: JSON.stringify(body) }) })
  return status
}
const readsOf = (shard: number) => `/policyholder/${holders[shard]}`
const PING = '/v1/ping/authorized'

/** Until the returned function is called, revocations do not reach databases other than that of the account. */
function loseAnnouncements(): () => void {
  const sessions = Object.getPrototypeOf(env.CONTROL.withSession())
  const own = sessions.batch
  sessions.batch = async function (statements: { statement: string }[]) {
    const text = statements.map(({ statement }) => statement).join()
    if (/into "revoked_account"/.test(text) && !text.includes('"account"')) throw new Error('D1_ERROR: Lost.')
    return await own.call(this, statements)
  }
  return () => {
    sessions.batch = own
  }
}

const refusedIn = async (shard: number): Promise<number | null> =>
  await boundDatabase(tenant.shards[shard]!)
    .prepare('select max(epoch) as epoch from revoked_account where account_locator = ?')
    .bind(accountOf(token))
    .first<number>('epoch')

describe('a long-lived token that was deleted', () => {
  it('is rejected immediately by the database that has the tokens, and by the others after 5 s', async () => {
    const body = {
      name: `pipeline-${Math.random()}`,
      expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
      permissions: ['policyholders.*', 'users.*'],
      tenants: [motor.tenantName],
    }
    const lasting = await callOk<string>('POST', '/auth/users/tokens', { token: admin, body })
    const readOf = (shard: number) => elsewhere('GET', readsOf(shard), undefined, lasting)
    expect([await readOf(0), await readOf(1)]).toEqual([200, 200])
    expect(roundTrips(await callApi('GET', readsOf(0), { token: lasting }))).toMatchObject({ d1: 2 })
    expect(roundTrips(await callApi('GET', readsOf(0), { token: lasting }))).toMatchObject({ d1: 1 })
    const path = `/auth/users/tokens/${lasting}`
    expect((await callApi('DELETE', path, { token: lasting })).status).toBe(200)
    expect([await readOf(0), await readOf(1)]).toEqual([401, 200])
    elapse(5_100)
    expect([await readOf(0), await readOf(1)]).toEqual([401, 401])
  })
})

describe('a revoked access token', () => {
  it('is rejected by each database immediately, in every isolate, and after 5 s without a database', async () => {
    const request = { ...plainYear().request.policy, policyholderLocator: holders[1] }
    const policy = await callOk<{ locator: string }>('POST', '/policy', { token, body: request })
    for (const path of [readsOf(0), readsOf(1), PING]) expect(await elsewhere('GET', path)).toBe(200)
    expect((await revoke()).status).toBe(200)
    for (const shard of [0, 1]) expect(await elsewhere('GET', readsOf(shard))).toBe(401)
    expect(await elsewhere('POST', '/policy', request)).toBe(401)
    expect(await elsewhere('POST', '/policyholder/create', { values: {} })).toBe(401)
    // In the object of the policy, which has the policy in memory.
    expect(await elsewhere('POST', `/policy/${policy.locator}/issue`)).toBe(401)
    expect(await elsewhere('GET', readsOf(0), undefined, admin)).toBe(200)
    // This route reads no database.
    expect(await elsewhere('GET', PING)).toBe(200)
    elapse(5_100)
    expect(await elsewhere('GET', PING)).toBe(401)
    expect((await callApi('GET', PING, { token: await motor.signIn('alice.agent') })).status).toBe(200)
  })

  it('is rejected while the control database is unavailable, at no more round trips', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    for (const path of [readsOf(0), readsOf(1)]) {
      expect(await elsewhere('GET', path)).toBe(200)
      expect((await callApi('GET', path, { token: admin })).status).toBe(200)
    }
    const administration = await administrator()
    takeAway('control')
    elapse(6_000)
    const read = await callApi('GET', readsOf(1), { token })
    expect(read.status).toBe(200)
    elapse(1_000)
    expect(roundTrips(await callApi('GET', readsOf(1), { token }))).toMatchObject({ d1: 1 })
    expect((await revoke()).status).toBe(200)
    for (const path of [readsOf(0), readsOf(1), PING]) {
      expect(await elsewhere('GET', path)).toBe(401)
      expect((await callApi('GET', path, { token })).status).toBe(401)
      expect((await callApi('GET', path, { token: admin })).status).toBe(200)
    }
    // An isolate does not trust a token that only the control database could verify.
    expect((await callApi('GET', PING, { token: administration })).status).toBe(503)
    takeAway(undefined)
    elapse(TIMER_LEASE_MS + 6_000)
    await fireDue({ env, tenant, shard: HOME_SHARD, calls: noCalls() })
    const epochQuery = env.CONTROL.prepare('select epoch from revocation where account_locator = ?')
    expect(await epochQuery.bind(accountOf(token)).first('epoch')).toBe(await refusedIn(0))
  })

  it('is rejected by a database that was unreachable at the time, once a timer has updated it', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    expect(await elsewhere('GET', readsOf(1))).toBe(200)
    const before = await refusedIn(1)
    const mend = loseAnnouncements()
    expect((await revoke()).status).toBe(200)
    await fireDue({ env, tenant, shard: HOME_SHARD, calls: noCalls() })
    mend()
    expect(await refusedIn(1)).toBe(before)
    takeAway('control')
    elapse(TIMER_LEASE_MS + 1_000)
    await fireDue({ env, tenant, shard: HOME_SHARD, calls: noCalls() })
    expect(await refusedIn(1)).toBe(await refusedIn(0))
    for (const shard of [0, 1]) expect(await elsewhere('GET', readsOf(shard))).toBe(401)
  })

  it('is rejected after a role of its account changes, by a timer where the database was unreachable', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const role = { name: 'holders', permissions: ['policyholders.read'] }
    await callOk('POST', '/auth/roles', { token: admin, body: role })
    const password = 'Rhabarber-7-Kisten'
    const tokens: string[] = []
    for (const username of ['first', 'second']) {
      const { id } = await callOk<{ id: string }>('POST', '/account/v1/account', {
        token: admin,
        body: { username, name: username, email: 'a@example.com', type: 'read-only', password },
      })
      await callOk('PUT', `/auth/users/${id}/roles`, { token: admin, body: { roles: ['holders'] } })
      const body = { username, password, tenantName: motor.tenantName }
      tokens.push(
        (await callOk<{ authorizationToken: string }>('POST', '/account/authenticate', { body }))
          .authorizationToken,
      )
    }
    const reads = (shard: number) =>
      Promise.all(tokens.map(one => elsewhere('GET', readsOf(shard), undefined, one)))
    expect([await reads(0), await reads(1)]).toEqual([
      [200, 200],
      [200, 200],
    ])
    const mend = loseAnnouncements()
    const changed = await callApi('PUT', '/auth/roles/holders', {
      token: admin,
      body: { permissions: ['policyholders.read', 'policyholders.list'] },
    })
    expect(changed.status).toBe(200)
    mend()
    expect(await reads(0)).toEqual([401, 401])
    elapse(TIMER_LEASE_MS + 1_000)
    await fireDue({ env, tenant, shard: HOME_SHARD, calls: noCalls() })
    expect(await reads(1)).toEqual([401, 401])
  })

  it('is rejected by a shard added later, and its record is deleted once no token can be that old', async () => {
    const path = `/auth/users/${accountOf(token)}/revoke`
    expect((await callApi('POST', path, { token: admin })).status).toBe(200)
    await grow(3)
    expect(await refusedIn(2)).toBe(await refusedIn(0))
    elapse(3 * 60 * 60_000)
    admin = await motor.signIn('anna.admin')
    const other = await motor.signIn('alice.agent')
    expect((await callApi('POST', path, { token: admin })).status).toBe(200)
    for (const binding of tenant.shards) {
      const { results } = await boundDatabase(binding).prepare('select * from revoked_account').all()
      expect(results).toMatchObject([{ account_locator: accountOf(other), epoch: await refusedIn(0) }])
    }
  })
})
