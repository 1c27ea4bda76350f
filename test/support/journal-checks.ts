// Invariants of a policy's journal, whatever was done to the policy.
import { expect } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import {
  droppedFees,
  futureInstallments,
  isBilled,
  plannedTotals,
  restDue,
  totalsDueOf,
} from '../../src/policy/bills/amounts-due.ts'
import { isIssued, isListed } from '../../src/policy/fold/line.ts'
import { earnedOf, premiumSpans } from '../../src/policy/journal/earned.ts'
import { totalOf } from '../../src/policy/journal/entries.ts'
import { journalOf } from '../../src/policy/journal/history.ts'
import { isBillingEntry, type JournalRow } from '../../src/policy/journal/rows.ts'
import { policyAsKnownAt } from '../../src/policy/projection/as-known.ts'
import type { PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import { isOutstanding } from '../../src/policy/records/invoice.ts'
import type { AccountName } from '../../src/product/books.ts'
import { same } from './story-checks.ts'

/** Both sides of each row sum to zero. Only rows of transactions may be without amounts. */
export function expectRowsBalance(rows: readonly JournalRow[]): void {
  const balances = ({ kind, entries, modificationLocator }: JournalRow): boolean =>
    (entries.length > 0 || modificationLocator !== undefined) &&
    entries.every(({ minor }) => Number.isSafeInteger(minor) && minor !== 0) &&
    totalOf(entries) === 0 &&
    (kind === 'opening' || totalOf(entries.filter(isBillingEntry)) === 0)
  expect(rows.filter(row => !balances(row))).toEqual([])
}

/**
 * Sums entries by time and place, without sums of zero. Ignores due times: if an invoice is paid and reopened at the same time,
 * the records know only the last one.
 */
function sumsByTimeAndPlace(rows: readonly JournalRow[]): Record<string, number> {
  const sums = new Map<string, number>()
  for (const { at, effectiveAt, entries } of rows)
    for (const entry of entries) {
      const { minor, due: _, ...place } = entry
      const booked = isBillingEntry(entry) ? at : effectiveAt
      const key = `${at} ${booked} ${JSON.stringify(Object.entries(place).sort())}`
      sums.set(key, (sums.get(key) ?? 0) + minor)
    }
  return Object.fromEntries([...sums].filter(([, minor]) => minor !== 0).sort())
}

/** The rows that commits posted are those that follow from the records. */
export const expectPostedFollowsRecords = (posted: readonly JournalRow[], aggregate: PolicyAggregate): void =>
  same(sumsByTimeAndPlace(posted), sumsByTimeAndPlace(journalOf(aggregate)))

/** The balance of an account in minor units. Debits are positive. */
export const balanceOf = (rows: readonly JournalRow[], account: AccountName): number =>
  totalOf(rows.flatMap(({ entries }) => entries.filter(entry => entry.account === account)))

/** Written premium is the sum of the price changes. Amounts that cancellations hold back are in another account. */
export function expectWrittenIsPriceChanges(rows: readonly JournalRow[], aggregate: PolicyAggregate): void {
  const issued = [...aggregate.modifications.values()].filter(isIssued)
  const changes = issued.reduce((sum, { premiumChange }) => sum + (premiumChange?.minor ?? 0), 0)
  expect(0 - balanceOf(rows, 'premium')).toBe(changes)
}

/** At any time, earned plus unearned premium is the written premium. */
export function expectEarnedSumsToWritten(
  rows: readonly JournalRow[],
  { policy }: PolicyAggregate,
  times: readonly Instant[],
): void {
  const written = 0 - balanceOf(rows, 'premium')
  const spans = premiumSpans(rows)
  expect(spans.reduce((sum, { minor }) => sum + minor, 0)).toBe(written)
  for (const earning of ['product', 'daily'] as const) {
    const terms = { earning, zone: policy.timeZone, currency: policy.currency }
    for (const span of spans) {
      const { minor, start, end } = span
      const isPartOfIt = (earned: number): boolean =>
        Math.abs(earned) <= Math.abs(minor) && (earned === 0 || Math.sign(earned) === Math.sign(minor))
      expect(times.filter(at => !isPartOfIt(earnedOf(span, at, terms)))).toEqual([])
      expect([start, end].map(at => earnedOf(span, at, terms))).toEqual([0, minor])
    }
  }
}

/** The receivable of each invoice is what the invoice still asks for. */
export function expectReceivablesMatchInvoices(
  rows: readonly JournalRow[],
  aggregate: PolicyAggregate,
): void {
  const owed = new Map<string, number>()
  for (const { entries } of rows)
    for (const { account, invoice, minor } of entries)
      if (account === 'receivable') owed.set(invoice!, (owed.get(invoice!) ?? 0) + minor)
  const totalDueOf = totalsDueOf(aggregate)
  for (const invoice of aggregate.invoices.values())
    expect(owed.get(invoice.locator) ?? 0).toBe(
      isOutstanding(invoice) ? restDue(aggregate, invoice, totalDueOf(invoice)).minor : 0,
    )
}

/** Cash and credit are the sums of the payments that are not reversed. */
export function expectCashMatchesPayments(rows: readonly JournalRow[], { payments }: PolicyAggregate): void {
  const standing = [...payments.values()].filter(({ reversedAt }) => reversedAt === undefined)
  const received = standing.filter(({ source }) => source !== 'credit' && source !== 'offset')
  const used = standing.filter(({ source }) => source === 'credit')
  expect(balanceOf(rows, 'cash')).toBe(received.reduce((sum, { amount }) => sum + amount.minor, 0))
  expect(0 - balanceOf(rows, 'credit')).toBe(
    received.reduce((sum, { credited }) => sum + credited.minor, 0) -
      used.reduce((sum, { amount }) => sum + amount.minor, 0),
  )
}

/**
 * What is charged and not yet invoiced is what the planned invoices bill. Fees of installments are only charged with their
 * invoices.
 */
export function expectUnbilledIsPlanned(rows: readonly JournalRow[], aggregate: PolicyAggregate): void {
  const open = futureInstallments(aggregate)
  const fees = open.flatMap(one => droppedFees(aggregate, one))
  const planned = plannedTotals(aggregate).reduce((sum, { minor }) => sum + minor, 0)
  expect(balanceOf(rows, 'unbilled')).toBe(fees.reduce((sum, { amount }) => sum - amount.minor, planned))
}

/** The rows up to a time are the journal of the policy as known at that time. */
export function expectSameJournalAsKnown(aggregate: PolicyAggregate, times: readonly Instant[]): void {
  const rows = journalOf(aggregate)
  for (const at of times) {
    const known = policyAsKnownAt(aggregate, at)
    same(
      sumsByTimeAndPlace(rows.filter(row => row.at <= at)),
      known ? sumsByTimeAndPlace(journalOf(known)) : {},
    )
  }
}

/** Once cover has ended, nothing of it is written later: what was to take effect later is taken back when it would have. */
export function expectNothingWrittenAfterEnd(
  rows: readonly JournalRow[],
  { modifications }: PolicyAggregate,
): void {
  const last = [...modifications.values()]
    .filter(modification => isIssued(modification) && isListed(modification))
    .sort((a, b) => a.number - b.number)
    .at(-1)
  if (!last || !['cancellation', 'lapse', 'withdrawal'].includes(last.kind)) return
  const times = new Set(rows.map(row => row.effectiveAt).filter(at => at > last.effectiveAt))
  for (const time of times) {
    const premium = rows
      .filter(row => row.effectiveAt === time)
      .flatMap(row => row.entries.filter(entry => entry.account === 'premium'))
    expect([time, totalOf(premium)]).toEqual([time, 0])
  }
}

/**
 * Checks all invariants of the journal that commits posted for a policy. `times` are arbitrary times at which earned premium and
 * the known policy are checked.
 */
export function expectJournalConsistent(
  posted: readonly JournalRow[],
  aggregate: PolicyAggregate,
  times: readonly Instant[],
): void {
  const moments = [...new Set(times)]
  expectRowsBalance(posted)
  expectPostedFollowsRecords(posted, aggregate)
  expectWrittenIsPriceChanges(posted, aggregate)
  expectEarnedSumsToWritten(posted, aggregate, moments)
  expectNothingWrittenAfterEnd(posted, aggregate)
  expectReceivablesMatchInvoices(posted, aggregate)
  expectCashMatchesPayments(posted, aggregate)
  if (!hasPending(aggregate)) expectUnbilledIsPlanned(posted, aggregate)
  expectSameJournalAsKnown(aggregate, moments)
}

/** Whether something is billed that is not issued yet. */
const hasPending = (aggregate: PolicyAggregate): boolean =>
  [...aggregate.modifications.values()].some(
    modification => isBilled(aggregate, modification) && modification.issuedAt === undefined,
  )
