// Invoices that were migrated for the account before (rule 7 of resources brief 9.3): the request may pay them, and installments
// of further policies may have gone on them. What they bill already stays as it is; what such a policy adds is an invoice
// of its own beside them, as of any invoice of several policies. The total is the sum of all, and each is paid for itself.
//
// What a live payment would do beside paying is done too: a grace period is settled, a reinstatement that rests on the unpaid
// invoice is closed. Nobody is told.

import type { Money } from '../../../../kernel/money.ts'
import { totalsDueOf } from '../../../../policy/bills/amounts-due.ts'
import { chain, type Planned } from '../../../../policy/planned.ts'
import { type PolicyAggregate, putRecords } from '../../../../policy/records/aggregate.ts'
import { type Invoice, invoiceStatus, isOutstanding } from '../../../../policy/records/invoice.ts'
import { applied } from '../../../../policy/records/payment.ts'
import { planWhatPaymentSettles } from '../../../../transactions/lapses/settlement.ts'
import type { AddedParts, EarlierInvoice, EarlierPart, EarlierPolicy, PolicyChange } from '../converted.ts'
import type { Part, Payable } from '../money-moves.ts'
import type { InvoiceItem, Invoices } from './invoices.ts'
import type { AccountRequest, Work } from './work.ts'

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

/**
 * Discarded as a whole, what is added to it is too. One that the request itself says is settled, and that is, stays so: what is
 * added to it must be covered. Of any other the state follows from what is paid.
 */
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
