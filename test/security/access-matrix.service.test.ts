// Every route of the OpenAPI document for every kind of caller; new routes are included automatically. Bodies are invalid JSON: a
// caller without access is rejected before the body is read, and a caller with access gets an error about the body, so that
// nothing changes.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../src/kernel/locators.ts'
import { ACCOUNT_TYPES, type AccountType } from '../../src/platform/http/account-types.ts'
import { ALL_PERMISSIONS, typeHasPermission } from '../../src/platform/http/permissions.ts'
import { callApi } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'
import { filledPath, type Operation, readApi } from '../support/openapi.ts'
import { madeToken as token, unsigned, withBrokenSignature, withClaims } from '../support/test-tokens.ts'

const OTHER_TENANT = newUuid(0)
const UNKNOWN = '00000000-0000-4000-8000-00000000aa00'

let motor: Motor
let operations: readonly Operation[]
let alice: string
let anna: string
let administrator: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('matrix')
  operations = (await readApi()).operations
  const { results } = await boundDatabase(poolBinding(1))
    .prepare('select locator from account order by username')
    .all<{ locator: string }>()
  alice = results[0]!.locator
  anna = results[1]!.locator
  const row = await env.CONTROL.prepare('select locator from administrator').first<{ locator: string }>()
  administrator = row!.locator
  await env.CONTROL.batch([
    env.CONTROL.prepare(
      `insert into tenant (locator, name, host_name, type, status, generation, token_epoch, versioned, created_at, former_units) values (?, 'other', 'other.example', 'test', 'active', 1, 1, 1, 0, null)`,
    ).bind(OTHER_TENANT),
    env.CONTROL.prepare('insert into shard (tenant_locator, number, binding) values (?, 0, ?)').bind(
      OTHER_TENANT,
      poolBinding(2),
    ),
  ])
})

/** The expected status, or any status that lets the caller in. */
type Expected = number | 'let in'

const LET_IN = (status: number): boolean => status !== 401 && status !== 403 && status < 500

/** Calls every route. Returns the routes with an unexpected status, and how many were called. */
async function otherwise(
  authorization: string | undefined,
  expected: (operation: Operation) => Expected | undefined,
  locators: Readonly<Record<string, string>> = {},
): Promise<{ wrong: string[]; called: number }> {
  const wrong: string[] = []
  let called = 0
  for (const operation of operations) {
    const wanted = expected(operation)
    if (wanted === undefined) continue
    called += 1
    const path = filledPath(
      operation.path,
      name => locators[name] ?? (name === 'tenantLocator' ? motor.tenantLocator : UNKNOWN),
    )
    const { status, body } = await callApi(operation.method, path, {
      ...(authorization !== undefined && { token: authorization }),
      ...(operation.method !== 'GET' && { body: '{"' }),
    })
    if (wanted === 'let in' ? !LET_IN(status) : status !== wanted)
      wrong.push(`${operation.method} ${operation.path}: ${status}, not ${wanted}: ${JSON.stringify(body)}`)
  }
  return { wrong, called }
}

const guarded = ({ access }: Operation): boolean => access !== 'public'
const only401 = (operation: Operation): Expected => (guarded(operation) ? 401 : 'let in')

const employee = (more: object = {}) =>
  token({
    accountLocator: alice,
    accountType: 'account.tenant.employee',
    tenantLocator: motor.tenantLocator,
    ...more,
  })

describe('every route that needs a token returns 401 for', () => {
  const cases: [string, () => Promise<string | undefined>][] = [
    ['no token', async () => undefined],
    ['an expired one', () => employee({ ageMs: 2 * 3_600_000 })],
    ['one with a bad signature', async () => withBrokenSignature(await employee())],
    ['one that asks for no signature, with one', async () => unsigned(await employee())],
    ['one that asks for no signature, with another', async () => unsigned(await employee(), 'x')],
    [
      'one whose claims were changed',
      async () => withClaims(await employee(), { permissions: ['policies.*'] }),
    ],
    ['one that was revoked', () => employee({ epochsAgo: 1 })],
  ]
  it.each(cases)('%s', async (_, make) => {
    const { wrong, called } = await otherwise(await make(), only401)
    expect(wrong).toEqual([])
    expect(called).toBe(operations.length)
  })
})

