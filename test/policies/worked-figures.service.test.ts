// The worked amounts of the brief, through HTTP (brief 1.6, 2.2, 3.1, 3.2).
import { beforeAll, describe, expect, it } from 'vitest'
import { dayStart, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type {
  CancellationValueResponse,
  PolicyPriceChangeResponse,
} from '../../src/rating/contract-change.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import type { ReinstatementResponse } from '../../src/transactions/reinstatements/contract.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Plain, plainTenant, thing } from '../support/plain-product.ts'

const BERLIN = 'Europe/Berlin' as TimeZone
const UTC = 'UTC' as TimeZone

let berlin: Plain
/** A tenant whose legacy cancellations prorate by milliseconds, in a zone without clock changes. */
let utc: Plain
/** The same in a zone that loses an hour in March. */
let linear: Plain

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  berlin = await plainTenant('worked', { timezone: BERLIN })
  utc = await plainTenant('workedutc', { timezone: UTC, proration: 'actualMilliseconds' })
  linear = await plainTenant('workedms', { timezone: BERLIN, proration: 'actualMilliseconds' })
})

const day = (text: string, zone: TimeZone = BERLIN): number => dayStart(text, zone)!
const span = (from: string, to: string, zone: TimeZone = BERLIN) => ({
  start: day(from, zone),
  end: day(to, zone),
})

/** The premium of the peril in each of its segments in force, in order of time. */
function premiums({ exposures }: PolicyResponse): (number | undefined)[] {
  return exposures
    .flatMap(one => one.perils.flatMap(peril => peril.characteristics))
    .filter(one => one.issuedTimestamp && !one.replacedTimestamp)
    .sort((a, b) => Number(a.coverageStartTimestamp) - Number(b.coverageStartTimestamp))
    .map(one => one.premium)
}

const read = (tenant: Plain, { locator }: PolicyResponse): Promise<PolicyResponse> =>
  tenant.ok('GET', `/policy/${locator}`)

const cancel = (tenant: Plain, { locator }: PolicyResponse, effectiveTimestamp: number, name = 'wish') =>
  tenant.ok<CancellationResponse>('POST', `/policies/${locator}/cancellations`, {
    name,
    effectiveTimestamp,
    issue: true,
  })

const endorse = (
  tenant: Plain,
  { locator }: PolicyResponse,
  endorsementName: string,
  at: number,
  more = {},
) =>
  tenant.ok('POST', `/policies/${locator}/endorsements`, {
    endorsementName,
    startTimestamp: at,
    state: 'issued',
    ...more,
  })

describe('Months counted from the start of the segment (brief 3.1)', () => {
  const year = span('2025-05-15', '2026-05-15')

  it('for 11.655 a month an endorsement on Sep 3 leaves 42.11 for May 15 to Sep 3, and 97.75 after', async () => {
    const policy = await berlin.issue(year, '139.86')
    expect(premiums(policy)).toEqual([139.86])
    await endorse(berlin, policy, 'never', day('2025-09-03'))
    expect(premiums(await read(berlin, policy))).toEqual([42.11, 97.75])
  })

  it('for 11.655 a month a cancellation on Sep 3 keeps 42.11 and gives back 97.75', async () => {
    const policy = await berlin.issue(year, '139.86')
    const { price } = await cancel(berlin, policy, day('2025-09-03'))
    expect(price).toMatchObject({ newGrossPremium: 42.11, grossPremiumChange: -97.75, totalChange: -97.75 })
    const { invoices } = await read(berlin, policy)
    expect(invoices.map(one => one.totalDue)).toEqual([139.86, -97.75])
  })

  it('for 11.655 a month Sep 16 to May 15 is 7 + 29/30 months, 92.85', async () => {
    const policy = await berlin.issue(span('2025-09-16', '2026-05-15'), '139.86')
    expect(premiums(policy)).toEqual([92.85])
    const endorsed = await berlin.issue(year, '139.86')
    await endorse(berlin, endorsed, 'all', day('2025-09-16'))
    expect(premiums(await read(berlin, endorsed))).toEqual([47.01, 92.85])
  })

  it('for 1,200 a year from June 13 a cancellation on Sep 19 keeps 3.2 months, 320', async () => {
    const policy = await berlin.issue(span('2025-06-13', '2026-06-13'), '1200')
    const { price } = await cancel(berlin, policy, day('2025-09-19'))
    expect(price).toMatchObject({ newGrossPremium: 320, grossPremiumChange: -880 })
    expect(premiums(await read(berlin, policy))).toEqual([320])
  })
})

