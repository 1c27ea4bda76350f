// The effect of a renewal (brief 1.4, 2.2): a new segment at the policy's end, a run for each continuing exposure, and new perils
// linked to the renewed ones by renewal group.
import { wrongState } from '../../kernel/errors.ts'
import type { DisplayId, QuoteLocator, Uuid } from '../../kernel/locators.ts'
import { type Instant, later } from '../../kernel/time.ts'
import { changeDraft } from '../../policy/draft/changes.ts'
import { type ReportedProblems, withParents } from '../../policy/draft/draft.ts'
import { endOfRun, lineOf, segmentsInForce, standingCancellations } from '../../policy/fold/line.ts'
import { piecesInForce, piecesOf } from '../../policy/fold/pieces.ts'
import {
  boundQuote,
  type ExposureRun,
  type Modification,
  type Peril,
  type PerilRun,
  type PolicyAggregate,
  type PolicySegment,
  putRecords,
  type Quote,
} from '../../policy/records/aggregate.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'
import { assertPolicyAllows, newModification } from '../../policy/transitions.ts'
import type { EndorsementContext } from '../endorsements/content.ts'
import type { EndorsementResult } from '../endorsements/effect.ts'
import { mergeUpdates } from '../endorsements/joined-changes.ts'

/** Counts the digit locators of a renewal: one for each continuing peril. Its changes need more. */
export const digitsForRenewal = (before: PolicyAggregate, renewal: Endorsement): number =>
  continuing(before, renewal).perilRuns.length

/**
 * Returns the policy with the renewal applied, neither issued nor priced. Content problems are in `reported`. Rejects with 409 a
 * withdrawn policy, and a cancelled one, since the term would start where a reinstatement may still restore cover.
 */
export function applyRenewal(
  before: PolicyAggregate,
  renewal: Endorsement,
  context: EndorsementContext,
): EndorsementResult {
  const { now, supply, product } = context
  const quote = boundQuote(before)
  const last = assertRenewable(before, quote, renewal)
  const modification = newModification(
    before,
    {
      kind: 'renewal',
      name: 'modification.policy.renew',
      effectiveAt: renewal.startAt,
      policyEnd: renewal.endAt!,
      transactionLocator: String(renewal.locator),
    },
    { now, supply },
  )
  const going = continuing(before, renewal)
  const term = newTerm(last, going, renewal, modification, context)
  const draft = asDraft(before, quote, modification, term)
  const { aggregate: changed, reported } = changeDraft(
    draft.aggregate,
    draft.quote,
    changesOfDraft(renewal),
    { product, timeZone: before.policy.timeZone, now, supply },
  )
  const termPerils = new Map(
    [...changed.perils.values()].map((peril): [Uuid, Peril] => {
      if (!before.perils.has(peril.locator)) return [peril.locator, peril]
      const fresh = { locator: supply.uuid(), displayId: supply.digits() as DisplayId }
      return [peril.locator, { ...peril, ...fresh, createdAt: now, updatedAt: now }]
    }),
  )
  const added = [...changed.exposures.values()].filter(one => !before.exposures.has(one.locator))
  return {
    quote,
    modification,
    reported: reportedOfTerm(reported, term.segment, modification, termPerils),
    aggregate: {
      ...before,
      policy: { ...before.policy, updatedAt: now },
      modifications: putRecords(before.modifications, [modification]),
      segments: putRecords(before.segments, changed.segments.values()),
      exposures: putRecords(
        before.exposures,
        added.map(one => ({ ...one, quoteLocator: quote.locator })),
      ),
      exposureRuns: putRecords(before.exposureRuns, [
        ...going.beyond.map(run => ({
          ...run,
          cuts: [...run.cuts, { by: modification.locator, from: later(run.start, renewal.startAt) }],
        })),
        ...changed.exposureRuns.values(),
      ]),
      perils: putRecords(before.perils, withParents(termPerils)),
      perilRuns: putRecords(
        before.perilRuns,
        [...changed.perilRuns.values()].map(run => ({
          ...run,
          perilLocator: termPerils.get(run.perilLocator)!.locator,
        })),
      ),
    },
  }
}

/** Returns the policy's last segment, which the new term continues. Rejects with 409 a policy that cannot be renewed. */
function assertRenewable(before: PolicyAggregate, quote: Quote, renewal: Endorsement): PolicySegment {
  assertPolicyAllows(before, 'renew')
  const { locator, effectiveEnd } = before.policy
  const cancellation = standingCancellations(before).at(-1)
  if (cancellation)
    throw wrongState(
      `Policy ${locator} is cancelled from ${cancellation.effectiveAt} and cannot be renewed; reinstate it first.`,
    )
  if (renewal.startAt !== effectiveEnd)
    throw wrongState(
      `Renewal ${renewal.locator} starts at ${renewal.startAt}, but the policy now ends at ${effectiveEnd}; update the renewal, which moves its start to that time.`,
    )
  const last = segmentsInForce(lineOf(before, quote)).at(-1)
  if (!last || last.end !== renewal.startAt)
    throw wrongState(
      `Policy ${locator} has no coverage up to ${renewal.startAt} to renew; reinstate it first.`,
    )
  return last
}

