// Invoices and payments, as the Worker serves them.
import { policyholderCredits } from '../../billing/credit/service.ts'
import { checkedInvoices, invoiceItems, invoiceResponse } from '../../billing/payments.ts'
import { notFound, Refusal } from '../../kernel/errors.ts'
import { type PolicyLocator, policyOfUuid, type Uuid } from '../../kernel/locators.ts'
import type { JsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { readPagingToken, UUID_FORM } from '../../platform/paging.ts'
import { type RecordPlace, recordPlace, shardDatabase, shardOfPolicy } from '../../platform/tenancy.ts'
import type {
  CheckInvoicesResponse,
  GetInvoiceFinancialTransactionsResponse,
  PaymentCreateRequest,
  PaymentResponse,
  PolicyholderCreditsQuery,
  PolicyholderCreditsResponse,
  PolicyInvoiceResponse,
} from '../../policy/contract/billing.ts'
import { invoiceResponses, paymentResponse } from '../../policy/projection/records.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { paymentOf } from '../../policy/records/invoice.ts'
import {
  AGGREGATE_QUERIES,
  aggregateQueries,
  type PolicySelection,
  readAggregates,
} from '../../policy/store/aggregates.ts'
import { creditQuery, loadPolicy, movementsQuery, policyOf } from '../../policy/store/loading.ts'
import { placeOf, policyholderQuery } from '../../policyholders/store.ts'
import { operate, policyLocator } from '../../transactions/policies/service.ts'

/** The policy of the invoice that the path names, and the invoice's locator. */
async function policyOfInvoice(context: RequestContext, text: string): Promise<[PolicyAggregate, Uuid]> {
  const { database, locator } = recordPlace(context, text, 'invoice')
  return [(await loadPolicy(context, database, { invoiceLocator: locator })).aggregate, locator]
}

/** One round trip. */
export async function readInvoice(context: RequestContext, text: string): Promise<PolicyInvoiceResponse> {
  return invoiceResponse(...(await policyOfInvoice(context, text)))
}

/** What the invoice bills, item by item: one round trip. */
export async function readInvoiceItems(
  context: RequestContext,
  text: string,
): Promise<GetInvoiceFinancialTransactionsResponse> {
  return invoiceItems(...(await policyOfInvoice(context, text)))
}

/** One round trip. */
export async function readPayment(context: RequestContext, text: string): Promise<PaymentResponse> {
  const { database, locator } = recordPlace(context, text, 'payment')
  const { aggregate } = await loadPolicy(context, database, { paymentLocator: locator })
  return paymentResponse(aggregate, paymentOf(aggregate, locator))
}

/** All that is billed and planned of a policy: one round trip. */
export async function checkInvoices(context: RequestContext, text: string): Promise<CheckInvoicesResponse> {
  const locator = policyLocator(text)
  const { env, tenant, calls } = context
  const database = shardDatabase(env, tenant, shardOfPolicy(tenant, locator), calls)
  return checkedInvoices((await loadPolicy(context, database, { locator })).aggregate)
}

/** All invoices of a policyholder's policies, oldest first: one round trip. */
export async function invoicesOfHolder(
  context: RequestContext,
  text: string,
): Promise<PolicyInvoiceResponse[]> {
  const { database, locator: holder } = placeOf(context, text)
  const results = (await database.batch([
    ...aggregateQueries(database, { policyholderLocator: holder }),
    policyholderQuery(database, holder),
  ])) as unknown[]
  const [holders] = results.slice(AGGREGATE_QUERIES) as [unknown[]]
  if (holders.length === 0) throw notFound('policyholder', text)
  return readAggregates(results.slice(0, AGGREGATE_QUERIES))
    .flatMap(aggregate => invoiceResponses(aggregate))
    .sort((a, b) => Number(a.createdTimestamp) - Number(b.createdTimestamp))
}

/** What the policyholder has left of payments, and a page of those that made or used it: one round trip. */
export async function creditsOf(
  context: RequestContext,
  text: string,
  { pagingToken, pageSize }: PolicyholderCreditsQuery,
): Promise<PolicyholderCreditsResponse> {
  const { database, locator: holder } = placeOf(context, text)
  const positions = readPagingToken(pagingToken, UUID_FORM)
  const [holders, balances, movements] = await database.batch([
    policyholderQuery(database, holder),
    creditQuery(database, holder),
    movementsQuery(database, holder, positions[0], pageSize),
  ])
  if (holders.length === 0) throw notFound('policyholder', text)
  return policyholderCredits(holder, balances, movements, pageSize)
}

/** The policy of an invoice or payment: its locator names it, those of earlier releases take a look-up. */
const policyOfRecord = async (
  { database, locator }: RecordPlace,
  selection: (locator: Uuid) => PolicySelection,
): Promise<PolicyLocator> => policyOfUuid(locator) ?? (await policyOf(database, selection(locator)))

/** Of a locator that was made up the policy may be none: then there is no such invoice or payment. */
async function orNoSuch(
  what: 'invoice' | 'payment',
  text: string,
  policy: PolicyLocator,
  asked: Promise<JsonAnswer>,
): Promise<JsonAnswer> {
  const noPolicy = notFound('policy', String(policy))
  return await asked.catch((problem: unknown) => {
    throw problem instanceof Refusal && problem.message === noPolicy.message ? notFound(what, text) : problem
  })
}

/** Has the policy's object pay the invoice. */
export async function payInvoice(
  context: RequestContext,
  text: string,
  request: PaymentCreateRequest,
): Promise<JsonAnswer> {
  const place = recordPlace(context, text, 'invoice')
  const policy = await policyOfRecord(place, invoiceLocator => ({ invoiceLocator }))
  const operation = { action: 'pay' as const, invoice: place.locator, request }
  const asked = operate(context, policy, { kind: 'payment', operation }, subject =>
    readPayment(context, subject.split('/')[1]!),
  )
  return await orNoSuch('invoice', text, policy, asked)
}

/** Has the policy's object take a payment back. */
export async function reversePayment(context: RequestContext, text: string): Promise<JsonAnswer> {
  const place = recordPlace(context, text, 'payment')
  const policy = await policyOfRecord(place, paymentLocator => ({ paymentLocator }))
  const operation = { action: 'reverse' as const, payment: place.locator }
  const asked = operate(context, policy, { kind: 'payment', operation }, () =>
    readPayment(context, place.locator),
  )
  return await orNoSuch('payment', text, policy, asked)
}

/** Has the policy's object make the earliest planned invoice now. */
export const issueNextInvoice = (context: RequestContext, text: string): Promise<JsonAnswer> =>
  operate(context, policyLocator(text), { kind: 'nextInvoice' }, subject =>
    readInvoice(context, subject.split('/')[1]!),
  )
