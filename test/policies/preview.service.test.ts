// Previews through HTTP: a preview shows the result that the transaction then has, and stores nothing (brief 10.8).
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { FutureInvoiceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyPriceChangeResponse } from '../../src/rating/contract-change.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import type { PolicyPreviewResponse } from '../../src/transactions/preview/contract.ts'
import type { ReinstatementResponse } from '../../src/transactions/reinstatements/contract.ts'
import type { RenewalResponse } from '../../src/transactions/renewals/contract.ts'
import { type Answer, callApi } from '../support/api.ts'
import { comparable } from '../support/comparable.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'

const BERLIN = 'Europe/Berlin' as TimeZone

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('preview', {
    ...motorWithoutPapers(),
    'products/private_motor/policy/endorsements.json': JSON.stringify({
      endorsements: ['always', 'input'].map(reprice => ({
        name: reprice,
        displayName: reprice,
        reprice,
        documents: [],
      })),
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

const monthsIn = (policy: PolicyResponse, count: number): Instant =>
  add(Number(policy.originalContractStartTimestamp) as Instant, count, 'month', BERLIN)

const patch = async <Body>(path: string, body?: object): Promise<Body> => {
  const answer = await callApi<Body>('PATCH', path, { token: motor.token, body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

const ask = <Body = PolicyPreviewResponse>(policy: PolicyResponse, body: object): Promise<Answer<Body>> =>
  motor.post<Body>(`/policies/${policy.locator}/preview`, body)

async function preview(policy: PolicyResponse, body: object): Promise<PolicyPreviewResponse> {
  const answer = await ask(policy, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

const endorsing = (policy: PolicyResponse, more: object = {}) => ({
  endorsementName: 'always',
  startTimestamp: monthsIn(policy, 6),
  updateExposures: [
    { exposureLocator: policy.exposures[0]!.locator, fieldValues: { vehicle_value: '49000' } },
  ],
  ...more,
})

const renewing = (policy: PolicyResponse, more: object = {}) => ({
  renewalEndTimestamp: monthsIn(policy, 24),
  ...more,
})

const cancelling = (policy: PolicyResponse, more: object = {}) => ({
  effectiveTimestamp: monthsIn(policy, 5),
  name: 'customer_request',
  cancellationCategory: 'other',
  ...more,
})

async function cancelled(): Promise<{ policy: PolicyResponse; cancellation: CancellationResponse }> {
  const policy = await issued()
  const { body } = await motor.post<CancellationResponse>(
    `/policies/${policy.locator}/cancellations`,
    cancelling(policy, { issue: true }),
  )
  return { policy, cancellation: body }
}

/** The properties that an issued invoice and its preview have in common. */
const billed = (invoices: readonly PolicyPreviewResponse['invoices'][0][]) =>
  invoices.map(one => [one.invoiceType, one.startTimestamp, one.endTimestamp, one.dueTimestamp, one.totalDue])

const invoicesOf = (policy: PolicyResponse, modification: string | undefined) =>
  policy.invoices.filter(one => one.policyModificationLocator === modification)

/** Checks the preview against the policy after the real transaction. */
function holdsAgainst(foreseen: PolicyPreviewResponse, now: PolicyResponse, from: PolicyResponse): void {
  expect(comparable(foreseen.policyWhenIssued)).toEqual(comparable(now))
  const last = now.modifications.at(-1)!
  expect(last.premiumChange).toBe(foreseen.price.grossPremiumChange)
  const made = invoicesOf(now, last.locator)
  const dueNow = foreseen.invoices.slice(0, made.length)
  expect(made.length).toBe(now.invoices.length - from.invoices.length)
  expect(
    made.map(one => [one.invoiceType, one.startTimestamp, one.endTimestamp, one.dueTimestamp, one.totalDue]),
  ).toEqual(billed(dueNow))
}

/** Checks that the items of every invoice add up to it, without commissions. */
function addUp({ invoices }: PolicyPreviewResponse): void {
  for (const { financialTransactions: items, totalDue } of invoices) {
    const payable = items.filter(one => one.type !== 'commission')
    expect(payable.reduce((sum, one) => sum + cents(one.amount), 0)).toBe(cents(totalDue))
  }
}

describe('The preview of an endorsement', () => {
  it('matches its quote and issue in price, policy and invoices', async () => {
    const policy = await issued({ paymentScheduleName: 'quarterly' })
    const body = endorsing(policy, { fieldValues: { claims_free_years: '3' } })
    const foreseen = await preview(policy, { endorsement: body })
    expect(foreseen.conflicts).toEqual([])
    expect(foreseen.automatedUnderwritingResult).toMatchObject({ decision: 'accept', notes: [] })
    expect(foreseen.price.totalChange).toBeGreaterThan(0)
    // The quarters still to be paid, now at a higher price, and the difference for the days before them.
    const open = (await read(policy)).invoices.length
    expect(foreseen.invoices.length).toBeGreaterThan(1)
    expect(open).toBe(1)
    addUp(foreseen)
    const { body: applied } = await motor.post<EndorsementResponse>(
      `/policies/${policy.locator}/endorsements`,
      body,
    )
    const path = `/endorsements/${applied.locator}`
    await patch(path, { action: 'quote' })
    const { body: quoted } = await motor.get<PolicyPriceChangeResponse>(`${path}/price`)
    expect(foreseen.price).toEqual(quoted)
    await patch(path, { action: 'issue' })
    expect((await motor.get(`${path}/price`)).body).toEqual(foreseen.price)
    holdsAgainst(foreseen, await read(policy), policy)
  })

  it('with a new payment schedule lists every invoice that its quote plans', async () => {
    const policy = await issued({ paymentScheduleName: 'quarterly' })
    const body = endorsing(policy, { newPaymentScheduleName: 'monthly' })
    const foreseen = await preview(policy, { endorsement: body })
    addUp(foreseen)
    const { body: quoted } = await motor.post<EndorsementResponse>(
      `/policies/${policy.locator}/endorsements`,
      { ...body, state: 'quoted' },
    )
    const told = ({ financialTransactions: items, ...one }: FutureInvoiceResponse) => [
      one.startTimestamp,
      one.endTimestamp,
      one.dueTimestamp,
      items.filter(item => item.type !== 'commission').reduce((sum, item) => sum + cents(item.amount), 0),
    ]
    expect(foreseen.invoices.length).toBeGreaterThan(1)
    // In addition to the quarter that remains as planned.
    expect(foreseen.invoices.slice(1).map(told)).toEqual(quoted.plannedInvoices!.map(told))
    const issuedOne = await patch<EndorsementResponse>(`/endorsements/${quoted.locator}`, { action: 'issue' })
    // Once issued, it shows what is still planned of its own plan.
    expect(issuedOne.plannedInvoices!.map(told)).toEqual(quoted.plannedInvoices!.map(told))
    expect(comparable(foreseen.policyWhenIssued)).toEqual(comparable(await read(policy)))
  })

  it('uses the same transient locators for added exposures and perils in the policy and in the price', async () => {
    const policy = await issued()
    const copy = policy.exposures[0]!.characteristics[0]!.fieldValues
    const body = {
      ...endorsing(policy, { updateExposures: [] }),
      addExposures: [
        {
          exposureName: 'vehicle',
          fieldValues: { ...copy, registration_plate: 'B-GL 1986' },
          perils: [{ name: 'liability' }],
        },
      ],
    }
    const foreseen = await preview(policy, { endorsement: body })
    const added = foreseen.policyWhenIssued.exposures.at(-1)!
    expect(foreseen.price.exposurePrices.at(-1)!.locator).toBe(added.locator)
    // Below those of records.
    expect(Number(added.displayId)).toBeLessThan(100_000_000)
    const segments = new Set(added.perils.flatMap(peril => peril.characteristics.map(one => one.locator)))
    for (const item of foreseen.invoices[0]!.financialTransactions)
      expect(segments).toContain(item.perilCharacteristicsLocator)
    await motor.post(`/policies/${policy.locator}/endorsements`, { ...body, state: 'issued' })
    const now = await read(policy)
    holdsAgainst(foreseen, now, policy)
    expect(now.exposures.at(-1)!.locator).not.toBe(added.locator)
  })

  it('that underwriting does not accept shows the policy as it will be if a person accepts', async () => {
    const policy = await issued()
    const body = endorsing(policy, {
      fieldValues: { previous_insurer_cancelled: 'yes', cancellation_reason: 'Unpaid premium.' },
    })
    const foreseen = await preview(policy, { endorsement: body })
    expect(foreseen.automatedUnderwritingResult).toMatchObject({
      decision: 'none',
      notes: ['A previous insurer has cancelled: refer to an underwriter.'],
    })
    expect(foreseen.policyWhenIssued.modifications.at(-1)!.automatedUnderwritingResult).toEqual(
      foreseen.automatedUnderwritingResult,
    )
    const { body: applied } = await motor.post<EndorsementResponse>(
      `/policies/${policy.locator}/endorsements`,
      body,
    )
    const path = `/endorsements/${applied.locator}`
    await motor.post(`${path}/underwriting`, { decision: 'accept' })
    await patch(path, { action: 'quote' })
    await patch(path, { action: 'issue' })
    expect(foreseen.price).toEqual((await motor.get(`${path}/price`)).body)
  })

  it('names conflicting transactions, and shows the result of invalidating them', async () => {
    const policy = await issued()
    const { body: first } = await motor.post<EndorsementResponse>(
      `/policies/${policy.locator}/endorsements`,
      endorsing(policy, { state: 'accepted' }),
    )
    const before = await read(policy)
    const body = endorsing(policy, { fieldValues: { claims_free_years: '1' } })
    const foreseen = await preview(policy, { endorsement: body })
    expect(foreseen.conflicts).toEqual([{ kind: 'endorsement', locator: first.locator, state: 'accepted' }])
    await motor.post(`/policies/${policy.locator}/endorsements`, {
      ...body,
      state: 'issued',
      conflictHandling: 'invalidate',
    })
    holdsAgainst(foreseen, await read(policy), before)
  })
})

describe('The preview of a renewal', () => {
  it('matches its quote and issue, and lists every invoice of its schedule', async () => {
    const policy = await issued()
    const body = renewing(policy, { newPaymentScheduleName: 'quarterly' })
    const foreseen = await preview(policy, { renewal: body })
    expect(foreseen.invoices).toHaveLength(4)
    expect(foreseen.invoices.reduce((sum, one) => sum + cents(one.totalDue), 0)).toBe(
      cents(foreseen.price.totalChange),
    )
    addUp(foreseen)
    const { body: applied } = await motor.post<RenewalResponse>(`/policies/${policy.locator}/renewals`, body)
    const path = `/renewals/${applied.locator}`
    const quoted = await patch<RenewalResponse>(path, { action: 'quote' })
    const { body: price } = await motor.get<PolicyPriceChangeResponse>(`${path}/price`)
    expect(comparable(price)).toEqual(comparable(foreseen.price))
    expect(
      quoted.plannedInvoices!.map(one => [one.startTimestamp, one.endTimestamp, one.dueTimestamp]),
    ).toEqual(foreseen.invoices.map(one => [one.startTimestamp, one.endTimestamp, one.dueTimestamp]))
    await patch(path, { action: 'issue' })
    holdsAgainst(foreseen, await read(policy), policy)
  })
})

describe('The preview of a cancellation', () => {
  it('matches its draft and issue, and lists the remaining bills', async () => {
    const policy = await issued({ paymentScheduleName: 'monthly' })
    const foreseen = await preview(policy, { cancellation: cancelling(policy) })
    expect(foreseen.automatedUnderwritingResult).toBeUndefined()
    // Five of twelve months remain, and one of them is billed: nothing is given back.
    expect(foreseen.invoices.map(one => one.invoiceType)).toEqual(
      Array.from({ length: 4 }, () => 'installment'),
    )
    const open = foreseen.invoices.reduce((sum, one) => sum + cents(one.totalDue), 0)
    expect(open + cents(policy.invoices[0]!.totalDue)).toBe(cents(foreseen.price.newTotal))
    addUp(foreseen)
    const { body: draft } = await motor.post<CancellationResponse>(
      `/policies/${policy.locator}/cancellations`,
      cancelling(policy),
    )
    const path = `/cancellations/${draft.locator}`
    expect((await motor.get(`${path}/price`)).body).toEqual(foreseen.price)
    const done = await patch<CancellationResponse>(`${path}/issue`)
    expect(done.price).toEqual(foreseen.price)
    holdsAgainst(foreseen, await read(policy), policy)
  })

  it('names a conflicting accepted reinstatement of an earlier cancellation', async () => {
    const { policy, cancellation } = await cancelled()
    const draft = await patch<ReinstatementResponse>(`/cancellations/${cancellation.locator}/reinstate`, {})
    const earlier = cancelling(policy, { effectiveTimestamp: monthsIn(policy, 3) })
    expect((await preview(policy, { cancellation: earlier })).conflicts).toEqual([])
    await patch(`/reinstatements/${draft.locator}/accept`)
    const before = await read(policy)
    const foreseen = await preview(policy, { cancellation: earlier })
    expect(foreseen.conflicts).toEqual([{ kind: 'reinstatement', locator: draft.locator, state: 'accepted' }])
    await motor.post(`/policies/${policy.locator}/cancellations`, {
      ...earlier,
      issue: true,
      conflictHandling: 'invalidate',
    })
    holdsAgainst(foreseen, await read(policy), before)
  })

  it('does not need a cancellation category', async () => {
    const policy = await issued()
    const foreseen = await preview(policy, {
      cancellation: { effectiveTimestamp: monthsIn(policy, 5), name: 'customer_request' },
    })
    const chosen = await preview(policy, { cancellation: cancelling(policy) })
    expect(foreseen.price).toEqual(chosen.price)
  })
})

describe('The preview of a reinstatement', () => {
  it('matches its draft and issue in price, policy and invoice', async () => {
    const { policy, cancellation } = await cancelled()
    const before = await read(policy)
    const foreseen = await preview(policy, { reinstatement: { cancellationLocator: cancellation.locator } })
    expect(foreseen.price.totalChange).toBe(-cancellation.price!.totalChange)
    expect(foreseen.automatedUnderwritingResult).toMatchObject({ decision: 'accept' })
    addUp(foreseen)
    const draft = await patch<ReinstatementResponse>(`/cancellations/${cancellation.locator}/reinstate`, {})
    const path = `/reinstatements/${draft.locator}`
    expect((await motor.get(`${path}/price`)).body).toEqual(foreseen.price)
    await patch(`${path}/accept`)
    const done = await patch<ReinstatementResponse>(`${path}/issue`)
    expect(done.price).toEqual(foreseen.price)
    holdsAgainst(foreseen, await read(policy), before)
  })
})

describe('POST /policies/{locator}/preview', () => {
  it('requires exactly one transaction', async () => {
    const policy = await issued()
    for (const body of [
      {},
      { renewal: null },
      { renewal: renewing(policy), cancellation: cancelling(policy) },
    ]) {
      const { status, body: problem } = await ask<{ message: string }>(policy, body)
      expect(status).toBe(400)
      expect(problem.message).toContain(
        'must have exactly one of issue, endorsement, renewal, cancellation, reinstatement',
      )
    }
  })

  it('rejects an invalid transaction with the same status, code and message as the transaction itself', async () => {
    const policy = await issued()
    const path = `/policies/${policy.locator}`
    type Problem = { message: string; code: string; policyFieldErrors?: unknown }
    const same = async (kind: string, real: string, body: object, status: number): Promise<void> => {
      const refused = await ask<Problem>(policy, { [kind]: body })
      const { status: actual, body: problem } = await motor.post<Problem>(`${path}/${real}`, body)
      expect([refused.status, actual]).toEqual([status, status])
      expect(refused.body.message).toBe(problem.message)
      expect(refused.body.code).toBe(problem.code)
      expect(refused.body.policyFieldErrors).toEqual(problem.policyFieldErrors)
    }
    const quoted = { state: 'quoted' }
    await same('endorsement', 'endorsements', endorsing(policy, { endorsementName: 'unheard' }), 400)
    await same('endorsement', 'endorsements', endorsing(policy, { endorsementName: 'input', ...quoted }), 400)
    await same('endorsement', 'endorsements', endorsing(policy, { startTimestamp: 0 }), 400)
    await same('endorsement', 'endorsements', endorsing(policy, { fieldValues: { what: '1' } }), 400)
    await same(
      'endorsement',
      'endorsements',
      endorsing(policy, { fieldValues: { previous_insurer_cancelled: 'yes' }, ...quoted }),
      400,
    )
    await same('renewal', 'renewals', renewing(policy, { renewalEndTimestamp: 0 }), 400)
    await same('renewal', 'renewals', renewing(policy, { newPaymentScheduleName: 'never', ...quoted }), 400)
    await same('cancellation', 'cancellations', cancelling(policy, { name: 'unheard' }), 400)
    await same('cancellation', 'cancellations', cancelling(policy, { cancellationCategory: 'x' }), 400)
    for (const [locator, status] of [
      ['100000000', 404],
      ['none', 404],
    ] as const)
      expect((await ask(policy, { reinstatement: { cancellationLocator: locator } })).status).toBe(status)
    const { body: draft } = await motor.createPolicy()
    expect((await ask(draft, { renewal: renewing(policy) })).status).toBe(409)
    expect((await motor.post('/policies/100000000/preview', { renewal: renewing(policy) })).status).toBe(404)
  })

  it('stores and announces nothing, and takes one D1 round trip', async () => {
    const { policy, cancellation } = await cancelled()
    const other = await issued()
    const before = await everyRow()
    const trips = []
    for (const [of, body] of [
      [other, { endorsement: endorsing(other, { addExposures: [] }) }],
      [other, { renewal: renewing(other) }],
      [other, { cancellation: cancelling(other) }],
      [policy, { reinstatement: { cancellationLocator: cancellation.locator } }],
    ] as const) {
      await motor.get('/v1/ping/authorized')
      const answer = await ask(of, body)
      expect(answer.status).toBe(200)
      trips.push(roundTrips(answer))
    }
    expect(trips).toEqual(trips.map(() => ({ d1: 1, object: 0, r2: 0, queue: 0 })))
    expect(await everyRow()).toEqual(before)
  })
})

/** Every row of every table of the tenant. */
async function everyRow(): Promise<Record<string, unknown[]>> {
  const database = boundDatabase(poolBinding(1))
  const { results: tables } = await database
    .prepare("select name from sqlite_master where type = 'table' and name not like '\\_%' escape '\\'")
    .all<{ name: string }>()
  const rows: Record<string, unknown[]> = {}
  for (const { name } of tables)
    rows[name] = (await database.prepare(`select * from "${name}"`).all()).results
  return rows
}
