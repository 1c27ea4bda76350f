// Seeded journeys while everything fails that may (docs/faults.md). `npm run faults -- --runs N --seed S` for more, and for others.
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
const { runs = size(3, 10), seed = 1 } = asked
const plans = Array.from({ length: runs }, (_, at) => planOf(seed + at, asked.runs === undefined))

beforeAll(() => prepareDatabases({ tenants: databasesOf(plans) + 1 }), 120_000)

afterEach(() => {
  vi.restoreAllMocks()
})

it.each(plans)(
  'nothing is lost, done twice or done by half: seed $seed',
  async plan => {
    const ran = await run(plan)
    console.log(`faults: ${JSON.stringify(figuresOf(plan, ran.contents, ran.stories, ran.counts))}`)
    expect(ran.stories, `seed ${plan.seed}`).toEqual([])
  },
  // Ten times what the longest takes: a busy machine must not fail a run.
  300_000,
)

/** So that each kind of record is there for its violation. */
const STEPS_OF_PLANTED = 14

const expectFound = (contents: Contents, check: Check, what: string): void =>
  expect(
    violationsOf(contents).map(one => one.check),
    what,
  ).toContain(check)

describe.runIf(asked.runs === undefined)('the checker', () => {
  it('finds what is planted, and nothing where nothing is', async () => {
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
      // The service complains of what it finds, too.
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const client = (env as unknown as Record<string, D1Database>)[tenant.shards[0]!]!
      const outside = await read()
      for (const { what, check, table, sql, says } of PLANTED_ROWS) {
        // Kept here: another table would have the database prepare every statement once more.
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
