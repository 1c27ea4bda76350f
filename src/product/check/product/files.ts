import { z } from 'zod'
import { PAYMENT_SCHEDULE_TYPES } from '../../configuration.ts'
import { SELECTION_TIME_BASES } from '../../resources.ts'
import { asUnit, fieldList } from '../fields/files.ts'
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
} from '../json/scalars.ts'

/** When a document is made, in the newer words. */
const DOCUMENT_TRIGGERS = ['validated', 'priced', 'underwritten', 'accepted', 'issued', 'generated'] as const

const types = choice(['pdf', 'html']).optional()
const pageSize = choice(['letter', 'legal', 'A3', 'A4', 'A5', 'B4', 'B5']).optional()

/** A document with the older properties and the newer ones (resources brief 4.2; `documents.ts` says what they mean). */
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

/** The form of the world; ours is `endReminders`, with the days as a number. */
const reminder = z.strictObject({
  name,
  enabled: flag.default(true),
  from: choice(['policy.end']).default('policy.end'),
  /** `-7d` */
  offset: text,
})

/** `days` is the same. */
const paymentTermsUnit = z.preprocess(asUnit, z.enum(['day']))

/** products/<product>/policy/policy.json */
export const policyFile = z.strictObject({
  displayName: text.optional(),
  fields: fieldList.default([]),
  /** Name of the policy's field whose value is its jurisdiction; else a field `jurisdiction`. */
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
  /** What search results show; screens only. */
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
