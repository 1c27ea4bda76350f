import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Tenant, tenantNow } from '../../../../src/platform/tenancy.ts'
import { prepareDatabases } from '../../../support/databases.ts'
import { type Client, clientOf } from '../http.ts'
import { happen, makeTenant } from '../tenant.ts'

beforeAll(() => prepareDatabases({ tenants: 40 }))

let tenant: Tenant
let call: Client
let base: string

beforeEach(async () => {
  tenant = await makeTenant()
  call = await clientOf(tenant)
  base = `/event/${tenant.locator}/events`
})

type Shown = { locator: string; type: string; data: { name: string } }
const namesOf = (body: { events: Shown[] }) => body.events.map(({ data }) => data.name)
const pageAfter = (token: string) => `${base}/list?pagingToken=${encodeURIComponent(token)}`
const setTime = (name: string, at: number) =>
  (env as unknown as Record<string, D1Database>)
    [tenant.shards[0]!]!.prepare(`update event set at = ? where data ->> 'name' = ?`)
    .bind(at, name)
    .run()

describe('an event in the events interface', () => {
  it('has the newer name, its cause and time, and the data of both names', async () => {
    const before = tenantNow(tenant)
    const request = await happen(tenant, [
      {
        type: 'endorsement.create',
        data: { policyLocator: '100000001', endorsementLocator: '100000065', endorsementName: 'addVehicle' },
      },
    ])
    const { body } = await call('GET', `${base}/list`)
    expect(body).toEqual({
      pagingToken: expect.any(String),
      events: [
        {
          locator: expect.any(String),
          userLocator: expect.stringMatching(/^[0-9a-f-]{36}$/),
          requestId: request,
          timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          type: 'policy.change.create',
          data: {
            policyLocator: '100000001',
            transactionLocator: '100000065',
            endorsementLocator: '100000065',
            endorsementName: 'addVehicle',
          },
        },
      ],
    })
    expect(Date.parse(body.events[0].timestamp)).toBeGreaterThanOrEqual(before)
    expect((await call('GET', `${base}/${body.events[0].locator}`)).body).toEqual(body.events[0])
    const stream = await call('GET', '/eventstream/events?startTimestamp=0')
    expect(stream.body.events[0]).toMatchObject({ id: body.events[0].locator, type: 'endorsement.create' })
    expect(stream.body.events[0].data).not.toHaveProperty('transactionLocator')
  })

  it.each([
    [
      'policyholder.create',
      { policyholderLocator: 'a', version: '1' },
      'policy.account.create',
      { accountLocator: 'a' },
    ],
    [
      'policy.quote.declined',
      { quoteLocator: '7', decision: 'reject' },
      'policy.quote.underwrite',
      { quoteLocator: '7', underwritingStatus: 'reject' },
    ],
    ['policy.issue', { policyLocator: '5', quoteLocator: '7' }, 'policy.quote.issue', { quoteLocator: '7' }],
    [
      'renewal.issue',
      { policyLocator: '5', renewalLocator: '8' },
      'policy.renewal.issue',
      { policyLocator: '5', transactionLocator: '8' },
    ],
    [
      'reinstatement.issue',
      { policyLocator: '5', reinstatementLocator: 'r', cancellationLocator: '9' },
      'policy.reinstatement.issue',
      { policyLocator: '5', transactionLocator: 'r' },
    ],
    [
      'cancellation.rescind',
      { policyLocator: '5', cancellationLocator: '9' },
      'policy.cancellation.discard',
      { transactionLocator: '9' },
    ],
    [
      'policy.end',
      { policyLocator: '5', endTimestamp: '1' },
      'policy.status.update',
      { policyLocator: '5', newStatuses: ['expired'], removedStatuses: ['onRisk'] },
    ],
    [
      'cancellation.effective',
      { policyLocator: '5' },
      'policy.status.update',
      { newStatuses: ['cancelled'], removedStatuses: ['onRisk'] },
    ],
    [
      'payment.pay',
      { policyLocator: '5', paymentLocator: 'p' },
      'billing.payment.post',
      { paymentLocator: 'p', policyLocators: { listCompleted: true, items: ['5'] } },
    ],
    [
      'policy.gracePeriod',
      { policyLocator: '5', gracePeriodLocator: 'g' },
      'billing.delinquency.create',
      { delinquencyLocator: 'g', policyLocators: { listCompleted: true, items: ['5'] } },
    ],
    [
      'document.ready',
      { documentLocator: 'd', referenceType: 'policy', referenceLocator: '5' },
      'document.ready',
      { documentLocator: 'd', referenceType: 'policy', referenceLocator: '5' },
    ],
    [
      'custom.rate.referred',
      { policyLocator: '5', why: 'age' },
      'custom.rate.referred',
      { policyLocator: '5', why: 'age' },
    ],
  ] as const)('of type %s has the data of its newer name', async (type, data, newer, promised) => {
    await happen(tenant, [{ type, data }])
    const { body } = await call('GET', `${base}/list`)
    expect(body.events[0]).toMatchObject({ type: newer, data: { ...data, ...promised } })
  })

  it('of an invoice has the account, the policies and the time of creation', async () => {
    await happen(tenant, [
      {
        type: 'invoice.issue',
        data: {
          policyLocator: '5',
          policyholderLocator: 'h',
          invoiceLocator: 'i',
          invoiceType: 'newBusiness',
        },
      },
    ])
    const [event] = (await call('GET', `${base}/list`)).body.events
    expect(event.data).toMatchObject({
      invoiceLocator: 'i',
      accountLocator: 'h',
      invoiceType: 'normal',
      policyLocators: { listCompleted: true, items: ['5'] },
      generateTime: event.timestamp,
    })
  })

  it('that does not exist, or belongs to another tenant, returns 404', async () => {
    await happen(tenant, [{ data: { name: 'a' } }])
    const [{ locator }] = (await call('GET', `${base}/list`)).body.events
    const strangers = await makeTenant()
    const stranger = await clientOf(strangers)
    for (const [client, path] of [
      [call, `${base}/nonsense`],
      [call, `${base}/${locator.slice(0, 34)}05`],
      [call, `${base}/${locator.slice(0, 34)}ff`],
      [stranger, `/event/${strangers.locator}/events/${locator}`],
      [stranger, `${base}/${locator}`],
    ] as const) {
      const { status, body } = await client('GET', path)
      expect([path, status, body.code]).toEqual([path, 404, 'notFound'])
    }
  })
})

