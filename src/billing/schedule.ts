import { Refusal } from '../kernel/errors.ts'
import {
  add,
  type CalendarUnit,
  earlier,
  type Instant,
  later,
  type Span,
  type TimeZone,
} from '../kernel/time.ts'
import type { PaymentScheduleType } from '../product/configuration.ts'

/** From one billing period to the next, by schedule type (brief 4.2); `total` has a single period. */
const STEPS: Record<PaymentScheduleType, CalendarStep | undefined> = {
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
  const periods = tiles(coverage, step, zone, LARGEST_PLAN_PERIODS + 1)
  if (periods.length > LARGEST_PLAN_PERIODS) throw tooManyPeriods(type)
  return periods
}

type CalendarStep = { readonly count: number; readonly unit: CalendarUnit }

/** Spans of a step each that tile the coverage, the last one cut at its end; `most` of them at most. */
function tiles(
  coverage: Span,
  step: CalendarStep,
  zone: TimeZone,
  most = Number.POSITIVE_INFINITY,
): BillingPeriod[] {
  const startOf = (index: number): Instant => add(coverage.start, index * step.count, step.unit, zone)
  const periods: BillingPeriod[] = []
  for (let start = coverage.start; start < coverage.end && periods.length < most; ) {
    const next = startOf(periods.length + 1)
    periods.push({ start, end: earlier(next, coverage.end), wholeMs: next - start })
    start = next
  }
  return periods
}

/**
 * The billing periods of terms that follow one another, from a time on; the one that the time lies in is cut there.
 * Each is the list of its months or weeks, so that a part of a period weighs as many of them as it has: of a quarter
 * that is cut after its first month two thirds are left, whatever its days. Refuses plans of more than
 * `LARGEST_PLAN_PERIODS`.
 */
export function periodsFrom(
  terms: readonly Span[],
  type: PaymentScheduleType,
  zone: TimeZone,
  from: Instant,
): BillingPeriod[][] {
  const step = STEPS[type]
  const periods = terms
    .filter(term => term.end > from)
    .flatMap(term => {
      const whole = billingPeriods(term, type, zone)
      const units = step ? tiles(term, { ...step, count: 1 }, zone) : whole
      return whole.map(period =>
        units
          .filter(one => period.start <= one.start && one.start < period.end && one.end > from)
          .map(one => ({ ...one, start: later(one.start, from) })),
      )
    })
    .filter(period => period.length > 0)
  if (periods.length > LARGEST_PLAN_PERIODS) throw tooManyPeriods(type)
  return periods
}

const tooManyPeriods = (type: PaymentScheduleType): Refusal =>
  new Refusal(
    'policyLimit',
    `The payment schedule '${type}' has more than ${LARGEST_PLAN_PERIODS} billing periods over the policy's span; choose longer periods.`,
  )
