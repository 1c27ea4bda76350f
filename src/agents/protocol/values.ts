// Values that many tools accept or return. Times are ISO 8601, which models read better than milliseconds.
import { z } from 'zod'
import type { Json } from './host.ts'

export const Locator = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the locator of a record, as returned by a tool')
  .describe('Locator of the record.')

export const policyIn = Locator.describe('Locator of the policy.')
export const policyholderIn = Locator.describe('Locator of the policyholder.')

export const NameIn = z.string().min(1).max(80)

export const TimeIn = z.iso
  .datetime({ offset: true, error: 'must be a time with its time zone, such as 2026-12-01T00:00:00+01:00' })
  .describe('With its time zone: 2026-12-01T00:00:00+01:00, or 2026-11-30T23:00:00Z.')

export const More = z
  .string()
  .max(2_000)
  .optional()
  .describe('The `more` of the previous page. Returns the next page.')

// The limit on a whole message bounds these too. Models read a schema with every call, so nothing is said in it twice.
const Values = z.record(z.string(), z.union([z.string(), z.array(z.string())]))

export const FieldValuesIn = Values.describe(
  'Values by field name: a text, or a list of texts if the field is repeatable. read_product lists the fields.',
)

const FieldGroups = z.array(z.strictObject({ fieldName: z.string(), fieldValues: Values }))

export const FieldGroupsIn = FieldGroups.describe('Values of group fields, one entry per group.')

const AMOUNTS = [
  'deductible',
  'lumpSumPayment',
  'indemnityInAggregate',
  'indemnityPerEvent',
  'indemnityPerItem',
] as const

/** Decimal numbers; for indemnities also `unlimited`. */
const amounts = z.partialRecord(z.enum(AMOUNTS), z.string()).optional()

const PerilIn = z.strictObject({
  name: z.string(),
  fieldValues: Values.optional(),
  fieldGroups: FieldGroups.optional(),
  amounts,
})

export const ExposureIn = z.strictObject({
  exposureName: z.string(),
  fieldValues: Values.optional(),
  fieldGroups: FieldGroups.optional(),
  perils: z.array(PerilIn),
})

const GroupUpdate = z.strictObject({
  fieldGroupLocator: z.string(),
  fieldName: z.string(),
  fieldValues: Values,
})

const fieldChanges = {
  fieldValues: Values.optional(),
  addFieldGroups: FieldGroups.optional(),
  updateFieldGroups: z.array(GroupUpdate).optional(),
  removeFieldGroups: z.array(z.string()).optional(),
}

const PerilUpdate = z.strictObject({ perilLocator: z.string(), ...fieldChanges, amounts })

const ExposureUpdate = z.strictObject({
  exposureLocator: z.string(),
  ...fieldChanges,
  addPerils: z.array(PerilIn).optional(),
  updatePerils: z.array(PerilUpdate).optional(),
  endPerils: z.array(z.string()).optional(),
})

/** Changes of a policy, by an endorsement or for its next term. */
export const policyChanges = {
  ...fieldChanges,
  fieldValues: FieldValuesIn.optional(),
  addExposures: z.array(ExposureIn).optional(),
  updateExposures: z.array(ExposureUpdate).optional(),
  endExposures: z.array(z.string()).optional(),
  newPaymentScheduleName: z.string().optional(),
}

/** Moves the amounts of a peril next to its other properties, where the interface has them. */
export function withAmounts(content: Json): Json {
  if (Array.isArray(content)) return content.map(withAmounts)
  if (typeof content !== 'object' || content === null) return content
  const { amounts: own, ...rest } = content
  return {
    ...Object.fromEntries(
      Object.entries(rest).map(([name, value]) => [name, PARTS.has(name) ? withAmounts(value) : value]),
    ),
    ...own,
  }
}

const PARTS: ReadonlySet<string> = new Set([
  'exposures',
  'addExposures',
  'updateExposures',
  'perils',
  'addPerils',
  'updatePerils',
])

/** Milliseconds since 1970, as the interface accepts them. */
export const msOf = (iso: string): string => String(Date.parse(iso))

/** Does what `msOf` does; undefined stays undefined. */
export const msIfAny = (iso: string | undefined): string | undefined =>
  iso === undefined ? undefined : msOf(iso)

/** Returns milliseconds given as text as ISO 8601, or undefined for none. */
export function isoOf(ms: string | undefined): string | undefined {
  const time = new Date(Number(ms))
  return ms === undefined || Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}

/** ISO 8601, in UTC. */
export const Time = z.string()

/** In major units. */
export const Money = z.strictObject({ amount: z.number(), currency: z.string() })

/** Returns an amount of a record with its currency, or undefined where there is none. */
export function money(record: Json, name: string): z.infer<typeof Money> | undefined {
  const amount = record?.[name]
  return typeof amount === 'number'
    ? { amount, currency: String(record[`${name}Currency`] ?? '') }
    : undefined
}

export const FieldValues = z.record(z.string(), z.array(z.string()))

/** A tool shows at most this many fields of one record. */
const MOST_FIELDS = 80

/** Returns the values of at most 80 fields as lists of texts, with at most 20 values each. A record without values has none. */
export const fieldValues = (values: Json): z.infer<typeof FieldValues> =>
  Object.fromEntries(
    Object.entries((values ?? {}) as Record<string, unknown>)
      .slice(0, MOST_FIELDS)
      .map(([name, value]) => [name, (Array.isArray(value) ? value : [value]).slice(0, 20).map(String)]),
  )

export const Groups = z
  .record(z.string(), FieldValues)
  .optional()
  .describe('Field values of groups, by the locators in fieldValues.')

const MOST_GROUPS = 40

/** Returns undefined if there are no groups. */
export function groupsOf(groups: Json): z.infer<typeof Groups> {
  const all = Object.entries((groups ?? {}) as Record<string, Json>).slice(0, MOST_GROUPS)
  return all.length === 0
    ? undefined
    : Object.fromEntries(all.map(([locator, one]) => [locator, fieldValues(one)]))
}

export const Underwriting = z.strictObject({ decision: z.string(), notes: z.array(z.string()) })

/** Returns the decision with at most 10 notes, or undefined if there is no result. */
export const underwriting = (result: Json): z.infer<typeof Underwriting> | undefined =>
  result && {
    decision: String(result.decision),
    notes: ((result.notes ?? []) as unknown[]).slice(0, 10).map(String),
  }

export const MoreCount = z
  .number()
  .int()
  .optional()
  .describe('How many more entries there are that are not shown.')

export const NextPage = z
  .string()
  .optional()
  .describe('Send it as `more` for the next page. Absent on the last page.')
