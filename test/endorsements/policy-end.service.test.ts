// Endorsements that move the policy's end, through HTTP (brief 1.4, 2.5, 3.2, 3.3, 10.10). A year costs 1200 with 19% tax, 600
// technical premium, 120 commission, a prorated fee of 12 and a flat one of 12.50. Rates from 2036 on are a tenth higher, and a
// vehicle worth more than 40,000 costs twice as much.

import { beforeAll, describe, expect, it } from 'vitest'
import { add, dayStart, type Instant, startOfDay, type TimeZone } from '../../src/kernel/time.ts'
import type { CheckInvoicesResponse, PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyPriceChangeResponse } from '../../src/rating/contract-change.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutLapses } from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

const BERLIN = 'Europe/Berlin' as TimeZone
const day = (text: string): Instant => dayStart(text, BERLIN)!

const PERILS = 'products/private_motor/policy/exposures/vehicle/perils'
const FILES = {
  ...motorWithoutLapses(),
  'config.json': JSON.stringify({
    timezone: BERLIN,
    currency: 'EUR',
    features: { 'property.endorsement.policy.end.enabled': true },
  }),
  'products/private_motor/policy/endorsements.json': JSON.stringify({
    endorsements: ['never', 'always', 'all'].map(reprice => ({
      name: reprice,
      displayName: reprice,
      reprice,
      documents: [],
    })),
  }),
  'products/private_motor/policy/policy.calculations.liquid':
    '{{ 12.50 | add_fee: "policy_fee" }}{{ 12 | add_fee: "postal_delivery_fee" }}',
  [`${PERILS}/own_damage.premium.liquid`]: `
    {% assign value = data.exposure_characteristics.field_values.vehicle_value %}
    {% if value > 40000 %}{% assign year = 2400 %}{% else %}{% assign year = 1200 %}{% endif %}
    {% if data.peril_characteristics.coverage_start_timestamp >= ${day('2036-01-01')} %}
      {% assign year = year | times: 1.1 %}
    {% endif %}
    {{ year | set_year_premium }}{{ year | times: 0.5 | set_year_technical_premium }}
    {{ year | times: 0.1 | add_year_commission: "broker" }}`,
  ...Object.fromEntries(
    ['liability', 'theft', 'glass'].map(name => [
      `${PERILS}/${name}.premium.liquid`,
      '{{ 0 | set_year_premium }}{{ 0 | set_year_technical_premium }}',
    ]),
  ),
}

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 4 })
  motor = await motorTenant('policyend', FILES)
})

const patch = <Body = EndorsementResponse>(path: string, body?: unknown) =>
  callApi<Body>('PATCH', path, { token: motor.token, body })

const cents = (amount: number): number => Math.round(amount * 100)

const YEAR = { policyStartTimestamp: day('2035-01-01'), policyEndTimestamp: day('2036-01-01') }

