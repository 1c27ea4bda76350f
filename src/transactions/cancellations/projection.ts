// A cancellation as answers show it, and what it does to the price.

import { payOutLimit } from '../../billing/payments/pay-out.ts'
import { type Money, negated, plus, sum, toNumber } from '../../kernel/money.ts'
import { invoiceOfTransaction, plannedTotals, restDue, totalsDueOf } from '../../policy/bills/amounts-due.ts'
import { isIssued, withIssued } from '../../policy/fold/line.ts'
import { documentsOf } from '../../policy/projection/documents.ts'
import { textIfAny } from '../../policy/projection/parts.ts'
import { policyView } from '../../policy/projection/view.ts'
import { boundQuote, type Modification, type PolicyAggregate } from '../../policy/records/aggregate.ts'
import { isOutstanding } from '../../policy/records/invoice.ts'
import type { Cancellation } from '../../policy/records/transactions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { CancellationValueResponse, PolicyPriceChangeResponse } from '../../rating/contract-change.ts'
import { policyPriceChangeResponse, totalChange } from '../../rating/price-change.ts'
import { reinstatementResponse } from '../reinstatements/projection.ts'
import type { CancellationResponse } from './contract.ts'
import type { Carried } from './effect.ts'

export function cancellationResponse(
  aggregate: PolicyAggregate,
  cancellation: Cancellation,
  product: ProductDefinition,
): CancellationResponse {
  const modification = modificationOf(aggregate, cancellation)
  const reinstatements = [...aggregate.reinstatements.values()].filter(
    one => one.cancellationLocator === cancellation.locator,
  )
  return {
    locator: String(cancellation.locator),
    name: cancellation.name,
    state: cancellation.state,
    effectiveTimestamp: String(cancellation.effectiveAt),
    conflictHandling: cancellation.conflictHandling,
    cancellationCategory: cancellation.category,
    createdTimestamp: String(cancellation.createdAt),
    updatedTimestamp: String(cancellation.updatedAt),
    issuedTimestamp: textIfAny(cancellation.issuedAt),
    policyLocator: String(aggregate.policy.locator),
    invoiceLocator: modification && invoiceOfTransaction(aggregate, modification)?.locator,
    price: modification && recordedPriceChange(aggregate, modification, product),
    reinstatements: reinstatements.map(one => reinstatementResponse(aggregate, one, product)),
    documents: documentsOf(aggregate, 'cancellation', cancellation.locator),
  }
}

const modificationOf = (
  { modifications }: PolicyAggregate,
  { modificationLocator }: { modificationLocator?: Modification['locator'] },
): Modification | undefined =>
  modificationLocator === undefined ? undefined : modifications.get(modificationLocator)

/** What a modification that is recorded changed of the price, against what was issued before it. */
export function recordedPriceChange(
  aggregate: PolicyAggregate,
  modification: Modification,
  product: ProductDefinition,
): PolicyPriceChangeResponse {
  const quote = boundQuote(aggregate)
  const earlier = (one: Modification): boolean => isIssued(one) && one.number < modification.number
  const upTo = (one: Modification): boolean => earlier(one) || one.locator === modification.locator
  return policyPriceChangeResponse(
    policyView(aggregate, quote, product, earlier),
    policyView(aggregate, quote, product, upTo),
  )
}

/** What a plan that is not recorded would change of the price. */
export const plannedPriceChange = (
  before: PolicyAggregate,
  { aggregate, modification }: Carried,
  product: ProductDefinition,
): PolicyPriceChangeResponse =>
  policyPriceChangeResponse(
    policyView(before, boundQuote(before), product, isIssued),
    policyView(aggregate, boundQuote(aggregate), product, withIssued(modification.locator)),
  )

/** What a cancellation that is carried out and billed gives back, and what is then still owed (brief 3.4, 4.5). */
export function cancellationValue(
  before: PolicyAggregate,
  carried: Carried,
  product: ProductDefinition,
): CancellationValueResponse {
  const { currency } = before.policy
  const change = totalChange(
    policyView(before, boundQuote(before), product, isIssued),
    policyView(
      carried.aggregate,
      boundQuote(carried.aggregate),
      product,
      withIssued(carried.modification.locator),
    ),
  )
  return {
    value: toNumber(negated(change)),
    valueCurrency: currency,
    balanceAfterCancellation: toNumber(balanceOf(carried.aggregate)),
    balanceAfterCancellationCurrency: currency,
    ...plannedPriceChange(before, carried, product),
  }
}

/**
 * What the policyholder owes for the policy, open invoices and planned bills together. Invoices settle each other; of what
 * is left to give back, as much as may go out.
 */
function balanceOf(aggregate: PolicyAggregate): Money {
  const { currency } = aggregate.policy
  const totalDueOf = totalsDueOf(aggregate)
  const open = sum(
    [...aggregate.invoices.values()]
      .filter(isOutstanding)
      .map(invoice => restDue(aggregate, invoice, totalDueOf(invoice))),
    currency,
  )
  const limit = negated(payOutLimit(aggregate))
  return plus(open.minor < limit.minor ? limit : open, sum(plannedTotals(aggregate), currency))
}
