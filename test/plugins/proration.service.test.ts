// Amounts split by a product's own code, through HTTP (brief 3.2, 3.4, 5.6): a year of 1,000 with 19% tax, 800 technical premium,
// 100 commission and a fee of 24 that may be prorated. The plugin counts every month that has begun, and holds back a tenth of
// what a cancellation gives back. The policy's auxiliary data can select another answer.
import { beforeAll, describe, expect, it } from 'vitest'
import type { ProrationInput } from '../../src/extension/plugins/contract.ts'
import type { PluginLogPageResponse } from '../../src/extension/plugins/contract-log.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type {
  CancellationValueResponse,
  PolicyPriceChangeResponse,
} from '../../src/rating/contract-change.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import type { PolicyPreviewResponse } from '../../src/transactions/preview/contract.ts'
import type { ReinstatementResponse } from '../../src/transactions/reinstatements/contract.ts'
import { callOk } from '../support/api.ts'
import { comparable } from '../support/comparable.ts'
import { prepareDatabases } from '../support/databases.ts'
import type { ArchiveFiles } from '../support/examples.ts'
import { roundTrips } from '../support/motor.ts'
import { type Plain, plainFiles, plainTenant, thing } from '../support/plain-product.ts'

const PRORATER = `
const monthsTo = time => {
  const date = new Date(Number(time))
  return date.getUTCFullYear() * 12 + date.getUTCMonth() + (date.getUTCDate() > 1 ? 1 : 0)
}

const begun = (item, data) => {
  const whole = monthsTo(item.segmentEndTimestamp) - monthsTo(item.segmentStartTimestamp)
  return Number(item.amount) * (monthsTo(data.segmentSplitTimestamp) - monthsTo(item.segmentStartTimestamp)) / whole
}

const kept = (item, data, share) =>
  data.cancellationType === 'wish' && item.type !== 'technicalPremium'
    ? (Number(item.amount) - share + Number(item.followingAmount)) / 10
    : 0

const modes = {
  '': (item, data) => ({ proratedAmount: begun(item, data), holdbackAmount: kept(item, data, begun(item, data)) }),
  unsaid: (item, data) => ({ proratedAmount: begun(item, data) }),
  whole: item => ({ proratedAmount: item.amount }),
  noise: () => ({ proratedAmount: 333.00499999999994 }),
  beyond: item => ({ proratedAmount: Number(item.amount) + 0.01 }),
  negative: () => ({ proratedAmount: '-0.01' }),
  notANumber: () => ({ proratedAmount: NaN }),
  keepsAll: item => ({ proratedAmount: 0, holdbackAmount: Number(item.amount) + 0.01 }),
  keepsTechnical: item => ({ proratedAmount: 0, holdbackAmount: item.type === 'technicalPremium' ? 1 : 0 }),
  keepsOne: item => ({ proratedAmount: 0, holdbackAmount: item.type === 'premium' ? 1 : 0 }),
  beforeTheStart: () => ({ proratedAmount: 1 }),
}

exports.getProrationResult = data => {
  const mode = socotraApi.getAuxData(data.policy.locator, 'mode')
  if (data.items.length > 100) console.log(data.items.length)
  else console.log(JSON.stringify(data))
  if (mode === 'throws') throw new Error('no proration today')
  if (mode === 'nothing') return {}
  const items = data.items.map(item => ({ id: item.id, ...(modes[mode] || modes[''])(item, data) }))
  if (mode === 'leavesOut') items.pop()
  if (mode === 'stranger') items.push({ id: 'nobody', proratedAmount: 0 })
  if (mode === 'twice') items.push(items[0])
  return { items }
}`

const POLICY = 'products/plain/policy'

