// Quotes: several on a policy, one of them selected; priced, accepted and invalidated (brief 1.3).
import { beforeAll, describe, expect, it } from 'vitest'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyQuoteResponse } from '../../src/transactions/quotes/contract-quote.ts'
import { type Answer, callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, plainYear, roundTrips, workedOf } from '../support/motor.ts'
import { filledPath, readApi } from '../support/openapi.ts'
import { withPlugins } from '../support/with-plugins.ts'

let motor: Motor

/** The operations that a policy without a selected quote allows, or rejects for another reason. */
const WITHOUT_QUOTE: Record<string, RegExp> = {
  'GET /policies/{policyLocator}/documents': /^200/,
  'POST /policies/{policyLocator}/documents/makeAgain': /^200 $/,
  'GET /policy/{policyLocator}': /^200/,
  'PATCH /policy/{policyLocator}/fees': /^200/, // The request has no changes.
  'POST /policies/{policyLocator}/snapshot': /^200/,
  'POST /policies/{policyLocator}/coverageSummary': /^200/,
  'POST /policy/{policyLocator}/addDocument': /^415/,
  'POST /policy/{policyLocator}/removeDocument': /^400/,
  'POST /policy/{policyLocator}/upgrade': /^200/, // The policy already has the latest version.
  'GET /policies/{policyLocator}/quotes': /^200/,
  'GET /policies/{policyLocator}/endorsements': /^200/,
  'GET /policies/{policyLocator}/renewals': /^200/,
  'GET /policies/{policyLocator}/cancellations': /^200/,
  'GET /policy/{policyLocator}/gracePeriods': /^200/,
  'GET /policy/{policyLocator}/graceLapseReinstatements': /^200/,
  'POST /policy/{policyLocator}/createReinstatement':
    /^409 .* has no lapse that this operation can reinstate/,
  'GET /policy/{policyLocator}/checkInvoices': /^200/,
  'POST /policy/{policyLocator}/issueNextInvoice': /^409 .* has no planned invoice/,
  'GET /policy/{policyLocator}/tableRevisions': /^200/,
  'POST /policy/{policyLocator}/discard': /^200/,
}

const SELECT_FIRST = /^409 .*First select one of its quotes with PATCH \/quotes\/\{quoteLocator\}\/select\.$/

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('quotes')
})

const patch = <Body = PolicyQuoteResponse>(path: string, body?: unknown, headers?: Record<string, string>) =>
  callApi<Body>('PATCH', path, { token: motor.token, body, headers })

const quotesOf = (policy: string) => motor.get<PolicyQuoteResponse[]>(`/policies/${policy}/quotes`)

async function draft(changes: object = {}): Promise<{ policy: PolicyResponse; quote: string }> {
  const { body: policy } = await motor.createPolicy({ finalize: false, ...changes })
  const { body: quotes } = await quotesOf(policy.locator)
  return { policy, quote: quotes[0]!.locator }
}

const copyOf = async (quote: string, changes?: object): Promise<PolicyQuoteResponse> =>
  (await motor.post<PolicyQuoteResponse>(`/quotes/${quote}/createNew`, changes)).body

const typesOf = async (policy: string): Promise<string[]> => {
  const { body } = await motor.get<{ events: { type: string; data: Record<string, string> }[] }>(
    '/eventstream/events?startTimestamp=0&pageSize=1000',
  )
  return body.events.filter(event => event.data.policyLocator === policy).map(event => event.type)
}

/** The content of a quote without what distinguishes it from a copy. */
const content = (quote: PolicyQuoteResponse) =>
  quote.exposures.map(exposure => ({
    name: exposure.name,
    fieldValues: exposure.characteristics[0]?.fieldValues,
    perils: exposure.perils.map(peril => [peril.name, peril.characteristics[0]?.indemnityPerEvent]),
  }))

it('A new policy and a quick quote may name the currency of the configuration, and no other', async () => {
  const names = { finalize: false, currency: 'EUR' }
  const { body: policy } = await motor.createPolicy(names)
  expect(policy.grossFeesCurrency).toBe('EUR')
  for (const currency of [null, '', 'eur'])
    expect((await motor.createPolicy({ ...names, currency })).status).toBe(200)
  const { policyholderLocator } = policy
  const request = { ...plainYear().request.policy, policyholderLocator, currency: 'USD' }
  for (const answer of [
    await motor.createPolicy({ currency: 'USD' }),
    await motor.post(`/policy/${motor.tenantLocator}/quickquotes`, request),
  ])
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalidRequest', message: "'currency' must be EUR, the currency of the configuration." },
    })
})

