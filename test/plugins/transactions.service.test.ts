// Plugins in transactions, through HTTP: what they receive, what they may return, and what of it is kept.
import { beforeAll, describe, expect, it } from 'vitest'
import type { PluginLogPageResponse } from '../../src/extension/plugins/contract-log.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import type { PolicyPreviewResponse } from '../../src/transactions/preview/contract.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'
import { pluginRated } from '../support/plugin-rated.ts'

/**
 * A rater that does what a field of the policy says: the last digit of `contact_phone` selects the part. With the area code 30 it
 * prices every segment of the policy, at 120 a year times the number of ratings.
 */
const RATER = `
const parts = {
  // Every peril costs 120 a year.
  '1'(priced) { return priced },
  '2'(priced) { const [first] = Object.keys(priced); delete priced[first]; return priced },
  '3'(priced) { return { ...priced, nobody: { yearlyPremium: 1 } } },
  '4'(priced) { priced[Object.keys(priced)[0]].yearlyPremium = '1,200.00'; return priced },
  '5'(priced) { priced[Object.keys(priced)[0]].yearlyPremium = NaN; return priced },
  '6'(priced) { priced[Object.keys(priced)[0]] = {}; return priced },
  '7'() { throw new Error('no rate today') },
  '8'() { while (true) {} },
  '9'() { return 'nothing of use' },
}

exports.getPerilRates = data => {
  const { policy } = data
  const segment = policy.characteristics[policy.characteristics.length - 1]
  const phone = (segment.fieldValues.contact_phone || ['+491'])[0]
  const which = phone.slice(-1)
  const rated = Number(socotraApi.getAuxData(policy.locator, 'rated') || '0') + 1
  console.log('rating', data.operation, data.policyExposurePerils.length, 'rated before:', rated - 1)
  socotraApi.setAuxData(policy.locator, 'rated', rated, 'hidden')
  socotraApi.createCustomEvent('custom.rating.done', { operation: data.operation, times: rated })
  if (which === '0') return { pricedPerilCharacteristics: {}, exceptionMessage: 'Not in this town.' }
  const priced = {}
  if (phone.startsWith('+49 30'))
    for (const { perils } of policy.exposures)
      for (const { characteristics } of perils)
        for (const { locator } of characteristics) priced[locator] = { yearlyPremium: 120 * rated }
  else for (const { perilCharacteristicsLocator } of data.policyExposurePerils)
    priced[perilCharacteristicsLocator] = { yearlyPremium: '120.00', commissions: [{ recipient: 'house', yearlyAmount: 6 }] }
  const answer = parts[which](priced)
  return typeof answer === 'string' ? answer : { pricedPerilCharacteristics: answer }
}`

const UNDERWRITER = `
exports.getUnderwritingResult = data => {
  console.log('underwriting', data.operation)
  const stored = socotraApi.fetchByLocator(Policyholder, data.policyholder.locator)
  const same = stored.entity.locator === data.policyholder.entity.locator
  const premium = data.policy.characteristics[data.policy.characteristics.length - 1].grossPremium
  return {
    decision: data.operation === 'new_business' || same ? 'accept' : 'none',
    notes: [data.operation, 'stored ' + same, 'premium ' + premium + ' ' + typeof premium, socotraApi.getAuxData(data.policy.locator, 'rated')],
  }
}`

let motor: Motor
let admin: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant(
    'plugins-transactions',
    pluginRated(undefined, { 'main/rater.js': RATER, 'main/underwriter.js': UNDERWRITER }),
  )
  admin = await motor.signIn('anna.admin')
})

const withPhone = (last: number) => {
  const { policy } = plainYear().request
  return { fieldValues: { ...policy.fieldValues, contact_phone: `+49 89 123450${last}` } }
}

const logs = async (query = ''): Promise<PluginLogPageResponse> => {
  const answer = await callApi<PluginLogPageResponse>('GET', `/plugin/logs?${query}`, { token: admin })
  expect(answer.status).toBe(200)
  return answer.body
}

const auxOf = async (locator: string): Promise<string> =>
  (await motor.get<{ value: string }>(`/auxData/${locator}/rated`)).body.value

const customEvents = async (policy?: string) => {
  const { body } = await motor.get<{ events: { type: string; data: Record<string, string> }[] }>(
    '/eventstream/events?eventType=custom.rating.done&pageSize=1000',
  )
  return body.events.filter(event => policy === undefined || event.data.policyLocator === policy)
}

