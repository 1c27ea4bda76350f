// Applies an endorsement or a renewal to its policy: validates, prices and underwrites it, and plans its bills if the product has
// its own planner.

import { withPlan } from '../../billing/billing.ts'
import { plansItsBills, planTransactionByPlugin } from '../../billing/plugin-bills.ts'
import type { BillPlan } from '../../billing/schedule.ts'
import type { TransactionNames } from '../../extension/plugins/contract.ts'
import { Refusal } from '../../kernel/errors.ts'
import {
  type EndorsementLocator,
  shardOfDigits,
  transientLocators,
  type Uuid,
} from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { chargesOf } from '../../policy/bills/amounts-due.ts'
import { summary, validateContent } from '../../policy/draft/validation.ts'
import { endOfRun, lineOf, withIssued } from '../../policy/fold/line.ts'
import { premiumChangeOf } from '../../policy/fold/pieces.ts'
import type { Prorated } from '../../policy/fold/shares.ts'
import { assertWithinLimits } from '../../policy/limits.ts'
import { lazyPolicyResponse } from '../../policy/projection/policy.ts'
import {
  type Exposure,
  type ExposureRun,
  type Fee,
  type Modification,
  type PerilRun,
  type PolicyAggregate,
  putRecords,
  recordsOfExposure,
} from '../../policy/records/aggregate.ts'
import {
  digitsForEndorsement,
  type Endorsement,
  endorsementOf,
  type UnderwritingResult,
} from '../../policy/records/transactions.ts'
import { type Loaded, NeedsWholePolicy, paymentSchedule } from '../../policy/surroundings.ts'
import type { AppliedTransaction, Planned } from '../../policy/transitions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { requestRates } from '../../rating/given-rates.ts'
import { type Attempt, ratingContext, standardFees, underwriteQuote } from '../../rating/rate.ts'
import { PerilRating, type RatingContext } from '../../rating/rater.ts'
import { withConstraints } from '../constraints/validation.ts'
import { prorationOf } from '../mechanism/prorating.ts'
import { applyRenewal, digitsForRenewal } from '../renewals/effect.ts'
import { personsDecision } from './application.ts'
import { applyEndorsementChanges, type EndorsementResult } from './effect.ts'
import { policyOnIssue } from './plans.ts'
import { touchesOf } from './repricing.ts'
import { transactionData } from './template-data.ts'

/**
 * Validates, prices and underwrites. Takes the digit locators of the transaction. A valid decision of a person replaces
 * underwriting's. Rejects invalid content with 400.
 */
export async function carryOutEndorsement(
  before: PolicyAggregate,
  endorsement: Endorsement,
  loaded: Loaded,
  attempt: Attempt,
) {
  const result = await applyProrated(before, endorsement, loaded, attempt)
  const context = contextOf(result, endorsement, { ...loaded, aggregate: result.aggregate }, attempt)
  const priced = await pricedEndorsement(result, context)
  const underwriting: UnderwritingResult =
    personsDecision(before, endorsement) ?? (await underwriteQuote(priced.aggregate, result.quote, context))
  return { ...priced, underwriting }
}

/**
 * Applies valid content with the plugin's amounts. Content is checked first, so that the plugin never sees an invalid policy. A
 * renewal splits nothing.
 */
async function applyProrated(
  before: PolicyAggregate,
  endorsement: Endorsement,
  loaded: Loaded,
  attempt: Attempt,
): Promise<EndorsementResult> {
  const result = await applyEndorsement(before, endorsement, loaded, attempt)
  await assertContent(result, loaded, attempt, true)
  if (endorsement.kind === 'renewal') return result
  const { product } = loaded
  const supply = transientLocators(shardOfDigits(before.policy.locator))
  const answer = await prorationOf(loaded, attempt, prorated =>
    applyEndorsementChanges(before, endorsement, { product, now: attempt.now, supply, prorated }),
  )
  return answer ? await applyEndorsement(before, endorsement, loaded, attempt, answer) : result
}