describe('A quote', () => {
  it('is created with its policy and selected, as a draft without a price or planned invoices', async () => {
    const { policy, quote } = await draft()
    const { body } = await motor.get<PolicyQuoteResponse>(`/quotes/${quote}`)
    expect(body).toMatchObject({
      locator: quote,
      policyLocator: policy.locator,
      state: 'draft',
      selected: true,
      invoices: [],
      contractStartTimestamp: policy.originalContractStartTimestamp,
    })
    expect(body.grossFees).toBeUndefined()
    const summary = await motor.get(`/policy/${policy.locator}?summarizeQuotes=true`)
    expect(summary.body.quoteSummary).toEqual({
      selected: quote,
      notDiscarded: [{ locator: quote, name: body.name, state: 'draft' }],
    })
  })

  it('has the policy’s price once quoted, and planned invoices that add up to it', async () => {
    const { policy, quote } = await draft({ paymentScheduleName: 'monthly' })
    const { body: before } = await motor.post<PolicyPriceResponse>(`/policy/${policy.locator}/price`)
    const { body: priced, status } = await patch<PolicyPriceResponse>(`/quotes/${quote}/quote`)
    expect(status).toBe(200)
    expect(priced.total).toBe(Number(plainYear().expected.total))
    expect(priced.total).toBe(before.total)
    expect((await motor.get(`/quotes/${quote}/price`)).body).toEqual(priced)
    const { body } = await motor.get<PolicyQuoteResponse>(`/quotes/${quote}`)
    expect(body.state).toBe('quoted')
    expect(body.automatedUnderwritingResult?.decision).toBe('accept')
    const planned = body.invoices.flatMap(invoice => invoice.financialTransactions)
    const payable = planned.filter(one => one.type !== 'commission')
    expect(payable.reduce((sum, one) => sum + Math.round(one.amount * 100), 0)).toBe(
      Math.round(priced.total * 100),
    )
    expect(body.invoices).toHaveLength(12)
    const { status: late } = await patch(`/quotes/${quote}`, { name: 'too late' })
    expect(late).toBe(409)
  })

  it('that underwriting rejects is declined with the notes, cannot be accepted (409), and can be copied', async () => {
    const rejected = workedOf('motor').find(one => one.expected.decision === 'reject')!
    const { quote } = await draft({ ...rejected.request.policy, finalize: false })
    await patch(`/quotes/${quote}/quote`)
    const { body } = await motor.get<PolicyQuoteResponse>(`/quotes/${quote}`)
    expect(body.state).toBe('declined')
    expect(body.automatedUnderwritingResult?.notes).toEqual(rejected.expected.notes)
    const refused = await patch<{ message: string }>(`/quotes/${quote}/accept`)
    expect(refused.status).toBe(409)
    expect(refused.body.message).toContain(rejected.expected.notes[0]!)
    const copy = await copyOf(quote)
    expect(copy).toMatchObject({ state: 'draft', selected: false })
  })

  it('that was declined can be accepted by a person, whose name and note are kept', async () => {
    const rejected = workedOf('motor').find(one => one.expected.decision === 'reject')!
    const { quote } = await draft({ ...rejected.request.policy, finalize: false })
    await patch(`/quotes/${quote}/quote`)
    const { body } = await motor.post<PolicyQuoteResponse>(`/quotes/${quote}/underwriting`, {
      decision: 'accept',
      note: 'Seen the licence.',
    })
    expect(body.state).toBe('quoted')
    expect(body.automatedUnderwritingResult).toMatchObject({ decision: 'accept' })
    expect(body.automatedUnderwritingResult?.notes.at(-1)).toBe('alice.agent: accept, Seen the licence.')
    expect(body.invoices.length).toBeGreaterThan(0)
    expect((await patch(`/quotes/${quote}/accept`)).status).toBe(200)
  })
})

