// `If-Previewed` with concurrent activity: documents, payouts, autofill and conflicting transactions; and the issue of a policy.
import { beforeAll, describe, expect, it } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import type { PolicyPreviewResponse } from '../../src/transactions/preview/contract.ts'
import { whenMade } from '../documents/waiting.ts'
import { type Answer, callApi } from '../support/api.ts'
import { autofilled } from '../support/autofilled.ts'
import { boatTenant } from '../support/boat.ts'
import { prepareDatabases } from '../support/databases.ts'
import { exampleFiles, motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'

type Refused = { code: string; message: string; previewReason?: string }

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 4 })
  motor = await motorTenant('moves', motorWithoutPapers())
})

const created = async (of = motor, changes = {}): Promise<PolicyResponse> =>
  (await of.createPolicy(changes)).body

const issued = async (of = motor, changes = {}): Promise<PolicyResponse> =>
  (await of.post(`/policy/${(await created(of, changes)).locator}/issue`)).body

async function preview(policy: PolicyResponse, body: object, of = motor): Promise<PolicyPreviewResponse> {
  const answer = await of.post<PolicyPreviewResponse>(`/policies/${policy.locator}/preview`, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

const send = <Body = Refused>(
  path: string,
  body: object | undefined,
  previewed: string,
  of = motor,
  key?: string,
) =>
  callApi<Body>('POST', path, {
    token: of.token,
    ...(body && { body }),
    headers: { 'if-previewed': previewed, ...(key !== undefined && { 'idempotency-key': key }) },
  })

const endorsing = ({ exposures }: PolicyResponse, value = '49000') => ({
  endorsementName: 'change_of_risk',
  updateExposures: [{ exposureLocator: exposures[0]!.locator, fieldValues: { vehicle_value: value } }],
})

const endorse = (policy: PolicyResponse, body: object, previewed: string, of = motor) =>
  send<EndorsementResponse & Refused>(
    `/policies/${policy.locator}/endorsements`,
    { ...body, state: 'issued' },
    previewed,
    of,
  )

const outdated = ({ status, body }: Answer<Refused>) => [status, body.code, body.previewReason]

describe('Issuing a previewed policy', () => {
  it('charges the previewed price of its quote, and the token works once', async () => {
    const policy = await created()
    const { price, invoices, policyWhenIssued, conflicts, previewToken } = await preview(policy, {
      issue: {},
    })
    const quoted = (await motor.get<{ totalDue: number }>(`/policy/${policy.locator}/price`)).body
    expect([price.newTotal, price.totalChange, conflicts]).toEqual([quoted.totalDue, quoted.totalDue, []])
    expect(invoices.map(one => one.totalDue)).toEqual([quoted.totalDue])
    expect(policyWhenIssued.issuedTimestamp).toBeDefined()
    expect((await motor.get(`/policy/${policy.locator}`)).body.issuedTimestamp).toBeUndefined()
    const done = await send<PolicyResponse>(`/policy/${policy.locator}/issue`, undefined, previewToken)
    expect(done.status, JSON.stringify(done.body)).toBe(200)
    expect(done.body.invoices.map(one => one.totalDue)).toEqual([quoted.totalDue])
    expect(roundTrips(done)).toEqual({ d1: 1, object: 1, r2: 0, queue: 0 })
    expect(outdated(await send(`/policy/${policy.locator}/issue`, undefined, previewToken))).toEqual([
      409,
      'previewOutdated',
      'used',
    ])
  })

  it('needs a finalized policy that is not issued, or its preview returns 409', async () => {
    const draft = await created(motor, { finalize: false })
    const early = await motor.post<Refused>(`/policies/${draft.locator}/preview`, { issue: {} })
    expect([early.status, early.body.code]).toEqual([409, 'wrongState'])
    const policy = await issued()
    const late = await motor.post<Refused>(`/policies/${policy.locator}/preview`, { issue: {} })
    expect([late.status, late.body.code]).toEqual([409, 'wrongState'])
    const both = await motor.post<Refused>(`/policies/${policy.locator}/preview`, {
      issue: {},
      endorsement: endorsing(policy),
    })
    expect(both.status).toBe(400)
  })

  it('is rejected when another quote was accepted after the preview', async () => {
    const policy = await created()
    const { previewToken } = await preview(policy, { issue: {} })
    const [quote] = (await motor.get<{ locator: string }[]>(`/policies/${policy.locator}/quotes`)).body
    const act = (locator: string, action: string) =>
      callApi('PATCH', `/quotes/${locator}/${action}`, { token: motor.token })
    expect((await act(quote!.locator, 'invalidate')).status).toBe(200)
    expect((await act(quote!.locator, 'accept')).status).toBe(200)
    expect(outdated(await send(`/policy/${policy.locator}/issue`, undefined, previewToken))[2]).toBe('policy')
    const again = await preview(policy, { issue: {} })
    const elsewhere = await created()
    expect(outdated(await send(`/policy/${elsewhere.locator}/issue`, undefined, again.previewToken))[2]).toBe(
      'operation',
    )
    expect((await send(`/policy/${policy.locator}/issue`, undefined, again.previewToken)).status).toBe(200)
  })

  it('returns the original response for a repeat with the same key', async () => {
    const policy = await created()
    const { previewToken } = await preview(policy, { issue: {} })
    const path = `/policy/${policy.locator}/issue`
    const first = await send(path, undefined, previewToken, motor, 'issue-once')
    const repeated = await send(path, undefined, previewToken, motor, 'issue-once')
    expect([first.status, repeated.status, repeated.body]).toEqual([200, 200, first.body])
  })
})

describe('Documents', () => {
  it('generated in the background do not outdate a preview', async () => {
    const of = await motorTenant('moves-papers', exampleFiles('motor'))
    const policy = await issued(of)
    expect(policy.documents.filter(one => one.state === 'draft').length).toBeGreaterThan(0)
    const { previewToken } = await preview(policy, { endorsement: endorsing(policy) }, of)
    const read = async () => (await of.get(`/policy/${policy.locator}`)).body
    await whenMade(read, one => one.documents)
    const made = await endorse(policy, endorsing(policy), previewToken, of)
    expect([made.status, made.body.state], JSON.stringify(made.body)).toEqual([200, 'issued'])
  })

  it('that are uploaded do not outdate a preview, but a payment does', async () => {
    const policy = await issued()
    const body = endorsing(policy)
    const { previewToken } = await preview(policy, { endorsement: body })
    const form = new FormData()
    form.set('document', new Blob(['%PDF-1.4\n%%EOF\n'], { type: 'application/pdf' }), 'terms.pdf')
    const uploaded = await callApi(
      'POST',
      `/policy/${policy.locator}/addDocument?displayName=Terms&documentType=terms`,
      {
        token: motor.token,
        body: form,
      },
    )
    expect(uploaded.status, JSON.stringify(uploaded.body)).toBe(200)
    expect((await endorse(policy, body, previewToken)).status).toBe(200)
    const second = await preview(policy, { endorsement: endorsing(policy, '47000') })
    const [invoice] = policy.invoices
    await motor.post(`/invoice/${invoice!.locator}/pay`, { fieldValues: { method: ['card'] } })
    expect(outdated(await endorse(policy, endorsing(policy, '47000'), second.previewToken))[2]).toBe('policy')
  })
})

describe('A rejected payout', () => {
  it('outdates a preview, because it writes the refund off', async () => {
    const POLICY = 'products/boat/policy'
    const boats = await boatTenant('moves-boats', 'EUR', {
      files: {
        [`${POLICY}/policy.json`]: JSON.stringify({
          fields: [],
          paymentSchedules: [{ type: 'total', name: 'upfront', displayName: 'At once' }],
          defaultPaymentTerms: { amount: 10, unit: 'day' },
          lapse: { gracePeriodDays: 15, reinstatementPeriodDays: 60 },
        }),
      },
      without: [`${POLICY}/cancellations.json`],
    })
    // Paid in part and lapsed; then the payment bounces, so the refund of the lapse cannot be paid out.
    const policy = await boats.insured({ yearly: '1200', paymentScheduleName: 'upfront' })
    const [invoice] = policy.invoices
    const { locator: payment } = await boats.ok<{ locator: string }>(
      'POST',
      `/invoice/${invoice!.locator}/pay`,
      { fieldValues: {}, amount: 500 },
    )
    const until = (timestamp: string) => boats.until((Number(timestamp) + 60_000) as Instant)
    await until(invoice!.dueTimestamp!)
    const [grace] = await boats.ok<{ endTimestamp: string }[]>(
      'GET',
      `/policy/${policy.locator}/gracePeriods`,
    )
    await until(grace!.endTimestamp)
    await boats.ok('POST', `/payments/${payment}/reverse`)
    const refund = async () => (await boats.read(policy)).invoices[1]!
    expect((await refund()).outstandingAmount).toBe(-448.39)

    const change = {
      endorsementName: 'change',
      startTimestamp: Number(policy.originalContractStartTimestamp) + 86_400_000,
      updateExposures: [{ exposureLocator: policy.exposures[0]!.locator, fieldValues: { yearly: '1300' } }],
    }
    const path = `/policies/${policy.locator}`
    const { previewToken } = await boats.ok<PolicyPreviewResponse>('POST', `${path}/preview`, {
      endorsement: change,
    })
    const paid = await boats.call<Refused>('POST', `/invoice/${(await refund()).locator}/pay`, {
      fieldValues: {},
    })
    expect([paid.status, (await refund()).settlementType]).toEqual([409, 'writtenOff'])
    const refused = await boats.call<Refused>(
      'POST',
      `${path}/endorsements`,
      { ...change, state: 'issued' },
      { 'if-previewed': previewToken },
    )
    expect(outdated(refused)).toEqual([409, 'previewOutdated', 'policy'])
    expect(await boats.ok('GET', `${path}/endorsements`)).toEqual([])
  })
})

describe('Conflicting transactions', () => {
  it('are invalidated by a previewed write with conflictHandling=invalidate, and otherwise lead to 409', async () => {
    const policy = await issued()
    const pending = await motor.post<EndorsementResponse>(`/policies/${policy.locator}/endorsements`, {
      ...endorsing(policy, '30000'),
      state: 'quoted',
    })
    expect(pending.status, JSON.stringify(pending.body)).toBe(200)
    const blocking = await preview(policy, { endorsement: endorsing(policy) })
    expect(blocking.conflicts).toMatchObject([{ locator: pending.body.locator }])
    const refused = await endorse(policy, endorsing(policy), blocking.previewToken)
    expect([refused.status, refused.body.code]).toEqual([409, 'wrongState'])
    const body = { ...endorsing(policy), conflictHandling: 'invalidate' }
    const { previewToken, price } = await preview(policy, { endorsement: body })
    const made = await endorse(policy, body, previewToken)
    expect([made.status, made.body.state], JSON.stringify(made.body)).toEqual([200, 'issued'])
    expect((await motor.get(`/endorsements/${made.body.locator}/price`)).body).toEqual(price)
    expect((await motor.get<EndorsementResponse>(`/endorsements/${pending.body.locator}`)).body.state).toBe(
      'invalidated',
    )
  })
})

describe('Autofill', () => {
  it('uses the same values for the write as for its preview', async () => {
    const of = await motorTenant(
      'moves-filled',
      autofilled(`exports.getDataAutofill = data => data.operation === 'newBusiness' ? {} : {
        updateExposures: (data.updates.updateExposures ?? []).map(one => ({ ...one, fieldValues: { ...one.fieldValues, vehicle_value: '36000' } })),
      }`),
    )
    const policy = await issued(of)
    const body = endorsing(policy, '31000')
    const { previewToken, price } = await preview(policy, { endorsement: body }, of)
    const made = await endorse(policy, body, previewToken, of)
    expect([made.status, made.body.state], JSON.stringify(made.body)).toEqual([200, 'issued'])
    expect((await of.get(`/endorsements/${made.body.locator}/price`)).body).toEqual(price)
    const after = (await of.get(`/policy/${policy.locator}`)).body
    const [exposure] = after.exposures
    expect(exposure!.characteristics.at(-1)!.fieldValues.vehicle_value).toEqual(['36000'])
  })
})
