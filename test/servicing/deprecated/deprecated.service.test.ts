// The deprecated paths of the contract show the same records as their successors.
import { beforeAll, describe, expect, it } from 'vitest'
import type { CheckInvoicesResponse } from '../../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../../src/policy/contract/response.ts'
import type {
  InvoiceJobListResponse,
  PolicySnapshotListResponse,
  QuoteListResponse,
  SegmentListResponse,
} from '../../../src/servicing/deprecated/contract.ts'
import { MOST_WHOLE } from '../../../src/servicing/deprecated/contract.ts'
import type { PolicyQuoteResponse } from '../../../src/transactions/quotes/contract-quote.ts'
import { callApi, callOk } from '../../support/api.ts'
import { prepareDatabases } from '../../support/databases.ts'
import { type Motor, motorTenant } from '../../support/motor.ts'

// biome-ignore lint/suspicious/noExplicitAny: refusals are read as what they are.
type Any = any

let motor: Motor
let issued: PolicyResponse
let draft: PolicyResponse

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  motor = await motorTenant('deprecated')
  const made = await motor.createPolicy({ paymentScheduleName: 'quarterly' })
  issued = (await motor.post(`/policy/${made.body.locator}/issue`)).body
  draft = (await motor.createPolicy({ finalize: false })).body
})

const get = <Body>(path: string) => callOk<Body>('GET', path, { token: motor.token })
const under = (area: string, path: string) => `/${area}/${motor.tenantLocator}${path}`

describe('every deprecated path', () => {
  it('has a Deprecation header, even in an error, and no other path has one', async () => {
    const answered = await motor.get<Any>(under('policy', '/quotes/list'))
    expect([answered.status, answered.headers.get('deprecation')]).toEqual([200, '@1767225600'])
    const refused = await motor.get<Any>(under('policy', '/transactions/nothing/segments/list'))
    expect([refused.status, refused.headers.get('deprecation')]).toEqual([404, '@1767225600'])
    expect((await motor.get('/policies')).headers.get('deprecation')).toBeNull()
    const { paths } = await get<{ paths: Record<string, Record<string, Any>> }>('/openapi.json')
    const deprecated = Object.entries(paths)
      .filter(([, methods]) => Object.values(methods).some(one => one.tags?.includes('Deprecated')))
      .flatMap(([, methods]) => Object.values(methods).map(one => one.deprecated))
    expect(deprecated).toEqual(Array.from({ length: 7 }, () => true))
  })

  it('requires a token of the tenant in the path: 404 for another tenant, 401 without a token', async () => {
    const other = '/policy/00000000-0000-4000-8000-000000000000/quotes/list'
    expect((await motor.get(other)).status).toBe(404)
    expect((await callApi('GET', under('policy', '/quotes/list'))).status).toBe(401)
  })
})

describe('invoice jobs', () => {
  it('of a policy are its invoices and planned invoices, with the same amounts', async () => {
    const path = under('billing', `/jobs/invoices/policies/${issued.locator}/list`)
    const { listCompleted, items } = await get<InvoiceJobListResponse>(path)
    const { invoices, futureInvoices } = await get<CheckInvoicesResponse>(
      `/policy/${issued.locator}/checkInvoices`,
    )
    expect(listCompleted).toBe(true)
    expect(items.map(one => one.state)).toEqual(['completed', 'queued', 'queued', 'queued'])
    expect(items.filter(one => one.invoiceLocator).map(one => [one.invoiceLocator, one.amount])).toEqual(
      invoices.map(one => [one.locator, one.totalDue]),
    )
    const asked = (list: CheckInvoicesResponse['futureInvoices']) =>
      list.map(one => [
        new Date(Number(one.issueTimestamp)).toISOString(),
        one.financialTransactions
          .filter(part => part.type !== 'commission')
          .reduce((cents, part) => cents + Math.round(part.amount * 100), 0),
      ])
    expect(items.slice(1).map(one => [one.generateTime, Math.round(one.amount * 100)])).toEqual(
      asked(futureInvoices),
    )
  })

  it('of a quote are the installments of its plan', async () => {
    const [quote] = await get<PolicyQuoteResponse[]>(`/policies/${issued.locator}/quotes`)
    const jobs = await get<InvoiceJobListResponse>(
      under('billing', `/jobs/invoices/quotes/${quote!.locator}/list`),
    )
    expect(jobs.items.map(one => one.installmentNumber)).toEqual([1, 2, 3, 4])
    const [drafted] = await get<PolicyQuoteResponse[]>(`/policies/${draft.locator}/quotes`)
    const none = await get<InvoiceJobListResponse>(
      under('billing', `/jobs/invoices/quotes/${drafted!.locator}/list`),
    )
    expect(none.items).toEqual([])
  })
})

