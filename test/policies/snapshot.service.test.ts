// A policy as it was known earlier: the responses of GET after each step of its life, requested again at the end (brief 2.1, 3.5).
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import type { PolicyQuoteResponse } from '../../src/transactions/quotes/contract-quote.ts'
import type { ReinstatementResponse } from '../../src/transactions/reinstatements/contract.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, roundTrips, workedOf } from '../support/motor.ts'
import { withoutFiles } from '../support/without-files.ts'

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('snapshots')
})

const patch = async <Body>(path: string, body?: unknown): Promise<Body> => {
  const answer = await callApi<Body>('PATCH', path, { token: motor.token, body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

const post = async <Body = PolicyResponse>(path: string, body?: unknown): Promise<Body> => {
  const answer = await motor.post<Body>(path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

const read = async (locator: string): Promise<PolicyResponse> => (await motor.get(`/policy/${locator}`)).body

const snapshot = (locator: string, request?: object): Promise<PolicyResponse> =>
  post(`/policies/${locator}/snapshot`, request)

/** Waits, so that timestamps of one step differ from those of the next. */
const pause = (): Promise<void> => new Promise(done => setTimeout(done, 4))

/** The response of GET after a step, and a time between that step and the next. */
type Kept = { step: string; at: number; answer: PolicyResponse }

/** Takes the steps in order and keeps the response of GET after each. */
async function journey(locator: string, steps: Record<string, () => Promise<unknown>>): Promise<Kept[]> {
  const kept: Kept[] = []
  for (const [step, take] of Object.entries(steps)) {
    await take()
    await pause()
    kept.push({ step, at: Date.now(), answer: await read(locator) })
    await pause()
  }
  return kept
}

async function equalsWhatGetAnswered(locator: string, kept: readonly Kept[]): Promise<void> {
  for (const { step, at, answer } of kept)
    expect(withoutFiles(await snapshot(locator, { asOfTimestamp: at })), step).toEqual(withoutFiles(answer))
  expect(withoutFiles(await snapshot(locator))).toEqual(withoutFiles(await read(locator)))
}

const months = (policy: PolicyResponse, count: number): Instant =>
  add(Number(policy.originalContractStartTimestamp) as Instant, count, 'month', 'Europe/Berlin' as TimeZone)

const cancellation = (policy: PolicyResponse, months_: number, more: object = {}) =>
  post<CancellationResponse>(`/policies/${policy.locator}/cancellations`, {
    name: 'customer_request',
    cancellationCategory: 'other',
    effectiveTimestamp: months(policy, months_),
    ...more,
  })

async function issued(changes: object = {}): Promise<PolicyResponse> {
  const { body } = await motor.createPolicy(changes)
  return await post(`/policy/${body.locator}/issue`)
}

describe('A snapshot equals the earlier response of GET', () => {
  it('before and after issue, through cancellations and a reinstatement that was invalidated once', async () => {
    const { body: policy } = await motor.createPolicy({ finalize: false, paymentScheduleName: 'monthly' })
    const { locator } = policy
    let drafted: CancellationResponse
    let begun: ReinstatementResponse
    const kept = await journey(locator, {
      created: async () => {},
      finalized: () => post(`/policy/${locator}/finalize`),
      issued: () => post(`/policy/${locator}/issue`),
      'cancellation drafted': () => cancellation(policy, 9),
      'cancelled at another time': () => cancellation(policy, 8, { issue: true }),
      'earlier cancellation drafted': async () => {
        drafted = await cancellation(policy, 3)
      },
      'cancelled earlier': () => patch(`/cancellations/${drafted.locator}/issue`),
      'reinstatement begun': async () => {
        begun = await patch(`/cancellations/${drafted.locator}/reinstate`, {})
      },
      'reinstatement accepted': () => patch(`/reinstatements/${begun.locator}/accept`),
      'acceptance taken back': () => patch(`/reinstatements/${begun.locator}/invalidate`),
      'accepted again': () => patch(`/reinstatements/${begun.locator}/accept`),
      reinstated: () => patch(`/reinstatements/${begun.locator}/issue`),
      'cancelled the legacy way': () =>
        post(`/policy/${locator}/cancel`, { coverageEndTimestamp: months(policy, 2) }),
      withdrawn: () => post(`/policy/${locator}/withdraw`),
    })
    expect(new Set(kept.map(one => one.answer.effectiveContractEndTimestamp)).size).toBe(5)
    expect(kept.at(-1)!.answer.modifications.length).toBe(6)
    await equalsWhatGetAnswered(locator, kept)
  })

  it('with several quotes, one of which was accepted', async () => {
    const { body: policy } = await motor.createPolicy({ finalize: false })
    const { locator } = policy
    const { body: quotes } = await motor.get<PolicyQuoteResponse[]>(`/policies/${locator}/quotes`)
    const first = quotes[0]!.locator
    let copy: PolicyQuoteResponse
    const kept = await journey(locator, {
      created: async () => {},
      'the first quoted': () => patch(`/quotes/${first}/quote`),
      copied: async () => {
        copy = await post(`/quotes/${first}/createNew`, {
          name: 'half a year',
          policyEndTimestamp: months(policy, 6),
        })
      },
      'the copy quoted': () => patch(`/quotes/${copy.locator}/quote`),
      'the copy accepted': () => patch(`/quotes/${copy.locator}/accept`),
      issued: () => post(`/policy/${locator}/issue`),
      cancelled: () => cancellation(policy, 3, { issue: true }),
    })
    expect(new Set(kept.map(one => one.answer.originalContractEndTimestamp)).size).toBe(2)
    await equalsWhatGetAnswered(locator, kept)
  })

  it('through requested, accepted, issued and invalidated endorsements and a cancellation', async () => {
    const { body: policy } = await motor.createPolicy()
    const { locator, exposures } = policy
    const vehicle = exposures[0]!
    const endorse = (month: number, changes: object) =>
      post<{ locator: string }>(`/policies/${locator}/endorsements`, {
        endorsementName: 'change_of_risk',
        startTimestamp: months(policy, month),
        ...changes,
      })
    const mileage = (text: string) => ({
      updateExposures: [{ exposureLocator: vehicle.locator, fieldValues: { annual_mileage_km: text } }],
    })
    let first: { locator: string }
    let second: { locator: string }
    const act = (one: { locator: string }, action: string) =>
      patch(`/endorsements/${one.locator}`, { action })
    const kept = await journey(locator, {
      issued: () => post(`/policy/${locator}/issue`),
      'asked for': async () => {
        first = await endorse(6, mileage('30000'))
      },
      quoted: () => act(first, 'quote'),
      accepted: () => act(first, 'accept'),
      endorsed: () => act(first, 'issue'),
      'earlier one accepted': async () => {
        second = await endorse(2, { ...mileage('25000'), state: 'accepted' })
      },
      'taken back': () => act(second, 'invalidate'),
      'endorsed earlier': () =>
        endorse(3, { ...mileage('20000'), newPaymentScheduleName: 'monthly', state: 'issued' }),
      cancelled: () => cancellation(policy, 9, { issue: true }),
    })
    const shown = kept.map(one => one.answer)
    expect(shown.map(one => one.modifications.length)).toEqual([1, 1, 1, 2, 2, 3, 2, 3, 4])
    expect(new Set(shown.map(one => one.paymentScheduleName)).size).toBe(2)
    await equalsWhatGetAnswered(locator, kept)
  })

  it('before and after the policy was discarded', async () => {
    const { body: policy } = await motor.createPolicy()
    const kept = await journey(policy.locator, {
      finalized: async () => {},
      discarded: () => post(`/policy/${policy.locator}/discard`),
    })
    await equalsWhatGetAnswered(policy.locator, kept)
  })
})

describe('Overwritten data in a snapshot', () => {
  it('of a draft before its last update are the present data, without later additions', async () => {
    const { body: policy } = await motor.createPolicy({ finalize: false })
    const [kept] = await journey(policy.locator, { created: async () => {} })
    const updated = await post(`/policy/${policy.locator}/update`, {
      finalize: false,
      fieldValues: { contact_phone: '+49 30 7654321' },
      addExposures: [{ exposureName: 'vehicle', fieldValues: {}, perils: [{ name: 'liability' }] }],
    })
    const then = await snapshot(policy.locator, { asOfTimestamp: kept!.at })
    expect(then.exposures).toEqual(kept!.answer.exposures)
    expect(then.updatedTimestamp).toBe(kept!.answer.updatedTimestamp)
    expect(then.characteristics[0]!.fieldValues).toEqual(updated.characteristics[0]!.fieldValues)
    expect(then.characteristics[0]!.fieldValues).not.toEqual(kept!.answer.characteristics[0]!.fieldValues)
  })

  it('of a quote decided by a person lack its price and decision until that time', async () => {
    const rejected = workedOf('motor').find(one => one.expected.decision === 'reject')!
    const { body: policy } = await motor.createPolicy({ ...rejected.request.policy, finalize: false })
    const { body: quotes } = await motor.get<PolicyQuoteResponse[]>(`/policies/${policy.locator}/quotes`)
    const quote = quotes[0]!.locator
    const kept = await journey(policy.locator, {
      created: async () => {},
      declined: () => motor.post(`/policy/${policy.locator}/finalize`),
      referred: () =>
        post(`/quotes/${quote}/underwriting`, { decision: 'accept', note: 'Seen the licence.' }),
    })
    const [created, declined, referred] = kept
    expect(declined!.answer.modifications[0]!.automatedUnderwritingResult?.decision).toBe('reject')
    expect(await snapshot(policy.locator, { asOfTimestamp: declined!.at })).toEqual(created!.answer)
    await equalsWhatGetAnswered(policy.locator, [created!, referred!])
  })

  it('of a draft cancellation are kept, but updatedTimestamp loses its change once it is issued', async () => {
    const policy = await issued()
    let drafted: CancellationResponse
    const [created, updated] = await journey(policy.locator, {
      drafted: async () => {
        drafted = await cancellation(policy, 6)
      },
      updated: () => patch(`/cancellations/${drafted.locator}`, { effectiveTimestamp: months(policy, 7) }),
    })
    await equalsWhatGetAnswered(policy.locator, [created!, updated!])
    await patch(`/cancellations/${drafted!.locator}/issue`)
    const then = await snapshot(policy.locator, { asOfTimestamp: updated!.at })
    const { updatedTimestamp } = created!.answer
    expect(withoutFiles(then)).toEqual({ ...withoutFiles(updated!.answer), updatedTimestamp })
  })
})

describe('A snapshot with effectiveTimestamp', () => {
  const spans = (policy: PolicyResponse) => policy.characteristics.map(one => one.endTimestamp)

  it('shows the segments in force then, as known at asOfTimestamp', async () => {
    const policy = await issued()
    await pause()
    const asOfTimestamp = Date.now()
    await pause()
    await cancellation(policy, 6, { issue: true })
    const end = policy.originalContractEndTimestamp
    const { locator } = policy
    const inside = { effectiveTimestamp: months(policy, 3) }
    const outside = { effectiveTimestamp: months(policy, 9) }
    expect(spans(await snapshot(locator))).toEqual([end, String(months(policy, 6))])
    const now = await snapshot(locator, inside)
    expect(spans(now)).toEqual([String(months(policy, 6))])
    const segments = now.exposures.flatMap(one => one.perils.flatMap(peril => peril.characteristics))
    expect(new Set(segments.map(one => one.policyCharacteristicsLocator))).toEqual(
      new Set([now.characteristics[0]!.locator]),
    )
    expect(segments).toHaveLength(now.exposures.flatMap(one => one.perils).length)
    expect(now.modifications).toHaveLength(2)

    expect(await snapshot(locator, outside)).toMatchObject({ characteristics: [], exposures: [] })
    const before = await snapshot(locator, { asOfTimestamp, ...outside })
    expect(spans(before)).toEqual([end])
    expect(before.exposures).toHaveLength(policy.exposures.length)
    expect(before.modifications).toHaveLength(1)
  })

  it('includes the start of a segment and excludes its end', async () => {
    const policy = await issued()
    const start = Number(policy.originalContractStartTimestamp)
    const end = Number(policy.originalContractEndTimestamp)
    const count = async (effectiveTimestamp: number): Promise<number> =>
      (await snapshot(policy.locator, { effectiveTimestamp })).characteristics.length
    expect([await count(start - 1), await count(start), await count(end - 1), await count(end)]).toEqual([
      0, 1, 1, 0,
    ])
  })
})

describe('POST /policies/{locator}/snapshot', () => {
  it('accepts no body, the text "" and nulls, and times as text or numbers', async () => {
    const policy = await issued()
    const path = `/policies/${policy.locator}/snapshot`
    const json = { 'content-type': 'application/json' }
    const nulls = { asOfTimestamp: null, effectiveTimestamp: null }
    const answers = [
      await motor.post(path),
      await motor.post(path, undefined, json),
      await motor.post(path, '""'),
      await motor.post(path, nulls),
      await motor.post(path, { asOfTimestamp: String(Date.now()) }),
    ]
    const now = await read(policy.locator)
    for (const { status, body } of answers) expect([status, body]).toEqual([200, now])
    expect((await motor.post(path, { asOfTimestamp: 'yesterday' })).status).toBe(400)
  })

  it('returns 404 with the creation time for a time before the policy was created', async () => {
    const policy = await issued()
    const { status, body } = await motor.post<{ message: string }>(`/policies/${policy.locator}/snapshot`, {
      asOfTimestamp: Number(policy.createdTimestamp) - 1,
    })
    expect(status).toBe(404)
    expect(body.message).toContain(policy.createdTimestamp)
    expect((await motor.post('/policies/100000001/snapshot')).status).toBe(404)
  })

  it('takes one D1 round trip and no Durable Object', async () => {
    const policy = await issued()
    await motor.get('/v1/ping/authorized')
    const answer = await motor.post(`/policies/${policy.locator}/snapshot`, { asOfTimestamp: Date.now() })
    expect(roundTrips(answer)).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
  })
})
