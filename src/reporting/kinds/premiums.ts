// Written and earned premium, from the journal's premium entries.

import type { Instant } from '../../kernel/time.ts'
import { earnedOf, premiumSpans } from '../../policy/journal/earned.ts'
import {
  bookedAt,
  type JournalEntry,
  type StoredJournalRow,
  sumsAnotherSystem,
} from '../../policy/journal/rows.ts'
import type { Column, ReportKind, ReportLine, ReportParameters } from '../kind.ts'

const amount = (name: string, about: string): Column => ({ name, type: 'amount', about, isMeasure: true })

export const TRANSACTION_COLUMNS: readonly Column[] = [
  {
    name: 'transactionLocator',
    type: 'text',
    about: 'The modification. Empty for changes of bills and what another system issued.',
  },
  { name: 'recordedAt', type: 'time', about: 'The time when it was recorded.' },
  { name: 'effectiveAt', type: 'time', about: 'The time when it takes effect.' },
  {
    name: 'bookedAt',
    type: 'time',
    about: 'The time at which it is booked: that of its effect, or the end of the closed periods.',
  },
]

/** Returns the cells of TRANSACTION_COLUMNS, in their order. */
export const transactionCells = (row: StoredJournalRow, booked: Instant) => [
  row.modificationLocator ?? null,
  row.at,
  row.effectiveAt,
  booked,
]

/** Whether the time is in the period; its end is not. */
export const isWithin = ({ from, to }: Pick<ReportParameters, 'from' | 'to'>, at: Instant): boolean =>
  from <= at && at < to

/** Combines the entries of one row and peril into one line. */
export const writtenPremium: ReportKind = {
  name: 'writtenPremium',
  title: 'Written premium',
  about:
    'Price changes of the transactions that are booked in the period, and amounts held back by cancellations.',
  takes: ['period'],
  dimensions: ['peril', 'month', 'day', 'transaction'],
  usual: ['product', 'peril'],
  needs: () => ({ journal: true }),
  columns: () => [
    ...TRANSACTION_COLUMNS,
    amount('premium', 'Written premium.'),
    amount('heldBack', 'Amount that a cancellation does not refund.'),
    amount('openingPremium', 'Written before the policy was imported from another system.'),
  ],
  *lines({ journal }, parameters) {
    for (const row of journal) {
      const sums = new Map<string, { entry: JournalEntry; premium: number; heldBack: number }>()
      for (const entry of row.entries) {
        if (entry.account !== 'premium' && entry.account !== 'holdback') continue
        if (!isWithin(parameters, bookedAt(row, entry))) continue
        const peril = entry.peril ?? ''
        const known = sums.get(peril) ?? { entry, premium: 0, heldBack: 0 }
        known[entry.account === 'premium' ? 'premium' : 'heldBack'] -= entry.minor
        sums.set(peril, known)
      }
      for (const { entry, premium, heldBack } of sums.values()) {
        // Amounts held back in another system are not premium either. The `charges` report has them.
        const amounts = sumsAnotherSystem(row) ? [0, 0, premium] : [premium, heldBack, 0]
        if (amounts.every(minor => minor === 0)) continue
        const booked = bookedAt(row, entry)
        yield {
          currency: row.currency,
          row,
          entry,
          booked,
          cells: [...transactionCells(row, booked), ...amounts],
        }
      }
    }
  },
}

/** One line for each policy and peril. */
export const earnedPremium: ReportKind = {
  name: 'earnedPremium',
  title: 'Earned premium',
  about:
    'For premium written before the end of the period: the parts that are earned before it, in it, and after it.',
  takes: ['period', 'earning'],
  dimensions: ['peril'],
  usual: ['product', 'peril'],
  needs: () => ({ journal: true }),
  columns: () => [
    amount('written', 'Written premium booked before the end of the period.'),
    amount('earnedBefore', 'Earned before the period.'),
    amount('earned', 'Earned in the period.'),
    amount('unearned', 'Not earned at the end of the period.'),
  ],
  *lines({ policy, journal }, { from, to, earning }) {
    if (!policy) return
    const terms = { earning, zone: policy.timeZone, currency: policy.currency }
    const perils = new Map<string, { written: number; before: number; after: number }>()
    const add = (rows: readonly StoredJournalRow[], at: Instant, name: 'before' | 'after'): void => {
      for (const span of premiumSpans(rows)) {
        const sums = perils.get(span.peril) ?? { written: 0, before: 0, after: 0 }
        sums[name] += earnedOf(span, at, terms)
        if (name === 'after') sums.written += span.minor
        perils.set(span.peril, sums)
      }
    }
    add(bookedBefore(journal, from), from, 'before')
    const booked = bookedBefore(journal, to)
    add(booked, to, 'after')
    const row = booked.findLast(one => one.entries.some(entry => entry.account === 'premium'))
    for (const [peril, { written, before, after }] of perils) {
      const cells = [written, before, after - before, written - after]
      if (cells.every(cell => cell === 0)) continue
      yield { currency: policy.currency, cells, own: { peril }, ...(row && { row }) } satisfies ReportLine
    }
  },
}

/** Returns the rows whose premium entries are booked before the time. */
const bookedBefore = (journal: readonly StoredJournalRow[], at: Instant): StoredJournalRow[] =>
  journal.filter(({ effectiveAt, closedUntil }) => effectiveAt < at && closedUntil < at)
