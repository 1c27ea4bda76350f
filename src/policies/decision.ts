// What each operation decides: pure plans over what was loaded, in the order validate, price, underwrite, bill.
import { INVOICE_TIMER, installmentsToInvoice } from '../billing/bill.ts'
import type { NewTimer } from '../platform/commit.ts'
import { Refusal } from '../platform/errors.ts'
import type { LocatorSupply } from '../platform/locators.ts'
import type { Instant } from '../platform/time.ts'
import type { AutomatedUnderwritingResultResponse, PolicyPriceResponse } from '../rating/contract.ts'
import { policyPriceResponse } from '../rating/price.ts'
import { priceQuote, type RatingContext, underwriteQuote } from '../rating/rate.ts'
import { type PolicyAggregate, selectedQuote } from './aggregate.ts'
import type { PolicyCreateRequest, PolicyUpdateRequest } from './contract/requests.ts'
import { newDraft } from './draft/draft.ts'
import type { ReportedProblems } from './draft/request.ts'
import { summary, validateQuote } from './draft/validation.ts'
import {
  assertWithinLimits,
  contractSpan,
  type Planned,
  paymentSchedule,
  planBilling,
  planCreation,
  planDiscard,
  planFinalization,
  planInvoices,
  planIssue,
  planUpdate,
} from './new-business.ts'
import { feeResponse, underwritingResponse } from './projection/parts.ts'
import { policyResponse } from './projection/policy.ts'
import { quoteParts } from './quote-parts.ts'
import type { Ground, Loaded } from './surroundings.ts'
import { policyState } from './transitions.ts'

/** Time and locators for one attempt. `digits` leases display ids for invoices, whose number a plan tells. */
export type Attempt = {
  now: Instant
  supply: LocatorSupply
  digits(count: number): Promise<LocatorSupply>
}

const NOTHING_REPORTED: ReportedProblems = { byOwner: new Map(), strays: [] }

export async function decideCreation(
  request: PolicyCreateRequest,
  ground: Ground,
  attempt: Attempt,
): Promise<Planned> {
  const { product, timeZone, currency, policyholder, configVersion } = ground
  const { now, supply } = attempt
  const { aggregate, reported } = newDraft(
    {
      policyholderLocator: policyholder.locator,
      configVersion,
      currency,
      contract: contractSpan(request.policyStartTimestamp, request.policyEndTimestamp, timeZone, now),
      paymentScheduleName: paymentSchedule(product, request.paymentScheduleName),
      premiumReportName: request.premiumReportName,
      fieldValues: request.fieldValues,
      fieldGroups: request.fieldGroups,
      exposures: request.exposures,
    },
    { product, timeZone, now, supply },
  )
  const created = planCreation(aggregate)
  return await completed(created, reported, request.finalize, { ...ground, aggregate }, attempt)
}

export async function decideUpdate(
  request: PolicyUpdateRequest,
  loaded: Loaded,
  attempt: Attempt,
): Promise<Planned> {
  const { product, aggregate } = loaded
  const { timeZone } = aggregate.policy
  const { reported, ...updated } = planUpdate(aggregate, request, { product, timeZone, ...attempt })
  return await completed(updated, reported, request.finalize, loaded, attempt)
}

export async function decideFinalization(loaded: Loaded, attempt: Attempt): Promise<Planned> {
  return await completed({ aggregate: loaded.aggregate, events: [] }, NOTHING_REPORTED, true, loaded, attempt)
}

/** The draft checked, and finalized if so asked. */
async function completed(
  draft: Planned,
  reported: ReportedProblems,
  finalize: boolean,
  loaded: Loaded,
  attempt: Attempt,
): Promise<Planned> {
  assertWithinLimits(draft.aggregate)
  if (policyState(draft.aggregate) === 'created')
    assertValid(draft.aggregate, loaded, attempt.now, finalize, reported)
  if (!finalize) return draft
  const finalized = planFinalization(draft.aggregate, ratingContext(loaded, attempt))
  const invoiced =
    policyState(finalized.aggregate) === 'finalized' && loaded.product.invoicing.generatingEvent === 'accept'
      ? await bill(finalized.aggregate, loaded, attempt)
      : undefined
  return chain(draft, finalized, invoiced)
}

export async function decideIssue(loaded: Loaded, attempt: Attempt): Promise<Planned> {
  const issued = planIssue(loaded.aggregate, attempt.now)
  return chain(issued, await bill(issued.aggregate, loaded, attempt))
}

