// Worksheets through HTTP: recorded prices are rated again by their original configuration, and every cent follows from the lines.
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { GetPolicyPriceResponse, PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { Worksheet } from '../../src/policy/contract/worksheet.ts'
import type { PolicyPriceChangeResponse } from '../../src/rating/contract-change.ts'
import type { QuickQuoteResponse } from '../../src/servicing/quick-quotes/contract.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import type { PolicyPreviewResponse } from '../../src/transactions/preview/contract.ts'
import type { ReinstatementResponse } from '../../src/transactions/reinstatements/contract.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'
import { recomputed } from '../support/worksheets.ts'

const BERLIN = 'Europe/Berlin' as TimeZone

const FILES = {
  ...motorWithoutPapers(),
  'config.json': JSON.stringify({
    timezone: BERLIN,
    currency: 'EUR',
    features: { 'property.endorsement.policy.end.enabled': true },
  }),
  'products/private_motor/policy/endorsements.json': JSON.stringify({
    endorsements: ['never', 'always'].map(reprice => ({
      name: reprice,
      displayName: reprice,
      reprice,
      documents: [],
    })),
  }),
}

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('worksheet', FILES)
})

const get = async <Body>(path: string): Promise<Body> => {
  const answer = await motor.get<Body>(path)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

const post = async <Body>(path: string, body?: unknown): Promise<Body> => {
  const answer = await motor.post<Body>(path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

async function issued(): Promise<PolicyResponse> {
  const { body } = await motor.createPolicy()
  return await post(`/policy/${body.locator}/issue`)
}

const later = ({ originalContractStartTimestamp: start }: PolicyResponse, count: number): Instant =>
  add(Number(start) as Instant, count, 'month', BERLIN)

const dearer = ({ exposures: [exposure] }: PolicyResponse) => ({
  updateExposures: [{ exposureLocator: exposure!.locator, fieldValues: { vehicle_value: '49000' } }],
})

const addsUp = (sheet: Worksheet | undefined, total: number): Worksheet => {
  expect(Number(recomputed(sheet!))).toBe(total)
  expect(sheet).toMatchObject({ differs: false, notes: [] })
  return sheet!
}

const runsOf = (sheet: Worksheet, peril: string) => sheet.perils.find(one => one.perilName === peril)!.runs

describe('The worksheet of a policy', () => {
  it('is returned on request: for a draft as of now, and for an issued policy rated again', async () => {
    const { body: draft } = await motor.createPolicy({ finalize: false })
    const price = await get<GetPolicyPriceResponse>(`/policy/${draft.locator}/price?explain=true`)
    expect(addsUp(price.worksheet, price.totalDue).isRecorded).toBe(false)
    const plain = await get<GetPolicyPriceResponse>(`/policy/${draft.locator}/price`)
    const { worksheet: _, ...rest } = price
    expect({ ...plain, fees: [] }).toEqual({ ...rest, fees: [] })

    const policy = await issued()
    const recorded = await post<PolicyPriceResponse>(`/policy/${policy.locator}/price?explain=true`)
    const sheet = addsUp(recorded.worksheet, recorded.total)
    expect(sheet).toMatchObject({ isRecorded: true, currency: 'EUR', decimalPlaces: 2, timeZone: BERLIN })
    expect(runsOf(sheet, 'own_damage')[0]).toMatchObject({ ratedBy: 'template', configVersion: 1 })
  })

  it('explains splits, repricing and kept rates of endorsements, a cancellation and a reinstatement', async () => {
    const policy = await issued()
    const path = `/policies/${policy.locator}`
    await post(`${path}/endorsements`, {
      endorsementName: 'always',
      startTimestamp: later(policy, 4),
      state: 'issued',
      ...dearer(policy),
    })
    const [exposure] = policy.exposures
    const glass = exposure!.perils.find(one => one.name === 'glass')!
    await post(`${path}/endorsements`, {
      endorsementName: 'never',
      startTimestamp: later(policy, 7),
      newPolicyEndTimestamp: later(policy, 14),
      state: 'issued',
      updateExposures: [
        {
          exposureLocator: exposure!.locator,
          updatePerils: [{ perilLocator: glass.locator, fieldValues: { original_parts: 'yes' } }],
        },
      ],
    })
    const before = await post<PolicyPriceResponse>(`/policy/${policy.locator}/price?explain=true`)
    const sheet = addsUp(before.worksheet, before.total)
    expect(runsOf(sheet, 'own_damage').map(run => [run.transaction, run.ratedBy])).toEqual([
      ['creation', 'template'],
      ['endorsement', 'template'],
      ['endorsement', 'earlierRates'],
    ])
    expect(runsOf(sheet, 'glass').map(run => run.ratedBy)).toContain('earlierRates')

    const cancelled = await post<CancellationResponse>(`${path}/cancellations`, {
      name: 'customer_request',
      effectiveTimestamp: later(policy, 9) + 5 * 24 * 3_600_000,
      cancellationCategory: 'other',
      issue: true,
    })
    const after = await post<PolicyPriceResponse>(`/policy/${policy.locator}/price?explain=true`)
    addsUp(after.worksheet, after.total)
    const change = await get<PolicyPriceChangeResponse>(
      `/cancellations/${cancelled.locator}/price?explain=true`,
    )
    const sums = addsUp(change.worksheet, change.newTotal)
    expect(Number(sums.total) - Number(sums.totalBefore)).toBeCloseTo(change.totalChange, 6)

    const { body: back } = await callApi<ReinstatementResponse>(
      'PATCH',
      `/cancellations/${cancelled.locator}/reinstate`,
      { token: motor.token, body: { effectiveTimestamp: later(policy, 11) } },
    )
    const priceOfBack = () =>
      get<PolicyPriceChangeResponse>(`/reinstatements/${back.locator}/price?explain=true`)
    const planned = await priceOfBack()
    addsUp(planned.worksheet, planned.newTotal)
    for (const action of ['accept', 'issue'])
      await callApi('PATCH', `/reinstatements/${back.locator}/${action}`, { token: motor.token })
    const restored = await priceOfBack()
    const pieces = addsUp(restored.worksheet, planned.newTotal).perils.flatMap(peril =>
      peril.runs.flatMap(run => run.pieces),
    )
    expect(pieces.map(piece => piece.splitFrom.what)).toContain('removed')
  })

  it('can be limited to one exposure or peril, and an unknown one returns 404', async () => {
    const policy = await issued()
    const [exposure] = policy.exposures
    const peril = exposure!.perils[1]!
    const path = `/policy/${policy.locator}/price?explain=true`
    const one = await get<GetPolicyPriceResponse>(`${path}&perilLocator=${peril.locator}`)
    expect(one.worksheet!.perils.map(({ perilLocator }) => perilLocator)).toEqual([peril.locator])
    const all = await get<GetPolicyPriceResponse>(`${path}&exposureLocator=${exposure!.locator}`)
    expect(all.worksheet!.perils).toHaveLength(4)
    const none = await motor.get(`${path}&perilLocator=01a216be-0000-7563-90c1-6f6b43d35300`)
    expect(none).toMatchObject({ status: 404 })
    expect((await motor.get(`/policy/${policy.locator}/price?explain=maybe`)).status).toBe(400)
  })
})

describe('The worksheet of a change', () => {
  it('explains an application as of now, and a recorded endorsement and renewal', async () => {
    const policy = await issued()
    const path = `/policies/${policy.locator}`
    const request = { endorsementName: 'always', startTimestamp: later(policy, 3), ...dearer(policy) }
    const application = await post<EndorsementResponse>(`${path}/endorsements`, request)
    const priceOf = (kind: string, locator: string) =>
      get<PolicyPriceChangeResponse>(`/${kind}s/${locator}/price?explain=true`)
    const planned = await priceOf('endorsement', application.locator)
    expect(addsUp(planned.worksheet, planned.newTotal).isRecorded).toBe(false)

    const preview = await post<PolicyPreviewResponse>(`${path}/preview?explain=true`, {
      endorsement: request,
    })
    addsUp(preview.price.worksheet, preview.price.newTotal)
    expect(preview.price.newTotal).toBe(planned.newTotal)

    await callApi('PATCH', `/endorsements/${application.locator}`, {
      token: motor.token,
      body: { action: 'issue' },
    })
    const recorded = await priceOf('endorsement', application.locator)
    expect(addsUp(recorded.worksheet, recorded.newTotal).isRecorded).toBe(true)
    expect(runsOf(recorded.worksheet!, 'own_damage').map(run => run.ratedBy)).toEqual([
      'recorded',
      'template',
    ])

    const renewal = await post<EndorsementResponse>(`${path}/renewals`, {
      renewalEndTimestamp: later(policy, 24),
      state: 'issued',
    })
    const renewed = await priceOf('renewal', renewal.locator)
    const sheet = addsUp(renewed.worksheet, renewed.newTotal)
    const runs = sheet.perils.flatMap(peril => peril.runs)
    expect(runs.at(-1)).toMatchObject({ transaction: 'renewal', ratedBy: 'template' })
    expect(runs[0]).toMatchObject({ transaction: 'creation', ratedBy: 'recorded' })
    expect(sheet.feeScripts.map(one => one.amounts)).toEqual([[{ name: 'policy_fee', amount: '12.5' }]])
  })
})

describe('The worksheet of a quote or quick quote', () => {
  it('is available once the quote is quoted, and returns 409 before', async () => {
    const { body: draft } = await motor.createPolicy({ finalize: false })
    const [{ locator: quote }] = (await get<{ locator: string }[]>(`/policies/${draft.locator}/quotes`)) as [
      { locator: string },
    ]
    expect((await motor.get(`/quotes/${quote}/price?explain=true`)).status).toBe(409)
    await callApi('PATCH', `/quotes/${quote}/quote`, { token: motor.token })
    const price = await get<PolicyPriceResponse>(`/quotes/${quote}/price?explain=true`)
    addsUp(price.worksheet, price.total)
  })

  it('is available when a quick quote is created and later, and is not stored', async () => {
    const policyholderLocator = await motor.newPolicyholder()
    const body = { ...plainYear().request.policy, policyholderLocator }
    const path = `/policy/${motor.tenantLocator}/quickquotes`
    const made = await post<QuickQuoteResponse>(`${path}?explain=true`, body)
    addsUp(made.price!.worksheet, made.price!.total)
    const again = await get<QuickQuoteResponse>(`${path}/${made.locator}?explain=true`)
    expect(again).toEqual(made)
    const plain = await get<QuickQuoteResponse>(`${path}/${made.locator}`)
    expect(plain.price).not.toHaveProperty('worksheet')
  })
})
