// Decides each action on a policy's endorsements and renewals: validate, price, underwrite, bill, in that order.
import { withPlan } from '../../billing/billing.ts'
import { ownTransaction, plansItsBills } from '../../billing/plugin-bills.ts'
import type { BillPlan } from '../../billing/schedule.ts'
import type { TransactionNames } from '../../extension/plugins/contract.ts'
import { invalidRequest, Refusal } from '../../kernel/errors.ts'
import { type EndorsementLocator, shardOfDigits, transientLocators } from '../../kernel/locators.ts'
import { summary, validateContent } from '../../policy/draft/validation.ts'
import { withIssued } from '../../policy/fold/line.ts'
import type { Prorated } from '../../policy/fold/shares.ts'
import { policyToRead } from '../../policy/projection/policy.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { digitsForEndorsement } from '../../policy/records/changes.ts'
import {
  type ConflictHandling,
  type Endorsement,
  type EndorsementState,
  endorsementOf,
  type UnderwritingResult,
} from '../../policy/records/transactions.ts'
import {
  assertWithinLimits,
  type Loaded,
  NeedsWholePolicy,
  paymentSchedule,
} from '../../policy/surroundings.ts'
import { chain, type Planned } from '../../policy/transitions.ts'
import { type Attempt, assertUnderwritten, ratingContext, underwriteQuote } from '../../rating/rate.ts'
import type { RatingContext } from '../../rating/rater.ts'
import { withConstraints } from '../constraints/validation.ts'
import { hasConflicts, withoutConflicts } from '../mechanism/kind.ts'
import { prorationOf } from '../mechanism/prorating.ts'
import { digitsForRenewal, renewed } from '../renewals/effect.ts'
import type { EndorsementCreateRequest, EndorsementUpdateRequest } from './contract.ts'
import { type Endorsed, endorsed, planEndorsementInvalidation, pricedEndorsement } from './effect.ts'
import {
  assertEndorsementAllows,
  type EndorsementOperation,
  personsDecision,
  planReferral,
  touchesOf,
} from './operation.ts'
import {
  billsOfAcceptance,
  billsOthers,
  digitsForAcceptance,
  isPlannedAnew,
  planEndorsementAcceptance,
  planEndorsementCreation,
  planEndorsementDiscard,
  planEndorsementIssue,
  planEndorsementQuote,
  planEndorsementUpdate,
  planRenewalCreation,
  policyOnIssue,
} from './plans.ts'

/** The operations that create an endorsement or renewal. */
export type Beginning = Extract<EndorsementOperation, { action: 'create' | 'renew' }>

/** The result, and the endorsement that the answer shows. */
export type EndorsementDecision = { planned: Planned; endorsement: EndorsementLocator }

const STEPS = ['quoted', 'accepted', 'issued'] as const
type Step = (typeof STEPS)[number]

const REACHES = { quote: 'quoted', accept: 'accepted', issue: 'issued' } as const satisfies Record<
  string,
  Step
>

/** The steps on the way from one state to another; before all of them is an application. */
const stepsBetween = (from: EndorsementState, to: EndorsementState): readonly Step[] =>
  STEPS.slice(STEPS.indexOf(from as Step) + 1, STEPS.indexOf(to as Step) + 1)

