// The time and place of a transaction decide which of the tenant's resources are in force for it (resources brief 1.1 and 2).
// Rating, plugins, constraints and documents all use this file, so one transaction uses the same resources everywhere.
//
// A transaction's jurisdiction is a value of the policy's own data: that of the field which policy.json names by
// `jurisdictionField`, else of one that is called `jurisdiction`. So it is known wherever the policy is, and an endorsement
// that changes the field moves the policy to other tables from its time on. A peril that is rated has the jurisdiction of
// its own segment; all else of a transaction, that of the policy at the transaction's time: so a plugin's call too, which
// rates all segments at once.

import { type Instant, later } from '../kernel/time.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import type { FieldData } from '../product/fields/groups.ts'
import { readFieldValues, valuesOf } from '../product/fields/values.ts'
import type { SelectionBasis } from '../product/resources.ts'
import { type Line, lineOf, segmentsInForce } from './fold/line.ts'
import { type Modification, type PolicyAggregate, type Quote, selectedQuote } from './records/aggregate.ts'

type Of = { readonly aggregate: PolicyAggregate; readonly product: ProductDefinition }

/** Undefined where the product has no field for it, or the field no value. */
export const jurisdictionOf = (
  { jurisdictionField }: ProductDefinition,
  { values }: Pick<FieldData, 'values'>,
): string | undefined =>
  jurisdictionField === undefined ? undefined : valuesOf(values, jurisdictionField)[0]

/** The line up to a modification, which counts though it may not be issued. */
export const lineUpTo = (aggregate: PolicyAggregate, quote: Quote, last: Modification): Line =>
  lineOf(
    aggregate,
    quote,
    one => one.locator === last.locator || (one.issuedAt !== undefined && one.number < last.number),
  )

/** Of a transaction of the policy. A renewal begins a term; a cancellation lies where the segment is that it ends. */
export function selectionBasis(of: Of, modification: Modification, now: Instant): SelectionBasis {
  const { aggregate } = of
  const { quoteLocator } = modification
  const quote = quoteLocator === undefined ? selectedQuote(aggregate) : aggregate.quotes.get(quoteLocator)!
  return basisOf(of, quote, lineUpTo(aggregate, quote, modification), modification.effectiveAt, now)
}

/** For anything else, such as an invoice or a plugin call in between: by the issued policy. */
export function basisAt(of: Of, at: Instant, now: Instant): SelectionBasis {
  const quote = selectedQuote(of.aggregate)
  return basisOf(of, quote, lineOf(of.aggregate, quote), at, now)
}

function basisOf({ product }: Of, quote: Quote, line: Line, at: Instant, now: Instant): SelectionBasis {
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

/** The time of a request that is not carried out yet, and its values of the policy's own fields. */
type Request = {
  /** When it takes effect. */
  readonly at: Instant
  readonly fieldValues?: unknown
  /** New business begins the policy then, a renewal a term. */
  readonly begins?: 'policy' | 'term'
}

/** For a request that changes the policy: its values come before the policy's. */
export function basisOfRequest(of: Of, { at, fieldValues, begins }: Request, now: Instant): SelectionBasis {
  const basis = basisAt(of, at, now)
  const named = jurisdictionIn(of.product, fieldValues)
  return {
    ...basis,
    ...(begins === 'policy' && { policyStartTime: at }),
    ...(begins !== undefined && { termStartTime: at }),
    ...(named !== undefined && { jurisdiction: named[0] }),
  }
}

/** Of a request for a policy that is yet to be made. */
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

/** The values that field values of the wire have for it; undefined where they do not name the field. */
function jurisdictionIn(
  { jurisdictionField }: ProductDefinition,
  fieldValues: unknown,
): readonly string[] | undefined {
  if (jurisdictionField === undefined) return undefined
  const { values } = readFieldValues(fieldValues)
  return Object.hasOwn(values, jurisdictionField) ? values[jurisdictionField] : undefined
}
