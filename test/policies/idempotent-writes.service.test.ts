// `Idempotency-Key` on every write of a policy's life: a repeat returns the original response and writes nothing.
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { callApi, callOk } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { deployNextVersion, motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'
import { readApi } from '../support/openapi.ts'

const BERLIN = 'Europe/Berlin' as TimeZone

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('repeats')
  // A second version, to which policies of the first can be upgraded.
  await deployNextVersion(motor.tenantName, motorWithoutPapers())
})

type Write = { method: 'POST' | 'PATCH'; path: string; body?: unknown }

const ok = <Body>(method: string, path: string, body?: unknown): Promise<Body> =>
  callOk<Body>(method, path, { token: motor.token, body })

const created = async (): Promise<PolicyResponse> => (await motor.createPolicy({ finalize: false })).body
const finalized = async (): Promise<PolicyResponse> => (await motor.createPolicy()).body
const issued = async (): Promise<PolicyResponse> => ok('POST', `/policy/${(await finalized()).locator}/issue`)

const later = (policy: PolicyResponse, months: number): Instant =>
  add(Number(policy.originalContractStartTimestamp) as Instant, months, 'month', BERLIN)

type Located = { locator: string }

const quoteOf = async ({ locator }: PolicyResponse): Promise<string> =>
  (await ok<Located[]>('GET', `/policies/${locator}/quotes`))[0]!.locator

const endorsement = async (state = 'application'): Promise<string> => {
  const policy = await issued()
  const { locator } = await ok<Located>('POST', `/policies/${policy.locator}/endorsements`, {
    endorsementName: 'change_of_risk',
    startTimestamp: later(policy, 6),
    fieldValues: { claims_free_years: 9 },
    state,
  })
  return locator
}

const renewal = async (state = 'application'): Promise<string> => {
  const policy = await issued()
  const { locator } = await ok<Located>('POST', `/policies/${policy.locator}/renewals`, {
    renewalEndTimestamp: later(policy, 24),
    state,
  })
  return locator
}

const cancellationOf = (policy: PolicyResponse, issue: boolean) => ({
  name: 'customer_request',
  cancellationCategory: 'other',
  effectiveTimestamp: later(policy, 6),
  issue,
})

const cancellation = async (issue = false): Promise<string> => {
  const policy = await issued()
  const body = cancellationOf(policy, issue)
  return (await ok<Located>('POST', `/policies/${policy.locator}/cancellations`, body)).locator
}

const reinstatement = async (accepted = false): Promise<string> => {
  const { locator } = await ok<Located>('PATCH', `/cancellations/${await cancellation(true)}/reinstate`, {})
  if (accepted) await ok('PATCH', `/reinstatements/${locator}/accept`)
  return locator
}

const post = (path: string, body?: unknown): Write => ({ method: 'POST', path, body })
const patch = (path: string, body?: unknown): Write => ({ method: 'PATCH', path, body })

