// A policy in responses. Segments, modification lists and sums are derived on read.

import { notFound, tooLarge } from '../../kernel/errors.ts'
import { LongList } from '../../kernel/json.ts'
import { derivedUuid, shardOfDigits, type Uuid } from '../../kernel/locators.ts'
import { toNumber } from '../../kernel/money.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type {
  CancellationInfo,
  ExposureResponse,
  PerilResponse,
  PolicyResponse,
} from '../contract/response.ts'
import type { FeeInForce, Line, ModificationFilter } from '../fold/line.ts'
import { feesOf, feeTotal, isIssued, isStanding, lineOf, standingCancellations } from '../fold/line.ts'
import { countPieces, type ExposurePiece, exposurePieces, type Piece, piecesOf } from '../fold/pieces.ts'
import type {
  Exposure,
  Peril,
  PerilRun,
  PolicyAggregate,
  PolicySegment,
  Quote,
} from '../records/aggregate.ts'
import { policyOfQuote, recordsWhere, selectedQuoteIfAny } from '../records/aggregate.ts'
import {
  exposureAnswers,
  exposureResponses,
  feeResponse,
  policyCharacteristics,
  policyProperties,
  withLazy,
} from './characteristics.ts'
import { documentsOfPolicy, invoiceResponses, modificationAnswers, modificationResponses } from './records.ts'

export type ProjectionOptions = PerilDetail & { readonly summarizeQuotes: boolean }

export type PerilDetail = {
  /**
   * Which perils are shown with their characteristics and changes: `all` (the default), `none`, or those of the exposure with that
   * locator. `few`: all if there are few enough to read at a glance, otherwise none. `fitting`: all if one answer can hold them,
   * otherwise none, because a write is not rejected for the size of its answer.
   */
  readonly perilCharacteristics?: 'all' | 'none' | 'few' | 'fitting' | (string & {})
}

/** Maximum number in one answer. Each peril has characteristics for every segment, so a large, long-lived policy has millions. */
const MOST_PERIL_CHARACTERISTICS = 150_000

/** Maximum number of pieces that are kept for all perils, about 16 MB. An answer that rereads more keeps them itself. */
const MOST_KEPT_PIECES = 30_000

/** About 4 MB of JSON. */
const FEW_PERIL_CHARACTERISTICS = 3_000

/** A policy as it is answered: a PolicyResponse whose lists that grow with the characteristics of perils may be long lists. */
export type PolicyAnswer = Omit<PolicyResponse, 'modifications' | 'exposures'> & {
  readonly modifications: PolicyResponse['modifications'] | LongList<object>
  readonly exposures: ExposureAnswer[] | LongList<ExposureAnswer>
}

export type ExposureAnswer = Omit<ExposureResponse, 'perils'> & {
  readonly perils: PerilResponse[] | LongList<PerilResponse>
}

/**
 * Returns the PolicyResponse of the selected quote, or of the given one. By default it includes segments of accepted transactions,
 * but not their fees; `counts` overrides that. A policy without a selected quote has only its own properties. Throws 413 for a
 * policy that no answer can hold, and 404 for an exposure that it does not have.
 */
export const policyResponse = (
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  options: ProjectionOptions,
  quote: Quote | undefined = selectedQuoteIfAny(aggregate),
  counts?: ModificationFilter,
): PolicyResponse => policyResponseWithLists(aggregate, product, options, quote, counts, () => HELD)

/** Like `policyResponse` and with the same JSON, for answers that no other code reads. */
export const policyAnswer = (
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  options: ProjectionOptions,
): PolicyAnswer =>
  policyResponseWithLists<PolicyAnswer['modifications'], PolicyAnswer['exposures']>(
    aggregate,
    product,
    options,
    selectedQuoteIfAny(aggregate),
    undefined,
    characteristics => (characteristics <= FEW_PERIL_CHARACTERISTICS ? HELD : LONG),
  )

type Lists<Modifications, Exposures> = {
  readonly modifications: (view: PolicyView, detailed: readonly ExposureView[]) => Modifications
  readonly exposures: (view: PolicyView, detailed: readonly ExposureView[]) => Exposures
}

const HELD: Lists<PolicyResponse['modifications'], PolicyResponse['exposures']> = {
  modifications: modificationResponses,
  exposures: exposureResponses,
}