describe('Several quotes on a policy', () => {
  it('can be copies with changes, which have new locators and leave the original unchanged', async () => {
    const { quote } = await draft()
    const { body: original } = await motor.get<PolicyQuoteResponse>(`/quotes/${quote}`)
    const same = await copyOf(quote)
    expect(content(same)).toEqual(content(original))
    expect(same.exposures[0]!.locator).not.toBe(original.exposures[0]!.locator)
    expect(same.exposures[0]!.perils[0]!.locator).not.toBe(original.exposures[0]!.perils[0]!.locator)
    const exposure = original.exposures[0]!
    const glass = exposure.perils.find(peril => peril.name === 'glass')!
    const changed = await copyOf(quote, {
      name: 'without glass',
      updateExposures: [{ exposureLocator: exposure.locator, removePerils: [glass.locator] }],
    })
    expect(changed.name).toBe('without glass')
    expect(changed.exposures[0]!.perils.map(peril => peril.name)).not.toContain('glass')
    expect((await motor.get<PolicyQuoteResponse>(`/quotes/${quote}`)).body).toEqual(original)
  })

  it('include one selected quote, which the policy shows and issues', async () => {
    const { policy, quote } = await draft()
    const longer = await copyOf(quote, {
      policyEndTimestamp: Number(policy.originalContractEndTimestamp) + 86_400_000,
    })
    expect((await patch<string>(`/quotes/${longer.locator}/select`)).body).toBe('')
    const { body: shown } = await motor.get(`/policy/${policy.locator}?summarizeQuotes=true`)
    expect(shown.quoteSummary?.selected).toBe(longer.locator)
    expect(shown.effectiveContractEndTimestamp).toBe(longer.contractEndTimestamp)
    expect(shown.exposures[0]!.locator).toBe(longer.exposures[0]!.locator)
    await motor.post(`/policy/${policy.locator}/finalize`)
    const { body: issued } = await motor.post(`/policy/${policy.locator}/issue`)
    expect(issued.exposures[0]!.locator).toBe(longer.exposures[0]!.locator)
    const { body: quotes } = await quotesOf(policy.locator)
    expect(quotes.map(one => [one.state, one.selected])).toEqual([
      ['draft', false],
      ['accepted', true],
    ])
    expect((await patch(`/quotes/${quote}/select`)).status).toBe(409)
  })

  it('allow one to be accepted at a time, and invalidating it voids its invoices', async () => {
    const { policy, quote } = await draft()
    const other = await copyOf(quote)
    for (const one of [quote, other.locator]) await patch(`/quotes/${one}/quote`)
    await patch(`/quotes/${quote}/accept`)
    const second = await patch<{ message: string }>(`/quotes/${other.locator}/accept`)
    expect(second.status).toBe(409)
    expect(second.body.message).toContain(quote)
    const { body: accepted } = await motor.get(`/policy/${policy.locator}`)
    const { body: taken } = await patch(`/quotes/${quote}/invalidate`)
    expect(taken.state).toBe('quoted')
    const { body: voided } = await motor.get(`/policy/${policy.locator}`)
    expect(voided.invoices.map(one => one.settlementType)).toEqual(accepted.invoices.map(() => 'invalidated'))
    expect((await patch(`/quotes/${other.locator}/accept`)).status).toBe(200)
    const { body: again } = await motor.post(`/policy/${policy.locator}/issue`)
    expect(again.issuedTimestamp).toBeDefined()
    const open = again.invoices.filter(one => one.settlementStatus === 'outstanding')
    expect(open.length).toBeGreaterThan(0)
    for (const one of open) expect(one.policyModificationLocator).toBe(again.modifications[0]!.locator)
  })

  it('can be accepted again after invalidation, with a new invoice', async () => {
    const { policy, quote } = await draft()
    await patch(`/quotes/${quote}/quote`)
    await patch(`/quotes/${quote}/accept`)
    await patch(`/quotes/${quote}/invalidate`)
    await patch(`/quotes/${quote}/accept`)
    const { body } = await motor.get(`/policy/${policy.locator}`)
    expect(body.invoices.map(one => one.settlementStatus)).toEqual(['settled', 'outstanding'])
    expect(body.invoices[1]!.totalDue).toBe(body.invoices[0]!.totalDue)
  })

  it('emit an event for every step, in order', async () => {
    const { policy, quote } = await draft()
    await patch(`/quotes/${quote}`, { name: 'first offer' })
    const other = await copyOf(quote)
    await patch(`/quotes/${quote}/quote`)
    await patch(`/quotes/${quote}/accept`)
    await patch(`/quotes/${quote}/invalidate`)
    await patch(`/quotes/${other.locator}/discard`)
    const types = await typesOf(policy.locator)
    expect(types.filter(type => type.startsWith('policy.quote'))).toEqual([
      'policy.quote.create',
      'policy.quote.update',
      'policy.quote.create',
      'policy.quote.quoted',
      'policy.quote.accept',
      'policy.quote.update',
      'policy.quote.discard',
    ])
  })
})

