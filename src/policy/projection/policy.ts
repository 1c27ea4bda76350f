// A policy in responses. Segments, modification lists and sums are derived on read.

import { tooLarge } from '../../kernel/errors.ts'
import { derivedUuid, shardOfDigits, type Uuid } from '../../kernel/locators.ts'
import { toNumber } from '../../kernel/money.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { CancellationInfo, PolicyResponse } from '../contract/response.ts'
import type { FeeInForce, Line, ModificationFilter } from '../fold/line.ts'
import { feesOf, feeTotal, isIssued, isStanding, lineOf, standingCancellations } from '../fold/line.ts'
import { type ExposurePiece, exposurePieces, type Piece, piecesOf } from '../fold/pieces.ts'
import type {
  Exposure,
  Peril,
  PerilRun,
  PolicyAggregate,
  PolicySegment,
  Quote,
} from '../records/aggregate.ts'
import { recordsWhere, selectedQuoteIfAny } from '../records/aggregate.ts'
import {
  exposureResponses,
  feeResponse,
  policyCharacteristics,
  policyProperties,
  withLazy,
} from './characteristics.ts'
import { documentsOfPolicy, invoiceResponses, modificationResponses } from './records.ts'

export type ProjectionOptions = { summarizeQuotes: boolean }

/** In one answer: each peril has characteristics for every segment, so a large policy with a long life has millions of them. */
const MOST_PERIL_CHARACTERISTICS = 150_000

/**
 * PolicyResponse with the selected quote, or the given one. By default, includes segments of accepted transactions, but not
 * their fees; `counts` overrides that. A policy without a selected quote has only its own properties. 413 for a policy that no
 * answer can hold.
 */
export function policyResponse(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  options: ProjectionOptions,
  quote: Quote | undefined = selectedQuoteIfAny(aggregate),
  counts?: ModificationFilter,
): PolicyResponse {
  const { policy } = aggregate
  const view = quote && policyView(aggregate, quote, product, counts ?? isStanding)
  if (view) requireAnswerable(view)
  const fees = quote ? feesInForce(aggregate, quote, counts) : []
  return {
    ...ownProperties(aggregate, product),
    // Copies have values in place of getters: one getter, and the engine takes twice as long to write all of the JSON.
    characteristics: view ? policyCharacteristics(view).map(one => ({ ...one })) : [],
    modifications: view ? modificationResponses(view) : [],
    exposures: view ? exposureResponses(view) : [],
    grossFees: toNumber(feeTotal(fees, policy.currency)),
    grossFeesCurrency: policy.currency,
    fees: fees.map(feeResponse),
    documents: documentsOfPolicy(aggregate),
    invoices: invoiceResponses(aggregate),
    quoteSummary: options.summarizeQuotes ? quoteSummary(aggregate) : undefined,
  }
}

/** Counts only where perils times segments are many, and only as far as it must. */
function requireAnswerable({ aggregate, line, order }: PolicyView): void {
  const { locator, timeZone } = aggregate.policy
  const runs = [...recordsWhere(aggregate.perilRuns, ({ madeBy }) => order.has(madeBy))]
  const segments = line.reduce((count, { made }) => count + made.length, 0)
  if (runs.length * segments <= MOST_PERIL_CHARACTERISTICS) return
  let count = 0
  for (const run of runs) {
    count += piecesOf(run, line, timeZone).length
    if (count > MOST_PERIL_CHARACTERISTICS)
      throw tooLarge(
        `The policy is too large for one answer: over its ${segments} segments, its perils have more than ${MOST_PERIL_CHARACTERISTICS} characteristics. Read its invoices (GET /policy/${locator}/checkInvoices), transactions and documents (GET /policies/${locator}/documents) by themselves.`,
      )
  }
}

/** Like `policyResponse`, but computes expensive parts on first read. */
export function policyToRead(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  quote: Quote,
  counts?: ModificationFilter,
): PolicyResponse {
  const { policy } = aggregate
  const view = policyView(aggregate, quote, product, counts ?? isStanding)
  const fees = (): FeeInForce[] => feesInForce(aggregate, quote, counts)
  const own = { ...ownProperties(aggregate, product), grossFeesCurrency: policy.currency }
  const making: Partial<{ [Name in keyof PolicyResponse]: () => PolicyResponse[Name] }> = {
    characteristics: () => policyCharacteristics(view),
    modifications: () => modificationResponses(view),
    exposures: () => exposureResponses(view),
    grossFees: () => toNumber(feeTotal(fees(), policy.currency)),
    fees: () => fees().map(feeResponse),
    documents: () => documentsOfPolicy(aggregate),
    invoices: () => invoiceResponses(aggregate),
  }
  for (const [name, make] of Object.entries(making)) withLazy(own, name, make)
  return own as unknown as PolicyResponse
}

const feesInForce = (
  aggregate: PolicyAggregate,
  quote: Quote,
  counts: ModificationFilter | undefined,
): FeeInForce[] => feesOf(aggregate, quote, lineOf(aggregate, quote, counts ?? isIssued))

/** Properties of the policy's own row, with its cancellation. They need no selected quote. */
const ownProperties = (aggregate: PolicyAggregate, product: ProductDefinition) => ({
  ...policyProperties(aggregate.policy),
  displayId: String(aggregate.policy.locator),
  productLocator: product.locator,
  cancellation: cancellationInfo(aggregate),
  paymentScheduleName: aggregate.policy.paymentScheduleName,
  premiumReportName: aggregate.policy.premiumReportName,
})

