// The application for an endorsement or a renewal (brief 1.4): creation, update, and a person's decision that replaces
// underwriting's. Before these, the tenant's plugins and services fill in the request; all else is pure.

import type { z } from 'zod'
import { invalidRequest } from '../../kernel/errors.ts'
import type { EndorsementLocator } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { boundQuote, type PolicyAggregate } from '../../policy/records/aggregate.ts'
import {
  type Endorsement,
  endorsementOf,
  type UnderwritingResult,
} from '../../policy/records/transactions.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { assertPolicyAllows, assertWithinContract, type Planned } from '../../policy/transitions.ts'
import type { Attempt, Referral } from '../../rating/rate.ts'
import type { Autofill } from '../autofill/fill.ts'
import { RenewalCreateRequest, RenewalUpdateRequest } from '../renewals/contract.ts'
import { EndorsementCreateRequest, EndorsementUpdateRequest } from './contract.ts'
import { mergeChanges, withAdditionLocators } from './joined-changes.ts'
import {
  assertEndorsementAllows,
  type EndorsementOperation,
  endorsementEvent,
  issuedCount,
  planWithEndorsement,
  withEndorsement,
} from './plans.ts'
import { touchesOf } from './repricing.ts'

/** The operations that create an endorsement or renewal. */
export type CreateOperation = Extract<EndorsementOperation, { action: 'create' | 'renew' }>

type Terms = Pick<Endorsement, 'kind' | 'name' | 'startAt' | 'endAt' | 'changes'>

/** Plans a new endorsement, or a renewal for another term from the policy's end. Later actions change, quote or discard it. */
export async function planApplication(
  loaded: Loaded,
  operation: CreateOperation,
  { now, digits }: Attempt,
): Promise<Planned & { endorsement: Endorsement }> {
  const { aggregate: before, product } = loaded
  const terms =
    operation.action === 'create'
      ? newEndorsement(operation.request, loaded, now)
      : newRenewal(operation.request, before)
  const supply = await digits(1)
  const application: Endorsement = {
    ...terms,
    locator: supply.digits() as EndorsementLocator,
    state: 'application',
    changes: withAdditionLocators(terms.changes, supply),
    createdAt: now,
    updatedAt: now,
  }
  const endorsement = { ...application, touches: touchesOf(application, product) }
  return { ...planWithEndorsement(before, endorsement, 'create'), endorsement }
}

function newEndorsement(request: EndorsementCreateRequest, loaded: Loaded, now: Instant): Terms {
  const { aggregate, product } = loaded
  const { endorsementName: name, state: _state, conflictHandling: _handling, ...asked } = request
  const { startAt = startingNow(aggregate, now), endAt, changes } = termsOf(asked, loaded)
  assertPolicyAllows(aggregate, 'endorse')
  boundQuote(aggregate)
  if (!product.endorsements.some(type => type.name === name))
    throw invalidRequest(
      `Product '${product.name}' has no endorsement '${name}'; it has ${product.endorsements.map(type => `'${type.name}'`).join(', ') || 'none'}.`,
    )
  return { kind: 'endorsement', name, ...validTimes(aggregate, startAt, endAt), changes }
}

/** Returns the terms of a renewal. Only one renewal may be quoted or accepted at a time. */
function newRenewal(request: RenewalCreateRequest, before: PolicyAggregate): Terms {
  const { state: _state, renewalEndTimestamp, ...changes } = request
  assertPolicyAllows(before, 'renew')
  boundQuote(before)
  const { effectiveEnd: startAt } = before.policy
  return { kind: 'renewal', name: 'renewal', startAt, endAt: validEnd(before, renewalEndTimestamp), changes }
}

/**
 * Merges the update's changes into the earlier ones (joined-changes.ts); a new time replaces the old one. A person's decision
 * becomes void, since it was made on other content.
 */
export function planEndorsementUpdate(
  loaded: Loaded,
  endorsement: Endorsement,
  update: Extract<EndorsementOperation, { action: 'update' }>['update'],
  { now, supply }: Attempt,
): Planned {
  const { aggregate: before, product } = loaded
  const { renewalEndTimestamp, ...asked } = update
  const { startAt, endAt = renewalEndTimestamp, changes } = termsOf(asked, loaded)
  assertEndorsementAllows(endorsement, 'update')
  const times =
    endorsement.kind === 'renewal'
      ? { startAt: before.policy.effectiveEnd, endAt: validEnd(before, endAt ?? endorsement.endAt!) }
      : validTimes(before, startAt ?? endorsement.startAt, endAt ?? endorsement.endAt)
  const changed: Endorsement = {
    ...withoutDecision(endorsement),
    ...times,
    changes: mergeChanges(endorsement.changes, changes, supply),
    updatedAt: now,
  }
  return planWithEndorsement(before, { ...changed, touches: touchesOf(changed, product) }, 'update')
}

/** The feature that lets endorsements change the policy's end (brief 2.5). */
export const NEW_POLICY_END = 'property.endorsement.policy.end.enabled'

/**
 * Returns the terms that the request sets. Rejects with 400 a new policy end if the configuration does not allow it. The present
 * end does not count as new.
 */
function termsOf(request: EndorsementUpdateRequest, { configuration, aggregate }: Loaded) {
  const { startTimestamp: startAt, newPolicyEndTimestamp: endAt, ...changes } = request
  const isNew = endAt !== undefined && endAt !== aggregate.policy.effectiveEnd
  if (isNew && configuration.configuration.features[NEW_POLICY_END] !== true)
    throw invalidRequest(
      `newPolicyEndTimestamp is disabled: the features in config.json do not include '${NEW_POLICY_END}'. Enable it, or renew the policy for a later end and cancel it for an earlier one.`,
    )
  return { startAt, endAt, changes }
}