export const decideDiscard = (loaded: Loaded, attempt: Attempt): Planned =>
  planDiscard(loaded.aggregate, attempt.now)

/** Invoices whose time has come; undefined when there are none, or the policy came to nothing. */
export async function decideInvoicing(loaded: Loaded, attempt: Attempt): Promise<Planned | undefined> {
  const { aggregate } = loaded
  if (policyState(aggregate) === 'discarded' || aggregate.installments.size === 0) return undefined
  const billed = await bill(aggregate, loaded, attempt)
  return billed.events.length > 0 ? billed : undefined
}

/** Plans the payments if that is yet to be done, and makes the invoices that are due. */
async function bill(before: PolicyAggregate, loaded: Loaded, attempt: Attempt): Promise<Planned> {
  const { now } = attempt
  const planned = planBilling(before, loaded.product, now, attempt.supply)
  const { modification } = quoteParts(planned, selectedQuote(planned))
  const due = installmentsToInvoice(planned, modification, now)
  const invoiced =
    due.length > 0
      ? planInvoices(planned, now, await attempt.digits(due.length))
      : { aggregate: planned, events: [] }
  const isNew = planned !== before
  return { ...invoiced, timers: isNew ? invoiceTimers(planned, now) : [] }
}

/** One timer for each time at which an installment is to be invoiced. */
function invoiceTimers({ policy, installments }: PolicyAggregate, now: Instant): NewTimer[] {
  const times = new Set([...installments.values()].map(one => one.issueAt).filter(at => at > now))
  return [...times].map(dueAt => ({
    dueAt,
    kind: INVOICE_TIMER,
    subject: String(policy.locator),
    payload: {},
  }))
}

function chain(...steps: (Planned | undefined)[]): Planned {
  const taken = steps.filter(step => step !== undefined)
  return {
    aggregate: taken.at(-1)!.aggregate,
    events: taken.flatMap(step => step.events),
    timers: taken.flatMap(step => step.timers ?? []),
  }
}

/** The price of the selected quote: as stored, or of a valid draft as it would be now (nothing is stored). */
export function decidePrice(loaded: Loaded, attempt: Attempt): PolicyPriceResponse {
  const priced = pricedNow(loaded, attempt)
  return policyPriceResponse(priced, selectedQuote(priced), feeResponse)
}

/** The underwriting result: as stored, or of a valid draft as it would be now (nothing is stored). */
export function decideUnderwriting(loaded: Loaded, attempt: Attempt): AutomatedUnderwritingResultResponse {
  const { underwriting } = selectedQuote(loaded.aggregate)
  return underwritingResponse(
    underwriting ?? underwriteQuote(pricedNow(loaded, attempt), ratingContext(loaded, attempt)),
  )
}

function pricedNow(loaded: Loaded, attempt: Attempt): PolicyAggregate {
  const { aggregate } = loaded
  const quote = selectedQuote(aggregate)
  if (quoteParts(aggregate, quote).modification.premiumChange !== undefined) return aggregate
  if (policyState(aggregate) !== 'created')
    throw new Refusal(
      'wrongState',
      `Policy ${aggregate.policy.locator} is ${policyState(aggregate)} and was never priced.`,
    )
  assertValid(aggregate, loaded, attempt.now, true, NOTHING_REPORTED)
  return priceQuote(aggregate, quote, ratingContext(loaded, attempt))
}

/** Refuses with every problem of the selected quote at once. */
function assertValid(
  aggregate: PolicyAggregate,
  { product }: Pick<Loaded, 'product'>,
  now: Instant,
  requireMissing: boolean,
  reported: ReportedProblems,
): void {
  const { timeZone } = aggregate.policy
  const errors = validateQuote(
    aggregate,
    selectedQuote(aggregate),
    { product, timeZone, now, requireMissing },
    reported,
  )
  if (errors.hasErrors) throw new Refusal('policyValidation', summary(errors), { policyFieldErrors: errors })
}

function ratingContext(
  { product, configuration, policyholder, aggregate }: Loaded,
  attempt: Attempt,
): RatingContext {
  return {
    product,
    policyholder,
    policyholderFields: configuration.configuration.policyholderFields,
    operation: 'new_business',
    timeZone: aggregate.policy.timeZone,
    now: attempt.now,
    supply: attempt.supply,
    template: source => configuration.template(source),
    lookup: configuration.lookup(product.name),
    project: current => policyResponse(current, product, { summarizeQuotes: false }),
  }
}