function files(enabled: boolean): ArchiveFiles {
  const plain = plainFiles({ timezone: 'UTC' })
  const policy = JSON.parse(plain[`${POLICY}/policy.json`] as string)
  return {
    [`${POLICY}/policy.json`]: JSON.stringify({
      ...policy,
      plugins: { getProrationResult: { path: 'main/prorater.js', enabled } },
    }),
    'scripts/main/prorater.js': PRORATER,
    'config.json': JSON.stringify({
      timezone: 'UTC',
      currency: 'EUR',
      features: { 'property.endorsement.policy.end.enabled': true },
    }),
    'security/test_users.json': JSON.stringify([
      { username: 'alice', name: 'Alice', password: 'password' },
      { username: 'anna', name: 'Anna', password: 'password', roles: ['tenant.admin'] },
    ]),
    [`${POLICY}/fees.json`]: JSON.stringify({
      fees: [{ name: 'service', displayName: 'Service', proration: 'proratable' }],
    }),
    [`${POLICY}/policy.calculations.liquid`]: '{{ 24 | add_fee: "service" }}',
    [`${POLICY}/taxes/taxes.json`]: JSON.stringify({ taxes: [{ name: 'vat', displayName: 'VAT' }] }),
    [`${POLICY}/taxes/vat.premium.liquid`]:
      '{{ data.peril_characteristics.premium | times: 0.19 | round: 2 | set_peril_tax }}',
    [`${POLICY}/exposures/thing/perils/cover.premium.liquid`]: `
      {% assign year = data.exposure_characteristics.field_values.yearly %}
      {{ year | set_year_premium }}{{ year | times: 0.8 | set_year_technical_premium }}
      {{ year | times: 0.1 | add_year_commission: "house" }}`,
  }
}

let asked: Plain
let plain: Plain

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  asked = await plainTenant('prorated', { timezone: 'UTC' }, files(true))
  plain = await plainTenant('unprorated', { timezone: 'UTC' }, files(false))
})

const day = (text: string): number => Date.parse(`${text}T00:00:00Z`)
const YEAR = { start: day('2026-01-01'), end: day('2027-01-01') }

/** Issues a policy for which the plugin answers in this mode. */
async function issued(mode = '', exposures?: object[]): Promise<PolicyResponse> {
  const policy = await asked.issue(YEAR, '1000', exposures)
  await answering(policy, mode)
  return policy
}

const answering = ({ locator }: PolicyResponse, mode: string) =>
  asked.ok('PUT', `/auxData/${locator}`, { auxData: [{ key: 'mode', value: mode }] })

const read = ({ locator }: PolicyResponse): Promise<PolicyResponse> => asked.ok('GET', `/policy/${locator}`)

const priceOf = ({ locator }: PolicyResponse) =>
  asked.ok<PolicyPriceResponse>('POST', `/policy/${locator}/price`)

const cancelling = (at: string, name = 'wish') => ({ name, effectiveTimestamp: day(at), issue: true })

const cancel = ({ locator }: PolicyResponse, at: string, name = 'wish') =>
  asked.ok<CancellationResponse>('POST', `/policies/${locator}/cancellations`, cancelling(at, name))

const endorse = ({ locator }: PolicyResponse, at: string, endorsementName = 'never', more = {}) =>
  asked.ok('POST', `/policies/${locator}/endorsements`, {
    endorsementName,
    startTimestamp: day(at),
    state: 'issued',
    ...more,
  })

const reinstate = ({ locator }: CancellationResponse, body: object = {}) =>
  asked.ok<ReinstatementResponse>('PATCH', `/cancellations/${locator}/reinstate`, { issue: true, ...body })

/** Returns the premium of each segment in force, in order of time. */
const premiums = ({ exposures }: PolicyResponse): (number | undefined)[] =>
  exposures
    .flatMap(one => one.perils.flatMap(peril => peril.characteristics))
    .filter(one => one.issuedTimestamp && !one.replacedTimestamp)
    .sort((a, b) => Number(a.coverageStartTimestamp) - Number(b.coverageStartTimestamp))
    .map(one => one.premium)

const totals = ({ invoices }: PolicyResponse): number[] => invoices.map(one => one.totalDue)

/** Returns the inputs of the plugin for the policy, call by call. */
async function calls({ locator }: PolicyResponse): Promise<ProrationInput[]> {
  const token = await asked.signIn('anna')
  const { logs } = await callOk<PluginLogPageResponse>('GET', `/plugin/logs?policyLocator=${locator}`, {
    token,
  })
  return logs.map(one => JSON.parse(one.lines[0]!.text))
}

