// What an endorsement does to a policy (brief 2.2, 2.5): the segment that holds its time is split there, each later
// one is replaced whole by a changed copy; exposures and perils that it changes or ends are cut, and new runs stand
// in their place. Runs that it does not touch stay as they are, however the policy is split around them.
import { boundQuote, type Carried, nextNumber } from '../cancellations/effect.ts'
import type { ProductDefinition } from '../configuration/configuration.ts'
import { Refusal } from '../platform/errors.ts'
import type { DisplayId } from '../platform/locators.ts'
import { type Instant, later } from '../platform/time.ts'
import {
  type Cut,
  type Endorsement,
  type Modification,
  type PerilRun,
  type PolicyAggregate,
  type PolicySegment,
  type Quote,
  withRecords,
} from '../policies/aggregate.ts'
import type { ReportedProblems } from '../policies/draft/request.ts'
import { lineOf, segmentsInForce } from '../policies/fold/line.ts'
import { premiumChangeOf } from '../policies/fold/premium.ts'
import { PerilRating } from '../rating/peril-rating.ts'
import { Rater, type RatingContext } from '../rating/rater.ts'
import { Content, type EndorsementContext, type Repricing } from './content.ts'

/** The policy with the endorsement carried out, not issued and not priced; problems of its content are in `reported`. */
export type Endorsed = Carried & { readonly quote: Quote; readonly reported: ReportedProblems }

/** Refuses (409) where there is no coverage at its time. Takes the digits that `digitsForEndorsement` counts. */
export function endorsed(
  before: PolicyAggregate,
  endorsement: Endorsement,
  context: EndorsementContext,
): Endorsed {
  const { now, supply, product } = context
  const quote = boundQuote(before)
  const { startAt, changes } = endorsement
  const line = lineOf(before, quote)
  const affected = segmentsInForce(line).filter(segment => segment.end > startAt)
  if (!affected.some(segment => segment.start <= startAt))
    throw new Refusal(
      'wrongState',
      `Policy ${before.policy.locator} has no coverage at ${startAt} to endorse.`,
    )
  const modification: Modification = {
    locator: supply.uuid(),
    kind: 'endorsement',
    displayId: supply.digits() as DisplayId,
    number: nextNumber(before),
    name: endorsement.name,
    effectiveAt: startAt,
    policyEnd: before.policy.effectiveEnd,
    createdAt: now,
    updatedAt: now,
    transactionLocator: String(endorsement.locator),
  }
  const made = { madeBy: modification.locator, createdAt: now, updatedAt: now, replacedBy: undefined }
  const content = new Content(before, quote, line, modification, affected.at(-1)!.end, context)
  const parts = affected.flatMap((segment): PolicySegment[] => {
    const part = (span: { start: Instant; end: Instant }, data: PolicySegment['data']): PolicySegment => ({
      ...segment,
      ...made,
      ...span,
      locator: supply.uuid(),
      predecessor: segment.locator,
      data,
    })
    const split = later(segment.start, startAt)
    const kept = split > segment.start ? [part({ start: segment.start, end: split }, segment.data)] : []
    return [...kept, part({ start: split, end: segment.end }, content.policyData(segment, changes))]
  })
  content.change(
    changes,
    parts.filter(segment => segment.start >= startAt),
    repricingOf(product, endorsement),
  )
  return {
    quote,
    modification,
    reported: content.reported,
    aggregate: {
      ...before,
      policy: { ...before.policy, updatedAt: now },
      modifications: withRecords(before.modifications, [modification]),
      segments: withRecords(before.segments, parts),
      ...content.records(),
    },
  }
}

/** What the type says; `input` asks the request, which must answer. */
function repricingOf(product: ProductDefinition, { name, changes }: Endorsement): Repricing {
  const type = product.endorsements.find(one => one.name === name)
  switch (type?.reprice) {
    case 'all':
      return 'all'
    case 'always':
      return 'changed'
    case 'input':
      if (changes.reprice === undefined)
        throw new Refusal('invalidRequest', `Endorsement '${name}' needs reprice: send true or false.`)
      return changes.reprice ? 'changed' : 'never'
    default:
      return 'never'
  }
}

/** Rates the new runs that have no price; what goes on without repricing got its share of the old one. */
export function pricedEndorsement(
  { aggregate, modification, quote }: Endorsed,
  context: RatingContext,
): Carried {
  const rating = new PerilRating(new Rater(aggregate, quote, context), aggregate, context)
  const segments = [...aggregate.segments.values()].filter(one => one.madeBy === modification.locator)
  const priced = [...aggregate.perilRuns.values()]
    .filter(run => run.madeBy === modification.locator && run.price === undefined)
    .map((run): PerilRun => {
      const peril = aggregate.perils.get(run.perilLocator)!
      const exposure = aggregate.exposures.get(peril.exposureLocator)!
      const segment = segments.find(one => one.start <= run.start && run.start < one.end)!
      const exposureRun = [...aggregate.exposureRuns.values()].findLast(
        one => one.exposureLocator === exposure.locator && covers(one, run.start),
      )!
      return { ...run, price: rating.price({ run, peril, exposure, segment, exposureRun }) }
    })
  const after = { ...aggregate, perilRuns: withRecords(aggregate.perilRuns, priced) }
  const complete = { ...modification, premiumChange: premiumChangeOf(after, quote, modification) }
  return {
    aggregate: { ...after, modifications: withRecords(after.modifications, [complete]) },
    modification: complete,
  }
}

/** Whether the run holds at that time: within its span, and before its cuts. */
const covers = (run: { start: Instant; end: Instant; cuts: readonly Cut[] }, at: Instant): boolean =>
  run.start <= at && at < run.end && run.cuts.every(cut => at < cut.from)
