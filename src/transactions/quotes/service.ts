// Serves quotes. A quote's locator gives its shard; finding its policy takes one more read.

import { notFound, Refusal } from '../../kernel/errors.ts'
import { type PolicyLocator, type QuoteLocator, readDigits } from '../../kernel/locators.ts'
import type { JsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { shardDatabase, shardOfPolicy } from '../../platform/tenancy.ts'
import type { PolicyPriceResponse } from '../../policy/contract/prices.ts'
import { policyView } from '../../policy/projection/policy.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { quoteOf } from '../../policy/records/transactions.ts'
import { loadPolicy, policyOf } from '../../policy/store/loading.ts'
import { policyPriceResponse } from '../../rating/price.ts'
import { operate, policyLocator } from '../policies/service.ts'
import type { PolicyQuoteResponse } from './contract-quote.ts'
import type { QuoteOperation } from './decision.ts'
import { quoteResponse } from './projection.ts'

/** The locator in a path; 404 for text that no quote's can be. */
export function quoteLocator(text: string): QuoteLocator {
  const digits = readDigits(text)
  if (digits === undefined) throw notFound('quote', text)
  return digits as QuoteLocator
}

const databaseOf = (
  { env, tenant, calls }: RequestContext,
  locator: QuoteLocator | PolicyLocator,
): Database => shardDatabase(env, tenant, shardOfPolicy(tenant, locator), calls)

/** All quotes of a policy, oldest first, discarded ones too: one round trip. */
export async function quotesOf(context: RequestContext, policyText: string): Promise<PolicyQuoteResponse[]> {
  const locator = policyLocator(policyText)
  const { aggregate, product } = await loadPolicy(context, databaseOf(context, locator), { locator })
  return [...aggregate.quotes.values()].map(quote => quoteResponse(aggregate, quote, product))
}

/** The quote as it is stored: one round trip. */
export async function readQuote(
  context: RequestContext,
  locator: QuoteLocator,
): Promise<PolicyQuoteResponse> {
  const { aggregate, product } = await loadPolicy(context, databaseOf(context, locator), {
    quoteLocator: locator,
  })
  return quoteResponse(aggregate, quoteOf(aggregate, locator), product)
}

/** The price that was saved when it was quoted: one round trip. 409 before that. */
export async function readQuotePrice(
  context: RequestContext,
  locator: QuoteLocator,
): Promise<PolicyPriceResponse> {
  const { aggregate, product } = await loadPolicy(context, databaseOf(context, locator), {
    quoteLocator: locator,
  })
  const quote = quoteOf(aggregate, locator)
  if (!isPriced(aggregate, quote.locator))
    throw new Refusal(
      'wrongState',
      `Quote ${locator} is ${quote.state} and has no price yet; PATCH /quotes/${locator}/quote prices it.`,
    )
  return policyPriceResponse(policyView(aggregate, quote, product, () => false))
}

const isPriced = ({ modifications }: PolicyAggregate, quote: QuoteLocator): boolean =>
  [...modifications.values()].some(one => one.quoteLocator === quote && one.premiumChange !== undefined)

/** Has the policy's object carry out an action on the quote. */
export async function operateQuote(
  context: RequestContext,
  locator: QuoteLocator,
  operation: QuoteOperation,
): Promise<JsonAnswer> {
  const database = databaseOf(context, locator)
  const policy = await policyOf(database, { quoteLocator: locator })
  return await operate(context, policy, { kind: 'quote', quote: locator, operation }, async subject => {
    const shown = quoteLocator(subject.split('/')[1]!)
    return operation.action === 'quote' ? readQuotePrice(context, shown) : readQuote(context, shown)
  })
}
