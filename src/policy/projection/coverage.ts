// What a policy covers at one moment, by what is issued today (brief 3.5): the parts of its runs that have that
// moment in their span, on policy, exposure and peril (brief 2.1.2).
import { type CurrencyCode, sum, toNumber } from '../../kernel/money.ts'
import type { Instant, Span } from '../../kernel/time.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { CoverageSummaryResponse, PerilCoverageResponse } from '../contract/response.ts'
import { feesOf, feeTotal, isIssued, segmentsInForce } from '../fold/line.ts'
import { type Peril, type PolicyAggregate, selectedQuoteIfAny } from '../records/aggregate.ts'
import { allPieces, policyView, type RunPiece } from './policy.ts'

/**
 * Amounts are those of the segments that are on risk, each for its whole span, and of the fees whose span has the
 * moment in it while the policy is on risk. A policy that is not issued covers nothing.
 */
export function coverageSummary(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  at: Instant,
): CoverageSummaryResponse {
  const { locator, currency, issuedAt } = aggregate.policy
  const quote = issuedAt === undefined ? undefined : selectedQuoteIfAny(aggregate)
  const view = quote && policyView(aggregate, quote, product, isIssued)
  const isOnRisk = view !== undefined && segmentsInForce(view.line).some(segment => holds(segment, at))
  const exposures = (isOnRisk ? view.exposures : []).flatMap(({ exposure, runs, perils }) => {
    const run = runs.find(one => one.replacedBy === undefined && holds(one, at))
    const covered = perils.map(one => ({ ...one, pieces: one.pieces.filter(piece => isHit(piece, at)) }))
    const onRisk = covered.filter(one => one.pieces.length > 0)
    return run && onRisk.length > 0 ? [{ exposure, run, perils: onRisk }] : []
  })
  const amounts = allPieces({ exposures: exposures.map(one => ({ ...one, runs: [one.run] })) }).flatMap(
    one => one.piece.amounts ?? [],
  )
  const fees =
    quote && isOnRisk ? feesOf(aggregate, quote, view.line).filter(({ fee }) => holds(fee, at)) : []
  const premiums = amounts.map(one => one.premium)
  const taxes = amounts.flatMap(one => one.taxes)
  return {
    policyLocator: String(locator),
    effectiveTimestamp: String(at),
    exposures: exposures.map(({ exposure, run, perils }) => ({
      locator: exposure.locator,
      name: exposure.name,
      fieldValues: run.run.data.values,
      perils: perils.flatMap(({ peril, pieces }) => pieces.map(one => perilCoverage(peril, one, currency))),
    })),
    grossPremium: toNumber(sum(premiums, currency)),
    grossPremiumCurrency: currency,
    grossTaxes: toNumber(sum(taxes, currency)),
    grossTaxesCurrency: currency,
    grossFees: toNumber(feeTotal(fees, currency)),
    grossFeesCurrency: currency,
  }
}

const holds = ({ start, end }: Span, at: Instant): boolean => start <= at && at < end

/** A piece is gone with the segment that it lies in, so that the policy's level is in it. */
const isHit = ({ piece }: RunPiece, at: Instant): boolean =>
  piece.replacedBy === undefined && holds(piece, at)

/** What is issued is priced. */
function perilCoverage(
  { locator, name }: Peril,
  { run, piece }: RunPiece,
  currency: CurrencyCode,
): PerilCoverageResponse {
  const { deductible, lumpSumPayment, ...limits } = run.amounts
  return {
    locator,
    name,
    coverageStartTimestamp: String(piece.start),
    coverageEndTimestamp: String(piece.end),
    premium: toNumber(piece.amounts!.premium),
    premiumCurrency: currency,
    deductible: deductible === undefined ? undefined : Number(deductible),
    deductibleCurrency: currency,
    lumpSumPayment: lumpSumPayment === undefined ? undefined : Number(lumpSumPayment),
    lumpSumPaymentCurrency: currency,
    indemnityInAggregate: limits.indemnityInAggregate,
    indemnityInAggregateCurrency: currency,
    indemnityPerEvent: limits.indemnityPerEvent,
    indemnityPerEventCurrency: currency,
    indemnityPerItem: limits.indemnityPerItem,
    indemnityPerItemCurrency: currency,
  }
}
