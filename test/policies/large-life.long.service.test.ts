// The life of a policy of 1,000 exposures with 5 perils each: every step is within the limits of one request and exact to the
// cent. Also which perils a response contains.
import { beforeAll, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyholderResponse } from '../../src/policyholders/contract.ts'
import type { PolicyPriceChangeResponse } from '../../src/rating/contract-change.ts'
import { migrationOfAccount } from '../../src/reporting/export/account/account.ts'
import type { PolicyRecord } from '../../src/reporting/export/policy-record.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import { callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Plain, plainTenant, thing } from '../support/plain-product.ts'
import { size } from '../support/sizes.ts'

const BERLIN = 'Europe/Berlin' as TimeZone
const START = 1_798_758_000_000 as Instant
const EXPOSURES = size(200, 1_000)
const PERILS = ['fire', 'water', 'wind', 'theft', 'glass']

const months = (count: number): Instant => add(START, count, 'month', BERLIN)

let plain: Plain

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  const users = [
    { username: 'alice', name: 'Alice', password: 'password' },
    { username: 'ada', name: 'Ada', password: 'password', roles: ['admin'] },
  ]
  plain = await plainTenant(
    'large',
    { timezone: BERLIN, perils: PERILS },
    { 'security/test_users.json': JSON.stringify(users) },
  )
})

it(
  'a large policy can be created, priced, endorsed, renewed, cancelled and reinstated',
  async () => {
    const exposures = Array.from({ length: EXPOSURES }, () => thing('120', PERILS))
    const policy = await plain.issue({ start: START, end: months(12) }, '120', exposures)
    const { locator } = policy
    const year = EXPOSURES * PERILS.length * 120
    const price = () => plain.ok<PolicyPriceResponse>('POST', `/policy/${locator}/price`)
    const read = () => plain.ok<PolicyResponse>('GET', `/policy/${locator}`)
    expect((await price()).grossPremium).toBe(year)

    const endorsement = await plain.ok<{ locator: string }>('POST', `/policies/${locator}/endorsements`, {
      endorsementName: 'always',
      startTimestamp: months(6),
      updateExposures: [{ exposureLocator: policy.exposures[7]!.locator, fieldValues: { yearly: '240' } }],
    })
    const path = `/endorsements/${endorsement.locator}`
    const asked = await plain.ok<PolicyPriceChangeResponse>('GET', `${path}/price`)
    expect(asked).toMatchObject({ grossPremiumChange: 300, newGrossPremium: year + 300 })
    for (const action of ['quote', 'accept', 'issue']) await plain.ok('PATCH', path, { action })
    expect((await price()).grossPremium).toBe(year + 300)

    await plain.ok('POST', `/policies/${locator}/renewals`, {
      renewalEndTimestamp: months(24),
      state: 'issued',
    })
    const renewed = year + 600
    expect((await price()).grossPremium).toBe(year + 300 + renewed)

    const cancellation = await plain.ok<CancellationResponse>('POST', `/policies/${locator}/cancellations`, {
      name: 'wish',
      effectiveTimestamp: months(18),
      issue: true,
    })
    expect(cancellation.price).toMatchObject({ grossPremiumChange: -renewed / 2 })
    await plain.ok('PATCH', `/cancellations/${cancellation.locator}/reinstate`, { issue: true })

    const now = await read()
    expect(now.modifications.map(one => one.premiumChange)).toEqual([
      year,
      300,
      renewed,
      -renewed / 2,
      renewed / 2,
    ])
    expect(now.invoices.map(one => one.totalDue)).toEqual([year, 300, renewed, -renewed / 2, renewed / 2])
    expect(now.exposures.flatMap(one => one.perils)).toHaveLength(2 * EXPOSURES * PERILS.length)
  },
  size(120_000, 600_000),
)

async function exported(locator: string): Promise<PolicyRecord> {
  const token = await plain.signIn('ada')
  for (let query = ''; ; ) {
    const page = await callOk<string>('GET', `/export/policies/records${query}`, { token })
    const lines = page.trim().split('\n')
    const line = lines.find(one => one.includes(`"kind":"policy"`) && one.includes(`"locator":"${locator}"`))
    if (line !== undefined) return (JSON.parse(line) as { record: PolicyRecord }).record
    query = `?pagingToken=${encodeURIComponent((JSON.parse(lines.at(-1)!) as { pagingToken: string }).pagingToken)}`
  }
}

