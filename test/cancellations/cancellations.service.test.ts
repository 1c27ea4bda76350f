// Cancellations and reinstatements through HTTP: dates, cents, invoices and events (brief 1.5 to 1.7, 2.2).
import { beforeAll, describe, expect, it } from 'vitest'
import { money, toNumber } from '../../src/kernel/money.ts'
import { add, type Instant, months, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type {
  CancellationValueResponse,
  PolicyPriceChangeResponse,
} from '../../src/rating/contract-change.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import type { ReinstatementResponse } from '../../src/transactions/reinstatements/contract.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'

let motor: Motor
const BERLIN = 'Europe/Berlin' as TimeZone

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('cancels')
})

const patch = <Body>(path: string, body?: unknown, headers?: Record<string, string>) =>
  callApi<Body>('PATCH', path, { token: motor.token, body, headers })

const cents = (amount: number): number => Math.round(amount * 100)

async function issued(changes: object = {}): Promise<PolicyResponse> {
  const { body } = await motor.createPolicy(changes)
  return (await motor.post(`/policy/${body.locator}/issue`)).body
}

const startOf = (policy: PolicyResponse): Instant => Number(policy.originalContractStartTimestamp) as Instant
const later = (policy: PolicyResponse, count: number, unit: 'month' | 'day' = 'month'): Instant =>
  add(startOf(policy), count, unit, BERLIN)

const read = async (policy: PolicyResponse): Promise<PolicyResponse> =>
  (await motor.get(`/policy/${policy.locator}`)).body

const priceOf = async (policy: PolicyResponse): Promise<PolicyPriceResponse> =>
  (await motor.post<PolicyPriceResponse>(`/policy/${policy.locator}/price`)).body

const draft = (policy: PolicyResponse, effectiveTimestamp: number, more: object = {}) =>
  motor.post<CancellationResponse>(`/policies/${policy.locator}/cancellations`, {
    name: 'customer_request',
    cancellationCategory: 'other',
    effectiveTimestamp,
    ...more,
  })

/** The total of all invoices that are not void, and the price in force. */
async function balances(policy: PolicyResponse): Promise<{ billed: number; inForce: number }> {
  const { invoices } = await read(policy)
  const standing = invoices.filter(invoice => invoice.settlementType !== 'invalidated')
  return {
    billed: standing.reduce((sum, invoice) => sum + cents(invoice.totalDue), 0),
    inForce: cents((await priceOf(policy)).total),
  }
}

/** The premium in force, from the segments that are issued and not replaced. */
const currentPremium = (policy: PolicyResponse): number =>
  policy.exposures
    .flatMap(exposure => exposure.perils.flatMap(peril => peril.characteristics))
    .filter(segment => segment.issuedTimestamp && !segment.replacedTimestamp)
    .reduce((sum, segment) => sum + cents(segment.premium ?? 0), 0)

function addsUp(policy: PolicyResponse): void {
  for (const modification of policy.modifications) {
    const changes = modification.exposureModifications.flatMap(one => one.perilModifications)
    expect(changes.reduce((sum, one) => sum + cents(one.premiumChange ?? 0), 0)).toBe(
      cents(modification.premiumChange ?? 0),
    )
  }
  const total = policy.modifications.reduce((sum, one) => sum + cents(one.premiumChange ?? 0), 0)
  expect(total).toBe(currentPremium(policy))
}

