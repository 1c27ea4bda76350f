// Seeded journeys while everything fails that may (docs/faults.md). `npm run faults -- --runs N --seed S` for more, and for others.
import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { prepareDatabases } from '../support/databases.ts'
import { storiesOf } from './checker.ts'
import { figuresOf } from './figures.ts'
import type { FaultKind } from './kinds.ts'
import { run } from './run.ts'
import { planOf } from './writers.ts'

const asked = inject('faults')
const { runs = 10, seed = 1 } = asked

beforeAll(() => prepareDatabases({ tenants: runs + 1 }), 120_000)

afterEach(() => {
  vi.restoreAllMocks()
})

it.each(Array.from({ length: runs }, (_, at) => seed + at))(
  'nothing is lost, done twice or done by half: seed %i',
  async seed => {
    const ran = await run(planOf(seed, asked.runs === undefined))
    console.log(`faults: ${JSON.stringify(figuresOf(seed, ran.contents, ran.stories, ran.counts))}`)
    expect(ran.stories, `seed ${seed}`).toEqual([])
  },
  120_000,
)

/** What is planted by which statement, and what the checker says of it. */
const PLANTED: readonly [what: string, table: string, sql: string, says: RegExp][] = [
  [
    'an event that is lost before it is delivered',
    'delivery',
    'delete from delivery where event_sequence = (select max(event_sequence) from delivery)',
    /has no delivery/,
  ],
  [
    'an event that is lost',
    'event',
    `delete from event where type = 'policy.issue'`,
    /It is there, and has 0 events policy\.issue/,
  ],
  [
    'an event that was not delivered',
    'delivery',
    `update delivery set state = 'failed' where event_sequence = (select max(event_sequence) from delivery)`,
    /is failed after/,
  ],
  [
    'an event told of twice',
    'event',
    `insert into event select (select max(sequence) from event) + 1, 'twice', request_id, type, newer_type, at, data,
       account_locator, username, policyholder_locator, policy_locator from event where type = 'policy.issue' limit 1`,
    /It is there, and has 2 events policy\.issue/,
  ],
  [
    'an installment that is invoiced twice',
    'invoice',
    `insert into invoice select 'twice', display_id, policy_locator, policy_modification_locator, installment_number, type,
       start, end, due_at, created_at, updated_at, statuses, grace_end_at from invoice
       where policy_locator in (select locator from policy where version > 0) limit 1`,
    /is invoiced twice/,
  ],
  [
    'a payment taken twice',
    'payment',
    `insert into payment select 'twice', display_id, policy_locator, policyholder_locator, invoice_locator, source, amount,
       credited, currency, field_values, posted_at, null from payment limit 1`,
    /The payment twice is there, and nobody wished for it/,
  ],
  [
    'a premium charged that nobody set',
    'peril_run',
    `update peril_run set premium = premium + 100 where replaced_by is null and premium is not null`,
    /is billed and planned, and .* is due/,
  ],
  [
    'half a transaction: without its segments',
    'policy_segment',
    'delete from policy_segment',
    /is billed and planned, and .* is due/,
  ],
  [
    'half a transaction: without its modification',
    'modification',
    'delete from modification where number > 0',
    /is of a modification that is not there/,
  ],
  [
    'half a transaction: without its write',
    'write',
    `delete from "write" where key like '%:wish-%'`,
    /It was acknowledged and is not there/,
  ],
  [
    'a transaction that came to half of its commits',
    'policy',
    'update policy set version = version + 1',
    /It is at version \d+, and was written \d+ times/,
  ],
  [
    'a timer that never fired',
    'timer',
    `insert into timer values ('planted', 1, 'policy.invoice', '1', '{}')`,
    /A timer policy\.invoice was due at 1/,
  ],
]

describe.runIf(asked.runs === undefined)('the checker', () => {
  it('finds what is planted, and nothing where nothing is', async () => {
    const none: FaultKind[] = ['clockMoved']
    const plan = {
      ...planOf(3, true),
      seed: 1_000_000_000,
      steps: 12,
      isRated: false,
      accounts: 1,
      kinds: none,
    }
    const ran = await run(plan, async (read, { tenant }) => {
      // The service complains of what it finds, too.
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const client = (env as unknown as Record<string, D1Database>)[tenant.shards[0]!]!
      for (const [what, table, sql, says] of PLANTED) {
        await client.exec(`create table kept as select * from "${table}"`)
        const { meta } = await client.prepare(sql).run()
        expect(meta.changes, what).toBeGreaterThan(0)
        expect(storiesOf(await read()).join('\n'), what).toMatch(says)
        await client.batch([
          client.prepare(`delete from "${table}"`),
          client.prepare(`insert into "${table}" select * from kept`),
          client.prepare('drop table kept'),
        ])
      }
      expect(storiesOf(await read())).toEqual([])
    })
    expect(ran.stories).toEqual([])
  }, 120_000)
})
