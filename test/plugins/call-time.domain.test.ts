// The time limit of a plugin's call, over all of its rounds.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { AttemptCalls } from '../../src/extension/plugins/attempt-calls.ts'
import type { CallOutcome, PluginProgram } from '../../src/extension/plugins/runners/runner.ts'
import type { Instant } from '../../src/kernel/time.ts'
import type { LoadedConfiguration } from '../../src/product/cache.ts'
import type { ProductDefinition } from '../../src/product/configuration.ts'

const NOTHING = { missing: [], logs: [], writes: [], events: [] }

const ASKS: CallOutcome = { ...NOTHING, missing: [{ kind: 'aux', locator: 'a', key: 'b' }] }

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

/** Starts a call whose rounds each take this long and have this outcome. Fetching takes a minute each time. */
function called(rounds: readonly (readonly [ms: number, outcome: CallOutcome])[]) {
  const allowed: (number | undefined)[] = []
  const left = [...rounds]
  const runner = {
    async run(_program: PluginProgram, _call: unknown, mostMs?: number) {
      allowed.push(mostMs)
      const [ms, outcome] = left.shift()!
      vi.advanceTimersByTime(ms)
      return outcome
    },
  }
  const configuration = { lookup: () => () => 'noSuchTable' } as unknown as LoadedConfiguration
  const product = {
    name: 'motor',
    plugins: { executeLambda: { path: 'main/all.js', enabled: true } },
  } as unknown as ProductDefinition
  const calls = new AttemptCalls(
    async () => ({ runner, programOf: () => ({}) as PluginProgram }),
    { tenant: {} as never, now: 0 as Instant },
    async () => {
      vi.advanceTimersByTime(60_000)
      return { aux: [['a', 'b', '']], auxLocators: [], entities: [], rows: [] }
    },
  )
  const answer = calls.call({ configuration, configVersion: 1, product }, 'executeLambda', [])
  return { answer, allowed }
}

it('each round has the time that earlier rounds left, and fetching between them does not count', async () => {
  const { answer, allowed } = called([
    [1_000, ASKS],
    [2_000, ASKS],
    [500, { ...NOTHING, value: 'fine' }],
  ])
  expect(await answer).toBe('fine')
  expect(allowed).toEqual([4_200, 3_200, 1_200])
})

it('a call fails when its rounds have used up its time', async () => {
  const { answer, allowed } = called([
    [3_000, ASKS],
    [1_300, ASKS],
  ])
  await expect(answer).rejects.toMatchObject({
    code: 'pluginLimit',
    message: 'Plugin executeLambda failed: main/all.js: takes longer than 4.2 seconds',
  })
  expect(allowed.length).toBe(2)
})

it('a call that is stopped in a later round reports the limit of the call, not what that round had left', async () => {
  const limit: CallOutcome = { ...NOTHING, failure: { reason: 'takes longer than 1.2 seconds', limit: true } }
  const { answer } = called([
    [3_000, ASKS],
    [1_200, limit],
  ])
  await expect(answer).rejects.toMatchObject({
    message: 'Plugin executeLambda failed: main/all.js: takes longer than 4.2 seconds',
  })
})

it('a call that is stopped while it gathers is not repeated if there is no time left', async () => {
  const limit: CallOutcome = { ...NOTHING, failure: { reason: 'takes longer than 4.2 seconds', limit: true } }
  const { answer, allowed } = called([
    [100, ASKS],
    [4_100, limit],
  ])
  await expect(answer).rejects.toMatchObject({ code: 'pluginLimit' })
  expect(allowed.length).toBe(2)
})