describe('A cancellation', () => {
  it('after half a year gives back half of every premium, tax and proratable fee, as its preview showed', async () => {
    const policy = await issued()
    const before = await priceOf(policy)
    const at = later(policy, 6)
    const { body: drafted } = await draft(policy, at)
    expect(drafted).toMatchObject({ state: 'draft', name: 'customer_request', conflictHandling: 'block' })
    const { body: preview } = await motor.get<PolicyPriceChangeResponse>(
      `/cancellations/${drafted.locator}/price`,
    )
    expect((await read(policy)).modifications).toHaveLength(1)
    const { body: done, status } = await patch<CancellationResponse>(
      `/cancellations/${drafted.locator}/issue`,
    )
    expect(status).toBe(200)
    expect(done.state).toBe('issued')
    expect(done.price).toEqual(preview)
    expect((await motor.get(`/cancellations/${drafted.locator}/price`)).body).toEqual(preview)

    const policyAfter = await read(policy)
    const after = await priceOf(policy)
    for (const exposure of before.exposurePrices)
      for (const peril of exposure.perilPrices) {
        const half = toNumber(money(String(peril.premium / 2), 'EUR' as never))
        const now = after.exposurePrices[0]!.perilPrices.find(one => one.locator === peril.locator)!
        expect(now.premium).toBe(half)
      }
    expect(cents(preview.totalChange)).toBe(cents(after.total) - cents(before.total))
    expect(preview.newTotal).toBe(after.total)
    expect(policyAfter.effectiveContractEndTimestamp).toBe(String(at))
    expect(policyAfter.originalContractEndTimestamp).toBe(policy.originalContractEndTimestamp)
    expect(policyAfter.cancellation).toMatchObject({
      effectiveTimestamp: String(at),
      modificationName: 'modification.policy.cancel',
    })
    const [whole, kept] = policyAfter.characteristics
    expect(whole!.replacedTimestamp).toBeDefined()
    expect(kept).toMatchObject({ endTimestamp: String(at), issuedTimestamp: done.issuedTimestamp })
    addsUp(policyAfter)
    const { billed, inForce } = await balances(policy)
    expect(billed).toBe(inForce)
    expect(policyAfter.invoices.at(-1)).toMatchObject({
      invoiceType: 'cancellation',
      locator: done.invoiceLocator,
    })
  })

  it('after 100 days keeps the premium of the months passed, as the calendar counts them', async () => {
    const policy = await issued()
    const at = later(policy, 100, 'day')
    const before = await priceOf(policy)
    await draft(policy, at, { issue: true })
    const part = months(startOf(policy), at, BERLIN)
    const after = await priceOf(policy)
    for (const peril of before.exposurePrices[0]!.perilPrices) {
      const now = after.exposurePrices[0]!.perilPrices.find(one => one.locator === peril.locator)!
      expect(now.premium).toBe(toNumber(money(part.times(String(peril.premium)).div(12), 'EUR' as never)))
    }
  })

  it('can be repeated for an earlier date, and a later one returns 409 with the latest allowed date', async () => {
    const policy = await issued()
    const { body: second } = await draft(policy, later(policy, 9))
    await draft(policy, later(policy, 9), { issue: true })
    const refused = await draft(policy, later(policy, 10), { issue: true })
    expect(refused.status).toBe(409)
    expect((await patch(`/cancellations/${second.locator}/issue`)).status).toBe(409)
    expect(refused.body).toMatchObject({ message: expect.stringContaining(String(later(policy, 9))) })
    await draft(policy, later(policy, 3), { issue: true })
    const after = await read(policy)
    expect(after.effectiveContractEndTimestamp).toBe(String(later(policy, 3)))
    addsUp(after)
    const { billed, inForce } = await balances(policy)
    expect(billed).toBe(inForce)
  })

  it('of a monthly policy drops the installments planned after it', async () => {
    const policy = await issued({ paymentScheduleName: 'monthly' })
    await draft(policy, startOf(policy) + 1, { issue: true })
    const { invoices } = await read(policy)
    expect(invoices.map(one => one.invoiceType)).toEqual(['newBusiness', 'cancellation'])
    const { billed, inForce } = await balances(policy)
    expect(billed).toBe(inForce)
  })

  it('can be changed and rescinded while it is a draft, and a rescinded one cannot be issued (409)', async () => {
    const policy = await issued()
    const { body } = await draft(policy, later(policy, 6))
    const changed = await patch<CancellationResponse>(`/cancellations/${body.locator}`, {
      effectiveTimestamp: later(policy, 7),
    })
    expect(changed.body.effectiveTimestamp).toBe(String(later(policy, 7)))
    const rescinded = await patch<CancellationResponse>(`/cancellations/${body.locator}/rescind`)
    expect(rescinded.body.state).toBe('rescinded')
    const late = await patch<{ message: string }>(`/cancellations/${body.locator}/issue`)
    expect(late.status).toBe(409)
    expect(late.body.message).toContain('is rescinded and cannot be issued')
    expect((await read(policy)).cancellation).toBeUndefined()
  })

  it('returns 400 for an unknown name or a time outside the contract, and 409 before the policy is issued', async () => {
    const policy = await issued()
    expect((await draft(policy, later(policy, 6), { name: 'whim' })).body).toMatchObject({
      message: expect.stringMatching(/it has 'customer_request', 'insurer_notice', 'lapse'\.$/),
    })
    expect((await draft(policy, startOf(policy) - 1)).status).toBe(400)
    expect((await draft(policy, later(policy, 12))).status).toBe(400)
    const { body: unissued } = await motor.createPolicy()
    expect((await draft(unissued, later(policy, 6))).status).toBe(409)
    expect((await motor.get('/cancellations/100000001')).status).toBe(404)
  })

  it('in one step by POST /policy/{locator}/cancel matches its cancellationValue, and is listed', async () => {
    const policy = await issued()
    const at = later(policy, 6)
    const { body: value } = await motor.get<CancellationValueResponse>(
      `/policy/${policy.locator}/cancellationValue?coverageEndTimestamp=${at}`,
    )
    const { body } = await motor.post(`/policy/${policy.locator}/cancel`, {
      coverageEndTimestamp: String(at),
    })
    expect(body.cancellation).toMatchObject({ effectiveTimestamp: String(at) })
    expect(body.modifications.at(-1)).toMatchObject({ name: 'modification.policy.cancel', number: 1 })
    const listed = await motor.get<CancellationResponse[]>(`/policies/${policy.locator}/cancellations`)
    expect(listed.body).toMatchObject([{ name: 'cancel', price: { totalChange: value.totalChange } }])
    expect(value.value).toBe(-value.totalChange)
    const { billed, inForce } = await balances(policy)
    expect(cents(value.balanceAfterCancellation)).toBe(billed)
    expect(billed).toBe(inForce)
  })
})

