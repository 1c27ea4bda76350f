// `If-Previewed` through HTTP: a write does what its preview showed, once and at that price, or nothing.
import { env } from 'cloudflare:workers'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import { tokenKeys } from '../../src/platform/token-keys.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { PREVIEW_LIFE_MS } from '../../src/transactions/mechanism/preview-token.ts'
import type { PolicyPreviewResponse } from '../../src/transactions/preview/contract.ts'
import { type Answer, callApi } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'
import { externallyRated, openRater, register } from '../support/rater.ts'

type Refused = { code: string; message: string; previewReason?: string }
type Made = { locator: string; state: string; startTimestamp?: string } & Refused

const BERLIN = 'Europe/Berlin' as TimeZone

let motor: Motor
let other: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  motor = await motorTenant('previewed', motorWithoutPapers())
  other = await motorTenant('previewed-too', motorWithoutPapers())
})

afterEach(() => void vi.useRealTimers())

async function issued(of = motor, changes = {}): Promise<PolicyResponse> {
  const { body } = await of.createPolicy(changes)
  return (await of.post(`/policy/${body.locator}/issue`)).body
}

const read = async (policy: PolicyResponse): Promise<PolicyResponse> =>
  (await motor.get(`/policy/${policy.locator}`)).body

const monthsIn = (policy: PolicyResponse, count: number): Instant =>
  add(Number(policy.originalContractStartTimestamp) as Instant, count, 'month', BERLIN)

const endorsing = ({ exposures }: PolicyResponse, value = '49000') => ({
  endorsementName: 'change_of_risk',
  updateExposures: [{ exposureLocator: exposures[0]!.locator, fieldValues: { vehicle_value: value } }],
})

const cancelling = (policy: PolicyResponse) => ({
  effectiveTimestamp: monthsIn(policy, 5),
  name: 'customer_request',
  cancellationCategory: 'other',
})

