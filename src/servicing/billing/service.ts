import { policyholderCredits } from '../../billing/credit/service.ts'
import { checkedInvoices, invoiceItems, invoiceResponse } from '../../billing/payments.ts'
import { notFound, Refusal } from '../../kernel/errors.ts'
import { policyOfUuid, type Uuid } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { ReadyAnswer } from '../../platform/http/route.ts'
import { readPagingToken, UUID_FORM } from '../../platform/paging.ts'
import { recordPlace, shardDatabase, shardOfPolicy } from '../../platform/tenancy.ts'
import type * as contract from '../../policy/contract/billing.ts'
import { invoiceResponses, paymentResponse } from '../../policy/projection/records.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { paymentOf } from '../../policy/records/invoice.ts'
import { AGGREGATE_QUERIES, aggregateQueries, readAggregates } from '../../policy/store/aggregates.ts'
import { creditQuery, loadPolicy, movementsQuery, policyOf } from '../../policy/store/loading.ts'
import { placeOf, policyholderQuery } from '../../policyholders/store.ts'
import type { PaymentOperation } from '../../transactions/payments/kind.ts'
import { operate, policyLocator } from '../../transactions/policies/service.ts'

/** Returns the policy of an invoice, and the locator of the invoice. */
async function policyOfInvoice(context: RequestContext, text: string): Promise<[PolicyAggregate, Uuid]> {
  const { database, locator } = recordPlace(context, text, 'invoice')
  return [(await loadPolicy(context, database, { invoiceLocator: locator })).aggregate, locator]
}

/** Returns the invoice. Throws 404 if there is none. Takes one round trip. */
export async function readInvoice(
  context: RequestContext,
  text: string,
): Promise<contract.PolicyInvoiceResponse> {
  return invoiceResponse(...(await policyOfInvoice(context, text)))
}

/** Returns the items of the invoice (`invoiceItems`). Throws 404 if there is no such invoice. Takes one round trip. */
export async function readInvoiceItems(
  context: RequestContext,
  text: string,
): Promise<contract.GetInvoiceFinancialTransactionsResponse> {
  return invoiceItems(...(await policyOfInvoice(context, text)))
}

/** Returns the payment. Throws 404 if there is none. Takes one round trip. */
export async function readPayment(context: RequestContext, text: string): Promise<contract.PaymentResponse> {
  const { database, locator } = recordPlace(context, text, 'payment')
  const { aggregate } = await loadPolicy(context, database, { paymentLocator: locator })
  return paymentResponse(aggregate, paymentOf(aggregate, locator))
}

/** Returns the policy's invoices and planned ones, with items. Throws 404 if there is no such policy. Takes one round trip. */
export async function checkInvoices(
  context: RequestContext,
  text: string,
): Promise<contract.CheckInvoicesResponse> {
  const locator = policyLocator(text)
  const { env, tenant, calls } = context
  const database = shardDatabase(env, tenant, shardOfPolicy(tenant, locator), calls)
  return checkedInvoices((await loadPolicy(context, database, { locator })).aggregate)
}

/** Returns the invoices of all policies of a policyholder, oldest first: one round trip. */
export async function invoicesOfHolder(
  context: RequestContext,
  text: string,
): Promise<contract.PolicyInvoiceResponse[]> {
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

/** Returns the credit of a policyholder and a page of its movements: one round trip. */
export async function creditsOf(
  context: RequestContext,
  text: string,
  { pagingToken, pageSize }: contract.PolicyholderCreditsQuery,
): Promise<contract.PolicyholderCreditsResponse> {
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

/**
 * Carries out an operation in the policy's object. The locator of the record names its policy; for a record of an earlier release
 * the policy is looked up. An invented locator may name a policy that does not exist: then 404 for the record, not the policy.
 */
async function operateOn(
  context: RequestContext,
  what: 'invoice' | 'payment',
  text: string,
  operationOn: (locator: Uuid) => PaymentOperation,
): Promise<ReadyAnswer> {
  const { database, locator } = recordPlace(context, text, what)
  const selection = what === 'invoice' ? { invoiceLocator: locator } : { paymentLocator: locator }
  const policy = policyOfUuid(locator) ?? (await policyOf(database, selection))
  const noPolicy = notFound('policy', String(policy))
  const operation = { kind: 'payment', operation: operationOn(locator) } as const
  return await operate(context, policy, operation, subject =>
    readPayment(context, subject.split('/')[1]!),
  ).catch((problem: unknown) => {
    throw problem instanceof Refusal && problem.message === noPolicy.message ? notFound(what, text) : problem
  })
}

/**
 * Pays an invoice, or pays a refund out, in the policy's object. Throws 404 if there is no such invoice, 409 if its state does
 * not allow it, and 400 for an amount that does not fit.
 */
export const payInvoice = (
  context: RequestContext,
  text: string,
  request: contract.PaymentCreateRequest,
): Promise<ReadyAnswer> =>
  operateOn(context, 'invoice', text, invoice => ({ action: 'pay', invoice, request }))

/**
 * Reverses a payment; an offset on both invoices. Throws 404 if there is no such payment, and 409 if its state or its invoice's
 * does not allow it.
 */
export const reversePayment = (context: RequestContext, text: string): Promise<ReadyAnswer> =>
  operateOn(context, 'payment', text, payment => ({ action: 'reverse', payment }))

/** Creates the earliest planned invoice now, in the policy's object. */
export const issueNextInvoice = (context: RequestContext, text: string): Promise<ReadyAnswer> =>
  operate(context, policyLocator(text), { kind: 'nextInvoice' }, subject =>
    readInvoice(context, subject.split('/')[1]!),
  )
