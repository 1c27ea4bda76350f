// Amounts near the largest that Bindery stores. The sums of a policy, a policyholder and a tenant's books can still be read, and
// writes that would not add up exactly are rejected.
import { beforeAll, expect, it } from 'vitest'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Plain, plainTenant, thing } from '../support/plain-product.ts'

const LARGEST = '8999999999999.99'
const YEAR = { start: Date.UTC(2027, 0, 1), end: Date.UTC(2028, 0, 1) }

let plain: Plain

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  plain = await plainTenant(
    'largest',
    { timezone: 'UTC' },
    {
      'products/plain/policy/fees.json': JSON.stringify({ fees: [{ name: 'fee', proration: 'flat' }] }),
      'security/roles.json': JSON.stringify({ admin: 'Administrator' }),
      'security/test_users.json': JSON.stringify([
        { username: 'alice', name: 'Alice', password: 'password', roles: ['admin'] },
      ]),
    },
  )
})

const statuses = async ({ locator, policyholderLocator }: PolicyResponse): Promise<unknown[]> =>
  await Promise.all(
    [
      `/policy/${locator}`,
      `/policy/${locator}/price`,
      `/policy/${locator}/checkInvoices`,
      `/policyholder/${policyholderLocator}/credits`,
      '/export/policies/records',
    ].map(async path => (await plain.call('GET', path)).status),
  )

const ALL_READ = [200, 200, 200, 200, 200]

it('a policy whose fees exceed the largest amount stays readable, and its ninth fee is rejected with 422', async () => {
  const policy = await plain.issue(YEAR, '5000000000000')
  await plain.ok('POST', `/policies/${policy.locator}/renewals`, {
    renewalEndTimestamp: Date.UTC(2029, 0, 1),
    state: 'issued',
  })
  const fee = { feeName: 'fee', amount: LARGEST, startTimestamp: YEAR.start, endTimestamp: YEAR.end }
  const add = () =>
    plain.call<{ code: string }>('PATCH', `/policy/${policy.locator}/fees`, { newFees: [fee] })
  expect((await add()).status).toBe(200)
  await plain.ok('GET', '/books/balances')
  for (let added = 1; added < 8; added += 1) expect((await add()).status).toBe(200)
  const { status, body } = await add()
  expect([status, body.code]).toEqual([422, 'amountOutOfRange'])
  expect(await statuses(policy)).toEqual(ALL_READ)
  await plain.ok('POST', `/policies/${policy.locator}/cancellations`, {
    effectiveTimestamp: YEAR.start,
    name: 'wish',
    issue: true,
  })
  expect(await statuses(policy)).toEqual(ALL_READ)
})

it('an endorsement that charges too much is rejected with 422 and changes nothing', async () => {
  const policy = await plain.issue(
    YEAR,
    '1',
    Array.from({ length: 2 }, () => thing('8000000000000')),
  )
  const { status, body } = await plain.call<{ code: string }>(
    'POST',
    `/policies/${policy.locator}/endorsements`,
    {
      endorsementName: 'always',
      startTimestamp: YEAR.start,
      state: 'issued',
      addExposures: Array.from({ length: 10 }, () => thing('8000000000000')),
    },
  )
  expect([status, body.code]).toEqual([422, 'amountOutOfRange'])
  expect(await plain.ok('GET', `/policy/${policy.locator}`)).toMatchObject({ exposures: { length: 2 } })
})

it('concurrent payments beyond the largest credit are rejected with 422, and all policies stay readable', async () => {
  const policies = [
    await plain.issue(YEAR, '10'),
    await plain.issue(YEAR, '10'),
    await plain.issue(YEAR, '10'),
  ]
  const pay = ({ invoices: [invoice] }: PolicyResponse) =>
    plain.call<{ code: string }>('POST', `/invoice/${invoice!.locator}/pay`, { amount: '5000000000000' })
  const answers = await Promise.all(policies.map(pay))
  expect(answers.map(one => one.status).sort()).toEqual([200, 422, 422])
  expect(answers.filter(one => one.status === 422).map(one => one.body.code)).toEqual([
    'amountOutOfRange',
    'amountOutOfRange',
  ])
  for (const policy of policies) expect(await statuses(policy)).toEqual(ALL_READ)
})
