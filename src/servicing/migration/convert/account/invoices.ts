// The invoices of an account: read, then made of the installments that went on them, once its policies stand.

import { type Money, minus, sum } from '../../../../kernel/money.ts'
import { earlier, timeZone as zoneNamed } from '../../../../kernel/time.ts'
import { totalsDueOf } from '../../../../policy/bills/amounts-due.ts'
import type { InvoiceStatus } from '../../../../policy/records/invoice.ts'
import type { InvoiceMigrationRequest } from '../../contract-request.ts'
import type { ItemKind } from '../../item.ts'
import { type InvoiceTimes, invoiceInstallmentsOf, keepOpposites } from '../bills.ts'
import { type Part, restOf } from '../money-moves.ts'
import type { ConvertedPolicy } from '../policy.ts'
import { type EarlierPolicies, earlierInvoices } from './earlier.ts'
import type { Work } from './work.ts'

export type InvoiceItem = {
  readonly id: string
  /** What it is to be; derived from payments where nothing says it. */
  readonly state: InvoiceMigrationRequest['invoiceState']
  readonly times: InvoiceTimes
  /** What there is of it already; absent where the request brings it. */
  readonly earlier?: Earlier
  /** Of each policy of the request that it bills, once they stand. */
  added: Part[]
  /** What payments of the request pay of it. */
  received: readonly Money[]
}

export type Earlier = {
  /** What is not settled. */
  readonly open: readonly Part[]
  /** The part with which credit stands. */
  readonly home: Part
  readonly statuses: readonly InvoiceStatus[]
}

export type Invoices = ReadonlyMap<string, InvoiceItem>

/** All that may be paid of it. */
export const partsOf = ({ earlier, added }: InvoiceItem): Part[] => [...(earlier?.open ?? []), ...added]

/** What it asks for, what is paid of that (also before), and the difference. */
export function balanceOf(item: InvoiceItem, none: Money): { total: Money; paid: Money; rest: Money } {
  const { currency } = none
  const total = sum(
    partsOf(item).map(part => part.due),
    currency,
  )
  const before = (item.earlier?.open ?? []).map(part => minus(part.due, restOf(part)))
  const paid = sum([...before, ...item.received], currency)
  return { total, paid, rest: minus(total, paid) }
}

/** Those of the request and those of before that it names. */
export function readInvoices(work: Work, policies: EarlierPolicies): Invoices {
  const { request, context, findings, warnings } = work
  const invoices = earlierInvoices(work, policies)
  for (const id of invoices.keys()) findings.isThere(id)
  for (const invoice of findings.singles('invoices', request.invoices)) {
    const { id, currency, timezone, startTime, endTime, generateTime, dueTime, invoiceState } = invoice
    // It is there: where nobody says since when, that is not later than now.
    const createdAt = generateTime ?? earlier(startTime, context.now)
    const times = { createdAt, start: startTime, end: endTime, dueAt: dueTime }
    invoices.set(id, { id, state: invoiceState, times, added: [], received: [] })
    assertCurrency(work, 'invoices', id, currency)
    if (timezone !== undefined && !zoneNamed(timezone))
      findings.wrong('invoices', id, 'timezone must be the IANA name of a time zone, as Europe/Berlin.')
    if (startTime > endTime) findings.wrong('invoices', id, 'startTime must not lie after endTime.')
    if (generateTime !== undefined && generateTime > dueTime)
      warnings.add('invoice', id, 'generateTime lies after dueTime.')
    if (times.createdAt > context.now)
      warnings.add(
        'invoice',
        id,
        'generateTime lies in the future: what is not invoiced yet is an installment without invoiceId.',
      )
  }
  return invoices
}

export function assertCurrency(
  { context, findings }: Work,
  kind: ItemKind,
  id: string,
  currency: string | undefined,
): void {
  const own = context.configuration.currency
  if (currency !== undefined && currency !== own)
    findings.wrong(kind, id, `currency must be ${own}, the currency of the tenant.`)
}

/** What policies of the request put on each invoice. */
export function makeInvoices(
  { context: { supply }, findings, none }: Work,
  invoices: Invoices,
  policies: ReadonlyMap<string, ConvertedPolicy>,
): void {
  const live = [...invoices.values()].filter(({ id }) => !findings.fails('invoices', id))
  const billed = Map.groupBy(
    [...policies.values()].flatMap(({ making, invoiced }) =>
      [...invoiced].map(([id, installments]) => ({ id, making, installments })),
    ),
    ({ id }) => id,
  )
  const partsFor = new Map(
    live.map(item => [
      item,
      (billed.get(item.id) ?? []).map(({ making, installments }) => ({
        making,
        invoice: invoiceInstallmentsOf(making, item.times, installments, supply),
      })),
    ]),
  )
  for (const [{ id, state, earlier }, parts] of partsFor)
    if (parts.length === 0 && !earlier && state !== 'discarded')
      findings.wrong('invoices', id, 'id must be the invoiceId of an installment: the invoice bills nothing.')
  findings.block()
  for (const [id, { making }] of policies) if (!findings.fails('policies', id)) keepOpposites(making, supply)
  // Of each policy once, since what one invoice asks for takes a look at all of its modification's.
  const dueOf = new Map([...policies.values()].map(({ making }) => [making, totalsDueOf(making)] as const))
  for (const [item, parts] of partsFor)
    item.added = parts.map(({ making, invoice }) => ({
      making,
      invoice: invoice.locator,
      due: findings.fails('invoices', item.id) ? none : dueOf.get(making)!(invoice),
    }))
}
