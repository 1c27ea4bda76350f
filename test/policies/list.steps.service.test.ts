import { beforeAll, expect, it } from 'vitest'
import type { PolicyListResponse } from '../../src/policy/list/contract.ts'
import { type Answer, callApi } from '../support/api.ts'
import { addDatabases, boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { leaveOutPolicy } from '../support/journal/exclusions.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'

const POLICIES = 9_000
/** Numbers in the first step, in later ones and at the end. */
const RARE = [7, 1_999, 2_000, 4_500, 8_999]
const DAY = 86_400_000

let motor: Motor

const locatorOf = (n: number): string => String(9_000_000_000_000 + n * 64)

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  motor = await motorTenant('steps')
  await insert(0, POLICIES, poolBinding(1), 0)
})

async function insert(from: number, to: number, binding: string, shard: number): Promise<void> {
  const now = Date.now()
  await boundDatabase(binding)
    .prepare(
      `with recursive n(n) as (select ${from} union all select n + 1 from n where n < ${to - 1})
       insert into policy (locator, policyholder_locator, product_name, config_version, version, created_at, updated_at, issued_at,
         original_start, original_end, effective_end, currency, time_zone, payment_schedule_name, exposure_count, peril_count)
       select 9000000000000 + n * 64 + ${shard}, '00000000-0000-8000-8000-000000000000',
         case when n in (${RARE.join(', ')}) then 'rare' else 'private_motor' end, 1, 1, 1000 + n / 10, 1000, 1, 1, 2,
         ${now} + case when n in (${RARE.join(', ')}) then -1 else 1 end * ${DAY}, 'EUR', 'Europe/Berlin', 'upfront', 0, 0 from n`,
    )
    .run()
  for (let n = from; n < to; n += 1) leaveOutPolicy(String(Number(locatorOf(n)) + shard))
}

const page = (query: string): Promise<Answer<PolicyListResponse>> =>
  callApi('GET', `/policies?${query}`, { token: motor.token })

async function readAll(query: string, mostRows: number): Promise<{ found: string[]; pages: number }> {
  const found: string[] = []
  for (let pages = 1, token = ''; ; pages += 1) {
    const answer = await page(`${query}${token}`)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    const rows = Number(/rows;desc="(\d+) read/.exec(answer.headers.get('server-timing')!)![1])
    expect(rows).toBeLessThanOrEqual(mostRows)
    found.push(...answer.body.policies.map(({ locator }) => locator))
    if (answer.body.listCompleted) return { found, pages }
    token = `&pagingToken=${answer.body.pagingToken}`
  }
}

it('all policies of a product are found in bounded steps', async () => {
  const { found, pages } = await readAll('productName=rare&pageSize=10', 2_000 * 3 + 500)
  expect(found).toEqual(RARE.map(locatorOf))
  expect(pages).toBe(5)
  expect(roundTrips(await page('productName=rare&pageSize=10')).d1).toBe(1)
})

it('all policies of a state are found in steps, and none twice', async () => {
  const { found } = await readAll('state=expired', 2_000 * 8)
  expect(found).toEqual(RARE.map(locatorOf))
  const others = await readAll('state=issued&pageSize=1000', 2_000 * 8 + 20_000)
  expect(others.found).toHaveLength(POLICIES - RARE.length)
  expect(new Set(others.found).size).toBe(others.found.length)
  expect((await page('state=issued&pageSize=20')).body.policies).toHaveLength(20)
})

it('policies in several databases make one ordered list', async () => {
  await addDatabases(motor.tenantLocator, 3)
  await insert(0, 3_000, poolBinding(3), 1)
  const second = RARE.filter(n => n < 3_000).map(n => String(Number(locatorOf(n)) + 1))
  await expect
    .poll(async () => (await readAll('productName=rare', 30_000)).found.length, {
      timeout: 15_000,
      interval: 500,
    })
    .toBe(RARE.length + second.length)
  const { found } = await readAll('productName=rare&pageSize=2', 30_000)
  expect(found.filter(locator => second.includes(locator))).toEqual(second)
  expect(found.filter(locator => !second.includes(locator))).toEqual(RARE.map(locatorOf))
})
