// How much of a premium is earned at a time. Computed from the journal, never posted.
import { fromMinor } from '../../kernel/money.ts'
import { DAY_MS, type Instant, startOfDay, type TimeZone } from '../../kernel/time.ts'
import { measureOf, portion } from '../fold/shares.ts'
import type { JournalRow } from './rows.ts'

/** `product`: by months, as the product shares premiums over time. `daily`: by days in the policy's time zone. */
export type Earning = 'product' | 'daily'

/** The premium that was written for a peril over a span, in minor units. */
export type PremiumSpan = {
  readonly peril: string
  readonly start: Instant
  readonly end: Instant
  readonly minor: number
}

/** Returns the premium that rows of one policy wrote, by peril and span. Leaves out spans that were taken back whole. */
export function premiumSpans(rows: Iterable<JournalRow>): PremiumSpan[] {
  const spans = new Map<string, { peril: string; start: Instant; end: Instant; minor: number }>()
  for (const { entries } of rows)
    for (const { account, peril = '', start, end, minor } of entries) {
      if (account !== 'premium' || start === undefined || end === undefined) continue
      const key = `${start}/${end}/${peril}`
      const known = spans.get(key)
      if (known) known.minor -= minor
      else spans.set(key, { peril, start, end, minor: -minor })
    }
  return [...spans.values()].filter(({ minor }) => minor !== 0)
}

/** Returns how many minor units of the span's premium are earned by that time, rounded once, half-up. The rest is unearned. */
export function earnedOf(
  { start, end, minor }: PremiumSpan,
  at: Instant,
  { earning, zone, currency }: { earning: Earning; zone: TimeZone; currency: JournalRow['currency'] },
): number {
  if (at >= end) return minor
  if (at <= start) return 0
  const measure =
    earning === 'daily'
      ? (from: Instant, to: Instant) => daysBetween(from, to, zone)
      : measureOf('monthly', zone)
  return portion(fromMinor(minor, currency), measure(start, at), measure(start, end)).minor
}

/** Returns the number of calendar days between the times. A day on which the clocks change counts as one. */
const daysBetween = (from: Instant, to: Instant, zone: TimeZone): number =>
  Math.round((startOfDay(to, zone) - startOfDay(from, zone)) / DAY_MS)
