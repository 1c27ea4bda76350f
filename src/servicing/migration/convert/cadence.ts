// How often a policy is billed, read off the installments that it came with, where nobody says it.
import type { PaymentScheduleType } from '../../../product/configuration.ts'
import type { TermMigrationRequest, TransactionMigrationRequest } from '../contract-request.ts'

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
 * Payment schedules that bill as the installments of the last term that has any were due. The transaction that begins the term says
 * it, since a change may have bills on days of its own; one due date is a term paid at once. Where the installments of a term
 * stand in several transactions, they say it together. Undefined where the dates have no rhythm, and where there are none.
 */
export function derivedCadence(terms: readonly TermMigrationRequest[]): DerivedCadence | undefined {
  const billed = terms
    .map(({ transactions }) => transactions.map(datesOf).filter(dates => dates.length > 0))
    .findLast(transactions => transactions.length > 0)
  if (!billed) return undefined
  const [first] = billed
  const together = distinct(billed.flat())
  const found = rhythmOf(first!) ?? (together.length > 2 ? rhythmOf(together) : undefined)
  if (found || first!.length > 1) return found
  return { types: ['total', 'annually'], shown: 'its last term begins with one installment' }
}

const datesOf = ({ installments }: TransactionMigrationRequest): number[] =>
  distinct(installments.map(({ dueTime }) => Number(dueTime)))

const distinct = (dates: readonly number[]): number[] => [...new Set(dates)].sort((a, b) => a - b)

/** By the days between the dates; where there are more than three such gaps, the first and the last may be odd. */
function rhythmOf(dates: readonly number[]): DerivedCadence | undefined {
  if (dates.length < 2) return undefined
  const gaps = dates.slice(1).map((date, at) => daysBetween(dates[at]!, date))
  const regular = gaps.length > 3 ? gaps.slice(1, -1) : gaps
  const found = GAPS.find(([least, most]) => regular.every(gap => gap >= least && gap <= most))
  return found && { types: [found[2]], shown: `its installments were due ${found[3]} apart` }
}