describe('a transaction rated by a plugin', () => {
  it("is rated and underwritten as new business, endorsement and renewal, and keeps the plugin's writes", async () => {
    const created = await motor.createPolicy({ ...withPhone(1), finalize: true })
    expect(created.status).toBe(200)
    const policy = created.body
    const perils = policy.exposures.flatMap(exposure => exposure.perils)
    expect(perils.flatMap(peril => peril.characteristics.map(one => one.premium))).toEqual(
      perils.map(() => 120),
    )
    expect(await auxOf(policy.locator)).toBe('1')
    const { body: decided } = await motor.get<{ decision: string; notes: string[] }>(
      `/policy/${policy.locator}/automatedUnderwritingResult`,
    )
    expect(decided).toMatchObject({
      decision: 'accept',
      notes: ['new_business', 'stored true', `premium ${perils.length * 120}.00 string`, '1'],
    })
    expect((await motor.post(`/policy/${policy.locator}/issue`)).status).toBe(200)

    const start = Number(policy.originalContractStartTimestamp) + 40 * 86_400_000
    const vehicle = policy.exposures[0]!
    const endorsed = await motor.post<EndorsementResponse>(`/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: start,
      updateExposures: [{ exposureLocator: vehicle.locator, fieldValues: { annual_mileage_km: 30000 } }],
      state: 'issued',
    })
    expect(endorsed.status).toBe(200)
    expect(await auxOf(policy.locator)).toBe('2')
    const after = (await motor.get(`/policy/${policy.locator}`)).body
    const rates = after.exposures[0]!.perils.flatMap(peril =>
      peril.characteristics.map(one => one.monthPremium),
    )
    expect(new Set(rates)).toEqual(new Set([10]))

    const renewed = await motor.post(`/policies/${policy.locator}/renewals`, {
      renewalEndTimestamp: Number(policy.originalContractEndTimestamp) + 365 * 86_400_000,
      state: 'accepted',
    })
    expect(renewed.status).toBe(200)
    expect(await auxOf(policy.locator)).toBe('3')
    expect((await customEvents(policy.locator)).map(event => event.data)).toEqual([
      { policyLocator: policy.locator, operation: 'new_business', times: '1' },
      { policyLocator: policy.locator, operation: 'endorsement', times: '2' },
      { policyLocator: policy.locator, operation: 'renewal', times: '3' },
    ])
    // In the order of the calls, even of those in one request.
    const { logs: kept } = await logs(`policyLocator=${policy.locator}`)
    expect(kept.map(one => one.lines[0]!.text.split(' ').slice(0, 2).join(' '))).toEqual(
      ['new_business', 'endorsement', 'renewal'].flatMap(one => [`rating ${one}`, `underwriting ${one}`]),
    )
  })

  it('has the same price when it is previewed, and a preview keeps no writes and no events', async () => {
    const { body: policy } = await motor.createPolicy({ ...withPhone(1), finalize: false })
    const { body: price } = await motor.post<PolicyPriceResponse>(`/policy/${policy.locator}/price`)
    const perils = policy.exposures.flatMap(exposure => exposure.perils).length
    expect(price.grossPremium).toBe(120 * perils)
    expect(price.grossCommissions).toBe(6 * perils)
    expect(await auxOf(policy.locator)).toBe('')
    expect(await customEvents(policy.locator)).toEqual([])
    const log = await logs(`policyLocator=${policy.locator}`)
    expect(log.logs.map(one => one.lines)).toEqual([
      [{ level: 'info', text: `rating new_business ${perils} rated before: 0` }],
    ])
  })

  it('is rated when an endorsement is previewed, which keeps no writes and no events', async () => {
    const { body: policy } = await motor.createPolicy({ ...withPhone(1), finalize: true })
    expect((await motor.post(`/policy/${policy.locator}/issue`)).status).toBe(200)
    const preview = await motor.post<PolicyPreviewResponse>(`/policies/${policy.locator}/preview`, {
      endorsement: {
        endorsementName: 'change_of_risk',
        addExposures: [{ ...plainYear().request.policy.exposures[0]!, perils: [{ name: 'glass' }] }],
      },
    })
    expect(preview.status).toBe(200)
    expect(preview.body.policyWhenIssued.exposures[1]!.perils[0]!.characteristics[0]!.monthPremium).toBe(10)
    expect(await auxOf(policy.locator)).toBe('1')
    expect(await customEvents(policy.locator)).toHaveLength(1)
  })

  it('prices every segment of the policy, where only the rates of the requested segments count', async () => {
    const { policy: plain } = plainYear().request
    const fieldValues = { ...plain.fieldValues, contact_phone: '+49 30 1234501' }
    const { body: policy } = await motor.createPolicy({ fieldValues, finalize: true })
    expect((await motor.post(`/policy/${policy.locator}/issue`)).status).toBe(200)
    const start = Number(policy.originalContractStartTimestamp) + 40 * 86_400_000
    const endorsed = await motor.post<EndorsementResponse>(`/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: start,
      updateExposures: [
        { exposureLocator: policy.exposures[0]!.locator, fieldValues: { annual_mileage_km: 30000 } },
      ],
      state: 'issued',
    })
    expect(endorsed.status).toBe(200)
    const { body: after } = await motor.get(`/policy/${policy.locator}`)
    const segments = after.exposures.flatMap(({ perils }) => perils.flatMap(one => one.characteristics))
    const ratesFrom = (isLater: boolean) =>
      segments
        .filter(one => Number(one.coverageStartTimestamp) >= start === isLater)
        .map(one => one.monthPremium)
    // 120 a year is 10 a month; the second rating, 240 a year, is 20 a month.
    expect(new Set(ratesFrom(false))).toEqual(new Set([10]))
    expect(new Set(ratesFrom(true))).toEqual(new Set([20]))
  })

  const wrong: [what: string, phone: number, status: number, message: RegExp][] = [
    [
      'leaves a peril out',
      2,
      422,
      /getPerilRates \(main\/rater\.js\) returned an invalid answer: no rate for [0-9a-f-]{36} \(peril '\w+' of 'vehicle', policy\.exposures\[0\]\.perils\[\d\]\)\.$/,
    ],
    [
      'prices one that nobody asked for',
      3,
      422,
      /a rate for nobody, which is not among policyExposurePerils/,
    ],
    [
      'answers text that is no amount',
      4,
      422,
      /yearlyPremium' must be an amount[^()]* \(peril '\w+' of 'vehicle', policy\.exposures\[0\]\.perils\[0\]\)/,
    ],
    ['answers NaN', 5, 422, /yearlyPremium' must be an amount/],
    ['answers no amount', 6, 422, /needs yearlyPremium or exactPremium/],
    ['throws', 7, 422, /^Plugin getPerilRates failed: main\/rater\.js:10: Error: no rate today$/],
    // Its steps end it, or its time if the computer is busy.
    ['never ends', 8, 422, /takes more steps than a plugin may|takes longer than/],
    ['answers text', 9, 422, /expected object|must be an object/i],
    ['says why not', 0, 409, /^Not in this town\.$/],
  ]
  it.each(wrong)(
    'is rejected when its plugin %s, and nothing is written',
    async (_what, phone, status, message) => {
      const { body: draft } = await motor.createPolicy({ ...withPhone(phone), finalize: false })
      const [answer, neighbour] = await Promise.all([
        motor.post<{ message: string }>(`/policy/${draft.locator}/finalize`),
        motor.createPolicy({ ...withPhone(1), finalize: true }),
      ])
      expect(answer.status).toBe(status)
      expect(answer.body.message).toMatch(message)
      expect(neighbour.status).toBe(200)
      expect(await auxOf(draft.locator)).toBe('')
      // The log shows it too: one call, with its lines. An `exceptionMessage` is an answer.
      const [call, ...others] = (await logs(`policyLocator=${draft.locator}`)).logs
      expect(others).toEqual([])
      if (status === 422) expect(answer.body.message).toContain(call!.failure)
      else expect(call).not.toHaveProperty('failure')
      const { body: policy } = await motor.get<PolicyResponse>(`/policy/${draft.locator}`)
      expect(policy.exposures[0]!.perils[0]!.characteristics[0]!.premium).toBeUndefined()
    },
  )

  it('keeps its custom events and its log even if it fails', async () => {
    const { body: draft } = await motor.createPolicy({ ...withPhone(7), finalize: false })
    await motor.post(`/policy/${draft.locator}/finalize`)
    expect((await customEvents(draft.locator)).map(event => event.data)).toEqual([
      { policyLocator: draft.locator, operation: 'new_business', times: '1', operationFailed: 'true' },
    ])
    const { logs: found } = await logs(`policyLocator=${draft.locator}`)
    expect(found).toMatchObject([
      {
        plugin: 'getPerilRates',
        path: 'main/rater.js',
        productName: 'private_motor',
        configVersion: 1,
        failure: 'main/rater.js:10: Error: no rate today',
        lines: [{ level: 'info' }],
      },
    ])
  })
})