it('the billing trigger of a policy is that of its product: the other one returns 409', async () => {
  const patch = (billingTrigger: string) =>
    callApi<Any>('PATCH', under('policy', `/policies/${issued.locator}/billingTrigger`), {
      token: motor.token,
      body: { billingTrigger },
    })
  const [accept, issue] = [await patch('accept'), await patch('issue')]
  expect([accept.status, issue.status].sort()).toEqual([200, 409])
  const same = accept.status === 200 ? accept : issue
  expect(same.body.policyLocator).toBe(issued.locator)
  expect((await patch('never')).status).toBe(400)
})

describe('lists of whole records', () => {
  it('contain policies as GET /policy/{locator} returns them, page by page', async () => {
    const path = under('policy', '/policies/snapshot/list')
    const all = await get<PolicySnapshotListResponse>(path)
    expect(all.listCompleted).toBe(true)
    expect(all.items.map(one => one.locator)).toEqual([issued.locator, draft.locator])
    expect(all.items[0]).toEqual(await get(`/policy/${issued.locator}`))
    const first = await get<PolicySnapshotListResponse>(`${path}?count=1`)
    expect([first.listCompleted, first.items.length]).toEqual([false, 1])
    const last = await get<PolicySnapshotListResponse>(`${path}?count=${MOST_WHOLE + 1}&offset=1`)
    expect([last.listCompleted, last.items]).toEqual([true, all.items.slice(1)])
    expect((await motor.get(`${path}?offset=-1`)).status).toBe(400)
  })

  it('contain the quotes of all policies', async () => {
    const { listCompleted, items } = await get<QuoteListResponse>(under('policy', '/quotes/list'))
    expect(listCompleted).toBe(true)
    expect(items.map(one => one.policyLocator)).toEqual([issued.locator, draft.locator])
    expect(items[0]).toEqual(await get(`/quotes/${items[0]!.locator}`))
  })
})

describe('segments of a transaction', () => {
  const segments = (transaction: string) =>
    get<SegmentListResponse>(under('policy', `/transactions/${transaction}/segments/list`))

  it('are those that its modification created, found by either locator', async () => {
    const [creation] = issued.modifications
    const { items } = await segments(creation!.locator)
    expect(items.map(one => [one.locator, one.type, one.characteristics?.startTimestamp])).toEqual([
      [issued.characteristics[0]!.locator, 'coverage', issued.originalContractStartTimestamp],
    ])
    const [quote] = await get<PolicyQuoteResponse[]>(`/policies/${issued.locator}/quotes`)
    expect((await segments(quote!.locator)).items).toEqual(items)
    const path = under('policy', `/transactions/${creation!.locator}/segments/`)
    expect(await get(`${path}${items[0]!.locator}`)).toEqual(items[0])
    expect((await motor.get(`${path}${creation!.locator}`)).status).toBe(404)
  })

  it('of a cancellation include the gap that it leaves', async () => {
    const { body: made } = await motor.createPolicy()
    const { body: policy } = await motor.post(`/policy/${made.locator}/issue`)
    const start = Number(policy.originalContractStartTimestamp)
    const end = Number(policy.originalContractEndTimestamp)
    const at = start + Math.floor((end - start) / 2)
    const { body: cancellation } = await motor.post<Any>(`/policies/${policy.locator}/cancellations`, {
      name: 'customer_request',
      cancellationCategory: 'other',
      effectiveTimestamp: at,
    })
    expect((await segments(cancellation.locator)).items).toEqual([])
    await callOk('PATCH', `/cancellations/${cancellation.locator}/issue`, { token: motor.token })
    const { items } = await segments(cancellation.locator)
    expect(items.map(one => [one.type, one.startTime, one.endTime])).toEqual([
      ['coverage', new Date(start).toISOString(), new Date(at).toISOString()],
      ['gap', new Date(at).toISOString(), new Date(end).toISOString()],
    ])
  })
})
