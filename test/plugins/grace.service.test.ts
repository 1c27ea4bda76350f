// Plugins that decide how long grace lasts, through HTTP and the tenant's clock: when an invoice becomes past due, and when a
// payment is reversed. Their answers are in auxiliary data of `global`, so that a test can repair them.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PluginLogPageResponse } from '../../src/extension/plugins/contract-log.ts'
import { add, endOfDay, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { PaymentResponse, PolicyInvoiceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { ClockResponse } from '../../src/tenants/routes.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import type { GracePeriodResponse } from '../../src/transactions/lapses/contract.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'
import { withPlugins } from '../support/with-plugins.ts'

const ZONE = 'Europe/Berlin' as TimeZone
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** The stored `answer` is JSON, or says what the script must do. */
const script = (name: string): string => `
exports.${name} = data => {
  console.log(JSON.stringify(data))
  const answer = socotraApi.getAuxData('global', '${name}')
  socotraApi.setAuxData(data.policy.locator, '${name}', 'called')
  socotraApi.createCustomEvent('custom.grace.asked', { answer })
  if (answer === 'throw') throw new Error('no table of states')
  if (answer === 'nothing') return
  return JSON.parse(answer || '{}')
}`

const STATELESS = 'Plugin getPreGraceResult failed: main/getPreGraceResult.js:7: Error: no table of states.'

let deployed = 0
let motor: Motor
let admin: string

beforeAll(() => prepareDatabases({ tenants: 24 }))
beforeEach(async () => {
  deployed += 1
  const scripts = ['getPreGraceResult', 'getPostPaymentReversal'].map(name => [name, script(name)])
  motor = await motorTenant(`grace-plugins${deployed}`, withPlugins(Object.fromEntries(scripts)))
  admin = await motor.signIn('anna.admin')
})

type Problem = { code: string; message: string }

const say = async (name: 'getPreGraceResult' | 'getPostPaymentReversal', answer: unknown): Promise<void> => {
  const value = typeof answer === 'string' ? answer : JSON.stringify(answer)
  await callOk('PUT', '/auxData/global', {
    token: motor.token,
    body: { auxData: [{ key: name, value }] },
  })
}

const issued = async (paymentScheduleName: string): Promise<PolicyResponse> => {
  const span = { policyStartTimestamp: undefined, policyEndTimestamp: undefined }
  const { body } = await motor.createPolicy({ ...span, paymentScheduleName })
  return (await motor.post(`/policy/${body.locator}/issue`)).body
}

async function moveTo(timestamp: number): Promise<void> {
  const { status, body } = await motor.post<ClockResponse>('/test/clock', { timestamp })
  expect([status, body.completed, body.failed]).toEqual([200, true, 0])
}

const gracesOf = async ({ locator }: PolicyResponse): Promise<GracePeriodResponse[]> =>
  (await motor.get<GracePeriodResponse[]>(`/policy/${locator}/gracePeriods`)).body

const logsOf = async (plugin: string) =>
  (
    await callOk<PluginLogPageResponse>('GET', `/plugin/logs?plugin=${plugin}&pageSize=1000`, {
      token: admin,
    })
  ).logs

const givenTo = async (plugin: string): Promise<object[]> =>
  (await logsOf(plugin)).map(one => JSON.parse(one.lines[0]!.text) as object)

const read = async ({ locator }: { locator: string }): Promise<PolicyResponse> =>
  (await motor.get(`/policy/${locator}`)).body

const pay = async ({ locator }: { locator: string }): Promise<PaymentResponse> =>
  (await motor.post<PaymentResponse>(`/invoice/${locator}/pay`, { fieldValues: { method: 'card' } })).body

const customEvents = async () => {
  const { body } = await motor.get<{ events: { data: Record<string, string> }[] }>(
    '/eventstream/events?eventType=custom.grace.asked&pageSize=1000',
  )
  return body.events.map(event => event.data)
}

const auxOf = async ({ locator }: { locator: string }, key: string): Promise<string> =>
  (await motor.get<{ value: string }>(`/auxData/${locator}/${key}`)).body.value

describe('getPreGraceResult', () => {
  it('sets the end of the grace period, and the time from which the policy lapses', async () => {
    const policy = await issued('upfront')
    const [invoice] = policy.invoices
    const dueAt = Number(invoice!.dueTimestamp)
    const [end, effective] = [dueAt + 12 * DAY_MS, dueAt + 2 * DAY_MS]
    await say('getPreGraceResult', {
      gracePeriodEndTimestamp: end,
      cancelEffectiveTimestamp: String(effective),
    })
    await moveTo(dueAt + MINUTE_MS)
    expect(await gracesOf(policy)).toMatchObject([
      {
        invoiceLocator: invoice!.locator,
        startTimestamp: String(dueAt),
        endTimestamp: String(end),
        cancelEffectiveTimestamp: String(effective),
      },
    ])
    expect(await givenTo('getPreGraceResult')).toEqual([
      {
        invoiceLocator: invoice!.locator,
        defaultGracePeriodDays: '30',
        policy: {
          locator: policy.locator,
          policyholderLocator: policy.policyholderLocator,
          productName: policy.productName,
          originalContractStartTimestamp: policy.originalContractStartTimestamp,
          currency: 'EUR',
          quoteLocator: expect.stringMatching(/^\d+$/),
        },
        tenantTimeZone: ZONE,
      },
    ])
    expect(await auxOf(policy, 'getPreGraceResult')).toBe('called')
    await moveTo(end + MINUTE_MS)
    expect((await read(policy)).cancellation).toMatchObject({ effectiveTimestamp: String(effective) })
  })

  it('leaves to the product what it does not set', async () => {
    const policy = await issued('upfront')
    const dueAt = Number(policy.invoices[0]!.dueTimestamp) as Instant
    await moveTo(dueAt + MINUTE_MS)
    const [grace] = await gracesOf(policy)
    expect([grace!.endTimestamp, grace!.cancelEffectiveTimestamp]).toEqual([
      String(add(dueAt, 30, 'day', ZONE)),
      undefined,
    ])
  })

  it('is called again after it fails, and grace then begins when the invoice was due', async () => {
    const policy = await issued('upfront')
    const dueAt = Number(policy.invoices[0]!.dueTimestamp)
    await say('getPreGraceResult', 'throw')
    await moveTo(dueAt + 5 * MINUTE_MS)
    expect(await gracesOf(policy)).toEqual([])
    const failures = (await logsOf('getPreGraceResult')).map(one => one.failure!)
    const pattern = / It is called again at (\d+); after 6 failures the product's days apply\.$/
    expect(failures.map(one => one.replace(pattern, ''))).toEqual(Array(2).fill(STATELESS))
    for (const [at, minutes] of [1, 11].entries()) {
      const again = Number(pattern.exec(failures[at]!)![1]) - dueAt - minutes * MINUTE_MS
      expect(again).toBeGreaterThanOrEqual(0)
      expect(again).toBeLessThan(MINUTE_MS / 2)
    }
    await say('getPreGraceResult', { gracePeriodEndTimestamp: dueAt + 7 * DAY_MS })
    await moveTo(dueAt + 12 * MINUTE_MS)
    expect(await gracesOf(policy)).toMatchObject([
      { startTimestamp: String(dueAt), endTimestamp: String(dueAt + 7 * DAY_MS) },
    ])
    expect(await logsOf('getPreGraceResult')).toHaveLength(3)
    expect((await customEvents()).map(one => one.operationFailed)).toEqual(['true', 'true', undefined])
  })

  it('is replaced by the 30 days of the product after six failures in a day', async () => {
    const policy = await issued('upfront')
    const dueAt = Number(policy.invoices[0]!.dueTimestamp) as Instant
    await say('getPreGraceResult', 'throw')
    await moveTo(dueAt + DAY_MS - MINUTE_MS)
    expect(await gracesOf(policy)).toEqual([])
    await moveTo(dueAt + DAY_MS + MINUTE_MS)
    expect(await gracesOf(policy)).toMatchObject([
      { startTimestamp: String(dueAt), endTimestamp: String(add(dueAt, 30, 'day', ZONE)) },
    ])
    const failures = (await logsOf('getPreGraceResult')).map(one => one.failure)
    expect(failures).toHaveLength(6)
    expect(failures.at(-1)).toMatch(/It has failed 6 times: the product's 30 days apply\.$/)
    expect(await auxOf(policy, 'getPreGraceResult')).toBe('')
  })

  it('is not called again for an invoice that was paid in the meantime', async () => {
    const policy = await issued('upfront')
    const dueAt = Number(policy.invoices[0]!.dueTimestamp)
    await say('getPreGraceResult', 'throw')
    await moveTo(dueAt + 5 * MINUTE_MS)
    await pay(policy.invoices[0]!)
    await moveTo(dueAt + 2 * DAY_MS)
    expect(await gracesOf(policy)).toEqual([])
    expect(await logsOf('getPreGraceResult')).toHaveLength(2)
  })

  it.each([
    [
      '"thirty days"',
      /returned an invalid answer: the answer must be an object, not text\. It is called again/,
    ],
    [
      '{"gracePeriodEndTimestamp":"2027-01-01"}',
      /'gracePeriodEndTimestamp' must be a time in milliseconds, as a whole number or its digits/,
    ],
    [
      '{"gracePeriodEndTimestamp":1000}',
      /gracePeriodEndTimestamp 1000 is before the grace period's start \d+/,
    ],
    [
      '{"cancelEffectiveTimestamp":1000}',
      /cancelEffectiveTimestamp 1000 must be at or after the contract's start/,
    ],
  ])('fails when it answers %s, and what it wrote is dropped', async (answer, failure) => {
    const policy = await issued('upfront')
    await say('getPreGraceResult', answer)
    await moveTo(Number(policy.invoices[0]!.dueTimestamp) + MINUTE_MS / 2)
    expect(await gracesOf(policy)).toEqual([])
    const [log] = await logsOf('getPreGraceResult')
    expect(log!.failure).toMatch(failure)
    expect(await auxOf(policy, 'getPreGraceResult')).toBe('')
  })
})

describe('getPostPaymentReversal', () => {
  /** Issues a policy, pays its invoice and moves the clock to `days` after this was due. */
  async function reversed(
    days: number,
  ): Promise<{ policy: PolicyResponse; invoice: PolicyInvoiceResponse; payment: PaymentResponse }> {
    const policy = await issued('upfront')
    const [invoice] = policy.invoices
    const payment = await pay(invoice!)
    await moveTo(Number(invoice!.dueTimestamp) + days * DAY_MS)
    return { policy, invoice: invoice!, payment }
  }

  const reverse = <Body = PaymentResponse>({ locator }: { locator: string }) =>
    motor.post<Body>(`/payments/${locator}/reverse`)

  const reopenedDue = async ({ locator }: { locator: string }): Promise<number> =>
    Number((await motor.get<PolicyInvoiceResponse>(`/invoice/${locator}`)).body.dueTimestamp)

  it('sets the end of the grace period that begins when the invoice is unpaid again', async () => {
    const { policy, invoice, payment } = await reversed(10)
    const end = Number(invoice.dueTimestamp) + 25 * DAY_MS
    await say('getPostPaymentReversal', { gracePeriodEndTimestamp: end })
    const { status, body } = await reverse(payment)
    expect([status, body.reversedTimestamp]).toEqual([200, expect.any(String)])
    expect(await givenTo('getPostPaymentReversal')).toEqual([
      {
        operationType: 'payment_reversal',
        paymentLocator: payment.locator,
        invoiceLocator: invoice.locator,
        invoiceAmount: invoice.totalDue.toFixed(2),
        invoiceDueTimestamp: invoice.dueTimestamp,
        invoiceIssueTimestamp: invoice.createdTimestamp,
        gracePeriodDays: '30',
        policy: expect.objectContaining({ locator: policy.locator, currency: 'EUR' }),
        tenantTimeZone: ZONE,
      },
    ])
    const dueAgain = await reopenedDue(invoice)
    expect(dueAgain).toBe(endOfDay(Number(body.reversedTimestamp) as Instant, ZONE))
    expect(await gracesOf(policy)).toEqual([])
    await moveTo(dueAgain + MINUTE_MS)
    expect(await gracesOf(policy)).toMatchObject([
      { startTimestamp: String(dueAgain), endTimestamp: String(end) },
    ])
    expect(await logsOf('getPreGraceResult')).toEqual([])
    await moveTo(end + MINUTE_MS)
    expect((await read(policy)).cancellation).toMatchObject({ effectiveTimestamp: String(end) })
  })

  it('makes the policy lapse when the invoice is due again if the end of grace is before that', async () => {
    const { policy, invoice, payment } = await reversed(10)
    await say('getPostPaymentReversal', {
      gracePeriodEndTimestamp: Number(invoice.dueTimestamp) + 10 * DAY_MS + 30 * MINUTE_MS,
    })
    await reverse(payment)
    const dueAgain = await reopenedDue(invoice)
    await moveTo(dueAgain + MINUTE_MS)
    expect((await read(policy)).cancellation).toMatchObject({ effectiveTimestamp: String(dueAgain) })
  })

  it('leaves the end to getPreGraceResult or the product if it sets none', async () => {
    const { policy, invoice, payment } = await reversed(10)
    await say('getPostPaymentReversal', 'nothing')
    await reverse(payment)
    const dueAgain = await reopenedDue(invoice)
    await say('getPreGraceResult', { gracePeriodEndTimestamp: dueAgain + 3 * DAY_MS })
    await moveTo(dueAgain + MINUTE_MS)
    expect(await gracesOf(policy)).toMatchObject([{ endTimestamp: String(dueAgain + 3 * DAY_MS) }])
  })

  it('moves the end of an open grace period, and an event reports it', async () => {
    const policy = await issued('monthly')
    const dueAt = Number(policy.invoices[0]!.dueTimestamp)
    // The second invoice is created 14 days before it is due: in a month of 31 days, 17 days after the first.
    await moveTo(dueAt + 17.5 * DAY_MS)
    const later = (await read(policy)).invoices
    expect(later).toHaveLength(2)
    const payment = await pay(later[1]!)
    const [grace] = await gracesOf(policy)
    const end = dueAt + 19 * DAY_MS
    await say('getPostPaymentReversal', { gracePeriodEndTimestamp: end })
    expect((await reverse(payment)).status).toBe(200)
    expect(await gracesOf(policy)).toMatchObject([{ locator: grace!.locator, endTimestamp: String(end) }])
    const { body } = await motor.get<{ events: { data: object }[] }>(
      '/eventstream/events?eventType=policy.gracePeriod.update',
    )
    expect(body.events.map(one => one.data)).toMatchObject([
      { gracePeriodLocator: grace!.locator, end: String(end) },
    ])
    await moveTo(end + MINUTE_MS)
    expect((await read(policy)).cancellation).toMatchObject({ effectiveTimestamp: String(end) })
  })

  it.each([
    [
      'throw',
      /^Plugin getPostPaymentReversal failed: main\/getPostPaymentReversal\.js:7: Error: no table of states$/,
    ],
    [
      '[]',
      /^Plugin getPostPaymentReversal \(main\/\w+\.js\) returned an invalid answer: the answer must be an object, not a list\.$/,
    ],
    ['{"gracePeriodEndTimestamp":"soon"}', /'gracePeriodEndTimestamp' must be a time in milliseconds/],
    ['{"gracePeriodEndTimestamp":1000}', /gracePeriodEndTimestamp 1000 is before the reversal at \d+\.$/],
  ])('rejects the reversal with 422 when it answers %s, and nothing is stored', async (answer, message) => {
    const { policy, payment } = await reversed(10)
    await say('getPostPaymentReversal', answer)
    const refused = await reverse<Problem>(payment)
    expect([refused.status, refused.body.code]).toEqual([422, 'pluginFailed'])
    expect(refused.body.message).toMatch(message)
    const { body } = await motor.get<PaymentResponse>(`/payments/${payment.locator}`)
    expect(body.reversedTimestamp).toBeUndefined()
    expect(await auxOf(policy, 'getPostPaymentReversal')).toBe('')
  })

  /** Returns a policy in grace, with an accepted endorsement whose invoice is paid. */
  async function endorsedInGrace(): Promise<{ policy: PolicyResponse; endorsement: EndorsementResponse }> {
    const policy = await issued('upfront')
    const { body: endorsement } = await motor.post<EndorsementResponse>(
      `/policies/${policy.locator}/endorsements`,
      {
        endorsementName: 'change_of_risk',
        startTimestamp: Number(policy.originalContractStartTimestamp) + 60 * DAY_MS,
        fieldValues: { claims_free_years: '0' },
        state: 'accepted',
      },
    )
    await moveTo(Number(policy.invoices[0]!.dueTimestamp) + MINUTE_MS)
    const own = (await read(policy)).invoices.find(one => one.invoiceType === 'endorsement')!
    expect(own.totalDue).toBeGreaterThan(0)
    await pay(own)
    return { policy, endorsement }
  }

  it('is called for a payment whose invoice becomes void, and moves the end of open grace', async () => {
    const { policy, endorsement } = await endorsedInGrace()
    const end = Number(policy.invoices[0]!.dueTimestamp) + 40 * DAY_MS
    await say('getPostPaymentReversal', { gracePeriodEndTimestamp: end })
    const { status } = await callApi('PATCH', `/endorsements/${endorsement.locator}`, {
      token: motor.token,
      body: { action: 'invalidate' },
    })
    expect(status).toBe(200)
    expect(await givenTo('getPostPaymentReversal')).toMatchObject([
      { operationType: 'payment_invalidation', policy: { locator: policy.locator } },
    ])
    expect(await gracesOf(policy)).toMatchObject([{ endTimestamp: String(end) }])
  })

  it('does not block what the clock triggers if it fails, and the log has the failure', async () => {
    const { policy } = await endorsedInGrace()
    await say('getPostPaymentReversal', 'throw')
    const [grace] = await gracesOf(policy)
    await moveTo(Number(grace!.endTimestamp) + MINUTE_MS)
    const lapsed = await read(policy)
    expect(lapsed.cancellation).toMatchObject({ effectiveTimestamp: grace!.endTimestamp })
    expect(lapsed.invoices.map(one => one.settlementType)).toContain('invalidated')
    expect((await logsOf('getPostPaymentReversal')).map(one => one.failure)).toEqual([
      'Plugin getPostPaymentReversal failed: main/getPostPaymentReversal.js:7: Error: no table of states. The end of the grace period is unchanged.',
    ])
  })
})

it('a reversal in a product without the plugin makes one D1 round trip', async () => {
  const plain = await motorTenant(`grace-plain${deployed}`)
  const { body } = await plain.createPolicy()
  const { body: policy } = await plain.post(`/policy/${body.locator}/issue`)
  const path = `/invoice/${policy.invoices[0]!.locator}/pay`
  const { body: payment } = await plain.post<PaymentResponse>(path, { fieldValues: { method: 'card' } })
  const reversed = await plain.post(`/payments/${payment.locator}/reverse`)
  expect(roundTrips(reversed)).toMatchObject({ d1: 1, object: 1, r2: 0 })
})
