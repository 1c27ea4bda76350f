// A reinstatement as answers show it. Price, invoice and amount are there once it is accepted (contract 1).
import { amountsDue, invoicesOf } from '../billing/bill.ts'
import { recordedPriceChange } from '../cancellations/projection.ts'
import type { ProductDefinition } from '../configuration/configuration.ts'
import { documentsOf } from '../documents/projection.ts'
import { toNumber } from '../platform/money.ts'
import type { PolicyAggregate, Reinstatement } from '../policies/aggregate.ts'
import { textIfAny } from '../policies/projection/parts.ts'
import type { ReinstatementResponse } from './contract.ts'

export function reinstatementResponse(
  aggregate: PolicyAggregate,
  reinstatement: Reinstatement,
  product: ProductDefinition,
): ReinstatementResponse {
  const { modificationLocator } = reinstatement
  const modification =
    modificationLocator === undefined ? undefined : aggregate.modifications.get(modificationLocator)
  const due = modification && amountsDue(aggregate, modification)[0]
  return {
    locator: reinstatement.locator,
    cancellationLocator: String(reinstatement.cancellationLocator),
    state: reinstatement.state,
    createdTimestamp: String(reinstatement.createdAt),
    updatedTimestamp: String(reinstatement.updatedAt),
    issuedTimestamp: textIfAny(reinstatement.issuedAt),
    effectiveTimestamp: String(reinstatement.effectiveAt),
    reinstatementDeadlineTimestamp: textIfAny(reinstatement.deadlineAt),
    reinstatementPaymentAmount: due && toNumber(due),
    reinstatementPaymentAmountCurrency: due?.currency,
    invoiceLocator: modification && invoicesOf(aggregate, modification)[0]?.locator,
    price: modification && recordedPriceChange(aggregate, modification, product),
    documents: documentsOf(aggregate, 'reinstatement', reinstatement.locator),
  }
}
