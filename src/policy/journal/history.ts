// The journal of a policy follows from its records, which have the times at which they were made and changed. A commit posts the
// difference between the policy before and after it. The history of a policy goes through all of these times in order.
import type { Uuid } from '../../kernel/locators.ts'
import type { Money } from '../../kernel/money.ts'
import { type Instant, later } from '../../kernel/time.ts'
import { isIssued, isListed, lineOf, type ModificationFilter } from '../fold/line.ts'
import {
  acceptedQuote,
  type Modification,
  type PolicyAggregate,
  selectedQuoteIfAny,
} from '../records/aggregate.ts'
import type { Payment } from '../records/invoice.ts'
import { BillEntries, type InvoiceState, invoiceStateAt, invoiceStateIn } from './bills.ts'
import { Entries } from './entries.ts'
import { isBillingEntry, type JournalEntry, type JournalKind, type JournalRow } from './rows.ts'
import { postingsOf, segmentAt } from './transaction.ts'

/**
 * Returns the rows that a commit at that time posts: none if it issued no transaction and moved no money, otherwise usually one. There
 * is one more for each further transaction that it issued, and for each later time as of which a transaction posts. Looks only at
 * records that are not the same objects as before, so a part of a large policy is enough.
 */
export function journalOfChange(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  at: Instant,
): JournalRow[] {
  const issued =
    before?.modifications === after.modifications
      ? []
      : [...after.modifications.values()].filter(
          one => isIssued(one) && before?.modifications.get(one.locator)?.issuedAt === undefined,
        )
  return rowsOf(after, issued, billChanges(before, after), at)
}

/** Returns the rows of everything that happened to the policy, ordered by time. */
export function journalOf(aggregate: PolicyAggregate): JournalRow[] {
  const issuedAt = Map.groupBy([...aggregate.modifications.values()].filter(isIssued), one => one.issuedAt!)
  const payments = Map.groupBy(aggregate.payments.values(), one => one.invoiceLocator)
  const times = new Set<Instant>(issuedAt.keys())
  const changedAt = new Map<Instant, Uuid[]>()
  for (const invoice of aggregate.invoices.values()) {
    const { invalidatedAt } = aggregate.modifications.get(invoice.policyModificationLocator)!
    const own = [
      invoice.createdAt,
      ...(invalidatedAt === undefined ? [] : [invalidatedAt]),
      ...invoice.statuses.map(one => one.at),
      ...(payments.get(invoice.locator) ?? []).flatMap(({ postedAt, reversedAt }) =>
        reversedAt === undefined ? [postedAt] : [postedAt, reversedAt],
      ),
    ]
    for (const time of new Set(own)) {
      times.add(time)
      changedAt.set(time, [...(changedAt.get(time) ?? []), invoice.locator])
    }
  }
  const known = new Map<Uuid, InvoiceState>()
  return [...times]
    .sort((a, b) => a - b)
    .flatMap(at => {
      const changes = (changedAt.get(at) ?? []).flatMap(locator => {
        const invoice = aggregate.invoices.get(locator)!
        const is = invoiceStateAt(aggregate, invoice, payments.get(locator) ?? [], at)
        const was = known.get(locator)
        if (is) known.set(locator, is)
        return is ? [{ invoice: locator, was, is }] : []
      })
      return rowsOf(aggregate, issuedAt.get(at) ?? [], changes, at)
    })
}

/**
 * Returns the rows with which a policy from another system begins: one that sums everything up to then (`rows`), with premium by the
 * spans over which it is earned and receivables by invoice, and one for each later time as of which something was posted. Empty if
 * nothing remains to post.
 */
export function openingsOf(
  aggregate: PolicyAggregate,
  at: Instant,
  rows: readonly JournalRow[] = journalOf(aggregate),
): JournalRow[] {
  const sums = new Map<Instant, Entries>()
  const dues = new Map(
    rows.flatMap(({ entries }) => entries.flatMap(one => (one.due ? [[one.invoice, one.due] as const] : []))),
  )
  for (const { effectiveAt, entries } of rows)
    for (const entry of entries) {
      const { minor, payment: _payment, invoice, due: _due, ...place } = entry
      const time = isBillingEntry(entry) ? at : later(at, effectiveAt)
      const own = sums.get(time) ?? new Entries()
      sums.set(time, own)
      if (place.account === 'receivable')
        own.add({ ...place, ...(invoice && { invoice, due: dues.get(invoice)! }) }, minor)
      else own.add(place, minor)
    }
  return [...sums]
    .sort(([a], [b]) => a - b)
    .map(([effectiveAt, own]) => ({
      ...rowAt(aggregate, 'opening', at, { effectiveAt }),
      entries: own.list(),
    }))
    .filter(({ entries }) => entries.length > 0)
}

