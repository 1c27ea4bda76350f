// A policy of a book: its cover over time, without the history that led to it, bills and documents. It is plain JSON, one line in
// the files that `bindery book export` writes.
import { z } from '@hono/zod-openapi'
import type { Instant, Span } from '../../kernel/time.ts'
import type { PolicyResponse } from '../../policy/contract/response.ts'
import { isIssued, lineOf } from '../../policy/fold/line.ts'
import { lazyPolicyResponse } from '../../policy/projection/policy.ts'
import { boundQuote, type PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { FieldData } from '../../product/fields/groups.ts'

const at = z.int().transform(ms => ms as Instant)
const span = { start: at, end: at }
const values = z.record(z.string(), z.array(z.string()))
const data = {
  values,
  groups: z.array(z.object({ locator: z.string(), fieldName: z.string(), values })).default([]),
}
/** An amount for the span of the part that contains it, in major units. Absent if it was never priced. */
const amount = z.number().optional()

const AMOUNT_NAMES = [
  'deductible',
  'lumpSumPayment',
  'indemnityInAggregate',
  'indemnityPerEvent',
  'indemnityPerItem',
] as const

const BookedPeril = z.object({
  locator: z.string(),
  name: z.string(),
  parts: z.array(
    z.object({
      ...span,
      ...data,
      amounts: z.partialRecord(z.enum(AMOUNT_NAMES), z.string()).default({}),
      premium: amount,
      monthPremium: amount,
    }),
  ),
})

export const BookedPolicy = z.object({
  locator: z.string(),
  productName: z.string(),
  currency: z.string(),
  /** Absent: the time zone of the configuration. */
  timeZone: z.string().optional(),
  policyholder: values,
  paymentScheduleName: z.string().optional(),
  originalStart: at,
  originalEnd: at,
  /** The end of its cover. */
  end: at,
  /** Whether a cancellation, a lapse or a withdrawal ends it, so that it is not renewed. */
  isCancelled: z.boolean(),
  /** The issued terms, in order. */
  terms: z.array(z.object(span)).min(1),
  parts: z.array(z.object({ ...span, ...data, taxes: amount })),
  exposures: z.array(
    z.object({
      locator: z.string(),
      name: z.string(),
      parts: z.array(z.object({ ...span, ...data })),
      perils: z.array(BookedPeril),
    }),
  ),
  fees: z.array(z.object({ ...span, name: z.string(), amount: z.number() })),
})
export type BookedPolicy = z.output<typeof BookedPolicy>

type Answered = Pick<
  PolicyResponse,
  | 'locator'
  | 'productName'
  | 'grossFeesCurrency'
  | 'paymentScheduleName'
  | 'originalContractStartTimestamp'
  | 'originalContractEndTimestamp'
  | 'effectiveContractEndTimestamp'
  | 'cancellation'
  | 'characteristics'
  | 'exposures'
  | 'fees'
>

/** What `bookedPolicy` needs in addition to the answer. */
export type BookedWith = {
  readonly policyholder: Readonly<Record<string, readonly string[]>>
  readonly terms: readonly Span[]
  readonly timeZone?: string
}

/** Converts an answer. Keeps what is issued and not replaced. */
export function bookedPolicy(policy: Answered, { policyholder, terms, timeZone }: BookedWith): BookedPolicy {
  const parts = policy.characteristics.filter(isInForce).map(one => ({
    ...spanOf(one.startTimestamp, one.endTimestamp),
    ...dataOf(one),
    taxes: one.grossTaxes,
  }))
  const end = Number(policy.effectiveContractEndTimestamp)
  return {
    locator: policy.locator,
    productName: policy.productName,
    currency: policy.grossFeesCurrency,
    ...(timeZone !== undefined && { timeZone }),
    policyholder: copyValues(policyholder),
    paymentScheduleName: policy.paymentScheduleName,
    originalStart: Number(policy.originalContractStartTimestamp) as Instant,
    originalEnd: Number(policy.originalContractEndTimestamp) as Instant,
    end: Math.min(end, Math.max(...parts.map(part => part.end), 0)) as Instant,
    isCancelled: policy.cancellation !== undefined || parts.every(part => part.end < end),
    terms: [...terms],
    parts,
    exposures: policy.exposures.flatMap(exposure => {
      const own = exposure.characteristics
        .filter(isInForce)
        .map(one => ({ ...spanOf(one.startTimestamp, one.endTimestamp), ...dataOf(one) }))
      if (own.length === 0) return []
      const perils = exposure.perils.map(bookedPeril).filter(peril => peril.parts.length > 0)
      return [{ locator: exposure.locator, name: exposure.name, parts: own, perils }]
    }),
    fees: policy.fees
      .filter(({ reversed }) => !reversed)
      .map(({ name, amount, startTimestamp, endTimestamp }) => ({
        ...spanOf(startTimestamp, endTimestamp),
        name,
        amount,
      })),
  }
}

const isInForce = ({
  issuedTimestamp,
  replacedTimestamp,
}: {
  issuedTimestamp?: string | undefined
  replacedTimestamp?: string | undefined
}): boolean => issuedTimestamp !== undefined && replacedTimestamp === undefined

const spanOf = (start: string, end: string): Span => ({
  start: Number(start) as Instant,
  end: Number(end) as Instant,
})

type Valued = {
  readonly fieldValues: Readonly<Record<string, readonly string[]>>
  readonly fieldGroupsByLocator: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
}

/** Returns the data with each group under the field that lists it. */
function dataOf({ fieldValues, fieldGroupsByLocator }: Valued): FieldData {
  const fieldOf = new Map(
    Object.entries(fieldValues).flatMap(([name, list]) => list.map(value => [value, name] as const)),
  )
  return {
    values: copyValues(fieldValues),
    groups: Object.entries(fieldGroupsByLocator).flatMap(([locator, inner]) => {
      const fieldName = fieldOf.get(locator)
      return fieldName === undefined ? [] : [{ locator, fieldName, values: copyValues(inner) }]
    }),
  }
}

const copyValues = (given: Readonly<Record<string, readonly string[]>>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(given).map(([name, list]) => [name, [...list]]))

function bookedPeril({
  locator,
  name,
  characteristics,
}: PolicyResponse['exposures'][number]['perils'][number]): BookedPolicy['exposures'][number]['perils'][number] {
  return {
    locator,
    name,
    parts: characteristics.filter(isInForce).map(one => ({
      ...spanOf(one.coverageStartTimestamp, one.coverageEndTimestamp),
      ...dataOf(one),
      amounts: Object.fromEntries(
        AMOUNT_NAMES.flatMap(amount => {
          const value = one[amount]
          return value === undefined ? [] : [[amount, String(value)]]
        }),
      ),
      premium: one.premium,
      monthPremium: one.monthPremium,
    })),
  }
}

type Listed = Pick<PolicyResponse, 'originalContractStartTimestamp' | 'effectiveContractEndTimestamp'> & {
  readonly modifications: readonly Pick<
    PolicyResponse['modifications'][number],
    'name' | 'issuedTimestamp' | 'effectiveTimestamp' | 'policyEndTimestamp'
  >[]
}

/** Returns the issued terms of an answer: the first one, and one for each renewal. */
export function termsOf({
  originalContractStartTimestamp,
  effectiveContractEndTimestamp,
  modifications,
}: Listed): Span[] {
  const renewals = modifications
    .filter(
      ({ name, issuedTimestamp }) => name === 'modification.policy.renew' && issuedTimestamp !== undefined,
    )
    .map(({ effectiveTimestamp }) => Number(effectiveTimestamp))
  return termsBetween(
    [Number(originalContractStartTimestamp), ...renewals],
    Number(effectiveContractEndTimestamp),
  )
}

/** Returns the terms that begin at these times. The last one ends at `end`. */
export function termsBetween(starts: readonly number[], end: number): Span[] {
  const sorted = [...new Set(starts)].sort((a, b) => a - b)
  return sorted.map((start, index) => ({
    start: start as Instant,
    end: (sorted[index + 1] ?? end) as Instant,
  }))
}

/** Converts an issued policy; `policyholder` has the values of its holder. Only issued transactions count. */
export function bookedAggregate(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  policyholder: Readonly<Record<string, readonly string[]>>,
): BookedPolicy {
  const { originalStart, effectiveEnd, timeZone } = aggregate.policy
  const quote = boundQuote(aggregate)
  const renewals = lineOf(aggregate, quote, isIssued)
    .filter(({ modification }) => modification.kind === 'renewal')
    .map(({ modification }) => modification.effectiveAt)
  const terms = termsBetween([originalStart, ...renewals], effectiveEnd)
  return bookedPolicy(lazyPolicyResponse(aggregate, product, quote, isIssued), {
    policyholder,
    terms,
    timeZone,
  })
}
