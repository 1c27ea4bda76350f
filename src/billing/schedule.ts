import type { PaymentScheduleType } from '../configuration/configuration.ts'
import { Refusal } from '../platform/errors.ts'
import {
  add,
  type CalendarUnit,
  earlier,
  type Instant,
  later,
  type Span,
  type TimeZone,
} from '../platform/time.ts'

/** From one billing period to the next, by schedule type (brief 4.2); `total` has a single period. */
const STEPS: Record<PaymentScheduleType, { count: number; unit: CalendarUnit } | undefined> = {
  total: undefined,
  annually: { count: 12, unit: 'month' },
  semiannually: { count: 6, unit: 'month' },
  quarterly: { count: 3, unit: 'month' },
  monthly: { count: 1, unit: 'month' },
  every_two_weeks: { count: 2, unit: 'week' },
  every_week: { count: 1, unit: 'week' },
}

/** Most billing periods of one plan: a hundred years of months, or 23 years of weeks. */
export const LARGEST_PLAN_PERIODS = 1_200

/** A span that one installment pays for, and how much of a whole period it is: (end − start) ÷ wholeMs. */
export type BillingPeriod = Span & {
  /** Milliseconds of the whole calendar period from `start`; longer than the span where coverage ends early. */
  readonly wholeMs: number
}

/**
 * The billing periods that tile the coverage. Each starts on the day of month and at the local time of the
 * coverage start: a day that a month lacks is clamped to its last day and comes back later. The last one is
 * cut at the coverage end. Refuses plans of more than `LARGEST_PLAN_PERIODS`.
 */
export function billingPeriods(coverage: Span, type: PaymentScheduleType, zone: TimeZone): BillingPeriod[] {
  if (coverage.end <= coverage.start) throw new RangeError('Coverage ends after it starts.')
  const step = STEPS[type]
  if (step === undefined) return [{ ...coverage, wholeMs: coverage.end - coverage.start }]
  const startOf = (index: number): Instant => add(coverage.start, index * step.count, step.unit, zone)
  const periods: BillingPeriod[] = []
  for (let start = coverage.start; start < coverage.end; ) {
    if (periods.length === LARGEST_PLAN_PERIODS) throw tooManyPeriods(type)
    const next = startOf(periods.length + 1)
    periods.push({ start, end: earlier(next, coverage.end), wholeMs: next - start })
    start = next
  }
  return periods
}

/**
 * The billing periods of terms that follow one another, from a time on: the one that the time lies in is cut there.
 * Refuses plans of more than `LARGEST_PLAN_PERIODS`.
 */
export function periodsFrom(
  terms: readonly Span[],
  type: PaymentScheduleType,
  zone: TimeZone,
  from: Instant,
): BillingPeriod[] {
  const periods = terms
    .filter(term => term.end > from)
    .flatMap(term => billingPeriods(term, type, zone))
    .filter(period => period.end > from)
    .map(period => ({ ...period, start: later(period.start, from) }))
  if (periods.length > LARGEST_PLAN_PERIODS) throw tooManyPeriods(type)
  return periods
}

const tooManyPeriods = (type: PaymentScheduleType): Refusal =>
  new Refusal(
    'policyLimit',
    `The payment schedule '${type}' has more than ${LARGEST_PLAN_PERIODS} billing periods over the policy's span; choose longer periods.`,
  )