describe('POST /policy/{locator}/withdraw', () => {
  it('reduces the policy to zero, and rejects a further cancellation or withdrawal with 409', async () => {
    const policy = await issued()
    const answer = await motor.post(`/policy/${policy.locator}/withdraw`)
    const { body } = answer
    expect(roundTrips(answer)).toMatchObject({ object: 1 })
    expect(roundTrips(answer).d1).toBeLessThanOrEqual(2)
    expect(body.cancellation?.modificationName).toBe('modification.policy.withdraw')
    expect(currentPremium(body)).toBe(0)
    addsUp(body)
    expect((await priceOf(policy)).total).toBe(0)
    expect((await balances(policy)).billed).toBe(0)
    expect((await draft(policy, later(policy, 6))).status).toBe(409)
    expect((await motor.post(`/policy/${policy.locator}/withdraw`)).status).toBe(409)
  })
})

describe('A reinstatement', () => {
  const cancelledAt = async (at: (policy: PolicyResponse) => number) => {
    const policy = await issued()
    const before = await priceOf(policy)
    const { body } = await draft(policy, at(policy), { issue: true })
    return { policy, before, cancellation: body }
  }

  it('at the time of the cancellation restores every amount', async () => {
    const { policy, before, cancellation } = await cancelledAt(one => later(one, 100, 'day'))
    const { body } = await patch<ReinstatementResponse>(`/cancellations/${cancellation.locator}/reinstate`, {
      issue: true,
    })
    expect(body.state).toBe('issued')
    expect(cents(body.price!.totalChange)).toBe(-cents(cancellation.price!.totalChange))
    expect(cents(body.reinstatementPaymentAmount!)).toBe(cents(body.price!.totalChange))
    const after = await priceOf(policy)
    expect(after).toEqual(before)
    const now = await read(policy)
    expect(now.cancellation).toBeUndefined()
    expect(now.effectiveContractEndTimestamp).toBe(policy.effectiveContractEndTimestamp)
    expect(now.modifications.at(-1)).toMatchObject({ name: 'modification.policy.reinstate', number: 2 })
    addsUp(now)
    const { billed, inForce } = await balances(policy)
    expect(billed).toBe(inForce)
  })

  it('is billed but not in force while accepted, and its invoice is void when it is invalidated', async () => {
    const { policy, cancellation } = await cancelledAt(one => later(one, 6))
    // Clients that set nothing send no body (brief 1.6: all optional).
    const { body: begun } = await patch<ReinstatementResponse>(
      `/cancellations/${cancellation.locator}/reinstate`,
    )
    expect(begun).toMatchObject({ state: 'draft', effectiveTimestamp: cancellation.effectiveTimestamp })
    expect(begun.price).toBeUndefined()
    const path = `/reinstatements/${begun.locator}`
    const { body: preview } = await motor.get<PolicyPriceChangeResponse>(`${path}/price`)
    const { body: accepted } = await patch<ReinstatementResponse>(`${path}/accept`)
    expect(accepted.state).toBe('accepted')
    expect(accepted.price).toEqual(preview)
    const shown = await read(policy)
    const pending = shown.characteristics.filter(one => one.issuedTimestamp === undefined)
    expect(pending).toHaveLength(1)
    expect(shown.cancellation).toBeDefined()
    const invoice = shown.invoices.find(one => one.locator === accepted.invoiceLocator)!
    expect(invoice).toMatchObject({ invoiceType: 'reinstatement', transactionIssued: false })
    const { body: back } = await patch<ReinstatementResponse>(`${path}/invalidate`)
    expect(back.state).toBe('draft')
    const voided = await read(policy)
    expect(voided.characteristics.filter(one => one.issuedTimestamp === undefined)).toEqual([])
    expect(voided.invoices.find(one => one.locator === invoice.locator)).toMatchObject({
      settlementType: 'invalidated',
      totalDue: invoice.totalDue,
    })
    await patch(`${path}/accept`)
    const { body: final } = await patch<ReinstatementResponse>(`${path}/issue`)
    expect(final.state).toBe('issued')
    expect((await read(policy)).cancellation).toBeUndefined()
    const { billed, inForce } = await balances(policy)
    expect(billed).toBe(inForce)
  })

  it('later than the cancellation leaves a gap, and charges for the remaining months', async () => {
    const { policy, before, cancellation } = await cancelledAt(one => later(one, 6))
    const at = later(policy, 9)
    await patch(`/cancellations/${cancellation.locator}/reinstate`, { effectiveTimestamp: at, issue: true })
    const now = await read(policy)
    const spans = now.characteristics
      .filter(one => one.issuedTimestamp && !one.replacedTimestamp)
      .map(one => [one.startTimestamp, one.endTimestamp])
    expect(spans).toEqual([
      [policy.originalContractStartTimestamp, String(later(policy, 6))],
      [String(at), policy.originalContractEndTimestamp],
    ])
    const after = await priceOf(policy)
    for (const peril of before.exposurePrices[0]!.perilPrices) {
      const part = after.exposurePrices[0]!.perilPrices.find(one => one.locator === peril.locator)!
      expect(Math.abs(part.premium - peril.premium * 0.75)).toBeLessThanOrEqual(0.011)
    }
    addsUp(now)
    const { billed, inForce } = await balances(policy)
    expect(billed).toBe(inForce)
  })

  it('blocks another cancellation while it is accepted (409), unless that may invalidate it', async () => {
    const { policy, cancellation } = await cancelledAt(one => later(one, 6))
    const { body } = await patch<ReinstatementResponse>(
      `/cancellations/${cancellation.locator}/reinstate`,
      {},
    )
    await patch(`/reinstatements/${body.locator}/accept`)
    const blocked = await draft(policy, later(policy, 3), { issue: true })
    expect(blocked.status).toBe(409)
    expect(blocked.body).toMatchObject({ message: expect.stringContaining(body.locator) })
    const through = await draft(policy, later(policy, 3), { issue: true, conflictHandling: 'invalidate' })
    expect(through.status).toBe(200)
    const { body: back } = await motor.get<ReinstatementResponse>(`/reinstatements/${body.locator}`)
    expect(back.state).toBe('draft')
    const { billed, inForce } = await balances(policy)
    expect(billed).toBe(inForce)
  })

  it('returns 400 outside the cancelled time, and 409 for a draft or a reinstated cancellation', async () => {
    const { policy, cancellation } = await cancelledAt(one => later(one, 6))
    const early = await patch(`/cancellations/${cancellation.locator}/reinstate`, {
      effectiveTimestamp: later(policy, 5),
    })
    expect(early.status).toBe(400)
    const effectiveTimestamp = policy.originalContractEndTimestamp
    const path = `/cancellations/${cancellation.locator}/reinstate`
    const late = [await patch(path, { effectiveTimestamp, issue: true })]
    const { body: open } = await patch<ReinstatementResponse>(path, {})
    late.push(await patch(`/reinstatements/${open.locator}`, { effectiveTimestamp }))
    expect(late.map(one => one.status)).toEqual([400, 400])
    await patch(`/reinstatements/${open.locator}/accept`)
    await patch(`/reinstatements/${open.locator}/issue`)
    expect((await patch(path, {})).status).toBe(409)
    const { body: drafted } = await draft(policy, later(policy, 6))
    expect((await patch(`/cancellations/${drafted.locator}/reinstate`, {})).status).toBe(409)
  })
})

