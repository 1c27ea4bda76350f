// Invoices and payments of an account (rules 8 to 10 of resources brief 9.3). An invoice of several policies becomes one invoice
// per policy, and its payments one payment per policy. Money that no invoice asked for is credit, held by the account's last
// invoice. Credit covers settled invoices that payments do not, and receives settled refunds that nobody paid out.

import { paymentFieldValues } from '../../../billing/payments.ts'
import { Refusal } from '../../../kernel/errors.ts'
import { type DisplayId, type Uuid, uuidOfPolicy } from '../../../kernel/locators.ts'
import { type Money, minus, plus, sum, sumOf } from '../../../kernel/money.ts'
import { earlier, type Instant, later, timeZone as zoneNamed } from '../../../kernel/time.ts'
import { totalsDueOf } from '../../../policy/bills/amounts-due.ts'
import type { SettlementType } from '../../../policy/contract/billing.ts'
import { type PolicyAggregate, putRecords } from '../../../policy/records/aggregate.ts'
import {
  applied,
  type Invoice,
  invoiceStatus,
  isOutstanding,
  type Payment,
  paymentState,
} from '../../../policy/records/invoice.ts'
import { chain, type Planned } from '../../../policy/transitions.ts'
import type { FieldValues } from '../../../product/fields/values.ts'
import { planWhatPaymentSettles } from '../../../transactions/payments/settling.ts'
import type { PaymentMigrationRequest } from '../contract-request.ts'
import { invoiceInstallmentsOf, keepOpposites } from './bills.ts'
import {
  type AccountRequest,
  type AddedParts,
  assertCurrency,
  type EarlierInvoice,
  type EarlierPart,
  type InvoiceItem,
  liveInvoices,
  livePayments,
  type Part,
  type PaymentItem,
  type PolicyChange,
  type Work,
} from './converted.ts'
import { readAmount } from './elements.ts'
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

function restOf({ making, invoice, due }: Part): Money {
  const posted = [...making.payments.values()].filter(
    one => one.invoiceLocator === invoice && paymentState(one) === 'posted',
  )
  return minus(due, sumOf(posted, applied, due.currency))
}

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
}

/** Makes one invoice per policy that the invoice bills. */
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
        'id must be the invoiceId of an installment: the invoice bills nothing.',
      )
  findings.block()
  for (const [id, { making }] of policies) if (!findings.fails('policies', id)) keepOpposites(making, supply)
  // Once per policy: the total of one invoice needs all invoices of its modification.
  const dueOf = new Map([...policies.values()].map(({ making }) => [making, totalsDueOf(making)] as const))
  for (const { item, parts } of made)
    item.added = parts.map(({ making, invoice }) => ({
      making,
      invoice: invoice.locator,
      due: findings.fails('invoices', item.id) ? none : dueOf.get(making)!(invoice),
    }))
}

