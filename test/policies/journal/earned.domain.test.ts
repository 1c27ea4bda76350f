// Earned premium, computed by hand.
import { describe, expect, it } from 'vitest'
import type { Uuid } from '../../../src/kernel/locators.ts'
import type { CurrencyCode } from '../../../src/kernel/money.ts'
import { dayStart, type Instant, type TimeZone } from '../../../src/kernel/time.ts'
import { type Earning, earnedOf, type PremiumSpan, premiumSpans } from '../../../src/policy/journal/earned.ts'
import type { JournalEntry, JournalRow } from '../../../src/policy/journal/rows.ts'

const zone = 'Europe/Berlin' as TimeZone
const day = (text: string): Instant => dayStart(text, zone)!

const span = (start: string, end: string, minor: number): PremiumSpan => ({
  peril: 'cover',
  start: day(start),
  end: day(end),
  minor,
})

const earned = (of: PremiumSpan, at: Instant, earning: Earning, currency = 'EUR') =>
  earnedOf(of, at, { earning, zone, currency: currency as CurrencyCode })

describe('A premium of 120.00 for the year 2027', () => {
  const year = span('2027-01-01', '2028-01-01', 12_000)

  it.each([
    // By months, by days.
    ['2026-12-31', 0, 0],
    ['2027-01-01', 0, 0],
    ['2027-02-01', 1_000, 1_019], // 1/12; 31/365
    ['2027-07-01', 6_000, 5_951], // 6/12; 181/365
    ['2027-12-01', 11_000, 10_981], // 11/12; 334/365
    ['2028-01-01', 12_000, 12_000],
    ['2029-01-01', 12_000, 12_000],
  ])('has earned, on %s, %i by months and %i by days', (at, byMonths, byDays) => {
    expect([earned(year, day(at), 'product'), earned(year, day(at), 'daily')]).toEqual([byMonths, byDays])
    const back = { ...year, minor: -year.minor }
    expect([earned(back, day(at), 'product'), earned(back, day(at), 'daily')]).toEqual([
      0 - byMonths,
      0 - byDays,
    ])
  })

  it('earns a day when it begins, even when the clocks change', () => {
    const march = span('2027-03-28', '2027-03-30', 200)
    const HOUR_MS = 3_600_000
    expect(earned(march, (day('2027-03-29') - HOUR_MS) as Instant, 'daily')).toBe(0)
    expect(earned(march, day('2027-03-29'), 'daily')).toBe(100)
    expect(earned(march, (day('2027-03-29') + 23 * HOUR_MS) as Instant, 'daily')).toBe(100)
  })
})

it('earned premium is rounded once, half-up, in minor units of the currency', () => {
  const quarter = span('2027-01-01', '2027-04-01', 100)
  expect(earned(quarter, day('2027-02-01'), 'product')).toBe(33)
  expect(earned(quarter, day('2027-03-01'), 'product')).toBe(67)
  const half = span('2027-01-01', '2027-03-01', 5)
  expect(earned(half, day('2027-02-01'), 'product', 'JPY')).toBe(3)
  expect(earned({ ...half, minor: -5 }, day('2027-02-01'), 'product', 'JPY')).toBe(-3)
})

it('spans of several rows add up, and those taken back entirely disappear', () => {
  const of = (peril: string, start: string, end: string, minor: number): JournalEntry => ({
    account: 'premium',
    peril,
    start: day(start),
    end: day(end),
    minor,
  })
  const row = (...entries: JournalEntry[]): JournalRow => ({
    policyholderLocator: 'h' as Uuid,
    currency: 'EUR' as CurrencyCode,
    kind: 'endorsement',
    at: day('2027-01-01'),
    effectiveAt: day('2027-01-01'),
    entries,
  })
  const rows = [
    row(of('fire', '2027-01-01', '2028-01-01', -12_000), of('wind', '2027-01-01', '2028-01-01', -100)),
    row(
      of('fire', '2027-01-01', '2028-01-01', 12_000),
      of('fire', '2027-01-01', '2027-07-01', -6_000),
      of('fire', '2027-07-01', '2028-01-01', -9_000),
      { account: 'tax', minor: -500, peril: 'fire', name: 'tax' },
    ),
    row(of('wind', '2027-01-01', '2028-01-01', -50)),
  ]
  expect(premiumSpans(rows)).toEqual([
    { ...span('2027-01-01', '2028-01-01', 150), peril: 'wind' },
    { ...span('2027-01-01', '2027-07-01', 6_000), peril: 'fire' },
    { ...span('2027-07-01', '2028-01-01', 9_000), peril: 'fire' },
  ])
})