describe('a cancellation at short rates', () => {
  it('keeps the months that have begun and a tenth of the rest: 583.33 given back, 58.33 of it held back', async () => {
    const policy = await issued()
    const { price, locator } = await cancel(policy, '2026-05-20')
    const held = { amountCurrency: 'EUR' }
    const holdbacks = [
      { ...held, type: 'premium', perilName: 'cover', amount: 58.33 },
      { ...held, type: 'tax', perilName: 'cover', taxName: 'vat', amount: 11.08 },
      { ...held, type: 'commission', perilName: 'cover', amount: 5.83 },
      { ...held, type: 'fee', feeName: 'service', amount: 1.4 },
    ]
    expect(price).toMatchObject({
      newGrossPremium: 416.67,
      grossPremiumChange: -583.33,
      newGrossTaxes: 79.17,
      grossTaxesChange: -110.83,
      newGrossCommissions: 41.67,
      newGrossFees: 10,
      grossFeesChange: -14,
      holdbacks,
      // 416.67 + 79.17 + 10, and 58.33 + 11.08 + 1.40 held back.
      newTotal: 576.65,
      totalChange: -637.35,
    })
    expect(price!.exposurePrices[0]!.perilPrices[0]).toMatchObject({ newTechnicalPremium: 333.33 })
    expect(await priceOf(policy)).toMatchObject({ grossPremium: 416.67, total: 576.65, holdbacks })
    const now = await read(policy)
    expect(premiums(now)).toEqual([416.67])
    expect(totals(now)).toEqual([1214, -637.35])
    const { financialTransactions } = await asked.ok<{
      financialTransactions: { type: string; amount: number; taxName?: string; feeName?: string }[]
    }>('GET', `/invoice/${now.invoices.at(-1)!.locator}/financialTransactions`)
    expect(financialTransactions.map(one => [one.type, one.amount, one.taxName ?? one.feeName])).toEqual([
      ['premium', -583.33, undefined],
      ['tax', -110.83, 'vat'],
      ['commission', -58.33, undefined],
      ['fee', -14, 'service'],
      ['holdback', 58.33, undefined],
      ['holdback', 11.08, 'vat'],
      ['commission', 5.83, undefined],
      ['holdback', 1.4, 'service'],
    ])

    const back = await reinstate({ locator } as CancellationResponse)
    expect(back.reinstatementPaymentAmount).toBe(637.35)
    expect(await priceOf(policy)).toMatchObject({
      grossPremium: 1000,
      grossFees: 24,
      total: 1214,
      holdbacks: [],
    })
    const restored = await read(policy)
    expect(premiums(restored)).toEqual([416.67, 583.33])
    expect(totals(restored)).toEqual([1214, -637.35, 637.35])
  })

  it('calls the plugin once, with every amount that it splits and nothing else', async () => {
    const policy = await issued()
    await cancel(policy, '2026-05-20')
    const [call, ...others] = await calls(policy)
    expect(others).toEqual([])
    const [characteristics] = policy.exposures[0]!.perils[0]!.characteristics
    const segment = {
      segmentStartTimestamp: String(YEAR.start),
      segmentEndTimestamp: String(YEAR.end),
      followingAmount: '0.00',
    }
    const peril = {
      ...segment,
      perilCharacteristicsLocator: characteristics!.locator,
      perilName: 'cover',
      fieldValues: characteristics!.fieldValues,
    }
    const [fee] = (await priceOf(policy)).fees
    expect(call).toEqual({
      operation: 'cancellation',
      cancellationType: 'wish',
      segmentSplitTimestamp: String(day('2026-05-20')),
      paymentScheduleName: 'upfront',
      oldPaymentScheduleName: 'upfront',
      paymentPlan: 'total',
      tenantTimeZone: 'UTC',
      policy: {
        locator: policy.locator,
        policyholderLocator: policy.policyholderLocator,
        productName: 'plain',
        originalContractStartTimestamp: policy.originalContractStartTimestamp,
        currency: 'EUR',
        quoteLocator: expect.stringMatching(/^\d{9,}$/),
      },
      items: [
        { ...peril, id: '0', type: 'premium', amount: '1000.00' },
        { ...peril, id: '1', type: 'technicalPremium', amount: '800.00' },
        { ...peril, id: '2', type: 'tax', taxName: 'vat', amount: '190.00' },
        { ...peril, id: '3', type: 'commission', commissionRecipient: 'house', amount: '100.00' },
        {
          ...segment,
          id: '4',
          type: 'fee',
          feeLocator: fee!.locator,
          feeName: 'service',
          fieldValues: {},
          amount: '24.00',
        },
      ],
    })
  })

  it('holds back what the plugin says, or what the configuration says if the plugin says nothing', async () => {
    const silent = await issued('unsaid')
    const { price } = await cancel(silent, '2026-07-01', 'fifty_kept')
    expect(price!.holdbacks).toMatchObject([{ type: 'premium', amount: 50 }])
    const speaking = await issued()
    expect((await cancel(speaking, '2026-07-01', 'fifty_kept')).price!.holdbacks).toEqual([])
  })

  it('gives back a later segment in full, and may hold back a part of it: 75 of 750', async () => {
    const policy = await issued()
    await endorse(policy, '2026-07-01')
    expect(premiums(await read(policy))).toEqual([500, 500])
    const { price } = await cancel(policy, '2026-04-01')
    const call = (await calls(policy)).at(-1)!
    expect(call.items[0]).toMatchObject({ type: 'premium', amount: '500.00', followingAmount: '500.00' })
    expect(price).toMatchObject({ newGrossPremium: 250, grossPremiumChange: -750 })
    expect(price!.holdbacks[0]).toMatchObject({ type: 'premium', amount: 75 })
  })

  it('gives back a whole segment from its very start, and may still hold back', async () => {
    const policy = await issued()
    const { price } = await cancel(policy, '2026-01-01')
    expect(price).toMatchObject({ newGrossPremium: 0, newGrossFees: 0, newTotal: 121.4 })
    expect(price!.holdbacks.map(one => one.amount)).toEqual([100, 19, 10, 2.4])
    const wrong = await issued('beforeTheStart')
    const refused = await asked.call<{ message: string }>(
      'POST',
      `/policies/${wrong.locator}/cancellations`,
      cancelling('2026-01-01'),
    )
    expect(refused.status).toBe(422)
    expect(refused.body.message).toMatch(/must be 0: there is no time before the split/)
  })
})

