import { env } from 'cloudflare:workers'
import { z } from '@hono/zod-openapi'
import { beforeAll, describe, expect, it } from 'vitest'
import { issueToken } from '../../../src/access/access-tokens.ts'
import { newUuid } from '../../../src/kernel/locators.ts'
import { now } from '../../../src/kernel/time.ts'
import type { AccountType } from '../../../src/platform/http/account-types.ts'
import { typeHasPermission } from '../../../src/platform/http/permissions.ts'
import { forAdministration, forSignedIn, forTenant } from '../../../src/platform/http/route.ts'
import { prepareDatabases } from '../../support/databases.ts'
import { mounted } from './mounted.ts'

const plain = {
  summary: '',
  answer: { description: '', schema: z.unknown() },
} as const
const call = mounted([
  forTenant('Test').post('/write', {
    ...plain,
    permission: ['policies.write', 'policies.issue'],
    handle: async (_, { tenant, caller }) => ({ tenant: tenant.name, caller: caller.username }),
  }),
  forTenant('Test').post('/resource/{tenantLocator}/tables', {
    ...plain,
    permission: 'tables.read',
    handle: async ({ params }) => params.tenantLocator,
  }),
  forAdministration('Test').post('/administer', {
    ...plain,
    // Administrators of tenants have this permission too: only the kind of account decides.
    permission: 'audit.list',
    handle: async () => 'done',
  }),
  forSignedIn('Test').post('/whoever', { ...plain, handle: async (_, { tenant }) => tenant?.name ?? 'none' }),
])

const MINE = newUuid(0)
const THEIRS = newUuid(0)

beforeAll(async () => {
  await prepareDatabases({ tenants: 0 })
  for (const [at, locator] of [MINE, THEIRS].entries())
    await env.CONTROL.batch([
      env.CONTROL.prepare(
        `insert into tenant (locator, name, host_name, type, status, generation, token_epoch, versioned, created_at, former_units) values (?, ?, ?, 'test', 'active', 1, 1, 1, 0, null)`,
      ).bind(locator, `tenant-${at}`, `host-${at}`),
      env.CONTROL.prepare('insert into shard (tenant_locator, number, binding) values (?, 0, ?)').bind(
        locator,
        `TENANT_00${at + 1}`,
      ),
    ])
})

async function as(accountType: AccountType, path: string) {
  const caller = { accountLocator: newUuid(0), username: 'someone', accountType }
  const tenant =
    accountType === 'account.internal'
      ? undefined
      : ({
          locator: MINE,
          name: 'tenant-0',
          type: 'test',
          generation: 1,
          tokenEpoch: 1,
          timeZone: 'UTC',
        } as const)
  const holder = { caller, accountName: 'Someone', tenant, signedInAt: now() }
  const { token } = await issueToken(env, holder, now())
  return call('POST', path, { headers: { authorization: token } })
}

describe('A tenant route', () => {
  it('receives the tenant and the caller of the token', async () => {
    expect((await as('account.tenant.employee', '/write')).json()).toEqual({
      tenant: 'tenant-0',
      caller: 'someone',
    })
  })

  it('rejects a caller without its permissions with 403 and names them', async () => {
    expect(typeHasPermission('account.tenant.read.only.user', 'policies.write')).toBe(false)
    expect((await as('account.tenant.read.only.user', '/write')).json()).toMatchObject({
      httpStatus: 403,
      code: 'forbidden',
      message: expect.stringContaining('policies.write or policies.issue'),
    })
  })

  it('rejects an administration account with 403 and says how to sign in', async () => {
    expect((await as('account.internal', '/write')).json()).toMatchObject({
      httpStatus: 403,
      message: expect.stringContaining('authenticateAdmin'),
    })
  })

  it('returns 404 when the path names another tenant, whether or not it exists', async () => {
    expect((await as('account.tenant.employee', `/resource/${MINE.toUpperCase()}/tables`)).status).toBe(200)
    for (const other of [THEIRS, newUuid(0), 'nonsense'])
      expect((await as('account.tenant.admin', `/resource/${other}/tables`)).json()).toMatchObject({
        httpStatus: 404,
        code: 'notFound',
        message: `There is no tenant '${other}'.`,
      })
  })
})

describe('An administration route', () => {
  it('serves administration accounts, and rejects accounts of tenants with 403', async () => {
    expect((await as('account.internal', '/administer')).status).toBe(200)
    expect((await as('account.tenant.admin', '/administer')).json()).toMatchObject({
      httpStatus: 403,
      code: 'forbidden',
    })
  })
})

it('a route for all signed-in callers serves accounts of tenants and of the administration', async () => {
  expect((await as('account.internal', '/whoever')).json()).toBe('none')
  expect((await as('account.tenant.claims.only.user', '/whoever')).json()).toBe('tenant-0')
})
