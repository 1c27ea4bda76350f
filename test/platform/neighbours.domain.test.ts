// One tenant leaves others their part of an isolate's thread (src/platform/neighbours.ts).
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MOST_UNDER_WAY, NEIGHBOUR_MS, SEAT_MS, takeSeat } from '../../src/platform/neighbours.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** The order in which requests are begun, by name; refusals by their code. */
const order: string[] = []
beforeEach(() => void order.splice(0))

/** A request that is answered after so long. */
async function request(tenant: string, name: string, takesMs: number): Promise<void> {
  try {
    const leave = await takeSeat(tenant)
    order.push(name)
    await new Promise(resolve => setTimeout(resolve, takesMs))
    leave()
  } catch (problem) {
    order.push(`${name}: ${(problem as { code: string }).code}`)
  }
}

const many = (tenant: string, count: number, takesMs: number): void => {
  for (let at = 1; at <= count; at += 1) void request(tenant, `${tenant} ${at}`, takesMs)
}

const names = (tenant: string, from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => `${tenant} ${from + at}`)

const byNumber = (one: string, other: string): number =>
  Number(one.split(' ')[1]) - Number(other.split(' ')[1])

test('a tenant alone waits for nobody', async () => {
  many('alone', 50, 20)
  await vi.advanceTimersByTimeAsync(0)
  expect(order).toEqual(names('alone', 1, 50))
})

test('beside another tenant so many are under way, the rest follow in their order, and the other does not wait', async () => {
  void request('small', 'small 1', 5)
  many('large', 12, 20)
  void request('small', 'small 2', 5)
  await vi.advanceTimersByTimeAsync(0)
  expect(order).toEqual(['small 1', ...names('large', 1, MOST_UNDER_WAY), 'small 2'])
  order.splice(0)
  await vi.advanceTimersByTimeAsync(30)
  expect(order.toSorted(byNumber)).toEqual(names('large', MOST_UNDER_WAY + 1, 2 * MOST_UNDER_WAY))
  await vi.advanceTimersByTimeAsync(30)
  expect(order.toSorted(byNumber)).toEqual(names('large', MOST_UNDER_WAY + 1, 12))
})

test('who waits while the other tenant goes quiet goes on', async () => {
  void request('brief', 'brief 1', 5)
  many('patient', 20, 300)
  await vi.advanceTimersByTimeAsync(NEIGHBOUR_MS - 1)
  const before = order.length
  expect(before).toBeLessThan(21)
  await vi.advanceTimersByTimeAsync(SEAT_MS + 1)
  expect(order).toHaveLength(21)
})

test('a request that takes long, or was given up, keeps nobody waiting', async () => {
  void request('neighbour', 'neighbour 1', 5)
  many('slow', MOST_UNDER_WAY + 1, 60_000)
  await vi.advanceTimersByTimeAsync(SEAT_MS - 1)
  expect(order).not.toContain(`slow ${MOST_UNDER_WAY + 1}`)
  await vi.advanceTimersByTimeAsync(2)
  expect(order).toContain(`slow ${MOST_UNDER_WAY + 1}`)
})

test('after two seconds in line, and where the line is too long, 503', async () => {
  const other = setInterval(() => void request('beside', 'beside', 1), NEIGHBOUR_MS / 2)
  void request('beside', 'beside', 1)
  many('flood', 300, SEAT_MS - 1)
  await vi.advanceTimersByTimeAsync(0)
  expect(order.filter(name => name.endsWith('overloaded'))).toEqual(
    names('flood', MOST_UNDER_WAY + 201, 300).map(name => `${name}: overloaded`),
  )
  await vi.advanceTimersByTimeAsync(3_000)
  clearInterval(other)
  const flood = order.filter(name => name.startsWith('flood'))
  const begun = flood.filter(name => !name.endsWith('overloaded'))
  expect(flood).toHaveLength(300)
  expect(begun.toSorted(byNumber)).toEqual(names('flood', 1, begun.length))
  expect(begun.length).toBeGreaterThanOrEqual(8 * MOST_UNDER_WAY)
  expect(begun.length).toBeLessThanOrEqual(10 * MOST_UNDER_WAY)
})
