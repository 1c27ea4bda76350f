import { expect, test } from 'vitest'
import { noCalls, serverTiming } from '../../src/platform/calls.ts'
import { roundTrips, rowsOf, waitedFor } from '../../tools/bench/round-trips.ts'

test('the round trips of an answer are those of its Server-Timing header', () => {
  expect(roundTrips(serverTiming({ ...noCalls(), d1: 2, object: 1 }, 7))).toBe('d1 2, object 1')
  expect(roundTrips(serverTiming({ ...noCalls(), d1: 2, object: 1, renewed: 1 }, 7))).toBe('d1 1, object 1')
  expect(roundTrips(serverTiming({ ...noCalls(), d1: 1, renewed: 1 }, 7))).toBe('none')
})

test('an answer that called nothing, or tells nothing, made no round trip', () => {
  expect(roundTrips(serverTiming(noCalls(), 0))).toBe('none')
  expect(roundTrips('')).toBe('none')
})

test('nobody waits for a queue message', () => {
  expect(waitedFor('d1 2, queue 1')).toBe('d1 2')
  expect(waitedFor('queue 1')).toBe('none')
})

test('rows are those of the header, and none where it does not tell', () => {
  expect(rowsOf(serverTiming({ ...noCalls(), rowsRead: 12, rowsWritten: 3 }, 7))).toEqual({
    read: 12,
    written: 3,
  })
  expect(rowsOf('')).toEqual({ read: 0, written: 0 })
})