/** Returns the row of credit that was paid out to a policyholder. The amount is positive. */
export const disbursementRow = (
  policyholderLocator: Uuid,
  payment: Uuid,
  { minor, currency }: Money,
  at: Instant,
): JournalRow => ({
  policyholderLocator,
  currency,
  kind: 'disbursement',
  at,
  effectiveAt: at,
  entries: [
    { account: 'credit', minor, payment },
    { account: 'cash', minor: -minor, payment },
  ],
})

type BillChange = {
  readonly invoice: Uuid
  readonly was: InvoiceState | undefined
  readonly is: InvoiceState
}

/**
 * Returns the changes of invoices that the commit made or changed, whose payments it made or changed, or whose transaction it took
 * back.
 */
function billChanges(before: PolicyAggregate | undefined, after: PolicyAggregate): BillChange[] {
  const changed = new Set<Uuid>()
  for (const { locator, invalidatedAt } of after.modifications.values())
    if (invalidatedAt !== undefined && before?.modifications.get(locator)?.invalidatedAt === undefined)
      for (const invoice of after.invoices.values())
        if (invoice.policyModificationLocator === locator) changed.add(invoice.locator)
  for (const invoice of after.invoices.values())
    if (before?.invoices.get(invoice.locator) !== invoice) changed.add(invoice.locator)
  for (const payment of after.payments.values())
    if (before?.payments.get(payment.locator) !== payment) changed.add(payment.invoiceLocator)
  const paymentsByInvoice = (payments: PolicyAggregate['payments'] | undefined): Map<Uuid, Payment[]> =>
    Map.groupBy(payments?.values() ?? [], one => one.invoiceLocator)
  const [earlier, now] = [paymentsByInvoice(before?.payments), paymentsByInvoice(after.payments)]
  return [...changed].map(locator => {
    const was = before?.invoices.get(locator)
    return {
      invoice: locator,
      was: was && invoiceStateIn(before!, was, earlier.get(locator) ?? []),
      is: invoiceStateIn(after, after.invoices.get(locator)!, now.get(locator) ?? []),
    }
  })
}

function rowsOf(
  aggregate: PolicyAggregate,
  issued: readonly Modification[],
  changes: readonly BillChange[],
  at: Instant,
): JournalRow[] {
  const bills = billEntries(aggregate, changes)
  const rows = [...issued]
    .sort((a, b) => a.number - b.number)
    .flatMap((modification): JournalRow[] => {
      const { kind, locator: modificationLocator } = modification
      return postingsOf(aggregate, modification)
        .filter(({ entries }) => entries.length > 0 || isListed(modification))
        .map(({ effectiveAt, entries }) => ({
          ...rowAt(aggregate, kind, at, { ...modification, effectiveAt }),
          modificationLocator,
          entries,
        }))
    })
  if (bills.length === 0) return rows
  const [first, ...others] = rows
  if (first) return [{ ...first, entries: [...first.entries, ...bills] }, ...others]
  const kind = bills.some(({ payment }) => payment !== undefined) ? 'payment' : 'invoice'
  return [{ ...rowAt(aggregate, kind, at), entries: bills }]
}

function billEntries(aggregate: PolicyAggregate, changes: readonly BillChange[]): JournalEntry[] {
  if (changes.length === 0) return []
  const entries = new Entries()
  const bills = new BillEntries(aggregate)
  for (const { invoice, was, is } of changes) bills.add(entries, aggregate.invoices.get(invoice)!, was, is)
  return entries.list()
}

function rowAt(
  aggregate: PolicyAggregate,
  kind: JournalKind,
  at: Instant,
  {
    effectiveAt = at,
    number = Number.POSITIVE_INFINITY,
  }: Partial<Pick<Modification, 'effectiveAt' | 'number'>> = {},
): Omit<JournalRow, 'entries'> {
  const { locator, policyholderLocator, productName, currency } = aggregate.policy
  const quote = acceptedQuote(aggregate) ?? selectedQuoteIfAny(aggregate)
  // The policy as it was then. A transaction that was issued later does not count, even if it was accepted before.
  const counts: ModificationFilter = one => isIssued(one) && one.issuedAt! <= at && one.number <= number
  const line = quote ? lineOf(aggregate, quote, counts) : []
  const segmentLocator = segmentAt(line, effectiveAt)
  return {
    policyLocator: locator,
    policyholderLocator,
    productName,
    currency,
    kind,
    at,
    effectiveAt,
    ...(segmentLocator && { segmentLocator }),
  }
}
