// A policy's records as the line of its modifications made them: what answers show is read off here.
import { derivedUuid, shardOfDigits, type Uuid } from '../../kernel/locators.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { type Counting, isStanding, type Line, lineOf } from '../fold/line.ts'
import { type ExposurePiece, exposurePieces, type Piece, piecesOf } from '../fold/pieces.ts'
import type {
  Exposure,
  Peril,
  PerilRun,
  PolicyAggregate,
  PolicySegment,
  Quote,
} from '../records/aggregate.ts'

/**
 * Locator of the characteristics that a peril's run has in one segment of its policy: always the same for the same
 * two, so that it needs no row.
 */
export const perilSegmentLocator = (
  run: Uuid,
  segment: Pick<PolicySegment, 'locator'>,
  shard: number,
): Uuid => derivedUuid(shard, run, segment.locator)

/** A piece with the run that it is of, and the locator of its characteristics. */
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
  /** What every record of the policy names. */
  readonly record: { policyholderLocator: string; policyLocator: string; productLocator: string }
  readonly line: Line
  /** Places of the modifications in the line. */
  readonly order: ReadonlyMap<Uuid, number>
  /** Folded when they are first looked at: what is read of a policy often has no need of them. */
  readonly exposures: readonly ExposureView[]
}

export function policyView(
  aggregate: PolicyAggregate,
  quote: Quote,
  product: ProductDefinition,
  counts: Counting = isStanding,
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

function exposureViews({
  aggregate,
  quote,
  shard,
  line,
  order,
}: Omit<PolicyView, 'exposures'>): ExposureView[] {
  const { timeZone } = aggregate.policy
  const perilsOf = new Map<Uuid, Map<Uuid, RunPiece[]>>()
  for (const run of aggregate.perilRuns.values()) {
    const peril = order.has(run.madeBy) ? aggregate.perils.get(run.perilLocator) : undefined
    if (!peril) continue
    const ofExposure = perilsOf.get(peril.exposureLocator) ?? new Map<Uuid, RunPiece[]>()
    perilsOf.set(peril.exposureLocator, ofExposure)
    const pieces = ofExposure.get(peril.locator) ?? []
    ofExposure.set(peril.locator, pieces)
    for (const piece of piecesOf(run, line, timeZone)) pieces.push(runPiece(run, piece, shard))
  }
  const runsOf = new Map<Uuid, ExposurePiece[]>()
  for (const run of aggregate.exposureRuns.values())
    if (order.has(run.madeBy))
      runsOf.set(run.exposureLocator, [
        ...(runsOf.get(run.exposureLocator) ?? []),
        ...exposurePieces(run, order, shard),
      ])
  for (const pieces of runsOf.values()) pieces.sort((a, b) => byMaking(order, a, b))
  return [...aggregate.exposures.values()].flatMap(exposure => {
    const runs = runsOf.get(exposure.locator)
    if (!runs || exposure.quoteLocator !== quote.locator) return []
    const perils = [...(perilsOf.get(exposure.locator) ?? [])].map(([locator, pieces]) => ({
      peril: aggregate.perils.get(locator)!,
      pieces: pieces.sort((a, b) => byMaking(order, a.piece, b.piece)),
    }))
    return [{ exposure, runs, perils }]
  })
}

/** Its locator is a digest, made when it is first read: a price shows none of them. */
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

type Made = Pick<Piece, 'madeBy' | 'start'>

/** Creation order: by modification, then by time. */
const byMaking = (order: ReadonlyMap<Uuid, number>, a: Made, b: Made): number =>
  order.get(a.madeBy)! - order.get(b.madeBy)! || a.start - b.start

/** All pieces of all perils. */
export const allPieces = ({ exposures }: Pick<PolicyView, 'exposures'>): RunPiece[] =>
  exposures.flatMap(exposure => exposure.perils.flatMap(peril => peril.pieces))
