import { payOutLimit } from '../../billing/payments.ts'
import type { CancellationLocator } from '../../kernel/locators.ts'
import { type Money, negated, plus, sum, toNumber } from '../../kernel/money.ts'
import { invoiceOfTransaction, plannedTotals, restDue, totalsDueOf } from '../../policy/bills/amounts-due.ts'
import { isIssued, withIssued } from '../../policy/fold/line.ts'
import { textIfAny } from '../../policy/projection/characteristics.ts'
import { policyView } from '../../policy/projection/policy.ts'
import { documentsOf } from '../../policy/projection/records.ts'
import { boundQuote, type PolicyAggregate } from '../../policy/records/aggregate.ts'
import { isOutstanding } from '../../policy/records/invoice.ts'
import { type Cancellation, cancellationOf } from '../../policy/records/transactions.ts'
import type { AppliedTransaction } from '../../policy/transitions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { CancellationValueResponse } from '../../rating/contract-change.ts'
import { totalChange } from '../../rating/price.ts'
import type { RecordKind } from '../mechanism/kind.ts'
import { plannedPriceChange, recordedPriceChange } from '../mechanism/price-change.ts'
import { reinstatementResponse } from '../reinstatements/projection.ts'
import type { CancellationResponse } from './contract.ts'

export const CANCELLATIONS: RecordKind<CancellationLocator, Cancellation, CancellationResponse> = {
  name: 'cancellation',
  form: 'digits',
  select: cancellationLocator => ({ cancellationLocator }),
  all: ({ cancellations }) => cancellations.values(),
  find: cancellationOf,
  show: cancellationResponse,
}

export function cancellationResponse(
  aggregate: PolicyAggregate,
  cancellation: Cancellation,
  product: ProductDefinition,
): CancellationResponse {
  const { modificationLocator } = cancellation
  const modification =
    modificationLocator === undefined ? undefined : aggregate.modifications.get(modificationLocator)
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

/** Returns the refund of a cancellation and the balance owed after it is billed (brief 3.4, 4.5). */
export function cancellationValue(
  before: PolicyAggregate,
  billed: AppliedTransaction,
  product: ProductDefinition,
): CancellationValueResponse {
  const { currency } = before.policy
  const change = totalChange(
    policyView(before, boundQuote(before), product, isIssued),
    policyView(
      billed.aggregate,
      boundQuote(billed.aggregate),
      product,
      withIssued(billed.modification.locator),
    ),
  )
  return {
    value: toNumber(negated(change)),
    valueCurrency: currency,
    balanceAfterCancellation: toNumber(balanceOf(billed.aggregate)),
    balanceAfterCancellationCurrency: currency,
    ...plannedPriceChange(before, billed, product),
  }
}

/**
 * Returns the amount that the policyholder owes for the policy: open invoices and planned bills, after they settle each other. A
 * refund is limited to the amount that may be paid out.
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
