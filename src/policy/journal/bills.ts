// What changes of invoices and payments post. An invoice is reduced to four amounts: billed = settled + written off + receivable. A
// change posts the difference of each amount, so every change balances.
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { installmentOf, linkedInstallments, planOf, totalsDueOf } from '../bills/amounts-due.ts'
import type { PolicyAggregate } from '../records/aggregate.ts'
import {
  appliedAmount,
  type InstallmentFee,
  type Invoice,
  type InvoiceStatus,
  invoiceStatus,
  type Payment,
  type PlannedInstallment,
} from '../records/invoice.ts'
import type { Entries } from './entries.ts'

/** An invoice as known at a time, with the payments that are not reversed at that time. */
export type InvoiceState = {
  readonly status: InvoiceStatus
  readonly dueAt: Instant
  readonly payments: readonly Payment[]
}

/** Minor units, with the sign of the invoice. */
type Standing = {
  readonly billed: number
  readonly settled: number
  readonly writtenOff: number
  /** 1 if the invoice charges its installment fees and recovers what was written off; 0 if it is void. */
  readonly charges: 0 | 1
}

const NOTHING: Standing = { billed: 0, settled: 0, writtenOff: 0, charges: 0 }

/** What an invoice bills, in minor units. Never changes. */
type Total = {
  readonly total: number
  /** The installment fees that the invoice charges. */
  readonly fees: readonly InstallmentFee[]
  /** For a reinstatement: what it asks for again of the lapse's invoice, which was written off. */
  readonly recovered: number
}

const settledMinor = ({ payments }: InvoiceState): number =>
  payments.reduce((sum, payment) => sum + appliedAmount(payment).minor, 0)

/** Whether the invoice asks for its total. Between two such states only payments differ, so no charges have to be computed. */
const isTotalDemanded = ({ status }: InvoiceState): boolean =>
  status !== 'invalidated' && status !== 'carriedForward' && status !== 'writtenOff'

export class BillEntries {
  readonly #aggregate: PolicyAggregate
  readonly #totalOf: (invoice: Invoice) => number
  readonly #totals = new Map<Uuid, Total>()

  constructor(aggregate: PolicyAggregate) {
    const totalDue = totalsDueOf(aggregate)
    this.#aggregate = aggregate
    this.#totalOf = invoice => totalDue(invoice).minor
  }

  /** Posts the change of one invoice. Payments that are the same in both states post nothing. */
  add(entries: Entries, invoice: Invoice, was: InvoiceState | undefined, is: InvoiceState): void {
    if (was && isTotalDemanded(was) && isTotalDemanded(is)) {
      const account = { account: 'receivable' as const, invoice: invoice.locator, due: is.dueAt }
      entries.add(account, settledMinor(was) - settledMinor(is))
    } else this.#addStanding(entries, invoice, was, is)
    for (const payment of is.payments) addPayment(entries, payment, 1)
    for (const payment of was?.payments ?? []) addPayment(entries, payment, -1)
  }

