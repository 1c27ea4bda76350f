// Rates recorded transactions again, to explain them: with the version of the configuration, the time and the state of the policy
// that they were rated with. Stores nothing.
import { Refusal } from '../../kernel/errors.ts'
import type { EndorsementLocator } from '../../kernel/locators.ts'
import { isIssued, lineUpTo, type ModificationFilter } from '../../policy/fold/line.ts'
import { lazyPolicyResponse, type PolicyView } from '../../policy/projection/policy.ts'
import {
  configVersionAt,
  type Modification,
  type PerilRun,
  putRecords,
  recordsWhere,
} from '../../policy/records/aggregate.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'
import { productOf } from '../../policy/store/loading.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { requestRates } from '../../rating/given-rates.ts'
import { type Attempt, ratingContext, standardFees } from '../../rating/rate.ts'
import { PerilRating, type RatingContext } from '../../rating/rater.ts'
import type { Explaining, RatingRecord } from '../../rating/worksheet/record.ts'
import { policyOnIssue } from './plans.ts'
import { changingOf, exposureRunAt, transactionOf } from './pricing.ts'
import { repricingOf } from './repricing.ts'

/** A limit, since each may call a plugin or an external rater. Earlier transactions are shown as they were recorded. */
const MOST_RATED_AGAIN = 20

type Rating = { readonly view: PolicyView; readonly loaded: Loaded; readonly attempt: Attempt }

/** Rates the latest transactions of the view that rate anything. A refusal is recorded as the problem of its transaction. */
export async function rateAgain(rating: Rating, explaining: Explaining): Promise<void> {
  const rerate = rating.view.line.map(step => step.modification).filter(isRating)
  const left = rerate.length - MOST_RATED_AGAIN
  if (left > 0)
    explaining.record.notes.push(
      `${left} of ${rerate.length} transactions, from the earliest on, ${left === 1 ? 'is' : 'are'} shown as recorded, because at most ${MOST_RATED_AGAIN} are rated again.`,
    )
  for (const modification of rerate.slice(-MOST_RATED_AGAIN))
    await rateTransactionAgain(rating, modification, explaining)
}

const isRating = ({ kind }: Modification): boolean =>
  kind === 'creation' || kind === 'endorsement' || kind === 'renewal'

/**
 * Rates a recorded transaction as it was rated then, and reports each step to the record of `explaining`. A refusal becomes a
 * problem of that record.
 */
export async function rateTransactionAgain(
  rating: Rating,
  modification: Modification,
  explaining: Explaining,
): Promise<void> {
  const { record } = explaining
  try {
    await rateModification(rating, modification, explaining)
  } catch (problem) {
    if (!(problem instanceof Refusal) || rating.attempt.tables?.isMissing) throw problem
    const { plugins } = rating.attempt
    record.problems.set(modification.locator, plugins?.shown(problem.message) ?? problem.message)
  }
}

async function rateModification(
  { view, loaded, attempt }: Rating,
  modification: Modification,
  explaining: Explaining,
): Promise<void> {
  const { aggregate, quote } = view
  const { record } = explaining
  const endorsement = aggregate.endorsements.get(
    Number(modification.transactionLocator) as EndorsementLocator,
  )
  const runs = recordsWhere(
    aggregate.perilRuns,
    run => run.madeBy === modification.locator && run.price !== undefined,
  )
  if (runs.length === 0) return
  const { configuration, product, past } = await loadRatingState(
    { view, loaded, attempt },
    modification,
    explaining,
  )
  const isCarried = carriedRuns(modification, aggregate.perilRuns.values(), endorsement, product)
  const ratedRuns = runs.filter(run => !isCarried(run))
  // Templates of premiums must see the runs that they rate without a price, as they did originally.
  const bare = ratedRuns.map((run): PerilRun => ({ ...run, price: undefined }))
  const unpriced = { ...past, perilRuns: putRecords(aggregate.perilRuns, bare) }
  const surroundings: Loaded = { ...loaded, configuration, product, aggregate: unpriced }
  const counts: ModificationFilter = one =>
    one.locator === modification.locator || (isIssued(one) && one.number < modification.number)
  const at = modification.underwriting?.at ?? modification.createdAt
  const recordedTables = await explaining.tablesOf?.(modification.locator)
  const then: Attempt = { ...attempt, now: at, explaining, ...(recordedTables && { recordedTables }) }
  const context: RatingContext = {
    ...ratingContext(surroundings, then, modification),
    ...(endorsement && {
      operation: endorsement.kind,
      transaction: transactionOf(endorsement),
      changing: changingOf(endorsement, modification, product),
    }),
    project: (current, of) => lazyPolicyResponse(current, product, of, counts),
  }
  const rates = await requestRates(unpriced, quote, bare, context)
  const perils = new PerilRating(unpriced, quote, context, rates)
  const segments = recordsWhere(unpriced.segments, one => one.madeBy === modification.locator)
  const counted = new Set(lineUpTo(unpriced, quote, modification).map(step => step.modification.locator))
  for (const run of bare) {
    const peril = unpriced.perils.get(run.perilLocator)!
    if (!record.isExplained(peril)) continue
    const exposure = unpriced.exposures.get(peril.exposureLocator)!
    const segment = segments.find(one => one.start <= run.start && run.start < one.end)!
    const exposureRun = exposureRunAt(unpriced, exposure, run.start, counted)
    perils.price({ run, peril, exposure, segment, exposureRun })
  }
  if (modification.kind === 'endorsement') return
  const term = { start: modification.effectiveAt, end: modification.policyEnd }
  standardFees(past, quote, modification, term, context)
}

/** Returns the configuration that rated the transaction, and the policy's own row as it was then, as far as rating reads it. */
async function loadRatingState(
  { view: { aggregate }, loaded }: Rating,
  modification: Modification,
  { configurationOf, record }: Explaining,
) {
  const at = modification.underwriting?.at ?? modification.createdAt
  const version = configVersionAt(aggregate.policy, at)
  const isPresent = version === loaded.aggregate.policy.configVersion
  const configuration = isPresent ? loaded.configuration : await configurationOf(version)
  const product = productOf(configuration, aggregate.policy.productName)
  const endorsement = aggregate.endorsements.get(
    Number(modification.transactionLocator) as EndorsementLocator,
  )
  const row = endorsement ? policyOnIssue(aggregate, endorsement) : aggregate.policy
  const policy = { ...row, configVersion: version, effectiveEnd: modification.policyEnd }
  noteVersion(record, aggregate.policy.configVersion, version)
  return { configuration, product, past: { ...aggregate, policy } }
}

function noteVersion({ notes }: RatingRecord, present: number, version: number): void {
  const note = `Version ${version} of the configuration rated the amounts that are marked with it; the policy now has version ${present}.`
  if (version !== present && !notes.includes(note)) notes.push(note)
}

/**
 * Returns whether a run of the modification continues one of another modification at its rates, as happens in an endorsement that
 * rates nothing again.
 */
function carriedRuns(
  { locator }: Modification,
  runs: Iterable<PerilRun>,
  endorsement: Endorsement | undefined,
  product: ProductDefinition,
): (run: PerilRun) => boolean {
  if (endorsement?.kind !== 'endorsement') return () => false
  if (repricingOf(product, endorsement.name, endorsement.changes) !== 'never') return () => false
  const others = [...runs].filter(run => run.madeBy !== locator)
  const perils = new Set(others.map(run => run.perilLocator))
  return run => perils.has(run.perilLocator)
}
