// Endorsements and renewals: one kind of record with the same actions. Each action validates, prices, underwrites and then bills.

import { planBills } from '../../billing/billing.ts'
import { countInvoicedNow } from '../../billing/schedule.ts'
import { hasUnbilledTime } from '../../billing/unbilled-time.ts'
import { wrongState } from '../../kernel/errors.ts'
import type { EndorsementLocator } from '../../kernel/locators.ts'
import { openInstallments } from '../../policy/bills/amounts-due.ts'
import { underwritingResponse } from '../../policy/projection/characteristics.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import {
  type Endorsement,
  type EndorsementState,
  endorsementOf,
  type UnderwritingResult,
} from '../../policy/records/transactions.ts'
import { type Loaded, NeedsWholePolicy } from '../../policy/surroundings.ts'
import { combineSteps, type Planned } from '../../policy/transitions.ts'
import { type Attempt, assertUnderwritten } from '../../rating/rate.ts'
import type { ConflictHandling } from '../cancellations/contract.ts'
import { hasConflicts, withoutConflicts } from '../mechanism/conflicts.ts'
import { defineKind, type Issuing, type Previewed, pluginRecord, type Response } from '../mechanism/kind.ts'
import { explainedPriceChange, priceChangeOf } from '../mechanism/price-change.ts'
import type { RenewalCreateRequest } from '../renewals/contract.ts'
import {
  type CreateOperation,
  fillNewEndorsement,
  fillNewRenewal,
  fillOperation,
  planApplication,
  planEndorsementUpdate,
  planReferral,
  startingNow,
} from './application.ts'
import type { EndorsementCreateRequest } from './contract.ts'
import {
  assertEndorsementAllows,
  type EndorsementOperation,
  partOf,
  planEndorsementAcceptance,
  planEndorsementInvalidation,
  planEndorsementIssue,
  planEndorsementQuote,
  planWithEndorsement,
} from './plans.ts'
import { assertApplicationValid, carryOutEndorsement, ownBillsOf, withOwnBills } from './pricing.ts'
import { ENDORSEMENTS, RENEWALS, transactionResponse } from './projection.ts'
import { rateTransactionAgain } from './rerating.ts'

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    /** The legacy actions return the policy. */
    endorsement: { operation: EndorsementOperation; answersPolicy?: boolean }
  }
  interface PlannedChanges {
    /** The price change or the underwriting decision, stored or computed. */
    endorsement: { endorsement: EndorsementLocator; asked: 'price' | 'underwriting' }
    newEndorsement: { request: EndorsementCreateRequest }
    renewal: { request: RenewalCreateRequest }
  }
  interface Previews {
    endorsement: EndorsementCreateRequest
    renewal: RenewalCreateRequest
  }
}

const showEndorsement =
  (locator: EndorsementLocator): Response =>
  ({ aggregate, product }) =>
    transactionResponse(aggregate, endorsementOf(aggregate, locator), product)

async function previewOf(loaded: Loaded, operation: CreateOperation, attempt: Attempt): Promise<Previewed> {
  const { planned, endorsement } = await previewEndorsement(loaded, operation, attempt)
  const { modificationLocator } = endorsementOf(planned.aggregate, endorsement)
  return { planned, modificationLocator: modificationLocator! }
}

/** Returns the price change of a transaction on the present policy. Stores nothing. */
async function priceOfNew(loaded: Loaded, operation: CreateOperation, attempt: Attempt) {
  const { aggregate, endorsement } = await planApplication(loaded, operation, attempt)
  const priced = await carryOutEndorsement(aggregate, endorsement, loaded, attempt)
  return await explainedPriceChange(attempt, loaded.aggregate, priced, loaded.product)
}

const createOperation = (request: EndorsementCreateRequest): CreateOperation => ({
  action: 'create',
  request,
})
const renewOperation = (request: RenewalCreateRequest): CreateOperation => ({ action: 'renew', request })

const issuing = <Request extends CreateOperation['request']>(
  request: Request,
  at: Issuing<Request>['at'],
): Issuing<Request> | undefined => (request.state === 'issued' ? { request, at } : undefined)

