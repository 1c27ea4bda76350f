// New business before pricing: the aggregate that a create request makes, and its span.
import type { DisplayId, LocatorSupply, PolicyLocator, QuoteLocator, Uuid } from '../../kernel/locators.ts'
import type { Instant, Span, TimeZone } from '../../kernel/time.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { NO_FIELD_DATA } from '../../product/fields/groups.ts'
import type { FieldErrors } from '../../product/fields/values.ts'
import type { PolicyCreateRequest } from '../contract/requests.ts'
import type {
  Modification,
  Peril,
  Policy,
  PolicyAggregate,
  PolicySegment,
  Quote,
} from '../records/aggregate.ts'
import { noRecords, putRecords, quoteParts } from '../records/aggregate.ts'
import type { ExposureCreate, GroupCreate } from '../records/transactions.ts'
import { contractSpan, type NewPolicyContext, paymentSchedule } from '../surroundings.ts'
import { changeDraft } from './changes.ts'

type NewDraft = Pick<
  Policy,
  'policyholderLocator' | 'configVersion' | 'currency' | 'paymentScheduleName' | 'premiumReportName'
> & {
  readonly contract: Span
  readonly fieldValues?: unknown
  readonly fieldGroups?: GroupCreate[]
  readonly exposures: ExposureCreate[]
}

/** Returns a new policy with one selected draft quote and its modification, which is issued with the policy (brief 1.2). */
export function newDraft(request: NewDraft, context: DraftContext): DraftResult {
  const { now, supply } = context
  const { contract } = request
  const locator = supply.digits() as PolicyLocator
  const quote: Quote = {
    locator: supply.digits() as QuoteLocator,
    name: 'quote 1',
    state: 'draft',
    selected: true,
    createdAt: now,
    updatedAt: now,
    contractStart: contract.start,
    contractEnd: contract.end,
    paymentScheduleName: request.paymentScheduleName,
  }
  const modification: Modification = {
    locator: supply.uuid(),
    kind: 'creation',
    displayId: supply.digits() as DisplayId,
    quoteLocator: quote.locator,
    number: 0,
    name: 'modification.policy.create',
    effectiveAt: contract.start,
    policyEnd: contract.end,
    createdAt: now,
    updatedAt: now,
  }
  const segment: PolicySegment = {
    locator: supply.uuid(),
    quoteLocator: quote.locator,
    madeBy: modification.locator,
    createdAt: now,
    updatedAt: now,
    ...contract,
    data: NO_FIELD_DATA,
  }
  const empty: PolicyAggregate = {
    policy: {
      locator,
      policyholderLocator: request.policyholderLocator,
      productName: context.product.name,
      configVersion: request.configVersion,
      version: 0,
      createdAt: now,
      updatedAt: now,
      originalStart: contract.start,
      originalEnd: contract.end,
      effectiveEnd: contract.end,
      currency: request.currency,
      timeZone: context.timeZone,
      paymentScheduleName: request.paymentScheduleName,
      premiumReportName: request.premiumReportName,
    },
    ...noRecords(),
    quotes: new Map([[quote.locator, quote]]),
    modifications: new Map([[modification.locator, modification]]),
    segments: new Map([[segment.locator, segment]]),
  }
  return changeDraft(
    empty,
    quote,
    {
      fieldValues: request.fieldValues,
      addFieldGroups: request.fieldGroups,
      addExposures: request.exposures,
    },
    context,
  )
}

/** Moves the quote and its content to another span. An equal span changes nothing. */
export function spanDraft(aggregate: PolicyAggregate, quote: Quote, contract: Span): PolicyAggregate {
  if (quote.contractStart === contract.start && quote.contractEnd === contract.end) return aggregate
  const withContractSpan = <T extends Span>(record: T): T => ({ ...record, ...contract })
  const parts = quoteParts(aggregate, quote)
  return {
    ...aggregate,
    policy: quote.selected
      ? {
          ...aggregate.policy,
          originalStart: contract.start,
          originalEnd: contract.end,
          effectiveEnd: contract.end,
        }
      : aggregate.policy,
    quotes: putRecords(aggregate.quotes, [
      { ...quote, contractStart: contract.start, contractEnd: contract.end },
    ]),
    modifications: putRecords(aggregate.modifications, [
      { ...parts.modification, effectiveAt: contract.start, policyEnd: contract.end },
    ]),
    segments: putRecords(aggregate.segments, [withContractSpan(parts.segment)]),
    exposureRuns: putRecords(aggregate.exposureRuns, parts.exposureRuns.map(withContractSpan)),
    perilRuns: putRecords(aggregate.perilRuns, parts.perilRuns.map(withContractSpan)),
  }
}

// Migrated policies can have perils nested in perils. The term of a renewal and the copy of a quote replace them by new perils.
/**
 * Returns the new perils of a map from replaced perils to new ones. Each new peril gets the replacement of its parent, or no parent
 * if the parent was not replaced.
 */
export function withParents(replacements: ReadonlyMap<Uuid, Peril>): Peril[] {
  return [...replacements.values()].map(({ parentLocator, ...peril }): Peril => {
    const parent = parentLocator && replacements.get(parentLocator)
    return parent ? { ...peril, parentLocator: parent.locator } : peril
  })
}

/** Returns the draft that a request describes, with the problems of the request. */
export const requestedDraft = (
  request: PolicyCreateRequest,
  { product, timeZone, currency, policyholder, configVersion }: NewPolicyContext,
  { now, supply }: { now: Instant; supply: LocatorSupply },
): DraftResult =>
  newDraft(
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

/** Problems of the request by the owner's locator. `strays` belong to no owner. */
export type ReportedProblems = {
  byOwner: Map<string, FieldErrors>
  strays: StrayProblem[]
  /** Added exposures with their place in the request, because the client does not know their locators yet. */
  added: Map<string, number>
  /**
   * The locators by which the request names its additions, by those of the exposures, perils and groups created from them. For
   * the perils of a renewal's term, those of the perils that they renew.
   */
  names: Map<string, string>
}

/** A part of the request that names something unknown. `index` is its place in the request's list. */
export type StrayProblem = {
  exposureName: string
  exposureLocator?: string
  index?: number
  perilName?: string
  message: string
}

export type DraftContext = {
  product: ProductDefinition
  timeZone: TimeZone
  now: Instant
  supply: LocatorSupply
}

export type DraftResult = { aggregate: PolicyAggregate; reported: ReportedProblems }
