// To when a clock moves: forward only, and not without bounds.
import { Refusal } from '../kernel/errors.ts'
import { add, type Instant, type TimeZone } from '../kernel/time.ts'
import type { ClockRequest } from './contract.ts'

/** Years that one call moves a clock at most, and that a clock is ahead of the real time at most. */
export const MOST_YEARS_A_MOVE = 10
export const MOST_YEARS_AHEAD = 100

/** What the target is reckoned from: the tenant's time and zone, and the real time. */
export type Clocks = { readonly tenant: Instant; readonly zone: TimeZone; readonly real: Instant }

/** The time that the request names; 400 when it lies in the tenant's past, or too far ahead. */
export function clockTarget({ timestamp, advance }: ClockRequest, { tenant, zone, real }: Clocks): Instant {
  const furthest = add(tenant, MOST_YEARS_A_MOVE, 'year', zone)
  const tooFar = new Refusal(
    'invalidRequest',
    `One call moves the clock by at most ${MOST_YEARS_A_MOVE} years, here to ${furthest}; call several times.`,
  )
  // Calendar arithmetic has an end of its own, which a billion years would pass.
  if (advance && advance.amount > UNITS_IN_FURTHEST[advance.unit]) throw tooFar
  const target = advance ? add(tenant, advance.amount, advance.unit, zone) : timestamp!
  if (target < tenant)
    throw new Refusal(
      'invalidRequest',
      `'timestamp' ${target} lies before the tenant's time ${tenant}; the clock moves forward only.`,
    )
  if (target > furthest) throw tooFar
  const latest = add(real, MOST_YEARS_AHEAD, 'year', zone)
  if (target > latest)
    throw new Refusal(
      'invalidRequest',
      `The clock can be at most ${MOST_YEARS_AHEAD} years ahead of the real time, until ${latest}; recreate the tenant to begin anew.`,
    )
  return target
}

/** Above these counts a span is longer than any move, whatever the calendar. */
const UNITS_IN_FURTHEST = {
  second: 400_000_000,
  minute: 6_000_000,
  hour: 100_000,
  day: 4_000,
  week: 600,
  month: 120,
  year: 10,
} as const satisfies Record<NonNullable<ClockRequest['advance']>['unit'], number>