describe("another tenant's token", () => {
  it('gets 404 where the path names this tenant, and finds no record of it elsewhere', async () => {
    const other = await token({
      accountLocator: alice,
      accountType: 'account.tenant.admin',
      tenantLocator: OTHER_TENANT,
    })
    const policy = (await motor.createPolicy()).body
    const medium = policy.invoices[0]?.locator ?? UNKNOWN
    const { wrong } = await otherwise(
      other,
      ({ path, access }) =>
        path.includes('{tenantLocator}')
          ? 404
          : access === 'administration'
            ? 403
            : // The record exists here, but does not belong to this tenant.
              path.includes('{policyLocator}') && access === 'tenant'
              ? undefined
              : access === 'signedIn'
                ? undefined
                : 'let in',
      { policyLocator: policy.locator, invoiceLocator: medium },
    )
    expect(wrong).toEqual([])
    const reads = operations.filter(
      ({ method, path }) => method === 'GET' && path.includes('{policyLocator}'),
    )
    for (const { path } of reads) {
      const { status } = await callApi(
        'GET',
        filledPath(path, () => policy.locator),
        { token: other },
      )
      expect(status, path).toBe(404)
    }
  })
})

/** Whether the type can call the route, according to the table of permissions. */
function mayCall({ access, permissions }: Operation, type: AccountType): boolean {
  if (access === 'public') return true
  if (access === 'tenant' && type === 'account.internal') return false
  if (access === 'administration' && type !== 'account.internal') return false
  return (
    permissions.length === 0 || permissions.some(permission => typeHasPermission(type, permission as never))
  )
}

describe('an account gets 403 unless its type has a permission of the route', () => {
  it.each(ACCOUNT_TYPES)('%s', async type => {
    const isPlatform = type === 'account.internal'
    const made = await token({
      accountLocator: isPlatform ? administrator : alice,
      accountType: type,
      tenantLocator: isPlatform ? undefined : motor.tenantLocator,
    })
    const { wrong, called } = await otherwise(made, operation => (mayCall(operation, type) ? 'let in' : 403))
    expect(wrong).toEqual([])
    expect(called).toBe(operations.length)
  })
})

describe('a token with its own list of permissions', () => {
  it('gets 403 with every permission except those of the route', async () => {
    const wrong: string[] = []
    const sets = Map.groupBy(
      operations.filter(({ permissions }) => permissions.length > 0),
      ({ permissions }) => permissions.join(' '),
    )
    for (const [set, routes] of sets) {
      const rest = ALL_PERMISSIONS.filter(permission => !set.split(' ').includes(permission))
      const isPlatform = routes[0]!.access === 'administration'
      const made = await employee(
        isPlatform
          ? { permissions: rest, tenantLocator: undefined, accountType: 'account.internal' }
          : { permissions: rest },
      )
      wrong.push(
        ...(await otherwise(made, operation => (routes.includes(operation) ? 403 : undefined))).wrong,
      )
    }
    expect(wrong).toEqual([])
    expect(sets.size).toBeGreaterThan(50)
  })

  it('is let in with any single permission of the route', async () => {
    const wrong: string[] = []
    const asked = new Set(
      operations.filter(({ access }) => access === 'tenant').flatMap(({ permissions }) => permissions),
    )
    for (const permission of asked) {
      const made = await employee({ permissions: [permission] })
      const routes = operations.filter(
        ({ access, permissions }) => access === 'tenant' && permissions.includes(permission),
      )
      wrong.push(
        ...(
          await otherwise(made, operation =>
            // Access to one's own records is tested separately.
            routes.includes(operation) && !permission.endsWith('.custom') ? 'let in' : undefined,
          )
        ).wrong,
      )
    }
    expect(wrong).toEqual([])
  })

  it('with users.custom alone cannot act on other accounts', async () => {
    const made = await employee({ permissions: ['users.custom'] })
    for (const { method, path, permissions } of operations) {
      if (!permissions.includes('users.custom') || !path.includes('{locator}')) continue
      const other = filledPath(path, name => (name === 'locator' ? anna : 'x'))
      const { status } = await callApi(method, other, {
        token: made,
        body:
          method === 'GET'
            ? undefined
            : { name: 'a', tenants: [], permissions: [], expiresAt: '2099-01-01T00:00:00Z' },
      })
      expect([403, 404], `${method} ${path}: ${status}`).toContain(status)
    }
  })

  it('with an empty list is let in only where no permission is required', async () => {
    const { wrong } = await otherwise(await employee({ permissions: [] }), ({ access, permissions }) =>
      access === 'public' || (access === 'signedIn' && permissions.length === 0) ? 'let in' : 403,
    )
    expect(wrong).toEqual([])
  })
})

