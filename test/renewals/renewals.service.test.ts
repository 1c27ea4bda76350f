// Renewals through HTTP: another term with new perils, priced, billed by the payment schedule, and reported by events (brief 1.4).
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyPriceChangeResponse } from '../../src/rating/contract-change.ts'
import type { RenewalResponse } from '../../src/transactions/renewals/contract.ts'
import { callApi } from '../support/api.ts'
import { withoutIssueEffects } from '../support/comparable.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'

const BERLIN = 'Europe/Berlin' as TimeZone

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('renew', {
    ...motorWithoutPapers(),
    'products/private_motor/policy/endorsements.json': JSON.stringify({
      endorsements: [{ name: 'new_value', displayName: 'New value', reprice: 'always', documents: [] }],
    }),
  })
})

const cents = (amount: number): number => Math.round(amount * 100)

async function issued(changes: object = {}): Promise<PolicyResponse> {
  const { body } = await motor.createPolicy(changes)
  return (await motor.post(`/policy/${body.locator}/issue`)).body
}

const read = async ({ locator }: { locator: string }): Promise<PolicyResponse> =>
  (await motor.get(`/policy/${locator}`)).body

const endOf = (policy: PolicyResponse): Instant => Number(policy.effectiveContractEndTimestamp) as Instant

const aYearOn = (policy: PolicyResponse): Instant => add(endOf(policy), 12, 'month', BERLIN)

const renew = (policy: PolicyResponse, body: object = {}) =>
  motor.post<RenewalResponse>(`/policies/${policy.locator}/renewals`, {
    renewalEndTimestamp: aYearOn(policy),
    ...body,
  })

const act = (renewal: RenewalResponse, body: object) =>
  callApi<RenewalResponse>('PATCH', `/renewals/${renewal.locator}`, { token: motor.token, body })

const priceOf = async (policy: PolicyResponse): Promise<PolicyPriceResponse> =>
  (await motor.post<PolicyPriceResponse>(`/policy/${policy.locator}/price`)).body

type Event = { type: string; data: Record<string, unknown> }

const eventsOf = async (policy: PolicyResponse): Promise<Event[]> => {
  const { body } = await motor.get<{ events: Event[] }>('/eventstream/events?startTimestamp=0&pageSize=1000')
  return body.events.filter(one => one.data.policyLocator === policy.locator)
}