/** The latest cancellation or withdrawal that is not reinstated (brief 1.1). */
function cancellationInfo(aggregate: PolicyAggregate): CancellationInfo | undefined {
  const latest = standingCancellations(aggregate).at(-1)
  return (
    latest && {
      effectiveTimestamp: String(latest.effectiveAt),
      modificationLocator: latest.locator,
      modificationName: latest.name,
    }
  )
}

function quoteSummary(aggregate: PolicyAggregate): PolicyResponse['quoteSummary'] {
  return {
    selected: String(selectedQuoteIfAny(aggregate)?.locator ?? ''),
    notDiscarded: [...aggregate.quotes.values()]
      .filter(quote => quote.state !== 'discarded')
      .map(({ locator, name, state }) => ({ locator: String(locator), name, state })),
  }
}

/** Locator of a run's characteristics in one segment. Derived from both, so it needs no row. */
export const perilSegmentLocator = (
  run: Uuid,
  segment: Pick<PolicySegment, 'locator'>,
  shard: number,
): Uuid => derivedUuid(shard, run, segment.locator)

/** A piece with its run and the locator of its characteristics. */
export type RunPiece = { readonly run: PerilRun; readonly piece: Piece; readonly locator: Uuid }

export type PerilView = { readonly peril: Peril; readonly pieces: readonly RunPiece[] }

export type ExposureView = {
  readonly exposure: Exposure
  readonly runs: readonly ExposurePiece[]
  readonly perils: readonly PerilView[]
}

/** One quote's policy, or the issued policy, folded. */
export type PolicyView = {
  readonly aggregate: PolicyAggregate
  readonly quote: Quote
  readonly shard: number
  /** Properties that every record of the policy has. */
  readonly record: { policyholderLocator: string; policyLocator: string; productLocator: string }
  readonly line: Line
  /** Places of the modifications in the line. */
  readonly order: ReadonlyMap<Uuid, number>
  /** Folded on first read: most readers do not need them. */
  readonly exposures: readonly ExposureView[]
}

export function policyView(
  aggregate: PolicyAggregate,
  quote: Quote,
  product: ProductDefinition,
  counts: ModificationFilter = isStanding,
): PolicyView {
  const { policy } = aggregate
  const shard = shardOfDigits(policy.locator)
  const line = lineOf(aggregate, quote, counts)
  const order = new Map(line.map((step, at) => [step.modification.locator, at]))
  const view = {
    aggregate,
    quote,
    shard,
    record: {
      policyholderLocator: policy.policyholderLocator,
      policyLocator: String(policy.locator),
      productLocator: product.locator,
    },
    line,
    order,
  }
  let exposures: readonly ExposureView[] | undefined
  return {
    ...view,
    get exposures() {
      exposures ??= exposureViews(view)
      return exposures
    },
  }
}

function exposureViews(view: Omit<PolicyView, 'exposures'>): ExposureView[] {
  const { aggregate, quote, shard, line, order } = view
  const { perils, policy } = aggregate
  const isCounted = ({ madeBy }: { readonly madeBy: Uuid }): boolean => order.has(madeBy)
  const runsOf = Map.groupBy(recordsWhere(aggregate.exposureRuns, isCounted), run => run.exposureLocator)
  const runsOfPeril = Map.groupBy(recordsWhere(aggregate.perilRuns, isCounted), run => run.perilLocator)
  const counted = [...runsOfPeril.keys()].flatMap(locator => perils.get(locator) ?? [])
  const perilsOf = Map.groupBy(counted, peril => peril.exposureLocator)
  const perilView = (peril: Peril): PerilView => {
    const pieces = runsOfPeril
      .get(peril.locator)!
      .flatMap(run => piecesOf(run, line, policy.timeZone).map(piece => runPiece(run, piece, shard)))
    return { peril, pieces: pieces.sort((a, b) => byMaking(order, a.piece, b.piece)) }
  }
  return [...aggregate.exposures.values()].flatMap(exposure => {
    const exposureRuns = runsOf.get(exposure.locator)
    if (!exposureRuns || exposure.quoteLocator !== quote.locator) return []
    const runs = exposureRuns
      .flatMap(run => exposurePieces(run, order, shard))
      .sort((a, b) => byMaking(order, a, b))
    return [{ exposure, runs, perils: (perilsOf.get(exposure.locator) ?? []).map(perilView) }]
  })
}

/** Computes the locator, a digest, on first read: prices do not show it. */
function runPiece(run: PerilRun, piece: Piece, shard: number): RunPiece {
  let made: Uuid | undefined
  return {
    run,
    piece,
    get locator() {
      made ??= perilSegmentLocator(run.locator, piece.segment, shard)
      return made
    },
  }
}

type Creation = Pick<Piece, 'madeBy' | 'start'>

/** Creation order: by modification, then by time. */
const byMaking = (order: ReadonlyMap<Uuid, number>, a: Creation, b: Creation): number =>
  order.get(a.madeBy)! - order.get(b.madeBy)! || a.start - b.start

export const allPieces = ({ exposures }: Pick<PolicyView, 'exposures'>): RunPiece[] =>
  exposures.flatMap(exposure => exposure.perils.flatMap(peril => peril.pieces))