it('each step of a cancellation and its reinstatement emits an event', async () => {
  const policy = await issued()
  const { body } = await draft(policy, later(policy, 6))
  await patch(`/cancellations/${body.locator}/issue`)
  await patch(`/cancellations/${body.locator}/reinstate`, { issue: true })
  const { body: page } = await motor.get<{ events: { type: string; data: Record<string, string> }[] }>(
    '/eventstream/events?startTimestamp=0&pageSize=1000',
  )
  const types = page.events
    .filter(event => event.data.policyLocator === policy.locator)
    .map(event => event.type)
    .filter(type => /cancel|reinstate|invoice\.issue/.test(type))
  expect(types).toEqual([
    'invoice.issue',
    'cancellation.create',
    'cancellation.issue',
    'policy.cancel',
    'invoice.issue',
    'reinstatement.create',
    'reinstatement.accept',
    'invoice.issue',
    'reinstatement.issue',
  ])
})

it('issuing a cancellation takes a look-up and at most two D1 round trips, and a repeat changes nothing', async () => {
  const policy = await issued()
  const { body } = await draft(policy, later(policy, 6))
  await motor.get('/v1/ping/authorized')
  const headers = { 'idempotency-key': 'cancel-once' }
  const first = await patch<CancellationResponse>(`/cancellations/${body.locator}/issue`, undefined, headers)
  expect(roundTrips(first).d1).toBeLessThanOrEqual(3)
  const second = await patch<CancellationResponse>(`/cancellations/${body.locator}/issue`, undefined, headers)
  expect(second.body).toEqual(first.body)
  expect((await read(policy)).modifications).toHaveLength(2)
})