describe('A renewal in one step', () => {
  it('adds a term of equal length, with the same exposures and new perils of the same renewalGroup', async () => {
    const policy = await issued()
    const before = await priceOf(policy)
    const { status, body } = await renew(policy, { state: 'issued' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      state: 'issued',
      renewalStartTimestamp: policy.effectiveContractEndTimestamp,
      renewalEndTimestamp: String(aYearOn(policy)),
      policyLocator: policy.locator,
    })
    const now = await read(policy)
    expect(now).toMatchObject({
      originalContractStartTimestamp: policy.originalContractStartTimestamp,
      originalContractEndTimestamp: policy.originalContractEndTimestamp,
      effectiveContractEndTimestamp: String(aYearOn(policy)),
    })
    expect(now.exposures).toHaveLength(policy.exposures.length)
    for (const [at, { perils }] of now.exposures.entries()) {
      const first = policy.exposures[at]!.perils
      expect(perils).toHaveLength(2 * first.length)
      for (const peril of first) {
        const group = perils.filter(one => one.renewalGroup === peril.locator)
        expect(group.map(one => one.name)).toEqual([peril.name, peril.name])
        const [old, fresh] = group.map(one => one.characteristics.at(-1)!)
        expect(old!.coverageEndTimestamp).toBe(policy.effectiveContractEndTimestamp)
        expect(fresh).toMatchObject({
          coverageStartTimestamp: policy.effectiveContractEndTimestamp,
          coverageEndTimestamp: String(aYearOn(policy)),
        })
        expect(fresh!.premium).toBe(old!.premium)
      }
    }
    const modification = now.modifications.at(-1)!
    expect(modification).toMatchObject({
      name: 'modification.policy.renew',
      number: 1,
      renewalLocator: body.locator,
      effectiveTimestamp: policy.effectiveContractEndTimestamp,
    })
    const after = await priceOf(policy)
    expect(cents(after.grossPremium)).toBe(2 * cents(before.grossPremium))
    expect(cents(after.total)).toBe(2 * cents(before.total))
    const term = now.invoices.filter(one => one.policyModificationLocator === modification.locator)
    expect(term.reduce((sum, one) => sum + cents(one.totalDue), 0)).toBe(cents(before.total))
    expect(term[0]!.invoiceType).toBe('renewal')
  })

  it('can be issued from an application by one action, which quotes and accepts it first', async () => {
    const policy = await issued()
    const before = await priceOf(policy)
    const { body: renewal } = await renew(policy)
    const { status, body } = await act(renewal, { action: 'issue', conflictHandling: 'invalidate' })
    expect([status, body.state]).toEqual([200, 'issued'])
    const steps = (await eventsOf(policy)).map(({ type }) => type).filter(type => type.includes('renew'))
    expect(steps).toEqual([
      ...['create', 'quote', 'accept', 'issue'].map(step => `renewal.${step}`),
      'policy.renew',
    ])
    expect(cents((await priceOf(policy)).total)).toBe(2 * cents(before.total))
  })

  it('can change the cover, and can be followed by another renewal', async () => {
    const policy = await issued()
    const dearer = {
      updateExposures: [
        { exposureLocator: policy.exposures[0]!.locator, fieldValues: { vehicle_value: '49000' } },
      ],
    }
    const { body: price } = await renew(policy, dearer)
    const asked = await motor.get<PolicyPriceChangeResponse>(`/renewals/${price.locator}/price`)
    expect((await act(price, { action: 'quote' })).body.state).toBe('quoted')
    const quoted = await motor.get<PolicyPriceChangeResponse>(`/renewals/${price.locator}/price`)
    expect(quoted.body).toMatchObject({
      totalChange: asked.body.totalChange,
      grossPremiumChange: asked.body.grossPremiumChange,
      grossTaxesChange: asked.body.grossTaxesChange,
      grossFeesChange: asked.body.grossFeesChange,
    })
    expect(quoted.body.grossFeesChange).toBe(12.5)
    const done = await act(price, { action: 'issue' })
    expect(done.body.state).toBe('issued')
    const once = await read(policy)
    const [term, next] = once.exposures[0]!.characteristics
    expect(term!.fieldValues.vehicle_value).toEqual(
      policy.exposures[0]!.characteristics[0]!.fieldValues.vehicle_value,
    )
    expect(next!.fieldValues.vehicle_value).toEqual(['49000'])
    const second = await renew(once, { state: 'issued' })
    expect(second.body.renewalStartTimestamp).toBe(once.effectiveContractEndTimestamp)
    const twice = await read(policy)
    expect(twice.effectiveContractEndTimestamp).toBe(String(aYearOn(once)))
    expect(twice.modifications.map(one => one.number)).toEqual([0, 1, 2])
    const sums = twice.modifications.map(one => cents(one.premiumChange ?? 0))
    expect(sums[2]).toBe(sums[1])
    expect(cents((await priceOf(policy)).grossPremium)).toBe(sums.reduce((a, b) => a + b, 0))
  })

  it('can be cancelled at a date inside the new term, and the invoices match the price to the cent', async () => {
    const policy = await issued()
    const once = (await renew(policy, { state: 'issued' })) && (await read(policy))
    const first = await priceOf(policy)
    const at = add(endOf(policy), 6, 'month', BERLIN)
    const cancelled = await motor.post<{ state: string }>(`/policies/${policy.locator}/cancellations`, {
      effectiveTimestamp: at,
      name: 'customer_request',
      cancellationCategory: 'other',
      issue: true,
    })
    expect(cancelled.body).toMatchObject({ state: 'issued' })
    const now = await read(once)
    expect(now.effectiveContractEndTimestamp).toBe(String(at))
    const standing = now.invoices.filter(one => one.settlementType !== 'invalidated')
    const price = await priceOf(policy)
    expect(standing.reduce((sum, one) => sum + cents(one.totalDue), 0)).toBe(cents(price.total))
    expect(cents(price.grossPremium)).toBeLessThan(cents(first.grossPremium))
    expect(Math.abs(cents(price.grossPremium) - (cents(first.grossPremium) * 3) / 4)).toBeLessThan(
      cents(first.grossPremium) * 0.01,
    )
  })
})