// The limits in the next two tests are lower in the small size (support/service-bundle.ts).
it('a policy too long for a reply of its object is returned in full by reads and writes', async () => {
  const things = size(50, 200)
  const perils = things * PERILS.length
  const exposures = Array.from({ length: things }, () => thing('120', PERILS))
  const { locator, policyholderLocator } = await plain.issue(
    { start: START, end: months(12) },
    '120',
    exposures,
  )
  const path = `/policy/${locator}`
  const endorsing = (n: number) => ({
    endorsementName: 'never',
    startTimestamp: START + n * 60_000,
    fieldValues: { note: `nota nr ${n}: zmiana składki` },
  })
  const read = (query = '', headers: Record<string, string> = {}) =>
    plain.call<PolicyResponse>('GET', path + query, undefined, headers)
  const endorse = (n: number, headers: Record<string, string>) =>
    plain.call<PolicyResponse>('POST', `${path}/endorse`, endorsing(n), headers)
  const count = ({ exposures: shown }: Pick<PolicyResponse, 'exposures'>): number =>
    shown.flatMap(({ perils }) => perils).reduce((sum, one) => sum + one.characteristics.length, 0)
  for (let n = 1; n <= 7; n += 1)
    await plain.ok('POST', `/policies/${locator}/endorsements`, { ...endorsing(n), state: 'issued' })

  // An object's reply has at most 32 MiB. Each of these characters takes two bytes, because one of them is not Latin-1. In the
  // small size the limit is a quarter of it.
  const before = await read()
  expect(JSON.stringify(before.body).length).toBeGreaterThan(size(4, 16) * 2 ** 20)
  const asRead = { 'if-match': before.headers.get('etag')!, 'idempotency-key': 'endorsed-8' }
  const written = await endorse(8, asRead)
  expect(written.status).toBe(200)
  // One round trip more than a write whose response its object returns: the policy is read once more.
  const [, d1, object, renewed] = /d1;desc="(\d+)", object;desc="(\d+)".*renewed;desc="(\d+)"/.exec(
    written.headers.get('server-timing')!,
  )!
  expect([Number(d1) - Number(renewed), object]).toEqual([3, '1'])
  expect(count(written.body)).toBe(17 * perils)
  expect((await read('', { 'if-none-match': written.headers.get('etag')! })).status).toBe(304)
  expect((await endorse(8, asRead)).body.modifications).toHaveLength(9)
  expect((await endorse(9, { 'if-match': asRead['if-match'] })).status).toBe(412)

  // A response with the perils of one exposure is short.
  for (const at of [0, things - 1]) {
    const exposureLocator = written.body.exposures[at]!.locator
    const one = (await read(`?perilCharacteristics=${exposureLocator}`)).body
    expect(one.exposures[at]).toEqual(written.body.exposures[at])
    const { exposures: _, modifications: changed, ...rest } = one
    const { exposures: __, modifications: all, ...wholeRest } = written.body
    expect(rest).toEqual(wholeRest)
    expect(changed).toEqual(
      all.map(({ exposureModifications: every, ...modification }) => ({
        ...modification,
        exposureModifications: every.filter(each => each.exposureLocator === exposureLocator),
      })),
    )
  }
  const held = await plain.ok<PolicyResponse[]>('GET', `/policyholder/${policyholderLocator}/policies`)
  const same = held.find(each => each.locator === locator)
  expect(JSON.stringify(same) === JSON.stringify(written.body)).toBe(true)
  const record = await exported(locator)
  expect(count(record)).toBe(17 * perils)
  // For each peril, the segments in force after eight endorsements.
  expect([record.isOutline, record.segmentCharges.length]).toEqual([undefined, 9 * perils])
  const snapshot = await plain.ok<PolicyResponse>('POST', `/policies/${locator}/snapshot`, {
    effectiveTimestamp: START,
  })
  expect(count(snapshot)).toBe(perils)
  const { policyWhenIssued } = await plain.ok<{ policyWhenIssued: PolicyResponse }>(
    'POST',
    `/policies/${locator}/preview`,
    { endorsement: endorsing(9) },
  )
  expect(count(policyWhenIssued)).toBe(19 * perils)
}, 120_000)

