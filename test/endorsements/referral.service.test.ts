// Endorsements and renewals that underwriting does not accept, and their decision by a person (brief 1.4).
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { AutomatedUnderwritingResultResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyPriceChangeResponse } from '../../src/rating/contract-change.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import type { RenewalResponse } from '../../src/transactions/renewals/contract.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { exampleFiles, motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

const BERLIN = 'Europe/Berlin' as TimeZone

const NOTE = 'A previous insurer has cancelled: refer to an underwriter.'

/** Makes the guidelines decide `none`. */
const TO_REFER = { previous_insurer_cancelled: 'yes', cancellation_reason: 'Unpaid premium.' }

const READER = {
  username: 'rita.reader',
  name: 'Rita Reader',
  password: 'password',
  roles: ['read.only.user'],
}

let motor: Motor
let underwriter: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  const files = exampleFiles('motor')
  const { users } = JSON.parse(new TextDecoder().decode(files['security/test_users.json'])) as {
    users: object[]
  }
  motor = await motorTenant('referral', {
    ...motorWithoutPapers(),
    'products/private_motor/policy/endorsements.json': JSON.stringify({
      endorsements: [{ name: 'change', displayName: 'Change', reprice: 'always', documents: [] }],
    }),
    'security/test_users.json': JSON.stringify([...users, READER]),
  })
  underwriter = await motor.signIn('ulrich.underwriter')
})

type Problem = { message: string; code: string }

async function issued(): Promise<PolicyResponse> {
  const { body } = await motor.createPolicy()
  return (await motor.post(`/policy/${body.locator}/issue`)).body
}

const read = async ({ locator }: PolicyResponse): Promise<PolicyResponse> =>
  (await motor.get(`/policy/${locator}`)).body

const monthsIn = (policy: PolicyResponse, count: number): Instant =>
  add(Number(policy.originalContractStartTimestamp) as Instant, count, 'month', BERLIN)

