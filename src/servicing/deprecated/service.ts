// What the deprecated paths answer, from the records that the others work with.

import { notFound, Refusal } from '../../kernel/errors.ts'
import {
  derivedUuid,
  type PolicyLocator,
  type QuoteLocator,
  readDigits,
  shardOfDigits,
  type Uuid,
} from '../../kernel/locators.ts'
import { type Money, toNumber } from '../../kernel/money.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { recordPlace, shardDatabase, shardOfPolicy } from '../../platform/tenancy.ts'
import { amountsDue, futureInstallments, installmentOf, planOf } from '../../policy/bills/amounts-due.ts'
import { isStanding } from '../../policy/fold/line.ts'
import { policyCharacteristics } from '../../policy/projection/characteristics.ts'
import { policyResponse, policyView } from '../../policy/projection/policy.ts'
import {
  type Modification,
  type PolicyAggregate,
  type Quote,
  quoteParts,
  selectedQuote,
} from '../../policy/records/aggregate.ts'
import type { Invoice, PlannedInstallment } from '../../policy/records/invoice.ts'
import { quoteOf } from '../../policy/records/transactions.ts'
import type { PolicySelection } from '../../policy/store/aggregates.ts'
import { loadPolicy } from '../../policy/store/loading.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { policyLocator } from '../../transactions/policies/service.ts'
import { quoteResponse } from '../../transactions/quotes/projection.ts'
import { quoteLocator } from '../../transactions/quotes/service.ts'
import * as contract from './contract.ts'
import { pageOfPolicies, pageOfQuotes, wholePolicies } from './store.ts'

const databaseOf = (
  { env, tenant, calls }: RequestContext,
  locator: PolicyLocator | QuoteLocator,
): Database => shardDatabase(env, tenant, shardOfPolicy(tenant, locator), calls)

export async function invoiceJobsOfPolicy(
  context: RequestContext,
  text: string,
): Promise<contract.InvoiceJobListResponse> {
  const locator = policyLocator(text)
  const { aggregate } = await loadPolicy(context, databaseOf(context, locator), { locator })
  return { listCompleted: true, items: policyJobs(aggregate) }
}

export async function invoiceJobsOfQuote(
  context: RequestContext,
  text: string,
): Promise<contract.InvoiceJobListResponse> {
  const locator = quoteLocator(text)
  const database = databaseOf(context, locator)
  const { aggregate } = await loadPolicy(context, database, { quoteLocator: locator })
  return { listCompleted: true, items: quoteJobs(aggregate, quoteOf(aggregate, locator)) }
}

/**
 * The product says which action begins billing (`invoicing.generatingEvent`). A request that asks for that action succeeds; any
 * other is refused (409).
 */
export async function setBillingTrigger(
  context: RequestContext,
  text: string,
  { billingTrigger }: contract.BillingTriggerUpdateRequest,
): Promise<contract.BillingTriggerResponse> {
  const locator = policyLocator(text)
  const { aggregate, product } = await loadPolicy(context, databaseOf(context, locator), { locator })
  const { generatingEvent } = product.invoicing
  if (generatingEvent !== billingTrigger)
    throw new Refusal(
      'wrongState',
      `Policy ${locator} is billed on ${generatingEvent}, as its product '${product.name}' says; set invoicing.generatingEvent there, deploy it, and upgrade the policy.`,
    )
  return { policyLocator: String(aggregate.policy.locator), billingTrigger }
}

export async function listSnapshots(
  context: RequestContext,
  { offset = 0, count = contract.MOST_WHOLE }: contract.WholeListQuery,
): Promise<contract.PolicySnapshotListResponse> {
  const found = await pageOfPolicies(context, { offset, count })
  const page = found.slice(0, count).map(one => one.locator)
  const whole = await wholePolicies(context, page, locator => shardOfDigits(locator as PolicyLocator))
  return {
    listCompleted: found.length <= count,
    items: page.flatMap(locator => {
      const one = whole.get(locator)
      return one ? [policyResponse(one.aggregate, one.product, { summarizeQuotes: false })] : []
    }),
  }
}

export async function listQuotes(
  context: RequestContext,
  { offset = 0, count = contract.MOST_WHOLE }: contract.WholeListQuery,
): Promise<contract.QuoteListResponse> {
  const found = await pageOfQuotes(context, { offset, count })
  const page = found.slice(0, count)
  const whole = await wholePolicies(
    context,
    page.map(one => one.policyLocator),
    locator => shardOfDigits(locator as PolicyLocator),
  )
  return {
    listCompleted: found.length <= count,
    items: page.flatMap(({ locator, policyLocator: policy }) => {
      const one = whole.get(policy)
      const quote = one?.aggregate.quotes.get(locator as QuoteLocator)
      return one && quote ? [quoteResponse(one.aggregate, quote, one.product)] : []
    }),
  }
}

export async function listSegments(
  context: RequestContext,
  transaction: string,
): Promise<contract.SegmentListResponse> {
  const { database, selection } = transactionAt(context, transaction)
  const { aggregate, product } = await loadPolicy(context, database, selection)
  return { listCompleted: true, items: segmentsOf(aggregate, product, transaction) }
}

export async function readSegment(
  context: RequestContext,
  transaction: string,
  segment: string,
): Promise<contract.SegmentResponse> {
  const { items } = await listSegments(context, transaction)
  const found = items.find(({ locator }) => locator === segment.toLowerCase())
  if (!found) throw notFound('segment', segment)
  return found
}

/** Where the transaction lies: digits of an endorsement, renewal, quote or cancellation, or a UUID of the others. */
function transactionAt(
  context: RequestContext,
  text: string,
): { database: Database; selection: PolicySelection } {
  const digits = readDigits(text)
  if (digits !== undefined)
    return {
      database: databaseOf(context, digits as QuoteLocator),
      selection: { transactionLocator: digits },
    }
  const { database, locator } = recordPlace(context, text, 'transaction')
  return { database, selection: { transactionLocator: locator } }
}

// Segments of a transaction: the policy's segments that its modification made, and the span that it left without cover.

/**
 * The segments that the transaction made, in order of time, the gap last. `transaction` is the locator of a modification, or of
 * what made it. None while it is not accepted; 404 when there is no such transaction.
 */
export function segmentsOf(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  transaction: string,
): contract.SegmentResponse[] {
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
      (characteristics): contract.SegmentResponse => ({
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
  const gap: contract.SegmentResponse = {
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
export function policyJobs(aggregate: PolicyAggregate): contract.InvoiceJobResponse[] {
  const made = [...aggregate.invoices.values()].map(invoice => installmentOf(aggregate, invoice))
  return jobsOf(aggregate, [...made, ...futureInstallments(aggregate)])
}

/** Of the quote: its own plan, which there is once it is quoted. */
export const quoteJobs = (aggregate: PolicyAggregate, quote: Quote): contract.InvoiceJobResponse[] =>
  jobsOf(aggregate, planOf(aggregate, quoteParts(aggregate, quote).modification), quote.state)

function jobsOf(
  aggregate: PolicyAggregate,
  installments: readonly PlannedInstallment[],
  quoteState?: Quote['state'],
): contract.InvoiceJobResponse[] {
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
