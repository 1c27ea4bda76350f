// Endorsements through HTTP: which segments are split, what is rated again, and that all amounts add up to the cent (brief 1.4,
// 2.2, 2.5).
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyPriceChangeResponse } from '../../src/rating/contract-change.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import { callApi } from '../support/api.ts'
import { withoutIssueEffects } from '../support/comparable.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'

const BERLIN = 'Europe/Berlin' as TimeZone

/** The motor example with an endorsement type for each way of repricing. */
const FILES = {
  ...motorWithoutPapers(),
  'products/private_motor/policy/endorsements.json': JSON.stringify({
    endorsements: ['never', 'always', 'all', 'input'].map(reprice => ({
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
  motor = await motorTenant('endorse', FILES)
})

const patch = <Body = EndorsementResponse>(path: string, body?: unknown, headers?: Record<string, string>) =>
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

const apply = (policy: PolicyResponse, endorsementName: string, body: object) =>
  motor.post<EndorsementResponse>(`/policies/${policy.locator}/endorsements`, { endorsementName, ...body })

const dearer = (policy: PolicyResponse) => ({
  updateExposures: [
    { exposureLocator: policy.exposures[0]!.locator, fieldValues: { vehicle_value: '49000' } },
  ],
})

type Segment = PolicyResponse['exposures'][0]['perils'][0]['characteristics'][0]

const inForce = (segments: Segment[]): Segment[] =>
  segments
    .filter(one => one.issuedTimestamp && !one.replacedTimestamp)
    .sort((a, b) => Number(a.coverageStartTimestamp) - Number(b.coverageStartTimestamp))

const perilOf = (policy: PolicyResponse, name: string) =>
  policy.exposures[0]!.perils.find(peril => peril.name === name)!

async function addsUp(policy: PolicyResponse): Promise<void> {
  const now = await read(policy)
  for (const modification of now.modifications) {
    const changes = modification.exposureModifications.flatMap(one => one.perilModifications)
    expect(changes.reduce((sum, one) => sum + cents(one.premiumChange ?? 0), 0)).toBe(
      cents(modification.premiumChange ?? 0),
    )
  }
  const segments = now.exposures.flatMap(one => one.perils.map(peril => inForce(peril.characteristics)))
  const premium = segments.flat().reduce((sum, one) => sum + cents(one.premium!), 0)
  const issuedChanges = now.modifications.filter(one => one.issuedTimestamp)
  expect(issuedChanges.reduce((sum, one) => sum + cents(one.premiumChange ?? 0), 0)).toBe(premium)
  const price = await priceOf(policy)
  expect(cents(price.grossPremium)).toBe(premium)
  for (const list of segments)
    for (const [at, one] of list.entries())
      if (at > 0) expect(one.coverageStartTimestamp).toBe(list[at - 1]!.coverageEndTimestamp)
  const standing = now.invoices.filter(one => one.settlementType !== 'invalidated')
  expect(standing.reduce((sum, one) => sum + cents(one.totalDue), 0)).toBe(cents(price.total))
}

it.each(['endorsement', 'renewal'] as const)(
  'updating an application of %s removes duplicate endings, and ending an addition takes it back',
  async kind => {
    const policy = await issued()
    const exposure = plainYear().request.policy.exposures[0]!
    const perils = exposure.perils.map((one, at) => (at === 0 ? { ...one, locator: 'mine' } : one))
    const [kept, ended] = policy.exposures[0]!.perils.map(one => one.locator)
    const exposureLocator = policy.exposures[0]!.locator
    const asked = {
      addExposures: [{ ...exposure, perils }, exposure],
      updateExposures: [{ exposureLocator, endPerils: [ended, ended] }],
      ...(kind === 'endorsement'
        ? { endorsementName: 'always', startTimestamp: later(policy, 6) }
        : { renewalEndTimestamp: later(policy, 24) }),
    }
    const created = await motor.post<EndorsementResponse>(`/policies/${policy.locator}/${kind}s`, asked)
    expect(created.status, JSON.stringify(created.body)).toBe(200)
    const path = `/${kind}s/${created.body.locator}`
    const [first, second] = created.body.addExposures
    expect(first!.perils.map(one => one.locator)).toEqual([
      'mine',
      ...perils.slice(1).map(() => expect.any(String)),
    ])
    expect(created.body.updateExposures).toMatchObject([{ exposureLocator, endPerils: [ended] }])
    const update = (changes: object) => patch(path, { action: 'update', [`${kind}Update`]: changes })
    const updated = await update({
      endExposures: [second!.locator],
      updateExposures: [
        { exposureLocator, endPerils: [ended] },
        { exposureLocator: first!.locator, endPerils: ['mine'] },
      ],
    })
    expect(updated.status, JSON.stringify(updated.body)).toBe(200)
    expect(updated.body).toMatchObject({
      endExposures: [],
      addExposures: [{ locator: first!.locator, perils: perils.slice(1).map(({ name }) => ({ name })) }],
      updateExposures: [{ exposureLocator, endPerils: [ended] }],
    })
    expect((await motor.get(path)).body).toEqual(updated.body)
    expect((await update({ endExposures: [second!.locator] })).status).toBe(400)
    const { body: final } = await patch(path, { action: 'issue' })
    expect(final.state).toBe('issued')
    const now = await read(policy)
    expect(now.exposures).toHaveLength(2)
    expect(now.exposures[1]!.perils.map(one => one.name)).toEqual(perils.slice(1).map(one => one.name))
    const last = now.exposures[0]!.perils.filter(one => one.renewalGroup === ended).at(-1)!
    const until = kind === 'endorsement' ? later(policy, 6) : policy.originalContractEndTimestamp
    expect(inForce(last.characteristics).at(-1)!.coverageEndTimestamp).toBe(String(until))
    expect(now.exposures[0]!.perils.map(one => one.locator)).toContain(kept)
  },
)

describe('An endorsement in one step', () => {
  it('that reprices changes splits the year, and its later half is priced by the new value', async () => {
    const policy = await issued()
    const before = perilOf(policy, 'own_damage').characteristics[0]!
    const at = later(policy, 6)
    const { status, body } = await apply(policy, 'always', {
      startTimestamp: at,
      state: 'issued',
      ...dearer(policy),
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ state: 'issued', endorsementName: 'always', startTimestamp: String(at) })
    const now = await read(policy)
    const [first, second] = inForce(perilOf(now, 'own_damage').characteristics)
    expect(first).toMatchObject({ coverageEndTimestamp: String(at) })
    expect(Math.abs(first!.premium! - before.premium! / 2)).toBeLessThanOrEqual(0.01)
    expect(second!.premium!).toBeGreaterThan(first!.premium! * 1.5)
    const modification = now.modifications.at(-1)!
    expect(modification).toMatchObject({
      name: 'always',
      number: 1,
      effectiveTimestamp: String(at),
      endorsementLocator: body.locator,
    })
    expect(now.characteristics.filter(one => one.issuedTimestamp && !one.replacedTimestamp)).toHaveLength(2)
    expect(now.exposures[0]!.characteristics.at(-1)!.fieldValues.vehicle_value).toEqual(['49000'])
    await addsUp(policy)
  })

  it('that never reprices splits every peril without changing any amount', async () => {
    const policy = await issued()
    const before = await priceOf(policy)
    await apply(policy, 'never', {
      startTimestamp: later(policy, 100, 'day'),
      state: 'issued',
      ...dearer(policy),
    })
    const now = await read(policy)
    for (const peril of now.exposures[0]!.perils) expect(inForce(peril.characteristics)).toHaveLength(2)
    expect(await priceOf(policy)).toMatchObject({ total: before.total, grossPremium: before.grossPremium })
    expect(now.modifications.at(-1)!.premiumChange).toBe(0)
    await addsUp(policy)
  })

  it('that adds a vehicle charges it from then on, and one that ends it gives back the rest', async () => {
    const policy = await issued()
    const before = await priceOf(policy)
    const copy = policy.exposures[0]!.characteristics[0]!.fieldValues
    await apply(policy, 'never', {
      startTimestamp: later(policy, 3),
      state: 'issued',
      addExposures: [
        {
          exposureName: 'vehicle',
          fieldValues: { ...copy, registration_plate: 'B-GL 1986' },
          perils: [{ name: 'liability' }],
        },
      ],
    })
    const added = (await read(policy)).exposures.at(-1)!
    const [segment] = inForce(added.perils[0]!.characteristics)
    expect(segment).toMatchObject({ coverageStartTimestamp: String(later(policy, 3)) })
    const liability = before.exposurePrices[0]!.perilPrices.find(one => one.name === 'liability')!
    expect(Math.abs(segment!.premium! - liability.premium * 0.75)).toBeLessThanOrEqual(0.01)
    await addsUp(policy)
    await apply(policy, 'never', {
      startTimestamp: later(policy, 3),
      state: 'issued',
      endExposures: [added.locator],
    })
    expect((await priceOf(policy)).total).toBe(before.total)
    await addsUp(policy)
  })

  it('before a later one changes the later part too, which makes four segments (brief 2.2)', async () => {
    const policy = await issued()
    await apply(policy, 'all', { startTimestamp: later(policy, 2), state: 'issued', ...dearer(policy) })
    await apply(policy, 'all', {
      startTimestamp: later(policy, 8),
      state: 'issued',
      fieldValues: { claims_free_years: '9' },
    })
    await apply(policy, 'all', {
      startTimestamp: later(policy, 5, 'day'),
      state: 'issued',
      fieldValues: { contact_phone: '+49 30 7654321' },
    })
    const now = await read(policy)
    const current = now.characteristics
      .filter(one => one.issuedTimestamp && !one.replacedTimestamp)
      .sort((a, b) => Number(a.startTimestamp) - Number(b.startTimestamp))
    expect(current.map(one => one.startTimestamp)).toEqual(
      [startOf(policy), later(policy, 5, 'day'), later(policy, 2), later(policy, 8)].map(String),
    )
    expect(current.map(one => one.fieldValues.contact_phone?.[0])).toEqual([
      '+49 30 1234567',
      '+49 30 7654321',
      '+49 30 7654321',
      '+49 30 7654321',
    ])
    expect(current.map(one => one.fieldValues.claims_free_years?.[0])).toEqual(['8', '8', '8', '9'])
    expect(now.modifications.at(-1)!.newPolicyCharacteristicsLocators).toHaveLength(4)
    await addsUp(policy)
  })

  it('from the start of the contract replaces the whole segment', async () => {
    const policy = await issued()
    await apply(policy, 'all', { startTimestamp: startOf(policy), state: 'issued', ...dearer(policy) })
    const now = await read(policy)
    expect(inForce(perilOf(now, 'own_damage').characteristics)).toHaveLength(1)
    await addsUp(policy)
  })
})

describe('An endorsement step by step', () => {
  it('has the same price in preview, quote and issue, is billed when accepted, and counts when issued', async () => {
    const policy = await issued()
    const before = await priceOf(policy)
    const { body: applied } = await apply(policy, 'always', {
      startTimestamp: later(policy, 6),
      ...dearer(policy),
    })
    expect(applied.state).toBe('application')
    const path = `/endorsements/${applied.locator}`
    const { body: preview } = await motor.get<PolicyPriceChangeResponse>(`${path}/price`)
    expect((await read(policy)).modifications).toHaveLength(1)
    const { body: quoted } = await patch(path, { action: 'quote' })
    expect(quoted).toMatchObject({ state: 'quoted', automatedUnderwritingResult: { decision: 'accept' } })
    expect((await motor.get(`${path}/price`)).body).toEqual(preview)
    expect((await read(policy)).modifications).toHaveLength(1)
    expect((await motor.get(`${path}/policyWhenIssued`)).status).toBe(409)
    const { body: accepted } = await patch(path, { action: 'accept' })
    expect(accepted.invoice).toMatchObject({ invoiceType: 'endorsement', transactionIssued: false })
    expect(cents(accepted.invoice!.totalDue)).toBe(cents(preview.totalChange))
    expect(await priceOf(policy)).toEqual(before)
    const foreseen = await motor.get(`${path}/policyWhenIssued`)
    expect(roundTrips(foreseen)).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
    const pending = (await read(policy)).characteristics.filter(one => !one.issuedTimestamp)
    expect(pending).toHaveLength(2)
    const { body: final } = await patch(path, { action: 'issue' })
    expect(final.state).toBe('issued')
    expect((await priceOf(policy)).total).toBe(preview.newTotal)
    expect(foreseen.body.modifications.at(-1)!.premiumChange).toBe(preview.grossPremiumChange)
    expect(withoutIssueEffects(foreseen.body)).toEqual(withoutIssueEffects(await read(policy)))
    const segments = foreseen.body.exposures[0]!.perils[0]!.characteristics
    expect(segments.map(one => [!!one.issuedTimestamp, !!one.replacedTimestamp])).toEqual([
      [true, true],
      [true, false],
      [true, false],
    ])
    await addsUp(policy)
  })

  it('has a void invoice and changes nothing in force once it is invalidated', async () => {
    const policy = await issued()
    const before = await priceOf(policy)
    const { body } = await apply(policy, 'always', {
      startTimestamp: later(policy, 6),
      state: 'accepted',
      ...dearer(policy),
    })
    const { body: gone } = await patch(`/endorsements/${body.locator}`, { action: 'invalidate' })
    expect(gone.state).toBe('invalidated')
    expect(gone.invoice).toMatchObject({ settlementType: 'invalidated', totalDue: body.invoice!.totalDue })
    expect(await priceOf(policy)).toEqual(before)
    expect((await read(policy)).modifications).toHaveLength(1)
    await apply(policy, 'always', { startTimestamp: later(policy, 6), state: 'issued', ...dearer(policy) })
    await addsUp(policy)
  })

  it('blocks another one with 409 while it is accepted, unless that may invalidate it', async () => {
    const policy = await issued()
    const { body: first } = await apply(policy, 'never', {
      startTimestamp: later(policy, 6),
      state: 'accepted',
      ...dearer(policy),
    })
    const blocked = await apply(policy, 'never', {
      startTimestamp: later(policy, 7),
      state: 'quoted',
      ...dearer(policy),
    })
    expect(blocked.status).toBe(409)
    expect(blocked.body).toMatchObject({ message: expect.stringContaining(first.locator) })
    const through = await apply(policy, 'never', {
      startTimestamp: later(policy, 7),
      state: 'issued',
      conflictHandling: 'invalidate',
      ...dearer(policy),
    })
    expect(through.body.state).toBe('issued')
    expect((await motor.get<EndorsementResponse>(`/endorsements/${first.locator}`)).body.state).toBe(
      'invalidated',
    )
    await addsUp(policy)
  })

  it('can take several steps by one action, with the same events and price as step by step', async () => {
    const [atOnce, stepwise] = [await issued(), await issued()]
    const pathTo = async (policy: PolicyResponse) => {
      const { body } = await apply(policy, 'always', { startTimestamp: later(policy, 6), ...dearer(policy) })
      return `/endorsements/${body.locator}`
    }
    const [path, other] = [await pathTo(atOnce), await pathTo(stepwise)]
    const accepted = await patch(path, { action: 'accept' })
    expect([accepted.status, accepted.body.state]).toEqual([200, 'accepted'])
    expect((await patch(path, { action: 'issue' })).body.state).toBe('issued')
    for (const action of ['quote', 'accept', 'issue']) await patch(other, { action })
    expect((await priceOf(atOnce)).total).toBe((await priceOf(stepwise)).total)
    const types = async (policy: PolicyResponse): Promise<string[]> => {
      const { body } = await motor.get<{ events: { type: string; data: { policyLocator?: string } }[] }>(
        '/eventstream/events?startTimestamp=0&pageSize=1000',
      )
      return body.events
        .filter(({ data }) => data.policyLocator === policy.locator)
        .map(({ type }) => type)
        .filter(type => type.startsWith('endorsement.'))
    }
    expect(await types(atOnce)).toEqual(
      ['create', 'quote', 'accept', 'issue'].map(step => `endorsement.${step}`),
    )
    expect(await types(atOnce)).toEqual(await types(stepwise))
    await addsUp(atOnce)
  })

  it('can be updated before it is quoted, and rejects actions with 409 once it is discarded', async () => {
    const policy = await issued()
    const { body } = await apply(policy, 'never', { startTimestamp: later(policy, 6) })
    const path = `/endorsements/${body.locator}`
    const { body: updated } = await patch(path, {
      endorsementUpdate: { fieldValues: { claims_free_years: 9 } },
    })
    expect(updated.fieldValues).toEqual({ claims_free_years: ['9'] })
    expect((await patch(path, { action: 'discard' })).body.state).toBe('discarded')
    const late = await patch<{ message: string }>(path, { action: 'quote' })
    expect(late.status).toBe(409)
    expect(late.body.message).toContain('is discarded and cannot be quoted')
    expect((await read(policy)).modifications).toHaveLength(1)
  })
})

describe('Cancelling and reinstating an endorsed policy', () => {
  it('restores every amount', async () => {
    const policy = await issued()
    await apply(policy, 'always', { startTimestamp: later(policy, 4), state: 'issued', ...dearer(policy) })
    const before = await priceOf(policy)
    const { body: cancellation } = await motor.post<{ locator: string }>(
      `/policies/${policy.locator}/cancellations`,
      {
        name: 'customer_request',
        cancellationCategory: 'other',
        effectiveTimestamp: later(policy, 2),
        issue: true,
      },
    )
    await addsUp(policy)
    await patch(`/cancellations/${cancellation.locator}/reinstate`, { issue: true })
    expect(await priceOf(policy)).toEqual(before)
    await addsUp(policy)
  })
})

describe('An invalid endorsement', () => {
  it('is rejected with 400 for its names, times, locators or values, and says what is allowed', async () => {
    const policy = await issued()
    const tries: [object, RegExp][] = [
      [{ endorsementName: 'whim' }, /has no endorsement 'whim'/],
      [
        { endorsementName: 'never', startTimestamp: startOf(policy) - 1 },
        /must be at or after the contract's start/,
      ],
      [{ endorsementName: 'never', endExposures: ['nowhere'] }, /no exposure 'nowhere'/],
      [{ endorsementName: 'never', fieldValues: { nonsense: '1' } }, /nonsense/],
      [{ endorsementName: 'input', state: 'quoted', ...dearer(policy) }, /needs reprice/],
      [
        { endorsementName: 'never', newPolicyEndTimestamp: later(policy, 14) },
        /property\.endorsement\.policy\.end\.enabled/,
      ],
    ]
    for (const [body, says] of tries) {
      const answer = await motor.post<{ message: string }>(`/policies/${policy.locator}/endorsements`, body)
      expect(answer.status).toBe(400)
      expect(answer.body.message).toMatch(says)
    }
    expect((await read(policy)).modifications).toHaveLength(1)
    const { body: unissued } = await motor.createPolicy()
    expect((await apply(unissued, 'never', {})).status).toBe(409)
    expect((await motor.get('/endorsements/100000001')).status).toBe(404)
  })

  it.each(['application', 'issued'])(
    'with changes that cannot be applied is rejected with 400 when created as %s, repriced or not',
    async state => {
      const policy = await issued()
      const exposureLocator = policy.exposures[0]!.locator
      const { locator: perilLocator } = perilOf(policy, 'own_damage')
      const ofExposure = (change: object) => ({ exposureLocator, ...change })
      const ofPeril = (change: object) => ofExposure({ updatePerils: [{ perilLocator, ...change }] })
      const group = {
        updateFieldGroups: [{ fieldGroupLocator: 'nowhere', fieldName: 'extras', fieldValues: {} }],
      }
      const tries: [object, RegExp][] = [
        [ofExposure(group), /no field group 'nowhere' for 'extras'/],
        [ofExposure({ removeFieldGroups: ['nowhere'] }), /no field group 'nowhere'/],
        [ofPeril(group), /no field group 'nowhere' for 'extras'/],
        [ofPeril({ removeFieldGroups: ['nowhere'] }), /no field group 'nowhere'/],
        [ofPeril({ deductible: -1 }), /'deductible' must be a number from 0/],
        [ofPeril({ indemnityPerItem: 'much' }), /'indemnityPerItem' must be a number/],
      ]
      for (const endorsementName of ['never', 'always'])
        for (const [update, says] of tries) {
          const request = { endorsementName, state, startTimestamp: later(policy, 6) }
          const answer = await motor.post<{ message: string }>(`/policies/${policy.locator}/endorsements`, {
            ...request,
            updateExposures: [update],
          })
          expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(says)])
        }
      expect((await read(policy)).modifications).toHaveLength(1)
    },
  )
})

it('several updates of an application for one exposure all apply, as if sent together', async () => {
  const parts = (policy: PolicyResponse) => {
    const exposureLocator = policy.exposures[0]!.locator
    const { locator: perilLocator } = perilOf(policy, 'own_damage')
    return [
      { exposureLocator, fieldValues: { vehicle_value: '49000' } },
      { exposureLocator, updatePerils: [{ perilLocator, deductible: 1000 }] },
      { exposureLocator, fieldValues: { annual_mileage_km: '30000' } },
    ]
  }
  const policy = await issued()
  const [first, ...more] = parts(policy)
  const { body } = await apply(policy, 'always', {
    startTimestamp: later(policy, 6),
    updateExposures: [first],
  })
  const path = `/endorsements/${body.locator}`
  for (const one of more) await patch(path, { endorsementUpdate: { updateExposures: [one] } })
  await patch(path, { action: 'quote' })
  await patch(path, { action: 'issue' })
  const now = await read(policy)
  const current = now.exposures[0]!.characteristics.filter(one => !one.replacedTimestamp)
  expect(
    current.map(one => [one.fieldValues.vehicle_value![0], one.fieldValues.annual_mileage_km![0]]),
  ).toEqual([
    ['24500', '12000'],
    ['49000', '30000'],
  ])
  const [, second] = inForce(perilOf(now, 'own_damage').characteristics)
  // 49,000 × 0.0185 × 0.85 = 770.53 a year.
  expect(second).toMatchObject({ deductible: 1000, premium: 385.27 })

  const other = await issued()
  const [value, peril, mileage] = parts(other)
  await apply(other, 'always', {
    startTimestamp: later(other, 6),
    state: 'issued',
    updateExposures: [
      { ...value, ...peril, fieldValues: { ...value!.fieldValues, ...mileage!.fieldValues } },
    ],
  })
  expect((await priceOf(policy)).total).toBe((await priceOf(other)).total)
  await addsUp(policy)
})

it('changing or ending a peril that has already ended returns 400', async () => {
  const policy = await issued()
  const exposureLocator = policy.exposures[0]!.locator
  const { locator } = perilOf(policy, 'glass')
  const ending = { updateExposures: [{ exposureLocator, endPerils: [locator] }] }
  await apply(policy, 'never', { startTimestamp: later(policy, 6), state: 'issued', ...ending })
  const changing = {
    updateExposures: [{ exposureLocator, updatePerils: [{ perilLocator: locator, deductible: 50 }] }],
  }
  for (const change of [ending, changing]) {
    const refused = await motor.post<{ message: string }>(`/policies/${policy.locator}/endorsements`, {
      endorsementName: 'never',
      startTimestamp: later(policy, 7),
      ...change,
    })
    expect(refused.status).toBe(400)
    expect(refused.body.message).toContain(
      `has no peril '${locator}' that is covered at that time; send one of its perils`,
    )
  }
  const earlier = await apply(policy, 'never', {
    startTimestamp: later(policy, 3),
    state: 'issued',
    ...changing,
  })
  expect(earlier.status).toBe(200)
  await addsUp(policy)
})

it('issuing an endorsement takes at most two D1 round trips, and a repeat changes nothing', async () => {
  const policy = await issued()
  await motor.get('/v1/ping/authorized')
  const body = {
    endorsementName: 'always',
    startTimestamp: later(policy, 6),
    state: 'issued',
    ...dearer(policy),
  }
  const headers = { 'idempotency-key': 'endorse-once' }
  const path = `/policies/${policy.locator}/endorsements`
  const first = await motor.post<EndorsementResponse>(path, body, headers)
  expect(roundTrips(first).d1).toBeLessThanOrEqual(2)
  expect((await motor.post<EndorsementResponse>(path, body, headers)).body).toEqual(first.body)
  expect((await read(policy)).modifications).toHaveLength(2)
})

it('an exposure that one endorsement both changes and ends is ended', async () => {
  const policy = await issued()
  const exposureLocator = policy.exposures[0]!.locator
  const changing = {
    updateExposures: [
      { exposureLocator, fieldValues: { vehicle_value: '49000' }, addPerils: [{ name: 'glass' }] },
    ],
  }
  const application = await apply(policy, 'always', { startTimestamp: later(policy, 6), ...changing })
  const path = `/endorsements/${application.body.locator}`
  await patch(path, { endorsementUpdate: { endExposures: [exposureLocator] } })
  const { status, body } = await patch(path, { action: 'issue' })
  expect([status, body.state]).toEqual([200, 'issued'])
  const [vehicle] = (await read(policy)).exposures
  const end = { endTimestamp: String(later(policy, 6)) }
  expect(vehicle!.characteristics.filter(one => !one.replacedTimestamp)).toMatchObject([end])
  const covered = vehicle!.perils.flatMap(peril => inForce(peril.characteristics))
  expect(new Set(covered.map(one => one.coverageEndTimestamp))).toEqual(new Set([end.endTimestamp]))
  await addsUp(policy)
})
