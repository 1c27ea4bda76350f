// The policy as known at a time: what GET returned then, with replaced segments marked. Brief 3.5 omits replaced segments; this
// deliberately keeps them, so that a snapshot can be compared with any stored response. With an effective time, it has only
// segments of policy, exposures and perils that contain that time and were not replaced by then (brief 2.1.2).
import { Refusal } from '../../kernel/errors.ts'
import { flatMapList } from '../../kernel/json.ts'
import { type CurrencyCode, sum, toNumber } from '../../kernel/money.ts'
import { containsTime, type Instant } from '../../kernel/time.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type {
  CoverageSummaryResponse,
  PerilCoverageResponse,
  PolicySnapshotRequest,
} from '../contract/response.ts'
import { feesOf, feeTotal, isIssued, segmentsInForce } from '../fold/line.ts'
import { type Peril, type PolicyAggregate, selectedQuoteIfAny } from '../records/aggregate.ts'
import { policyAsKnownAt } from './as-known.ts'
import {
  allPieces,
  type ExposureAnswer,
  type PerilDetail,
  type PolicyAnswer,
  policyAnswer,
  policyView,
  type RunPiece,
} from './policy.ts'

/** Throws 404 if the time is before the policy's creation. */
export function policySnapshot(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  { asOfTimestamp: asOf, effectiveTimestamp }: PolicySnapshotRequest,
  detail: PerilDetail = {},
): PolicyAnswer {
  const known = asOf === undefined ? aggregate : policyAsKnownAt(aggregate, asOf)
  if (!known) {
    const { locator, createdAt } = aggregate.policy
    throw new Refusal(
      'notFound',
      `There was no policy '${locator}' at ${asOf}; it was created at ${createdAt}. Use that time or a later one.`,
    )
  }
  const answer = policyAnswer(known, product, { summarizeQuotes: false, ...detail })
  if (effectiveTimestamp === undefined) return answer
  const characteristics = segmentsInEffect(answer.characteristics, effectiveTimestamp)
  return {
    ...answer,
    characteristics,
    exposures:
      characteristics.length === 0
        ? []
        : flatMapList(answer.exposures, one => exposureInEffect(one, effectiveTimestamp)),
  }
}

/** Omits exposures and perils that have no segment at that time. */
function exposureInEffect(exposure: ExposureAnswer, at: Instant): ExposureAnswer[] {
  const characteristics = segmentsInEffect(exposure.characteristics, at)
  if (characteristics.length === 0) return []
  const perils = flatMapList(exposure.perils, peril => {
    const own = peril.characteristics.filter(one =>
      isInEffect(one, one.coverageStartTimestamp, one.coverageEndTimestamp, at),
    )
    return own.length === 0 ? [] : [{ ...peril, characteristics: own }]
  })
  return [{ ...exposure, characteristics, perils }]
}

const segmentsInEffect = <
  S extends Replaceable & { readonly startTimestamp: string; readonly endTimestamp: string },
>(
  segments: readonly S[],
  at: Instant,
): S[] => segments.filter(one => isInEffect(one, one.startTimestamp, one.endTimestamp, at))

type Replaceable = { readonly replacedTimestamp?: string }

const isInEffect = ({ replacedTimestamp }: Replaceable, start: string, end: string, at: Instant): boolean =>
  replacedTimestamp === undefined && Number(start) <= at && at < Number(end)

/**
 * Returns the coverage at one moment, by what is issued today (brief 3.5): parts of runs whose span contains the moment (brief
 * 2.1.2). Amounts are those of segments on risk, each for its whole span, and of fees whose span contains the moment while the
 * policy is on risk. A policy that is not issued covers nothing.
 */
export function coverageSummary(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  at: Instant,
): CoverageSummaryResponse {
  const { locator, currency, issuedAt } = aggregate.policy
  const quote = issuedAt === undefined ? undefined : selectedQuoteIfAny(aggregate)
  const view = quote && policyView(aggregate, quote, product, isIssued)
  const isOnRisk = view !== undefined && segmentsInForce(view.line).some(segment => containsTime(segment, at))
  const exposures = (isOnRisk ? view.exposures : []).flatMap(({ exposure, runs, perils }) => {
    const run = runs.find(one => one.replacedBy === undefined && containsTime(one, at))
    const covered = perils.map(({ peril, pieces }) => ({
      peril,
      pieces: pieces.filter(one => isOnRiskAt(one, at)),
    }))
    const onRisk = covered.filter(one => one.pieces.length > 0)
    return run && onRisk.length > 0 ? [{ exposure, run, perils: onRisk }] : []
  })
  const amounts = [...allPieces({ exposures: exposures.map(one => ({ ...one, runs: [one.run] })) })].flatMap(
    one => one.piece.amounts ?? [],
  )
  const fees =
    quote && isOnRisk ? feesOf(aggregate, quote, view.line).filter(({ fee }) => containsTime(fee, at)) : []
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

/** A piece is replaced together with its segment, so this also checks the policy level. */
const isOnRiskAt = ({ piece }: RunPiece, at: Instant): boolean =>
  piece.replacedBy === undefined && containsTime(piece, at)

/** The piece has amounts, because an issued policy is always priced. */
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
    ...limits,
    indemnityInAggregateCurrency: currency,
    indemnityPerEventCurrency: currency,
    indemnityPerItemCurrency: currency,
  }
}