describe('A renewal in several steps', () => {
  it('emits an event for each step, plans invoices when quoted, and previews the policy when accepted', async () => {
    const policy = await issued()
    const { body: renewal } = await renew(policy)
    expect(renewal.state).toBe('application')
    const quoted = (await act(renewal, { action: 'quote' })).body
    expect(quoted.automatedUnderwritingResult).toMatchObject({ decision: 'accept' })
    const planned = quoted.plannedInvoices!.flatMap(one => one.financialTransactions)
    const total = planned
      .filter(one => one.type !== 'commission')
      .reduce((sum, one) => sum + cents(one.amount), 0)
    expect(total).toBe(cents((await priceOf(policy)).total))
    const early = await motor.get(`/renewals/${renewal.locator}/policyWhenIssued`)
    expect(early.status).toBe(409)
    const accepted = (await act(renewal, { action: 'accept' })).body
    expect(accepted).toMatchObject({ state: 'accepted', invoice: { invoiceType: 'renewal' } })
    expect((await read(policy)).effectiveContractEndTimestamp).toBe(policy.effectiveContractEndTimestamp)
    const whenIssued = await motor.get(`/renewals/${renewal.locator}/policyWhenIssued`)
    expect(whenIssued.body.exposures[0]!.perils).toHaveLength(2 * policy.exposures[0]!.perils.length)
    await act(renewal, { action: 'issue' })
    expect(withoutIssueEffects(whenIssued.body)).toEqual(withoutIssueEffects(await read(policy)))
    const list = await motor.get<RenewalResponse[]>(`/policies/${policy.locator}/renewals`)
    expect(list.body.map(one => [one.locator, one.state])).toEqual([[renewal.locator, 'issued']])
    const eventTypes = (await eventsOf(policy))
      .filter(one => one.data.renewalLocator === renewal.locator)
      .map(one => one.type)
    expect(eventTypes).toEqual(['renewal.create', 'renewal.quote', 'renewal.accept', 'renewal.issue'])
  })

  it('has a void invoice and leaves the policy unchanged once it is invalidated', async () => {
    const policy = await issued()
    const before = await priceOf(policy)
    const { body: renewal } = await renew(policy, { state: 'accepted' })
    const gone = (await act(renewal, { action: 'invalidate' })).body
    expect(gone.state).toBe('invalidated')
    expect(await priceOf(policy)).toMatchObject({ total: before.total })
    const { invoices, effectiveContractEndTimestamp } = await read(policy)
    expect(invoices.at(-1)!.settlementType).toBe('invalidated')
    expect(effectiveContractEndTimestamp).toBe(policy.effectiveContractEndTimestamp)
  })

  it('can be quoted only while no other renewal is (409)', async () => {
    const policy = await issued()
    const { body: first } = await renew(policy, { state: 'quoted' })
    const second = await renew(policy, { state: 'quoted' })
    expect(second.status).toBe(409)
    expect(JSON.stringify(second.body)).toContain(first.locator)
    expect((await motor.get<RenewalResponse[]>(`/policies/${policy.locator}/renewals`)).body).toHaveLength(1)
  })

  it('can change its end while it is an application', async () => {
    const policy = await issued()
    const { body: renewal } = await renew(policy)
    const end = add(endOf(policy), 6, 'month', BERLIN)
    const { body } = await act(renewal, { renewalUpdate: { renewalEndTimestamp: end } })
    expect(body).toMatchObject({ state: 'application', renewalEndTimestamp: String(end) })
    const discarded = await act(renewal, { action: 'discard' })
    expect(discarded.body.state).toBe('discarded')
    expect((await act(renewal, { action: 'quote' })).status).toBe(409)
  })
})

