// Responses of the deprecated paths, from the same records as the other responses.

import { notFound, wrongState } from '../../kernel/errors.ts'
import { LongList } from '../../kernel/json.ts'
import {
  derivedUuid,
  type PolicyLocator,
  type QuoteLocator,
  readDigits,
  type Uuid,
} from '../../kernel/locators.ts'
import { type Money, toNumber } from '../../kernel/money.ts'
import type { RequestContext } from '../../platform/context.ts'
import { LongAnswer } from '../../platform/http/route.ts'
import { recordPlace, shardDatabase, shardOfPolicy } from '../../platform/tenancy.ts'
import { amountsDue, futureInstallments, installmentOf, planOf } from '../../policy/bills/amounts-due.ts'
import { isStanding } from '../../policy/fold/line.ts'
import { policyCharacteristics } from '../../policy/projection/characteristics.ts'
import { policyAnswer, policyView } from '../../policy/projection/policy.ts'
import {
  type Modification,
  type PolicyAggregate,
  type Quote,
  quoteParts,
  selectedQuote,
} from '../../policy/records/aggregate.ts'
import type { PlannedInstallment } from '../../policy/records/invoice.ts'
import type { PolicySelection } from '../../policy/store/aggregates.ts'
import { loadPolicy } from '../../policy/store/loading.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { policyLocator, recordService } from '../../transactions/policies/service.ts'
import { QUOTES, quoteResponse } from '../../transactions/quotes/projection.ts'
import * as contract from './contract.ts'
import { type ListName, listRecords, type WholePolicy, wholePolicies } from './store.ts'

/** One round trip. */
function load(
  context: RequestContext,
  locator: PolicyLocator | QuoteLocator,
  selection: PolicySelection,
): Promise<Loaded> {
  const { env, tenant, calls } = context
  return loadPolicy(context, shardDatabase(env, tenant, shardOfPolicy(tenant, locator), calls), selection)
}

const loadNamed = (context: RequestContext, text: string): Promise<Loaded> => {
  const locator = policyLocator(text)
  return load(context, locator, { locator })
}

/**
 * Returns a job for each invoice and each planned installment of the policy, in one page. Throws 404 if there is no such policy.
 */
export async function invoiceJobsOfPolicy(
  context: RequestContext,
  text: string,
): Promise<contract.InvoiceJobListResponse> {
  const { aggregate } = await loadNamed(context, text)
  return { listCompleted: true, items: policyJobs(aggregate) }
}

/**
 * Returns a job for each planned installment of the quote, which has none before it is quoted. Throws 404 if there is no such
 * quote.
 */
export async function invoiceJobsOfQuote(
  context: RequestContext,
  text: string,
): Promise<contract.InvoiceJobListResponse> {
  const { loaded, record } = await recordService(QUOTES).load(context, text)
  return { listCompleted: true, items: quoteJobs(loaded.aggregate, record) }
}

/**
 * Confirms the action that starts billing. The product defines it (`invoicing.generatingEvent`), so a request for that action
 * succeeds and changes nothing. Any other action is rejected with 409.
 */
export async function setBillingTrigger(
  context: RequestContext,
  text: string,
  { billingTrigger }: contract.BillingTriggerUpdateRequest,
): Promise<contract.BillingTriggerResponse> {
  const { aggregate, product } = await loadNamed(context, text)
  const locator = String(aggregate.policy.locator)
  const { generatingEvent } = product.invoicing
  if (generatingEvent !== billingTrigger)
    throw wrongState(
      `Policy ${locator} is billed on ${generatingEvent}, as set by its product '${product.name}'. To change it, set invoicing.generatingEvent there, deploy it, and upgrade the policy.`,
    )
  return { policyLocator: locator, billingTrigger }
}

/**
 * Streams a page of whole policies of all shards, in the order of their locators. Takes at most two round trips for each shard.
 */
export async function listSnapshots(
  context: RequestContext,
  query: contract.WholeListQuery,
): Promise<LongAnswer> {
  const page = await wholePage(context, 'policies', query, policy => policy)
  const items = new LongList(function* () {
    // A policy that is too large for one answer does not end the list.
    for (const { aggregate, product } of page.items)
      yield policyAnswer(aggregate, product, { summarizeQuotes: false, perilCharacteristics: 'fitting' })
  })
  return new LongAnswer({ ...page, items }, { page })
}

/**
 * Returns a page of quotes of all shards, in the order of their locators. Reads their whole policies: at most two round trips for
 * each shard.
 */
export const listQuotes = (
  context: RequestContext,
  query: contract.WholeListQuery,
): Promise<contract.QuoteListResponse> =>
  wholePage(context, 'quotes', query, ({ aggregate, product }, locator) => {
    const quote = aggregate.quotes.get(locator as QuoteLocator)
    return quote && quoteResponse(aggregate, quote, product)
  })

async function wholePage<Shown>(
  context: RequestContext,
  list: ListName,
  { offset = 0, count = contract.MOST_WHOLE }: contract.WholeListQuery,
  show: (policy: WholePolicy, locator: number) => Shown | undefined,
): Promise<{ listCompleted: boolean; items: Shown[] }> {
  const found = await listRecords(context, list, offset, count + 1)
  const page = found.slice(0, count)
  const policies = await wholePolicies(context, new Set(page.map(record => record.policyLocator)))
  const items = page.flatMap(record => {
    const policy = policies.get(record.policyLocator)
    return (policy && show(policy, record.locator)) ?? []
  })
  return { listCompleted: found.length <= count, items }
}

/** Returns the segments of a transaction, in one page (`segmentsOf`). Throws 404 if there is no such transaction. */
export async function listSegments(
  context: RequestContext,
  transaction: string,
): Promise<contract.SegmentListResponse> {
  const { aggregate, product } = await loadTransaction(context, transaction)
  return { listCompleted: true, items: segmentsOf(aggregate, product, transaction) }
}

