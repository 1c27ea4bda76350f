// Receivables and payments.
import type { Uuid } from '../../kernel/locators.ts'
import { DAY_MS, type Instant, startOfDay, type TimeZone } from '../../kernel/time.ts'
import type { JournalEntry, StoredJournalRow } from '../../policy/journal/rows.ts'
import type { ReportKind } from '../kind.ts'
import { isWithin } from './premiums.ts'

const BANDS = [
  [30, '1-30'],
  [60, '31-60'],
  [90, '61-90'],
] as const

/** Returns the number of days after the due date. If it is 0 or less, the amount is not past due. */
const daysPastDue = (due: Instant, at: Instant, zone: TimeZone): number =>
  Math.round((startOfDay(at, zone) - startOfDay(due, zone)) / DAY_MS)

const bandOf = (days: number): string =>
  days <= 0 ? 'notDue' : (BANDS.find(([most]) => days <= most)?.[1] ?? 'over90')

export const receivables: ReportKind = {
  name: 'receivables',
  title: 'Receivables by age',
  about:
    'Amounts due on invoices at a given time, by how long they are past due; amounts not invoiced yet; and credit.',
  takes: ['at'],
  dimensions: ['age'],
  usual: ['age'],
  needs: () => ({ journal: true }),
  columns: () => [
    {
      name: 'invoiceLocator',
      type: 'text',
      about: 'The invoice. Empty for amounts that are not invoiced, and for credit.',
    },
    { name: 'dueAt', type: 'time', about: 'The due time of the invoice.' },
    { name: 'daysPastDue', type: 'integer', about: 'Whole days since the due day.' },
    {
      name: 'receivable',
      type: 'amount',
      about: 'Amount invoiced and not settled; negative for refunds that are owed.',
      isMeasure: true,
    },
    { name: 'unbilled', type: 'amount', about: 'Amount charged and not invoiced yet.', isMeasure: true },
    {
      name: 'credit',
      type: 'amount',
      about: 'Money of policyholders that has not paid an invoice yet.',
      isMeasure: true,
    },
  ],
  *lines({ journal }, { at }, { timeZone }) {
    const rows = journal.filter(row => row.at < at)
    const last = rows.at(-1)
    if (!last) return
    const invoices = new Map<Uuid, { minor: number; due: Instant }>()
    let [unbilled, credit] = [0, 0]
    for (const { account, minor, invoice, due } of rows.flatMap(({ entries }) => entries)) {
      if (account === 'unbilled') unbilled += minor
      else if (account === 'credit') credit -= minor
      else if (account === 'receivable' && invoice && due !== undefined)
        invoices.set(invoice, { minor: (invoices.get(invoice)?.minor ?? 0) + minor, due })
    }
    const line = { currency: last.currency, row: last }
    for (const [invoice, { minor, due }] of invoices) {
      if (minor === 0) continue
      const days = daysPastDue(due, at, timeZone)
      yield { ...line, cells: [invoice, due, Math.max(0, days), minor, 0, 0], own: { age: bandOf(days) } }
    }
    if (unbilled !== 0) yield { ...line, cells: [null, null, null, 0, unbilled, 0], own: { age: 'unbilled' } }
    if (credit !== 0) yield { ...line, cells: [null, null, null, 0, 0, credit], own: { age: 'credit' } }
  },
}

/** Amounts are positive, except when a write-off or disbursement is taken back. */
type Movement = { readonly type: string; readonly minor: number; readonly entry: JournalEntry }

/** By the sign of the amount posted to the account. Credit is a liability, which negative amounts increase. */
const MOVEMENT_TYPES = {
  cash: { in: 'received', out: 'refunded' },
  credit: { in: 'creditUsed', out: 'creditMade' },
} as const

/** `moved` contains what earlier rows posted of each payment. A movement that takes it back is a reversal. */
function* movementsOf(row: StoredJournalRow, moved: Map<string, number>): Generator<Movement> {
  for (const entry of row.entries) {
    const { account, minor, payment } = entry
    if (account === 'writtenOff') yield { type: 'writtenOff', minor, entry }
    if (!payment || (account !== 'cash' && account !== 'credit')) continue
    const key = `${account} ${payment}`
    const earlier = moved.get(key) ?? 0
    moved.set(key, earlier + minor)
    if (row.kind === 'disbursement') {
      if (account === 'cash') yield { type: 'disbursed', minor: -minor, entry }
      continue
    }
    const isReversal = earlier !== 0 && Math.sign(earlier) !== Math.sign(minor)
    // A reversal has the type of the movement that it takes back, and the opposite sign.
    const { in: into, out } = MOVEMENT_TYPES[account]
    const type = minor > 0 === isReversal ? out : into
    yield { type: isReversal ? `${type}Reversed` : type, minor: Math.abs(minor), entry }
  }
}

export const payments: ReportKind = {
  name: 'payments',
  title: 'Payments',
  about:
    'Money movements in the period: received, refunded, reversed, turned into credit, used, disbursed, written off.',
  takes: ['period'],
  dimensions: ['type', 'month', 'day'],
  usual: ['type'],
  needs: () => ({ journal: true }),
  columns: () => [
    { name: 'paymentLocator', type: 'text', about: 'The payment or disbursement. Empty for write-offs.' },
    { name: 'invoiceLocator', type: 'text', about: 'The invoice.' },
    { name: 'recordedAt', type: 'time', about: 'The time when it was recorded.' },
    {
      name: 'amount',
      type: 'amount',
      about:
        'The amount moved, in the direction of the type. Negative only if a write-off or disbursement is reversed.',
      isMeasure: true,
    },
  ],
  *lines({ journal }, parameters) {
    const moved = new Map<string, number>()
    for (const row of journal)
      for (const { type, minor, entry } of movementsOf(row, moved)) {
        // Movements in another system do not belong to the period.
        if (row.kind === 'opening' || !isWithin(parameters, row.at)) continue
        yield {
          currency: row.currency,
          row,
          entry,
          booked: row.at,
          own: { type },
          cells: [entry.payment ?? null, entry.invoice ?? null, row.at, minor],
        }
      }
  },
}