export async function decideEndorsement(
  loaded: Loaded,
  operation: EndorsementOperation,
  attempt: Attempt,
): Promise<EndorsementDecision> {
  const { aggregate, product } = loaded
  const { now } = attempt
  if (operation.action === 'create' || operation.action === 'renew') {
    const { endorsement, ...begun } = await begin(loaded, operation, attempt)
    const { state = 'application' } = operation.request
    const conflictHandling = operation.action === 'create' ? operation.request.conflictHandling : undefined
    return await walked(begun, endorsement.locator, state, loaded, attempt, conflictHandling)
  }
  const endorsement = endorsementOf(aggregate, operation.endorsement)
  const answered = (planned: Planned): EndorsementDecision => ({ planned, endorsement: endorsement.locator })
  switch (operation.action) {
    case 'update': {
      const { renewalEndTimestamp, ...update } = operation.update
      const { endAt = renewalEndTimestamp, ...terms } = termsOf(update, loaded)
      const context = { product, now, supply: attempt.supply }
      const updated = planEndorsementUpdate(aggregate, endorsement, { ...terms, endAt }, context)
      return answered(await checked(updated, endorsement.locator, loaded, attempt))
    }
    case 'discard':
      return answered(planEndorsementDiscard(aggregate, endorsement, now))
    case 'invalidate':
      assertRead(aggregate, endorsement.locator, loaded)
      return answered(planEndorsementInvalidation(aggregate, endorsement, now))
    case 'refer': {
      assertEndorsementAllows(endorsement, 'refer')
      const { underwriting } = await carriedOut(aggregate, endorsement, loaded, attempt)
      return answered(planReferral(aggregate, endorsement, operation, underwriting, now))
    }
    case 'quote':
    case 'accept':
    case 'issue': {
      const { action, conflictHandling } = operation
      assertEndorsementAllows(endorsement, action)
      const { locator } = endorsement
      const begun: Planned = { aggregate, events: [] }
      return answered(await brought(begun, locator, REACHES[action], loaded, attempt, conflictHandling))
    }
  }
}

/**
 * A new endorsement or renewal, issued whatever underwriting says, after what stands in its way is taken back: what
 * would become of the policy. Nothing of it is stored. Refuses as creating and quoting it would.
 */
export async function foreseen(
  loaded: Loaded,
  operation: Beginning,
  attempt: Attempt,
): Promise<EndorsementDecision> {
  const { endorsement, ...begun } = await begin(loaded, operation, attempt)
  return await walked(begun, endorsement.locator, 'issued', loaded, attempt, 'invalidate', () => {})
}

async function begin(
  loaded: Loaded,
  operation: Beginning,
  { now, digits }: Attempt,
): Promise<Planned & { endorsement: Endorsement }> {
  const { aggregate, product } = loaded
  if (operation.action === 'create') {
    const terms = firstTermsOf(operation.request, loaded)
    return planEndorsementCreation(aggregate, terms, { product, now, supply: await digits(1) })
  }
  const { state: _, renewalEndTimestamp: endAt, ...changes } = operation.request
  return planRenewalCreation(aggregate, endAt, changes, { now, supply: await digits(1) })
}

/** A new endorsement or renewal as it would be, carried out and priced on the policy as it is; nothing of it is stored. */
export async function previewed(loaded: Loaded, operation: Beginning, attempt: Attempt) {
  const { aggregate, endorsement } = await begin(loaded, operation, attempt)
  return await carriedOut(aggregate, endorsement, loaded, attempt)
}

/**
 * The new application, checked, and as many steps on as were asked for. Quoting checks all that an application is checked for:
 * only what stands in its way is told after what is wrong with it.
 */
async function walked(
  created: Planned,
  locator: EndorsementLocator,
  state: EndorsementState,
  loaded: Loaded,
  attempt: Attempt,
  conflictHandling?: ConflictHandling,
  assertDecision = assertUnderwritten,
): Promise<EndorsementDecision> {
  const isCheckedByQuoting = state !== 'application' && !hasConflicts(created.aggregate, String(locator))
  const begun = isCheckedByQuoting ? created : await checked(created, locator, loaded, attempt)
  const planned = await brought(begun, locator, state, loaded, attempt, conflictHandling, assertDecision)
  return { planned, endorsement: locator }
}

/**
 * Advances it from its present state through every step on the way (brief 1.4); one that ends quoted shows its bills.
 */
async function brought(
  begun: Planned,
  locator: EndorsementLocator,
  state: EndorsementState,
  loaded: Loaded,
  attempt: Attempt,
  conflictHandling?: ConflictHandling,
  assertDecision = assertUnderwritten,
): Promise<Planned> {
  let planned = begun
  for (const step of stepsBetween(endorsementOf(begun.aggregate, locator).state, state))
    planned = chain(
      planned,
      await advanced(planned.aggregate, locator, step, loaded, attempt, conflictHandling, assertDecision),
    )
  return state === 'quoted' ? await shown(planned, locator, loaded, attempt) : planned
}

