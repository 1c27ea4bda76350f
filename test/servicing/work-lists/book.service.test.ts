// Work lists of a large book: the cost of a page does not depend on the number of policies, and no list scans a table.
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import {
  WORK_LISTS,
  type WorkItemResponse,
  type WorkListResponse,
} from '../../../src/servicing/work-lists/contract.ts'
import { type Answer, callApi, callOk } from '../../support/api.ts'
import { addDatabases, boundDatabase, poolBinding, prepareDatabases } from '../../support/databases.ts'
import { leaveOutPolicy } from '../../support/journal/exclusions.ts'
import { type Motor, motorTenant, roundTrips } from '../../support/motor.ts'

const DAY = 86_400_000
const PAGE = 20

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 4 })
  motor = await motorTenant('book')
  await insert(0, 12_000)
})

const uuid = (kind: number, shard: number): string =>
  `printf('${kind}0000000-0000-8000-8000-%010d${shard.toString(16).padStart(2, '0')}', n)`

/** Inserts policies with records of every list. One in ten is open. The first `from` already exist. */
async function insert(from: number, to: number, binding = poolBinding(1), shard = 0): Promise<void> {
  const database = boundDatabase(binding)
  const now = Date.now()
  const numbers = `with recursive n(n) as (select ${from} union all select n + 1 from n where n < ${to - 1})`
  const policy = `9000000000000 + n * 64 + ${shard}`
  const times = `${now - 1_000_000} + n, ${now - 1_000_000} + n`
  const open = (yes: string, no: string) => `case n % 10 when 0 then '${yes}' else '${no}' end`
  const rows: [string, string, string][] = [
    [
      'policy',
      `locator, policyholder_locator, product_name, config_version, version, created_at, updated_at, issued_at, original_start,
       original_end, effective_end, currency, time_zone, payment_schedule_name, exposure_count, peril_count`,
      `${policy}, '00000000-0000-8000-8000-000000000000', 'private_motor', 1, 1, ${times}, case n % 2 when 0 then 1 end, 1, 2,
       ${now} + 1000 + (n % 10) * ${40 * DAY} + n, 'EUR', 'Europe/Berlin', 'upfront', 0, 0`,
    ],
    // Quotes of the policies that are not issued, which are every other one.
    [
      'quote',
      `locator, policy_locator, name, state, selected, created_at, updated_at, contract_start, contract_end, payment_schedule_name, underwriting`,
      `8000000000000 + n * 64 + ${shard}, ${policy}, '', case n % 20 when 1 then 'quoted' when 3 then 'declined' else 'accepted' end, 1,
       ${times}, 1, 2, 'upfront', '{"decision":"none","notes":[],"at":1}'`,
    ],
    [
      'endorsement',
      `locator, policy_locator, kind, name, state, start_at, changes, created_at, updated_at`,
      `7000000000000 + n * 64 + ${shard}, ${policy}, 'renewal', '', case n % 10 when 0 then 'application' when 1 then 'quoted' else 'issued' end,
       1, '{}', ${times}`,
    ],
    [
      'invoice',
      `locator, policy_locator, display_id, policy_modification_locator, installment_number, type, start, end, due_at, created_at,
       updated_at, statuses`,
      `${uuid(1, shard)}, ${policy}, n, '', 0, 'other', 1, 2, ${now} - 1000000 + n, 1, 1,
       '[{"at":1,"status":"unfulfilled"},{"at":2,"status":"' || ${open('unfulfilled', 'paid')} || '"}]'`,
    ],
    [
      'grace_period',
      `locator, policy_locator, invoice_locator, state, start_at, end_at, created_at, updated_at, settled_at`,
      `${uuid(2, shard)}, ${policy}, '', ${open('open', 'settled')}, 1, ${now} + n, 1, 1, case n % 10 when 0 then null else 1 end`,
    ],
    [
      'cancellation',
      `locator, policy_locator, name, state, effective_at, conflict_handling, created_at, updated_at, issued_at`,
      `6000000000000 + n * 64 + ${shard}, ${policy}, ${open('lapse', 'other')}, 'issued', 1, 'block', ${times}, ${now} - 1000000 + n`,
    ],
    [
      'document',
      `locator, policy_locator, subject, subject_locator, display_name, file_name, type, state, created_at, updated_at`,
      `${uuid(3, shard)}, ${policy}, 'policy', '', 'Schedule', 's.pdf', 'pdf', ${open('renderError', 'ready')}, ${times}`,
    ],
  ]
  await database.batch(
    rows.map(([table, columns, values]) =>
      database.prepare(`${numbers} insert into ${table} (${columns}) select ${values} from n`),
    ),
  )
  for (let n = from; n < to; n += 1) leaveOutPolicy(String(9_000_000_000_000 + n * 64 + shard))
}