type Term = { segment: PolicySegment; exposureRuns: ExposureRun[]; perilRuns: PerilRun[] }

/** Returns the segment and runs of the new term as they continue without changes. */
function newTerm(
  last: PolicySegment,
  going: ReturnType<typeof continuing>,
  { startAt, endAt }: Endorsement,
  { locator: madeBy }: Modification,
  { now, supply }: EndorsementContext,
): Term {
  const own = {
    start: startAt,
    end: endAt!,
    createdAt: now,
    updatedAt: now,
    replacedBy: undefined,
    madeBy,
  }
  return {
    segment: { ...last, ...own, locator: supply.uuid(), predecessor: undefined },
    exposureRuns: going.exposureRuns.map(run => ({ ...run, ...own, locator: supply.uuid(), cuts: [] })),
    perilRuns: going.perilRuns.map(run => ({
      ...run,
      ...own,
      locator: supply.uuid(),
      cuts: [],
      splits: undefined,
      price: undefined,
    })),
  }
}

/** Returns the renewal's changes as changes of a draft. Exposures and perils that it ends are removed from the new term. */
const changesOfDraft = ({ changes }: Endorsement): Parameters<typeof changeDraft>[2] => ({
  ...changes,
  updateExposures: mergeUpdates(changes.updateExposures ?? []).map(
    ({ update: { endPerils, ...update } }) => ({ ...update, removePerils: endPerils }),
  ),
  removeExposures: changes.endExposures,
})

/** Returns problems under the owners that the check of a renewal uses: its modification for the policy's data, and new perils. */
function reportedOfTerm(
  reported: ReportedProblems,
  segment: PolicySegment,
  modification: Modification,
  perils: ReadonlyMap<Uuid, Peril>,
): ReportedProblems {
  const ownerOf = (owner: string): string =>
    owner === segment.locator ? modification.locator : (perils.get(owner as Uuid)?.locator ?? owner)
  const byOwner = new Map([...reported.byOwner].map(([owner, found]) => [ownerOf(owner), found]))
  const renewed = [...perils].filter(([before, { locator }]) => before !== locator)
  const names = new Map([
    ...reported.names,
    ...renewed.map(([before, { locator }]) => [locator, before] as const),
  ])
  return { ...reported, byOwner, names }
}

/**
 * Finds the runs in force at the policy's end that nothing ended or replaced. A lapse leaves exposure runs that go `beyond` the
 * end, which the new term cuts.
 */
function continuing(before: PolicyAggregate, { startAt }: Endorsement) {
  const line = lineOf(before, boundQuote(before))
  const counted = new Set(line.map(step => step.modification.locator))
  const exposureRuns = [...before.exposureRuns.values()].filter(
    run => counted.has(run.madeBy) && endOfRun(run, counted) >= startAt,
  )
  return {
    exposureRuns: exposureRuns.filter(run => run.start < startAt),
    beyond: exposureRuns.filter(run => endOfRun(run, counted) > later(run.start, startAt)),
    // A run that was cut while its last part was cancelled has that part again after a reinstatement.
    perilRuns: [...before.perilRuns.values()].filter(run =>
      piecesInForce(piecesOf(run, line, before.policy.timeZone)).some(piece => piece.end === startAt),
    ),
  }
}

/** Presents the new term as a draft, so that changes apply to it as to any draft. */
function asDraft(
  before: PolicyAggregate,
  bound: Quote,
  modification: Modification,
  { segment, exposureRuns, perilRuns }: Term,
): { aggregate: PolicyAggregate; quote: Quote } {
  const locator = 0 as QuoteLocator
  const { start, end } = segment
  const quote: Quote = { ...bound, locator, contractStart: start, contractEnd: end as Instant }
  const exposures = new Set(exposureRuns.map(run => run.exposureLocator))
  const perils = new Set(perilRuns.map(run => run.perilLocator))
  const byLocator = <R extends { locator: Uuid }>(records: R[]): Map<Uuid, R> =>
    new Map(records.map(record => [record.locator, record]))
  return {
    quote,
    aggregate: {
      ...before,
      quotes: new Map([[locator, quote]]),
      modifications: byLocator([{ ...modification, quoteLocator: locator }]),
      segments: byLocator([segment]),
      exposures: byLocator(
        [...before.exposures.values()]
          .filter(one => exposures.has(one.locator))
          .map(one => ({ ...one, quoteLocator: locator })),
      ),
      exposureRuns: byLocator(exposureRuns),
      perils: byLocator([...before.perils.values()].filter(one => perils.has(one.locator))),
      perilRuns: byLocator(perilRuns),
    },
  }
}