describe('Discarding the selected quote', () => {
  const discarded = async (steps: readonly string[] = [], changes: object = {}) => {
    const made = await draft(changes)
    for (const step of steps) expect((await patch(`/quotes/${made.quote}/${step}`)).status).toBe(200)
    const answer = await patch(`/quotes/${made.quote}/discard`)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    expect(answer.body).toMatchObject({ state: 'discarded', selected: false })
    return { ...made, answer }
  }
  const followsNone = { selected: '', notDiscarded: [] }
  const summary = async ({ locator }: PolicyResponse) =>
    (await motor.get(`/policy/${locator}?summarizeQuotes=true`)).body.quoteSummary

  it('is possible in draft, quoted and declined, and returns 409 when it is accepted', async () => {
    const rejected = workedOf('motor').find(one => one.expected.decision === 'reject')!.request.policy
    expect(await summary((await discarded()).policy)).toEqual(followsNone)
    const { policy, answer } = await discarded(['quote'])
    expect(roundTrips(answer)).toEqual({ d1: 2, object: 1, r2: 0, queue: 0 })
    expect(await summary(policy)).toEqual(followsNone)
    expect(await typesOf(policy.locator)).toContain('policy.quote.discard')
    const declined = await draft(rejected)
    await patch(`/quotes/${declined.quote}/quote`)
    expect((await motor.get<PolicyQuoteResponse>(`/quotes/${declined.quote}`)).body.state).toBe('declined')
    const price = await motor.get<PolicyPriceResponse>(`/quotes/${declined.quote}/price`)
    expect([price.status, price.body.total > 0]).toEqual([200, true])
    expect((await patch(`/quotes/${declined.quote}/discard`)).status).toBe(200)
    expect((await motor.get(`/quotes/${declined.quote}/price`)).body).toEqual(price.body)
    const accepted = await draft()
    for (const step of ['quote', 'accept']) await patch(`/quotes/${accepted.quote}/${step}`)
    expect((await patch(`/quotes/${accepted.quote}/discard`)).status).toBe(409)
    expect((await summary(accepted.policy))!.selected).toBe(accepted.quote)
  })

  it('leaves the policy empty until another quote is selected', async () => {
    const { policy, quote } = await discarded()
    const path = `/policy/${policy.locator}`
    const { body: empty } = await motor.get(path)
    expect(empty).toMatchObject({
      locator: policy.locator,
      originalContractStartTimestamp: policy.originalContractStartTimestamp,
      paymentScheduleName: policy.paymentScheduleName,
      characteristics: [],
      modifications: [],
      exposures: [],
      grossFees: 0,
      fees: [],
      documents: [],
      invoices: [],
    })
    const copy = await copyOf(quote)
    expect((await motor.get(path)).body.characteristics).toEqual([])
    expect((await patch(`/quotes/${copy.locator}/select`)).status).toBe(200)
    expect((await motor.get(path)).body.exposures[0]!.locator).toBe(copy.exposures[0]!.locator)
    const finalized = await motor.post(`${path}/finalize`)
    expect(finalized.body.invoices.length).toBeGreaterThan(0)
    expect((await motor.post(`${path}/issue`)).status).toBe(200)
  })

  it('leaves the policy without a selected quote until another is accepted', async () => {
    const { policy, quote } = await discarded()
    const copy = await copyOf(quote)
    for (const step of ['quote', 'accept']) await patch(`/quotes/${copy.locator}/${step}`)
    expect((await summary(policy))!.selected).toBe(copy.locator)
  })

  it('is not visible in snapshots of an earlier time, which show the quote', async () => {
    const { policy, quote } = await draft()
    await new Promise(done => setTimeout(done, 4))
    const before = await motor.get(`/policy/${policy.locator}`)
    const asOfTimestamp = Date.now()
    await new Promise(done => setTimeout(done, 4))
    await patch(`/quotes/${quote}/discard`)
    const path = `/policies/${policy.locator}/snapshot`
    expect((await motor.post(path, { asOfTimestamp })).body).toEqual(before.body)
    const now = await motor.get(`/policy/${policy.locator}`)
    expect((await motor.post(path)).body).toEqual(now.body)
    expect((await motor.post(path, { asOfTimestamp: Date.now() + 1 })).body).toEqual(now.body)
  })

  it('makes every operation that needs a quote return 409 and ask for one to be selected', async () => {
    const { policy } = await discarded()
    const { operations } = await readApi()
    const own = operations.filter(
      ({ path, access }) =>
        access === 'tenant' && (path.includes('{policyLocator}') || path.startsWith('/policy/{locator}')),
    )
    expect(own.length).toBeGreaterThan(30)
    const { originalContractStartTimestamp: start, originalContractEndTimestamp: end } = policy
    const body = {
      endorsementName: 'x',
      name: 'lapse',
      effectiveTimestamp: start,
      coverageEndTimestamp: start,
      renewalEndTimestamp: Number(end) + 86_400_000,
      newPaymentScheduleName: policy.paymentScheduleName,
      cancellation: { name: 'lapse', effectiveTimestamp: start },
      newFees: [],
      reverseFees: [],
    }
    const isDiscard = ({ path }: { path: string }): boolean => path.endsWith('/discard')
    for (const { method, path } of own.sort((a, b) => Number(isDiscard(a)) - Number(isDiscard(b)))) {
      const address = filledPath(path, name => (/^(policyL|l)ocator$/.test(name) ? policy.locator : 'x'))
      const sent = method === 'GET' ? undefined : body
      const answer = await callApi<{ message?: string }>(method, address, { token: motor.token, body: sent })
      const says = answer.status === 409 ? answer.body.message : ''
      const operation = `${method} ${path}`
      expect(`${answer.status} ${says}`, operation).toMatch(WITHOUT_QUOTE[operation] ?? SELECT_FIRST)
    }
    const list = await motor.get<{ policies: { locator: string; state: string; grossPremium?: number }[] }>(
      '/policies?state=created&pageSize=1000',
    )
    expect(list.body.policies.map(one => one.locator)).not.toContain(policy.locator)
    const { policy: open } = await discarded()
    const created = await motor.get<typeof list.body>('/policies?state=created&pageSize=1000')
    const listed = created.body.policies.find(one => one.locator === open.locator)!
    expect(listed).toMatchObject({ state: 'created' })
    expect(listed.grossPremium).toBeUndefined()
  })
})

