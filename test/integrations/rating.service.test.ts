// Products that an external rater prices, through HTTP, with a real server as the rater.
import { createHmac } from 'node:crypto'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { IntegrationCallPageResponse } from '../../src/extension/integrations/contract.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'
import { pluginRated } from '../support/plugin-rated.ts'
import { externallyRated, openRater, type Rater, register } from '../support/rater.ts'
import type { RaterBehaviour } from '../support/rater-server.ts'
import { YEARS_ON } from '../support/years.ts'

/** 1 July in Berlin, in the middle of the plain year. */
const HALF = Date.UTC(2027 + YEARS_ON, 5, 30, 22)

let motor: Motor
let rater: Rater

beforeAll(async () => {
  await prepareDatabases({ tenants: 8 })
  rater = await openRater()
  motor = await motorTenant('external-rater', externallyRated('acme'))
  await register(motor, 'acme', rater)
})

const draft = async (of: Motor = motor): Promise<PolicyResponse> =>
  (await of.createPolicy({ finalize: false })).body

const premiums = (policy: PolicyResponse): Record<string, unknown[]> =>
  Object.fromEntries(
    policy.exposures.flatMap(exposure =>
      exposure.perils.map(peril => [
        peril.name,
        peril.characteristics
          .filter(one => one.replacedTimestamp === undefined)
          .map(one => [one.premium, one.monthPremium]),
      ]),
    ),
  )

const callLog = async (query = ''): Promise<IntegrationCallPageResponse> =>
  await callOk('GET', `/integrations/acme/calls?${query}`, { token: await motor.signIn('anna.admin') })