describe('an endorsement', () => {
  it('splits by the months that have begun, and later splits start from the result', async () => {
    const policy = await issued()
    await endorse(policy, '2026-03-20')
    expect(premiums(await read(policy))).toEqual([250, 750])
    await endorse(policy, '2026-02-10')
    // Two of the three months of the first 250 have begun.
    expect(premiums(await read(policy))).toEqual([166.67, 83.33, 750])
    const { price } = await cancel(policy, '2026-07-05', 'fifty_kept')
    // Mar 20 counts as April, July 5 as August: four of nine months.
    expect(price).toMatchObject({ newGrossPremium: 583.33, grossPremiumChange: -416.67 })
    expect((await calls(policy)).map(one => one.operation)).toEqual([
      'endorsement',
      'endorsement',
      'cancellation',
    ])
    for (const { premiumChange, exposureModifications } of (await read(policy)).modifications.slice(1, 3)) {
      expect(premiumChange).toBe(0)
      const parts = exposureModifications.flatMap(one =>
        one.perilModifications.map(part => part.premiumChange),
      )
      expect(parts.every(part => part === 0)).toBe(true)
    }
  })

  it('that does not rate again leaves the rest of the premium to the changed cover: 250 and 750', async () => {
    const policy = await issued()
    const [peril] = policy.exposures[0]!.perils
    await endorse(policy, '2026-03-20', 'never', {
      updateExposures: [
        {
          exposureLocator: policy.exposures[0]!.locator,
          updatePerils: [{ perilLocator: peril!.locator, deductible: 100 }],
        },
      ],
    })
    const now = await read(policy)
    expect(premiums(now)).toEqual([250, 750])
    expect(now.modifications.at(-1)!.premiumChange).toBe(0)
    const { price } = await cancel(policy, '2026-07-05', 'fifty_kept')
    expect(price).toMatchObject({ newGrossPremium: 583.33, newGrossTaxes: 110.83 })
  })

  it('that rates again keeps the part of the old rate that the plugin returns: 250', async () => {
    const policy = await issued()
    await endorse(policy, '2026-03-20', 'always', {
      updateExposures: [{ exposureLocator: policy.exposures[0]!.locator, fieldValues: { yearly: '2000' } }],
    })
    const [kept, rated] = premiums(await read(policy))
    expect(kept).toBe(250)
    // 9 + 12/31 months of 2,000 a year.
    expect(rated).toBe(1564.52)
  })

  it('that splits at its own time and at an earlier end calls the plugin for one after the other', async () => {
    const policy = await issued()
    await endorse(policy, '2026-03-20', 'never', { newPolicyEndTimestamp: day('2026-07-05') })
    // Logs of one request are in no particular order.
    const bySplit = (await calls(policy)).sort(
      (a, b) => Number(a.segmentSplitTimestamp) - Number(b.segmentSplitTimestamp),
    )
    const [first, second, ...others] = bySplit
    expect(others).toEqual([])
    expect(first!.segmentSplitTimestamp).toBe(String(day('2026-03-20')))
    expect(first!.items[0]).toMatchObject({ amount: '1000.00' })
    expect(second!.segmentSplitTimestamp).toBe(String(day('2026-07-05')))
    expect(second!.items[0]).toMatchObject({
      amount: '750.00',
      segmentStartTimestamp: String(day('2026-03-20')),
    })
    expect(first!.items.map(one => one.type)).not.toContain('fee')
    expect(second!.items.at(-1)).toMatchObject({ type: 'fee', amount: '24.00' })
    // Four of nine months of 750; seven of twelve of the fee's 24.
    expect(premiums(await read(policy))).toEqual([250, 333.33])
    expect(await priceOf(policy)).toMatchObject({ grossPremium: 583.33, grossFees: 14 })
  })
})