describe('a cover over several segments of the policy', () => {
  it('is rated by segment: exact amounts add up, and the same yearly rate stays one rate', async () => {
    const byStretch = await motorTenant(
      'plugins-stretches',
      pluginRated(['getPerilRates'], {
        'main/rater.js': `exports.getPerilRates = data => {
  console.log(data.operation, data.endorsementLocator, data.policyExposurePerils.length, new Set(data.policyExposurePerils.map(one => one.policyCharacteristicsLocator)).size)
  const mileage = one => data.policy.exposures.flatMap(e => e.characteristics).find(c => c.locator === one.exposureCharacteristicsLocator).fieldValues.annual_mileage_km[0]
  const rates = {}
  for (const one of data.policyExposurePerils)
    rates[one.perilCharacteristicsLocator] = mileage(one) === '777'
      ? { exactPremium: '10.50', yearlyTechnicalPremium: 24, commissions: [{ recipient: 'house', exactAmount: 1 }] }
      : { yearlyPremium: 120, yearlyTechnicalPremium: 24 }
  return { pricedPerilCharacteristics: rates }
}`,
      }),
    )
    const { body: policy } = await byStretch.createPolicy({ finalize: true })
    await byStretch.post(`/policy/${policy.locator}/issue`)
    const start = Number(policy.originalContractStartTimestamp)
    const exposureLocator = policy.exposures[0]!.locator
    const perils = policy.exposures[0]!.perils.length
    const endorse = async (days: number, body: object) => {
      const answer = await byStretch.post<EndorsementResponse>(`/policies/${policy.locator}/endorsements`, {
        endorsementName: 'change_of_risk',
        startTimestamp: start + days * 86_400_000,
        state: 'issued',
        ...body,
      })
      expect(answer.status).toBe(200)
      return answer.body
    }
    // Splits the policy in the middle of its term, and rates again only by the policy's own fields.
    await endorse(182, { fieldValues: { contact_phone: '+49 89 1234501' } })
    const earlier = await endorse(90, {
      updateExposures: [{ exposureLocator, fieldValues: { annual_mileage_km: 777 } }],
    })
    const { logs: calls } = (
      await callApi<PluginLogPageResponse>('GET', '/plugin/logs', {
        token: await byStretch.signIn('anna.admin'),
      })
    ).body
    expect(calls.at(-1)!.lines[0]!.text).toBe(`endorsement ${earlier.locator} ${perils * 2} 2`)
    const { body: after } = await byStretch.get(`/policy/${policy.locator}`)
    for (const peril of after.exposures[0]!.perils) {
      const made = peril.characteristics.filter(
        one =>
          one.replacedTimestamp === undefined &&
          Number(one.coverageStartTimestamp) >= start + 90 * 86_400_000,
      )
      expect(made).toHaveLength(2)
      expect(made.reduce((sum, one) => sum + Math.round(one.premium! * 100), 0)).toBe(2_100)
      expect(new Set(made.map(one => one.monthTechnicalPremium))).toEqual(new Set([2]))
    }
  })
})

