// Seeded journeys while everything fails that may (docs/faults.md). `npm run faults -- --runs N --seed S` for more, and for others.
import { beforeAll, expect, inject, it } from 'vitest'
import { prepareDatabases } from '../support/databases.ts'
import { acknowledgedOf, planOf, run } from './run.ts'

const { runs = 10, seed = 1 } = inject('faults')

beforeAll(() => prepareDatabases({ tenants: runs }), 120_000)

it.each(Array.from({ length: runs }, (_, at) => seed + at))(
  'nothing is lost, done twice or done by half: seed %i',
  async seed => {
    const begun = performance.now()
    const plan = planOf(seed)
    const ran = await run(plan)
    const [acknowledged, refused, unknown] = (['acknowledged', 'refused', 'unknown'] as const).map(outcome =>
      acknowledgedOf(ran, outcome),
    )
    const counts = Object.fromEntries(Object.entries(ran.counts).filter(([, count]) => count > 0))
    const ms = Math.round(performance.now() - begun)
    console.log(`faults: ${JSON.stringify({ seed, acknowledged, refused, unknown, violations: ran.stories.length, counts, ms })}`)
    expect(ran.stories, `seed ${seed}`).toEqual([])
  },
  120_000,
)