describe('a reinstatement', () => {
  it("at a later time brings back what was cancelled, less the plugin's part before that time: 250 of 500", async () => {
    const policy = await issued()
    const cancellation = await cancel(policy, '2026-07-01', 'fifty_kept')
    expect(cancellation.price).toMatchObject({ newGrossPremium: 500, newGrossFees: 12 })
    const draft = await asked.ok<ReinstatementResponse>(
      'PATCH',
      `/cancellations/${cancellation.locator}/reinstate`,
      {
        effectiveTimestamp: day('2026-09-10'),
      },
    )
    const price = await asked.ok<PolicyPriceChangeResponse>('GET', `/reinstatements/${draft.locator}/price`)
    // Three of the six months of 500 have begun by Sep 10 and are lost, and so are 6 of the fee's 12.
    expect(price).toMatchObject({ grossPremiumChange: 250, grossFeesChange: 6, grossTaxesChange: 47.5 })
    await asked.ok('PATCH', `/reinstatements/${draft.locator}/accept`)
    await asked.ok('PATCH', `/reinstatements/${draft.locator}/issue`)
    expect(premiums(await read(policy))).toEqual([500, 250])
    expect(totals(await read(policy)).at(-1)).toBe(303.5)
    const call = (await calls(policy)).at(-1)!
    expect(call).toMatchObject({
      operation: 'reinstatement',
      segmentSplitTimestamp: String(day('2026-09-10')),
    })
    expect(call.items[0]).toMatchObject({
      amount: '500.00',
      segmentStartTimestamp: String(day('2026-07-01')),
      segmentEndTimestamp: String(YEAR.end),
    })
  })

  it('at the time of the cancellation brings back everything, and does not call the plugin', async () => {
    const policy = await issued()
    const cancellation = await cancel(policy, '2026-05-20')
    await answering(policy, 'throws')
    await reinstate(cancellation)
    expect(premiums(await read(policy))).toEqual([416.67, 583.33])
    expect(await calls(policy)).toHaveLength(1)
  })
})

describe('a withdrawal', () => {
  it('leaves no charges, and does not call the plugin because nothing is split', async () => {
    const policy = await issued()
    await endorse(policy, '2026-03-20')
    await answering(policy, 'throws')
    await asked.ok('POST', `/policy/${policy.locator}/withdraw`)
    expect(await priceOf(policy)).toMatchObject({ grossPremium: 0, grossTaxes: 0, grossFees: 0, total: 0 })
    expect(await calls(policy)).toHaveLength(1)
  })
})

