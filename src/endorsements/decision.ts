// What each action on a policy's endorsements decides: validate, price, underwrite, bill, in that order.

import { Refusal } from '../platform/errors.ts'
import type { EndorsementLocator } from '../platform/locators.ts'
import type {
  ConflictHandling,
  Endorsement,
  EndorsementState,
  PolicyAggregate,
  UnderwritingResult,
} from '../policies/aggregate.ts'
import { type Attempt, ratingContext } from '../policies/attempt.ts'
import { hasConflicts, withoutConflicts } from '../policies/conflicts.ts'
import { summary, validateContent } from '../policies/draft/validation.ts'
import { withIssued } from '../policies/fold/line.ts'
import { NeedsWholePolicy } from '../policies/part.ts'
import { chain, type Planned } from '../policies/planned.ts'
import { policyResponse } from '../policies/projection/policy.ts'
import type { Loaded } from '../policies/surroundings.ts'
import { assertWithinLimits, paymentSchedule } from '../policies/terms.ts'
import { underwriteQuote } from '../rating/rate.ts'
import type { RatingContext } from '../rating/rater.ts'
import type { RenewalCreateRequest, RenewalUpdateRequest } from '../renewals/contract.ts'
import { digitsForRenewal, renewed } from '../renewals/effect.ts'
import { digitsForEndorsement } from './changes.ts'
import type { EndorsementCreateRequest, EndorsementUpdateRequest } from './contract.ts'
import { type Endorsed, endorsed } from './effect.ts'
import { endorsementOf } from './endorsement-of.ts'
import { planEndorsementInvalidation } from './invalidation.ts'
import {
  digitsForAcceptance,
  planEndorsementAcceptance,
  planEndorsementCreation,
  planEndorsementDiscard,
  planEndorsementIssue,
  planEndorsementQuote,
  planEndorsementUpdate,
  planRenewalCreation,
} from './plans.ts'
import { pricedEndorsement } from './pricing.ts'
import { touchesOf } from './touches.ts'
import { assertEndorsementAllows } from './transitions.ts'

export type EndorsementOperation =
  | { action: 'create'; request: EndorsementCreateRequest }
  | { action: 'renew'; request: RenewalCreateRequest }
  | {
      action: 'update'
      endorsement: EndorsementLocator
      update: EndorsementUpdateRequest & Pick<RenewalUpdateRequest, 'renewalEndTimestamp'>
    }
  | {
      action: 'quote' | 'accept' | 'issue' | 'invalidate' | 'discard'
      endorsement: EndorsementLocator
      conflictHandling?: ConflictHandling
    }

/** What came of it, and which endorsement the answer shows. */
export type EndorsementDecision = { planned: Planned; endorsement: EndorsementLocator }

const STEPS = ['quoted', 'accepted', 'issued'] as const

export async function decideEndorsement(
  loaded: Loaded,
  operation: EndorsementOperation,
  attempt: Attempt,
): Promise<EndorsementDecision> {
  const { aggregate, product } = loaded
  const { now } = attempt
  if (operation.action === 'create') {
    const { state = 'application', conflictHandling, ...request } = operation.request
    const supply = await attempt.digits(1)
    const { endorsementName: name, startTimestamp: startAt } = request
    const changes = changesOf(request)
    const terms = { name, startAt, changes, touches: touchesOf(changes, name, product) }
    const { endorsement, ...created } = planEndorsementCreation(aggregate, terms, { product, now, supply })
    return await walked(created, endorsement.locator, state, loaded, attempt, conflictHandling)
  }
  if (operation.action === 'renew') {
    const { state = 'application', renewalEndTimestamp: endAt, ...changes } = operation.request
    const supply = await attempt.digits(1)
    const { endorsement, ...created } = planRenewalCreation(aggregate, endAt, changes, { now, supply })
    return await walked(created, endorsement.locator, state, loaded, attempt)
  }
  const endorsement = endorsementOf(aggregate, operation.endorsement)
  const answered = (planned: Planned): EndorsementDecision => ({ planned, endorsement: endorsement.locator })
  switch (operation.action) {
    case 'update': {
      const { renewalEndTimestamp: endAt, ...update } = operation.update
      const terms = { startAt: update.startTimestamp, endAt, changes: changesOf(update) }
      const updated = planEndorsementUpdate(aggregate, endorsement, terms, { product, now })
      return answered(await checked(updated, endorsement.locator, loaded, attempt))
    }
    case 'discard':
      return answered(planEndorsementDiscard(aggregate, endorsement, now))
    case 'invalidate':
      return answered(planEndorsementInvalidation(aggregate, endorsement, now))
    case 'issue': {
      const accepted =
        endorsement.state === 'quoted'
          ? await advanced(
              aggregate,
              endorsement.locator,
              'accepted',
              loaded,
              attempt,
              operation.conflictHandling,
            )
          : undefined
      const from = accepted?.aggregate ?? aggregate
      const issued = await advanced(
        from,
        endorsement.locator,
        'issued',
        loaded,
        attempt,
        operation.conflictHandling,
      )
      return answered(accepted ? chain(accepted, issued) : issued)
    }
    case 'quote':
    case 'accept': {
      const step = operation.action === 'quote' ? 'quoted' : 'accepted'
      return answered(
        await advanced(aggregate, endorsement.locator, step, loaded, attempt, operation.conflictHandling),
      )
    }
  }
}

