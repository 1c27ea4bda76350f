import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type FilePlace,
  filePlace,
  LARGEST_SMALL_FILE_BYTES,
  MOST_LARGE_FILES,
} from '../../src/platform/http/body/bytes.ts'

const LARGE = LARGEST_SMALL_FILE_BYTES + 1
const places: FilePlace[] = []

const open = (bytes: number): FilePlace => {
  const place = filePlace()
  places.push(place)
  place.reach(bytes)
  return place
}

const overloaded = expect.objectContaining({ code: 'overloaded', retryAfterSeconds: 5 })

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  for (const place of places.splice(0)) place.leave()
  vi.useRealTimers()
})

describe('Large files in memory', () => {
  test('are limited to two at a time; another is admitted when one is gone', () => {
    const [first] = Array.from({ length: MOST_LARGE_FILES }, () => open(LARGE))
    expect(() => open(LARGE)).toThrow(overloaded)
    first!.leave()
    open(LARGE)
  })

  test('count only once they turn out to be large, and once however much they grow', () => {
    const growing = Array.from({ length: 10 }, () => open(LARGE - 1))
    for (const bytes of [LARGE, LARGE + 1]) for (const place of growing.slice(0, 2)) place.reach(bytes)
    expect(() => growing[2]!.reach(LARGE)).toThrow(overloaded)
    open(LARGE - 1)
  })

  test('no longer count after a minute without a byte, but do while they still grow', () => {
    open(LARGE)
    const slow = open(LARGE)
    vi.advanceTimersByTime(50_000)
    slow.reach(LARGE + 1)
    expect(() => open(LARGE)).toThrow(overloaded)
    vi.advanceTimersByTime(11_000)
    open(LARGE)
    expect(() => open(LARGE)).toThrow(overloaded)
  })
})