/** The whole policy must be read when other transactions conflict, or are billed again with this one. */
function assertRead(before: PolicyAggregate, locator: EndorsementLocator, { unread }: Loaded): void {
  if (!unread) return
  if (hasConflicts(before, String(locator)) || billsOthers(before, endorsementOf(before, locator)))
    throw new NeedsWholePolicy()
}

/** One step towards being issued, after conflicting transactions are taken back. */
async function advanced(
  before: PolicyAggregate,
  locator: EndorsementLocator,
  step: Step,
  loaded: Loaded,
  attempt: Attempt,
  conflictHandling: ConflictHandling = 'block',
  assertDecision = assertUnderwritten,
): Promise<Planned> {
  const { now } = attempt
  const { product } = loaded
  assertRead(before, locator, loaded)
  const cleared = withoutConflicts(before, String(locator), conflictHandling, now)
  const from = cleared.aggregate
  const endorsement = endorsementOf(from, locator)
  if (step === 'issued') return chain(cleared, planEndorsementIssue(from, endorsement, { product, now }))
  if (step === 'accepted') {
    assertEndorsementAllows(endorsement, 'accept')
    const own = await ownBillsOf(from, endorsement, loaded, attempt)
    const bills = own ?? billsOfAcceptance(from, endorsement, { product, now })
    const supply = await attempt.digits(digitsForAcceptance(bills, now))
    return chain(cleared, planEndorsementAcceptance(from, endorsement, bills, { now, supply }))
  }
  assertEndorsementAllows(endorsement, 'quote')
  const carried = await carriedOut(from, endorsement, loaded, attempt)
  const quoted = planEndorsementQuote(from, endorsement, carried, carried.underwriting, now)
  assertDecision(endorsement.kind, carried.underwriting)
  return chain(cleared, quoted)
}

/**
 * The quoted endorsement with the bills that its product plans. It shows them until it is accepted; then they are planned again
 * for what is open.
 */
