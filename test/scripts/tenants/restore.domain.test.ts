import { expect, test } from 'vitest'
import { timeToRestore } from '../../../scripts/tenants/restore.ts'

const AT = Date.parse('2026-11-23T12:00:00Z')
const DAY_MS = 24 * 60 * 60 * 1000

test('the time of a restore is a date and time or milliseconds, within the last 30 days', () => {
  expect(timeToRestore('2026-11-23T11:00:00Z', AT)).toBe(AT - 3_600_000)
  expect(timeToRestore('2026-11-23T12:30:00+01:00', AT)).toBe(AT - 1_800_000)
  expect(timeToRestore(String(AT - 1), AT)).toBe(AT - 1)
  expect(timeToRestore(String(AT - 30 * DAY_MS), AT)).toBe(AT - 30 * DAY_MS)
})

test('any other time is rejected with the reason', () => {
  expect(() => timeToRestore('an hour ago', AT)).toThrow('is not a time. Write it as')
  expect(() => timeToRestore(String(AT), AT)).toThrow('is in the future')
  expect(() => timeToRestore(String(AT - 30 * DAY_MS - 1), AT)).toThrow('more than 30 days ago')
})
