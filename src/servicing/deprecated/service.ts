// What the deprecated paths answer, from the records that the others work with.
import { notFound, Refusal } from '../../kernel/errors.ts'
import {
  type PolicyLocator,
  type QuoteLocator,
  readDigits,
  readUuid,
  shardOfDigits,
} from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { shardDatabase, shardOfPolicy, shardOfRecord } from '../../platform/tenancy.ts'
import { policyResponse } from '../../policy/projection/policy.ts'
import { quoteOf } from '../../policy/records/transactions.ts'
import type { PolicySelection } from '../../policy/store/aggregates.ts'
import { loadPolicy } from '../../policy/store/loading.ts'
import { policyLocator } from '../../transactions/policies/service.ts'
import { quoteResponse } from '../../transactions/quotes/projection.ts'
import { quoteLocator } from '../../transactions/quotes/service.ts'
import {
  type BillingTriggerResponse,
  type BillingTriggerUpdateRequest,
  type InvoiceJobListResponse,
  MOST_WHOLE,
  type PolicySnapshotListResponse,
  type QuoteListResponse,
  type SegmentListResponse,
  type SegmentResponse,
  type WholeListQuery,
} from './contract.ts'
import { policyJobs, quoteJobs, segmentsOf } from './projection.ts'
import { pageOfPolicies, pageOfQuotes, wholePolicies } from './store.ts'

const databaseOf = (
  { env, tenant, calls }: RequestContext,
  locator: PolicyLocator | QuoteLocator,
): Database => shardDatabase(env, tenant, shardOfPolicy(tenant, locator), calls)

export async function invoiceJobsOfPolicy(
  context: RequestContext,
  text: string,
): Promise<InvoiceJobListResponse> {
  const locator = policyLocator(text)
  const { aggregate } = await loadPolicy(context, databaseOf(context, locator), { locator })
  return { listCompleted: true, items: policyJobs(aggregate) }
}

export async function invoiceJobsOfQuote(
  context: RequestContext,
  text: string,
): Promise<InvoiceJobListResponse> {
  const locator = quoteLocator(text)
  const database = databaseOf(context, locator)
  const { aggregate } = await loadPolicy(context, database, { quoteLocator: locator })
  return { listCompleted: true, items: quoteJobs(aggregate, quoteOf(aggregate, locator)) }
}

/**
 * With which action billing begins is a matter of the product (`invoicing.generatingEvent`), and so of the policy's
 * version of the configuration: the request is carried out where it asks for what is so, and else refused (409).
 */
export async function setBillingTrigger(
  context: RequestContext,
  text: string,
  { billingTrigger }: BillingTriggerUpdateRequest,
): Promise<BillingTriggerResponse> {
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
  { offset = 0, count = MOST_WHOLE }: WholeListQuery,
): Promise<PolicySnapshotListResponse> {
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
  { offset = 0, count = MOST_WHOLE }: WholeListQuery,
): Promise<QuoteListResponse> {
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
): Promise<SegmentListResponse> {
  const { database, selection } = transactionAt(context, transaction)
  const { aggregate, product } = await loadPolicy(context, database, selection)
  return { listCompleted: true, items: segmentsOf(aggregate, product, transaction) }
}

export async function readSegment(
  context: RequestContext,
  transaction: string,
  segment: string,
): Promise<SegmentResponse> {
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
  const { env, tenant, calls } = context
  const digits = readDigits(text)
  const uuid = readUuid(text)
  if (digits !== undefined)
    return {
      database: databaseOf(context, digits as QuoteLocator),
      selection: { transactionLocator: digits },
    }
  if (uuid === undefined) throw notFound('transaction', text)
  const shard = shardOfRecord(tenant, uuid, 'transaction')
  return {
    database: shardDatabase(env, tenant, shard, calls),
    selection: { transactionLocator: uuid },
  }
}