async function applyEndorsement(
  before: PolicyAggregate,
  endorsement: Endorsement,
  { product, unread }: Loaded,
  { now, digits }: Attempt,
  prorated?: Prorated,
): Promise<EndorsementResult> {
  const { kind, changes } = endorsement
  // The configuration may have changed since the application, and with it the exposures that the endorsement touches.
  if (unread && touchesOf(endorsement, product) === undefined) throw new NeedsWholePolicy()
  const isRenewal = kind === 'renewal'
  const renewalDigits = isRenewal ? digitsForRenewal(before, endorsement) : 0
  const supply = await digits(digitsForEndorsement(changes) + renewalDigits)
  const result = (isRenewal ? applyRenewal : applyEndorsementChanges)(before, endorsement, {
    product,
    now,
    supply,
    prorated,
  })
  assertWithinLimits(result.aggregate, unread)
  if (changes.newPaymentScheduleName !== undefined) paymentSchedule(product, changes.newPaymentScheduleName)
  return result
}

/** Rejects invalid content of an application. Values may be missing until it is quoted. */
export async function assertApplicationValid(
  before: PolicyAggregate,
  endorsement: Endorsement,
  loaded: Loaded,
  attempt: Attempt,
): Promise<void> {
  await assertContent(await applyEndorsement(before, endorsement, loaded, attempt), loaded, attempt, false)
}

async function assertContent(
  { aggregate, quote, modification, reported }: EndorsementResult,
  loaded: Loaded,
  attempt: Attempt,
  requireMissing: boolean,
): Promise<void> {
  const {
    product,
    configuration: { configuration },
  } = loaded
  const { now } = attempt
  const transaction = { aggregate, quote, modification, owner: modification.locator }
  const found = await withConstraints(transaction, loaded, attempt, requireMissing, reported)
  const isMade = (one: { madeBy: string }): boolean => one.madeBy === modification.locator
  const errors = validateContent(
    aggregate,
    {
      owner: modification.locator,
      policy: [...aggregate.segments.values()]
        .filter(one => isMade(one) && one.start >= modification.effectiveAt)
        .map(one => one.data),
      exposureRuns: [...aggregate.exposureRuns.values()].filter(isMade),
      perilRuns: [...aggregate.perilRuns.values()].filter(isMade),
    },
    { product, configuration, timeZone: aggregate.policy.timeZone, now, requireMissing },
    found,
  )
  if (errors.hasErrors) throw new Refusal('policyValidation', summary(errors), { policyFieldErrors: errors })
}