/** A renewal as it would be, carried out and priced; nothing of it is stored. Takes the policy as it is. */
export async function previewedRenewal(
  before: PolicyAggregate,
  { renewalEndTimestamp: endAt, ...changes }: RenewalCreateRequest,
  loaded: Loaded,
  attempt: Attempt,
) {
  const supply = await attempt.digits(1)
  const { aggregate, endorsement } = planRenewalCreation(before, endAt, changes, { now: attempt.now, supply })
  return await carriedOut(aggregate, endorsement, loaded, attempt)
}

/** The new application, checked, and as many steps on as were asked for. */
async function walked(
  created: Planned,
  locator: EndorsementLocator,
  state: EndorsementState,
  loaded: Loaded,
  attempt: Attempt,
  conflictHandling?: ConflictHandling,
): Promise<EndorsementDecision> {
  let planned: Planned = await checked(created, locator, loaded, attempt)
  for (const step of STEPS.slice(0, STEPS.indexOf(state as (typeof STEPS)[number]) + 1))
    planned = chain(
      planned,
      await advanced(planned.aggregate, locator, step, loaded, attempt, conflictHandling),
    )
  return { planned, endorsement: locator }
}

/** One step on the way to being issued, after what stands in its way. */
async function advanced(
  before: PolicyAggregate,
  locator: EndorsementLocator,
  step: (typeof STEPS)[number],
  loaded: Loaded,
  attempt: Attempt,
  conflictHandling: ConflictHandling = 'block',
): Promise<Planned> {
  const { now } = attempt
  const { product } = loaded
  if (loaded.unread && hasConflicts(before, String(locator))) throw new NeedsWholePolicy()
  const cleared = withoutConflicts(before, String(locator), conflictHandling, now)
  const from = cleared.aggregate
  const endorsement = endorsementOf(from, locator)
  if (step === 'issued') return chain(cleared, planEndorsementIssue(from, endorsement, { product, now }))
  if (step === 'accepted') {
    const supply = await attempt.digits(digitsForAcceptance(from, endorsement, { product, now }))
    return chain(cleared, planEndorsementAcceptance(from, endorsement, { product, now, supply }))
  }
  assertEndorsementAllows(endorsement, 'quote')
  const carried = await carriedOut(from, endorsement, loaded, attempt)
  return chain(cleared, planEndorsementQuote(from, endorsement, carried, carried.underwriting, now))
}

/** The endorsement carried out, valid, priced and underwritten, as it would be now; nothing of it is stored. */
export async function carriedOut(
  before: PolicyAggregate,
  endorsement: Endorsement,
  loaded: Loaded,
  attempt: Attempt,
) {
  const result = await applied(before, endorsement, loaded, attempt)
  assertContent(result, loaded, attempt, true)
  const context = contextOf(result, endorsement, { ...loaded, aggregate: result.aggregate }, attempt)
  const priced = await pricedEndorsement(result, context)
  const underwriting: UnderwritingResult = await underwriteQuote(priced.aggregate, result.quote, context)
  return { ...priced, underwriting }
}

async function applied(
  before: PolicyAggregate,
  endorsement: Endorsement,
  { product, unread }: Loaded,
  { now, digits }: Attempt,
): Promise<Endorsed> {
  const isRenewal = endorsement.kind === 'renewal'
  const going = isRenewal ? digitsForRenewal(before, endorsement) : 0
  const supply = await digits(digitsForEndorsement(endorsement.changes) + going)
  const result = (isRenewal ? renewed : endorsed)(before, endorsement, { product, now, supply })
  assertWithinLimits(result.aggregate, unread)
  if (endorsement.changes.newPaymentScheduleName !== undefined)
    paymentSchedule(product, endorsement.changes.newPaymentScheduleName)
  return result
}

/** The plan with what it asks checked as far as it goes: what is missing is asked for when it is quoted. */
async function checked(
  planned: Planned,
  locator: EndorsementLocator,
  loaded: Loaded,
  attempt: Attempt,
): Promise<Planned> {
  const endorsement = endorsementOf(planned.aggregate, locator)
  if (loaded.unread && !endorsement.touches) throw new NeedsWholePolicy()
  assertContent(await applied(planned.aggregate, endorsement, loaded, attempt), loaded, attempt, false)
  return planned
}

function assertContent(
  { aggregate, modification, reported }: Endorsed,
  { product }: Loaded,
  { now }: Attempt,
  requireMissing: boolean,
): void {
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
    reported,
  )
  if (errors.hasErrors) throw new Refusal('policyValidation', summary(errors), { policyFieldErrors: errors })
}

/** Templates see the policy as it will be when the endorsement is issued. */
const contextOf = (
  { modification }: Endorsed,
  { kind, locator, changes }: Endorsement,
  loaded: Loaded,
  attempt: Attempt,
): RatingContext => ({
  ...ratingContext(loaded, attempt),
  operation: kind,
  transaction: {
    [`${kind}Locator`]: String(locator),
    ...(changes.newPaymentScheduleName !== undefined && {
      newPaymentScheduleName: changes.newPaymentScheduleName,
    }),
  },
  project: (current, quote) =>
    policyResponse(
      current,
      loaded.product,
      { summarizeQuotes: false },
      quote,
      withIssued(modification.locator),
    ),
})

function changesOf(request: EndorsementUpdateRequest) {
  const { startTimestamp: _start, newPolicyEndTimestamp, ...changes } = request
  if (newPolicyEndTimestamp !== undefined)
    throw new Refusal(
      'invalidRequest',
      'newPolicyEndTimestamp is not enabled: renew the policy for a later end, or cancel it for an earlier one.',
    )
  return changes
}
