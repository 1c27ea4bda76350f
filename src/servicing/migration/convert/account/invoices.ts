// The invoices of an account: read, then made of the installments that went on them, once its policies stand.
import { type Money, minus, sum, sumOf } from '../../../../kernel/money.ts'
import { earlier, timeZone as zoneNamed } from '../../../../kernel/time.ts'
import { totalsDueOf } from '../../../../policy/bills/amounts-due.ts'
import { type PolicyAggregate, putRecords } from '../../../../policy/records/aggregate.ts'
import {
  applied,
  type Invoice,
  type InvoiceStatus,
  invoiceStatus,
  isOutstanding,
} from '../../../../policy/records/invoice.ts'
import { chain, type Planned } from '../../../../policy/transitions.ts'
import { planWhatPaymentSettles } from '../../../../transactions/payments/settling.ts'
import type { InvoiceMigrationRequest } from '../../contract-request.ts'
import type { ItemKind } from '../../item.ts'
import { type InvoiceTimes, invoiceInstallmentsOf, keepOpposites } from '../bills.ts'
import {
  type AccountRequest,
  type AddedParts,
  type EarlierInvoice,
  type EarlierPart,
  type EarlierPolicy,
  type Part,
  type Payable,
  type PolicyChange,
  restOf,
  type Work,
} from '../converted.ts'
import type { ConvertedPolicy } from '../policy.ts'

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
  const total = sumOf(partsOf(item), part => part.due, currency)
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

// Invoices that were migrated before (rule 7 of resources brief 9.3). The request may pay them or add installments of further
// policies, which become invoices of their own beside them. The total is the sum of all, and each is paid for itself.
//
// Paying has the effects of a live payment: it settles grace periods, and closes reinstatements that rest on the unpaid invoice. It
// sends no events.
/** Invoices that the request names and does not bring itself, by their ids. */
export function namedBefore({ policies, invoices, payments }: AccountRequest): Set<string> {
  const named = new Set<string>()
  const name = ({ invoiceId }: { readonly invoiceId?: string | undefined }): void => {
    if (invoiceId !== undefined) named.add(invoiceId)
  }
  for (const { terms } of policies)
    for (const { transactions } of terms)
      for (const { installments } of transactions) installments.forEach(name)
  for (const { paymentItems } of payments) paymentItems.forEach(name)
  for (const { id } of invoices) named.delete(id)
  return named
}

/** Whether a payment is all credit, for which the account's last invoice is needed. */
export const hasMereCredit = ({ payments }: AccountRequest): boolean =>
  payments.some(({ paymentItems }) => paymentItems.every(({ invoiceId }) => invoiceId === undefined))

/** Policies that were there before, each with copies of the records that payments change. */
export class EarlierPolicies {
  readonly #copies = new Map<EarlierPolicy, Copy>()

  partOf(part: EarlierPart): Part {
    const { policy, invoice } = part
    const copy = this.#copies.get(policy) ?? copied(policy)
    this.#copies.set(policy, copy)
    return { making: copy.making, invoice, due: copy.dueOf(recordOf(part)) }
  }

  /** What became of those that were paid. */
  changes({ context: { now, supply } }: Work): PolicyChange[] {
    return [...this.#copies].flatMap(([{ aggregate: before, product }, { making }]) => {
      const { invoices, payments } = making
      const made = [...payments.values()].filter(one => !before.payments.has(one.locator))
      if (made.length === 0) return []
      const paid = new Set(made.filter(one => applied(one).minor !== 0).map(one => one.invoiceLocator))
      const changed = [...paid].map((locator): Invoice => ({ ...invoices.get(locator)!, updatedAt: now }))
      const aggregate: PolicyAggregate = {
        ...before,
        policy: { ...before.policy, version: before.policy.version + 1 },
        invoices: putRecords(before.invoices, changed),
        payments,
      }
      // Takes no digits: what a payment issues waits for an invoice that was made here.
      const settled = changed.reduce<Planned>(
        (planned, { locator }) => {
          const invoice = planned.aggregate.invoices.get(locator)!
          return chain(planned, planWhatPaymentSettles(planned.aggregate, invoice, { product, now, supply }))
        },
        { aggregate, events: [] },
      )
      return [{ before, after: settled.aggregate, product, timers: settled.timers ?? [] }]
    })
  }
}

type Copy = { readonly making: Payable; readonly dueOf: (invoice: Invoice) => Money }

const copied = ({ aggregate }: EarlierPolicy): Copy => ({
  making: { invoices: new Map(aggregate.invoices), payments: new Map(aggregate.payments) },
  dueOf: totalsDueOf(aggregate),
})

/** Invoices of before, by their ids. */
export const earlierInvoices = ({ context }: Work, policies: EarlierPolicies): Map<string, InvoiceItem> =>
  new Map(
    [...(context.existing?.invoices ?? [])].map(([id, earlier]) => {
      const records = earlier.parts.map(recordOf)
      const open = earlier.parts.filter(part => isOutstanding(recordOf(part)))
      const item: InvoiceItem = {
        ...{ id, state: stateOf(earlier), times: records[0]!, added: [], received: [] },
        earlier: {
          open: open.map(part => policies.partOf(part)),
          home: policies.partOf(earlier.parts[0]),
          statuses: records.map(invoiceStatus),
        },
      }
      return [id, item]
    }),
  )

const recordOf = ({ policy, invoice }: EarlierPart): Invoice => policy.aggregate.invoices.get(invoice)!

/** The state of an invoice with what was added: discarded if it was; settled if the request says so and it is; else as it was paid. */
function stateOf({ parts, isToldSettled }: EarlierInvoice): InvoiceItem['state'] {
  const records = parts.map(recordOf)
  if (records.every(isDiscarded)) return 'discarded'
  return isToldSettled && !records.some(isOutstanding) ? 'settled' : undefined
}

/** Given up as it was made: so is one that was migrated as discarded, and none that was given up later. */
const isDiscarded = ({ createdAt, statuses }: Invoice): boolean =>
  statuses.at(-1)!.status === 'writtenOff' && statuses.at(-1)!.at === createdAt

/** The invoices that policies of the request add to those of before. */
export const addedParts = ({ findings }: Work, invoices: Invoices): AddedParts[] =>
  [...invoices.values()].flatMap(({ id, earlier, added }) =>
    earlier && added.length > 0 && !findings.fails('invoices', id)
      ? [{ originalId: id, parts: added.map(part => part.invoice) }]
      : [],
  )