describe('a product with an external rater', () => {
  it('is priced by every form of rate, while taxes and fees come from templates', async () => {
    await rater.answers({
      status: 201,
      rates: {
        liability: { yearlyPremium: '370.00', commissions: [{ recipient: 'house', amount: 18.5 }] },
        own_damage: { exactPremium: 123.45, exactTechnicalPremium: '100', yearlyTechnicalPremium: 240 },
        theft: { yearlyPremium: 120, exactPremium: '99.99', commissions: [] },
        glass: { premium: '-20.00', monthPremium: 2, unknown: 'ignored' },
      },
    })
    const { status, body: policy } = await motor.createPolicy()
    expect(status).toBe(200)
    expect(premiums(policy)).toEqual({
      liability: [[370, 30.8333333]],
      own_damage: [[123.45, 10.2875]],
      theft: [[99.99, 10]],
      glass: [[-20, 2]],
    })
    const [, ownDamage] = policy.exposures[0]!.perils
    expect(ownDamage!.characteristics).toMatchObject([{ technicalPremium: 100, monthTechnicalPremium: 20 }])
    const { body: price } = await motor.post<PolicyPriceResponse>(`/policy/${policy.locator}/price`)
    // 370 + 123.45 + 99.99 - 20; 19% of each: 70.30 + 23.46 + 19.00 - 3.80; the policy fee.
    expect(price).toMatchObject({
      grossPremium: 573.44,
      grossTaxes: 108.96,
      grossFees: 12.5,
      grossCommissions: 18.5,
      total: 694.9,
    })
    const issued = await motor.post(`/policy/${policy.locator}/issue`)
    expect(issued.body.invoices.map(invoice => invoice.totalDue)).toEqual([694.9])
  })

  it('calls the rater for new business, endorsements and renewals with only what must be priced', async () => {
    await rater.answers({ rates: { '*': { yearlyPremium: 370 } } })
    const { body: policy } = await motor.createPolicy()
    await motor.post(`/policy/${policy.locator}/issue`)
    const before = (await rater.calls()).length

    await rater.answers({ rates: { '*': { yearlyPremium: '730.00' } } })
    const endorsed = await motor.post<EndorsementResponse>(`/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: HALF,
      updateExposures: [
        { exposureLocator: policy.exposures[0]!.locator, fieldValues: { annual_mileage_km: 30_000 } },
      ],
      state: 'issued',
    })
    expect(endorsed.status).toBe(200)
    const { body: after } = await motor.get(`/policy/${policy.locator}`)
    expect(premiums(after).liability).toEqual([
      [185, 30.8333333],
      [365, 60.8333333],
    ])

    const renewed = await motor.post<EndorsementResponse>(`/policies/${policy.locator}/renewals`, {
      renewalEndTimestamp: Number(policy.originalContractEndTimestamp) + 366 * 86_400_000,
      state: 'accepted',
    })
    expect(renewed.status).toBe(200)

    const asked = (await rater.calls()).slice(before).map(call => JSON.parse(call.body))
    expect(asked.map(one => one.operation)).toEqual(['endorsement', 'renewal'])
    expect(asked.map(one => [one.endorsementLocator, one.renewalLocator, one.quoteLocator])).toEqual([
      [endorsed.body.locator, undefined, undefined],
      [undefined, renewed.body.locator, undefined],
    ])
    const changed = after.exposures[0]!.perils.map(peril => peril.characteristics.at(-1)!)
    expect(asked[0].policyExposurePerils).toEqual(
      changed.map(one => ({
        policyCharacteristicsLocator: one.policyCharacteristicsLocator,
        exposureCharacteristicsLocator: one.exposureCharacteristicsLocator,
        perilCharacteristicsLocator: one.locator,
      })),
    )
    expect(asked[0].tenantTimeZone).toBe('Europe/Berlin')
  })

  it('sends the rater the policy with its numbers as text, and the quote', async () => {
    const policy = await draft()
    await motor.post(`/policy/${policy.locator}/price`)
    const sent = JSON.parse((await rater.calls()).at(-1)!.body)
    expect(sent).toMatchObject({
      operation: 'new_business',
      quoteLocator: expect.stringMatching(/^[1-9]\d{8,}$/),
      policy: { locator: policy.locator, configVersion: '1', productName: 'private_motor' },
    })
  })

  it('previews a price by the rater, and stores nothing', async () => {
    await rater.answers({ rates: { '*': { yearlyPremium: 100 } } })
    const policy = await draft()
    const { body: price } = await motor.post<PolicyPriceResponse>(`/policy/${policy.locator}/price`)
    expect(price.grossPremium).toBe(400)
    const { body: stored } = await motor.get(`/policy/${policy.locator}`)
    expect(stored.exposures[0]!.perils[0]!.characteristics[0]!.premium).toBeUndefined()
  })

  it('ignores rates that were not requested, with a warning in the log of calls', async () => {
    await rater.answers({
      rates: { '*': { yearlyPremium: 100 } },
      strangers: { nobody: 'nonsense', 'nobody-else': { yearlyPremium: 1 } },
    })
    const { status, body: policy } = await motor.createPolicy()
    expect(status).toBe(200)
    const { calls } = await callLog(`policyLocator=${policy.locator}`)
    expect(calls.map(call => call.warnings)).toEqual([
      ['Ignored rates that were not requested: nobody; nobody-else.'],
    ])
  })

  it('shortens a name of 3,000,000 characters in the warning about an ignored rate', async () => {
    await rater.answers({
      rates: { '*': { yearlyPremium: 100 } },
      strangers: { ['n'.repeat(3_000_000)]: { yearlyPremium: 1 } },
    })
    const { status, body: policy } = await motor.createPolicy()
    expect(status).toBe(200)
    const { calls } = await callLog(`policyLocator=${policy.locator}`)
    expect(calls.map(call => call.warnings)).toEqual([[expect.stringMatching(/^Ignored rates .*: n{50,}…/)]])
    expect(calls[0]!.warnings[0]!.length).toBeLessThan(1_200)
  })

  it('reads a rate with a binary fraction as the decimal amount that it stands for', async () => {
    await rater.answers({ rates: { '*': { exactPremium: 379.1 * 1.19 } } })
    const { body: policy } = await motor.createPolicy()
    expect(premiums(policy).glass).toEqual([[451.13, 37.5940833]])
  })

  it('calls the rater once for a policy of 120 vehicles, and once for a change of one vehicle', async () => {
    await rater.answers({ rates: { '*': { yearlyPremium: 12 } } })
    const vehicles = Array.from({ length: 120 }, () => plainYear().request.policy.exposures[0]!)
    const before = (await rater.calls()).length
    const { body: policy } = await motor.createPolicy({ exposures: vehicles })
    await motor.post(`/policy/${policy.locator}/issue`)
    const endorsed = await motor.post(`/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: HALF,
      updateExposures: [
        { exposureLocator: policy.exposures[7]!.locator, fieldValues: { annual_mileage_km: 30_000 } },
      ],
      state: 'issued',
    })
    expect(endorsed.status).toBe(200)
    const asked = (await rater.calls()).slice(before).map(call => JSON.parse(call.body))
    expect(asked.map(one => one.policyExposurePerils.length)).toEqual([480, 4])
  })

  it("returns 409 with the rater's exceptionMessage, and calls the rater once", async () => {
    await rater.answers({
      rates: { '*': { yearlyPremium: 1 } },
      answer: { exceptionMessage: 'Not in this town.' },
    })
    const policy = await draft()
    const before = (await rater.calls()).length
    const answer = await motor.post(`/policy/${policy.locator}/finalize`)
    expect([answer.status, answer.body]).toMatchObject([
      409,
      { code: 'externalRaterRefused', message: 'Not in this town.' },
    ])
    expect(await rater.calls()).toHaveLength(before + 1)
  })
})