/** Every write, by its route, with its preparation. */
const WRITES: Record<string, () => Promise<Write>> = {
  'POST /policy': async () => {
    const policyholderLocator = await motor.newPolicyholder()
    const { exposures: _exposures, ...request } = plainYear().request.policy
    return post('/policy', { ...request, policyholderLocator, exposures: [], finalize: false })
  },
  'POST /policy/{tenantLocator}/quickquotes': async () => {
    const policyholderLocator = await motor.newPolicyholder()
    const { finalize: _, ...request } = { finalize: false, ...plainYear().request.policy }
    return post(`/policy/${motor.tenantLocator}/quickquotes`, { ...request, policyholderLocator })
  },
  'POST /policy/{policyLocator}/update': async () =>
    post(`/policy/${(await created()).locator}/update`, {
      finalize: false,
      addExposures: [{ exposureName: 'vehicle' }],
    }),
  'POST /policy/{policyLocator}/finalize': async () => post(`/policy/${(await created()).locator}/finalize`),
  'POST /policy/{policyLocator}/issue': async () => post(`/policy/${(await finalized()).locator}/issue`),
  'POST /policy/{policyLocator}/discard': async () => post(`/policy/${(await created()).locator}/discard`),
  'PATCH /quotes/{quoteLocator}': async () =>
    patch(`/quotes/${await quoteOf(await created())}`, { fieldValues: { claims_free_years: 9 } }),
  'POST /quotes/{quoteLocator}/createNew': async () =>
    post(`/quotes/${await quoteOf(await created())}/createNew`, { name: 'another' }),
  'PATCH /quotes/{quoteLocator}/select': async () => {
    const first = await quoteOf(await created())
    const { locator } = await ok<Located>('POST', `/quotes/${first}/createNew`, { name: 'another' })
    return patch(`/quotes/${locator}/select`)
  },
  'PATCH /quotes/{quoteLocator}/quote': async () => patch(`/quotes/${await quoteOf(await created())}/quote`),
  'PATCH /quotes/{quoteLocator}/accept': async () => {
    const quote = await quoteOf(await created())
    await ok('PATCH', `/quotes/${quote}/quote`)
    return patch(`/quotes/${quote}/accept`)
  },
  'PATCH /quotes/{quoteLocator}/invalidate': async () =>
    patch(`/quotes/${await quoteOf(await finalized())}/invalidate`),
  'PATCH /quotes/{quoteLocator}/discard': async () => {
    const first = await quoteOf(await created())
    const { locator } = await ok<Located>('POST', `/quotes/${first}/createNew`, { name: 'another' })
    return patch(`/quotes/${locator}/discard`)
  },
  'POST /quotes/{quoteLocator}/underwriting': async () => {
    const { body } = await motor.createPolicy({
      fieldValues: {
        ...plainYear().request.policy.fieldValues,
        previous_insurer_cancelled: 'yes',
        cancellation_reason: 'Claims',
      },
    })
    return post(`/quotes/${await quoteOf(body)}/underwriting`, { decision: 'accept', note: 'Seen.' })
  },
  'POST /policies/{policyLocator}/endorsements': async () => {
    const policy = await issued()
    return post(`/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: later(policy, 6),
      fieldValues: { claims_free_years: 9 },
      state: 'issued',
    })
  },
  'POST /policy/{policyLocator}/endorse': async () => {
    const policy = await issued()
    return post(`/policy/${policy.locator}/endorse`, {
      endorsementName: 'change_of_risk',
      startTimestamp: later(policy, 6),
      updatePolicy: { fieldValues: { claims_free_years: 9 } },
    })
  },
  'POST /endorsements/{endorsementLocator}/underwriting': async () =>
    post(`/endorsements/${await endorsement()}/underwriting`, { decision: 'accept' }),
  'POST /renewals/{renewalLocator}/underwriting': async () =>
    post(`/renewals/${await renewal()}/underwriting`, { decision: 'accept' }),
  'PATCH /policy/{policyLocator}/fees': async () => {
    const policy = await issued()
    return patch(`/policy/${policy.locator}/fees`, {
      newFees: [
        {
          feeName: 'postal_delivery_fee',
          amount: '6.50',
          startTimestamp: later(policy, 0),
          endTimestamp: later(policy, 12),
        },
      ],
    })
  },
  'POST /policy/{policyLocator}/paymentSchedule': async () =>
    post(`/policy/${(await issued()).locator}/paymentSchedule`, { newPaymentScheduleName: 'monthly' }),
  'POST /policy/{policyLocator}/issueNextInvoice': async () => {
    const { body } = await motor.createPolicy({ paymentScheduleName: 'monthly' })
    await ok('POST', `/policy/${body.locator}/issue`)
    return post(`/policy/${body.locator}/issueNextInvoice`)
  },
  'POST /policy/{policyLocator}/upgrade': async () => {
    const { body } = await motor.createPolicy({ configVersion: 1 })
    await ok('POST', `/policy/${body.locator}/issue`)
    return post(`/policy/${body.locator}/upgrade`, { configVersion: 2 })
  },
  'PATCH /endorsements/{endorsementLocator}': async () =>
    patch(`/endorsements/${await endorsement()}`, { action: 'quote' }),
  'POST /policies/{policyLocator}/renewals': async () => {
    const policy = await issued()
    return post(`/policies/${policy.locator}/renewals`, {
      renewalEndTimestamp: later(policy, 24),
      state: 'issued',
    })
  },
  'PATCH /renewals/{renewalLocator}': async () =>
    patch(`/renewals/${await renewal('quoted')}`, { action: 'issue' }),
  'POST /policy/{policyLocator}/issueRenewal': async () => {
    const policy = await issued()
    return post(`/policy/${policy.locator}/issueRenewal`, { renewalEndTimestamp: later(policy, 24) })
  },
  'POST /policies/{policyLocator}/cancellations': async () => {
    const policy = await issued()
    return post(`/policies/${policy.locator}/cancellations`, cancellationOf(policy, true))
  },
  'PATCH /cancellations/{locator}': async () =>
    patch(`/cancellations/${await cancellation()}`, { cancellationCategory: 'vehicle_sold' }),
  'PATCH /cancellations/{locator}/issue': async () => patch(`/cancellations/${await cancellation()}/issue`),
  'PATCH /cancellations/{locator}/rescind': async () =>
    patch(`/cancellations/${await cancellation()}/rescind`),
  'POST /policy/{policyLocator}/cancel': async () => {
    const policy = await issued()
    return post(`/policy/${policy.locator}/cancel`, { coverageEndTimestamp: later(policy, 6) })
  },
  'POST /policy/{policyLocator}/withdraw': async () => post(`/policy/${(await issued()).locator}/withdraw`),
  'PATCH /cancellations/{locator}/reinstate': async () =>
    patch(`/cancellations/${await cancellation(true)}/reinstate`, { issue: true }),
  'PATCH /reinstatements/{locator}': async () =>
    patch(`/reinstatements/${await reinstatement()}`, {
      reinstatementDeadlineTimestamp: Date.now() + 86_400_000,
    }),
  'PATCH /reinstatements/{locator}/accept': async () =>
    patch(`/reinstatements/${await reinstatement()}/accept`),
  'PATCH /reinstatements/{locator}/issue': async () =>
    patch(`/reinstatements/${await reinstatement(true)}/issue`),
  'PATCH /reinstatements/{locator}/invalidate': async () =>
    patch(`/reinstatements/${await reinstatement(true)}/invalidate`),
}

/** Reinstating after a legacy lapse needs a lapsed policy: test/lapses. Documents: test/documents. */
const ELSEWHERE = [
  'POST /policy/{policyLocator}/createReinstatement',
  'POST /policy/{policyLocator}/addDocument',
  'POST /policy/{policyLocator}/removeDocument',
  'POST /policies/{policyLocator}/documents/makeAgain',
]

/** Routes with a body that write nothing. */
const READS = [
  '/constraints/evaluate',
  '/billingTrigger',
  '/price',
  '/snapshot',
  '/coverageSummary',
  '/previewRenewalPrice',
  '/previewEndorsementPrice',
  '/preview',
]

/** The number of rows in each table of the tenant. */
async function rows(): Promise<Record<string, number>> {
  const database = boundDatabase(poolBinding(1))
  const { results } = await database
    .prepare(
      `select name from sqlite_master where type = 'table' and name not like '\\_%' escape '\\' and name not like 'sqlite%'`,
    )
    .all<{ name: string }>()
  const counts = await database.batch<{ n: number }>(
    results.map(({ name }) => database.prepare(`select count(*) as n from "${name}"`)),
  )
  return Object.fromEntries(results.map(({ name }, at) => [name, counts[at]!.results[0]!.n]))
}

describe('Repeating a write with the same Idempotency-Key', () => {
  it.each(Object.keys(WRITES))('returns the original response and writes nothing: %s', async route => {
    const { method, path, body } = await WRITES[route]!()
    const call = { token: motor.token, body, headers: { 'idempotency-key': route.replace(' ', ':') } }
    const before = await rows()
    const first = await callApi(method, path, call)
    expect(first.status, JSON.stringify(first.body)).toBe(200)
    const after = await rows()
    expect(after).not.toEqual(before)
    const again = await callApi(method, path, call)
    expect([again.status, again.body]).toEqual([first.status, first.body])
    expect(await rows()).toEqual(after)
  })

  it('is rejected with 409 when the body differs', async () => {
    const policy = await issued()
    const path = `/policies/${policy.locator}/cancellations`
    const headers = { 'idempotency-key': 'one-body-only' }
    const call = (issue: boolean) =>
      callApi<{ message: string }>('POST', path, {
        token: motor.token,
        body: cancellationOf(policy, issue),
        headers,
      })
    expect((await call(false)).status).toBe(200)
    expect((await call(true)).status).toBe(409)
    expect(await ok<unknown[]>('GET', path)).toHaveLength(1)
  })

  it('from another account is a separate request', async () => {
    const admin = await motor.signIn('anna.admin')
    const make = async (token: string): Promise<string> =>
      (
        await callOk<Located>('POST', '/policyholder/create', {
          token,
          headers: { 'idempotency-key': 'a-key-that-two-choose' },
          body: { values: {} },
        })
      ).locator
    const [mine, theirs] = [await make(motor.token), await make(admin)]
    expect(theirs).not.toBe(mine)
    expect([await make(motor.token), await make(admin)]).toEqual([mine, theirs])
  })

  it('is tested above for every write of policies, quotes and their transactions', async () => {
    const { operations } = await readApi()
    const writes = operations
      .filter(one => one.method !== 'GET' && !READS.some(read => one.path.endsWith(read)))
      .filter(one =>
        /^\/(?:policy|policies|quotes|endorsements|renewals|cancellations|reinstatements)(?:\/|$)/.test(
          one.path,
        ),
      )
      .map(one => `${one.method} ${one.path}`)
    expect(writes.sort()).toEqual([...Object.keys(WRITES), ...ELSEWHERE].sort())
  })
})
