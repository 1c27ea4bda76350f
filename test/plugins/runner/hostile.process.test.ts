// A corpus of harmful scripts on the plugin runner as `npm start` starts it. Every one is ended, with calls of four tenants at
// the same time, while the plugin of a neighbour is still served.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LANES } from '../../../runner/lanes.ts'
import { LONGEST_CALL_MS } from '../../../src/extension/plugins/runners/limits.ts'
import { measured, size } from '../../support/sizes.ts'
import { CALL, type DirectRunner, directRunner, programOf, timed } from './direct.ts'
import { HOSTILE_SCRIPTS } from './hostile-scripts.ts'

/** How long each hostile call may take. At full size, as long as in the service. */
const HOSTILE_MS = size(1_000, LONGEST_CALL_MS)

/** A fifth of them in the small size, because each takes a processor for as long as it may. */
const SCRIPTS = HOSTILE_SCRIPTS.filter((_, at) => at % size(5, 1) === 0)

/** On a busy computer a call also waits for its turn, and for a new process. */
const LONGEST_WAIT_MS = size(30_000, 5_000)

/**
 * How often a neighbour must be served meanwhile. The scripts go on until it was, because a busy computer may end them sooner.
 */
const LEAST_SERVED = size(3, 11)

let direct: DirectRunner

beforeAll(async () => {
  direct = await directRunner({ lanes: { fairMs: size(10, LANES.fairMs) } })
})

afterAll(() => direct.stop())

test(`the corpus has ${HOSTILE_SCRIPTS.length} scripts, all different`, () => {
  expect(HOSTILE_SCRIPTS.length).toBeGreaterThanOrEqual(60)
  expect(new Set(HOSTILE_SCRIPTS.map(([, body]) => body)).size).toBe(HOSTILE_SCRIPTS.length)
})

test('each script of four concurrent tenants is ended in time, and a neighbour is served all along', async () => {
  const { runner } = direct
  const neighbour = programOf('neighbour', 'return "served"')
  let isOver = false
  const served: { ms: number; value: unknown }[] = []
  const isServed = () => served.filter(({ value }) => value === 'served').length >= LEAST_SERVED
  const neighbours = (async () => {
    while (!isOver) {
      const { outcome, ms } = await timed(runner, neighbour)
      served.push({ ms, value: outcome.value })
      await sleep(100)
    }
  })()
  let begun = 0
  const ended: { what: string; ms: number; reason: string | undefined }[] = []
  // Only one tenant begins scripts again, because it takes a whole processor and others may need that.
  const hostile = async (tenant: string, at: number): Promise<void> => {
    while (begun < SCRIPTS.length || (at === 0 && !isServed())) {
      const [what, body] = SCRIPTS[begun % SCRIPTS.length]!
      // A slow computer may do nothing but start processes that are ended before they are ready. Ever longer pauses let it catch
      // up.
      const again = begun - SCRIPTS.length
      begun += 1
      if (again >= 0) await sleep(Math.min(5_000, 100 * again))
      const { outcome, ms } = await timed(runner, programOf(tenant, body), HOSTILE_MS)
      ended.push({
        what,
        ms,
        reason: outcome.failure?.reason ?? (outcome.missing.length > 0 ? 'asks' : undefined),
      })
    }
  }
  await Promise.all(['one', 'two', 'three', 'four'].map(hostile))
  isOver = true
  await neighbours
  expect(new Set(ended.map(({ what }) => what)).size).toBe(SCRIPTS.length)
  expect(ended.filter(({ reason }) => reason === undefined)).toEqual([])
  expect(ended.filter(({ ms }) => ms > LONGEST_WAIT_MS)).toEqual([])
  // On a busy computer some of the neighbour's calls take longer than a call may.
  expect(served.filter(({ value }) => value !== 'served' && value !== size(undefined, 'served'))).toEqual([])
  const times = served.map(({ ms }) => ms).sort((a, b) => a - b)
  measured(
    'plugin call beside hostile scripts, median',
    Math.round(times[Math.floor(times.length / 2)]!),
    'ms',
  )
  measured('plugin call beside hostile scripts, slowest', Math.round(times.at(-1)!), 'ms')
  // The runner is usable immediately.
  expect((await timed(runner, programOf('one', 'return "fine"'))).outcome).toMatchObject({ value: 'fine' })
  expect(await runner.run(neighbour, CALL)).toMatchObject({ value: 'served' })
})
