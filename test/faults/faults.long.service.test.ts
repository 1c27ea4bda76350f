// Seeded journeys under all kinds of faults (docs/faults.md). `npm run faults -- --runs N --seed S` runs more of them, and others.
import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { prepareDatabases } from '../support/databases.ts'
import { size } from '../support/sizes.ts'
import { storiesOf, violationsOf } from './checker.ts'
import type { Contents } from './contents.ts'
import { figuresOf } from './figures.ts'
import type { FaultKind } from './kinds.ts'
import { PLANTED_CONTENTS, PLANTED_ROWS } from './planted.ts'
import { run } from './run.ts'
import { CHECKS, type Check } from './violation.ts'
import { databasesOf, planOf } from './writers.ts'

const asked = inject('faults')
// The plans of the two runs of the small size together have every kind of fault.
const { runs = size(2, 10), seed = size(2, 1) } = asked
const plans = Array.from({ length: runs }, (_, at) => planOf(seed + at, asked.runs === undefined))

beforeAll(() => prepareDatabases({ tenants: databasesOf(plans) + 1 }), 120_000)

afterEach(() => {
  vi.restoreAllMocks()
})

it.each(plans)(
  'a run under faults loses nothing and does nothing twice or by half: seed $seed',
  async plan => {
    const ran = await run(plan)
    console.log(`faults: ${JSON.stringify(figuresOf(plan, ran.contents, ran.stories, ran.counts))}`)
    expect(ran.stories, `seed ${plan.seed}`).toEqual([])
  },
  // Ten times the longest run, so that a busy machine does not fail one.
  300_000,
)

/** Enough steps for each kind of record to exist, so that its violation can be planted. */
const STEPS_OF_PLANTED = 14

const expectFound = (contents: Contents, check: Check, what: string): void =>
  expect(
    violationsOf(contents).map(one => one.check),
    what,
  ).toContain(check)

describe.runIf(asked.runs === undefined)('The checker', () => {
  it('finds every planted violation, and none when nothing is planted', async () => {
    const none: FaultKind[] = ['clockMoved']
    const plan = {
      ...planOf(1_000_000_000),
      policies: 4,
      steps: STEPS_OF_PLANTED,
      clerks: 1,
      isRated: false,
      hasPapers: false,
      accounts: [1],
      shards: { from: 1, to: 1 },
      kinds: none,
    }
    const ran = await run(plan, async (read, { tenant }) => {
      // The service logs errors about the violations, too.
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const client = (env as unknown as Record<string, D1Database>)[tenant.shards[0]!]!
      const outside = await read()
      for (const { what, check, table, sql, says } of PLANTED_ROWS) {
        // Kept in memory: another table would make the database prepare every statement again.
        const kept = (await client.prepare(`select * from "${table}"`).all()).results
        const { meta } = await client.prepare(sql).run()
        expect(meta.changes, what).toBeGreaterThan(0)
        const contents = await read(outside)
        expectFound(contents, check, what)
        expect(storiesOf(contents).join('\n'), what).toMatch(says)
        await client.batch([
          client.prepare(`delete from "${table}"`),
          ...kept.map(row =>
            client
              .prepare(
                `insert into "${table}" (${Object.keys(row)}) values (${Object.keys(row).map(() => '?')})`,
              )
              .bind(...Object.values(row)),
          ),
        ])
      }
      const contents = await read()
      for (const { what, check, plant } of PLANTED_CONTENTS) expectFound(plant(contents), check, what)
      const planted = new Set([...PLANTED_ROWS, ...PLANTED_CONTENTS].map(({ check }) => check))
      expect([...planted].sort()).toEqual([...CHECKS].sort())
      expect(storiesOf(await read())).toEqual([])
    })
    expect(ran.stories).toEqual([])
  }, 240_000)
})