function validEnd({ policy }: PolicyAggregate, endAt: Instant): Instant {
  if (endAt > policy.effectiveEnd) return endAt
  throw invalidRequest(
    `renewalEndTimestamp ${endAt} must be after the policy's effective end ${policy.effectiveEnd}, where the renewal starts.`,
  )
}

/** Returns the default start: now, or the start of a contract that has not begun. */
export const startingNow = ({ policy }: PolicyAggregate, now: Instant): Instant =>
  (now < policy.originalStart ? policy.originalStart : now) as Instant

/**
 * Checks that the start is within the contract, and a new end after it. Drops a new end that equals the present one: if kept, it
 * would undo a renewal made before the endorsement is quoted.
 */
function validTimes(before: PolicyAggregate, startAt: Instant, endAt: Instant | undefined) {
  assertWithinContract(before, 'startTimestamp', startAt)
  if (endAt !== undefined && endAt <= startAt)
    throw invalidRequest(
      `newPolicyEndTimestamp ${endAt} must be after the endorsement's startTimestamp ${startAt}.`,
    )
  return { startAt, endAt: endAt === before.policy.effectiveEnd ? undefined : endAt }
}

// The decision covers what the person saw: this content, on the issued policy and configuration of that time. An update, an issue
// or an upgrade makes it void, and underwriting decides again (brief 1.4).
/**
 * Returns the valid decision of a person, or undefined when underwriting must decide. Quotes need no such check: a decided quote
 * is changed only by a copy, which has no decision.
 */
export const personsDecision = (
  aggregate: PolicyAggregate,
  { state, underwriting, basedOn }: Endorsement,
): UnderwritingResult | undefined =>
  state === 'application' && basedOn === issuedCount(aggregate) ? underwriting : undefined

/** Returns the application without a person's decision, so that underwriting decides again. */
export const withoutDecision = (application: Endorsement): Endorsement => ({
  ...application,
  underwriting: undefined,
  basedOn: undefined,
})

/** Replaces the decision of `earlier`. The new notes follow the earlier notes. */
export function planReferral(
  before: PolicyAggregate,
  endorsement: Endorsement,
  { decision, notes }: Referral,
  earlier: UnderwritingResult,
  now: Instant,
): Planned {
  assertEndorsementAllows(endorsement, 'refer')
  const referred: Endorsement = {
    ...endorsement,
    underwriting: { decision, notes: [...earlier.notes, ...notes], at: now },
    basedOn: issuedCount(before),
    updatedAt: now,
  }
  const aggregate = withEndorsement(before, referred)
  const newerType =
    endorsement.kind === 'renewal' ? 'policy.renewal.manualUnderwrite' : 'policy.change.manualUnderwrite'
  return {
    aggregate,
    events: [{ ...endorsementEvent(aggregate, 'update', referred, { decision }), newerType }],
  }
}

/** Adds the values of plugins and services. Before it calls any, rejects with 409 a policy that cannot be endorsed. */
export async function fillNewEndorsement(
  request: EndorsementCreateRequest,
  loaded: Loaded,
  autofill: Autofill,
): Promise<EndorsementCreateRequest> {
  assertPolicyAllows(loaded.aggregate, 'endorse')
  const at = (request.startTimestamp ?? autofill.now) as Instant
  const filling = { operation: 'endorsement', operationType: 'create' } as const
  return await autofill.fill(loaded, 'endorsement', request, EndorsementCreateRequest, filling, { at })
}

/** Adds the values of plugins and services. Before it calls any, rejects with 409 a policy that cannot be renewed. */
export async function fillNewRenewal(
  request: RenewalCreateRequest,
  loaded: Loaded,
  autofill: Autofill,
): Promise<RenewalCreateRequest> {
  assertPolicyAllows(loaded.aggregate, 'renew')
  const at = loaded.aggregate.policy.effectiveEnd
  const filling = { operation: 'renewal', operationType: 'create' } as const
  return await autofill.fill(loaded, 'renewal', request, RenewalCreateRequest, filling, {
    at,
    begins: 'term',
  })
}

/** Fills in requests that create or update a transaction, and no others. */
export async function fillOperation(
  operation: EndorsementOperation,
  loaded: Loaded,
  autofill: Autofill,
): Promise<EndorsementOperation> {
  switch (operation.action) {
    case 'create':
      return { ...operation, request: await fillNewEndorsement(operation.request, loaded, autofill) }
    case 'renew':
      return { ...operation, request: await fillNewRenewal(operation.request, loaded, autofill) }
    case 'update': {
      const endorsement = endorsementOf(loaded.aggregate, operation.endorsement)
      assertEndorsementAllows(endorsement, 'update')
      const { kind, locator } = endorsement
      const contract: z.ZodType = kind === 'renewal' ? RenewalUpdateRequest : EndorsementUpdateRequest
      const update = await autofill.fill(
        loaded,
        kind,
        operation.update,
        contract as z.ZodType<typeof operation.update>,
        { operation: kind, operationType: 'update', [`${kind}Locator`]: String(locator) },
        {
          at: (updatedStart(operation.update) ?? endorsement.startAt) as Instant,
          ...(kind === 'renewal' && { begins: 'term' as const }),
          asked: endorsement.changes.fieldValues,
          record: endorsement,
        },
      )
      return { ...operation, update }
    }
    default:
      return operation
  }
}

const updatedStart = (update: object): number | null | undefined =>
  'startTimestamp' in update ? (update.startTimestamp as number | null | undefined) : undefined
