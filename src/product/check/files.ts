// Schemas of files below products/, and of fields in all files.
import { z } from 'zod'
import { PAYMENT_SCHEDULE_TYPES } from '../configuration.ts'
import { SELECTION_TIME_BASES } from '../resources.ts'
import {
  amount,
  choice,
  count,
  flag,
  indemnity,
  list,
  margin,
  name,
  text,
  textList,
  unlessBlank,
  wholeNumber,
} from './json/scalars.ts'

/** Reads `Days` as `day`. */
const asUnit = (value: unknown): unknown =>
  typeof value === 'string' ? value.trim().toLowerCase().replace(/s$/, '') : value

const offset = z.strictObject({
  field: z.preprocess(asUnit, z.enum(['year', 'month', 'week', 'day', 'hour', 'minute', 'second'])),
  amount: wholeNumber,
  roundToDay: flag.optional(),
})

/** `true`, or how to search (`text`). `false` and `none` turn search off. */
const search = z.preprocess(value => {
  if (typeof value !== 'string') return value
  return !['', 'false', 'none', 'no'].includes(value.trim().toLowerCase())
}, z.boolean())

/** Only for screens. */
const display = {
  width: z.unknown().optional(),
  newline: z.unknown().optional(),
  heading: z.unknown().optional(),
  multiline: z.unknown().optional(),
  showCalendar: z.unknown().optional(),
  placeholder: z.unknown().optional(),
  description: z.unknown().optional(),
}

const constraint = z.strictObject({
  table: name,
  column: name,
  where: z
    .record(z.string(), z.strictObject({ key: name.optional(), values: textList.optional() }).optional())
    .default({}),
})

/** All properties of fields, of any type (brief 5.2). */
const properties = {
  name,
  title: text.optional(),
  type: z.preprocess(value => (typeof value === 'string' ? value.trim().toLowerCase() : value), z.string()),
  optional: flag.optional(),
  condition: z.record(z.string(), textList).optional(),
  repeatable: flag.optional(),
  search: search.optional(),
  searchable: search.optional(),
  regex: unlessBlank(text),
  minimum: unlessBlank(text),
  maximum: unlessBlank(text),
  decimalPlaces: count.optional(),
  precision: text.optional(),
  minimumOffset: offset.optional(),
  maximumOffset: offset.optional(),
  values: textList.optional(),
  table: name.optional(),
  constraint: constraint.optional(),
  ...display,
}

/** `fields` is read only to report that groups do not nest. */
const groupedField = z.strictObject({ ...properties, fields: z.unknown().optional() })

const fieldFile = z.strictObject({ ...properties, fields: list(groupedField).optional() })

export const fieldList = list(fieldFile)

/** Has no `fields` of its own, because groups do not nest. */
export type FieldFile = z.infer<typeof groupedField>
export type FieldFiles = readonly (FieldFile | undefined)[]

/** The newer names. */
const DOCUMENT_TRIGGERS = ['validated', 'priced', 'underwritten', 'accepted', 'issued', 'generated'] as const

const types = choice(['pdf', 'html']).optional()
const pageSize = choice(['letter', 'legal', 'A3', 'A4', 'A5', 'B4', 'B5']).optional()

/** Older and newer properties (resources brief 4.2); `documents.ts` defines them. */
const document = z.strictObject({
  displayName: text.optional(),
  fileName: name,
  templateName: name,
  type: types,
  generatingEvent: choice(['quote', 'accept', 'issue']).optional(),
  templateSnippets: textList.optional(),
  customFonts: textList.optional(),
  selectionTimeBasis: choice(SELECTION_TIME_BASES).optional(),
  pageLayout: z
    .strictObject({
      marginLeft: margin,
      marginRight: margin,
      marginTop: margin,
      marginBottom: margin,
      orientation: choice(['portrait', 'landscape']).optional(),
      pageSize,
    })
    .optional(),
  format: types,
  rendering: choice(['dynamic', 'prerendered']).optional(),
  trigger: choice(DOCUMENT_TRIGGERS).optional(),
  scope: choice(['transaction', 'policy', 'term', 'segment', 'invoice']).optional(),
  portrait: flag.optional(),
  pageSize,
  margin: z.strictObject({ top: margin, bottom: margin, left: margin, right: margin }).optional(),
})

const documents = list(document).default([])