describe('1,000 from Jan 1 to Jan 1, split on July 1 (brief 3.2)', () => {
  const legacy = async (tenant: Plain, zone: TimeZone): Promise<number | undefined> => {
    const policy = await tenant.issue(span('2026-01-01', '2027-01-01', zone), '1000')
    const at = day('2026-07-01', zone)
    const path = `/policy/${policy.locator}`
    const value = await tenant.ok<CancellationValueResponse>(
      'GET',
      `${path}/cancellationValue?coverageEndTimestamp=${at}`,
    )
    await tenant.ok('POST', `${path}/cancel`, { coverageEndTimestamp: at })
    const [left] = premiums(await read(tenant, policy))
    expect(value.newGrossPremium).toBe(left)
    return left
  }

  it('is 500.00 by months, for an endorsement and both kinds of cancellation', async () => {
    const endorsed = await berlin.issue(span('2026-01-01', '2027-01-01'), '1000')
    await endorse(berlin, endorsed, 'never', day('2026-07-01'))
    expect(premiums(await read(berlin, endorsed))).toEqual([500, 500])
    expect(await legacy(berlin, BERLIN)).toBe(500)
  })

  it('is 495.78 by milliseconds in a zone that loses an hour in March', async () => {
    expect(await legacy(linear, BERLIN)).toBe(495.78)
  })

  it('is 495.89 by milliseconds in a zone without clock changes: 181 of 365 days', async () => {
    expect(await legacy(utc, UTC)).toBe(495.89)
  })
})

describe('1,200 from May 15 to May 15, cancelled on Aug 30 (brief 1.6),', () => {
  const cancelled = async () => {
    const policy = await berlin.issue(span('2025-05-15', '2026-05-15'), '1200')
    const cancellation = await cancel(berlin, policy, day('2025-08-30'))
    expect(cancellation.price).toMatchObject({ newGrossPremium: 348.39, grossPremiumChange: -851.61 })
    return { policy, cancellation }
  }

  it('gives back 851.61, and reinstating at that time bills 851.61', async () => {
    const { policy, cancellation } = await cancelled()
    const reinstatement = await berlin.ok<ReinstatementResponse>(
      'PATCH',
      `/cancellations/${cancellation.locator}/reinstate`,
      { issue: true },
    )
    expect(reinstatement).toMatchObject({ state: 'issued', reinstatementPaymentAmount: 851.61 })
    const now = await read(berlin, policy)
    expect(premiums(now)).toEqual([348.39, 851.61])
    expect(now.invoices.map(one => one.totalDue)).toEqual([1200, -851.61, 851.61])
  })

  it('reinstated from Nov 15 gets back 6 of the 8.5 months of 851.61: 601.14', async () => {
    const { policy, cancellation } = await cancelled()
    await berlin.ok('PATCH', `/cancellations/${cancellation.locator}/reinstate`, {
      effectiveTimestamp: day('2025-11-15'),
      issue: true,
    })
    const [, back] = premiums(await read(berlin, policy))
    expect(back).toBe(601.14)
  })
})

/**
 * 100 a month for Jan 10 2022 to Feb 2 2023 is 12 + 23/31 months, 1,274.19. Jan 10 to Mar 6 is 1 + 24/28 of these months. Then
 * 200 a month applies to Mar 6 to Feb 2 (10 + 27/31 months) and to the renewal's 12 months.
 */
const BEFORE = [185.71, 2174.19, 2400]
/** Jan 10 to Jan 15 keeps its share, 5/31 of a month of what was left. Jan 15 to Mar 6 is rated at 100 a month. */
const AFTER = [16.13, 167.86, 2174.19, 2400]

describe('An out-of-sequence endorsement across a renewal (brief 2.2)', () => {
  it('effective Jan 15, before one of Mar 6 and a renewal to Feb 2 2024, creates four new segments', async () => {
    const policy = await berlin.issue(span('2022-01-10', '2023-02-02'), '1200')
    await endorse(berlin, policy, 'always', day('2022-03-06'), {
      updateExposures: [{ exposureLocator: policy.exposures[0]!.locator, fieldValues: { yearly: '2400' } }],
    })
    await berlin.ok('POST', `/policies/${policy.locator}/renewals`, {
      renewalEndTimestamp: day('2024-02-02'),
      state: 'issued',
    })
    const before = await read(berlin, policy)
    const preview = {
      endorsementName: 'all',
      startTimestamp: day('2022-01-15'),
      fieldValues: { note: 'late' },
    }
    const { locator } = await berlin.ok<{ locator: string }>(
      'POST',
      `/policies/${policy.locator}/endorsements`,
      preview,
    )
    const price = await berlin.ok<PolicyPriceChangeResponse>('GET', `/endorsements/${locator}/price`)
    await berlin.ok('PATCH', `/endorsements/${locator}`, { action: 'quote' })
    await berlin.ok('PATCH', `/endorsements/${locator}`, { action: 'issue' })
    const now = await read(berlin, policy)

    const last = now.modifications.at(-1)!
    expect(last).toMatchObject({ number: 3, name: 'all', effectiveTimestamp: String(day('2022-01-15')) })
    expect(last.newPolicyCharacteristicsLocators).toHaveLength(4)
    const made = now.characteristics.filter(one =>
      last.newPolicyCharacteristicsLocators.includes(one.locator),
    )
    const bounds = ['2022-01-10', '2022-01-15', '2022-03-06', '2023-02-02', '2024-02-02'].map(text =>
      String(day(text)),
    )
    expect(made.map(one => [one.startTimestamp, one.endTimestamp])).toEqual(
      bounds.slice(1).map((end, at) => [bounds[at], end]),
    )
    expect(made.map(one => one.fieldValues.note ?? [])).toEqual([[], ['late'], ['late'], ['late']])
    const current = now.characteristics.filter(one => one.issuedTimestamp && !one.replacedTimestamp)
    expect(current.map(one => one.locator)).toEqual(made.map(one => one.locator))

    expect(premiums(before)).toEqual(BEFORE)
    expect(premiums(now)).toEqual(AFTER)
    const total = (list: (number | undefined)[]): number =>
      list.reduce<number>((sum, one) => sum + one! * 100, 0) / 100
    expect(last.premiumChange).toBeCloseTo(total(AFTER) - total(BEFORE), 6)
    expect(price.grossPremiumChange).toBe(last.premiumChange)
    expect(price.newGrossPremium).toBe(total(AFTER))
  })
})

