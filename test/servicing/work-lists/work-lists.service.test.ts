// The contents of work lists, through HTTP and the clock of the tenant.
import { beforeAll, describe, expect, it } from 'vitest'
import type { PolicyResponse } from '../../../src/policy/contract/response.ts'
import type { PolicyholderResponse } from '../../../src/policyholders/contract.ts'
import type {
  WorkItemResponse,
  WorkListCountResponse,
  WorkListResponse,
} from '../../../src/servicing/work-lists/contract.ts'
import type { ClockResponse } from '../../../src/tenants/routes.ts'
import type { CancellationResponse } from '../../../src/transactions/cancellations/contract.ts'
import type {
  GraceLapseReinstatementResponse,
  LapseReinstatementResponse,
} from '../../../src/transactions/lapses/contract.ts'
import { type Answer, callApi, callOk } from '../../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../../support/databases.ts'
import { type ArchiveFiles, deployExample, exampleFiles } from '../../support/examples.ts'
import { type Motor, motorTenant, plainYear, roundTrips, workedOf } from '../../support/motor.ts'

const DAY = 86_400_000

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  motor = await motorTenant('work')
})

type Refused = { code: string; message: string }

const ask = (path: string): Promise<Answer<WorkListResponse & Refused>> =>
  callApi('GET', `/workLists/${path}`, { token: motor.token })

async function items(path: string): Promise<WorkItemResponse[]> {
  const { status, body } = await ask(path)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.items
}

const locators = async (path: string): Promise<string[]> => (await items(path)).map(({ locator }) => locator)

async function count(list: string): Promise<number> {
  const counts = await callOk<WorkListCountResponse[]>('GET', '/workLists', { token: motor.token })
  return counts.find(({ workList }) => workList === list)!.count
}