describe('a preview', () => {
  it('of a cancellation equals its draft and its record', async () => {
    const policy = await issued()
    const request = cancelling('2026-05-20')
    const { price, invoices } = await asked.ok<PolicyPreviewResponse>(
      'POST',
      `/policies/${policy.locator}/preview`,
      { cancellation: request },
    )
    const draft = await asked.ok<CancellationResponse>('POST', `/policies/${policy.locator}/cancellations`, {
      ...request,
      issue: false,
    })
    const drafted = await asked.ok('GET', `/cancellations/${draft.locator}/price`)
    const done = await asked.ok<CancellationResponse>('PATCH', `/cancellations/${draft.locator}/issue`)
    expect(price.totalChange).toBe(-637.35)
    expect(drafted).toEqual(price)
    expect(done.price).toEqual(price)
    expect(invoices.map(one => one.totalDue)).toEqual([-637.35])
  })

  it('of an endorsement equals what is issued', async () => {
    const policy = await issued()
    const endorsement = {
      endorsementName: 'always',
      startTimestamp: day('2026-03-20'),
      updateExposures: [{ exposureLocator: policy.exposures[0]!.locator, fieldValues: { yearly: '2000' } }],
    }
    const foreseen = await asked.ok<PolicyPreviewResponse>('POST', `/policies/${policy.locator}/preview`, {
      endorsement,
    })
    await asked.ok('POST', `/policies/${policy.locator}/endorsements`, { ...endorsement, state: 'issued' })
    const now = await read(policy)
    expect(comparable(foreseen.policyWhenIssued.exposures)).toEqual(comparable(now.exposures))
    expect(now.modifications.at(-1)!.premiumChange).toBe(foreseen.price.grossPremiumChange)
  })

  it('of a legacy cancellation equals what it gives back: 708.16', async () => {
    const policy = await issued()
    const value = await asked.ok<CancellationValueResponse>(
      'GET',
      `/policy/${policy.locator}/cancellationValue?coverageEndTimestamp=${day('2026-05-20')}`,
    )
    // 583.33 + 110.83 + 14, nothing held back.
    expect(value).toMatchObject({ newGrossPremium: 416.67, value: 708.16, holdbacks: [] })
    await asked.ok('POST', `/policy/${policy.locator}/cancel`, { coverageEndTimestamp: day('2026-05-20') })
    expect(totals(await read(policy))).toEqual([1214, -708.16])
    const [first] = await calls(policy)
    expect(first!.operation).toBe('cancellation')
    expect(first!.cancellationType).toBeUndefined()
  })
})

describe('an answer of the plugin', () => {
  it('is read to 7 places and rounded half up: 333.00499999999994 is 333.01', async () => {
    const policy = await issued('noise', [thing('3996')])
    await asked
      .ok('POST', `/policy/${policy.locator}/cancel`, { coverageEndTimestamp: day('2026-05-20') })
      .then(
        () => expect.unreachable('the fee of 24 is less than that'),
        () => {},
      )
    const { locator } = policy
    const fees = (await priceOf(policy)).fees.map(one => one.locator)
    await asked.ok('PATCH', `/policy/${locator}/fees`, { newFees: [], reverseFees: fees })
    const endorsed = await endorse(policy, '2026-05-20')
    expect(endorsed).toBeDefined()
    expect(premiums(await read(policy))).toEqual([333.01, 3662.99])
  })

  const wrong: [what: string, mode: string, message: RegExp][] = [
    [
      'throws',
      'throws',
      /^Plugin getProrationResult failed: main\/prorater\.js:\d+: Error: no proration today$/,
    ],
    ['answers nothing', 'nothing', /\(main\/prorater\.js\) returned an invalid answer: 'items'/],
    [
      'leaves an item out',
      'leavesOut',
      /\(main\/prorater\.js\) returned an invalid answer: item '4' \(fee of 'service', 24\.00\): is not answered\.$/,
    ],
    ['answers one that it was not asked of', 'stranger', /there is no item 'nobody'\.$/],
    ['answers twice', 'twice', /item '0' is answered twice\.$/],
    [
      'takes more than there is',
      'beyond',
      /item '0' \(premium of 'cover', 1000\.00\): proratedAmount 1000\.01 must be between 0 and the item's amount; item '1'/,
    ],
    [
      'takes less than nothing',
      'negative',
      /item '2' \(tax vat of 'cover', 190\.00\): proratedAmount -0\.01 must be between 0 and the item's amount/,
    ],
    ['answers NaN', 'notANumber', /'items\.0\.proratedAmount' must be an amount/],
    [
      'holds back more than is given back',
      'keepsAll',
      /item '0' \(premium of 'cover', 1000\.00\): holdbackAmount 1000\.01 must be at most the refunded amount, 1000/,
    ],
    [
      'holds back of a technical premium',
      'keepsTechnical',
      /item '1' \(technicalPremium of 'cover', 800\.00\): holdbackAmount must be 0: a technical premium is never refunded/,
    ],
  ]
  it.each(wrong)('that %s is rejected with 422, and nothing is written', async (_what, mode, message) => {
    const policy = await issued(mode)
    const refused = await asked.call<{ message: string }>(
      'POST',
      `/policies/${policy.locator}/cancellations`,
      cancelling('2026-05-20'),
    )
    expect(refused.status).toBe(422)
    expect(refused.body.message).toMatch(message)
    expect((await read(policy)).cancellation).toBeUndefined()
    expect(await priceOf(policy)).toMatchObject({ total: 1214 })
  })

  it('may hold back only in a cancellation with a name, not in a legacy one or an endorsement', async () => {
    const policy = await issued('keepsOne')
    const message = /holdbackAmount must be 0: only named cancellations can hold back an amount/
    const legacy = await asked.call<{ message: string }>('POST', `/policy/${policy.locator}/cancel`, {
      coverageEndTimestamp: day('2026-05-20'),
    })
    const endorsed = await asked.call<{ message: string }>(
      'POST',
      `/policies/${policy.locator}/endorsements`,
      {
        endorsementName: 'never',
        startTimestamp: day('2026-05-20'),
        state: 'quoted',
      },
    )
    expect([legacy.status, endorsed.status]).toEqual([422, 422])
    expect(legacy.body.message).toMatch(message)
    expect(endorsed.body.message).toMatch(message)
    expect((await cancel(policy, '2026-05-20')).price).toMatchObject({ newGrossPremium: 0, newTotal: 1 })
  })

  it('holds nothing back in cancellationValue, which has no type: 1,000 + 190 + 24 is given back', async () => {
    const policy = await issued('keepsOne')
    const value = await asked.ok<CancellationValueResponse>(
      'GET',
      `/policy/${policy.locator}/cancellationValue?coverageEndTimestamp=${day('2026-05-20')}`,
    )
    expect(value).toMatchObject({ newTotal: 0, value: 1214, holdbacks: [] })
  })

  it('is not requested if the transaction is rejected anyway', async () => {
    const policy = await issued('throws')
    const refused = await asked.call<{ message: string }>(
      'POST',
      `/policies/${policy.locator}/cancellations`,
      cancelling('2028-05-20'),
    )
    expect(refused.status).toBe(400)
    expect(await calls(policy)).toEqual([])
  })
})

