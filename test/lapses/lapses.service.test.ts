// From an unpaid invoice to grace, lapse and reinstatement, through HTTP and the tenant's clock (brief 1.5, 1.7).
import { evictAllDurableObjects } from 'cloudflare:test'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { add, endOfDay, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type {
  CheckInvoicesResponse,
  PaymentResponse,
  PolicyInvoiceResponse,
} from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyListResponse } from '../../src/policy/list/contract.ts'
import type { PolicyholderResponse } from '../../src/policyholders/contract.ts'
import type { ClockResponse } from '../../src/tenants/routes.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import type {
  GraceLapseReinstatementResponse,
  GracePeriodResponse,
  LapseReinstatementResponse,
  LapseResponse,
  ReinstatementAmountDueResponse,
} from '../../src/transactions/lapses/contract.ts'
import { type Answer, callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { deployExample, exampleFiles } from '../support/examples.ts'
import { type Motor, motorTenant, roundTrips, workedOf } from '../support/motor.ts'

type Tenant = Pick<Motor, 'get' | 'post'> & {
  zone: TimeZone
  patch<Body>(path: string, body: object, headers?: Record<string, string>): Promise<Answer<Body>>
  issued(schedule: string): Promise<PolicyResponse>
  tokenOf(username: string): Promise<string>
}

let made = 0

beforeAll(() => prepareDatabases({ tenants: 16 }))
beforeEach(() => {
  made += 1
})

async function motor(): Promise<Tenant> {
  const tenant = await motorTenant(`gracious${made}`, exampleFiles('motor'))
  return {
    get: tenant.get,
    post: tenant.post,
    zone: 'Europe/Berlin' as TimeZone,
    patch: (path, body, headers = {}) => callApi('PATCH', path, { token: tenant.token, body, headers }),
    issued: async paymentScheduleName => {
      const span = { policyStartTimestamp: undefined, policyEndTimestamp: undefined }
      const { body } = await tenant.createPolicy({ ...span, paymentScheduleName })
      return (await tenant.post(`/policy/${body.locator}/issue`)).body
    },
    tokenOf: tenant.signIn,
  }
}

/** Deploys the home example, which has no cancellations.json. */
async function home(): Promise<Tenant> {
  const { token, signIn } = await deployExample('home', `lapsing${made}`)
  const { policy, policyholder } = workedOf('home')[0]!.request
  const { locator } = await callOk<PolicyholderResponse>('POST', '/policyholder/create', {
    token,
    body: { completed: true, values: policyholder.values },
  })
  return {
    get: path => callApi('GET', path, { token }),
    post: (path, body, headers = {}) => callApi('POST', path, { token, body, headers }),
    patch: (path, body, headers = {}) => callApi('PATCH', path, { token, body, headers }),
    zone: 'America/New_York' as TimeZone,
    issued: async paymentScheduleName => {
      const span = { policyStartTimestamp: undefined, policyEndTimestamp: undefined }
      const body = { ...policy, ...span, policyholderLocator: locator, paymentScheduleName }
      const created = await callOk<PolicyResponse>('POST', '/policy', { token, body })
      return await callOk<PolicyResponse>('POST', `/policy/${created.locator}/issue`, { token })
    },
    tokenOf: signIn,
  }
}

async function moveTo(tenant: Tenant, timestamp: number): Promise<void> {
  const { status, body } = await tenant.post<ClockResponse>('/test/clock', { timestamp })
  expect([status, body.completed, body.failed]).toEqual([200, true, 0])
}

/** Leaves out documents: they are generated meanwhile, and their URLs differ in every response. */
const withoutPaper = (one: object | undefined) => ({
  ...one,
  document: undefined,
  reinstatementDocument: undefined,
})

const minuteAfter = (timestamp: string | undefined): number => Number(timestamp) + 60_000

const read = async (tenant: Tenant, { locator }: { locator: string }): Promise<PolicyResponse> =>
  (await tenant.get(`/policy/${locator}`)).body

const gracesOf = async (tenant: Tenant, { locator }: { locator: string }): Promise<GracePeriodResponse[]> =>
  (await tenant.get<GracePeriodResponse[]>(`/policy/${locator}/gracePeriods`)).body

const storyOf = async (
  tenant: Tenant,
  { locator }: { locator: string },
): Promise<GraceLapseReinstatementResponse[]> =>
  (await tenant.get<GraceLapseReinstatementResponse[]>(`/policy/${locator}/graceLapseReinstatements`)).body

const pay = (tenant: Tenant, { locator }: { locator: string }) =>
  tenant.post<PaymentResponse>(`/invoice/${locator}/pay`, { fieldValues: { method: 'card' } })

const stateOf = async (tenant: Tenant, { locator }: { locator: string }): Promise<string> => {
  const { body } = await tenant.get<PolicyListResponse>('/policies')
  return body.policies.find(one => one.locator === locator)!.state
}

const listed = async (tenant: Tenant, state: string): Promise<string[]> =>
  (await tenant.get<PolicyListResponse>(`/policies?state=${state}`)).body.policies.map(one => one.locator)

type StreamEvent = { type: string; data: Record<string, string>; username: string }

async function eventsOfTypes(tenant: Tenant, ...types: string[]): Promise<StreamEvent[]> {
  const { body } = await tenant.get<{ events: StreamEvent[] }>(
    '/eventstream/attributedEvents?startTimestamp=0&pageSize=1000',
  )
  return body.events.filter(event => types.some(type => event.type.startsWith(type)))
}

/** The number of planned invoices. */
const plannedFor = async (tenant: Tenant, { locator }: { locator: string }): Promise<number> =>
  (await tenant.get<CheckInvoicesResponse>(`/policy/${locator}/checkInvoices`)).body.futureInvoices.length

const billed = (policy: PolicyResponse) =>
  policy.invoices.map(one => [one.invoiceType, one.totalDue, one.settlementType ?? one.settlementStatus])

describe('An unpaid invoice', () => {
  it('begins a grace period that its payment settles, even after the objects were evicted', async () => {
    const tenant = await motor()
    const policy = await tenant.issued('upfront')
    const [invoice] = policy.invoices
    await moveTo(tenant, minuteAfter(invoice!.dueTimestamp))
    const [grace, ...others] = await gracesOf(tenant, policy)
    expect(others).toEqual([])
    const dueAt = Number(invoice!.dueTimestamp) as Instant
    expect(grace!.document).toMatchObject({ fileName: `gracePeriod_${invoice!.displayId}.pdf` })
    expect(withoutPaper(grace!)).toEqual({
      locator: grace!.locator,
      policyholderLocator: policy.policyholderLocator,
      policyLocator: policy.locator,
      policyId: policy.locator,
      productLocator: policy.productLocator,
      invoiceLocator: invoice!.locator,
      startTimestamp: String(dueAt),
      endTimestamp: String(add(dueAt, 30, 'day', tenant.zone)),
    })
    const { body } = await tenant.get<object>(`/gracePeriod/${grace!.locator}`)
    expect(withoutPaper(body)).toEqual(withoutPaper(grace!))
    expect(await stateOf(tenant, policy)).toBe('inGrace')
    expect(await listed(tenant, 'inGrace')).toEqual([policy.locator])
    await evictAllDurableObjects()
    expect((await pay(tenant, invoice!)).status).toBe(200)
    const [settled] = await gracesOf(tenant, policy)
    expect(withoutPaper(settled!)).toEqual({
      ...withoutPaper(grace!),
      settledTimestamp: settled!.settledTimestamp,
    })
    expect(Number(settled!.settledTimestamp)).toBeGreaterThanOrEqual(minuteAfter(invoice!.dueTimestamp))
    expect(await stateOf(tenant, policy)).toBe('issued')
    await moveTo(tenant, minuteAfter(grace!.endTimestamp))
    expect((await read(tenant, policy)).cancellation).toBeUndefined()
    const events = await eventsOfTypes(tenant, 'policy.gracePeriod', 'policy.cancel', 'cancellation')
    expect(events.map(one => [one.type, one.username])).toEqual([['policy.gracePeriod', 'system']])
  })

  it('cancels the policy by `lapse` at the end of grace when its product has cancellations', async () => {
    const tenant = await motor()
    const policy = await tenant.issued('upfront')
    await moveTo(tenant, minuteAfter(policy.invoices[0]!.dueTimestamp))
    const [grace] = await gracesOf(tenant, policy)
    await moveTo(tenant, minuteAfter(grace!.endTimestamp))
    const [lapsed] = await gracesOf(tenant, policy)
    const { body: cancellation } = await tenant.get<CancellationResponse>(
      `/cancellations/${lapsed!.cancellationLocator}`,
    )
    expect(cancellation).toMatchObject({
      name: 'lapse',
      state: 'issued',
      conflictHandling: 'invalidate',
      cancellationCategory: 'non_payment',
      effectiveTimestamp: grace!.endTimestamp,
    })
    const cancelled = await read(tenant, policy)
    expect(cancelled.cancellation).toMatchObject({
      effectiveTimestamp: grace!.endTimestamp,
      modificationName: 'modification.policy.cancel',
    })
    expect(billed(cancelled).map(([type, , status]) => [type, status])).toEqual([
      ['newBusiness', 'outstanding'],
      ['cancellation', 'paid'],
    ])
    expect(await stateOf(tenant, policy)).toBe('cancelled')
    const [story] = await storyOf(tenant, policy)
    expect(withoutPaper(story!.gracePeriod)).toEqual(withoutPaper(lapsed))
    expect([story!.lapse, story!.reinstatements]).toEqual([undefined, []])
    const events = await eventsOfTypes(
      tenant,
      'policy.gracePeriod',
      'policy.cancel',
      'cancellation',
      'policy.lapse',
    )
    expect(events.map(one => one.type)).toEqual([
      'policy.gracePeriod',
      'cancellation.create',
      'cancellation.issue',
      'policy.cancel',
      'cancellation.effective',
    ])
    const { status } = await tenant.post(`/policy/${policy.locator}/createReinstatement`)
    expect(status).toBe(409)
  })

  it('lapses the policy when its grace end is moved to the past, once even if the request is repeated', async () => {
    const tenant = await motor()
    const policy = await tenant.issued('upfront')
    const start = Number(policy.invoices[0]!.dueTimestamp)
    await moveTo(tenant, start + 10 * 86_400_000)
    const [grace] = await gracesOf(tenant, policy)
    const path = `/gracePeriod/${grace!.locator}`
    const seen = (await tenant.get(path)).headers.get('etag')!
    const sooner = {
      endTimestamp: String(start + 20 * 86_400_000),
      cancelEffectiveTimestamp: start,
      resetCancelEffectiveTimestamp: null,
    }
    expect((await tenant.patch(path, sooner, { 'if-match': '"of-another-time"' })).status).toBe(412)
    const soon = await tenant.patch<GracePeriodResponse>(path, sooner, { 'if-match': seen })
    expect((await tenant.patch(path, sooner, { 'if-match': seen })).status).toBe(412)
    expect([soon.status, soon.body]).toMatchObject([
      200,
      { endTimestamp: String(start + 20 * 86_400_000), cancelEffectiveTimestamp: String(start) },
    ])
    const reset = await tenant.patch<GracePeriodResponse>(path, { resetCancelEffectiveTimestamp: true })
    expect(reset.body.cancelEffectiveTimestamp).toBeUndefined()
    const key = { 'idempotency-key': 'lapse-it' }
    const end = { endTimestamp: start + 5 * 86_400_000 }
    const first = await tenant.patch<GracePeriodResponse>(path, end, key)
    const second = await tenant.patch<GracePeriodResponse>(path, end, key)
    expect([first.status, second.body]).toEqual([200, first.body])
    expect(first.body.cancellationLocator).toBeDefined()
    const { cancellation } = await read(tenant, policy)
    expect(cancellation!.effectiveTimestamp).toBe(String(end.endTimestamp))
    await moveTo(tenant, start + 60 * 86_400_000)
    const { body } = await tenant.get<CancellationResponse[]>(`/policies/${policy.locator}/cancellations`)
    expect(body).toHaveLength(1)
    const updates = await eventsOfTypes(tenant, 'policy.gracePeriod.update')
    expect(updates).toHaveLength(3)
    const late = await tenant.patch<{ message: string }>(path, end)
    expect([late.status, late.body.message]).toEqual([
      409,
      `Grace period ${grace!.locator} is lapsed and cannot be updated; it allows no action.`,
    ])
  })
})

describe('A legacy lapse', () => {
  it('is reported, billed and reinstated by payment, and snapshots show the policy at each step', async () => {
    const tenant = await home()
    const policy = await tenant.issued('monthly')
    const known: [at: string, answer: PolicyResponse][] = []
    const remember = async () => {
      const { body: clock } = await tenant.post<ClockResponse>('/test/clock', {
        advance: { amount: 1, unit: 'minute' },
      })
      known.push([String(Number(clock.timestamp) - 30_000), await read(tenant, policy)])
    }
    await pay(tenant, policy.invoices[0]!)
    await remember()
    const second = endOfDay(
      add(Number(policy.originalContractStartTimestamp) as Instant, 1, 'month', tenant.zone),
      tenant.zone,
    )
    await moveTo(tenant, second + 60_000)
    const [grace] = await gracesOf(tenant, policy)
    expect(grace!.endTimestamp).toBe(String(add(second, 15, 'day', tenant.zone)))
    await remember()
    await moveTo(tenant, minuteAfter(grace!.endTimestamp))
    const [{ lapse } = { lapse: undefined }] = await storyOf(tenant, policy)
    expect(lapse).toMatchObject({
      lapseTimestamp: grace!.endTimestamp,
      reinstatementPeriodEndTimestamp: String(
        add(Number(grace!.endTimestamp) as Instant, 30, 'day', tenant.zone),
      ),
    })
    const { body: again } = await tenant.get<LapseResponse>(`/lapse/${lapse!.locator}`)
    expect(withoutPaper(again)).toEqual(withoutPaper(lapse))
    const lapsed = await read(tenant, policy)
    expect(lapsed.cancellation).toBeUndefined()
    expect(lapsed.effectiveContractEndTimestamp).toBe(grace!.endTimestamp)
    expect(lapsed.modifications.map(one => one.name)).toEqual([
      'modification.policy.create',
      'modification.policy.lapse',
    ])
    expect(await plannedFor(tenant, policy)).toBe(0)
    expect(await stateOf(tenant, policy)).toBe('lapsed')
    expect(await listed(tenant, 'lapsed')).toEqual([policy.locator])
    await remember()

    const opened = await tenant.post<LapseReinstatementResponse>(
      `/policy/${policy.locator}/createReinstatement`,
    )
    expect(opened.body).toMatchObject({ currentStatus: 'open', uploadedDocuments: [] })
    const path = `/reinstatement/${opened.body.locator}`
    const when = { reinstatementTimestamp: lapse!.lapseTimestamp }
    const due = await tenant.post<ReinstatementAmountDueResponse>(`${path}/amountDue`, when)
    const [, unpaid] = lapsed.invoices
    expect([due.status, due.body.totalDue]).toEqual([200, unpaid!.totalDue])
    expect((await tenant.get(path)).body).toEqual(opened.body)
    const stale = await tenant.post<{ code: string }>(`${path}/invoice`, when, { 'if-match': '"a"' })
    expect([stale.status, stale.body.code]).toEqual([412, 'preconditionFailed'])
    expect(opened.headers.get('location')).toBe(path)
    const seen = (await tenant.get(path)).headers.get('etag')!
    expect(opened.headers.get('etag')).toBe(seen)
    const invoiced = await tenant.post<LapseReinstatementResponse>(`${path}/invoice`, when, {
      'if-match': seen,
    })
    expect(invoiced.headers.get('etag')).toBe((await tenant.get(path)).headers.get('etag'))
    // One look-up of its policy, one block of locators if the last is used up, and one write.
    expect(roundTrips(invoiced)).toMatchObject({ object: 1 })
    expect(roundTrips(invoiced).d1).toBeLessThanOrEqual(3)
    expect(invoiced.body).toMatchObject({
      currentStatus: 'invoiced',
      reinstatementTimestamp: lapse!.lapseTimestamp,
      statuses: [{ status: 'open' }, { status: 'invoiced' }],
    })
    await remember()
    const { body: invoice } = await tenant.get<PolicyInvoiceResponse>(
      `/invoice/${invoiced.body.invoiceLocator}`,
    )
    expect(invoice).toMatchObject({
      invoiceType: 'reinstatement',
      totalDue: unpaid!.totalDue,
      settlementStatus: 'outstanding',
      transactionIssued: false,
      dueTimestamp: lapse!.reinstatementPeriodEndTimestamp,
    })
    const { body: items } = await tenant.get<{ financialTransactions: { type: string; amount: number }[] }>(
      `/invoice/${invoice.locator}/financialTransactions`,
    )
    const cents = items.financialTransactions
      .filter(one => one.type !== 'commission')
      .map(one => Math.round(one.amount * 100))
    expect(cents.reduce((sum, one) => sum + one, 0)).toBe(Math.round(unpaid!.totalDue * 100))
    expect((await pay(tenant, invoice)).status).toBe(200)
    const issued = (await tenant.get<LapseReinstatementResponse>(path)).body
    expect(issued).toMatchObject({ currentStatus: 'issued', invoiceLocator: invoice.locator })
    const back = await read(tenant, policy)
    expect(back.effectiveContractEndTimestamp).toBe(policy.originalContractEndTimestamp)
    expect(back.modifications.map(one => one.name).at(-1)).toBe('modification.policy.reinstate')
    expect(
      back.modifications
        .map(one => Math.round((one.premiumChange ?? 0) * 100))
        .slice(1)
        .reduce((a, b) => a + b),
    ).toBe(0)
    // Ten of twelve months are to come. The third was invoiced before the lapse, and is invoiced again immediately.
    expect(await plannedFor(tenant, policy)).toBe(9)
    expect(back.invoices.at(-1)).toMatchObject({
      invoiceType: 'installment',
      settlementStatus: 'outstanding',
    })
    expect(await stateOf(tenant, policy)).toBe('issued')
    await remember()
    await moveTo(tenant, Number(known.at(-1)![0]) + 86_400_000)
    for (const [asOfTimestamp, answer] of known) {
      const { body } = await tenant.post(`/policies/${policy.locator}/snapshot`, { asOfTimestamp })
      expect(body).toEqual(answer)
    }

    const events = await eventsOfTypes(
      tenant,
      'policy.gracePeriod',
      'policy.lapse',
      'policy.reinstatement',
      'invoice.writtenOff',
    )
    expect(events.map(one => one.type)).toEqual([
      'policy.gracePeriod',
      'policy.lapse',
      ...lapsed.invoices.filter(one => one.settlementType === 'writtenOff').map(() => 'invoice.writtenOff'),
      'policy.reinstatement.open',
      'policy.reinstatement.invoice',
      'policy.reinstatement.issue',
    ])
    expect(events[1]!.data).toMatchObject({ lapseLocator: lapse!.locator, invoiceLocator: unpaid!.locator })
    expect(events.at(-1)!.data).toMatchObject({
      reinstatementLocator: issued.locator,
      lapseLocator: lapse!.locator,
      invoiceLocator: invoice.locator,
      policyLocator: policy.locator,
    })
    const [story] = await storyOf(tenant, policy)
    expect(story!.reinstatements.map(withoutPaper)).toEqual([withoutPaper(issued)])
  })

  it('returns 404 for unknown records, 400 for bad times, 409 for wrong states and 403 without permission', async () => {
    const tenant = await home()
    const policy = await tenant.issued('full_pay')
    const nothing = '0b6a3f0e-5a0c-4b0e-8f0e-000000000000'
    for (const path of [
      `/gracePeriod/${nothing}`,
      '/gracePeriod/x',
      `/lapse/${nothing}`,
      `/reinstatement/${nothing}`,
    ])
      expect((await tenant.get(path)).status).toBe(404)
    expect((await tenant.patch(`/gracePeriod/${nothing}`, {})).status).toBe(404)
    expect((await tenant.post(`/reinstatement/${nothing}/close`)).status).toBe(404)
    const early = await tenant.post<{ message: string }>(`/policy/${policy.locator}/createReinstatement`)
    expect([early.status, early.body.message]).toMatchObject([
      409,
      expect.stringContaining('has no lapse that this operation can reinstate'),
    ])
    await moveTo(tenant, Number(policy.invoices[0]!.dueTimestamp) + 20 * 86_400_000)
    const opened = await tenant.post<LapseReinstatementResponse>(
      `/policy/${policy.locator}/createReinstatement`,
    )
    const path = `/reinstatement/${opened.body.locator}`
    const twice = await tenant.post<{ message: string }>(`/policy/${policy.locator}/createReinstatement`)
    expect([twice.status, twice.body.message]).toMatchObject([
      409,
      expect.stringContaining(opened.body.locator),
    ])
    for (const body of [{}, { reinstatementTimestamp: 0 }, { reinstatementTimestamp: 'soon' }])
      for (const action of ['amountDue', 'invoice'])
        expect((await tenant.post(`${path}/${action}`, body)).status).toBe(400)
    const late = await tenant.post(`${path}/close`, undefined, { 'if-match': '"of-another-time"' })
    expect(late.status).toBe(412)
    const seen = (await tenant.get(path)).headers.get('etag')!
    const { body: closed } = await tenant.post<LapseReinstatementResponse>(`${path}/close`, undefined, {
      'if-match': seen,
    })
    expect(closed.currentStatus).toBe('closed')
    const gone = await tenant.post<{ message: string }>(`${path}/close`)
    expect([gone.status, gone.body.message]).toEqual([
      409,
      `Reinstatement ${opened.body.locator} is closed and cannot be closed; it allows no action.`,
    ])
    const token = await tenant.tokenOf('rita.reader')
    expect((await callApi('GET', path, { token })).status).toBe(200)
    for (const forbidden of [
      `${path}/close`,
      `${path}/invoice`,
      `/policy/${policy.locator}/createReinstatement`,
    ])
      expect((await callApi('POST', forbidden, { token, body: { reinstatementTimestamp: 0 } })).status).toBe(
        403,
      )
    const other = await motor()
    expect((await other.get(`/policy/${policy.locator}/gracePeriods`)).status).toBe(404)
    expect((await other.get(path)).status).toBe(404)
  })

  it('is read in one round trip', async () => {
    const tenant = await home()
    const policy = await tenant.issued('full_pay')
    await moveTo(tenant, Number(policy.invoices[0]!.dueTimestamp) + 20 * 86_400_000)
    const [story] = await storyOf(tenant, policy)
    for (const path of [
      `/policy/${policy.locator}/gracePeriods`,
      `/policy/${policy.locator}/graceLapseReinstatements`,
      `/gracePeriod/${story!.gracePeriod.locator}`,
      `/lapse/${story!.lapse!.locator}`,
    ])
      expect(roundTrips(await tenant.get(path))).toMatchObject({ d1: 1, object: 0 })
  })
})
