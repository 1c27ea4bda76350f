// Price, invoice and amount appear on acceptance (contract 1).

import type { Uuid } from '../../kernel/locators.ts'
import { type Money, toNumber, zero } from '../../kernel/money.ts'
import { amountsDue, invoiceOfTransaction, planOf } from '../../policy/bills/amounts-due.ts'
import { textIfAny } from '../../policy/projection/characteristics.ts'
import { documentsOf } from '../../policy/projection/records.ts'
import type { Modification, PolicyAggregate } from '../../policy/records/aggregate.ts'
import { type Reinstatement, reinstatementOf } from '../../policy/records/transactions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { RecordKind } from '../mechanism/kind.ts'
import { recordedPriceChange } from '../mechanism/price-change.ts'
import type { ReinstatementResponse } from './contract.ts'

export const REINSTATEMENTS: RecordKind<Uuid, Reinstatement, ReinstatementResponse> = {
  name: 'reinstatement',
  form: 'uuid',
  select: reinstatementLocator => ({ reinstatementLocator }),
  all: ({ reinstatements }) => reinstatements.values(),
  find: reinstatementOf,
  show: reinstatementResponse,
}

export function reinstatementResponse(
  aggregate: PolicyAggregate,
  reinstatement: Reinstatement,
  product: ProductDefinition,
): ReinstatementResponse {
  const { modificationLocator } = reinstatement
  const modification =
    modificationLocator === undefined ? undefined : aggregate.modifications.get(modificationLocator)
  const due = modification && amountDue(aggregate, modification)
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
    invoiceLocator: modification && invoiceOfTransaction(aggregate, modification)?.locator,
    price: modification && recordedPriceChange(aggregate, modification, product),
    documents: documentsOf(aggregate, 'reinstatement', reinstatement.locator),
  }
}

/** Returns the amount of the reinstatement's own invoice, or 0 if it has none. */
function amountDue(aggregate: PolicyAggregate, modification: Modification): Money {
  const none = zero(aggregate.policy.currency)
  const [first] = planOf(aggregate, modification)
  // A plugin's plan may begin later, and then nothing is due immediately.
  if (!first || first.replans?.bill === 'planned' || first.issueAt > modification.createdAt) return none
  return amountsDue(aggregate, modification)[0] ?? none
}