const LONG: Lists<LongList<object>, LongList<ExposureAnswer>> = {
  modifications: (view, detailed) => new LongList(() => modificationAnswers(view, detailed)),
  exposures: (view, detailed) => new LongList(() => exposureAnswers(view, detailed)),
}

/** `listsOf` chooses the lists by the number of peril characteristics in the answer. */
function policyResponseWithLists<Modifications, Exposures>(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  options: ProjectionOptions,
  quote: Quote | undefined,
  counts: ModificationFilter | undefined,
  listsOf: (characteristics: number) => Lists<Modifications, Exposures>,
) {
  const { policy } = aggregate
  const view = quote && policyView(aggregate, quote, product, counts ?? isStanding)
  const { detailed, count } = view ? detailedExposures(view, options) : NO_DETAIL
  const lists = listsOf(count)
  const fees = quote ? feesInForce(aggregate, quote, counts) : []
  return {
    ...ownProperties(aggregate, product, quote),
    // Copies have values instead of getters. A single getter doubles the time that the engine needs to write all of the JSON.
    characteristics: view ? policyCharacteristics(view).map(one => ({ ...one })) : [],
    modifications: view ? lists.modifications(view, detailed) : [],
    exposures: view ? lists.exposures(view, detailed) : [],
    grossFees: toNumber(feeTotal(fees, policy.currency)),
    grossFeesCurrency: policy.currency,
    fees: fees.map(feeResponse),
    documents: documentsOfPolicy(aggregate),
    invoices: invoiceResponses(aggregate),
    quoteSummary: options.summarizeQuotes ? quoteSummary(aggregate) : undefined,
  }
}

/** The exposures whose perils are shown in full, and the number of characteristics of those perils. */
type Detail = { readonly detailed: readonly ExposureView[]; readonly count: number }

const NO_DETAIL: Detail = { detailed: [], count: 0 }

function detailedExposures(
  view: PolicyView,
  { perilCharacteristics: which = 'all' }: ProjectionOptions,
): Detail {
  if (which === 'none') return NO_DETAIL
  const isOne = which !== 'all' && which !== 'few' && which !== 'fitting'
  const chosen = isOne ? view.exposures.filter(({ exposure }) => exposure.locator === which) : view.exposures
  if (isOne && chosen.length === 0) throw notFound('exposure', which)
  const perils = new Set(chosen.flatMap(one => one.perils.map(({ peril }) => peril.locator)))
  const count = countCharacteristics(view, run => perils.has(run.perilLocator))
  if (count <= (which === 'few' ? FEW_PERIL_CHARACTERISTICS : MOST_PERIL_CHARACTERISTICS))
    return { detailed: chosen.map(withPieces), count }
  if (which === 'few' || which === 'fitting') return NO_DETAIL
  throw tooLarge(
    `The policy is too large for one answer: its perils have ${count} characteristics, and the limit is ${MOST_PERIL_CHARACTERISTICS}. Read it with \`perilCharacteristics=none\`, and the perils of an exposure with \`perilCharacteristics={exposureLocator}\` (GET /policy/${view.aggregate.policy.locator}).`,
  )
}

function countCharacteristics(
  { aggregate: { policy, perilRuns }, line, order }: Omit<PolicyView, 'exposures'>,
  isCounted: (run: PerilRun) => boolean = () => true,
): number {
  let count = 0
  for (const run of perilRuns.values())
    if (order.has(run.madeBy) && isCounted(run)) count += countPieces(run, line, policy.timeZone)
  return count
}