export const endorsementKind = defineKind<'endorsement'>({
  name: 'endorsement',
  part: ({ operation, answersPolicy }) => (answersPolicy ? undefined : partOf(operation)),
  record: ({ operation }) =>
    'endorsement' in operation ? showEndorsement(operation.endorsement) : undefined,
  fill: async (asked, loaded, autofill) => ({
    ...asked,
    operation: await fillOperation(asked.operation, loaded, autofill),
  }),
  async decide(loaded, { operation, answersPolicy }, { attempt }) {
    const { planned, endorsement } = await decideEndorsement(loaded, operation, attempt)
    if (answersPolicy) return { planned }
    return { planned, response: showEndorsement(endorsement), subject: String(endorsement) }
  },
  pending: ({ endorsements }) =>
    [...endorsements.values()].flatMap(({ kind, locator, state, createdAt }) =>
      state === 'quoted' || state === 'accepted'
        ? [
            {
              kind,
              locator: String(locator),
              state,
              createdAt,
              takeBack: (from, now) =>
                planEndorsementInvalidation(from, from.endorsements.get(locator)!, now),
            },
          ]
        : [],
    ),
  changes: {
    endorsement: {
      async decide(loaded, { endorsement: locator, asked }, attempt) {
        const { aggregate } = loaded
        const endorsement = endorsementOf(aggregate, locator)
        const { kind, state, underwriting, modificationLocator } = endorsement
        const isRecorded =
          modificationLocator !== undefined && aggregate.modifications.has(modificationLocator)
        if (!isRecorded && state === 'discarded')
          throw wrongState(`The ${kind} ${locator} is discarded and was never priced.`)
        const carryOut = () => carryOutEndorsement(aggregate, endorsement, loaded, attempt)
        if (asked === 'price')
          return await priceChangeOf(loaded, endorsement, carryOut, attempt, rateTransactionAgain)
        return underwritingResponse(isRecorded ? underwriting! : (await carryOut()).underwriting)
      },
    },
    newEndorsement: {
      fill: async (change, loaded, autofill) => ({
        ...change,
        request: await fillNewEndorsement(change.request, loaded, autofill),
      }),
      decide: (loaded, { request }, attempt) => priceOfNew(loaded, createOperation(request), attempt),
    },
    renewal: {
      fill: async (change, loaded, autofill) => ({
        ...change,
        request: await fillNewRenewal(change.request, loaded, autofill),
      }),
      decide: (loaded, { request }, attempt) => priceOfNew(loaded, renewOperation(request), attempt),
    },
  },
  previews: {
    endorsement: {
      fill: fillNewEndorsement,
      carryOut: (loaded, request, attempt) => previewOf(loaded, createOperation(request), attempt),
      issuedBy(asked) {
        if (asked.kind !== 'endorsement' || asked.operation.action !== 'create') return undefined
        const { request } = asked.operation
        return issuing(request, (at, { aggregate }) => {
          const { startTimestamp = startingNow(aggregate, at) } = request
          return { ...asked, operation: createOperation({ ...request, startTimestamp }) }
        })
      },
    },
    renewal: {
      fill: fillNewRenewal,
      carryOut: (loaded, request, attempt) => previewOf(loaded, renewOperation(request), attempt),
      issuedBy: asked =>
        asked.kind === 'endorsement' && asked.operation.action === 'renew'
          ? issuing(asked.operation.request, () => asked)
          : undefined,
    },
  },
  pluginRecords: { Endorsement: pluginRecord(ENDORSEMENTS), Renewal: pluginRecord(RENEWALS) },
})

/** The result, and the endorsement that the answer shows. */
export type EndorsementDecision = { planned: Planned; endorsement: EndorsementLocator }