describe('A holdback of a cancellation (brief 1.6, 3.2)', () => {
  const year = span('2026-01-01', '2027-01-01')
  const half = day('2026-07-01')
  const held = { type: 'premium', amountCurrency: 'EUR', perilName: 'cover' }
  const totals = ({ invoices }: PolicyResponse): number[] => invoices.map(one => one.totalDue)

  it('of 50 leaves a refund of 450 of 1,000 cancelled half-way, and reinstating charges 450', async () => {
    const policy = await berlin.issue(year, '1000')
    const { locator, price } = await cancel(berlin, policy, half, 'fifty_kept')
    expect(price).toMatchObject({
      newGrossPremium: 500,
      grossPremiumChange: -500,
      holdbacks: [{ ...held, amount: 50 }],
      newTotal: 550,
      totalChange: -450,
    })
    expect(await berlin.ok('POST', `/policy/${policy.locator}/price`)).toMatchObject({
      grossPremium: 500,
      holdbacks: [{ ...held, amount: 50 }],
      total: 550,
    })
    const refund = (await read(berlin, policy)).invoices.at(-1)!
    const { financialTransactions } = await berlin.ok<{
      financialTransactions: { type: string; amount: number; perilName: string }[]
    }>('GET', `/invoice/${refund.locator}/financialTransactions`)
    expect(financialTransactions.map(one => [one.type, one.amount, one.perilName])).toEqual([
      ['premium', -500, 'cover'],
      ['holdback', 50, 'cover'],
    ])
    const back = await berlin.ok<ReinstatementResponse>('PATCH', `/cancellations/${locator}/reinstate`, {
      issue: true,
    })
    expect(back.reinstatementPaymentAmount).toBe(450)
    expect(back.price).toMatchObject({
      grossPremiumChange: 500,
      totalChange: 450,
      newTotal: 1000,
      holdbacks: [],
    })
    expect(totals(await read(berlin, policy))).toEqual([1000, -450, 450])
  })

  it('of a tenth applies to every peril, and an amount is at most what the cancellation gives back', async () => {
    const policy = await berlin.issue(year, '', [thing('1000'), thing('200')])
    const { price } = await cancel(berlin, policy, half, 'tenth_kept')
    expect(price).toMatchObject({
      holdbacks: [
        { ...held, amount: 50 },
        { ...held, amount: 10 },
      ],
      totalChange: -540,
    })
    const small = await berlin.issue(year, '60')
    const all = await cancel(berlin, small, half, 'fifty_kept')
    expect(all.price).toMatchObject({ holdbacks: [{ ...held, amount: 30 }], totalChange: 0, newTotal: 60 })
  })

  it('remains with an earlier cancellation, and ends when the policy is withdrawn', async () => {
    const policy = await berlin.issue(year, '1000')
    await cancel(berlin, policy, half, 'fifty_kept')
    await cancel(berlin, policy, day('2026-04-01'))
    expect(totals(await read(berlin, policy))).toEqual([1000, -450, -250])
    await berlin.ok('POST', `/policy/${policy.locator}/withdraw`)
    expect(totals(await read(berlin, policy))).toEqual([1000, -450, -250, -300])
    expect(await berlin.ok('POST', `/policy/${policy.locator}/price`)).toMatchObject({
      total: 0,
      holdbacks: [],
    })
  })

  it('does not apply to a legacy cancellation, which has no type', async () => {
    const policy = await berlin.issue(year, '1000')
    await berlin.ok('POST', `/policy/${policy.locator}/cancel`, { coverageEndTimestamp: half })
    expect(totals(await read(berlin, policy))).toEqual([1000, -500])
  })
})
