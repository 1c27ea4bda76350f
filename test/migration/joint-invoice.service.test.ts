// An invoice of several policies that is paid in part: a policy whose share is paid owes nothing and does not lapse.
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { noCalls } from '../../src/platform/calls.ts'
import { readTenant } from '../../src/platform/tenancy.ts'
import type { MigrationResponse } from '../../src/servicing/migration/contract.ts'
import { AS_OF } from '../../tools/book/account.ts'
import { accountsOf } from '../../tools/book/requests.ts'
import { violationsOf } from '../faults/checker.ts'
import { readContents } from '../faults/contents.ts'
import { callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorTenant } from '../support/motor.ts'

beforeAll(() => prepareDatabases({ tenants: 1 }))

it('a joint invoice in a generated book settles the shares of the policies that are paid', async () => {
  const motor = await motorTenant('joint-invoice')
  const token = await motor.signIn('anna.admin')
  const root = `/migration/${motor.tenantLocator}/migrations`
  const body = [...accountsOf({ accounts: 4, seed: '5008', asOf: AS_OF })].map(({ account }) => account)
  const { locator } = await callOk<MigrationResponse>('POST', root, { token, body })
  const stateNow = async () =>
    (await callOk<MigrationResponse>('GET', `${root}/${locator}`, { token })).migrationState
  await expect.poll(stateNow, { timeout: 20_000 }).toBe('finished')
  const tenant = (await readTenant(env, { name: motor.tenantName }, noCalls()))!
  const contents = await readContents({
    env,
    tenant,
    ledger: [],
    stream: async () => [],
    posts: async () => [],
    get: path => callOk('GET', path, { token: motor.token }),
  })
  expect(contents.policies.size).toBe(8)
  expect(violationsOf(contents).filter(({ check }) => check === 'invoices')).toEqual([])
})