type AdvanceContext = {
  readonly loaded: Loaded
  readonly attempt: Attempt
  /** Default `block`. */
  readonly conflictHandling?: ConflictHandling
  /** Advice on conflicts for requests that have no `conflictHandling`. */
  readonly remedy?: string
  /** Rejects a transaction that underwriting does not accept. A preview accepts everything. */
  readonly assertDecision: (kind: Endorsement['kind'], result: UnderwritingResult) => void
}

const RENEWAL_REMEDY =
  'Invalidate them, or create the renewal as an application, then quote, accept or issue it with PATCH /renewals/{renewalLocator} and conflictHandling=invalidate.'

const STEPS = ['quoted', 'accepted', 'issued'] as const
type Step = (typeof STEPS)[number]

const REACHES = { quote: 'quoted', accept: 'accepted', issue: 'issued' } as const

/** Returns the steps from one state to another. An application precedes all of them. */
const stepsBetween = (from: EndorsementState, to: EndorsementState): readonly Step[] =>
  STEPS.slice(STEPS.indexOf(from as Step) + 1, STEPS.indexOf(to as Step) + 1)

/**
 * Plans an operation on an endorsement or renewal. Throws 404 for an unknown one and 409 if its state does not allow the action.
 */
export async function decideEndorsement(
  loaded: Loaded,
  operation: EndorsementOperation,
  attempt: Attempt,
): Promise<EndorsementDecision> {
  const advising = (adviceOn: (path: string) => string): AdvanceContext => ({
    loaded,
    attempt,
    assertDecision: (kind, result) => assertUnderwritten(kind, result, adviceOn(`POST /${kind}s`)),
  })
  if (operation.action === 'create' || operation.action === 'renew') {
    // The refusal stores nothing, so there is no application yet that a person can decide on.
    const context = advising(
      path =>
        `Nothing was stored. If you create it with state=application, a person can decide on it: ${path}/{locator}/underwriting.`,
    )
    const handling =
      operation.action === 'create'
        ? { conflictHandling: operation.request.conflictHandling }
        : { remedy: RENEWAL_REMEDY }
    return await apply(operation, operation.request.state ?? 'application', { ...context, ...handling })
  }
  const endorsement = endorsementOf(loaded.aggregate, operation.endorsement)
  const context = advising(
    path => `A person can decide on its application: ${path}/${endorsement.locator}/underwriting.`,
  )
  return { planned: await planAction(endorsement, operation, context), endorsement: endorsement.locator }
}

async function planAction(
  endorsement: Endorsement,
  operation: Exclude<EndorsementOperation, CreateOperation>,
  context: AdvanceContext,
): Promise<Planned> {
  const { loaded, attempt } = context
  const { aggregate } = loaded
  const { now } = attempt
  switch (operation.action) {
    case 'update': {
      const planned = planEndorsementUpdate(loaded, endorsement, operation.update, attempt)
      const updated = endorsementOf(planned.aggregate, endorsement.locator)
      await assertApplicationValid(planned.aggregate, updated, loaded, attempt)
      return planned
    }
    case 'discard':
      assertEndorsementAllows(endorsement, 'discard')
      return planWithEndorsement(aggregate, { ...endorsement, state: 'discarded', updatedAt: now }, 'discard')
    case 'invalidate':
      assertWholePolicyRead(aggregate, endorsement, loaded)
      return planEndorsementInvalidation(aggregate, endorsement, now)
    case 'refer': {
      assertEndorsementAllows(endorsement, 'refer')
      const { underwriting } = await carryOutEndorsement(aggregate, endorsement, loaded, attempt)
      return planReferral(aggregate, endorsement, operation, underwriting, now)
    }
    default: {
      const { action, conflictHandling } = operation
      assertEndorsementAllows(endorsement, action)
      const start: Planned = { aggregate, events: [] }
      return await advanceToState(start, endorsement.locator, REACHES[action], {
        ...context,
        conflictHandling,
      })
    }
  }
}

/**
 * Returns the policy as if the endorsement or renewal were issued, for any underwriting decision and without conflicting
 * transactions. Stores nothing. Throws whatever creating and quoting would throw.
 */
