// The tasks of a tick run in one invocation, which may send a thousand statements.
import { expect, it } from 'vitest'
import { type Calls, hasRoomForMore, mayReadMore } from '../../src/platform/calls.ts'
import { runTick } from '../../src/platform/observation.ts'

type Tasks = Parameters<typeof runTick<Env>>[1]
const env = { REQUEST_LOG: 'off' } as unknown as Env

const sends =
  (count: number, seen: number[]): Tasks[string] =>
  async (_, calls: Calls) => {
    seen.push(calls.statements!)
    calls.statements! += count
  }

it('each task counts the statements of those before it, also of one that failed', async () => {
  const seen: number[] = []
  const failing: Tasks[string] = async (given, calls) => {
    await sends(300, seen)(given, calls)
    throw new Error('first')
  }
  const other: Tasks[string] = () => Promise.reject(new Error('second'))
  const run = runTick(env, { upgrade: sends(4, seen), wake: failing, fail: other, wipe: sends(1, seen) })
  await expect(run).rejects.toThrow('first')
  expect(seen).toEqual([0, 4, 304])
})

it('a portion begins within 500 statements, and may read up to 900', () => {
  const after = (statements: number) => {
    const calls = { statements } as Calls
    return [hasRoomForMore(calls), mayReadMore(calls)]
  }
  expect([500, 501, 900, 901].map(after)).toEqual([
    [true, true],
    [false, true],
    [false, true],
    [false, false],
  ])
})