async function shown(
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

/** The bills of a quoted endorsement as its product plans them itself; undefined where it does not. */
async function ownBillsOf(
  before: PolicyAggregate,
  endorsement: Endorsement,
  loaded: Loaded,
  attempt: Attempt,
): Promise<BillPlan | undefined> {
  const modification = before.modifications.get(endorsement.modificationLocator!)!
  if (!plansItsBills(loaded) || !isPlannedAnew(before, endorsement, modification)) return undefined
  const transaction = {
    operation: endorsement.kind,
    policy: policyOnIssue(before, endorsement),
    apart: endorsement.kind === 'renewal',
  }
  return await ownTransaction(before, modification, transaction, loaded, attempt)
}

/** The endorsement carried out and validated, with the plugin's answer for the amounts that it splits. */
export async function carriedOut(
  before: PolicyAggregate,
  endorsement: Endorsement,
  loaded: Loaded,
  attempt: Attempt,
) {
  const result = await proratedContent(before, endorsement, loaded, attempt)
  const context = contextOf(result, endorsement, { ...loaded, aggregate: result.aggregate }, attempt)
  const priced = await pricedEndorsement(result, context)
  const underwriting: UnderwritingResult =
    personsDecision(before, endorsement) ?? (await underwriteQuote(priced.aggregate, result.quote, context))
  return { ...priced, underwriting }
}

/** The endorsement carried out and valid, with the amounts that it splits as the product's plugin says. */
async function proratedContent(
  before: PolicyAggregate,
  endorsement: Endorsement,
  loaded: Loaded,
  attempt: Attempt,
): Promise<Endorsed> {
  const result = await applied(before, endorsement, loaded, attempt)
  await assertContent(result, loaded, attempt, true)
  if (endorsement.kind === 'renewal') return result
  const { product } = loaded
  const supply = transientLocators(shardOfDigits(before.policy.locator))
  const said = await prorationOf(loaded, attempt, prorated =>
    endorsed(before, endorsement, { product, now: attempt.now, supply, prorated }),
  )
  return said ? await applied(before, endorsement, loaded, attempt, said) : result
}

async function applied(
  before: PolicyAggregate,
  endorsement: Endorsement,
  { product, unread }: Loaded,
  { now, digits }: Attempt,
  prorated?: Prorated,
): Promise<Endorsed> {
  const { kind, changes } = endorsement
  // The exposures that it touches are determined again: the configuration may have changed since the application.
  if (unread && touchesOf(endorsement, product) === undefined) throw new NeedsWholePolicy()
  const isRenewal = kind === 'renewal'
  const going = isRenewal ? digitsForRenewal(before, endorsement) : 0
  const supply = await digits(digitsForEndorsement(changes) + going)
  const result = (isRenewal ? renewed : endorsed)(before, endorsement, { product, now, supply, prorated })
  assertWithinLimits(result.aggregate, unread)
  if (changes.newPaymentScheduleName !== undefined) paymentSchedule(product, changes.newPaymentScheduleName)
  return result
}

/** The plan, validated as far as it is complete: missing values are required when it is quoted. */
async function checked(
  planned: Planned,
  locator: EndorsementLocator,
  loaded: Loaded,
  attempt: Attempt,
): Promise<Planned> {
  const endorsement = endorsementOf(planned.aggregate, locator)
  await assertContent(await applied(planned.aggregate, endorsement, loaded, attempt), loaded, attempt, false)
  return planned
}

async function assertContent(
  { aggregate, quote, modification, reported }: Endorsed,
  loaded: Loaded,
  attempt: Attempt,
  requireMissing: boolean,
): Promise<void> {
  const { product } = loaded
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
    { product, timeZone: aggregate.policy.timeZone, now, requireMissing },
    found,
  )
  if (errors.hasErrors) throw new Refusal('policyValidation', summary(errors), { policyFieldErrors: errors })
}

/** What plugins see of the transaction. */
const transactionOf = ({ kind, locator, changes }: Endorsement): TransactionNames => ({
  [`${kind}Locator`]: String(locator),
  ...(changes.newPaymentScheduleName !== undefined && {
    newPaymentScheduleName: changes.newPaymentScheduleName,
  }),
})

/** Templates see the policy as it will be when the endorsement is issued. */
const contextOf = (
  { modification }: Endorsed,
  endorsement: Endorsement,
  loaded: Loaded,
  attempt: Attempt,
): RatingContext => ({
  ...ratingContext(loaded, attempt, modification),
  operation: endorsement.kind,
  transaction: transactionOf(endorsement),
  project: (current, quote) =>
    policyToRead(
      { ...current, policy: policyOnIssue(current, endorsement) },
      loaded.product,
      quote,
      withIssued(modification.locator),
    ),
})

/** A configuration that turns this on lets endorsements change the policy's end (brief 2.5). */
export const NEW_POLICY_END = 'property.endorsement.policy.end.enabled'

/**
 * What the request asks for. Refuses (400) a new end of the policy where the configuration does not allow it; the
 * end that it has anyway is none.
 */
function termsOf(request: EndorsementUpdateRequest, { configuration, aggregate }: Loaded) {
  const { startTimestamp: startAt, newPolicyEndTimestamp: endAt, ...changes } = request
  const isNew = endAt !== undefined && endAt !== aggregate.policy.effectiveEnd
  if (isNew && configuration.configuration.features[NEW_POLICY_END] !== true)
    throw invalidRequest(
      `newPolicyEndTimestamp is turned off: the features in config.json lack '${NEW_POLICY_END}'. Turn it on, or renew the policy for a later end and cancel it for an earlier one.`,
    )
  return { startAt, endAt, changes }
}

/** As `termsOf`, of a new endorsement. */
function firstTermsOf(request: EndorsementCreateRequest, loaded: Loaded) {
  const { endorsementName: name, state: _state, conflictHandling: _handling, ...asked } = request
  return { name, ...termsOf(asked, loaded) }
}
