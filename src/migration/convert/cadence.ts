// How often a policy is billed, read off the installments that it came with, where nobody says it.
import type { PaymentScheduleType } from '../../configuration/configuration.ts'
import type { TermMigrationRequest } from '../contract-request.ts'

const DAY_MS = 86_400_000

/** The least and the most days from one due date to the next. */
const GAPS: readonly (readonly [least: number, most: number, type: PaymentScheduleType, word: string])[] = [
  [7, 7, 'every_week', 'a week'],
  [14, 14, 'every_two_weeks', 'two weeks'],
  [28, 31, 'monthly', 'a month'],
  [89, 92, 'quarterly', 'three months'],
  [181, 184, 'semiannually', 'half a year'],
  [365, 366, 'annually', 'a year'],
]

/** A day that the clock change makes an hour shorter or longer is a day. */
const daysBetween = (from: number, to: number): number => Math.round((to - from) / DAY_MS)

/** `shown`: what the installments show, for a sentence. */
export type DerivedCadence = { readonly types: readonly PaymentScheduleType[]; readonly shown: string }

/**
 * Payment schedules that bill as the installments of the last term that has any were due: by the days between due dates, of which
 * the first and the last may be odd where there are more than three. One due date is a term paid at once. Undefined where the dates
 * have no such rhythm, and where there are none.
 */
export function derivedCadence(terms: readonly TermMigrationRequest[]): DerivedCadence | undefined {
  const dates = terms
    .map(({ transactions }) => [
      ...new Set(
        transactions.flatMap(({ installments }) => installments.map(({ dueTime }) => Number(dueTime))),
      ),
    ])
    .findLast(times => times.length > 0)
    ?.sort((a, b) => a - b)
  if (!dates) return undefined
  if (dates.length === 1) return { types: ['total', 'annually'], shown: 'its last term has one installment' }
  const gaps = dates.slice(1).map((date, at) => daysBetween(dates[at]!, date))
  const regular = gaps.length > 3 ? gaps.slice(1, -1) : gaps
  const found = GAPS.find(([least, most]) => regular.every(gap => gap >= least && gap <= most))
  return found && { types: [found[2]], shown: `its installments were due ${found[3]} apart` }
}
