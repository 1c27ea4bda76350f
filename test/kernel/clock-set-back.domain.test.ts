// A server's clock that was ahead is set back: nothing in the memory of an isolate lasts longer because of that.
import { afterEach, expect, it, vi } from 'vitest'
import { knownAuthToken } from '../../src/access/revocation.ts'
import { Circuit, OPEN_MS, OPENING_FAILURES } from '../../src/extension/integrations/call/call.ts'
import { type Instant, isWithinLast } from '../../src/kernel/time.ts'
import { heavyReading, ROWS_A_SECOND, Seats } from '../../src/platform/seats.ts'

const NOON = Date.UTC(2026, 5, 1, 12)
const HOUR_MS = 3_600_000

const setClock = (at: number): void => void vi.setSystemTime(at)
afterEach(() => void vi.useRealTimers())

it('a time is recent from itself until before the given number of milliseconds later', () => {
  vi.useFakeTimers()
  const recent = [-1, 0, 4_999, 5_000].map(laterMs => {
    setClock(NOON + laterMs)
    return isWithinLast(5_000, NOON)
  })
  expect(recent).toEqual([false, true, true, false])
})

it('a long-lived token is looked up again, which finds that it was removed', async () => {
  vi.useFakeTimers()
  const found = { accountLocator: 'a' } as unknown as Awaited<ReturnType<typeof knownAuthToken>>
  setClock(NOON + HOUR_MS)
  expect(await knownAuthToken('tenant/1', 'bdy_x', async () => found)).toBe(found)
  expect(await knownAuthToken('tenant/1', 'bdy_x', async () => undefined)).toBe(found)
  setClock(NOON)
  expect(await knownAuthToken('tenant/1', 'bdy_x', async () => undefined)).toBeUndefined()
})

it('an open circuit permits a trial call', () => {
  const circuit = new Circuit()
  for (let failures = 0; failures < OPENING_FAILURES; failures += 1)
    circuit.record(false, (NOON + HOUR_MS) as Instant)
  expect(circuit.admit((NOON + HOUR_MS + 1_000) as Instant)).toBe(OPEN_MS - 1_000)
  expect(circuit.admit(NOON as Instant)).toBe(0)
})

it('the seat of interrupted work is free', () => {
  vi.useFakeTimers()
  const seats = new Seats(1, 60_000)
  setClock(NOON + HOUR_MS)
  expect(seats.take(Symbol('interrupted'))).toBe(true)
  expect(seats.take(Symbol('waiting'))).toBe(false)
  setClock(NOON)
  expect(seats.take(Symbol('waiting'))).toBe(true)
})

it('a large read waits for no earlier one', async () => {
  vi.useFakeTimers()
  setClock(NOON + HOUR_MS)
  await heavyReading('set back').read(ROWS_A_SECOND)
  setClock(NOON)
  // Otherwise rejected, since it would wait for an hour.
  await expect(heavyReading('set back').read(ROWS_A_SECOND)).resolves.toBeUndefined()
})
