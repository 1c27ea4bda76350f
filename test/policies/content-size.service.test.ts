// Requests that make a policy too large for one response are rejected, even if each request is small.
import { beforeAll, expect, it } from 'vitest'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Plain, plainTenant, thing } from '../support/plain-product.ts'

let plain: Plain

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  const fields = [
    { name: 'yearly', title: 'Yearly', type: 'number', decimalPlaces: 2 },
    { name: 'notes', title: 'Notes', type: 'string', optional: true, repeatable: true },
  ]
  plain = await plainTenant(
    'size',
    { timezone: 'UTC' },
    {
      'products/plain/policy/exposures/thing/exposure.json': JSON.stringify({
        name: 'thing',
        displayName: 'Thing',
        fields,
      }),
    },
  )
})

/** A thing with 1,800,000 characters of notes. */
const described = () => ({
  ...thing('100'),
  fieldValues: { yearly: '100', notes: Array.from({ length: 90 }, () => 'x'.repeat(20_000)) },
})

it('a policy accepts 16,000,000 characters of values, rejects more with 413, and remains usable', async () => {
  const { locator } = await plain.issue({ start: Date.UTC(2035, 0, 1), end: Date.UTC(2036, 0, 1) }, '100', [
    described(),
  ])
  const add = (state: string) =>
    plain.call<{ code: string; message: string }>('POST', `/policies/${locator}/endorsements`, {
      endorsementName: 'always',
      startTimestamp: Date.UTC(2035, 3, 1),
      addExposures: [described()],
      state,
    })
  // The values of an application count, and count again once they are in the policy.
  for (const state of ['issued', 'issued', 'issued', 'application'])
    expect((await add(state)).status).toBe(200)
  const { status, body } = await add('application')
  expect([status, body.code]).toEqual([413, 'policyLimit'])
  expect(body.message).toContain('the limit is 16000000')
  const policy = await plain.ok<PolicyResponse>('GET', `/policy/${locator}`)
  expect(policy.exposures).toHaveLength(4)
  await plain.ok('POST', `/invoice/${policy.invoices[0]!.locator}/pay`, {})
  await plain.ok('POST', `/policies/${locator}/cancellations`, {
    effectiveTimestamp: Date.UTC(2035, 6, 1),
    name: 'wish',
    issue: true,
  })
})
