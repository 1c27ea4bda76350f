// Every request that would create a plan with more billing periods than one plan may have is rejected as a whole.
import { beforeAll, expect, it } from 'vitest'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { LARGEST_PLAN_PERIODS } from '../../src/policy/records/invoice.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import type { PolicyQuoteResponse } from '../../src/transactions/quotes/contract-quote.ts'
import { type Boats, boatTenant } from '../support/boat.ts'
import { month, NEW_YEAR } from '../support/boat-product.ts'
import { prepareDatabases } from '../support/databases.ts'

const WEEKLY = { paymentScheduleName: 'weekly' }
/** More than 1,565 weeks; 30 years. */
const LONG = month(12 * 30)
const BEYOND_REASON = Date.UTC(9999, 0, 1)

let of: Boats
let policyholderLocator: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  of = await boatTenant('limits')
  const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
  policyholderLocator = policy.policyholderLocator
})

const boat = (changes: object) => ({
  productName: 'boat',
  policyholderLocator,
  policyStartTimestamp: NEW_YEAR,
  policyEndTimestamp: LONG,
  exposures: [{ exposureName: 'hull', fieldValues: { yearly: '1200' }, perils: [{ name: 'sinking' }] }],
  ...changes,
})

const refused = async (method: string, path: string, body?: unknown): Promise<void> => {
  const answer = await of.call<{ code: string; message: string }>(method, path, body)
  expect([path, answer.status, answer.body.code]).toEqual([path, 413, 'policyLimit'])
  expect(answer.body.message).toContain(`more than ${LARGEST_PLAN_PERIODS} billing periods`)
}

const issued = async (changes: object): Promise<PolicyResponse> => {
  const { locator } = await of.ok<PolicyResponse>('POST', '/policy', boat(changes))
  return await of.ok('POST', `/policy/${locator}/issue`)
}

it('creating, finalizing or updating a policy with too many billing periods returns 413', async () => {
  await refused('POST', '/policy', boat(WEEKLY))
  await refused(
    'POST',
    '/policy',
    boat({ paymentScheduleName: 'annually', policyEndTimestamp: BEYOND_REASON }),
  )
  const draft = await of.ok<PolicyResponse>('POST', '/policy', boat({ ...WEEKLY, finalize: false }))
  const path = `/policy/${draft.locator}`
  await refused('POST', `${path}/finalize`)
  await refused('POST', `${path}/update`, { policyEndTimestamp: BEYOND_REASON })
  expect(await of.read(draft)).toEqual(draft)
  await of.ok('POST', `${path}/update`, { paymentScheduleName: 'monthly' })
  expect((await of.ok<PolicyResponse>('POST', `${path}/issue`)).invoices).toHaveLength(1)
})

it('quoting a quote with too many billing periods returns 413 and leaves it a draft', async () => {
  const draft = await of.ok<PolicyResponse>('POST', '/policy', boat({ finalize: false }))
  const quotes = await of.ok<PolicyQuoteResponse[]>('GET', `/policies/${draft.locator}/quotes`)
  const path = `/quotes/${quotes[0]!.locator}`
  await of.ok('PATCH', path, WEEKLY)
  await refused('PATCH', `${path}/quote`)
  expect(await of.ok('GET', path)).toMatchObject({ state: 'draft', paymentScheduleName: 'weekly' })
})

it('renewals, endorsements and schedule changes with too many billing periods return 413', async () => {
  const policy = await issued({ paymentScheduleName: 'semiannually' })
  const path = `/policies/${policy.locator}`
  for (const state of ['quoted', 'accepted', 'issued']) {
    await refused('POST', `${path}/renewals`, {
      renewalEndTimestamp: month(12 * 60),
      newPaymentScheduleName: 'weekly',
      state,
    })
    await refused('POST', `${path}/endorsements`, {
      endorsementName: 'change',
      startTimestamp: month(6),
      newPaymentScheduleName: 'weekly',
      state,
    })
  }
  await refused('POST', `/policy/${policy.locator}/paymentSchedule`, { newPaymentScheduleName: 'weekly' })
  await refused('POST', `/policy/${policy.locator}/issueRenewal`, {
    renewalEndTimestamp: BEYOND_REASON,
    policyUpdateRequest: {},
  })
  const applied = await of.ok<EndorsementResponse>('POST', `${path}/endorsements`, {
    endorsementName: 'change',
    startTimestamp: month(6),
    newPaymentScheduleName: 'weekly',
  })
  await refused('PATCH', `/endorsements/${applied.locator}`, { action: 'quote' })
  expect((await of.read(policy)).modifications).toHaveLength(1)
})
