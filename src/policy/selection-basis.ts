// A transaction's time and jurisdiction decide which of the tenant's resources are in force for it (resources brief 1.1, 2).
// Rating, plugins, constraints and documents all use this file, so they use the same resources.
//
// The jurisdiction is a value of the policy's own data: of the field that policy.json names by `jurisdictionField`, otherwise of a
// field `jurisdiction`. It is therefore known wherever the policy is, and an endorsement of that field moves the policy to other
// tables from the endorsement's time on. Rating uses the jurisdiction of each peril's own segment. Everything else uses the
// policy's jurisdiction at the transaction's time, including plugin calls, because one call rates all segments.
import { type Instant, later } from '../kernel/time.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import type { FieldData } from '../product/fields/groups.ts'
import { readFieldValues, valuesOf } from '../product/fields/values.ts'
import type { SelectionBasis } from '../product/resources.ts'
import { type Line, lineOf, lineUpTo, segmentsInForce } from './fold/line.ts'
import { type Modification, type PolicyAggregate, type Quote, selectedQuote } from './records/aggregate.ts'

type PolicyContext = { readonly aggregate: PolicyAggregate; readonly product: ProductDefinition }

/** Returns the jurisdiction; undefined if the product has no such field or the field has no value. */
export const jurisdictionOf = (
  { jurisdictionField }: ProductDefinition,
  { values }: Pick<FieldData, 'values'>,
): string | undefined =>
  jurisdictionField === undefined ? undefined : valuesOf(values, jurisdictionField)[0]

/** Returns a modification's selection basis. A renewal is at its term's start; a cancellation uses the segment that it ends. */
export function selectionBasis(
  context: PolicyContext,
  modification: Modification,
  now: Instant,
): SelectionBasis {
  const { aggregate } = context
  const { quoteLocator } = modification
  const quote = quoteLocator === undefined ? selectedQuote(aggregate) : aggregate.quotes.get(quoteLocator)!
  return basisOf(context, quote, lineUpTo(aggregate, quote, modification), modification.effectiveAt, now)
}

/** Returns the selection basis of anything else, such as an invoice or a plugin call in between. Uses the issued policy. */
export function basisAt(context: PolicyContext, at: Instant, now: Instant): SelectionBasis {
  const quote = selectedQuote(context.aggregate)
  return basisOf(context, quote, lineOf(context.aggregate, quote), at, now)
}

function basisOf(
  { product }: PolicyContext,
  quote: Quote,
  line: Line,
  at: Instant,
  now: Instant,
): SelectionBasis {
  const renewals = line.filter(
    ({ modification }) => modification.kind === 'renewal' && modification.effectiveAt <= at,
  )
  const segments = product.jurisdictionField === undefined ? [] : segmentsInForce(line)
  const segment = segments.findLast(one => one.start <= at) ?? segments[0]
  const jurisdiction = segment && jurisdictionOf(product, segment.data)
  return {
    policyStartTime: quote.contractStart,
    termStartTime: renewals.reduce(
      (start, { modification }) => later(start, modification.effectiveAt),
      quote.contractStart,
    ),
    transactionEffectiveTime: at,
    currentTime: now,
    ...(jurisdiction !== undefined && { jurisdiction }),
  }
}

/** A request that is not executed yet, with the values that it sends for the policy's own fields. */
type Request = {
  /** When the request takes effect. */
  readonly at: Instant
  readonly fieldValues?: unknown
  /** New business begins the policy at that time; a renewal begins a term. */
  readonly begins?: 'policy' | 'term'
}

/** Returns the selection basis of a request that changes the policy. The request's values take precedence over the policy's. */
export function basisOfRequest(
  context: PolicyContext,
  { at, fieldValues, begins }: Request,
  now: Instant,
): SelectionBasis {
  const basis = basisAt(context, at, now)
  const named = jurisdictionIn(context.product, fieldValues)
  return {
    ...basis,
    ...(begins === 'policy' && { policyStartTime: at }),
    ...(begins !== undefined && { termStartTime: at }),
    ...(named !== undefined && { jurisdiction: named[0] }),
  }
}

/** Returns the selection basis of a request that creates a policy: policy, term and transaction all begin at its time. */
export const basisOfNewPolicy = (
  product: ProductDefinition,
  { at, fieldValues }: Omit<Request, 'begins'>,
  now: Instant,
): SelectionBasis => ({
  policyStartTime: at,
  termStartTime: at,
  transactionEffectiveTime: at,
  currentTime: now,
  jurisdiction: jurisdictionIn(product, fieldValues)?.[0],
})

/** Returns the jurisdictions in the request's field values; undefined if they do not include the field. */
function jurisdictionIn(
  { jurisdictionField }: ProductDefinition,
  fieldValues: unknown,
): readonly string[] | undefined {
  if (jurisdictionField === undefined) return undefined
  const { values } = readFieldValues(fieldValues)
  return Object.hasOwn(values, jurisdictionField) ? values[jurisdictionField] : undefined
}