/** Like `policyResponse`, but computes expensive parts on first read. */
export function lazyPolicyResponse(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  quote: Quote,
  counts?: ModificationFilter,
): PolicyResponse {
  const { policy } = aggregate
  const view = policyView(aggregate, quote, product, counts ?? isStanding)
  const fees = (): FeeInForce[] => feesInForce(aggregate, quote, counts)
  const own = { ...ownProperties(aggregate, product, quote), grossFeesCurrency: policy.currency }
  const making: Partial<{ [Name in keyof PolicyResponse]: () => PolicyResponse[Name] }> = {
    characteristics: () => policyCharacteristics(view),
    modifications: () => modificationResponses(view, view.exposures.map(withPieces)),
    exposures: () => exposureResponses(view, view.exposures),
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

/** Returns the properties of the policy's own row, with its cancellation. They need no quote. */
function ownProperties(aggregate: PolicyAggregate, product: ProductDefinition, quote: Quote | undefined) {
  const policy = quote ? policyOfQuote(aggregate.policy, quote) : aggregate.policy
  return {
    ...policyProperties(policy),
    displayId: String(policy.locator),
    productLocator: product.locator,
    cancellation: cancellationInfo(aggregate),
    paymentScheduleName: policy.paymentScheduleName,
    premiumReportName: policy.premiumReportName,
  }
}

/** Returns the latest cancellation or withdrawal that is not reinstated (brief 1.1). */
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

/** Returns the locator of a run's characteristics in one segment. It is derived from both, so it needs no row. */
export const perilSegmentLocator = (
  run: Uuid,
  segment: Pick<PolicySegment, 'locator'>,
  shard: number,
): Uuid => derivedUuid(shard, run, segment.locator)

/** A piece with its run and the locator of its characteristics. */
export type RunPiece = { readonly run: PerilRun; readonly piece: Piece; readonly locator: Uuid }

/** Pieces are made when they are read. If there are too many to keep, they are made again on each read. */
export type PerilView = { readonly peril: Peril; readonly pieces: readonly RunPiece[] }

/** Returns the exposure with the pieces of its perils, made once. */
const withPieces = (exposure: ExposureView): ExposureView => ({
  ...exposure,
  perils: exposure.perils.map(({ peril, pieces }) => ({ peril, pieces })),
})

export type ExposureView = {
  readonly exposure: Exposure
  readonly runs: readonly ExposurePiece[]
  readonly perils: readonly PerilView[]
}

/** The policy of one quote, or the issued policy, folded. */
export type PolicyView = {
  readonly aggregate: PolicyAggregate
  readonly quote: Quote
  readonly shard: number
  /** Properties that every record of the policy has. */
  readonly record: { policyholderLocator: string; policyLocator: string; productLocator: string }
  readonly line: Line
  /** The index of each modification in the line. */
  readonly order: ReadonlyMap<Uuid, number>
  /** Folded on first read: most readers do not need them. */
  readonly exposures: readonly ExposureView[]
}

/**
 * Returns the policy with its exposures, perils and their pieces, from the modifications that count. Pieces are made when they are
 * read.
 */
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
  const isKept = countCharacteristics(view) <= MOST_KEPT_PIECES
  const perilView = (peril: Peril): PerilView => {
    let kept: RunPiece[] | undefined
    return {
      peril,
      get pieces() {
        const pieces =
          kept ??
          runsOfPeril
            .get(peril.locator)!
            .flatMap(run =>
              piecesOf(run, line, policy.timeZone).map(piece => new LocatedPiece(run, piece, shard)),
            )
            .sort((a, b) => compareCreations(order, a.piece, b.piece))
        if (isKept) kept = pieces
        return pieces
      },
    }
  }
  return [...aggregate.exposures.values()].flatMap(exposure => {
    const exposureRuns = runsOf.get(exposure.locator)
    if (!exposureRuns || exposure.quoteLocator !== quote.locator) return []
    const runs = exposureRuns
      .flatMap(run => exposurePieces(run, order, shard))
      .sort((a, b) => compareCreations(order, a, b))
    return [{ exposure, runs, perils: (perilsOf.get(exposure.locator) ?? []).map(perilView) }]
  })
}

/** Computes the locator, a digest, on first read, because prices do not show it. A class is faster than an object with a getter. */
class LocatedPiece implements RunPiece {
  readonly run: PerilRun
  readonly piece: Piece
  readonly #shard: number
  #locator: Uuid | undefined

  constructor(run: PerilRun, piece: Piece, shard: number) {
    this.run = run
    this.piece = piece
    this.#shard = shard
  }

  get locator(): Uuid {
    this.#locator ??= perilSegmentLocator(this.run.locator, this.piece.segment, this.#shard)
    return this.#locator
  }
}

type Creation = Pick<Piece, 'madeBy' | 'start'>

/** Orders by modification, then by time. */
const compareCreations = (order: ReadonlyMap<Uuid, number>, a: Creation, b: Creation): number =>
  order.get(a.madeBy)! - order.get(b.madeBy)! || a.start - b.start

/** Yields the pieces of all perils. Those of a large policy do not fit into memory, so do not keep them. */
export function* allPieces({ exposures }: Pick<PolicyView, 'exposures'>): Generator<RunPiece> {
  for (const { perils } of exposures) for (const { pieces } of perils) yield* pieces
}
