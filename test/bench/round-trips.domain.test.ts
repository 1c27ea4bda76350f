import { expect, test } from 'vitest'
import { noCalls, serverTiming } from '../../src/platform/calls.ts'
import { roundTrips, rowsOf, tripsBeforeResponse } from '../../tools/bench/round-trips.ts'

test('the round trips of a response are read from its Server-Timing header', () => {
  expect(roundTrips(serverTiming({ ...noCalls(), d1: 2, object: 1 }, 7))).toBe('d1 2, object 1')
  expect(roundTrips(serverTiming({ ...noCalls(), d1: 2, object: 1, renewed: 1 }, 7))).toBe('d1 1, object 1')
  expect(roundTrips(serverTiming({ ...noCalls(), d1: 1, renewed: 1 }, 7))).toBe('none')
})

test('a response without calls or without the header made no round trips', () => {
  expect(roundTrips(serverTiming(noCalls(), 0))).toBe('none')
  expect(roundTrips('')).toBe('none')
})

test('queue messages do not count among the calls that a client waits for', () => {
  expect(tripsBeforeResponse('d1 2, queue 1')).toBe('d1 2')
  expect(tripsBeforeResponse('queue 1')).toBe('none')
})

test('rows are read from the header, and are zero without it', () => {
  expect(rowsOf(serverTiming({ ...noCalls(), rowsRead: 12, rowsWritten: 3 }, 7))).toEqual({
    read: 12,
    written: 3,
  })
  expect(rowsOf('')).toEqual({ read: 0, written: 0 })
})
