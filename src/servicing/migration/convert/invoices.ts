// Invoices of an account (rule 8 of resources brief 9.3). An invoice of several policies becomes one invoice for each policy.

import { type Money, minus, sum, sumOf } from '../../../kernel/money.ts'
import { earlier, timeZone as zoneNamed } from '../../../kernel/time.ts'
import { totalsDueOf } from '../../../policy/bills/amounts-due.ts'
import { type PolicyAggregate, putRecords } from '../../../policy/records/aggregate.ts'
import {
  appliedAmount,
  type Invoice,
  invoiceStatus,
  isOutstanding,
  paymentState,
} from '../../../policy/records/invoice.ts'
import { combineSteps, type Planned } from '../../../policy/transitions.ts'
import { planPaymentConsequences } from '../../../transactions/payments/settling.ts'
import { invoiceInstallmentsOf, keepOpposites } from './bills.ts'
import {
  type AccountRequest,
  type AddedParts,
  checkCurrency,
  type EarlierInvoice,
  type EarlierPart,
  type InvoiceItem,
  liveInvoices,
  type Part,
  type PolicyChange,
  type Work,
} from './converted.ts'
import type { ConvertedPolicy } from './policy.ts'

/** The parts that payments can pay. */
export const partsOf = ({ earlier, added }: InvoiceItem): Part[] => [...(earlier?.open ?? []), ...added]

/** `paid` includes earlier payments. */
export function balanceOf(item: InvoiceItem, none: Money): { total: Money; paid: Money; rest: Money } {
  const { currency } = none
  const total = sumOf(partsOf(item), part => part.due, currency)
  const before = (item.earlier?.open ?? []).map(part => minus(part.due, restOf(part)))
  const paid = sum([...before, ...item.received], currency)
  return { total, paid, rest: minus(total, paid) }
}

/** Returns the amount due less posted payments, without what these overpaid. Negative for a refund. */
export function restOf({ making, invoice, due }: Part): Money {
  const posted = [...making.payments.values()].filter(
    payment => payment.invoiceLocator === invoice && paymentState(payment) === 'posted',
  )
  return minus(due, sumOf(posted, appliedAmount, due.currency))
}

/** Reads the earlier invoices that the request names, then its own, into `work.invoices`. Adds what is wrong to the findings. */
export function readInvoices(work: Work): void {
  const { request, context, findings, warnings, invoices } = work
  for (const [id, earlier] of context.existing?.invoices ?? []) {
    invoices.set(id, earlierItem(work, id, earlier))
    findings.addEarlierInvoice(id)
  }
  for (const invoice of findings.withoutRepeatedIds('invoices', request.invoices)) {
    const { id, currency, timezone, startTime, endTime, generateTime, dueTime, invoiceState } = invoice
    // The invoice exists, so without generateTime it is created now at the latest.
    const createdAt = generateTime ?? earlier(startTime, context.now)
    const times = { createdAt, start: startTime, end: endTime, dueAt: dueTime }
    const isRestGivenUp = invoice.restGivenUp
    invoices.set(id, { id, state: invoiceState, isRestGivenUp, times, added: [], received: [] })
    checkCurrency(work, 'invoices', id, currency)
    if (timezone !== undefined && !zoneNamed(timezone))
      findings.wrong('invoices', id, 'timezone must be the IANA name of a time zone, such as Europe/Berlin.')
    if (startTime > endTime) findings.wrong('invoices', id, 'startTime must not be after endTime.')
    if (generateTime !== undefined && generateTime > dueTime)
      warnings.add('invoice', id, 'generateTime is after dueTime.')
    if (times.createdAt > context.now)
      warnings.add(
        'invoice',
        id,
        'generateTime is in the future. Send what is not invoiced yet as an installment without invoiceId.',
      )
  }
}

/** Creates one invoice for each policy that the invoice bills. */
export function makeInvoices(work: Work, policies: ReadonlyMap<string, ConvertedPolicy>): void {
  const { context, findings, none } = work
  const { supply } = context
  const billed = Map.groupBy(
    [...policies.values()].flatMap(({ making, invoiced }) =>
      [...invoiced].map(([id, installments]) => ({ id, making, installments })),
    ),
    ({ id }) => id,
  )
  const made = liveInvoices(work).map(item => {
    const parts = (billed.get(item.id) ?? []).map(({ making, installments }) => ({
      making,
      invoice: invoiceInstallmentsOf(making, item.times, installments, supply),
    }))
    return { item, parts }
  })
  for (const { item, parts } of made)
    if (parts.length === 0 && !item.earlier && item.state !== 'discarded')
      findings.wrong(
        'invoices',
        item.id,
        'id must be the invoiceId of an installment, because an invoice without installments bills nothing.',
      )
  findings.block()
  for (const [id, { making }] of policies) if (!findings.fails('policies', id)) keepOpposites(making, supply)
  // Once for each policy, because the total of one invoice depends on all invoices of its modification.
  const dueOf = new Map([...policies.values()].map(({ making }) => [making, totalsDueOf(making)] as const))
  for (const { item, parts } of made)
    item.added = parts.map(({ making, invoice }) => ({
      making,
      invoice: invoice.locator,
      due: findings.fails('invoices', item.id) ? none : dueOf.get(making)!(invoice),
    }))
}