it('GET /auth/permissions returns the permissions of the caller', async () => {
  const answer = await callApi<{ permissions: string[] }>('GET', '/auth/permissions', {
    token: await employee({ permissions: ['tables.*', 'policies.read'] }),
  })
  expect(answer.body).toEqual({
    username: 'someone',
    accountType: 'account.tenant.employee',
    tenantName: motor.tenantName,
    permissions: ['policies.read', 'tables.read', 'tables.upload'],
  })
  const plain = await callApi<{ permissions: string[] }>('GET', '/auth/permissions', { token: motor.token })
  expect(plain.body.permissions).toEqual(
    ALL_PERMISSIONS.filter(permission => typeHasPermission('account.tenant.employee', permission)),
  )
})

it('GET /auth/whoami returns the caller, its tenant and the expiry of its token', async () => {
  type Who = { accountLocator: string; tokenExpiresAt?: string; permissions: string[] }
  const answer = await callApi<Who>('GET', '/auth/whoami', { token: motor.token })
  expect(answer.body).toEqual({
    accountLocator: expect.stringMatching(/^[0-9a-f-]{36}$/),
    username: 'alice.agent',
    accountType: 'account.tenant.employee',
    tenant: {
      locator: motor.tenantLocator,
      name: motor.tenantName,
      hostName: motor.hostname,
      type: 'test',
    },
    permissions: ALL_PERMISSIONS.filter(permission =>
      typeHasPermission('account.tenant.employee', permission),
    ),
  })
  expect(roundTrips(answer)).toEqual({ d1: 0, object: 0, r2: 0, queue: 0 })
  const anna = await motor.signIn('anna.admin')
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
  const { accountLocator } = (await callApi<Who>('GET', '/auth/whoami', { token: anna })).body
  const made = await callApi<string>('POST', '/auth/users/tokens', {
    token: anna,
    body: { name: 'pipeline', permissions: ['policies.read'], tenants: [], expiresAt },
  })
  const { body: who } = await callApi<Who>('GET', '/auth/whoami', { token: made.body })
  expect([who.accountLocator, who.tokenExpiresAt, who.permissions]).toEqual([
    accountLocator,
    expiresAt,
    ['policies.read'],
  ])
})

type Refusal = { subject: string; details: object; timestamp: string }

/** Returns the first refusal of each subject. There is at most one per hour, but an hour can end while a test runs. */
function ofEachSubject(refusals: Refusal[]): Refusal[] {
  const hours = refusals.map(
    ({ subject, timestamp }) => `${subject} ${Math.floor(Number(timestamp) / 3_600_000)}`,
  )
  expect(new Set(hours).size).toBe(hours.length)
  return [...Map.groupBy(refusals, ({ subject }) => subject).values()].map(([first]) => first!)
}

it('a denied permission is recorded in the audit trail once an hour per account and route', async () => {
  const accountLocator = newUuid(0)
  const reader = await token({
    accountLocator,
    accountType: 'account.tenant.read.only.user',
    tenantLocator: motor.tenantLocator,
  })
  const refused = async (path: string) =>
    expect((await callApi('POST', path, { token: reader, body: {} })).status).toBe(403)
  for (let times = 0; times < 3; times += 1) await refused('/policyholder/create')
  await refused('/policyholder/update')
  const admin = await motor.signIn('anna.admin')
  const recorded = async () => {
    const path = `/audit/list?action=permission.refused&accountLocator=${accountLocator}`
    const { body } = await callApi<{ entries: Refusal[] }>('GET', path, { token: admin })
    return ofEachSubject(body.entries).map(({ subject, details }) => ({ subject, details }))
  }
  const details = { permissions: ['policyholders.write'], accountType: 'account.tenant.read.only.user' }
  await expect.poll(recorded).toEqual([
    { subject: 'POST /policyholder/create', details },
    { subject: 'POST /policyholder/update', details },
  ])
})

it('a denied permission of an administration account is recorded in the trail of the administration', async () => {
  const root = await token({
    accountLocator: administrator,
    accountType: 'account.internal',
    tenantLocator: undefined,
  })
  for (let times = 0; times < 2; times += 1)
    expect((await callApi('POST', '/policyholder/create', { token: root, body: {} })).status).toBe(403)
  const recorded = async () => {
    const query = `action=permission.refused&subject=${encodeURIComponent('POST /policyholder/create')}`
    const path = `/audit/administration/list?${query}`
    const { body } = await callApi<{ entries: Refusal[] }>('GET', path, { token: root })
    return ofEachSubject(body.entries)
  }
  await expect.poll(recorded).toEqual([
    expect.objectContaining({
      accountLocator: administrator,
      username: 'someone',
      details: { permissions: ['policyholders.write'], accountType: 'account.internal' },
    }),
  ])
})
