import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { endOfRun, lineOf, withIssued } from '../../policy/fold/line.ts'
import { premiumChangeOf } from '../../policy/fold/premium.ts'
import type { Carried } from '../../policy/planned.ts'
import { type ExposureRun, type Fee, type PerilRun, putRecords } from '../../policy/records/aggregate.ts'
import { givenRates } from '../../rating/given-rates.ts'
import { PerilRating } from '../../rating/peril-rating.ts'
import { standardFees } from '../../rating/rate.ts'
import { Rater, type RatingContext } from '../../rating/rater.ts'
import type { Endorsed } from './effect.ts'

/** Rates the new runs that have no price; what goes on without repricing got its share of the old one. */
export async function pricedEndorsement(
  { aggregate, modification, quote }: Endorsed,
  context: RatingContext,
): Promise<Carried> {
  const unpriced = [...aggregate.perilRuns.values()].filter(
    run => run.madeBy === modification.locator && run.price === undefined,
  )
  const rates = await givenRates(aggregate, quote, unpriced, context)
  const rating = new PerilRating(new Rater(aggregate, quote, context), aggregate, context, rates)
  const segments = [...aggregate.segments.values()].filter(one => one.madeBy === modification.locator)
  // What was taken back made runs and cuts too; they count for nothing.
  const line = lineOf(aggregate, quote, withIssued(modification.locator))
  const counted = new Set(line.map(step => step.modification.locator))
  const priced = unpriced.map((run): PerilRun => {
    const peril = aggregate.perils.get(run.perilLocator)!
    const exposure = aggregate.exposures.get(peril.exposureLocator)!
    const segment = segments.find(one => one.start <= run.start && run.start < one.end)!
    const exposureRun = [...aggregate.exposureRuns.values()].findLast(
      one => one.exposureLocator === exposure.locator && covers(one, run.start, counted),
    )!
    return { ...run, price: rating.price({ run, peril, exposure, segment, exposureRun }) }
  })
  const rated = { ...aggregate, perilRuns: putRecords(aggregate.perilRuns, priced) }
  // Standard fees belong to a term: a renewal has its own, an endorsement none (brief 3.3).
  const term = { start: modification.effectiveAt, end: modification.policyEnd }
  const fees: Fee[] =
    modification.kind === 'renewal' ? standardFees(rated, quote, modification, term, context) : []
  const after = { ...rated, fees: putRecords(rated.fees, fees) }
  const complete = { ...modification, premiumChange: premiumChangeOf(after, quote, modification) }
  return {
    aggregate: { ...after, modifications: putRecords(after.modifications, [complete]) },
    modification: complete,
  }
}

/** Whether the run holds at that time: within its span, and before its cuts. */
const covers = (run: ExposureRun, at: Instant, counted: ReadonlySet<Uuid>): boolean =>
  counted.has(run.madeBy) && run.start <= at && at < endOfRun(run, counted)