async function preview(policy: PolicyResponse, body: object, of = motor): Promise<PolicyPreviewResponse> {
  const answer = await of.post<PolicyPreviewResponse>(`/policies/${policy.locator}/preview`, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

type Sent = { method?: string; token?: string; key?: string }

const send = (
  path: string,
  body: object,
  previewed: string,
  { method = 'POST', token = motor.token, key }: Sent = {},
): Promise<Answer<Made>> => {
  const headers = { 'if-previewed': previewed, ...(key !== undefined && { 'idempotency-key': key }) }
  return callApi(method, path, { token, body, headers })
}

const endorse = (policy: PolicyResponse, body: object, previewed: string, sent?: Sent) =>
  send(`/policies/${policy.locator}/endorsements`, { ...body, state: 'issued' }, previewed, sent)

const outdated = ({ status, body }: Answer<Refused>) => [status, body.code, body.previewReason]

/** Signs a token like the service, with other claims. */
async function altered(token: string, changes: object): Promise<string> {
  const { signing } = await tokenKeys(env)
  return await new SignJWT({ ...decodeJwt(token), ...changes })
    .setProtectedHeader(decodeProtectedHeader(token) as { alg: string })
    .sign(signing.key)
}

describe('A previewed write is carried out as previewed', () => {
  it('for an endorsement without a start, which begins at the time of the preview', async () => {
    const start = add(Date.now() as Instant, -1, 'month', BERLIN)
    const policy = await issued(motor, {
      policyStartTimestamp: start,
      policyEndTimestamp: add(start, 1, 'year', BERLIN),
    })
    const body = endorsing(policy)
    const { price, previewToken, previewTokenExpiresTimestamp } = await preview(policy, { endorsement: body })
    expect(Number(previewTokenExpiresTimestamp) - Date.now()).toBeLessThanOrEqual(PREVIEW_LIFE_MS)
    const { at } = decodeJwt(previewToken)
    const made = await endorse(policy, body, previewToken)
    expect([made.status, made.body.state], JSON.stringify(made.body)).toEqual([200, 'issued'])
    expect(made.body.startTimestamp).toBe(String(at))
    expect((await motor.get(`/endorsements/${made.body.locator}/price`)).body).toEqual(price)
    expect(roundTrips(made)).toEqual({ d1: 1, object: 1, r2: 0, queue: 0 })
  })

  it('for new exposures, with properties in any order', async () => {
    const policy = await issued()
    const exposure = plainYear().request.policy.exposures[0] as { fieldValues: object }
    const body = { endorsementName: 'change_of_risk', addExposures: [exposure] }
    const { previewToken } = await preview(policy, { endorsement: body })
    const turned = {
      ...exposure,
      fieldValues: Object.fromEntries(Object.entries(exposure.fieldValues).reverse()),
    }
    const made = await endorse(
      policy,
      { addExposures: [turned], endorsementName: 'change_of_risk' },
      previewToken,
    )
    expect(made.status, JSON.stringify(made.body)).toBe(200)
  })

  it('for a renewal, a cancellation and its reinstatement', async () => {
    const policy = await issued()
    const renewal = { renewalEndTimestamp: monthsIn(policy, 24) }
    const first = await preview(policy, { renewal })
    const path = `/policies/${policy.locator}`
    const renewed = await send(`${path}/renewals`, { ...renewal, state: 'issued' }, first.previewToken)
    expect([renewed.status, renewed.body.state], JSON.stringify(renewed.body)).toEqual([200, 'issued'])
    const cancellation = cancelling(policy)
    const second = await preview(policy, { cancellation })
    const cancelled = await send(
      `${path}/cancellations`,
      { ...cancellation, issue: true },
      second.previewToken,
    )
    expect([cancelled.status, cancelled.body.state], JSON.stringify(cancelled.body)).toEqual([200, 'issued'])
    const cancellationLocator = cancelled.body.locator
    const third = await preview(policy, { reinstatement: { cancellationLocator } })
    const restored = await send(
      `/cancellations/${cancellationLocator}/reinstate`,
      { issue: true },
      third.previewToken,
      { method: 'PATCH' },
    )
    expect([restored.status, restored.body.state], JSON.stringify(restored.body)).toEqual([200, 'issued'])
  })
})

describe('A previewed write is rejected with 409 previewOutdated', () => {
  it('when the body, operation, account, price or policy differs, or the token has expired', async () => {
    const policy = await issued()
    const body = endorsing(policy)
    const { previewToken } = await preview(policy, { endorsement: body })
    const before = (await read(policy)).updatedTimestamp
    expect(outdated(await endorse(policy, endorsing(policy, '48000'), previewToken))).toEqual([
      409,
      'previewOutdated',
      'body',
    ])
    const cancel = { ...cancelling(policy), issue: true }
    expect(outdated(await send(`/policies/${policy.locator}/cancellations`, cancel, previewToken))[2]).toBe(
      'operation',
    )
    const elsewhere = await issued()
    expect(outdated(await endorse(elsewhere, endorsing(elsewhere), previewToken))[2]).toBe('operation')
    const token = await motor.signIn('anna.admin')
    expect(outdated(await endorse(policy, body, previewToken, { token }))[2]).toBe('account')
    const cheaper = await altered(previewToken, { price: 'another' })
    expect(outdated(await endorse(policy, body, cheaper))[2]).toBe('price')
    const old = await altered(previewToken, { exp: Math.floor(Date.now() / 1000) - 1 })
    expect(outdated(await endorse(policy, body, old))[2]).toBe('expired')
    expect((await read(policy)).updatedTimestamp).toBe(before)
    const applied = await motor.post(`/policies/${policy.locator}/endorsements`, body)
    expect(applied.status, JSON.stringify(applied.body)).toBe(200)
    expect(outdated(await endorse(policy, body, previewToken))[2]).toBe('policy')
  })

  it('when an external rater returns another price, even if the policy is unchanged', async () => {
    const rater = await openRater()
    const rated = await motorTenant('previewed-rated', externallyRated('acme'))
    await register(rated, 'acme', rater)
    const policy = await issued(rated)
    const body = endorsing(policy)
    const { previewToken } = await preview(policy, { endorsement: body }, rated)
    await rater.answers({ rates: { '*': { yearlyPremium: 130 } } })
    const sent = { token: rated.token }
    expect(outdated(await endorse(policy, body, previewToken, sent))[2]).toBe('price')
    expect((await rated.get(`/policy/${policy.locator}`)).body.modifications).toEqual(policy.modifications)
    await rater.answers({ rates: { '*': { yearlyPremium: 120 } } })
    expect((await endorse(policy, body, previewToken, sent)).status).toBe(200)
  })

  it('fifteen minutes after the preview', async () => {
    const policy = await issued()
    const body = endorsing(policy)
    const { previewToken } = await preview(policy, { endorsement: body })
    vi.useFakeTimers({ toFake: ['Date'] })
    vi.setSystemTime(Date.now() + PREVIEW_LIFE_MS)
    expect(outdated(await endorse(policy, body, previewToken))[2]).toBe('expired')
  })

  it('when the token is used again, but a repeat with the same key returns the original response', async () => {
    const policy = await issued()
    const body = endorsing(policy)
    const { previewToken } = await preview(policy, { endorsement: body })
    const first = await endorse(policy, body, previewToken, { key: 'carry-out' })
    expect(first.status).toBe(200)
    const repeated = await endorse(policy, body, previewToken, { key: 'carry-out' })
    expect([repeated.status, repeated.body]).toEqual([200, first.body])
    expect(outdated(await endorse(policy, body, previewToken))[2]).toBe('used')
    expect(outdated(await endorse(policy, body, previewToken, { key: 'another' }))[2]).toBe('used')
    vi.useFakeTimers({ toFake: ['Date'] })
    vi.setSystemTime(Date.now() + PREVIEW_LIFE_MS)
    const late = await endorse(policy, body, previewToken, { key: 'carry-out' })
    expect([late.status, late.body]).toEqual([200, first.body])
    const { results } = await boundDatabase(poolBinding(1))
      .prepare('select 1 from "write" where key = ?')
      .bind(`preview:${decodeJwt(previewToken).jti}`)
      .all()
    expect(results).toHaveLength(1)
  })

  it('for all but one of several concurrent writes with the same token', async () => {
    const policy = await issued()
    const body = endorsing(policy)
    const { previewToken } = await preview(policy, { endorsement: body })
    const answers = await Promise.all(Array.from({ length: 5 }, () => endorse(policy, body, previewToken)))
    expect(answers.map(one => one.status).sort()).toEqual([200, 409, 409, 409, 409])
    expect((await read(policy)).modifications).toHaveLength(policy.modifications.length + 1)
  })
})

describe('A preview token is rejected with 400', () => {
  it('when it is malformed, an access token, or a token of another tenant', async () => {
    const policy = await issued()
    const body = endorsing(policy)
    const theirs = await issued(other)
    const { previewToken } = await preview(theirs, { endorsement: endorsing(theirs) }, other)
    for (const token of ['no token', 'a.b.c', motor.token, previewToken, 'x'.repeat(5_000)]) {
      const { status, body: refused } = await endorse(policy, body, token)
      expect([status, refused.code]).toEqual([400, 'invalidParameter'])
    }
    const signedIn = await callApi('GET', `/policy/${policy.locator}`, { token: previewToken })
    expect(signedIn.status).toBe(401)
  })

  it('when the request does not issue, or has no preview', async () => {
    const policy = await issued()
    const body = endorsing(policy)
    const { previewToken } = await preview(policy, { endorsement: body })
    const applied = await send(`/policies/${policy.locator}/endorsements`, body, previewToken)
    expect([applied.status, applied.body.code]).toEqual([400, 'invalidRequest'])
    const elsewhere = await send(`/policy/${policy.locator}/withdraw`, {}, previewToken)
    expect([elsewhere.status, elsewhere.body.code]).toEqual([400, 'invalidParameter'])
    expect((await read(policy)).modifications).toEqual(policy.modifications)
  })
})
