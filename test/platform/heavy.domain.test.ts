// Each kind of heavy work has a limited share of an isolate (src/platform/seats.ts).
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  HEAVY_ROWS,
  heavyReading,
  LANE_PAUSE_MS,
  Lane,
  ROWS_A_SECOND,
  Seats,
} from '../../src/platform/seats.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A request of the tenant that reads this many rows. Reports its state, and after how many milliseconds it went on. */
function request(tenant: string, rows: number) {
  const began = Date.now()
  const outcome = { state: 'waits', afterMs: -1 }
  heavyReading(tenant)
    .read(rows)
    .then(
      () => Object.assign(outcome, { state: 'goes on', afterMs: Date.now() - began }),
      problem => Object.assign(outcome, { state: problem.code, afterMs: Date.now() - began }),
    )
  return outcome
}

test('heavy requests of a tenant run one after the other; those that would wait over two seconds are rejected', async () => {
  const rows = ROWS_A_SECOND / 2
  const many = Array.from({ length: 8 }, () => request('many', rows))
  const other = request('other', rows)
  const light = request('many', HEAVY_ROWS - 1)
  await vi.advanceTimersByTimeAsync(0)
  expect([other, light].map(({ state, afterMs }) => [state, afterMs])).toEqual([
    ['goes on', 0],
    ['goes on', 0],
  ])
  await vi.advanceTimersByTimeAsync(3_000)
  expect(many.map(({ state, afterMs }) => [state, afterMs])).toEqual([
    ...[0, 500, 1_000, 1_500, 2_000].map(afterMs => ['goes on', afterMs]),
    ...Array(3).fill(['overloaded', 0]),
  ])
  const later = request('many', rows)
  await vi.advanceTimersByTimeAsync(0)
  expect(later).toEqual({ state: 'goes on', afterMs: 0 })
})

test('sequential requests of a tenant are never rejected, and the rows that one request reads add up', async () => {
  for (let count = 0; count < 20; count += 1) {
    const one = request('steady', 10_000)
    await vi.advanceTimersByTimeAsync(400)
    expect(one.state).toBe('goes on')
  }
  const reading = heavyReading('parts')
  for (let count = 0; count < 3; count += 1) await reading.read(2_000)
  const next = request('parts', HEAVY_ROWS)
  await vi.advanceTimersByTimeAsync(200)
  expect(next).toEqual({ state: 'goes on', afterMs: 200 })
})

test('an abandoned seat is free again after its time', () => {
  const seats = new Seats(2, 1_000)
  const [one, two, three] = [Symbol('1'), Symbol('2'), Symbol('3')]
  expect([one, two, three, one].map(seat => seats.take(seat))).toEqual([true, true, false, true])
  seats.leave(one)
  expect([three, one].map(seat => seats.take(seat))).toEqual([true, false])
  vi.advanceTimersByTime(1_001)
  expect(seats.take(one)).toBe(true)
})

test('a lane runs one piece of work after the other with pauses, and continues after one that fails or hangs', async () => {
  const lane = new Lane(1_000)
  const began: [string, number][] = []
  const at = Date.now()
  const piece = (name: string, takesMs: number, fails = false): void =>
    void lane
      .run(async () => {
        began.push([name, Date.now() - at])
        await new Promise(resolve => setTimeout(resolve, takesMs))
        if (fails) throw new Error(name)
      })
      .catch(() => undefined)
  piece('one', 100)
  piece('two', 100, true)
  piece('cut off', 1e9)
  piece('four', 100)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(began.map(([name]) => name)).toEqual(['one', 'two', 'cut off', 'four'])
  const gaps = began.slice(1).map(([, since], before) => since - began[before]![1])
  for (const [nth, gap] of gaps.entries()) {
    const least = nth === 2 ? 1_000 : 100 + LANE_PAUSE_MS
    expect(gap).toBeGreaterThanOrEqual(least)
    expect(gap).toBeLessThanOrEqual(least + 2 * LANE_PAUSE_MS)
  }
})