// Earlier migrated invoices (rule 7 of resources brief 9.3). The request may pay them, or bill further policies on them, which
// get invoices of their own. Paying has the effects of a live payment (it settles grace periods and closes reinstatements that wait
// for the invoice), but sends no events.
/** Ids of invoices that the request names but does not contain. */
export function earlierInvoiceIds({ policies, invoices, payments }: AccountRequest): Set<string> {
  const installments = policies.flatMap(({ terms }) =>
    terms.flatMap(({ transactions }) => transactions.flatMap(one => one.installments)),
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

/** A copy of the part that payments of the request can change. */
function earlierPart({ copies }: Work, part: EarlierPart): Part {
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
  const isSettled = isStatedSettled && !records.some(isOutstanding)
  return {
    // Settled only if the request states it; otherwise the state follows from its payments.
    id,
    state: records.every(isDiscarded) ? 'discarded' : isSettled ? 'settled' : undefined,
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

/** Only an invoice migrated as discarded is written off at its creation. */
const isDiscarded = ({ createdAt, statuses }: Invoice): boolean =>
  statuses.at(-1)!.status === 'writtenOff' && statuses.at(-1)!.at === createdAt

export const changesOf = ({ copies, context: { now, supply } }: Work): PolicyChange[] =>
  [...copies].flatMap(
    ([
      { aggregate: before, product },
      {
        making: { invoices, payments },
      },
    ]) => {
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
      // Takes no digits: a payment only issues what waits for an invoice made here.
      const settled = changed.reduce<Planned>(
        (planned, { locator }) => {
          const invoice = planned.aggregate.invoices.get(locator)!
          return chain(planned, planWhatPaymentSettles(planned.aggregate, invoice, { product, now, supply }))
        },
        { aggregate, events: [] },
      )
      return [{ before, after: settled.aggregate, product, timers: settled.timers ?? [] }]
    },
  )

export const addedParts = (work: Work): AddedParts[] =>
  liveInvoices(work).flatMap(({ id, earlier, added }) =>
    earlier && added.length > 0 ? [{ originalId: id, parts: added.map(part => part.invoice) }] : [],
  )

export function readPayments(work: Work): void {
  const { request, context, findings, warnings, none } = work
  for (const payment of findings.withoutRepeatedIds('payments', request.payments)) {
    const { id, paymentItems } = payment
    assertCurrency(work, 'payments', id, payment.currency)
    if (payment.paymentTime > context.now) warnings.add('payment', id, 'paymentTime lies in the future.')
    if (paymentItems.length === 0) findings.wrong('payments', id, 'paymentItems must have at least one item.')
    const byInvoice = new Map<string, Money>()
    let credit = none
    for (const [at, { amount: text, invoiceId }] of paymentItems.entries()) {
      const amount = readAmount(text, none.currency)
      const wrong = (rule: string): void => findings.wrong('payments', id, `paymentItems[${at}].${rule}`)
      if (typeof amount === 'string') wrong(`amount ${amount}`)
      else if (invoiceId === undefined) {
        if (amount.minor < 0) wrong('amount must not be below zero: what no invoice asks for is credit.')
        credit = plus(credit, amount)
      } else if (!work.invoices.has(invoiceId))
        wrong(
          `invoiceId '${invoiceId}' must be the id of an invoice of the request, or of one that was migrated for the account before.`,
        )
      else {
        byInvoice.set(invoiceId, plus(byInvoice.get(invoiceId) ?? none, amount))
        findings.links.add({ kind: 'payments', id, invoice: invoiceId })
      }
    }
    const isNothing = credit.minor === 0 && [...byInvoice.values()].every(amount => amount.minor === 0)
    if (isNothing && !findings.fails('payments', id))
      findings.wrong('payments', id, 'paymentItems must come to more or less than nothing.')
    if (payment.source === 'credit' && credit.minor !== 0)
      findings.wrong('payments', id, 'paymentItems must have invoiceId: a payment from credit pays invoices.')
    // A payment from credit takes no values.
    const fieldValues = payment.source === 'credit' ? {} : readFields(work, payment)
    work.payments.set(id, { request: payment, byInvoice, credit, fieldValues })
  }
}

/** A failing payment that has or may have credit. It blocks what that credit would cover. */
export function failedCreditPayment({ findings, payments }: Work): string | undefined {
  const lost = [...payments.values()].find(
    ({ credit, request }) => credit.minor > 0 && findings.fails('payments', request.id),
  )
  return lost?.request.id ?? findings.failedBefore('payments')
}

function readFields(
  { context, findings }: Work,
  { id, data, paymentTime }: PaymentMigrationRequest,
): FieldValues {
  try {
    return paymentFieldValues(context.configuration, data, context.configuration.timeZone, paymentTime)
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem
    findings.wrong('payments', id, problem.message)
    return {}
  }
}

/** Our payments for each payment of the other system, by its id. */
export type Paid = ReadonlyMap<string, readonly Uuid[]>

export function recordPayments(work: Work): Paid {
  const invoices = liveInvoices(work)
  const last = invoices.reduce<InvoiceItem | undefined>(
    (found, one) => (found && found.times.createdAt > one.times.createdAt ? found : one),
    undefined,
  )
  const home = (): Part => (last ? homeOf(last) : earlierPart(work, work.context.existing!.lastInvoice!))
  const inOrder = livePayments(work).sort((a, b) => a.request.paymentTime - b.request.paymentTime)
  const paid = new Map(inOrder.map(one => [one.request.id, recordPayment(work, one, home)] as const))
  for (const one of invoices) settleInvoice(work, one)
  return paid
}

/** The part that holds credit. */
const homeOf = ({ earlier, added }: InvoiceItem): Part => earlier?.home ?? added[0]!

function recordPayment(
  work: Work,
  { request: { paymentTime: at, source = 'received' }, byInvoice, credit, fieldValues }: PaymentItem,
  home: () => Part,
): Uuid[] {
  const terms = { at, fieldValues, source }
  const made: Uuid[] = []
  // Credit goes to a payment that overpays an invoice, as for a live one; beside refunds it is a payment of its own.
  const overpaid = [...byInvoice].findLast(([, amount]) => amount.minor > 0)?.[0]
  for (const [id, amount] of byInvoice) {
    const credited = id === overpaid ? credit : work.none
    made.push(...receive(work, partsOf(work.invoices.get(id)!), { ...terms, amount, credited }))
  }
  if (credit.minor > 0 && overpaid === undefined) {
    const [own] = byInvoice.keys()
    const part = own === undefined ? home() : homeOf(work.invoices.get(own)!)
    made.push(addPayment(work, part, { ...terms, amount: credit, credited: credit }))
  }
  return made
}

/** Settles the invoice, or its paid parts: no cover may depend on a paid part. */
function settleInvoice(work: Work, item: InvoiceItem): void {
  const { state, times } = item
  const parts = partsOf(item)
  if (state === 'discarded') {
    settle(parts, 'writtenOff')
    return
  }
  const { rest } = balanceOf(item, work.none)
  const isCovered = state === 'settled' || rest.minor === 0
  const owing = new Set(parts.filter(part => restOf(part).minor !== 0))
  const terms = { amount: rest, credited: work.none, at: times.createdAt, fieldValues: {} }
  // Refunds of some parts that pay for others also go through credit.
  if (isCovered && owing.size > 0) receive(work, parts, { ...terms, source: 'credit' })
  settle(isCovered ? parts : parts.filter(part => !owing.has(part)), 'paid')
  if (!isCovered && item.isRestGivenUp) settle([...owing], 'writtenOff')
}

type Received = Pick<Payment, 'fieldValues' | 'source'> & {
  readonly amount: Money
  readonly at: Instant
  /** Overpaid beyond `amount`. */
  readonly credited: Money
}

/** Pays the parts; the last payment holds the credit. Takes a digit for each. Returns the locators of the payments. */
function receive(work: Work, parts: readonly Part[], received: Received): Uuid[] {
  const shares = sharesOf(parts, received.amount, work.none)
  const last = shares.findLastIndex(share => share.minor !== 0)
  return parts.flatMap((part, index) => {
    const share = shares[index]!
    if (share.minor === 0) return []
    const credited = index === last ? received.credited : work.none
    return [addPayment(work, part, { ...received, amount: plus(share, credited), credited })]
  })
}

/** The amount split over the parts: in full if it is their total, else one part after the other. */
function sharesOf(parts: readonly Part[], amount: Money, none: Money): Money[] {
  const rests = parts.map(restOf)
  if (sum(rests, none.currency).minor === amount.minor) return rests
  let left = amount
  return rests.map((rest, at) => {
    const isSame = Math.sign(rest.minor) === Math.sign(left.minor)
    const share = isSame && Math.abs(rest.minor) < Math.abs(left.minor) ? rest : isSame ? left : none
    const own = at === rests.length - 1 ? left : share
    left = minus(left, own)
    return own
  })
}

function addPayment(
  { context: { accountLocator: policyholderLocator, supply } }: Work,
  { making, invoice: invoiceLocator }: Part,
  { at, ...terms }: Received,
): Uuid {
  const locator = uuidOfPolicy(making.invoices.get(invoiceLocator)!.policyLocator)
  const displayId = supply.digits() as DisplayId
  const ids = { locator, displayId, policyholderLocator, invoiceLocator }
  making.payments.set(locator, { ...ids, ...terms, postedAt: at })
  return locator
}

/** A paid part is settled when its last payment came. */
function settle(parts: readonly Part[], outcome: Extract<SettlementType, 'paid' | 'writtenOff'>): void {
  for (const { making, invoice: locator, due } of parts) {
    const invoice: Invoice = making.invoices.get(locator)!
    const status = due.minor === 0 ? 'zeroDue' : outcome
    if (invoiceStatus(invoice) === status) continue
    const payments = [...making.payments.values()].filter(
      one => one.invoiceLocator === locator && paymentState(one) === 'posted',
    )
    const at = payments.reduce((last, one) => later(last, one.postedAt), invoice.statuses.at(-1)!.at)
    making.invoices.set(locator, {
      ...invoice,
      updatedAt: at,
      statuses: [...invoice.statuses, { at, status }],
    })
  }
}