it('a policy with too many characteristics for one response is read without those of its perils', async () => {
  const perils = size(100, 1_000)
  const things = perils / PERILS.length
  const exposures = Array.from({ length: things }, () => thing('120', PERILS))
  const { locator } = await plain.issue({ start: START, end: months(12) }, '120', exposures)
  const endorse = (n: number) =>
    plain.ok('POST', `/policies/${locator}/endorsements`, change(n, { state: 'issued' }))
  const change = (n: number, more: object = {}) => ({
    endorsementName: 'never',
    startTimestamp: START + n * 60_000,
    fieldValues: { note: `note ${n}` },
    ...more,
  })
  // Each ends a segment early and begins another: the perils have 149 segments, and then 151.
  for (let n = 1; n <= 74; n += 1) await endorse(n)
  // Returned without a body, which would have 220 MB.
  const tagOf = async (query: string) => {
    const { status, headers } = await plain.call('GET', `/policy/${locator}${query}`, undefined, {
      'if-none-match': '*',
    })
    return [status, headers.get('etag')]
  }
  const whole = await tagOf('')
  expect(whole[0]).toBe(304)
  expect(await tagOf('?perilCharacteristics=fitting')).toEqual(whole)
  expect(await tagOf('?perilCharacteristics=none')).not.toEqual(whole)
  await endorse(75)
  const { status, body } = await plain.call<{ code: string; message: string }>('GET', `/policy/${locator}`)
  expect([status, body.code]).toEqual([413, 'tooLarge'])
  expect(body.message).toContain(
    `its perils have ${151 * perils} characteristics, and the limit is ${size(15_000, 150_000)}.`,
  )
  expect(body.message).toContain(`perilCharacteristics={exposureLocator}\` (GET /policy/${locator})`)

  const read = (which: string) =>
    plain.ok<PolicyResponse>('GET', `/policy/${locator}?perilCharacteristics=${which}`)
  const outline = await read('none')
  expect(await read('fitting')).toEqual(outline)
  expect(outline.characteristics).toHaveLength(151)
  expect(outline.exposures.flatMap(one => one.perils)).toHaveLength(perils)
  const inForce = outline.characteristics.filter(one => one.replacedTimestamp === undefined)
  const price = await plain.ok<PolicyPriceResponse>('POST', `/policy/${locator}/price`)
  expect(inForce.reduce((sum, one) => sum + Math.round(one.grossPremium! * 100), 0)).toBe(
    Math.round(price.grossPremium * 100),
  )
  const { exposures: shown } = await read(outline.exposures[7]!.locator)
  expect(shown.map(({ perils }) => perils.flatMap(one => one.characteristics).length)).toEqual(
    shown.map((_, at) => (at === 7 ? 5 * 151 : 0)),
  )
  const held = await plain.ok<PolicyResponse[]>(
    'GET',
    `/policyholder/${outline.policyholderLocator}/policies?perilCharacteristics=few`,
  )
  expect(held.find(one => one.locator === locator)).toEqual(outline)
  const then = await plain.ok<PolicyResponse>(
    'POST',
    `/policies/${locator}/snapshot?perilCharacteristics=${outline.exposures[7]!.locator}`,
    { effectiveTimestamp: START },
  )
  const inForceThen = then.exposures.flatMap(one => one.perils).flatMap(one => one.characteristics)
  expect(inForceThen.map(one => one.coverageStartTimestamp)).toEqual(Array(5).fill(String(START)))
  const preview = (query: string) =>
    plain.call<{ code: string; policyWhenIssued: PolicyResponse }>(
      'POST',
      `/policies/${locator}/preview${query}`,
      { endorsement: change(76) },
    )
  expect((await preview('')).body.code).toBe('tooLarge')
  const { body: previewed } = await preview('?perilCharacteristics=none')
  expect(previewed.policyWhenIssued.characteristics).toHaveLength(153)
  const { headers } = await plain.call('GET', `/policy/${locator}?perilCharacteristics=none`)
  const asRead = { 'if-match': headers.get('etag')! }
  const endorsing = (n: number) =>
    plain.call('POST', `/policies/${locator}/endorsements`, change(n, { state: 'issued' }), asRead)
  expect((await endorsing(76)).status).toBe(200)
  expect((await endorsing(77)).status).toBe(412)
  expect((await plain.call('GET', `/policy/${locator}/checkInvoices`)).status).toBe(200)

  const record = await exported(locator)
  expect(record).toMatchObject({ isOutline: true, segmentCharges: [] })
  expect(record.price!.grossPremium).toBe(price.grossPremium)
  const holder = { locator: 'h', entity: { values: {} } } as unknown as PolicyholderResponse
  const migration = migrationOfAccount({ holder, policies: [record], disbursements: [], auxData: [] })
  expect(migration.policies).toMatchObject([
    { as: 'left', reason: expect.stringContaining('missing from it') },
  ])
}, 120_000)

it('a policyholder’s policies can be read with the perils of one exposure, and 404 if it is unknown', async () => {
  const span = { start: START, end: months(12) }
  const one = await plain.issue(span, '120', [thing('120', PERILS), thing('120', PERILS)])
  const other = await plain.issue(span, '120', [thing('120', PERILS)])
  expect(other.policyholderLocator).toBe(one.policyholderLocator)
  const path = (which: string) =>
    `/policyholder/${one.policyholderLocator}/policies?perilCharacteristics=${which}`
  const shown = await plain.ok<PolicyResponse[]>('GET', path(one.exposures[1]!.locator))
  const counts = (policy: PolicyResponse): number[] =>
    shown
      .find(({ locator }) => locator === policy.locator)!
      .exposures.map(({ perils }) => perils.flatMap(({ characteristics }) => characteristics).length)
  expect([counts(one), counts(other)]).toEqual([[0, PERILS.length], [0]])
  const { status, body } = await plain.call<{ code: string }>(
    'GET',
    path('00000000-0000-4000-8000-00000000aa00'),
  )
  expect([status, body.code]).toEqual([404, 'notFound'])
})