export type DocumentFile = z.infer<typeof document>
export type DocumentFiles = z.infer<typeof documents>

/** Form of published archives; ours is `endReminders`, with the days as a number. */
const reminder = z.strictObject({
  name,
  enabled: flag.default(true),
  from: choice(['policy.end']).default('policy.end'),
  /** `-7d` */
  offset: text,
})

/** `Days` and `days` also mean `day`. */
const paymentTermsUnit = z.preprocess(asUnit, z.enum(['day']))

/** products/<product>/policy/policy.json */
export const policyFile = z.strictObject({
  displayName: text.optional(),
  fields: fieldList.default([]),
  /** Mistakes that could change a price are errors, and refused when a policy is priced (docs/strict.md). */
  strict: flag.default(false),
  /** Field whose value is the jurisdiction; default `jurisdiction`. */
  jurisdictionField: name.optional(),
  requiresJurisdiction: flag.default(false),
  documents,
  paymentSchedules: list(
    z.strictObject({
      type: choice(PAYMENT_SCHEDULE_TYPES),
      name: name.optional(),
      displayName: text.optional(),
    }),
  ).optional(),
  defaultPaymentTerms: z
    .strictObject({ amount: count.default(0), unit: paymentTermsUnit.default('day') })
    .default({ amount: 0, unit: 'day' }),
  lapse: z
    .strictObject({ gracePeriodDays: count.optional(), reinstatementPeriodDays: count.optional() })
    .default({}),
  invoicing: z
    .strictObject({
      generatingEvent: choice(['accept', 'issue']).default('issue'),
      carryForwardBelow: amount.optional(),
    })
    .default({ generatingEvent: 'issue' }),
  cancellations: z
    .strictObject({ proration: choice(['30E360', 'actual', 'actualMilliseconds']).default('30E360') })
    .default({ proration: '30E360' }),
  plugins: z.record(z.string(), z.strictObject({ path: name, enabled: flag.default(true) })).default({}),
  externalRater: name.optional(),
  reminders: z
    .preprocess(value => (value === undefined || Array.isArray(value) ? value : [value]), list(reminder))
    .default([]),
  endReminders: list(z.strictObject({ name, daysBefore: count })).default([]),
  /** Only for screens. */
  searchSummary: z.unknown().optional(),
})

export type PolicyFile = z.infer<typeof policyFile>

/** …/policy/exposures/<exposure>/exposure.json */
export const exposureFile = z.strictObject({
  name: name.optional(),
  displayName: text.optional(),
  fields: fieldList.default([]),
  /** Legacy look-ups made by screens. */
  externalDataCalls: z.unknown().optional(),
})

/** …/exposures/<exposure>/perils/<peril>.json */
export const perilFile = z.strictObject({
  name: name.optional(),
  displayName: text.optional(),
  fields: fieldList.default([]),
  indemnityPerItem: unlessBlank(indemnity),
  indemnityPerEvent: unlessBlank(indemnity),
  indemnityInAggregate: unlessBlank(indemnity),
  deductible: unlessBlank(amount),
  lumpSumPayment: unlessBlank(amount),
})

/** …/policy/endorsements.json */
export const endorsementsFile = z.strictObject({
  endorsements: list(
    z.strictObject({
      name,
      displayName: text.optional(),
      reprice: choice(['never', 'always', 'all', 'input']).default('never'),
      documents,
    }),
  ).default([]),
})

/** …/policy/renewals.json */
export const renewalsFile = z.strictObject({ documents })

/** …/policy/cancellations.json */
export const cancellationsFile = z.strictObject({
  cancellationTypes: list(
    z.strictObject({
      name,
      title: text.optional(),
      documents,
      cancellationCategories: textList.default([]),
      holdback: z.strictObject({ amount: amount.optional(), percent: amount.optional() }).optional(),
      reinstatement: z.strictObject({ defaultDeadlineDays: count, documents }).optional(),
    }),
  ).default([]),
})

/** …/policy/fees.json */
export const feesFile = z.strictObject({
  fees: list(
    z.strictObject({
      name,
      displayName: text.optional(),
      proration: choice(['proratable', 'flat']).default('proratable'),
    }),
  ).default([]),
})

/** …/policy/taxes/taxes.json */
export const taxesFile = z.strictObject({
  taxes: list(z.strictObject({ name, displayName: text.optional() })).default([]),
})