describe('An invalid action on a quote', () => {
  const refused = async (answer: Promise<Answer<unknown>>, says: RegExp): Promise<void> => {
    const { status, body } = await answer
    expect(status).toBe(409)
    expect((body as { message: string }).message).toMatch(says)
  }

  it('returns 409 with the allowed actions when the state does not allow it', async () => {
    const { quote } = await draft()
    const other = await copyOf(quote)
    await refused(
      patch(`/quotes/${quote}/accept`),
      /is draft and cannot be accepted; it allows update, quote/,
    )
    await refused(patch(`/quotes/${quote}/invalidate`), /cannot be invalidated/)
    await refused(motor.get(`/quotes/${quote}/price`), /no price yet; price it with PATCH/)
    await patch(`/quotes/${other.locator}/discard`)
    await refused(patch(`/quotes/${other.locator}/quote`), /is discarded/)
    await refused(motor.get(`/quotes/${other.locator}/price`), /is discarded and was never priced\.$/)
    await refused(patch(`/quotes/${other.locator}/select`), /is discarded/)
    await patch(`/quotes/${quote}/quote`)
    await refused(patch(`/quotes/${quote}/quote`), /is quoted and cannot be quoted/)
  })

  it('returns 400 with every problem of an invalid update, and 404 for an unknown quote', async () => {
    const { quote } = await draft()
    const empty = await patch<{ message: string }>(`/quotes/${quote}`, {})
    expect(empty.status).toBe(400)
    const wrong = await patch<{ message: string; policyFieldErrors: object }>(`/quotes/${quote}`, {
      fieldValues: { nonsense: 'x', claims_free_years: 'many' },
      addExposures: [
        { exposureName: 'boat' },
        { exposureName: 'vehicle', fieldValues: { usage: 'fun' }, perils: [{ name: 'sinking' }] },
      ],
    })
    expect(wrong.status).toBe(400)
    const usage = { fieldName: 'usage', code: 'INVALID_VALUE' }
    const peril = { name: 'sinking', fieldErrors: { errors: [{ code: 'INVALID_FIELD' }] } }
    expect(wrong.body.policyFieldErrors).toMatchObject({
      policyFieldErrors: { hasErrors: true },
      exposureValidationErrors: [
        { index: 1, exposureFieldErrors: { errors: [usage] }, perilValidationErrors: [peril] },
        { exposureName: 'boat' },
      ],
    })
    expect((await patch('/quotes/100000001', { name: 'x' })).status).toBe(404)
    expect((await patch(`/quotes/${quote}`, { policyEndTimestamp: 1 })).status).toBe(400)
  })
})