describe('GET /plugin/logs', () => {
  it('returns pages, oldest first, and is limited to administrators', async () => {
    const all = await logs('pageSize=1000')
    expect(all.logs.length).toBeGreaterThan(5)
    const paged: string[] = []
    let token = ''
    do {
      const page = await logs(`pageSize=2${token && `&pagingToken=${encodeURIComponent(token)}`}`)
      expect(page.logs.length).toBeLessThanOrEqual(2)
      paged.push(...page.logs.map(one => one.locator))
      token = page.pagingToken ?? ''
    } while (token !== '')
    expect(paged).toEqual(all.logs.map(one => one.locator))
    const employee = await callApi('GET', '/plugin/logs', { token: await motor.signIn('alice.agent') })
    expect(employee.status).toBe(403)
  })
})

describe('a large policy', () => {
  it('is rated in one call, and endorsed in another one', async () => {
    const { policy: request } = plainYear().request
    const vehicles = Array.from({ length: 120 }, () => request.exposures[0]!)
    const created = await motor.createPolicy({ ...withPhone(1), exposures: vehicles, finalize: true })
    expect(created.status).toBe(200)
    const { locator, exposures, originalContractStartTimestamp: start } = created.body
    const perils = exposures.flatMap(exposure => exposure.perils).length
    expect(
      (await logs(`policyLocator=${locator}&plugin=getPerilRates`)).logs.map(one => one.lines[0]!.text),
    ).toEqual([`rating new_business ${perils} rated before: 0`])
    expect((await motor.post(`/policy/${locator}/issue`)).status).toBe(200)
    const endorsed = await motor.post(`/policies/${locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: Number(start) + 86_400_000,
      updateExposures: [
        { exposureLocator: exposures[7]!.locator, fieldValues: { annual_mileage_km: 30000 } },
      ],
      state: 'issued',
    })
    expect(endorsed.status).toBe(200)
    expect(roundTrips(endorsed).object).toBe(1)
    const calls = (await logs(`policyLocator=${locator}&plugin=getPerilRates`)).logs
    expect(calls.at(-1)!.lines[0]!.text).toBe(
      `rating endorsement ${exposures[7]!.perils.length} rated before: 1`,
    )
    expect(calls).toHaveLength(2)
  })
})
