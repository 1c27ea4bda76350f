// A restored tenant through HTTP: who can sign in, what readers of its data see, and what remains of the undone time.
import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ExportResponse } from '../../src/reporting/export/contract.ts'
import type { MigrationResponse } from '../../src/servicing/migration/contract.ts'
import { generateAccount } from '../../tools/book/account.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'
import { settledMigration } from '../support/settled-migration.ts'
import { rememberTenant, restoreTo } from '../support/time-travel.ts'

beforeAll(() => prepareDatabases({ tenants: 8 }))

let motor: Motor
let admin: string
let made = 0

beforeEach(async () => {
  made += 1
  motor = await motorTenant(`restored${made}`)
  admin = await motor.signIn('anna.admin')
})

const FORMER = 'Rhabarber-7-Kisten'
const LATER = 'Stachelbeere-8-Kisten'

const signIn = async (username: string, password: string): Promise<string> =>
  (
    await callOk<{ authorizationToken: string }>('POST', '/account/authenticate', {
      body: { username, password, hostName: motor.hostname },
    })
  ).authorizationToken
const ping = async (token: string): Promise<number> =>
  (await callApi('GET', '/v1/ping/authorized', { token })).status
const addCarla = async (): Promise<string> =>
  (
    await callOk<{ id: string }>('POST', '/account/v1/account', {
      token: admin,
      body: {
        name: 'Carla Clausen',
        email: 'carla@example.com',
        username: 'carla',
        password: FORMER,
        type: 'account.tenant.employee',
      },
    })
  ).id
const changePassword = (token: string, oldPassword: string, password: string) =>
  callOk('PATCH', '/account/v1/accounts/password', { token, body: { oldPassword, password } })

describe('accounts of a restored tenant', () => {
  it('sign in with the password at the restored time, even if it was changed just before the restore', async () => {
    await addCarla()
    const moment = await rememberTenant(motor.tenantLocator)
    await changePassword(await signIn('carla', FORMER), FORMER, LATER)
    await restoreTo(motor.tenantLocator, moment)
    expect(await ping(await signIn('carla', FORMER))).toBe(200)
  })

  it('do not regain access that is revoked after the restore by a token of the undone time', async () => {
    const carla = await addCarla()
    const moment = await rememberTenant(motor.tenantLocator)
    await changePassword(await signIn('carla', FORMER), FORMER, LATER)
    const undone = await signIn('carla', LATER)
    await restoreTo(motor.tenantLocator, moment)
    await callOk('PATCH', `/account/v1/accounts/${carla}/disable`, { token: admin })
    expect(await ping(undone)).toBe(401)
  })
})

describe('what a restore undoes', () => {
  it('is listed: entries of the audit trail, and policyholders whose overwritten values are back', async () => {
    const carla = await addCarla()
    const [erased, updated] = [await motor.newPolicyholder(), await motor.newPolicyholder()]
    const nameOf = async (locator: string): Promise<string> =>
      (
        await callOk<{ entity: { values: { last_name: string[] } } }>('GET', `/policyholder/${locator}`, {
          token: admin,
        })
      ).entity.values.last_name[0]!
    const former = await nameOf(erased)
    const moment = await rememberTenant(motor.tenantLocator)
    await callOk('PATCH', `/account/v1/accounts/${carla}/disable`, { token: admin })
    await callOk('PATCH', `/policyholder/${erased}/overwriteData`, {
      token: admin,
      body: { overwrites: { last_name: 'Erased' } },
    })
    await callOk('POST', '/policyholder/update', {
      token: motor.token,
      body: { locator: updated, version: 1, completed: true, values: { last_name: 'Married' } },
    })
    const [undone] = await restoreTo(motor.tenantLocator, moment)
    expect(undone!.erasures).toEqual([erased])
    expect(undone!.audit).toMatchObject([
      { action: 'accounts.disable', subject: carla, username: 'anna.admin', at: expect.any(Number) },
    ])
    expect(await nameOf(erased)).toBe(former)
    // Lists nothing from before, and nothing unchanged.
    const again = await restoreTo(motor.tenantLocator, await rememberTenant(motor.tenantLocator))
    expect(again).toMatchObject([{ erasures: [], audit: [], events: [] }])
  })
})

describe('a migration that finished in the time that a restore undoes', () => {
  it('ends in error soon, and says that its accounts must be sent again', async () => {
    const root = `/migration/${motor.tenantLocator}/migrations`
    const accounts = Array.from({ length: 4 }, (_, at) =>
      generateAccount({ seed: 'restored', policies: 1 }, at),
    )
    const { locator } = await callOk<MigrationResponse>('POST', root, { token: admin, body: accounts })
    const path = `${root}/${locator}`
    await callOk('PATCH', `${path}/pause`, { token: admin })
    const moment = await rememberTenant(motor.tenantLocator)
    await callOk('PATCH', `${path}/resume`, { token: admin })
    expect(await settledMigration(path, admin)).toMatchObject({ migrationState: 'finished' })
    const sent = async (): Promise<string[]> =>
      (await env.FILES.list({ prefix: `${motor.tenantLocator}/1/migrations/` })).objects.map(({ key }) => key)
    await expect.poll(sent, { timeout: 10_000 }).toEqual([])
    await restoreTo(motor.tenantLocator, moment)

    await callOk('PATCH', `${path}/resume`, { token: admin })
    expect(await settledMigration(path, admin, 8_000)).toMatchObject({
      migrationState: 'error',
      accounts: { error: accounts.length },
    })
    const failures = await callOk('GET', `${path}/failures/list`, { token: admin })
    expect(JSON.stringify(failures)).toContain('Send the account again')
    // They do not count as accounts that already exist.
    const again = await callOk<MigrationResponse>('POST', root, { token: admin, body: accounts })
    expect(await settledMigration(`${root}/${again.locator}`, admin)).toMatchObject({
      migrationState: 'finished',
    })
  })
})

describe('an export of a restored tenant', () => {
  type Line = { kind: string; record: Record<string, unknown>; cursor?: string; isCompleted?: boolean }

  const sold = async (): Promise<string> => {
    const { body } = await motor.createPolicy()
    await motor.post(`/policy/${body.locator}/issue`)
    return body.locator
  }
  const newCursor = async (): Promise<string> =>
    (await callOk<ExportResponse>('GET', '/export', { token: admin })).cursor
  const changes = (cursor: string) =>
    callApi<string>('GET', `/export/changes?cursor=${cursor}`, { token: admin })

  it('must start again: a cursor from before the restore or the undone time returns 409', async () => {
    const before = await newCursor()
    await sold()
    const moment = await rememberTenant(motor.tenantLocator)
    await sold()
    const undone = await newCursor()
    await restoreTo(motor.tenantLocator, moment)
    const instead = await sold()
    for (const cursor of [before, undone]) {
      const { status, body } = await changes(cursor)
      expect([status, (body as unknown as { code: string }).code]).toEqual([409, 'exportRestored'])
    }

    const after = await newCursor()
    const later = await sold()
    const lines = (await changes(after)).body
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Line)
    const policies = lines.filter(({ kind }) => kind === 'policy').map(({ record }) => record.locator)
    expect(policies).toEqual([later])
    expect(policies).not.toContain(instead)
    expect(lines.at(-1)).toMatchObject({ kind: 'cursor', isCompleted: true })
    expect((await changes(lines.at(-1)!.cursor!)).status).toBe(200)
  })
})