async function issued(changes: object = {}): Promise<PolicyResponse> {
  const { body } = await motor.createPolicy({ ...YEAR, ...changes })
  const answer = await motor.post(`/policy/${body.locator}/issue`)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

const read = async ({ locator }: { locator: string }): Promise<PolicyResponse> =>
  (await motor.get(`/policy/${locator}`)).body

const priceOf = async ({ locator }: { locator: string }): Promise<PolicyPriceResponse> =>
  (await motor.post<PolicyPriceResponse>(`/policy/${locator}/price`)).body

const apply = <Body = EndorsementResponse>(policy: PolicyResponse, endorsementName: string, body: object) =>
  motor.post<Body>(`/policies/${policy.locator}/endorsements`, { endorsementName, ...body })

async function endAt(policy: PolicyResponse, from: string, to: string, name = 'never', more: object = {}) {
  const answer = await apply(policy, name, {
    startTimestamp: day(from),
    newPolicyEndTimestamp: day(to),
    state: 'issued',
    ...more,
  })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

const dearer = (policy: PolicyResponse) => ({
  updateExposures: [
    { exposureLocator: policy.exposures[0]!.locator, fieldValues: { vehicle_value: '49000' } },
  ],
})

type Segment = PolicyResponse['exposures'][0]['perils'][0]['characteristics'][0]

const ownDamage = (policy: PolicyResponse): Segment[] =>
  policy.exposures[0]!.perils.filter(one => one.name === 'own_damage')
    .flatMap(one => one.characteristics)
    .filter(one => one.issuedTimestamp && !one.replacedTimestamp)
    .sort((a, b) => Number(a.coverageStartTimestamp) - Number(b.coverageStartTimestamp))

/** The start, end, premium and technical premium of each segment of own damage in force. */
const pieces = (policy: PolicyResponse) =>
  ownDamage(policy).map(one => [
    Number(one.coverageStartTimestamp),
    Number(one.coverageEndTimestamp),
    one.premium,
    one.technicalPremium,
  ])

const segmentsInForce = (policy: PolicyResponse) =>
  policy.characteristics
    .filter(one => one.issuedTimestamp && !one.replacedTimestamp)
    .map(one => [Number(one.startTimestamp), Number(one.endTimestamp)])
    .sort((a, b) => a[0]! - b[0]!)

/** Checks that changes add up to what is in force, and invoices and planned bills to the price. */
async function addsUp(policy: PolicyResponse): Promise<void> {
  const now = await read(policy)
  const price = await priceOf(policy)
  for (const modification of now.modifications) {
    const changes = modification.exposureModifications.flatMap(one => one.perilModifications)
    expect(changes.reduce((sum, one) => sum + cents(one.premiumChange ?? 0), 0)).toBe(
      cents(modification.premiumChange ?? 0),
    )
  }
  const changes = now.modifications.filter(one => one.issuedTimestamp)
  expect(changes.reduce((sum, one) => sum + cents(one.premiumChange ?? 0), 0)).toBe(cents(price.grossPremium))
  const standing = now.invoices.filter(one => one.settlementType !== 'invalidated')
  const due = [...standing.map(one => one.totalDue), ...(await planned(policy)).map(([, amount]) => amount)]
  expect(due.reduce((sum, amount) => sum + cents(amount), 0)).toBe(cents(price.total))
}

/** The start and total of each planned bill. */
async function planned({ locator }: PolicyResponse): Promise<[start: number, amount: number][]> {
  const { body } = await motor.get<CheckInvoicesResponse>(`/policy/${locator}/checkInvoices`)
  return body.futureInvoices.map(one => {
    const items = one.financialTransactions.filter(({ type }) => type !== 'commission')
    return [Number(one.startTimestamp), items.reduce((sum, { amount }) => sum + cents(amount), 0) / 100]
  })
}

describe('An earlier end', () => {
  it('after nine of twelve months leaves 900 of 1200, and taxes, commission and prorated fee alike', async () => {
    const policy = await issued()
    expect(await priceOf(policy)).toMatchObject({
      grossPremium: 1200,
      grossTaxes: 228,
      grossCommissions: 120,
      grossFees: 24.5,
      total: 1452.5,
    })
    const endorsement = await endAt(policy, '2035-04-01', '2035-10-01')
    expect(endorsement.newPolicyEndTimestamp).toBe(String(day('2035-10-01')))
    const now = await read(policy)
    expect(now).toMatchObject({
      originalContractEndTimestamp: String(day('2036-01-01')),
      effectiveContractEndTimestamp: String(day('2035-10-01')),
    })
    expect(now.cancellation).toBeUndefined()
    expect(pieces(now)).toEqual([
      [day('2035-01-01'), day('2035-04-01'), 300, 150],
      [day('2035-04-01'), day('2035-10-01'), 600, 300],
    ])
    expect(segmentsInForce(now)).toEqual([
      [day('2035-01-01'), day('2035-04-01')],
      [day('2035-04-01'), day('2035-10-01')],
    ])
    expect(await priceOf(policy)).toMatchObject({
      grossPremium: 900,
      grossTaxes: 171,
      grossCommissions: 90,
      grossFees: 21.5,
      total: 1092.5,
    })
    expect(now.modifications.at(-1)).toMatchObject({
      premiumChange: -300,
      policyEndTimestamp: String(day('2035-10-01')),
    })
    expect(endorsement.invoice).toMatchObject({ totalDue: -360, invoiceType: 'endorsement' })
    await addsUp(policy)
  })

  it('costs as much as a policy issued with that end', async () => {
    const policy = await issued()
    await endAt(policy, '2035-04-01', '2035-10-01')
    const written = await issued({ policyEndTimestamp: day('2035-10-01') })
    const [shortened, short] = [await priceOf(policy), await priceOf(written)]
    expect([shortened.grossPremium, shortened.grossTaxes]).toEqual([short.grossPremium, short.grossTaxes])
  })

  it('moves what remains in force of later planned bills to the last remaining bill', async () => {
    const policy = await issued({ paymentScheduleName: 'monthly' })
    const { body: quoted } = await apply(policy, 'never', {
      startTimestamp: day('2035-04-01'),
      newPolicyEndTimestamp: day('2035-10-01'),
      state: 'quoted',
    })
    const { body: endorsement } = await patch(`/endorsements/${quoted.locator}`, { action: 'issue' })
    const planned = quoted.plannedInvoices!.flatMap(one => one.financialTransactions)
    const payable = planned.filter(one => one.type !== 'commission')
    // Planned from October on: three months of 100 with tax, 1 a month of one fee, and 1.04, 1.04 and the rounded rest of the
    // other. Less the price of the three months, 3.14 remains and is added to September.
    expect(3 * 119 + 3 * 1 + 1.04 + 1.04 + 1.06 - 360).toBeCloseTo(3.14, 9)
    expect(payable.reduce((sum, one) => sum + cents(one.amount), 0)).toBe(6 * 12104 + 314)
    expect(quoted.plannedInvoices).toHaveLength(6)
    const last = quoted
      .plannedInvoices!.at(-1)!
      .financialTransactions.filter(one => one.type !== 'commission')
    expect(last.reduce((sum, one) => sum + cents(one.amount), 0)).toBe(12104 + 314)
    expect(endorsement.invoice).toBeUndefined()
  })

  it('ends the last bill at the new end, and a later end adds bills from there on', async () => {
    const policy = await issued({ paymentScheduleName: 'monthly' })
    const spans = async (): Promise<[start: number, end: number][]> => {
      const { body } = await motor.get<CheckInvoicesResponse>(`/policy/${policy.locator}/checkInvoices`)
      return body.futureInvoices.map(one => [Number(one.startTimestamp), Number(one.endTimestamp)])
    }
    await endAt(policy, '2035-04-01', '2035-10-16')
    expect((await spans()).at(-1)).toEqual([day('2035-10-01'), day('2035-10-16')])
    await endAt(policy, '2035-05-01', '2035-12-01')
    expect((await spans()).slice(-3)).toEqual([
      [day('2035-10-01'), day('2035-10-16')],
      [day('2035-10-16'), day('2035-11-01')],
      [day('2035-11-01'), day('2035-12-01')],
    ])
  })

  it('ends renewed terms beyond it, and the next renewal starts there with every peril', async () => {
    const policy = await issued()
    await motor.post(`/policy/${policy.locator}/issueRenewal`, { renewalEndTimestamp: day('2037-01-01') })
    expect((await priceOf(policy)).total).toBe(3047.8)
    await endAt(policy, '2035-04-01', '2035-10-01')
    const now = await read(policy)
    expect(now.effectiveContractEndTimestamp).toBe(String(day('2035-10-01')))
    expect(await priceOf(policy)).toMatchObject({ grossPremium: 900, grossTaxes: 171, grossFees: 21.5 })
    await addsUp(policy)
    const renewed = await motor.post(`/policy/${policy.locator}/issueRenewal`, {
      renewalEndTimestamp: day('2036-10-01'),
    })
    expect(renewed.status, JSON.stringify(renewed.body)).toBe(200)
    expect(pieces(renewed.body).at(-1)).toEqual([day('2035-10-01'), day('2036-10-01'), 1200, 600])
    expect(await priceOf(policy)).toMatchObject({ grossPremium: 2100, grossTaxes: 399, grossFees: 46 })
    const first = policy.exposures[0]!.perils.length
    const covered = renewed.body.exposures[0]!.perils.filter(peril =>
      peril.characteristics.some(
        one => !one.replacedTimestamp && one.coverageEndTimestamp === String(day('2036-10-01')),
      ),
    )
    expect(covered).toHaveLength(first)
    await addsUp(policy)
  })

  it('drops a vehicle that was added after it', async () => {
    const policy = await issued()
    const copy = policy.exposures[0]!.characteristics[0]!.fieldValues
    await apply(policy, 'never', {
      startTimestamp: day('2035-11-01'),
      state: 'issued',
      addExposures: [
        {
          exposureName: 'vehicle',
          fieldValues: { ...copy, registration_plate: 'B-GL 1986' },
          perils: [{ name: 'own_damage' }],
        },
      ],
    })
    expect((await priceOf(policy)).grossPremium).toBe(1400)
    await endAt(policy, '2035-04-01', '2035-10-01')
    const now = await read(policy)
    expect((await priceOf(policy)).grossPremium).toBe(900)
    const { status } = await apply(policy, 'never', {
      startTimestamp: day('2035-05-01'),
      endExposures: [now.exposures[1]!.locator],
    })
    expect(status).toBe(400)
    await addsUp(policy)
  })

  it('is priced again with the new data where the endorsement type reprices', async () => {
    const policy = await issued()
    await endAt(policy, '2035-04-01', '2035-10-01', 'always', dearer(policy))
    expect(pieces(await read(policy))).toEqual([
      [day('2035-01-01'), day('2035-04-01'), 300, 150],
      [day('2035-04-01'), day('2035-10-01'), 1200, 600],
    ])
    await addsUp(policy)
    const other = await issued()
    await endAt(other, '2035-04-01', '2035-10-01', 'never', dearer(other))
    expect((await priceOf(other)).grossPremium).toBe(900)
    expect((await read(other)).exposures[0]!.characteristics.at(-1)).toMatchObject({
      startTimestamp: String(day('2035-04-01')),
      endTimestamp: String(day('2035-10-01')),
    })
    await addsUp(other)
  })
})

describe('A later end', () => {
  it('charges the monthly rate for the added months: 1500 for fifteen months, and no more fees', async () => {
    const policy = await issued()
    const endorsement = await endAt(policy, '2035-07-01', '2036-04-01')
    const now = await read(policy)
    expect(now).toMatchObject({
      originalContractEndTimestamp: String(day('2036-01-01')),
      effectiveContractEndTimestamp: String(day('2036-04-01')),
    })
    expect(segmentsInForce(now)).toEqual([
      [day('2035-01-01'), day('2035-07-01')],
      [day('2035-07-01'), day('2036-04-01')],
    ])
    expect(pieces(now)).toEqual([
      [day('2035-01-01'), day('2035-07-01'), 600, 300],
      [day('2035-07-01'), day('2036-01-01'), 600, 300],
      [day('2036-01-01'), day('2036-04-01'), 300, 150],
    ])
    expect(now.exposures[0]!.characteristics.filter(one => !one.replacedTimestamp).at(-1)).toMatchObject({
      startTimestamp: String(day('2035-07-01')),
      endTimestamp: String(day('2036-04-01')),
    })
    expect(await priceOf(policy)).toMatchObject({
      grossPremium: 1500,
      grossTaxes: 285,
      grossCommissions: 150,
      grossFees: 24.5,
    })
    expect(now.modifications.at(-1)).toMatchObject({
      premiumChange: 300,
      policyEndTimestamp: String(day('2036-04-01')),
    })
    // The second year by the schedule begins on that day and is billed then: 300 and 19% tax.
    expect(endorsement.invoice).toBeUndefined()
    expect(await planned(policy)).toEqual([[day('2036-01-01'), 357]])
    await addsUp(policy)
  })

  it('prices only the added time when its type reprices changes, and everything from it on when all', async () => {
    const policy = await issued()
    await endAt(policy, '2035-07-01', '2036-04-01', 'always')
    expect(pieces(await read(policy)).slice(1)).toEqual([
      [day('2035-07-01'), day('2036-01-01'), 600, 300],
      [day('2036-01-01'), day('2036-04-01'), 330, 165],
    ])
    await addsUp(policy)
    const other = await issued()
    await endAt(other, '2035-07-01', '2036-04-01', 'all')
    expect(pieces(await read(other)).slice(1)).toEqual([[day('2035-07-01'), day('2036-04-01'), 900, 450]])
    await addsUp(other)
  })

  it('with new data that are repriced is priced by them from the endorsement on', async () => {
    const policy = await issued()
    await endAt(policy, '2035-07-01', '2036-04-01', 'always', dearer(policy))
    const now = await read(policy)
    expect(pieces(now)).toEqual([
      [day('2035-01-01'), day('2035-07-01'), 600, 300],
      [day('2035-07-01'), day('2036-04-01'), 1800, 900],
    ])
    expect((await priceOf(policy)).grossTaxes).toBe(456)
    await addsUp(policy)
    const last = now.modifications.at(-1)!.exposureModifications.flatMap(one => one.perilModifications)
    const rated = last.find(one => one.newPerilCharacteristicsLocator === ownDamage(now)[1]!.locator)!
    // 1800 instead of the 600 that the second half of the year cost.
    expect(rated.premiumChange).toBe(1200)
    expect(rated.replacedPerilCharacteristicsLocator).toBeDefined()
  })

  it('with new data that are not repriced keeps the old amounts, and adds months at the monthly rate', async () => {
    const policy = await issued()
    await endAt(policy, '2035-07-01', '2036-04-01', 'never', dearer(policy))
    expect((await priceOf(policy)).grossPremium).toBe(1500)
    const exposure = (await read(policy)).exposures[0]!.characteristics.at(-1)!
    expect([exposure.fieldValues.vehicle_value, exposure.endTimestamp]).toEqual([
      ['49000'],
      String(day('2036-04-01')),
    ])
    await addsUp(policy)
  })

  it('followed by an endorsement back to the former end restores every amount', async () => {
    const policy = await issued()
    const before = await priceOf(policy)
    await endAt(policy, '2035-07-01', '2036-04-01')
    await endAt(policy, '2035-08-01', '2036-01-01')
    expect(await priceOf(policy)).toMatchObject({
      grossPremium: before.grossPremium,
      grossTaxes: before.grossTaxes,
      grossCommissions: before.grossCommissions,
      grossFees: before.grossFees,
      total: before.total,
    })
    expect((await read(policy)).effectiveContractEndTimestamp).toBe(policy.effectiveContractEndTimestamp)
    await addsUp(policy)
  })

  it('after an earlier one leaves one run of each peril at a time, even after a renewal', async () => {
    const policy = await issued()
    await endAt(policy, '2035-04-01', '2035-10-01')
    await endAt(policy, '2035-05-01', '2036-01-01')
    expect((await priceOf(policy)).grossPremium).toBe(1200)
    const renewed = await motor.post(`/policy/${policy.locator}/issueRenewal`, {
      renewalEndTimestamp: day('2037-01-01'),
    })
    expect((await priceOf(policy)).grossPremium).toBe(2520)
    const spans = pieces(renewed.body)
    for (const [at, one] of spans.entries()) if (at > 0) expect(one[0]).toBe(spans[at - 1]![1])
    await addsUp(policy)
  })
})

describe('A moved end in several steps', () => {
  for (const [which, to, change] of [
    ['earlier', '2035-10-01', -360],
    ['later', '2036-04-01', 357],
  ] as const)
    it(`${which}: preview, quote, outlook and record agree, and an invalidated one leaves nothing behind`, async () => {
      const policy = await issued({ paymentScheduleName: 'upfront' })
      const before = await priceOf(policy)
      const draft = await apply(policy, 'never', { startTimestamp: day('2035-04-01') })
      const path = `/endorsements/${draft.body.locator}`
      const updated = await patch(path, { endorsementUpdate: { newPolicyEndTimestamp: day(to) } })
      expect(updated.body).toMatchObject({ state: 'application', newPolicyEndTimestamp: String(day(to)) })
      const { body: preview } = await motor.get<PolicyPriceChangeResponse>(`${path}/price`)
      expect(preview.totalChange).toBe(change)
      await patch(path, { action: 'quote' })
      expect((await motor.get(`${path}/price`)).body).toEqual(preview)
      expect(await priceOf(policy)).toEqual(before)
      const { body: accepted } = await patch(path, { action: 'accept' })
      expect(accepted.invoice!.totalDue).toBe(change)
      expect((await read(policy)).effectiveContractEndTimestamp).toBe(policy.effectiveContractEndTimestamp)
      const { body: outlook } = await motor.get(`${path}/policyWhenIssued`)
      await patch(path, { action: 'invalidate' })
      const undone = await read(policy)
      expect(await priceOf(policy)).toEqual(before)
      expect({ ...undone, invoices: [], updatedTimestamp: '' }).toEqual({
        ...policy,
        invoices: [],
        updatedTimestamp: '',
      })
      expect(undone.invoices.map(one => [one.totalDue, one.settlementType])).toEqual([
        [1452.5, undefined],
        [change, 'invalidated'],
      ])
      const again = await endAt(policy, '2035-04-01', to)
      const now = await read(policy)
      expect(again.invoice!.totalDue).toBe(change)
      expect(outlook).toMatchObject({
        effectiveContractEndTimestamp: now.effectiveContractEndTimestamp,
        grossFees: now.grossFees,
      })
      expect(outlook.modifications.at(-1)!.premiumChange).toBe(now.modifications.at(-1)!.premiumChange)
      expect((await priceOf(policy)).total).toBe(preview.newTotal)
      await addsUp(policy)
    })

  it('restores the installments it replaced when it is invalidated', async () => {
    const policy = await issued({ paymentScheduleName: 'monthly' })
    const plan = async (): Promise<[due: string, minor: number][]> => {
      const { body } = await motor.get<CheckInvoicesResponse>(`/policy/${policy.locator}/checkInvoices`)
      return body.futureInvoices.map(one => [
        one.dueTimestamp,
        one.financialTransactions
          .filter(item => item.type !== 'commission')
          .reduce((sum, item) => sum + cents(item.amount), 0),
      ])
    }
    const before = await plan()
    const { body } = await apply(policy, 'never', {
      startTimestamp: day('2035-04-01'),
      newPolicyEndTimestamp: day('2035-10-01'),
      state: 'accepted',
    })
    expect(body.invoice).toBeUndefined()
    const shortened = await plan()
    expect(shortened.length).toBeLessThan(before.length)
    await patch(`/endorsements/${body.locator}`, { action: 'invalidate' })
    expect(await plan()).toEqual(before)
    await endAt(policy, '2035-04-01', '2035-10-01')
    expect(await plan()).toEqual(shortened)
  })

  it('is shown by snapshots from then on, and not by earlier ones', async () => {
    const policy = await issued()
    const before = await read(policy)
    await new Promise(done => setTimeout(done, 5))
    const at = Date.now()
    await new Promise(done => setTimeout(done, 5))
    await endAt(policy, '2035-04-01', '2035-10-01')
    const snapshot = (asOfTimestamp: number) =>
      motor.post(`/policies/${policy.locator}/snapshot`, { asOfTimestamp })
    expect((await snapshot(at)).body).toEqual(before)
    expect((await snapshot(Date.now())).body).toEqual(await read(policy))
  })
})

it('installments that came due while an endorsement was accepted are invoiced once it is invalidated', async () => {
  const own = await motorTenant('policyendrelease', FILES)
  const begins = startOfDay(Date.now() as Instant, BERLIN)
  const month = (count: number): Instant => add(begins, count, 'month', BERLIN)
  const { body: created } = await own.createPolicy({
    policyStartTimestamp: month(0),
    policyEndTimestamp: month(12),
    paymentScheduleName: 'monthly',
  })
  await own.post(`/policy/${created.locator}/issue`)
  const { body: accepted } = await own.post<EndorsementResponse>(
    `/policies/${created.locator}/endorsements`,
    {
      endorsementName: 'never',
      startTimestamp: month(1),
      newPolicyEndTimestamp: month(3),
      state: 'accepted',
    },
  )
  const billedMonths = async (): Promise<number[]> => {
    const { body } = await own.get(`/policy/${created.locator}`)
    const planned = body.invoices.filter(one => one.settlementType !== 'invalidated')
    return planned
      .map(
        one =>
          Array.from({ length: 12 }, (_, at) => at).find(at => Number(one.startTimestamp) === month(at))!,
      )
      .sort((a, b) => a - b)
  }
  const moveTo = async (timestamp: Instant): Promise<void> => {
    const moved = await own.post<{ completed: boolean }>('/test/clock', { timestamp })
    expect([moved.status, moved.body.completed]).toEqual([200, true])
  }
  await moveTo(add(month(5), 1, 'day', BERLIN))
  expect(await billedMonths()).toEqual([0, 1, 2])
  const path = `/endorsements/${accepted.locator}`
  expect((await callApi('PATCH', path, { token: own.token, body: { action: 'invalidate' } })).status).toBe(
    200,
  )
  await moveTo(add(month(5), 2, 'day', BERLIN))
  expect(await billedMonths()).toEqual([0, 1, 2, 3, 4, 5])
})

describe('The event policy.end', () => {
  type Event = { type: string; data: Record<string, string> }
  const endsOf = async (of: Motor, { locator }: PolicyResponse): Promise<string[]> => {
    const { body } = await of.get<{ events: Event[] }>('/eventstream/events?startTimestamp=0&pageSize=1000')
    return body.events
      .filter(one => one.type === 'policy.end' && one.data.policyLocator === locator)
      .map(one => one.data.endTimestamp!)
  }

  it('is emitted at the new end and not at the old one, and immediately when the new end has passed', async () => {
    const own = await motorTenant('policyendclock', FILES)
    const issuedThere = async (changes: object): Promise<PolicyResponse> => {
      const { body } = await own.createPolicy(changes)
      return (await own.post(`/policy/${body.locator}/issue`)).body
    }
    const endThere = async ({ locator }: PolicyResponse, from: Instant, to: Instant) =>
      expect(
        (
          await own.post(`/policies/${locator}/endorsements`, {
            endorsementName: 'never',
            startTimestamp: from,
            newPolicyEndTimestamp: to,
            state: 'issued',
          })
        ).status,
      ).toBe(200)
    const begins = add(startOfDay(Date.now() as Instant, BERLIN), -3, 'month', BERLIN)
    const month = (count: number): Instant => add(begins, count, 'month', BERLIN)
    const year = { policyStartTimestamp: month(0), policyEndTimestamp: month(12) }
    const [longer, shorter, past] = [
      await issuedThere(year),
      await issuedThere(year),
      await issuedThere(year),
    ]
    await endThere(longer, month(2), month(14))
    await endThere(shorter, month(2), month(8))
    await endThere(past, month(1), month(2))
    for (const timestamp of [month(9), month(13), month(15)]) {
      const moved = await own.post<{ completed: boolean }>('/test/clock', { timestamp })
      expect([moved.status, moved.body.completed]).toEqual([200, true])
    }
    expect(await endsOf(own, longer)).toEqual([String(month(14))])
    expect(await endsOf(own, shorter)).toEqual([String(month(8))])
    expect(await endsOf(own, past)).toEqual([String(month(2))])
  })

  it('is emitted for a policy issued, renewed or reinstated for time that has passed', async () => {
    const own = await motorTenant('policyendpast', FILES)
    const begins = add(startOfDay(Date.now() as Instant, BERLIN), -3, 'month', BERLIN)
    const month = (count: number): Instant => add(begins, count, 'month', BERLIN)
    const issuedFor = async (from: number, to: number): Promise<PolicyResponse> => {
      const { body } = await own.createPolicy({
        policyStartTimestamp: month(from),
        policyEndTimestamp: month(to),
      })
      return (await own.post(`/policy/${body.locator}/issue`)).body
    }
    const moveTo = async (timestamp: Instant): Promise<void> => {
      const moved = await own.post<{ completed: boolean }>('/test/clock', { timestamp })
      expect([moved.status, moved.body.completed]).toEqual([200, true])
    }
    const [over, renewed, cancelled] = [
      await issuedFor(-15, -3),
      await issuedFor(-15, -3),
      await issuedFor(0, 12),
    ]
    const renewal = await own.post(`/policies/${renewed.locator}/renewals`, {
      renewalEndTimestamp: month(-1),
      state: 'issued',
    })
    expect(renewal.status).toBe(200)
    const cancellation = await own.post<{ locator: string }>(`/policies/${cancelled.locator}/cancellations`, {
      name: 'customer_request',
      cancellationCategory: 'other',
      effectiveTimestamp: month(4),
      issue: true,
    })
    expect(cancellation.status).toBe(200)
    await moveTo(month(13))
    expect(await endsOf(own, cancelled)).toEqual([])
    const path = `/cancellations/${cancellation.body.locator}/reinstate`
    expect((await callApi('PATCH', path, { token: own.token, body: { issue: true } })).status).toBe(200)
    await moveTo(month(14))
    expect(await endsOf(own, over)).toEqual([String(month(-3))])
    // The timer of the former end had not fired when the renewal moved it.
    expect((await endsOf(own, renewed)).at(-1)).toBe(String(month(-1)))
    expect(await endsOf(own, cancelled)).toEqual([String(month(12))])
  })
})

it('a new end equal to the present one is no change, and drops a requested one', async () => {
  const policy = await issued()
  const { body } = await apply(policy, 'never', {
    startTimestamp: day('2035-04-01'),
    newPolicyEndTimestamp: day('2035-10-01'),
  })
  const endorsementUpdate = { newPolicyEndTimestamp: policy.effectiveContractEndTimestamp }
  const updated = await patch(`/endorsements/${body.locator}`, { endorsementUpdate })
  expect([updated.status, updated.body.newPolicyEndTimestamp]).toEqual([200, undefined])
  await motor.post(`/policy/${policy.locator}/issueRenewal`, { renewalEndTimestamp: day('2037-01-01') })
  for (const action of ['quote', 'issue'])
    expect((await patch(`/endorsements/${body.locator}`, { action })).status).toBe(200)
  expect((await read(policy)).effectiveContractEndTimestamp).toBe(String(day('2037-01-01')))
})

describe('A new end that is not possible', () => {
  it('returns 400 unless it is after the endorsement’s start', async () => {
    const policy = await issued()
    const { status, body } = await apply<{ message: string }>(policy, 'never', {
      startTimestamp: day('2035-04-01'),
      newPolicyEndTimestamp: day('2035-04-01'),
    })
    expect([status, body.message]).toEqual([400, expect.stringMatching(/newPolicyEndTimestamp/)])
  })

  it('leads to 409 for a renewal applied for before the end moved, until the renewal is updated', async () => {
    const policy = await issued()
    const { body: renewal } = await motor.post<EndorsementResponse>(`/policies/${policy.locator}/renewals`, {
      renewalEndTimestamp: day('2037-01-01'),
    })
    await endAt(policy, '2035-04-01', '2035-10-01')
    const refused = await patch<{ message: string }>(`/renewals/${renewal.locator}`, { action: 'quote' })
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringMatching(/update the renewal/)])
    await patch(`/renewals/${renewal.locator}`, { renewalUpdate: { renewalEndTimestamp: day('2036-10-01') } })
    expect((await patch(`/renewals/${renewal.locator}`, { action: 'quote' })).status).toBe(200)
  })

  it('returns 409 while the policy is cancelled, and is accepted once it is reinstated', async () => {
    const policy = await issued()
    const { body: cancellation } = await motor.post<CancellationResponse>(
      `/policies/${policy.locator}/cancellations`,
      {
        name: 'customer_request',
        cancellationCategory: 'other',
        effectiveTimestamp: day('2035-10-01'),
        issue: true,
      },
    )
    const longer = { startTimestamp: day('2035-04-01'), newPolicyEndTimestamp: day('2036-04-01') }
    const shorter = { ...longer, newPolicyEndTimestamp: day('2035-08-01') }
    for (const body of [longer, shorter]) {
      const refused = await apply<{ message: string }>(policy, 'never', body)
      expect([refused.status, refused.body.message]).toEqual([
        409,
        expect.stringMatching(/reinstate the policy first/),
      ])
    }
    const back = await patch(`/cancellations/${cancellation.locator}/reinstate`, { issue: true })
    expect(back.status, JSON.stringify(back.body)).toBe(200)
    expect((await apply(policy, 'never', { ...longer, state: 'issued' })).status).toBe(200)
    expect((await priceOf(policy)).grossPremium).toBe(1500)
    await addsUp(policy)
  })

  it('returns 409 in a gap left by a reinstatement', async () => {
    const policy = await issued()
    const { body: cancellation } = await motor.post<CancellationResponse>(
      `/policies/${policy.locator}/cancellations`,
      {
        name: 'customer_request',
        cancellationCategory: 'other',
        effectiveTimestamp: day('2035-07-01'),
        issue: true,
      },
    )
    const back = await patch(`/cancellations/${cancellation.locator}/reinstate`, {
      effectiveTimestamp: day('2035-09-01'),
      issue: true,
    })
    expect(back.status, JSON.stringify(back.body)).toBe(200)
    const gap = { startTimestamp: day('2035-04-01'), newPolicyEndTimestamp: day('2035-08-01') }
    const refused = await apply<{ message: string }>(policy, 'never', gap)
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringMatching(/in a gap/)])
    await endAt(policy, '2035-04-01', '2035-11-01')
    // Six months up to the cancellation, and two after the reinstatement.
    expect((await priceOf(policy)).grossPremium).toBe(800)
    await addsUp(policy)
  })
})
