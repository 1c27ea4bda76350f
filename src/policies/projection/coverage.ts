// What a policy covers at one moment, by what is known now (brief 3.5): segments that are issued and not replaced
// and have that moment in their span, on policy, exposure and peril (brief 2.1.2).
import type { ProductDefinition } from '../../configuration/configuration.ts'
import { type Money, sum, toNumber } from '../../platform/money.ts'
import type { Instant, Span } from '../../platform/time.ts'
import { type PolicyAggregate, selectedQuote } from '../aggregate.ts'
import type { PerilCharacteristicsResponse } from '../contract/characteristics.ts'
import type { CoverageSummaryResponse, PerilCoverageResponse } from '../contract/coverage.ts'
import { feesOf, feeTotal } from '../fold/fees.ts'
import { isIssued, segmentsInForce } from '../fold/line.ts'
import { exposureResponses } from './characteristics.ts'
import { exposuresInEffect } from './snapshot.ts'
import { allPieces, policyView } from './view.ts'

/**
 * Amounts are those of the segments that are on risk, each for its whole span, and of the fees whose span has the
 * moment in it while anything of the policy is on risk. A policy that is not issued covers nothing.
 */
export function coverageSummary(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  at: Instant,
): CoverageSummaryResponse {
  const { locator, currency, issuedAt } = aggregate.policy
  const quote = selectedQuote(aggregate)
  const view = policyView(aggregate, quote, product, isIssued)
  const isOnRisk = issuedAt !== undefined && segmentsInForce(view.line).some(segment => has(segment, at))
  const exposures = isOnRisk ? exposuresInEffect(exposureResponses(view), at) : []
  const perils = exposures.flatMap(exposure => exposure.perils)
  const onRisk = new Set(perils.flatMap(peril => peril.characteristics.map(one => one.locator)))
  const amounts = allPieces(view).flatMap(one =>
    onRisk.has(one.locator) && one.piece.amounts ? [one.piece.amounts] : [],
  )
  const fees = isOnRisk ? feesOf(aggregate, quote, view.line).filter(({ fee }) => has(fee, at)) : []
  const gross = (of: Iterable<Money>): number => toNumber(sum(of, currency))
  return {
    policyLocator: String(locator),
    effectiveTimestamp: String(at),
    exposures: exposures
      .filter(exposure => exposure.perils.length > 0)
      .map(exposure => ({
        locator: exposure.locator,
        name: exposure.name,
        fieldValues: exposure.characteristics[0]!.fieldValues,
        perils: exposure.perils.flatMap(peril => peril.characteristics.map(one => perilCoverage(peril, one))),
      })),
    grossPremium: gross(amounts.map(one => one.premium)),
    grossPremiumCurrency: currency,
    grossTaxes: gross(amounts.flatMap(one => one.taxes)),
    grossTaxesCurrency: currency,
    grossFees: toNumber(feeTotal(fees, currency)),
    grossFeesCurrency: currency,
  }
}

const has = ({ start, end }: Span, at: Instant): boolean => start <= at && at < end

/** What is issued is priced. */
const perilCoverage = (
  { locator, name }: { locator: string; name: string },
  segment: PerilCharacteristicsResponse,
): PerilCoverageResponse => ({
  locator,
  name,
  coverageStartTimestamp: segment.coverageStartTimestamp,
  coverageEndTimestamp: segment.coverageEndTimestamp,
  premium: segment.premium!,
  premiumCurrency: segment.premiumCurrency,
  deductible: segment.deductible,
  deductibleCurrency: segment.deductibleCurrency,
  lumpSumPayment: segment.lumpSumPayment,
  lumpSumPaymentCurrency: segment.lumpSumPaymentCurrency,
  indemnityInAggregate: segment.indemnityInAggregate,
  indemnityInAggregateCurrency: segment.indemnityInAggregateCurrency,
  indemnityPerEvent: segment.indemnityPerEvent,
  indemnityPerEventCurrency: segment.indemnityPerEventCurrency,
  indemnityPerItem: segment.indemnityPerItem,
  indemnityPerItemCurrency: segment.indemnityPerItemCurrency,
})