const rowsRead = ({ headers }: { headers: Headers }): number =>
  Number(/rows;desc="(\d+) read/.exec(headers.get('server-timing')!)![1])

/** Reads again if the service read the tenant as well, because that reads rows, and happens every 5 s by the clock. */
async function read<Body>(path: string): Promise<Answer<Body>> {
  for (;;) {
    const answer = await callApi<Body>('GET', path, { token: motor.token })
    if (answer.headers.get('server-timing')!.includes('renewed;desc="0"')) return answer
  }
}

const page = (list: string, query = '', pageSize = PAGE) =>
  read<WorkListResponse>(`/workLists/${list}?pageSize=${pageSize}${query}`)

async function readAll(list: string, pageSize: number): Promise<WorkItemResponse[]> {
  const found: WorkItemResponse[] = []
  let token = ''
  do {
    const { body } = await page(list, token, pageSize)
    found.push(...body.items)
    token = body.pagingToken === undefined ? '' : `&pagingToken=${body.pagingToken}`
  } while (token !== '')
  return found
}

/** The statements that `work` sends. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  type Preparing = { prepare(text: string): D1PreparedStatement }
  const session = Object.getPrototypeOf(env.CONTROL.withSession()) as Preparing
  const { prepare } = session
  const sent: string[] = []
  session.prepare = function (this: Preparing, text) {
    sent.push(text)
    return prepare.call(this, text)
  }
  try {
    await work()
  } finally {
    session.prepare = prepare
  }
  return sent.filter(text => text.includes('indexed by'))
}

it('a page reads the same number of rows of 24,000 policies as of 12,000, in one round trip', async () => {
  const few: Record<string, number> = {}
  await page('referred')
  for (const list of WORK_LISTS) few[list] = rowsRead(await page(list))
  await insert(12_000, 24_000)
  for (const list of WORK_LISTS) {
    const answer = await page(list)
    expect([list, answer.body.items.length, answer.body.listCompleted]).toEqual([list, PAGE, false])
    expect([list, roundTrips(answer).d1]).toEqual([list, 1])
    expect([list, rowsRead(answer)]).toEqual([list, few[list]])
    // For each record: its index, its row, and its policy with the state and the premium. Lists of two kinds read a page of each.
    // Lists that skip records look for the end of the next 500.
    expect([list, rowsRead(answer) <= (PAGE + 1) * 2 * 8 + 2 * 500]).toEqual([list, true])
  }
})

it('no list scans a table or sorts more than one page of each kind', async () => {
  const sent = await statementsOf(async () => {
    for (const list of WORK_LISTS) {
      const { body } = await page(list)
      await page(list, `&pagingToken=${body.pagingToken}&productName=private_motor`)
    }
    await callOk('GET', '/workLists', { token: motor.token })
  })
  expect(sent.length).toBeGreaterThan(2 * WORK_LISTS.length)
  for (const text of sent) {
    const { results } = await boundDatabase(poolBinding(1))
      .prepare(`explain query plan ${text}`)
      .bind(...Array.from(text.matchAll(/\?/g), () => null))
      .all<{ detail: string }>()
    const scans = results.map(({ detail }) => detail).filter(detail => /^SCAN /.test(detail))
    const isAllowed = (detail: string) =>
      /USING (COVERING )?INDEX/.test(detail) ||
      /^SCAN (c$|\(subquery-\d+\)|\d+-ROW|CONSTANT ROW)/.test(detail)
    expect(
      scans.filter(detail => !isAllowed(detail)),
      text,
    ).toEqual([])
    const details = results.map(({ detail }) => detail)
    // Only the results of the branches of a list are sorted, and SQLite creates no automatic index.
    expect(details.filter(detail => detail.includes('TEMP B-TREE')).length, text).toBeLessThanOrEqual(1)
    expect(
      details.filter(detail => detail.includes('AUTOMATIC')),
      text,
    ).toEqual([])
  }
})

it('counts stop at 1,000, and cost no more for a larger book', async () => {
  type Counts = { workList: string; count: number; hasMore: boolean }[]
  const counted = () => read<Counts>('/workLists')
  const before = await counted()
  expect(roundTrips(before).d1).toBe(1)
  expect(before.body.find(({ workList }) => workList === 'pastDue')).toEqual({
    workList: 'pastDue',
    count: 1_000,
    hasMore: true,
  })
  await insert(24_000, 32_000)
  expect(rowsRead(await counted())).toBe(rowsRead(before))
})

it('a filter that matches few records is searched in steps, and finds each record once', async () => {
  const database = boundDatabase(poolBinding(1))
  const rare = [3, 103, 20_003, 31_983].map(n => 9_000_000_000_000 + n * 64)
  await database
    .prepare(`update policy set product_name = 'rare' where locator in (${rare.join(', ')})`)
    .run()
  let pages = 0
  const found: string[] = []
  for (let token = ''; ; pages += 1) {
    const answer = await page('referred', `&productName=rare${token}`)
    expect(answer.status).toBe(200)
    expect(rowsRead(answer)).toBeLessThanOrEqual(500 * 6)
    found.push(...answer.body.items.map(({ policyLocator }) => policyLocator))
    if (answer.body.listCompleted) break
    token = `&pagingToken=${answer.body.pagingToken}`
  }
  expect(found).toEqual(rare.map(String))
  expect(pages).toBeGreaterThanOrEqual(2)
  expect(pages).toBeLessThanOrEqual(4)
})

it('undecided quotes of a policy issued by another quote do not slow down the list', async () => {
  const database = boundDatabase(poolBinding(1))
  await database
    .prepare(`update policy set issued_at = 1 where product_name = 'private_motor' and locator in
      (select policy_locator from quote where state = 'declined')`)
    .run()
  const answer = await page('referred')
  expect(rowsRead(answer)).toBeLessThanOrEqual(500 * 6)
  const all = await readAll('referred', 1_000)
  expect(all.map(({ productName }) => productName)).toEqual(['rare', 'rare', 'rare', 'rare'])
})

it('lists of several databases are merged in order, with each record once', async () => {
  await addDatabases(motor.tenantLocator, 3)
  await insert(0, 300, poolBinding(3), 1)
  const isOfSecond = ({ locator }: WorkItemResponse) => locator.endsWith('01')
  await expect
    .poll(async () => (await readAll('pastDue', 1_000)).some(isOfSecond), { timeout: 15_000, interval: 500 })
    .toBe(true)
  for (const list of ['quoted', 'pastDue']) {
    const items = await readAll(list, 170)
    const times = items.map(({ timestamp }) => Number(timestamp))
    expect(times).toEqual([...times].sort((a, b) => a - b))
    const locators = items.map(({ locator }) => locator)
    expect(new Set(locators).size).toBe(locators.length)
    expect((await readAll(list, 1_000)).map(({ locator }) => locator)).toEqual(locators)
  }
  expect((await readAll('pastDue', 1_000)).filter(isOfSecond)).toHaveLength(30)
})
