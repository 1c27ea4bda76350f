import { textIfAny } from '../../policy/projection/characteristics.ts'
import { documentsByOrigin, documentsOf } from '../../policy/projection/records.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import {
  type GracePeriod,
  type Lapse,
  type LapseReinstatement,
  reinstatementStatus,
  stateEnteredAt,
} from '../../policy/records/transactions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type {
  GraceLapseReinstatementResponse,
  GracePeriodResponse,
  LapseReinstatementResponse,
  LapseResponse,
} from './contract.ts'
import { reinstatementInvoice } from './transitions.ts'

export const gracePeriodResponse = (
  aggregate: PolicyAggregate,
  grace: GracePeriod,
  product: ProductDefinition,
): GracePeriodResponse => ({
  locator: grace.locator,
  policyholderLocator: aggregate.policy.policyholderLocator,
  policyLocator: String(aggregate.policy.locator),
  productLocator: product.locator,
  policyId: String(aggregate.policy.locator),
  invoiceLocator: grace.invoiceLocator,
  startTimestamp: String(grace.startAt),
  endTimestamp: String(grace.endAt),
  settledTimestamp: textIfAny(grace.settledAt),
  cancelEffectiveTimestamp: textIfAny(grace.cancelEffectiveAt),
  cancellationLocator: textIfAny(grace.cancellationLocator),
  document: documentsOf(aggregate, 'gracePeriod', grace.locator)[0],
})

export const lapseResponse = (aggregate: PolicyAggregate, lapse: Lapse): LapseResponse => ({
  locator: lapse.locator,
  createdTimestamp: String(lapse.createdAt),
  lapseTimestamp: String(lapse.lapsedAt),
  reinstatementPeriodEndTimestamp: String(lapse.reinstatementPeriodEndAt),
  document: documentsOf(aggregate, 'lapse', lapse.locator)[0],
})

export const lapseReinstatementResponse = (
  aggregate: PolicyAggregate,
  reinstatement: LapseReinstatement,
): LapseReinstatementResponse => {
  const { uploaded, made } = documentsByOrigin(aggregate, 'lapseReinstatement', reinstatement.locator)
  return {
    locator: reinstatement.locator,
    createdTimestamp: String(reinstatement.createdAt),
    updatedTimestamp: String(reinstatement.updatedAt),
    currentStatus: reinstatementStatus(reinstatement),
    statuses: reinstatement.statuses.map(({ at, status }) => ({ timestamp: String(at), status })),
    uploadedDocuments: uploaded,
    issuedTimestamp: textIfAny(stateEnteredAt(reinstatement, 'issued')),
    invoicedTimestamp: textIfAny(stateEnteredAt(reinstatement, 'invoiced')),
    reinstatementTimestamp: textIfAny(reinstatement.effectiveAt),
    invoiceLocator: reinstatementInvoice(aggregate, reinstatement)?.locator,
    reinstatementDocument: made[0],
  }
}

/** Oldest grace period first. */
export const graceLapseReinstatements = (
  aggregate: PolicyAggregate,
  product: ProductDefinition,
): GraceLapseReinstatementResponse[] =>
  [...aggregate.gracePeriods.values()].map(grace => {
    const lapse = [...aggregate.lapses.values()].find(one => one.gracePeriodLocator === grace.locator)
    const reinstatements = [...aggregate.lapseReinstatements.values()].filter(
      one => one.lapseLocator === lapse?.locator,
    )
    return {
      gracePeriod: gracePeriodResponse(aggregate, grace, product),
      lapse: lapse && lapseResponse(aggregate, lapse),
      reinstatements: reinstatements.map(one => lapseReinstatementResponse(aggregate, one)),
    }
  })