const nonsense: [what: string, behaviour: RaterBehaviour, message: RegExp][] = [
  [
    'answers 500 and why',
    { status: 500, answer: { error: 'no tariff' } },
    /it responded with 500: no tariff\.$/,
  ],
  ['answers 404', { status: 404, text: 'nothing here' }, /it responded with 404\.$/],
  ['sends elsewhere', { status: 302, headers: { location: '/elsewhere' } }, /302, but redirects are not/],
  ['answers no JSON', { text: '<html>' }, /its response is not JSON\.$/],
  ['answers nothing', { text: '' }, /its response is not JSON\.$/],
  ['answers a list', { text: '[]' }, /its response is invalid: the answer must be an object, not a list\.$/],
  [
    'gives a list for a rate',
    { rates: { '*': [] as never } },
    /is invalid: '[0-9a-f-]{36}' must be an object, not a list/,
  ],
  [
    'leaves one out',
    { rates: { '*': { yearlyPremium: 1 } }, leaveOneOut: true },
    /is invalid: no rate for [0-9a-f-]{36} \(peril '\w+' of 'vehicle', policy\.exposures\[0\]\.perils\[\d\]\)\.$/,
  ],
  ['gives no amount', { rates: { '*': {} } }, /'[0-9a-f-]{36}' needs yearlyPremium or exactPremium/],
  ['gives no number', { rates: { '*': { yearlyPremium: 'NaN' } } }, /yearlyPremium' must be an amount/],
  ['is too exact', { rates: { '*': { yearlyPremium: '1.00000001' } } }, /with at most 7 decimal places/],
  ['is beyond measure', { text: '{"pricedPerilCharacteristics": {"a": 1e999}}' }, /no rate for/],
  ['answers more than 10 MB', { bytes: 10_000_001 }, /its response is larger than 10000000 bytes\.$/],
  ['breaks off', { fault: 'cutOff' }, /its response was cut off\.$/],
]

describe('a rater that fails', () => {
  it.each(nonsense)('returns 502 and stores nothing when it %s', async (_what, behaviour, message) => {
    await rater.answers(behaviour)
    const policy = await draft()
    const answer = await motor.post<{ code: string; message: string }>(`/policy/${policy.locator}/finalize`)
    expect([answer.status, answer.body.code]).toEqual([502, 'externalRaterFailed'])
    expect(answer.body.message).toMatch(/^External rater 'acme' failed: /)
    expect(answer.body.message).toMatch(message)
    const { body: stored } = await motor.get(`/policy/${policy.locator}`)
    expect(stored.exposures[0]!.perils[0]!.characteristics[0]!.premium).toBeUndefined()
    const { calls } = await callLog(`policyLocator=${policy.locator}`)
    expect(calls).toHaveLength(1)
    expect(calls[0]!.failure).toBe(answer.body.message)
    // A success, so that the circuit does not open during the list.
    await rater.answers({ rates: { '*': { yearlyPremium: 1 } } })
    await motor.post(`/policy/${policy.locator}/price`)
  })

  it('is not one that returns negative amounts', async () => {
    await rater.answers({ rates: { '*': { yearlyPremium: '-1.5' } } })
    const { body: policy } = await motor.createPolicy()
    expect(premiums(policy).theft).toEqual([[-1.5, -0.125]])
  })
})

describe('the retry of a call', () => {
  const again: [what: string, first: RaterBehaviour][] = [
    ['429', { status: 429 }],
    ['502', { status: 502 }],
    ['503', { status: 503, headers: { 'retry-after': '1' } }],
    ['504', { status: 504 }],
    ['a connection that breaks', { fault: 'reset' }],
  ]
  it.each(again)('is made once after %s, with the same Idempotency-Key', async (_what, first) => {
    await rater.answers(first, { rates: { '*': { yearlyPremium: 12 } } })
    const before = (await rater.calls()).length
    const { status, body: policy } = await motor.createPolicy()
    expect(status).toBe(200)
    const calls = (await rater.calls()).slice(before)
    expect(calls).toHaveLength(2)
    const keys = new Set(calls.map(call => call.headers['idempotency-key']))
    expect(keys.size).toBe(1)
    expect(calls[1]!.body).toBe(calls[0]!.body)
    const { calls: logged } = await callLog(`policyLocator=${policy.locator}`)
    expect(logged.map(call => call.attempts.map(one => one.outcome))).toEqual([
      [first.status === undefined ? 'unreachable' : String(first.status), '200'],
    ])
  })

  it('is not made a second time', async () => {
    await rater.answers({ status: 503 })
    const before = (await rater.calls()).length
    const policy = await draft()
    const answer = await motor.post<{ message: string }>(`/policy/${policy.locator}/finalize`)
    expect(answer.status).toBe(502)
    expect((await rater.calls()).length - before).toBe(2)
  })

  it('is not made after 500, or if Retry-After is longer than a client waits', async () => {
    for (const behaviour of [{ status: 500 }, { status: 503, headers: { 'retry-after': '60' } }]) {
      await rater.answers(behaviour)
      const before = (await rater.calls()).length
      const policy = await draft()
      expect((await motor.post(`/policy/${policy.locator}/finalize`)).status).toBe(502)
      expect((await rater.calls()).length - before).toBe(1)
    }
    await rater.answers({ rates: { '*': { yearlyPremium: 1 } } })
    await motor.post(`/policy/${(await draft()).locator}/price`)
  })

  it('shares its key with no other request', async () => {
    const before = (await rater.calls()).length
    await motor.createPolicy()
    await motor.createPolicy()
    const calls = (await rater.calls()).slice(before)
    expect(new Set(calls.map(call => call.headers['idempotency-key'])).size).toBe(2)
  })
})

it('a rater that does not answer fails the request after 20 s, and other requests do not wait for it', async () => {
  await rater.answers({ fault: 'hang' })
  const policy = await draft()
  const waiting = motor.post<{ message: string }>(`/policy/${policy.locator}/finalize`)
  const first = await Promise.race([waiting, motor.get(`/policy/${policy.locator}`)])
  expect(first.status).toBe(200)
  const { status, body } = await waiting
  expect([status, body.message]).toEqual([
    502,
    "External rater 'acme' failed: it did not respond within 20 seconds.",
  ])
  await rater.answers({ rates: { '*': { yearlyPremium: 1 } } })
  await motor.post(`/policy/${policy.locator}/price`)
})

describe('signatures of calls', () => {
  it('cover the exact body in both schemes if the integration has a secret', async () => {
    const signed = await openRater()
    const own = await motorTenant('external-signed', externallyRated('signed'))
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const headers = { 'X-Region': 'eu', Authorization: 'Bearer of-the-rater' }
    await register(own, 'signed', signed, { headers, securitySpec: { secret, tag: 'key-1' } })
    expect((await own.createPolicy()).status).toBe(200)
    const [call] = await signed.calls()
    const key = Buffer.from(secret.slice(6), 'base64')
    const { 'webhook-id': id, 'webhook-timestamp': at } = call!.headers
    const over = (text: string) => createHmac('sha256', key).update(text)
    expect(call!.headers).toMatchObject({
      'socotra-signature': over(call!.body).digest('hex'),
      'socotra-signature-tag': 'key-1',
      'webhook-signature': `v1,${over(`${id}.${at}.${call!.body}`).digest('base64')}`,
      'idempotency-key': id,
      'content-type': 'application/json',
      'x-region': 'eu',
      authorization: 'Bearer of-the-rater',
    })
  })

  it('are absent if it has none', async () => {
    await rater.answers({ rates: { '*': { yearlyPremium: 1 } } })
    await motor.createPolicy()
    const { headers } = (await rater.calls()).at(-1)!
    expect(Object.keys(headers).filter(name => /signature|webhook/.test(name))).toEqual([])
  })
})

describe('the source of rates', () => {
  it('is the external rater, or the plugin while the tenant has no rater with that name', async () => {
    const own = await motorTenant('external-before', externallyRated('later', pluginRated()))
    expect(own.logfile).toContain("has no external rater 'later'")
    const byPlugin = (await own.createPolicy()).body
    expect(premiums(byPlugin).liability).toEqual([[120.84, 10.07]])
    await register(own, 'later', await openRater({ rates: { '*': { yearlyPremium: 60 } } }))
    const byRater = (await own.createPolicy()).body
    expect(premiums(byRater).liability).toEqual([[60, 5]])
  })

  it('is not an integration of another type', async () => {
    const own = await motorTenant('external-type', externallyRated('filler'))
    await register(own, 'filler', await openRater(), { type: 'data_autofill' })
    expect(premiums((await own.createPolicy()).body).liability).toEqual([[120.84, 10.07]])
  })
})

describe('round trips', () => {
  it('are the same with a rater as without, except for the log of the call', async () => {
    const plain = await motorTenant('external-none')
    const missing = await motorTenant('external-missing', externallyRated('nobody'))
    await rater.answers({ rates: { '*': { yearlyPremium: 1 } } })
    const token = await motor.signIn('anna.admin')
    await callOk('PUT', '/integrations/acme', { token, body: { url: rater.url } })
    // With the clock stopped, isolates keep what they remember for some seconds.
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const tripsOf = async (of: Motor, looks: boolean) => {
        const policy = await draft(of)
        if (looks) await of.post(`/policy/${policy.locator}/price`)
        return roundTrips(await of.post(`/policy/${policy.locator}/finalize`))
      }
      const without = await tripsOf(plain, false)
      expect(without).toEqual({ d1: 1, object: 1, r2: 0, queue: 0 })
      expect(await tripsOf(missing, true)).toEqual(without)
      expect(await tripsOf(motor, true)).toEqual({ ...without, d1: 2, r2: 1 })
    } finally {
      vi.useRealTimers()
    }
  })
})

it('the log of calls returns 403 to users without the permission', async () => {
  const answer = await callApi('GET', '/integrations/acme/calls', { token: motor.token })
  expect(answer.status).toBe(403)
})