/** Returns a segment of the transaction. Throws 404 if it made no such segment. */
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

/** Endorsements, renewals, quotes and cancellations have locators of digits; other transactions have UUIDs. */
function loadTransaction(context: RequestContext, text: string): Promise<Loaded> {
  const digits = readDigits(text)
  if (digits !== undefined) return load(context, digits as QuoteLocator, { transactionLocator: digits })
  const { database, locator } = recordPlace(context, text, 'transaction')
  return loadPolicy(context, database, { transactionLocator: locator })
}

/**
 * Returns the segments that the transaction made, in order of time, with the gap last. `transaction` is the locator of a
 * modification or of its cause. Returns none until the transaction is accepted. Throws 404 if it does not exist.
 */
function segmentsOf(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  transaction: string,
): contract.SegmentResponse[] {
  const modification = modificationOf(aggregate, transaction)
  if (!modification) {
    if (isOpenTransaction(aggregate, transaction)) return []
    throw notFound('transaction', transaction)
  }
  const ownQuote = modification.quoteLocator && aggregate.quotes.get(modification.quoteLocator)
  const quote = ownQuote ?? selectedQuote(aggregate)
  const view = policyView(aggregate, quote, product, isStanding)
  const step = view.line.find(one => one.modification.locator === modification.locator)
  if (!step) return []
  const made = new Set<string>(step.made.map(segment => segment.locator))
  const transactionLocator = modification.locator
  const coverage = policyCharacteristics(view)
    .filter(({ locator }) => made.has(locator))
    .map(
      (characteristics): contract.SegmentResponse => ({
        locator: characteristics.locator,
        transactionLocator,
        type: 'coverage',
        startTime: iso(Number(characteristics.startTimestamp)),
        endTime: iso(Number(characteristics.endTimestamp)),
        characteristics,
      }),
    )
  const covered = Math.max(modification.effectiveAt, ...step.made.map(segment => segment.end))
  const before = Math.max(covered, ...step.replaced.map(segment => segment.end))
  if (before === covered) return coverage
  const locator = derivedUuid(view.shard, transactionLocator, 'gap')
  const times = { startTime: iso(covered), endTime: iso(before) }
  return [...coverage, { locator, transactionLocator, type: 'gap', ...times }]
}

const modificationOf = ({ modifications }: PolicyAggregate, transaction: string): Modification | undefined =>
  [...modifications.values()].find(
    modification =>
      modification.locator === transaction.toLowerCase() ||
      modification.transactionLocator === transaction ||
      String(modification.quoteLocator) === transaction,
  )

/** Whether the transaction exists but has no modification yet. */
const isOpenTransaction = (
  { endorsements, cancellations, reinstatements }: PolicyAggregate,
  transaction: string,
): boolean =>
  [...endorsements.keys(), ...cancellations.keys(), ...reinstatements.keys()].some(
    locator => String(locator) === transaction.toLowerCase(),
  )

const iso = (at: number): string => new Date(at).toISOString()

/** Returns a policy's plans as jobs: each installment is a job that its invoice completes. Invoices that were made come first. */
function policyJobs(aggregate: PolicyAggregate): contract.InvoiceJobResponse[] {
  const made = [...aggregate.invoices.values()].map(invoice => installmentOf(aggregate, invoice))
  return jobsOf(aggregate, [...made, ...futureInstallments(aggregate)])
}

/** Returns the jobs of a quote. A quote has a plan once it is quoted. */
const quoteJobs = (aggregate: PolicyAggregate, quote: Quote): contract.InvoiceJobResponse[] =>
  jobsOf(aggregate, planOf(aggregate, quoteParts(aggregate, quote).modification), quote.state)

function jobsOf(
  aggregate: PolicyAggregate,
  installments: readonly PlannedInstallment[],
  quoteState?: Quote['state'],
): contract.InvoiceJobResponse[] {
  const idOf = (modification: Uuid, number: number): string => `${modification}/${number}`
  const invoices = new Map(
    [...aggregate.invoices.values()].map(invoice => [
      idOf(invoice.policyModificationLocator, invoice.installmentNumber),
      invoice,
    ]),
  )
  const planned = new Set(
    futureInstallments(aggregate).map(({ modificationLocator, number }) => idOf(modificationLocator, number)),
  )
  const amounts = new Map<Uuid, Money[]>()
  const amountOf = ({ modificationLocator, number }: PlannedInstallment): Money => {
    const known =
      amounts.get(modificationLocator) ??
      amountsDue(aggregate, aggregate.modifications.get(modificationLocator)!)
    amounts.set(modificationLocator, known)
    return known[number - 1]!
  }
  return installments.map(installment => {
    const { modificationLocator, number, issueAt, dueAt, start, end } = installment
    const id = idOf(modificationLocator, number)
    const invoice = invoices.get(id)
    // The policy's plan contains the plan of a quote only after the quote is accepted.
    const isQueued = planned.has(id) || quoteState === 'draft' || quoteState === 'quoted'
    const stateUnbilled = isQueued ? 'queued' : 'cancelled'
    return {
      policyLocator: String(aggregate.policy.locator),
      transactionLocator: modificationLocator,
      installmentNumber: number,
      state: invoice ? 'completed' : stateUnbilled,
      generateTime: iso(invoice?.createdAt ?? issueAt),
      dueTime: iso(invoice?.dueAt ?? dueAt),
      startTime: iso(start),
      endTime: iso(end),
      amount: toNumber(amountOf(installment)),
      amountCurrency: aggregate.policy.currency,
      ...(invoice && { invoiceLocator: invoice.locator }),
    }
  })
}
