import { notFound } from '../../kernel/errors.ts'
import { derivedUuid, type Uuid } from '../../kernel/locators.ts'
import { type Money, toNumber } from '../../kernel/money.ts'
import { amountsDue, futureInstallments, installmentOf, planOf } from '../../policy/bills/amounts-due.ts'
import { isStanding } from '../../policy/fold/line.ts'
import { policyCharacteristics } from '../../policy/projection/characteristics.ts'
import { policyView } from '../../policy/projection/policy.ts'
import {
  type Modification,
  type PolicyAggregate,
  type Quote,
  quoteParts,
  selectedQuote,
} from '../../policy/records/aggregate.ts'
import type { Invoice, PlannedInstallment } from '../../policy/records/invoice.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { InvoiceJobResponse, SegmentResponse } from './contract.ts'

// Segments of a transaction: the policy's segments that its modification made, and the span that it left without cover.

/**
 * Of the modification of that locator, or of the one that the endorsement, renewal, quote, cancellation or reinstatement
 * made: in the order of time, the gap last. None while the transaction is not accepted; 404 for what is none.
 */
export function segmentsOf(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  transaction: string,
): SegmentResponse[] {
  const modification = modificationOf(aggregate, transaction)
  if (!modification) {
    if (isOpenTransaction(aggregate, transaction)) return []
    throw notFound('transaction', transaction)
  }
  const own = modification.quoteLocator && aggregate.quotes.get(modification.quoteLocator)
  const quote = own ?? selectedQuote(aggregate)
  const view = policyView(aggregate, quote, product, isStanding)
  const step = view.line.find(one => one.modification.locator === modification.locator)
  if (!step) return []
  const made = new Set<string>(step.made.map(segment => segment.locator))
  const coverage = policyCharacteristics(view)
    .filter(({ locator }) => made.has(locator))
    .map(
      (characteristics): SegmentResponse => ({
        locator: characteristics.locator,
        transactionLocator: modification.locator,
        type: 'coverage',
        startTime: iso(Number(characteristics.startTimestamp)),
        endTime: iso(Number(characteristics.endTimestamp)),
        characteristics,
      }),
    )
  const covered = Math.max(modification.effectiveAt, ...step.made.map(segment => segment.end))
  const before = Math.max(covered, ...step.replaced.map(segment => segment.end))
  if (before === covered) return coverage
  const gap: SegmentResponse = {
    locator: derivedUuid(view.shard, modification.locator, 'gap'),
    transactionLocator: modification.locator,
    type: 'gap',
    startTime: iso(covered),
    endTime: iso(before),
  }
  return [...coverage, gap]
}

const modificationOf = ({ modifications }: PolicyAggregate, transaction: string): Modification | undefined =>
  [...modifications.values()].find(
    one =>
      one.locator === transaction.toLowerCase() ||
      one.transactionLocator === transaction ||
      String(one.quoteLocator) === transaction,
  )

/** A transaction that has made nothing yet. */
const isOpenTransaction = (
  { endorsements, cancellations, reinstatements }: PolicyAggregate,
  transaction: string,
): boolean =>
  [...endorsements.keys(), ...cancellations.keys(), ...reinstatements.keys()].some(
    locator => String(locator) === transaction.toLowerCase(),
  )

const iso = (at: number): string => new Date(at).toISOString()

// Plans of invoices as jobs: each installment is one, completed by the invoice that bills it.
/** Of the policy: every invoice that was made, then those that are planned. */
export function policyJobs(aggregate: PolicyAggregate): InvoiceJobResponse[] {
  const made = [...aggregate.invoices.values()].map(invoice => installmentOf(aggregate, invoice))
  return jobsOf(aggregate, [...made, ...futureInstallments(aggregate)])
}

/** Of the quote: its own plan, which there is once it is quoted. */
export const quoteJobs = (aggregate: PolicyAggregate, quote: Quote): InvoiceJobResponse[] =>
  jobsOf(aggregate, planOf(aggregate, quoteParts(aggregate, quote).modification), quote.state)

function jobsOf(
  aggregate: PolicyAggregate,
  installments: readonly PlannedInstallment[],
  quoteState?: Quote['state'],
): InvoiceJobResponse[] {
  const idOf = (modification: Uuid, number: number): string => `${modification}/${number}`
  const invoiceOf = new Map<string, Invoice>(
    [...aggregate.invoices.values()].map(one => [
      idOf(one.policyModificationLocator, one.installmentNumber),
      one,
    ]),
  )
  const planned = new Set(futureInstallments(aggregate).map(one => idOf(one.modificationLocator, one.number)))
  const dues = new Map<Uuid, Money[]>()
  const dueOf = ({ modificationLocator, number }: PlannedInstallment): Money => {
    const known =
      dues.get(modificationLocator) ??
      amountsDue(aggregate, aggregate.modifications.get(modificationLocator)!)
    dues.set(modificationLocator, known)
    return known[number - 1]!
  }
  return installments.map(installment => {
    const { modificationLocator, number, issueAt, dueAt, start, end } = installment
    const id = idOf(modificationLocator, number)
    const invoice = invoiceOf.get(id)
    // Before it is accepted, the plan of a quote is nobody's but the quote's.
    const waits = planned.has(id) || quoteState === 'draft' || quoteState === 'quoted'
    return {
      policyLocator: String(aggregate.policy.locator),
      transactionLocator: modificationLocator,
      installmentNumber: number,
      state: invoice ? 'completed' : waits ? 'queued' : 'cancelled',
      generateTime: iso(invoice?.createdAt ?? issueAt),
      dueTime: iso(invoice?.dueAt ?? dueAt),
      startTime: iso(start),
      endTime: iso(end),
      amount: toNumber(dueOf(installment)),
      amountCurrency: aggregate.policy.currency,
      ...(invoice && { invoiceLocator: invoice.locator }),
    }
  })
}