describe('A renewed policy', () => {
  /** Checks that changes add up to what is in force, and invoices to the price. */
  async function addsUp(policy: PolicyResponse): Promise<PolicyPriceResponse> {
    const now = await read(policy)
    const price = await priceOf(policy)
    const changes = now.modifications.reduce((sum, one) => sum + cents(one.premiumChange ?? 0), 0)
    expect(changes).toBe(cents(price.grossPremium))
    const standing = now.invoices.filter(one => one.settlementType !== 'invalidated')
    expect(standing.reduce((sum, one) => sum + cents(one.totalDue), 0)).toBe(cents(price.total))
    return price
  }

  it('cancelled in its first term loses all of the second, and a reinstatement restores both', async () => {
    const policy = await issued()
    await renew(policy, { state: 'issued' })
    const both = await addsUp(policy)
    const start = Number(policy.originalContractStartTimestamp) as Instant
    const { body: cancellation } = await motor.post<{ locator: string }>(
      `/policies/${policy.locator}/cancellations`,
      {
        effectiveTimestamp: add(start, 6, 'month', BERLIN),
        name: 'customer_request',
        cancellationCategory: 'other',
        issue: true,
      },
    )
    const left = await addsUp(policy)
    expect(cents(left.grossPremium)).toBeLessThan(cents(both.grossPremium) * 0.26)
    const reinstated = await callApi('PATCH', `/cancellations/${cancellation.locator}/reinstate`, {
      token: motor.token,
      body: { issue: true },
    })
    expect(reinstated.status).toBe(200)
    expect(await addsUp(policy)).toMatchObject({
      total: both.total,
      grossPremium: both.grossPremium,
      grossTaxes: both.grossTaxes,
      grossFees: both.grossFees,
    })
    expect((await read(policy)).effectiveContractEndTimestamp).toBe(String(aYearOn(policy)))
  })

  it('has a price of zero after a withdrawal', async () => {
    const policy = await issued()
    await renew(policy, { state: 'issued' })
    expect((await motor.post(`/policy/${policy.locator}/withdraw`)).status).toBe(200)
    expect(await addsUp(policy)).toMatchObject({ total: 0, grossPremium: 0, grossTaxes: 0, grossFees: 0 })
  })

  it('endorsed in its first term has the change in both terms', async () => {
    const policy = await issued()
    await renew(policy, { state: 'issued' })
    const before = await addsUp(policy)
    const start = Number(policy.originalContractStartTimestamp) as Instant
    const { status, body } = await motor.post<{ state: string }>(`/policies/${policy.locator}/endorsements`, {
      endorsementName: 'new_value',
      startTimestamp: add(start, 6, 'month', BERLIN),
      state: 'issued',
      updateExposures: [
        { exposureLocator: policy.exposures[0]!.locator, fieldValues: { vehicle_value: '49000' } },
      ],
    })
    expect([status, body.state]).toEqual([200, 'issued'])
    const after = await addsUp(policy)
    expect(after.grossPremium).toBeGreaterThan(before.grossPremium)
    const now = await read(policy)
    expect(now.effectiveContractEndTimestamp).toBe(String(aYearOn(policy)))
    const inForce = now.exposures[0]!.characteristics.filter(one => !one.replacedTimestamp)
    expect(inForce.map(one => one.fieldValues.vehicle_value![0])).toEqual(['24500', '49000', '49000'])
  })

  it('ignores changes of a peril or exposure that the same renewal ends', async () => {
    const policy = await issued()
    const [vehicle] = policy.exposures
    const exposureLocator = vehicle!.locator
    const [first, second] = vehicle!.perils
    const renewal = await renew(policy, {
      updateExposures: [
        {
          exposureLocator,
          fieldValues: { vehicle_value: '49000' },
          updatePerils: [{ perilLocator: second!.locator, deductible: 500 }],
        },
      ],
    })
    const update = (renewalUpdate: object) => act(renewal.body, { renewalUpdate })
    const ending = await update({ updateExposures: [{ exposureLocator, endPerils: [second!.locator] }] })
    expect([ending.status, ending.body.state]).toEqual([200, 'application'])
    const other = await renew(policy, {
      updateExposures: [{ exposureLocator, addPerils: [{ name: first!.name }] }],
      endExposures: [exposureLocator],
      addExposures: [
        {
          exposureName: 'vehicle',
          fieldValues: vehicle!.characteristics[0]!.fieldValues,
          perils: [{ name: first!.name }],
        },
      ],
    })
    expect(other.status).toBe(200)
    const inOne = await renew(policy, {
      updateExposures: [
        { exposureLocator, endPerils: [second!.locator] },
        { exposureLocator, updatePerils: [{ perilLocator: second!.locator, deductible: 500 }] },
      ],
    })
    expect(inOne.status).toBe(200)
    expect((await act(renewal.body, { action: 'issue' })).status).toBe(200)
    const term = (await read(policy)).exposures[0]!.perils.filter(
      peril => peril.locator !== peril.renewalGroup,
    )
    expect(term.map(peril => peril.name)).toEqual(
      vehicle!.perils.filter(peril => peril !== second).map(peril => peril.name),
    )
    await addsUp(policy)
  })
})

describe('POST /policy/{locator}/issueRenewal', () => {
  it('issues a renewal for the price of previewRenewalPrice, which changes nothing', async () => {
    const policy = await issued()
    const request = {
      renewalEndTimestamp: aYearOn(policy),
      policyUpdateRequest: {
        updateExposures: [
          { exposureLocator: policy.exposures[0]!.locator, fieldValues: { vehicle_value: '49000' } },
        ],
      },
    }
    const preview = await motor.post<PolicyPriceChangeResponse>(
      `/policy/${policy.locator}/previewRenewalPrice`,
      request,
    )
    expect(preview.status).toBe(200)
    expect(await read(policy)).toEqual(policy)
    const { status, body } = await motor.post(`/policy/${policy.locator}/issueRenewal`, request)
    expect(status).toBe(200)
    expect(body.effectiveContractEndTimestamp).toBe(String(aYearOn(policy)))
    expect(body.modifications.at(-1)!.premiumChange).toBe(preview.body.grossPremiumChange)
    expect(body).toEqual(await read(policy))
  })

  it('requires only the new end', async () => {
    const policy = await issued()
    const body = { renewalEndTimestamp: aYearOn(policy) }
    expect((await motor.post(`/policy/${policy.locator}/issueRenewal`, body)).status).toBe(200)
    expect((await motor.post(`/policy/${policy.locator}/issueRenewal`, {})).status).toBe(400)
  })
})