// Earlier migrated invoices (rule 7 of resources brief 9.3). The request may pay them, or bill further policies on them, which get
// separate invoices. Paying has the effects of a live payment (it settles grace periods and closes reinstatements that wait for
// the invoice), but sends no events.
/** Returns the ids of invoices that the request names but does not contain. */
export function earlierInvoiceIds({ policies, invoices, payments }: AccountRequest): Set<string> {
  const installments = policies.flatMap(({ terms }) =>
    terms.flatMap(({ transactions }) => transactions.flatMap(transaction => transaction.installments)),
  )
  const items = [...installments, ...payments.flatMap(({ paymentItems }) => paymentItems)]
  const named = new Set(items.flatMap(({ invoiceId }) => invoiceId ?? []))
  for (const { id } of invoices) named.delete(id)
  return named
}

/** Whether a payment is all credit, which needs the account's last invoice. */
export const hasCreditOnlyPayment = ({ payments }: AccountRequest): boolean =>
  payments.some(({ paymentItems }) => paymentItems.every(({ invoiceId }) => invoiceId === undefined))

const recordOf = ({ policy, invoice }: EarlierPart): Invoice => policy.aggregate.invoices.get(invoice)!

/** Returns a copy of the part that payments of the request can change. */
export function earlierPart({ copies }: Work, part: EarlierPart): Part {
  const { policy, invoice } = part
  const { aggregate } = policy
  const copy = copies.get(policy) ?? {
    making: { invoices: new Map(aggregate.invoices), payments: new Map(aggregate.payments) },
    dueOf: totalsDueOf(aggregate),
  }
  copies.set(policy, copy)
  return { making: copy.making, invoice, due: copy.dueOf(recordOf(part)) }
}

function earlierItem(work: Work, id: string, { parts, isStatedSettled }: EarlierInvoice): InvoiceItem {
  const records = parts.map(recordOf)
  return {
    id,
    state: earlierState(records, isStatedSettled),
    times: records[0]!,
    added: [],
    received: [],
    earlier: {
      open: parts.filter(part => isOutstanding(recordOf(part))).map(part => earlierPart(work, part)),
      home: earlierPart(work, parts[0]),
      statuses: records.map(invoiceStatus),
    },
  }
}

/** Settled only if the request states it; otherwise the state follows from the payments. */
function earlierState(records: readonly Invoice[], isStatedSettled: boolean): InvoiceItem['state'] {
  if (records.every(isDiscarded)) return 'discarded'
  return isStatedSettled && !records.some(isOutstanding) ? 'settled' : undefined
}

/** Only an invoice that was migrated as discarded is written off at its creation. */
const isDiscarded = ({ createdAt, statuses }: Invoice): boolean =>
  statuses.at(-1)!.status === 'writtenOff' && statuses.at(-1)!.at === createdAt

/** Returns the earlier policies that payments of the request change. */
export const changesOf = (work: Work): PolicyChange[] =>
  [...work.copies].flatMap(([policy, { making }]) => changeOf(policy, making, work.context) ?? [])

/** Returns the changes that payments of the request make to a policy that was migrated before, or undefined if there are none. */
function changeOf(
  { aggregate: before, product }: EarlierPart['policy'],
  { invoices, payments }: Part['making'],
  { now, supply }: Work['context'],
): PolicyChange | undefined {
  const made = [...payments.values()].filter(one => !before.payments.has(one.locator))
  if (made.length === 0) return undefined
  const paid = new Set(made.filter(one => appliedAmount(one).minor !== 0).map(one => one.invoiceLocator))
  const changed = [...paid].map((locator): Invoice => ({ ...invoices.get(locator)!, updatedAt: now }))
  const aggregate: PolicyAggregate = {
    ...before,
    policy: { ...before.policy, version: before.policy.version + 1 },
    invoices: putRecords(before.invoices, changed),
    payments,
  }
  // Takes no digits, because a payment only issues reinstatements that wait for an invoice created here.
  const settled = changed.reduce<Planned>(
    (planned, { locator }) => {
      const invoice = planned.aggregate.invoices.get(locator)!
      return combineSteps(
        planned,
        planPaymentConsequences(planned.aggregate, invoice, { product, now, supply }),
      )
    },
    { aggregate, events: [] },
  )
  return { before, after: settled.aggregate, product, timers: settled.timers ?? [] }
}

/** Returns the invoices that the request adds to earlier migrated ones, without those that fail. */
export const addedParts = (work: Work): AddedParts[] =>
  liveInvoices(work).flatMap(({ id, earlier, added }) =>
    earlier && added.length > 0 ? [{ originalId: id, parts: added.map(part => part.invoice) }] : [],
  )
