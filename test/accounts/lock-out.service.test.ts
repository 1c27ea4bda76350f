// Guessing passwords: it locks the account and reveals nothing.
import crypto from 'node:crypto'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { LOCKED_MS, MOST_FAILURES } from '../../src/access/lock-out.ts'
import { accountRoutes } from '../../src/access/routes.ts'
import { mounted } from '../platform/http/mounted.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { roundTrips } from '../support/motor.ts'
import { type Authentication, addRoot, PASSWORD, type People, peopleOf, type Refused } from './people.ts'

let people: People

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  people = await peopleOf(1)
  await addRoot()
  await addRoot('second')
})
afterEach(() => vi.restoreAllMocks())

const later = (ms: number) => vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ms)

const fail = async (username: string, times: number): Promise<void> => {
  for (let time = 0; time < times; time += 1)
    expect((await people.tryToEnter(username, 'wrong')).body.code).toBe('signInFailed')
}

const unlock = (token: string, body: object) => callApi<Refused>('POST', '/account/unlock', { token, body })

const root = (username = 'root', password = PASSWORD, query = '') =>
  callApi<Authentication & Refused>('POST', `/account/authenticate${query}`, { body: { username, password } })

describe('an account', () => {
  it('is locked by the fifth failed sign-in in a row, for half an hour of real time', async () => {
    await people.add('locked', 'account.tenant.employee')
    await fail('locked', MOST_FAILURES)
    expect((await people.tryToEnter('locked')).status).toBe(401)
    const clock = later(LOCKED_MS - 1_000)
    expect((await people.tryToEnter('locked')).status).toBe(401)
    clock.mockReturnValue(Date.now() + 60_000)
    expect((await people.tryToEnter('locked')).status).toBe(200)
  })

  it('is not locked by four failures in a row: each correct password resets the count', async () => {
    await people.add('careless', 'account.tenant.employee')
    for (let round = 0; round < 2; round += 1) {
      await fail('careless', MOST_FAILURES - 1)
      expect((await people.tryToEnter('careless')).status).toBe(200)
    }
  })

  it('counts failures from zero again once its lock has expired', async () => {
    await people.add('again', 'account.tenant.employee')
    await fail('again', MOST_FAILURES)
    const clock = later(LOCKED_MS + 1)
    await fail('again', MOST_FAILURES - 1)
    expect((await people.tryToEnter('again')).status).toBe(200)
    clock.mockRestore()
  })

  it('counts simultaneous guesses one by one: after five wrong ones the correct password is rejected', async () => {
    await people.add('target', 'account.tenant.employee')
    const guesses = [...Array.from({ length: MOST_FAILURES }, () => 'wrong'), PASSWORD]
    const statuses = await Promise.all(
      guesses.map(async guess => (await people.tryToEnter('target', guess)).status),
    )
    // All six guesses read the account while it was open; their commits were serialized.
    const row = await people.database
      .prepare(`select failed_sign_ins, locked_until from account where username = 'target'`)
      .first<{ failed_sign_ins: number; locked_until: number | null }>()
    const succeeded = statuses.at(-1) === 200
    expect(statuses.slice(0, -1)).toEqual(Array(MOST_FAILURES).fill(401))
    expect(row!.locked_until === null).toBe(succeeded)
    expect(row!.failed_sign_ins).toBeLessThanOrEqual(MOST_FAILURES)
  })

  it('accepts eight simultaneous sign-ins with the correct password', async () => {
    await people.add('popular', 'account.tenant.employee')
    const answers = await Promise.all(Array.from({ length: 8 }, () => people.tryToEnter('popular')))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
  })

  it('keeps its sessions while it is locked', async () => {
    await people.add('working', 'account.tenant.employee')
    const token = await people.token('working')
    await fail('working', MOST_FAILURES)
    expect((await callApi('GET', '/v1/ping/authorized', { token })).status).toBe(200)
  })

  it('is unlocked only by an administrator of the tenant, by user name alone or with tenant or host name', async () => {
    await people.add('helped', 'account.tenant.employee')
    const [boss, alice] = [await people.token('boss'), await people.token('alice')]
    for (const body of [
      { username: 'helped' },
      { username: 'helped', hostName: people.tenant.hostName },
      { username: 'helped', tenantName: people.tenant.name },
    ]) {
      await fail('helped', MOST_FAILURES)
      expect((await unlock(alice, body)).body).toMatchObject({ code: 'forbidden', httpStatus: '403' })
      expect((await unlock(boss, body)).status).toBe(200)
      expect((await people.tryToEnter('helped')).status).toBe(200)
    }
    expect((await unlock(boss, { username: 'nobody' })).body.code).toBe('notFound')
    expect((await unlock(boss, { username: 'helped', tenantName: 'other' })).body.code).toBe('notFound')
    expect((await unlock(boss, { username: 'boss' })).body.code).toBe('wrongState')
    const { body } = await callApi<{ entries: { details: object; username: string }[] }>(
      'GET',
      '/audit/list?action=accounts.unlock',
      { token: boss },
    )
    expect(body.entries).toHaveLength(3)
    expect(body.entries[0]).toMatchObject({ username: 'boss', details: { username: 'helped' } })
  })

  it('of the administration is locked in the same way, and another administration account can unlock it', async () => {
    for (let time = 0; time < MOST_FAILURES; time += 1)
      expect((await root('root', 'wrong')).body.code).toBe('signInFailed')
    expect((await root()).status).toBe(401)
    // The same account signs in to a tenant here, so it is locked too.
    expect(
      (
        await callApi('POST', `/account/authenticateAdmin?tenantName=${people.tenant.name}`, {
          body: { username: 'root', password: PASSWORD },
        })
      ).status,
    ).toBe(401)
    const second = (await root('second')).body.authorizationToken
    expect((await unlock(second, { username: 'second' })).body.code).toBe('wrongState')
    expect((await unlock(second, { username: 'nobody' })).body.code).toBe('notFound')
    expect((await unlock(second, { username: 'root' })).status).toBe(200)
    const token = (await root()).body.authorizationToken
    await people.add('distant', 'account.tenant.employee')
    await fail('distant', MOST_FAILURES)
    expect((await unlock(token, { username: 'distant', hostName: people.tenant.hostName })).status).toBe(200)
    expect((await people.tryToEnter('distant')).status).toBe(200)
  })
})