describe('a large policy', () => {
  it('calls the plugin once for all of it, although an endorsement names one of its exposures', async () => {
    const things = Array.from({ length: 210 }, () => thing('1000'))
    const policy = await issued('', things)
    const [changed] = policy.exposures
    const { locator } = await asked.ok<{ locator: string }>(
      'POST',
      `/policies/${policy.locator}/endorsements`,
      {
        endorsementName: 'always',
        startTimestamp: day('2026-03-20'),
        updateExposures: [{ exposureLocator: changed!.locator, fieldValues: { yearly: '2000' } }],
      },
    )
    for (const action of ['quote', 'accept', 'issue'])
      await asked.ok('PATCH', `/endorsements/${locator}`, { action })
    expect(await calls(policy)).toEqual([4 * things.length])
    const now = await read(policy)
    expect(premiums(now).slice(0, 210)).toEqual(things.map(() => 250))
    expect(premiums(now).slice(210).sort()).toEqual([1564.52, ...things.slice(1).map(() => 750)])
    const { price } = await cancel(policy, '2026-07-05', 'fifty_kept')
    // 250 each, and of the rest four of the nine months.
    expect(price!.newGrossPremium).toBe(210 * 250 + 209 * 333.33 + 695.34)
  })
})

describe('a product whose plugin is disabled', () => {
  it('splits in proportion to time, and an enabled plugin adds only the round trips of its own reads and log', async () => {
    const trips = async (tenant: Plain) => {
      const policy = await tenant.issue(YEAR, '1000')
      // Reads the tenant, which is due every five seconds, so that the call itself does not.
      await tenant.ok('GET', `/policy/${policy.locator}`)
      const cancelled = await tenant.call<CancellationResponse>(
        'POST',
        `/policies/${policy.locator}/cancellations`,
        cancelling('2026-05-20'),
      )
      expect(cancelled.status).toBe(200)
      return { trips: roundTrips(cancelled), premium: cancelled.body.price!.newGrossPremium }
    }
    // 4 + 19/31 months of 1,000 a year.
    const off = await trips(plain)
    expect(off.premium).toBe(384.41)
    const on = await trips(asked)
    expect(on.premium).toBe(416.67)
    // Two more: for the auxiliary data that this plugin reads, and for its log.
    expect(off.trips).toEqual({ d1: 1, object: 1, r2: 0, queue: 0 })
    expect(on.trips).toEqual({ ...off.trips, d1: 3 })
  })
})