const previewEndorsement = (
  loaded: Loaded,
  operation: CreateOperation,
  attempt: Attempt,
): Promise<EndorsementDecision> =>
  apply(operation, 'issued', { loaded, attempt, conflictHandling: 'invalidate', assertDecision: () => {} })

/**
 * Creates the application and advances it to `state`. Quoting repeats the checks of an application, so they run here only if it
 * remains an application, or if there are conflicts, since invalid content must be rejected before conflicts are handled.
 */
async function apply(
  operation: CreateOperation,
  state: EndorsementState,
  context: AdvanceContext,
): Promise<EndorsementDecision> {
  const { loaded, attempt } = context
  const { endorsement, ...created } = await planApplication(loaded, operation, attempt)
  const { locator } = endorsement
  if (state === 'application' || hasConflicts(created.aggregate, String(locator)))
    await assertApplicationValid(created.aggregate, endorsement, loaded, attempt)
  return { planned: await advanceToState(created, locator, state, context), endorsement: locator }
}

/**
 * Takes every step from the present state to the requested one (brief 1.4). Only for a transaction that stays quoted does the
 * product plan bills here, since acceptance plans them again.
 */
async function advanceToState(
  start: Planned,
  locator: EndorsementLocator,
  state: EndorsementState,
  context: AdvanceContext,
): Promise<Planned> {
  let planned = start
  for (const step of stepsBetween(endorsementOf(start.aggregate, locator).state, state))
    planned = combineSteps(planned, await takeStep(step, planned.aggregate, locator, context))
  return state === 'quoted' ? await withOwnBills(planned, locator, context.loaded, context.attempt) : planned
}

/** Takes one step towards the issue, after conflicting transactions were invalidated or rejected. */
async function takeStep(
  step: Step,
  before: PolicyAggregate,
  locator: EndorsementLocator,
  { loaded, attempt, conflictHandling = 'block', remedy, assertDecision }: AdvanceContext,
): Promise<Planned> {
  const { now } = attempt
  const { product } = loaded
  assertWholePolicyRead(before, endorsementOf(before, locator), loaded)
  const cleared = withoutConflicts(before, String(locator), conflictHandling, now, remedy)
  const from = cleared.aggregate
  const endorsement = endorsementOf(from, locator)
  switch (step) {
    case 'quoted': {
      assertEndorsementAllows(endorsement, 'quote')
      const priced = await carryOutEndorsement(from, endorsement, loaded, attempt)
      const quoted = planEndorsementQuote(from, endorsement, priced, priced.underwriting, now)
      assertDecision(endorsement.kind, priced.underwriting)
      return combineSteps(cleared, quoted)
    }
    case 'accepted': {
      assertEndorsementAllows(endorsement, 'accept')
      const modification = from.modifications.get(endorsement.modificationLocator!)!
      const { newPaymentScheduleName } = endorsement.changes
      const bills =
        (await ownBillsOf(from, endorsement, loaded, attempt)) ??
        planBills(from, modification, { product, now, newPaymentScheduleName })
      // One digit locator for each invoice that is created immediately.
      const supply = await attempt.digits(countInvoicedNow(bills.plan, now))
      return combineSteps(cleared, planEndorsementAcceptance(from, endorsement, bills, { now, supply }))
    }
    case 'issued':
      return combineSteps(cleared, planEndorsementIssue(from, endorsement, { product, now }))
  }
}

/**
 * Throws `NeedsWholePolicy` if only a part was read and the operation affects the rest: other transactions conflict, or are
 * billed again with this one.
 */
function assertWholePolicyRead(before: PolicyAggregate, endorsement: Endorsement, { unread }: Loaded): void {
  if (!unread) return
  const { locator, startAt, modificationLocator } = endorsement
  const billsOthers =
    openInstallments(before).some(one => one.end > startAt) ||
    hasUnbilledTime(before, { start: startAt, end: before.policy.effectiveEnd }) ||
    [...before.installments.values()].some(one => one.absorbedBy.includes(modificationLocator!))
  if (hasConflicts(before, String(locator)) || billsOthers) throw new NeedsWholePolicy()
}