it('a renewal of time long past, billed monthly, is one invoice', async () => {
  const start = 1_514_761_200_000 as Instant // 2018-01-01 in Berlin
  const policy = await issued({
    policyStartTimestamp: start,
    policyEndTimestamp: add(start, 12, 'month', BERLIN),
  })
  const renewed = await renew(policy, {
    renewalEndTimestamp: add(endOf(policy), 84, 'month', BERLIN),
    newPaymentScheduleName: 'monthly',
    state: 'issued',
  })
  expect([renewed.status, renewed.body.state]).toEqual([200, 'issued'])
  const now = await read(policy)
  const modification = now.modifications.at(-1)!
  const term = now.invoices.filter(one => one.policyModificationLocator === modification.locator)
  expect(term.map(one => one.invoiceType)).toEqual(['renewal'])
  const total = now.invoices.reduce((sum, one) => sum + cents(one.totalDue), 0)
  expect(total).toBe(cents((await priceOf(policy)).total))
})

describe('An invalid renewal', () => {
  it('returns 400 when its end is not after its start', async () => {
    const policy = await issued()
    const { status, body } = await renew(policy, { renewalEndTimestamp: endOf(policy) })
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('renewalEndTimestamp')])
  })

  it.each(['application', 'issued'])(
    'returns 400 for changes that cannot be applied to the policy or a peril, when created as %s',
    async state => {
      const policy = await issued()
      const [vehicle] = policy.exposures
      const perilLocator = vehicle!.perils.find(one => one.name === 'own_damage')!.locator
      const ofPeril = (change: object) => ({
        updateExposures: [{ exposureLocator: vehicle!.locator, updatePerils: [{ perilLocator, ...change }] }],
      })
      const group = {
        updateFieldGroups: [{ fieldGroupLocator: 'nowhere', fieldName: 'claims', fieldValues: {} }],
      }
      const tries: [object, RegExp][] = [
        [group, /no field group 'nowhere' for 'claims'/],
        [{ removeFieldGroups: ['nowhere'] }, /no field group 'nowhere'/],
        [ofPeril(group), /peril 'own_damage': There is no field group 'nowhere'/],
        [ofPeril({ deductible: -1 }), /'deductible' must be a number from 0/],
        [ofPeril({ indemnityPerItem: 'much' }), /'indemnityPerItem' must be a number/],
      ]
      for (const [changes, says] of tries) {
        const { status, body } = await renew(policy, { state, ...changes })
        expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(says)])
      }
      expect((await motor.get(`/policy/${policy.locator}`)).body.modifications).toHaveLength(1)
    },
  )

  it('returns 409 before the policy is issued', async () => {
    const { body: draft } = await motor.createPolicy()
    expect((await renew(draft)).status).toBe(409)
  })

  it('returns 404 when it is read as an endorsement, or does not exist', async () => {
    const policy = await issued()
    const { body: renewal } = await renew(policy)
    expect((await motor.get(`/endorsements/${renewal.locator}`)).status).toBe(404)
    expect((await motor.get('/renewals/999999')).status).toBe(404)
    expect((await motor.get('/renewals/none')).status).toBe(404)
    const listed = await motor.get<unknown[]>(`/policies/${policy.locator}/endorsements`)
    expect(listed.body).toEqual([])
  })

  it('returns 400 for a payment schedule that the product does not have', async () => {
    const policy = await issued()
    expect((await renew(policy, { newPaymentScheduleName: 'never' })).status).toBe(400)
  })
})

it('issuing a renewal takes at most 4 D1 round trips, and reading it one', async () => {
  const policy = await issued()
  const answer = await renew(policy, { state: 'issued' })
  expect(roundTrips(answer).d1).toBeLessThanOrEqual(4)
  const read = await motor.get(`/renewals/${answer.body.locator}`)
  expect(roundTrips(read).d1).toBe(1)
})
