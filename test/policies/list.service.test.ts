import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../src/kernel/locators.ts'
import type { PolicyListResponse, PolicySummaryResponse } from '../../src/policy/list/contract.ts'
import { type Answer, callApi } from '../support/api.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'

type Refused = { code: string; message: string; searchableFields?: string[] }

const DAY = 86_400_000

let motor: Motor
let other: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('lists')
  other = await motorTenant('others')
})

const ask = (query: string, tenant = motor): Promise<Answer<PolicyListResponse & Refused>> =>
  callApi('GET', `/policies?${query}`, { token: tenant.token })

async function page(query: string, tenant = motor): Promise<PolicyListResponse> {
  const { status, body } = await ask(query, tenant)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

async function allPages(
  query: string,
  between?: (last: PolicyListResponse) => Promise<unknown>,
): Promise<PolicyListResponse[]> {
  const pages = [await page(query)]
  for (let last = pages[0]!; last.pagingToken; last = pages.at(-1)!) {
    await between?.(last)
    pages.push(await page(`${query}&pagingToken=${last.pagingToken}`))
  }
  return pages
}

const listed = (pages: readonly PolicyListResponse[]): PolicySummaryResponse[] =>
  pages.flatMap(({ policies }) => policies)

const found = async (query: string, tenant = motor): Promise<string[]> =>
  (await page(query, tenant)).policies.map(({ locator }) => locator)

/** Vehicles of the worked policy with these plates. */
const vehicles = (...plates: string[]) => {
  const vehicle = plainYear().request.policy.exposures[0]!
  return plates.map(registration_plate => ({
    ...vehicle,
    fieldValues: { ...vehicle.fieldValues, registration_plate },
  }))
}

async function created(changes: object = {}, tenant = motor): Promise<string> {
  const { status, body } = await tenant.createPolicy(changes)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.locator
}

describe('A policy in the list', () => {
  it('is a summary with the data of the policy', async () => {
    const { body: policy } = await motor.createPolicy()
    const [before] = (await page(`policyholderLocator=${policy.policyholderLocator}`)).policies
    expect(before).toMatchObject({ state: 'finalized' })
    expect(before!.issuedTimestamp).toBeUndefined()
    const { body: issued } = await motor.post(`/policy/${policy.locator}/issue`)
    const { policies } = await page(`policyholderLocator=${policy.policyholderLocator}`)
    expect(policies).toEqual([
      {
        locator: policy.locator,
        policyholderLocator: policy.policyholderLocator,
        productName: 'private_motor',
        // The state depends on the day of the test.
        state: expect.stringMatching(/^(pending|issued|expired)$/),
        configVersion: policy.configVersion,
        createdTimestamp: policy.createdTimestamp,
        updatedTimestamp: issued.updatedTimestamp,
        issuedTimestamp: issued.issuedTimestamp,
        originalContractStartTimestamp: policy.originalContractStartTimestamp,
        originalContractEndTimestamp: policy.originalContractEndTimestamp,
        effectiveContractEndTimestamp: policy.effectiveContractEndTimestamp,
        grossPremium: Number(plainYear().expected.grossPremium),
        grossPremiumCurrency: 'EUR',
      },
    ])
  })

  it('has the state that follows from its transactions and dates, and can be filtered by it', async () => {
    const policyholderLocator = await motor.newPolicyholder()
    const now = Date.now()
    const story = async (start: number, end: number, finalize: boolean, ...steps: string[]) => {
      const locator = await created({
        policyholderLocator,
        policyStartTimestamp: start,
        policyEndTimestamp: end,
        finalize,
      })
      for (const step of steps)
        expect((await motor.post(`/policy/${locator}/${step}`)).status, step).toBe(200)
      return locator
    }
    const expected = {
      created: await story(now, now + 365 * DAY, false),
      finalized: await story(now, now + 365 * DAY, true),
      discarded: await story(now, now + 365 * DAY, true, 'discard'),
      pending: await story(now + DAY, now + 365 * DAY, true, 'issue'),
      issued: await story(now - DAY, now + 365 * DAY, true, 'issue'),
      expired: await story(now - 300 * DAY, now - DAY, true, 'issue'),
    }
    const of = `policyholderLocator=${policyholderLocator}`
    const { policies } = await page(of)
    expect(Object.fromEntries(policies.map(({ state, locator }) => [state, locator]))).toEqual(expected)
    for (const [state, locator] of Object.entries(expected))
      expect([state, await found(`${of}&state=${state}`)]).toEqual([state, [locator]])

    const { pending, issued, expired } = expected
    expect(await found(`${of}&effectiveAfterTimestamp=${now}`)).toEqual([pending, issued])
    expect(await found(`${of}&effectiveBeforeTimestamp=${now}`)).toEqual([issued, expired])
    const yesterday = `effectiveAfterTimestamp=${now - 2 * DAY}&effectiveBeforeTimestamp=${now - DAY}`
    expect(await found(`${of}&${yesterday}`)).toEqual([expired])
    expect(await found(`${of}&issuedAfterTimestamp=0`)).toEqual([pending, issued, expired])
    expect(await found(`${of}&issuedBeforeTimestamp=${now - DAY}`)).toEqual([])
    expect(await found(`${of}&productName=private_motor&state=pending`)).toEqual([pending])
    expect(await found(`${of}&productName=other`)).toEqual([])
  })
})

describe('Pages of the list', () => {
  const THOUSAND = 1_000

  /** Inserts policies of one policyholder directly into the tenant's database, ten for each millisecond. */
  async function insertThousand(): Promise<string> {
    const holder = await motor.newPolicyholder()
    const row = await env.CONTROL.prepare('select binding from shard where tenant_locator = ?')
      .bind(motor.tenantLocator)
      .first<{ binding: string }>()
    const database = boundDatabase(row!.binding)
    const numbers = 'with recursive n(n) as (select 0 union all select n + 1 from n where n < 999)'
    await database.batch([
      database
        .prepare(
          `${numbers} insert into policy (locator, policyholder_locator, product_name, config_version, version,
            created_at, updated_at, original_start, original_end, effective_end, currency, time_zone,
            payment_schedule_name, exposure_count, peril_count)
          select 9000000000000 - n * 64, ?, 'private_motor', 1, 1, 1000 + n / 10, 1000, 1, 2, 2, 'EUR',
            'Europe/Berlin', 'upfront', 0, 0 from n`,
        )
        .bind(holder),
      database.prepare(
        `${numbers} insert into quote (locator, policy_locator, name, state, selected, created_at, updated_at,
            contract_start, contract_end, payment_schedule_name)
          select 8000000000000 - n * 64, 9000000000000 - n * 64, '', 'draft', 1, 1, 1, 1, 2, 'upfront' from n`,
      ),
    ])
    return holder
  }

  it('contain each of 1,000 policies once and in order, while others are created', async () => {
    const holder = await insertThousand()
    const of = `policyholderLocator=${holder}`
    const late: string[] = []
    const pages = await allPages(`${of}&pageSize=300`, async () => {
      const more = Array.from({ length: 3 }, () => created({ policyholderLocator: holder }))
      late.push(...(await Promise.all(more)))
    })
    expect(pages.map(({ policies }) => policies.length)).toEqual([300, 300, 300, 100 + late.length])
    expect(pages.map(({ listCompleted }) => listCompleted)).toEqual([false, false, false, true])
    const all = listed(pages)
    expect(new Set(all.map(({ locator }) => locator)).size).toBe(THOUSAND + late.length)
    const order = all.map(
      ({ createdTimestamp, locator }) => Number(createdTimestamp) * 1e14 + Number(locator),
    )
    expect(order).toEqual([...order].sort((a, b) => a - b))
    expect(listed(await allPages(`${of}&pageSize=7`))).toEqual(all)

    const first = await page(of)
    expect(first.policies).toEqual(all.slice(0, 100))
    const most = await page(`${of}&pageSize=5000`)
    expect([most.policies.length, most.listCompleted]).toEqual([1_000, false])
    const bounded = await page(`${of}&createdAfterTimestamp=1009&createdBeforeTimestamp=1012`)
    expect(new Set(bounded.policies.map(one => one.createdTimestamp))).toEqual(new Set(['1010', '1011']))
    expect(bounded.policies).toHaveLength(20)
    expect(bounded.pagingToken).toBeUndefined()
  })

  it('contain only policies of the tenant', async () => {
    const foreign = await created({}, other)
    const theirs = (await page('', other)).policies
    expect(theirs.map(({ locator }) => locator)).toEqual([foreign])
    const holder = theirs[0]!.policyholderLocator
    const everything = listed(await allPages('pageSize=1000'))
    expect(everything.map(({ policyholderLocator }) => policyholderLocator)).not.toContain(holder)
    const { status, body } = await ask(`policyholderLocator=${holder}`)
    expect([status, body.code]).toEqual([404, 'notFound'])
    expect(await found('searchField=registration_plate&searchPrefix=b', other)).toEqual([foreign])
  })
})

describe('A search', () => {
  const by = (field: string, how: string, text: string): Promise<string[]> =>
    found(`searchField=${field}&${how}=${encodeURIComponent(text)}&pageSize=1000`)

  it('finds policies by a value of the policy or an exposure, in any case, or by its beginning', async () => {
    const values = plainYear().request.policy.fieldValues
    const broker = { ...values, channel: 'broker', broker_code: 'BRK-4711' }
    const fleet = await created({ fieldValues: broker, exposures: vehicles('M-AB 1', 'M-AB 2', 'Ö-X 7') })
    const single = await created({ exposures: vehicles('M-AB 1') })
    expect(await by('registration_plate', 'searchValue', 'm-ab 1')).toEqual([fleet, single])
    expect(await by('registration_plate', 'searchValue', 'M-AB 2')).toEqual([fleet])
    expect(await by('registration_plate', 'searchValue', 'M-AB')).toEqual([])
    expect(await by('registration_plate', 'searchPrefix', 'm-a')).toEqual([fleet, single])
    expect(await by('registration_plate', 'searchPrefix', 'o\u0308-')).toEqual([fleet])
    expect(await by('registration_plate', 'searchPrefix', '%')).toEqual([])
    expect(await by('broker_code', 'searchValue', 'brk-4711')).toEqual([fleet])
    const pages = await allPages('searchField=registration_plate&searchPrefix=m-ab&pageSize=1')
    expect(pages.map(({ policies }) => policies.map(one => one.locator))).toEqual([[fleet], [single]])
    expect(await found(`searchField=registration_plate&searchValue=M-AB%201&state=discarded`)).toEqual([])
  })

  it('finds a policy by changed values, and no longer by the former ones', async () => {
    const draft = await created({ finalize: false, exposures: vehicles('K-AL 11', 'K-AL 12', 'K-AL 12') })
    const { body } = await motor.get(`/policy/${draft}`)
    const [first, second, third] = body.exposures.map(one => one.locator)
    const update = (change: object) => motor.post(`/policy/${draft}/update`, { finalize: false, ...change })
    const changed = await update({
      updateExposures: [{ exposureLocator: first, fieldValues: { registration_plate: 'K-NE 1' } }],
    })
    expect(changed.status).toBe(200)
    expect(await by('registration_plate', 'searchPrefix', 'K-AL 11')).toEqual([])
    expect(await by('registration_plate', 'searchValue', 'K-NE 1')).toEqual([draft])
    expect((await update({ removeExposures: [second] })).status).toBe(200)
    expect(await by('registration_plate', 'searchValue', 'K-AL 12')).toEqual([draft])
    expect((await update({ removeExposures: [third] })).status).toBe(200)
    expect(await by('registration_plate', 'searchValue', 'K-AL 12')).toEqual([])
  })

  it('in a field that is not searchable returns 400 and lists the searchable fields', async () => {
    const { status, body } = await ask('searchField=usage&searchValue=private')
    expect([status, body.code]).toEqual([400, 'invalidParameter'])
    expect(body.message).toContain('broker_code, registration_plate')
    expect(body.searchableFields).toEqual(['broker_code', 'registration_plate'])
  })
})

describe('An invalid request', () => {
  it('returns 400 and says what to send', async () => {
    for (const [query, advice] of [
      ['state=active', /state.*created/],
      ['pageSize=0', /pageSize.*at least 1/],
      ['pageSize=x', /pageSize/],
      ['pagingToken=AAAA', /pagingToken.*previous page/],
      ['issuedAfterTimestamp=yesterday', /issuedAfterTimestamp.*milliseconds/],
      ['effectiveBeforeTimestamp=2026-01-01', /effectiveBeforeTimestamp.*milliseconds/],
      ['searchField=broker_code', /searchField.*searchValue and searchPrefix/],
      ['searchValue=x', /searchField/],
      ['searchField=broker_code&searchValue=x&searchPrefix=x', /searchField/],
    ] as const) {
      const { status, body } = await ask(query)
      expect([query, status, body.code]).toEqual([query, 400, 'invalidParameter'])
      expect(body.message).toMatch(advice)
    }
  })

  it('returns 404 for an unknown policyholder', async () => {
    for (const locator of ['nobody', newUuid(0), newUuid(9)]) {
      const { status, body } = await ask(`policyholderLocator=${locator}`)
      expect([locator, status, body.code]).toEqual([locator, 404, 'notFound'])
    }
  })
})

it('a page takes one D1 round trip, with or without a search', async () => {
  for (const query of ['', 'state=issued', 'searchField=broker_code&searchPrefix=b']) {
    await ask('')
    expect(roundTrips(await ask(query))).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
  }
})