  #addStanding(entries: Entries, invoice: Invoice, was: InvoiceState | undefined, is: InvoiceState): void {
    const before = was ? this.#standing(invoice, was) : NOTHING
    const after = this.#standing(invoice, is)
    const changeIn = (of: keyof Standing): number => after[of] - before[of]
    const { locator } = invoice
    const { fees, recovered } = this.#total(invoice)
    const charges = changeIn('charges')
    let charged = 0
    for (const { name, amount } of fees) {
      entries.add({ account: 'fee', name, invoice: locator }, -charges * amount.minor)
      charged += charges * amount.minor
    }
    entries.add({ account: 'writtenOff', invoice: locator }, -charges * recovered)
    entries.add({ account: 'unbilled', invoice: locator }, charged + charges * recovered - changeIn('billed'))
    entries.add({ account: 'writtenOff', invoice: locator }, changeIn('writtenOff'))
    entries.add(
      { account: 'receivable', invoice: locator, due: is.dueAt },
      changeIn('billed') - changeIn('settled') - changeIn('writtenOff'),
    )
  }

  #standing(invoice: Invoice, state: InvoiceState): Standing {
    const { status } = state
    const settled = settledMinor(state)
    if (status === 'invalidated') return { ...NOTHING, billed: settled, settled }
    // Another bill asks for the rest of an invoice that was carried forward or that a lapse took over.
    if (status === 'carriedForward') return { billed: settled, settled, writtenOff: 0, charges: 1 }
    const lapse = this.#takenOverBy(invoice, status)
    if (lapse) {
      // The lapse left here what was paid by then. If that payment is reversed later, no bill asks for its amount any more.
      const kept = lapse.paidBefore?.[installmentOf(this.#aggregate, invoice).locator] ?? 0
      return { billed: kept, settled, writtenOff: kept - settled, charges: 1 }
    }
    const billed = this.#total(invoice).total
    return { billed, settled, writtenOff: status === 'writtenOff' ? billed - settled : 0, charges: 1 }
  }

  /** Returns the bill of the lapse that took the invoice over. */
  #takenOverBy(invoice: Invoice, status: InvoiceStatus): PlannedInstallment | undefined {
    if (status !== 'writtenOff') return undefined
    const { modifications } = this.#aggregate
    const lapse = installmentOf(this.#aggregate, invoice)
      .absorbedBy.map(by => modifications.get(by))
      .find(by => by?.kind === 'lapse')
    return lapse && planOf(this.#aggregate, lapse)[0]
  }

  #total(invoice: Invoice): Total {
    const known = this.#totals.get(invoice.locator)
    if (known) return known
    const installment = installmentOf(this.#aggregate, invoice)
    const total: Total = {
      total: this.#totalOf(invoice),
      fees: installmentFees(this.#aggregate, invoice, installment),
      recovered: this.#recoveredBy(installment),
    }
    this.#totals.set(invoice.locator, total)
    return total
  }

  /** Returns what a reinstatement's bill recovers: the lapse's bill, written off, and payments that were reversed since. */
  #recoveredBy(installment: PlannedInstallment): number {
    const { added } = linkedInstallments(this.#aggregate, installment)
    const { invoices, modifications } = this.#aggregate
    const isBack = modifications.get(installment.modificationLocator)?.kind === 'reinstatement'
    const bounced = Object.values((isBack && installment.paidBefore) || {})
    return [...invoices.values()]
      .filter(
        one =>
          modifications.get(one.policyModificationLocator)?.kind === 'lapse' &&
          invoiceStatus(one) === 'writtenOff' &&
          added.some(
            ({ modificationLocator, number }) =>
              modificationLocator === one.policyModificationLocator && number === one.installmentNumber,
          ),
      )
      .reduce(
        (sum, one) => sum + this.#totalOf(one),
        bounced.reduce((sum, minor) => sum + minor, 0),
      )
  }
}

/**
 * Returns the installment fees that the invoice charges. Each fee is charged by the first invoice that bills it: that of its
 * installment, or of an installment that takes it over. Transactions charge the policy's own fees, and reverse fees of both kinds.
 */
const installmentFees = (
  aggregate: PolicyAggregate,
  invoice: Invoice,
  installment: PlannedInstallment,
): readonly InstallmentFee[] => [
  ...(installment.fees ?? []),
  ...linkedInstallments(aggregate, installment).added.flatMap(one =>
    wasBilledBefore(aggregate, one, invoice) ? [] : installmentFees(aggregate, invoice, one),
  ),
]

/** Whether the installment has an invoice that is valid, or that did not become void before the other one. */
const wasBilledBefore = (
  aggregate: PolicyAggregate,
  { modificationLocator, number }: PlannedInstallment,
  other: Invoice,
): boolean =>
  [...aggregate.invoices.values()].some(
    one =>
      one.policyModificationLocator === modificationLocator &&
      one.installmentNumber === number &&
      voidSince(aggregate, one) >= voidSince(aggregate, other),
  )

/** Returns when the invoice became void; infinity if it is valid. */
const voidSince = (
  { modifications }: PolicyAggregate,
  { policyModificationLocator, statuses }: Invoice,
): number =>
  modifications.get(policyModificationLocator)?.invalidatedAt ??
  statuses.find(({ status }) => status === 'invalidated')?.at ??
  Number.POSITIVE_INFINITY

/** Posts a payment, or takes it back if `sign` is -1. An offset moves no money and posts nothing. */
function addPayment(entries: Entries, payment: Payment, sign: 1 | -1): void {
  const { locator, source, amount, credited } = payment
  const place = { payment: locator, invoice: payment.invoiceLocator }
  if (source === 'credit') entries.add({ account: 'credit', ...place }, sign * amount.minor)
  else if (source !== 'offset') {
    entries.add({ account: 'cash', ...place }, sign * amount.minor)
    entries.add({ account: 'credit', ...place }, -sign * credited.minor)
  }
}

/**
 * Returns the invoice as it was at a time, without later changes and payments. Undefined before it was made. Invoices of a
 * transaction that was taken back are void, including those that were written off before.
 */
export function invoiceStateAt(
  { modifications }: Pick<PolicyAggregate, 'modifications'>,
  invoice: Invoice,
  payments: readonly Payment[],
  at: Instant,
): InvoiceState | undefined {
  if (invoice.createdAt > at) return undefined
  const { invalidatedAt } = modifications.get(invoice.policyModificationLocator)!
  const moved = invoice.statuses.find(one => one.at > at && one.dueBefore !== undefined)
  return {
    status:
      invalidatedAt !== undefined && invalidatedAt <= at
        ? 'invalidated'
        : (invoice.statuses.findLast(one => one.at <= at)?.status ?? 'unfulfilled'),
    dueAt: moved?.dueBefore ?? invoice.dueAt,
    payments: payments.filter(
      ({ postedAt, reversedAt }) => postedAt <= at && (reversedAt === undefined || reversedAt > at),
    ),
  }
}

/** Returns the invoice as it is in the aggregate. */
export const invoiceStateIn = (
  { modifications }: Pick<PolicyAggregate, 'modifications'>,
  invoice: Invoice,
  payments: readonly Payment[],
): InvoiceState => ({
  status:
    modifications.get(invoice.policyModificationLocator)?.invalidatedAt === undefined
      ? invoiceStatus(invoice)
      : 'invalidated',
  dueAt: invoice.dueAt,
  payments: payments.filter(({ reversedAt }) => reversedAt === undefined),
})