describe('a password of an account of a tenant', () => {
  it('is not tried on the administration account of the same name, where no failure would be counted', async () => {
    const namesake = await people.add('second', 'account.tenant.admin')
    const { status, body } = await callApi<Authentication>(
      'POST',
      `/account/authenticateAdmin?tenantName=${people.tenant.name}`,
      { body: { username: 'second', password: PASSWORD } },
    )
    const [, claims] = body.authorizationToken.split('.')
    const account = JSON.parse(Buffer.from(claims!, 'base64url').toString())['account.uuid']
    expect([status, account]).toEqual([200, namesake])
  })
})

describe('a failed sign-in', () => {
  it('has the same response, number of hashes and number of round trips for every reason', async () => {
    const call = mounted(accountRoutes)
    const hashes = vi.spyOn(crypto, 'scryptSync')
    await people.add('shut', 'account.tenant.admin')
    await fail('shut', MOST_FAILURES)
    await people.add('disabled', 'account.tenant.admin')
    await people.database.prepare(`update account set disabled_at = 1 where username = 'disabled'`).run()
    await people.add('bare', 'account.tenant.admin')
    await people.database.prepare(`update account set password_hash = null where username = 'bare'`).run()
    for (const [path, expected] of [
      ['/account/authenticate', 1],
      ['/account/authenticateAdmin', 2],
    ] as const) {
      const heard = new Set<string>()
      const trips = new Set<number>()
      for (const [username, password, tenant] of [
        ['alice', 'wrong', people.tenant.name],
        ['nobody', PASSWORD, people.tenant.name],
        ['shut', PASSWORD, people.tenant.name],
        ['disabled', PASSWORD, people.tenant.name],
        ['bare', PASSWORD, people.tenant.name],
        ['second', 'wrong', people.tenant.name],
        ['alice', PASSWORD, 'nothing'],
      ]) {
        hashes.mockClear()
        const reply = await call('POST', `${path}?tenantName=${tenant}`, {
          body: JSON.stringify({ username, password }),
          headers: { 'content-type': 'application/json' },
        })
        expect([username, reply.status, hashes.mock.calls.length]).toEqual([username, 401, expected])
        trips.add(roundTrips(reply).d1!)
        expect(reply.headers.get('server-timing')).not.toContain('rows')
        const { referenceId: _, ...refusal } = reply.json()
        heard.add(JSON.stringify(refusal))
      }
      expect([heard.size, trips.size]).toEqual([1, 1])
    }
  }, 180_000)

  it('at an unknown tenant is recorded in the audit trail of the administration', async () => {
    const { status } = await callApi('POST', '/account/authenticate', {
      body: { username: 'alice', password: PASSWORD, tenantName: 'nothing' },
    })
    const { authorizationToken: token } = (await root('second')).body
    const { body } = await callApi<{ entries: object[] }>(
      'GET',
      '/audit/administration/list?action=login.failure&order=newestFirst',
      { token },
    )
    expect([status, body.entries[0]]).toMatchObject([
      401,
      { action: 'login.failure', username: 'alice', details: { reason: 'unknownTenant' } },
    ])
  })

  it('is recorded with its reason in the audit trail of the tenant, which administrators read', async () => {
    const failed = await people.tryToEnter('alice', 'wrong')
    const { body } = await callApi<{ entries: object[] }>(
      'GET',
      `/audit/list?subject=${people.locators.alice}`,
      { token: await people.token('boss') },
    )
    expect(body.entries.at(-1)).toEqual({
      locator: expect.any(String),
      timestamp: expect.any(String),
      action: 'login.failure',
      subject: people.locators.alice,
      details: { accountType: 'account.tenant.employee', reason: 'wrongPassword' },
      username: 'alice',
      accountLocator: people.locators.alice,
      requestId: failed.headers.get('x-request-id'),
    })
    expect(failed.headers.get('server-timing')).toContain('d1;desc="3"')
  })
})