/** Rates new runs without a price. Runs that continue without repricing already have their share of the old price. */
async function pricedEndorsement(
  { aggregate, modification, quote }: EndorsementResult,
  context: RatingContext,
): Promise<AppliedTransaction> {
  const unpriced = [...aggregate.perilRuns.values()].filter(
    run => run.madeBy === modification.locator && run.price === undefined,
  )
  const rates = await requestRates(aggregate, quote, unpriced, context)
  const rating = new PerilRating(aggregate, quote, context, rates)
  const segments = [...aggregate.segments.values()].filter(one => one.madeBy === modification.locator)
  // Leaves out runs and cuts of transactions that were invalidated.
  const line = lineOf(aggregate, quote, withIssued(modification.locator))
  const counted = new Set(line.map(step => step.modification.locator))
  const priced = unpriced.map((run): PerilRun => {
    const peril = aggregate.perils.get(run.perilLocator)!
    const exposure = aggregate.exposures.get(peril.exposureLocator)!
    const segment = segments.find(one => one.start <= run.start && run.start < one.end)!
    const exposureRun = exposureRunAt(aggregate, exposure, run.start, counted)
    return { ...run, price: rating.price({ run, peril, exposure, segment, exposureRun }) }
  })
  const rated = { ...aggregate, perilRuns: putRecords(aggregate.perilRuns, priced) }
  // Standard fees belong to a term: a renewal gets new ones, an endorsement none (brief 3.3).
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

/** Returns the exposure's data in force at the time, by the counted transactions. */
export const exposureRunAt = (
  { exposureRuns }: Pick<PolicyAggregate, 'exposureRuns'>,
  { locator }: Pick<Exposure, 'locator'>,
  at: Instant,
  counted: ReadonlySet<Uuid>,
): ExposureRun => recordsOfExposure(exposureRuns, locator).findLast(one => isInRunAt(one, at, counted))!

/** Whether the time is within the span of the run and before its cuts. */
const isInRunAt = (run: ExposureRun, at: Instant, counted: ReadonlySet<Uuid>): boolean =>
  counted.has(run.madeBy) && run.start <= at && at < endOfRun(run, counted)

/** Returns the names under which plugins see the transaction. */
export const transactionOf = ({ kind, locator, changes }: Endorsement): TransactionNames => ({
  [`${kind}Locator`]: String(locator),
  ...(changes.newPaymentScheduleName !== undefined && {
    newPaymentScheduleName: changes.newPaymentScheduleName,
  }),
})

/** Shows the transaction as scripts see it while it is priced. It is quoted only afterwards, so they find no bills of it. */
export const changingOf = (
  endorsement: Endorsement,
  { locator: modificationLocator }: Modification,
  product: ProductDefinition,
): RatingContext['changing'] => ({
  kind: endorsement.kind,
  data: aggregate =>
    transactionData(aggregate, { ...endorsement, state: 'application', modificationLocator }, product),
})

/** Templates see the policy as it will be when the endorsement is issued. */
const contextOf = (
  { modification }: EndorsementResult,
  endorsement: Endorsement,
  loaded: Loaded,
  attempt: Attempt,
): RatingContext => ({
  ...ratingContext(loaded, attempt, modification),
  operation: endorsement.kind,
  transaction: transactionOf(endorsement),
  changing: changingOf(endorsement, modification, loaded.product),
  project: (current, quote) =>
    lazyPolicyResponse(
      { ...current, policy: policyOnIssue(current, endorsement) },
      loaded.product,
      quote,
      withIssued(modification.locator),
    ),
})

/** Stores the bills that the product plans, for the quoted endorsement to show. Acceptance plans everything still open again. */
export async function withOwnBills(
  quoted: Planned,
  locator: EndorsementLocator,
  loaded: Loaded,
  attempt: Attempt,
): Promise<Planned> {
  const { aggregate } = quoted
  const endorsement = endorsementOf(aggregate, locator)
  const bills = await ownBillsOf(aggregate, endorsement, loaded, attempt)
  if (!bills) return quoted
  const modification = aggregate.modifications.get(endorsement.modificationLocator!)!
  return { ...quoted, aggregate: withPlan(aggregate, modification, bills.plan, attempt.supply) }
}

/**
 * Returns the bills that the product plans. Undefined if it does not plan bills, or if the endorsement does not change the plan.
 */
export async function ownBillsOf(
  before: PolicyAggregate,
  endorsement: Endorsement,
  loaded: Loaded,
  attempt: Attempt,
): Promise<BillPlan | undefined> {
  const modification = before.modifications.get(endorsement.modificationLocator!)!
  if (!plansItsBills(loaded) || !changesPlan(before, endorsement, modification)) return undefined
  const transaction = {
    operation: endorsement.kind,
    policy: policyOnIssue(before, endorsement),
    apart: endorsement.kind === 'renewal',
  }
  return await planTransactionByPlugin(before, modification, transaction, loaded, attempt)
}

/**
 * Whether the transaction changes the plan: a renewal, a charge or a payment schedule does. Any other endorsement has one invoice
 * for 0 and leaves the plan unchanged, so the product's planner is not called.
 */
const changesPlan = (
  before: PolicyAggregate,
  { kind, changes }: Endorsement,
  modification: Modification,
): boolean =>
  kind === 'renewal' ||
  changes.newPaymentScheduleName !== undefined ||
  chargesOf(before, modification).length > 0