describe('GET /event/{tenantLocator}/events/request/{locator}', () => {
  it('returns the events that the request caused, in order, from all shards', async () => {
    const wide = await makeTenant(2)
    const client = await clientOf(wide)
    const first = await happen(wide, [{ data: { name: 'a' } }, { data: { name: 'b' } }], 1)
    await happen(wide, [{ data: { name: 'c' } }], 1)
    const { body } = await client('GET', `/event/${wide.locator}/events/request/${first}`)
    expect(body.map(({ data }: Shown) => data.name)).toEqual(['a', 'b'])
    expect(new Set(body.map(({ requestId }: { requestId: string }) => requestId))).toEqual(new Set([first]))
  })

  it('returns 404 for a request without events, and for one of another tenant', async () => {
    const request = await happen(await makeTenant(), [{ data: { name: 'a' } }])
    for (const one of [crypto.randomUUID(), request, 'nonsense']) {
      const { status, body } = await call('GET', `${base}/request/${one}`)
      expect([one, status, body.code]).toEqual([one, 404, 'notFound'])
      expect(body.message).toContain(`'${one}'`)
    }
  })
})

describe('the list of events', () => {
  it('is read to its end by paging token, which the last page has too', async () => {
    await happen(
      tenant,
      ['a', 'b', 'c'].map(name => ({ data: { name } })),
    )
    const first = (await call('GET', `${base}/list?pageSize=2`)).body
    const second = (await call('GET', pageAfter(first.pagingToken))).body
    const third = (await call('GET', pageAfter(second.pagingToken))).body
    expect([first, second, third].map(namesOf)).toEqual([['a', 'b'], ['c'], []])
    expect(third.pagingToken).toEqual(expect.any(String))
    await happen(tenant, [{ data: { name: 'd' } }])
    expect(namesOf((await call('GET', pageAfter(third.pagingToken))).body)).toEqual(['d'])
  })

  it('rejects other parameters next to a paging token, and a paging token of the stream', async () => {
    await happen(tenant, [{ data: { name: 'a' } }])
    const { pagingToken } = (await call('GET', `${base}/list`)).body
    for (const more of [
      'type=policy.create',
      'pageSize=5',
      'startTimestamp=2026-01-01T00:00:00Z',
      'endTimestamp=5',
    ]) {
      const { status, body } = await call('GET', `${pageAfter(pagingToken)}&${more}`)
      expect([more, status, body.code]).toEqual([more, 400, 'invalidParameter'])
      expect(body.message).toContain(`'${more.split('=')[0]}'`)
    }
    const stream = (await call('GET', '/eventstream/events?startTimestamp=0')).body
    expect((await call('GET', pageAfter(stream.pagingToken))).status).toBe(400)
    expect((await call('GET', `/eventstream/events?pagingToken=${pagingToken}`)).status).toBe(400)
  })

  it('filters by an older or a newer type, with each event once and in order', async () => {
    await happen(tenant, [
      { type: 'policy.reinstatement.issue', data: { name: 'a' } },
      { type: 'policy.create', data: { name: 'b' } },
      { type: 'reinstatement.issue', data: { name: 'c' } },
      { type: 'policy.reinstatement.issue', data: { name: 'd' } },
      { type: 'endorsement.create', data: { name: 'e' } },
    ])
    const names = async (type: string) => namesOf((await call('GET', `${base}/list?type=${type}`)).body)
    expect(await names('policy.reinstatement.issue')).toEqual(['a', 'c', 'd'])
    expect(await names('reinstatement.issue')).toEqual(['c'])
    expect(await names('policy.change.create')).toEqual(['e'])
    expect(await names('endorsement.create')).toEqual(['e'])
    expect(await names('billing.disbursement.create')).toEqual([])
    const first = (await call('GET', `${base}/list?type=policy.reinstatement.issue&pageSize=2`)).body
    expect(namesOf(first)).toEqual(['a', 'c'])
    expect(namesOf((await call('GET', pageAfter(first.pagingToken))).body)).toEqual(['d'])
    for (const type of ['policy.*', 'policy.sold', 'constructor']) {
      const { status, body } = await call('GET', `${base}/list?type=${type}`)
      expect([status, body.code]).toEqual([400, 'invalidParameter'])
    }
  })

  it('starts at startTimestamp and ends before endTimestamp, in any notation of time', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await happen(tenant, [{ data: { name } }])
    const start = Date.parse('2026-03-01T00:00:00Z')
    for (const [at, name] of ['a', 'b', 'c', 'd'].entries()) await setTime(name, start + at * 1_000)
    const names = async (query: string) => namesOf((await call('GET', `${base}/list?${query}`)).body)
    expect(await names('startTimestamp=2026-03-01T00:00:01Z')).toEqual(['b', 'c', 'd'])
    expect(await names('endTimestamp=2026-03-01T00:00:02.000Z')).toEqual(['a', 'b'])
    expect(
      await names('startTimestamp=2026-03-01T01:00:01%2B01:00&endTimestamp=2026-03-01T00:00:03Z'),
    ).toEqual(['b', 'c'])
    expect(await names('startTimestamp=2026-03-01T01:00:01+01:00')).toEqual(['b', 'c', 'd'])
    expect(await names('startTimestamp=2026-03-01')).toEqual(['a', 'b', 'c', 'd'])
    expect(await names(`startTimestamp=${start + 3_000}&type=policy.create`)).toEqual(['d'])
    for (const wrong of ['yesterday', '2026-02-30T00:00:00Z', '2026-13-01', '2026-03-01T25:00:00Z'])
      expect((await call('GET', `${base}/list?startTimestamp=${wrong}`)).status, wrong).toBe(400)
  })

  it('has pages of 100 events by default, and of at most 1,000', async () => {
    await happen(
      tenant,
      Array.from({ length: 1_100 }, (_, n) => ({ data: { name: String(n) } })),
    )
    expect((await call('GET', `${base}/list`)).body.events).toHaveLength(100)
    expect((await call('GET', `${base}/list?pageSize=5000`)).body.events).toHaveLength(1_000)
  })
})

it('the catalogue of types is public', async () => {
  const { status, body } = await call('GET', '/event/events', undefined, { authorization: '' })
  expect(status).toBe(200)
  expect(body.find(({ type }: { type: string }) => type === 'endorsement.quote')).toMatchObject({
    newerTypes: ['policy.change.underwrite'],
    dataType: 'EventStreamEndorsementQuoteData',
    emitted: true,
    example: { endorsementLocator: expect.any(String) },
  })
  expect(body.find(({ type }: { type: string }) => type === 'claim.open')).toMatchObject({
    emitted: false,
    causes: [],
  })
})
