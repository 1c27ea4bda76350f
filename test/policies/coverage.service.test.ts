// The cover of a policy at a time: perils on risk with their limits and price (brief 2.1.2, 3.5).
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { CoverageSummaryResponse, PolicyResponse } from '../../src/policy/contract/response.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import { callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('coverage')
})

async function issued(changes: object = {}): Promise<PolicyResponse> {
  const { body } = await motor.createPolicy(changes)
  return (await motor.post(`/policy/${body.locator}/issue`)).body
}

const months = (policy: PolicyResponse, count: number): Instant =>
  add(Number(policy.originalContractStartTimestamp) as Instant, count, 'month', 'Europe/Berlin' as TimeZone)

const coverage = async (policy: PolicyResponse, at?: number): Promise<CoverageSummaryResponse> => {
  const path = `/policies/${policy.locator}/coverageSummary`
  const body = at === undefined ? undefined : { effectiveTimestamp: at }
  return await callOk('POST', path, { token: motor.token, body })
}

const priceOf = async (policy: PolicyResponse): Promise<PolicyPriceResponse> =>
  (await motor.post<PolicyPriceResponse>(`/policy/${policy.locator}/price`)).body

const NOTHING = { exposures: [], grossPremium: 0, grossTaxes: 0, grossFees: 0 }

const cancel = (policy: PolicyResponse, count: number) =>
  callOk<CancellationResponse>('POST', `/policies/${policy.locator}/cancellations`, {
    token: motor.token,
    body: {
      name: 'customer_request',
      cancellationCategory: 'other',
      effectiveTimestamp: months(policy, count),
      issue: true,
    },
  })