async function created(changes: object = {}): Promise<PolicyResponse> {
  const { status, body } = await motor.createPolicy(changes)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

async function issued(changes: object = {}): Promise<PolicyResponse> {
  const { locator } = await created(changes)
  const { status, body } = await motor.post(`/policy/${locator}/issue`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

const quotesOf = async ({ locator }: { locator: string }) =>
  (await motor.get<{ locator: string; state: string }[]>(`/policies/${locator}/quotes`)).body

const patch = (path: string): Promise<Answer<unknown>> => callApi('PATCH', path, { token: motor.token })

const act = (endorsement: string, action: string): Promise<Answer<unknown>> =>
  callApi('PATCH', `/endorsements/${endorsement}`, { token: motor.token, body: { action } })

const span = (days: number) => {
  const now = Date.now()
  return { policyStartTimestamp: now, policyEndTimestamp: now + days * DAY }
}

const REFER = {
  ...plainYear().request.policy.fieldValues,
  previous_insurer_cancelled: 'yes',
  cancellation_reason: 'Many claims.',
}

describe('a work list contains, until the work is done,', () => {
  it('quotes that underwriting leaves to a person', async () => {
    const policy = await created({ fieldValues: REFER })
    const [quote] = await quotesOf(policy)
    expect(await items('referred')).toEqual([
      {
        recordType: 'quote',
        locator: quote!.locator,
        name: expect.any(String),
        state: 'declined',
        timestamp: policy.updatedTimestamp,
        notes: ['A previous insurer has cancelled: refer to an underwriter.'],
        policyLocator: policy.locator,
        policyholderLocator: policy.policyholderLocator,
        productName: 'private_motor',
        policyState: 'declined',
        grossPremium: Number(plainYear().expected.grossPremium),
        grossPremiumCurrency: 'EUR',
      },
    ])
    expect(await count('referred')).toBe(1)
    const decide = (decision: string) => motor.post(`/quotes/${quote!.locator}/underwriting`, { decision })
    expect((await decide('reject')).status).toBe(200)
    expect(await items('referred')).toEqual([])
    expect((await decide('none')).status).toBe(200)
    expect(await locators('referred')).toEqual([quote!.locator])
    expect((await decide('accept')).status).toBe(200)
    expect(await items('referred')).toEqual([])
    expect(await locators('quoted')).toEqual([quote!.locator])
    expect((await motor.post(`/policy/${policy.locator}/discard`)).status).toBe(200)
    expect(await items('quoted')).toEqual([])
  })

  it('quotes, endorsements and renewals that nobody has accepted', async () => {
    const draft = await created({ finalize: false })
    const [quote] = await quotesOf(draft)
    expect((await patch(`/quotes/${quote!.locator}/quote`)).status).toBe(200)
    const policy = await issued(span(365))
    const start = Number(policy.originalContractStartTimestamp)
    const change = {
      endorsementName: 'change_of_risk',
      startTimestamp: start + 100 * DAY,
      updateExposures: [
        { exposureLocator: policy.exposures[0]!.locator, fieldValues: { vehicle_value: '29000' } },
      ],
    }
    const at = `/policies/${policy.locator}/endorsements`
    const { body: application } = await motor.post(at, { ...change, state: 'application' })
    expect(await locators('applications')).toEqual([application.locator])
    expect(await locators('quoted')).toEqual([quote!.locator])
    expect((await act(application.locator, 'quote')).status).toBe(200)
    expect(await items('applications')).toEqual([])
    expect((await items('quoted')).map(({ recordType, locator }) => [recordType, locator])).toEqual([
      ['quote', quote!.locator],
      ['endorsement', application.locator],
    ])
    expect(await locators('quoted?recordType=endorsement')).toEqual([application.locator])
    expect(await locators('quoted?recordType=renewal')).toEqual([])
    expect(await locators('quoted?productName=private_motor&recordType=quote')).toEqual([quote!.locator])
    expect(await locators('quoted?productName=homeowners')).toEqual([])
    expect(await count('quoted')).toBe(2)

    const first = await ask('quoted?pageSize=1')
    expect([first.body.items.length, first.body.listCompleted]).toEqual([1, false])
    expect(roundTrips(first)).toMatchObject({ d1: 1, object: 0 })
    const second = await ask(`quoted?pageSize=1&pagingToken=${first.body.pagingToken}`)
    expect([second.body.items[0]!.locator, second.body.listCompleted]).toEqual([application.locator, true])

    expect((await patch(`/quotes/${quote!.locator}/accept`)).status).toBe(200)
    expect((await act(application.locator, 'issue')).status).toBe(200)
    expect(await items('quoted')).toEqual([])
  })

  it('policies in force that end soon, until they are renewed or cancelled', async () => {
    const later = await issued(span(29))
    const soon = await issued(span(10))
    const cancelled = await issued(span(20))
    const cancel = await motor.post(`/policies/${cancelled.locator}/cancellations`, {
      effectiveTimestamp: Date.now() + 5 * DAY,
      name: 'customer_request',
      cancellationCategory: 'other',
      issue: true,
    })
    expect(cancel.status, JSON.stringify(cancel.body)).toBe(200)
    expect(await locators('expiring')).toEqual([soon.locator, later.locator])
    expect(await locators('expiring?days=15')).toEqual([soon.locator])
    const [item] = await items('expiring')
    expect(item).toMatchObject({
      recordType: 'policy',
      timestamp: soon.effectiveContractEndTimestamp,
      policyState: 'issued',
    })
    const end = Number(soon.effectiveContractEndTimestamp)
    const renewal = await motor.post(`/policies/${soon.locator}/renewals`, {
      renewalEndTimestamp: end + 365 * DAY,
      state: 'issued',
    })
    expect(renewal.status, JSON.stringify(renewal.body)).toBe(200)
    expect(await locators('expiring')).toEqual([later.locator])
    expect(await count('expiring')).toBe(1)
  })

  it('documents that failed to render', async () => {
    const policy = await issued(span(365))
    const locator = `${policy.modifications[0]!.locator.slice(0, 24)}0000000000${policy.modifications[0]!.locator.slice(34)}`
    await boundDatabase(poolBinding(1))
      .prepare(
        `insert into document (locator, policy_locator, subject, subject_locator, display_name, file_name, type, state, failure,
          created_at, updated_at) values (?, ?, 'policy', ?, 'Schedule', 'schedule.pdf', 'pdf', 'renderError', 'A fee is missing.', 1, 2)`,
      )
      .bind(locator, Number(policy.locator), policy.locator)
      .run()
    expect(await items('failedDocuments')).toMatchObject([
      { recordType: 'document', locator, name: 'Schedule', timestamp: '2', notes: ['A fee is missing.'] },
    ])
    await boundDatabase(poolBinding(1)).prepare('delete from document where locator = ?').bind(locator).run()
    expect(await items('failedDocuments')).toEqual([])
  })

  it('unpaid items: invoices past due, policies in grace, and lapsed ones until they are reinstated', async () => {
    const policy = await issued({ ...span(365), paymentScheduleName: 'upfront' })
    const other = await issued({ ...span(365), paymentScheduleName: 'upfront' })
    const invoice = policy.invoices[0]!
    const before = await locators('pastDue')
    expect(before).not.toContain(invoice.locator)
    const moveTo = async (timestamp: number) =>
      expect((await motor.post<ClockResponse>('/test/clock', { timestamp })).status).toBe(200)
    await moveTo(Number(invoice.dueTimestamp) + 2 * DAY)
    expect(await items('pastDue?pageSize=1000')).toContainEqual(
      expect.objectContaining({
        recordType: 'invoice',
        locator: invoice.locator,
        name: invoice.displayId,
        timestamp: invoice.dueTimestamp,
        policyState: 'inGrace',
      }),
    )
    const graces = (await items('inGrace')).filter(one => one.policyLocator === policy.locator)
    expect(graces).toMatchObject([{ recordType: 'gracePeriod', state: 'open', policyState: 'inGrace' }])
    await moveTo(Number(graces[0]!.timestamp) + DAY)
    const ofPolicy = async (list: string, { locator } = policy) =>
      (await items(list)).filter(one => one.policyLocator === locator)
    expect(await ofPolicy('inGrace')).toEqual([])
    const [lapse] = await ofPolicy('reinstatable')
    expect(lapse).toMatchObject({ recordType: 'cancellation', name: 'lapse', policyState: 'cancelled' })
    const back = await callApi('PATCH', `/cancellations/${lapse!.locator}/reinstate`, {
      token: motor.token,
      body: { issue: true },
    })
    expect(back.status, JSON.stringify(back.body)).toBe(200)
    expect(await ofPolicy('reinstatable')).toEqual([])
    expect(await ofPolicy('reinstatable', other)).toMatchObject([{ policyState: 'cancelled' }])
    expect((await motor.post(`/policy/${other.locator}/withdraw`)).status).toBe(200)
    expect(await ofPolicy('reinstatable', other)).toEqual([])
  })

  it('only the last of several lapses of a policy, while it ends the policy', async () => {
    const { token } = await deployExample(lapsingLong(), 'again')
    const get = <T>(path: string) => callOk<T>('GET', path, { token })
    const post = <T>(path: string, body?: object) => callOk<T>('POST', path, { token, body })
    const { policy, policyholder } = workedOf('home')[0]!.request
    const { locator: policyholderLocator } = await post<PolicyholderResponse>('/policyholder/create', {
      completed: true,
      values: policyholder.values,
    })
    const { locator } = await post<PolicyResponse>('/policy', {
      ...policy,
      policyholderLocator,
      paymentScheduleName: 'monthly',
      policyStartTimestamp: undefined,
      policyEndTimestamp: undefined,
    })
    const { invoices } = await post<PolicyResponse>(`/policy/${locator}/issue`)
    const lapses = async () =>
      (await get<GraceLapseReinstatementResponse[]>(`/policy/${locator}/graceLapseReinstatements`)).flatMap(
        ({ lapse }) => lapse ?? [],
      )
    const reinstatable = async () => {
      const counts = await get<WorkListCountResponse[]>('/workLists')
      const { items } = await get<WorkListResponse>('/workLists/reinstatable')
      expect(counts.find(({ workList }) => workList === 'reinstatable')!.count).toBe(items.length)
      return items.map(one => one.locator)
    }
    const due = Number(invoices[0]!.dueTimestamp)
    await post('/test/clock', { timestamp: due + 20 * DAY })
    const [first] = await lapses()
    expect(await reinstatable()).toEqual([first!.locator])
    const { locator: reinstatement } = await post<LapseReinstatementResponse>(
      `/policy/${locator}/createReinstatement`,
    )
    const { invoiceLocator } = await post<LapseReinstatementResponse>(
      `/reinstatement/${reinstatement}/invoice`,
      { reinstatementTimestamp: first!.lapseTimestamp },
    )
    await post(`/invoice/${invoiceLocator}/pay`, { fieldValues: { method: 'card' } })
    expect(await reinstatable()).toEqual([])
    await post('/test/clock', { timestamp: due + 100 * DAY })
    const [, second] = await lapses()
    expect(await reinstatable()).toEqual([second!.locator])
    const earlier = { coverageEndTimestamp: Number(second!.lapseTimestamp) - 10 * DAY }
    await post(`/policy/${locator}/cancel`, earlier)
    expect(await reinstatable()).toEqual([])
    const [cancellation] = await get<CancellationResponse[]>(`/policies/${locator}/cancellations`)
    await callOk('PATCH', `/cancellations/${cancellation!.locator}/reinstate`, {
      token,
      body: { issue: true },
    })
    expect(await reinstatable()).toEqual([second!.locator])
    const expiring = () => get<WorkListResponse>('/workLists/expiring')
    expect((await expiring()).items).toEqual([])
    await post(`/policies/${locator}/renewals`, {
      renewalEndTimestamp: due + 120 * DAY,
      state: 'issued',
    })
    expect(await reinstatable()).toEqual([])
    expect((await expiring()).items).toMatchObject([{ locator, policyState: 'issued' }])
    await post(`/policy/${locator}/withdraw`)
    expect((await expiring()).items).toEqual([])
  })
})

/** The home example with a reinstatement period longer than the time in which its policies lapse again. */
function lapsingLong(): ArchiveFiles {
  const path = 'products/homeowners/policy/policy.json'
  const files = exampleFiles('home')
  const product = JSON.parse(new TextDecoder().decode(files[path] as Uint8Array))
  product.lapse.reinstatementPeriodDays = 200
  return { ...files, [path]: JSON.stringify(product) }
}

describe('an invalid work list request', () => {
  it('is rejected with what to send', async () => {
    for (const [path, status, advice] of [
      ['lost', 404, /no work list 'lost'/],
      ['quoted?days=3', 400, /'days' is only for the lists expiring and reinstatable/],
      ['expiring?days=367', 400, /days/],
      ['expiring?days=x', 400, /days/],
      [
        'quoted?recordType=invoice',
        400,
        /'recordType' of the list 'quoted' must be one of: quote, endorsement/,
      ],
      ['quoted?recordType=car', 400, /recordType/],
      ['quoted?pageSize=0', 400, /pageSize/],
      ['quoted?pagingToken=AAAA', 400, /pagingToken.*previous page/],
    ] as const) {
      const { status: answered, body } = await ask(path)
      expect([path, answered, body.message]).toEqual([path, status, expect.stringMatching(advice)])
    }
  })

  it('returns 401 without a token', async () => {
    expect((await callApi('GET', '/workLists')).status).toBe(401)
    expect((await callApi('GET', '/workLists/quoted')).status).toBe(401)
  })
})