const apply = async (policy: PolicyResponse, body: object = {}): Promise<EndorsementResponse> =>
  (
    await motor.post<EndorsementResponse>(`/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change',
      startTimestamp: monthsIn(policy, 6),
      ...body,
    })
  ).body

const act = <Body = EndorsementResponse>(path: string, body: object) =>
  callApi<Body>('PATCH', path, { token: motor.token, body })

const decide = <Body = EndorsementResponse>(path: string, body: object, token = underwriter) =>
  callApi<Body>('POST', `${path}/underwriting`, { token, body })

const resultOf = async (path: string): Promise<AutomatedUnderwritingResultResponse> =>
  (await motor.get<AutomatedUnderwritingResultResponse>(`${path}/automatedUnderwritingResult`)).body

describe('An endorsement that underwriting does not accept', () => {
  it('remains an application, and quoting it returns 409 with the notes and the route for a decision', async () => {
    const policy = await issued()
    const { locator } = await apply(policy, { fieldValues: TO_REFER })
    const path = `/endorsements/${locator}`
    const { status, body } = await act<Problem>(path, { action: 'quote' })
    expect(status).toBe(409)
    expect(body).toMatchObject({
      code: 'underwritingRefused',
      message: `Underwriting decided 'none' on the endorsement. ${NOTE} A person can decide on its application: POST ${path}/underwriting.`,
    })
    for (const action of ['accept', 'issue'])
      expect((await act<Problem>(path, { action })).body).toMatchObject({ code: 'underwritingRefused' })
    expect((await motor.get<EndorsementResponse>(path)).body.state).toBe('application')
    expect(await resultOf(path)).toMatchObject({ decision: 'none', notes: [NOTE] })
  })

  it('is not stored if its creation asks for a further state, and the refusal names no application', async () => {
    const policy = await issued()
    const refused = await motor.post<Problem>(`/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change',
      startTimestamp: monthsIn(policy, 6),
      state: 'quoted',
      fieldValues: TO_REFER,
    })
    expect(refused.status).toBe(409)
    expect(refused.body.message).toBe(
      `Underwriting decided 'none' on the endorsement. ${NOTE} Nothing was stored. If you create it with state=application, a person can decide on it: POST /endorsements/{locator}/underwriting.`,
    )
    expect((await motor.get(`/policies/${policy.locator}/endorsements`)).body).toEqual([])
  })

  it('can be quoted and issued after a person accepts it, and keeps the person’s name and note', async () => {
    const policy = await issued()
    const { locator } = await apply(policy, { fieldValues: TO_REFER })
    const path = `/endorsements/${locator}`
    const { body: price } = await motor.get<PolicyPriceChangeResponse>(`${path}/price`)
    const { status, body: decided } = await decide(path, {
      decision: 'accept',
      note: 'Spoke to the insurer.',
    })
    expect(status).toBe(200)
    const notes = [NOTE, 'ulrich.underwriter: accept, Spoke to the insurer.']
    expect(decided).toMatchObject({
      state: 'application',
      automatedUnderwritingResult: { decision: 'accept', notes },
    })
    expect(await resultOf(path)).toEqual(decided.automatedUnderwritingResult)
    const { body: quoted } = await act(path, { action: 'quote' })
    expect(quoted).toMatchObject({
      state: 'quoted',
      automatedUnderwritingResult: { decision: 'accept', notes },
    })
    expect((await motor.get(`${path}/price`)).body).toEqual(price)
    expect((await act(path, { action: 'issue' })).status).toBe(200)
    expect((await read(policy)).modifications.at(-1)!.automatedUnderwritingResult).toEqual(
      decided.automatedUnderwritingResult,
    )
    const { body } = await motor.get<{
      events: { type: string; username: string; data: Record<string, string> }[]
    }>('/eventstream/attributedEvents?startTimestamp=0&pageSize=1000')
    const endorsementEvents = body.events.filter(one => one.data.endorsementLocator === locator)
    expect(endorsementEvents.map(one => [one.type, one.username, one.data.decision])).toEqual([
      ['endorsement.create', 'alice.agent', undefined],
      ['endorsement.update', 'ulrich.underwriter', 'accept'],
      ['endorsement.quote', 'alice.agent', undefined],
      ['endorsement.accept', 'alice.agent', undefined],
      ['endorsement.issue', 'alice.agent', undefined],
    ])
  })

  it('needs another decision after an update', async () => {
    const policy = await issued()
    const { locator } = await apply(policy, { fieldValues: TO_REFER })
    const path = `/endorsements/${locator}`
    await decide(path, { decision: 'accept' })
    const { body: updated } = await act(path, {
      endorsementUpdate: { fieldValues: { claims_free_years: '2' } },
    })
    expect(updated.automatedUnderwritingResult).toBeUndefined()
    expect(await resultOf(path)).toMatchObject({ decision: 'none', notes: [NOTE] })
    expect((await act(path, { action: 'quote' })).status).toBe(409)
    await decide(path, { decision: 'accept' })
    expect((await act(path, { action: 'quote' })).status).toBe(200)
  })

  it('needs another decision after the policy has changed', async () => {
    const policy = await issued()
    const { locator } = await apply(policy, { fieldValues: TO_REFER })
    const path = `/endorsements/${locator}`
    await decide(path, { decision: 'accept' })
    await apply(policy, { fieldValues: { claims_free_years: '1' }, state: 'issued' })
    const { body } = await motor.get<EndorsementResponse>(path)
    expect(body.automatedUnderwritingResult).toBeUndefined()
    expect((await act(path, { action: 'quote' })).status).toBe(409)
  })

  it('can be decided again: the last decision counts, and all notes are kept', async () => {
    const policy = await issued()
    const { locator } = await apply(policy)
    const path = `/endorsements/${locator}`
    await decide(path, { decision: 'reject', note: 'A known fraud.' })
    const { status, body } = await act<Problem>(path, { action: 'quote' })
    expect(status).toBe(409)
    expect(body.message).toContain("'reject' on the endorsement. ulrich.underwriter: reject, A known fraud.")
    const { body: decided } = await decide(
      path,
      { decision: 'accept', note: 'Mistaken identity.' },
      motor.token,
    )
    expect(decided.automatedUnderwritingResult?.notes).toEqual([
      'ulrich.underwriter: reject, A known fraud.',
      'alice.agent: accept, Mistaken identity.',
    ])
    expect((await act(path, { action: 'quote' })).body.state).toBe('quoted')
  })

  it('is not created in a later state, and the 409 has the notes', async () => {
    const policy = await issued()
    const refused = await motor.post<Problem>(`/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change',
      startTimestamp: monthsIn(policy, 6),
      fieldValues: TO_REFER,
      state: 'issued',
    })
    expect(refused.status).toBe(409)
    expect(refused.body.message).toContain(NOTE)
    expect((await motor.get(`/policies/${policy.locator}/endorsements`)).body).toEqual([])
  })
})

describe('POST /endorsements/{locator}/underwriting', () => {
  it('requires the permission endorsements.underwrite, and an application that is complete', async () => {
    const policy = await issued()
    const { locator } = await apply(policy)
    const path = `/endorsements/${locator}`
    const reader = await motor.signIn('rita.reader')
    const forbidden = await decide<Problem>(path, { decision: 'accept' }, reader)
    expect(forbidden.status).toBe(403)
    expect(forbidden.body.message).toContain('endorsements.underwrite')
    await act(path, { action: 'quote' })
    const late = await decide<Problem>(path, { decision: 'reject' })
    expect(late.status).toBe(409)
    expect(late.body.message).toContain(
      'is quoted and cannot be decided by a person; it allows accept, issue',
    )
    const missing = await apply(policy, { fieldValues: { previous_insurer_cancelled: 'yes' } })
    expect((await decide(`/endorsements/${missing.locator}`, { decision: 'accept' })).status).toBe(400)
    expect((await decide('/endorsements/100000000', { decision: 'accept' })).status).toBe(404)
    expect((await decide(`/renewals/${locator}`, { decision: 'accept' })).status).toBe(404)
    expect((await decide(path, { decision: 'perhaps' })).status).toBe(400)
  })
})

describe('A renewal that underwriting does not accept', () => {
  it('can be quoted after a person accepts it', async () => {
    const policy = await issued()
    const { body } = await motor.post<RenewalResponse>(`/policies/${policy.locator}/renewals`, {
      renewalEndTimestamp: monthsIn(policy, 24),
      fieldValues: TO_REFER,
    })
    const path = `/renewals/${body.locator}`
    const { status, body: refused } = await act<Problem>(path, { action: 'quote' })
    expect(status).toBe(409)
    expect(refused.message).toBe(
      `Underwriting decided 'none' on the renewal. ${NOTE} A person can decide on its application: POST ${path}/underwriting.`,
    )
    const { body: decided } = await decide<RenewalResponse>(path, { decision: 'accept' })
    expect(decided.automatedUnderwritingResult?.notes).toEqual([NOTE, 'ulrich.underwriter: accept'])
    expect((await act(path, { action: 'quote' })).body).toMatchObject({
      state: 'quoted',
      automatedUnderwritingResult: { decision: 'accept' },
    })
  })
})