describe('POST /policies/{locator}/coverageSummary', () => {
  it('lists every exposure and peril of the term with its limits, and the price of the policy', async () => {
    const policy = await issued()
    const price = await priceOf(policy)
    const at = months(policy, 5)
    const summary = await coverage(policy, at)
    expect(summary).toMatchObject({
      policyLocator: policy.locator,
      effectiveTimestamp: String(at),
      grossPremium: price.grossPremium,
      grossTaxes: price.grossTaxes,
      grossFees: price.grossFees,
      grossPremiumCurrency: 'EUR',
    })
    expect(summary.exposures).toHaveLength(policy.exposures.length)
    for (const [index, exposure] of policy.exposures.entries()) {
      const covered = summary.exposures[index]!
      expect(covered).toMatchObject({
        locator: exposure.locator,
        name: exposure.name,
        fieldValues: exposure.characteristics[0]!.fieldValues,
      })
      const perils = exposure.perils.map(({ locator, name, characteristics: [segment] }) => {
        const { deductible, lumpSumPayment, indemnityInAggregate, indemnityPerEvent, indemnityPerItem } =
          segment!
        return {
          locator,
          name,
          coverageStartTimestamp: policy.originalContractStartTimestamp,
          coverageEndTimestamp: policy.originalContractEndTimestamp,
          premium: segment!.premium,
          deductible,
          lumpSumPayment,
          indemnityInAggregate,
          indemnityPerEvent,
          indemnityPerItem,
        }
      })
      expect(covered.perils).toMatchObject(JSON.parse(JSON.stringify(perils)))
      expect(covered.perils).toHaveLength(perils.length)
    }
  })

  it('includes the start of the term and excludes its end', async () => {
    const policy = await issued()
    const start = Number(policy.originalContractStartTimestamp)
    const end = Number(policy.originalContractEndTimestamp)
    expect(await coverage(policy, start - 1)).toMatchObject(NOTHING)
    expect((await coverage(policy, start)).exposures).toHaveLength(1)
    expect((await coverage(policy, end - 1)).exposures).toHaveLength(1)
    expect(await coverage(policy, end)).toMatchObject(NOTHING)
  })

  it('is empty after a cancellation, shows remaining amounts before it, and omits a reinstatement’s gap', async () => {
    const policy = await issued()
    const { locator } = await cancel(policy, 6)
    const cancelled = await priceOf(policy)
    const left = await coverage(policy, months(policy, 6) - 1)
    expect(left).toMatchObject({
      grossPremium: cancelled.grossPremium,
      grossTaxes: cancelled.grossTaxes,
      grossFees: cancelled.grossFees,
    })
    const ends = left.exposures.flatMap(one => one.perils.map(peril => peril.coverageEndTimestamp))
    expect(new Set(ends)).toEqual(new Set([String(months(policy, 6))]))
    expect(await coverage(policy, months(policy, 6))).toMatchObject(NOTHING)

    const path = `/cancellations/${locator}/reinstate`
    const body = { effectiveTimestamp: months(policy, 9), issue: true }
    await callOk('PATCH', path, { token: motor.token, body })
    expect(await coverage(policy, months(policy, 8))).toMatchObject(NOTHING)
    const back = await coverage(policy, months(policy, 9))
    const price = await priceOf(policy)
    expect(Math.round(100 * (left.grossPremium + back.grossPremium))).toBe(
      Math.round(100 * price.grossPremium),
    )
    expect(back.exposures[0]!.perils[0]!.coverageStartTimestamp).toBe(String(months(policy, 9)))
  })

  it('shows the data and amounts of an endorsement from its time on, and the former ones before it', async () => {
    const policy = await issued()
    const [vehicle] = policy.exposures
    const fieldValues = { annual_mileage_km: '30000' }
    await callOk('POST', `/policies/${policy.locator}/endorsements`, {
      token: motor.token,
      body: {
        endorsementName: 'change_of_risk',
        startTimestamp: months(policy, 6),
        updateExposures: [{ exposureLocator: vehicle!.locator, fieldValues }],
        state: 'issued',
      },
    })
    const before = await coverage(policy, months(policy, 6) - 1)
    const after = await coverage(policy, months(policy, 6))
    const mileage = ({ exposures }: CoverageSummaryResponse) => exposures[0]!.fieldValues.annual_mileage_km
    expect([mileage(before), mileage(after)]).toEqual([['12000'], ['30000']])
    const price = await priceOf(policy)
    expect(Math.round(100 * (before.grossPremium + after.grossPremium))).toBe(
      Math.round(100 * price.grossPremium),
    )
    expect(after.grossPremium).toBeGreaterThan(before.grossPremium)
  })

  it('is empty under an accepted reinstatement, for a withdrawn policy and for one not issued', async () => {
    const policy = await issued()
    const { locator } = await cancel(policy, 6)
    const { locator: reinstatement } = await callOk<{ locator: string }>(
      'PATCH',
      `/cancellations/${locator}/reinstate`,
      { token: motor.token, body: {} },
    )
    await callOk('PATCH', `/reinstatements/${reinstatement}/accept`, { token: motor.token })
    expect(await coverage(policy, months(policy, 7))).toMatchObject(NOTHING)
    await motor.post(`/policy/${policy.locator}/withdraw`)
    expect(await coverage(policy, months(policy, 1))).toMatchObject(NOTHING)
    const { body: unissued } = await motor.createPolicy()
    expect(await coverage(unissued, months(unissued, 1))).toMatchObject(NOTHING)
  })

  it('describes the present when no time is given', async () => {
    const earliest = Date.now() - 60_000
    const policy = await issued({ policyStartTimestamp: earliest, policyEndTimestamp: earliest + 86_400_000 })
    const from = Date.now()
    const summary = await coverage(policy)
    expect(Number(summary.effectiveTimestamp)).toBeGreaterThanOrEqual(from - 5)
    expect(Number(summary.effectiveTimestamp)).toBeLessThanOrEqual(Date.now())
    expect(summary.exposures).toHaveLength(1)
    const path = `/policies/${policy.locator}/coverageSummary`
    expect((await motor.post(path, '""')).status).toBe(200)
    expect((await motor.post(path, { effectiveTimestamp: null })).status).toBe(200)
    expect((await motor.post(path, { effectiveTimestamp: 'now' })).status).toBe(400)
    expect((await motor.post('/policies/100000001/coverageSummary')).status).toBe(404)
  })

  it('takes one D1 round trip and no Durable Object', async () => {
    const policy = await issued()
    await motor.get('/v1/ping/authorized')
    const answer = await motor.post(`/policies/${policy.locator}/coverageSummary`)
    expect(roundTrips(answer)).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
  })
})