describe('A quote that is not selected', () => {
  // Raters charge more for monthly payment, and less for early customers.
  const RATER = `exports.getPerilRates = ({ policy, policyExposurePerils }) => {
    const yearlyPremium = policy.paymentScheduleName === 'monthly' ? '132.00' : '120.00'
    return { pricedPerilCharacteristics: Object.fromEntries(
      policyExposurePerils.map(one => [one.perilCharacteristicsLocator, { yearlyPremium }])) }
  }`
  const UNDERWRITER = `exports.getUnderwritingResult = ({ policy }) => ({ decision: 'accept', notes: [
    policy.paymentScheduleName, policy.originalContractStartTimestamp, policy.effectiveContractEndTimestamp ] })`
  const BILLS = `exports.createInstallments = data => ({ installments: [{
    startTimestamp: data.policy.originalContractStartTimestamp, endTimestamp: data.policy.originalContractEndTimestamp,
    issueTimestamp: data.coverageStartTimestamp, dueTimestamp: data.coverageStartTimestamp,
    invoiceItems: data.charges.map(one => ({ chargeId: one.chargeId, amount: one.amount })) }] })`
  const TAX = 'products/private_motor/policy/taxes/insurance_tax.premium.liquid'
  const [START, END] = [Date.UTC(2027, 5, 1), Date.UTC(2028, 5, 1)]

  it('is rated, underwritten and billed with its own times and payment schedule', async () => {
    const files = {
      ...withPlugins({
        getPerilRates: RATER,
        getUnderwritingResult: UNDERWRITER,
        createInstallments: BILLS,
      }),
      [TAX]: `{% assign at = data.policy_characteristics.policy_start_timestamp %}{% if at == ${START} %}{{ 7 | set_peril_tax }}{% endif %}`,
    }
    const own = await motorTenant('quotes-apart', files)
    // Three years after the other quote, so that bills of the other would be outside of this contract.
    const { body: policy } = await own.createPolicy({
      finalize: false,
      policyStartTimestamp: Date.UTC(2030, 5, 1),
      policyEndTimestamp: Date.UTC(2031, 5, 1),
    })
    const { body: quotes } = await own.get<PolicyQuoteResponse[]>(`/policies/${policy.locator}/quotes`)
    const { body: other } = await own.post<PolicyQuoteResponse>(`/quotes/${quotes[0]!.locator}/createNew`, {
      paymentScheduleName: 'monthly',
      policyStartTimestamp: START,
      policyEndTimestamp: END,
    })
    const answer = await callApi<PolicyPriceResponse>('PATCH', `/quotes/${other.locator}/quote`, {
      token: own.token,
    })
    expect(answer.status).toBe(200)
    const perils = policy.exposures.flatMap(one => one.perils).length
    expect(answer.body.grossPremium).toBe(132 * perils)
    expect(answer.body.taxGroups.find(one => one.name === 'insurance_tax')?.amount).toBe(7 * perils)
    const { body: quoted } = await own.get<PolicyQuoteResponse>(`/quotes/${other.locator}`)
    expect(quoted).toMatchObject({
      selected: false,
      state: 'quoted',
      automatedUnderwritingResult: { notes: ['monthly', String(START), String(END)] },
      invoices: [{ startTimestamp: String(START), endTimestamp: String(END) }],
    })
    // The policy still follows the first quote.
    expect((await own.get(`/policy/${policy.locator}`)).body).toMatchObject({
      originalContractStartTimestamp: String(Date.UTC(2030, 5, 1)),
      paymentScheduleName: policy.paymentScheduleName,
    })
  })
})

it('reading a quote takes one D1 round trip, and acting on one a look-up and at most two', async () => {
  const { quote } = await draft()
  await motor.get('/v1/ping/authorized')
  expect(roundTrips(await motor.get(`/quotes/${quote}`))).toMatchObject({ d1: 1, object: 0 })
  expect(roundTrips(await patch(`/quotes/${quote}`, { name: 'named' })).d1).toBeLessThanOrEqual(3)
})

it('copying a quote again with the same Idempotency-Key returns the original response', async () => {
  const { policy, quote } = await draft()
  const headers = { 'idempotency-key': 'copy-once' }
  const first = await motor.post<PolicyQuoteResponse>(`/quotes/${quote}/createNew`, {}, headers)
  const second = await motor.post<PolicyQuoteResponse>(`/quotes/${quote}/createNew`, {}, headers)
  expect(second.body).toEqual(first.body)
  expect((await quotesOf(policy.locator)).body).toHaveLength(2)
})
