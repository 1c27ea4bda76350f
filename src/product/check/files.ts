// Schemas of the files under products/. Those of fields are in fields/file.ts, those of documents in product/document-file.ts.
import { z } from 'zod'
import { PAYMENT_SCHEDULE_TYPES, PLUGIN_FUNCTIONS } from '../configuration.ts'
import { asUnit, fieldList } from './fields/file.ts'
import {
  amount,
  blankAsAbsent,
  caseInsensitiveEnum,
  days,
  flag,
  indemnity,
  list,
  listOrSingle,
  name,
  text,
  textList,
  withDescription,
} from './json/scalars.ts'
import { documentList } from './product/document-file.ts'

const displayName = (what: string, example: string) =>
  withDescription(
    text.optional(),
    `Name of ${what} shown to people. Default: derived from the name.`,
    example,
  )

const fieldsOf = (owner: string) =>
  withDescription(fieldList.default([]), `The fields of ${owner}, in the order of screens. Default: none.`, [
    { name: 'note', type: 'string', optional: true },
  ])

const documentsOf = (when: string) =>
  withDescription(documentList, `The documents to create ${when}. Default: none.`, [
    { displayName: 'Schedule', fileName: 'schedule.pdf', templateName: 'schedule.template.liquid' },
  ])

/** The format of published archives. Bindery's own is `endReminders`, with a number of days. */
const reminder = z.strictObject({
  name: withDescription(name, 'Name of the reminder in the event.', 'renewal_offer'),
  enabled: withDescription(flag.default(true), 'Whether the reminder is sent.', true),
  from: withDescription(
    caseInsensitiveEnum(['policy.end']).default('policy.end'),
    'The time from which it is counted.',
    'policy.end',
  ),
  /** For example `-7d`. */
  offset: withDescription(text, 'Time before the end: days or weeks, such as `-7d` or `-2w`.', '-42d'),
})

const endReminder = z.strictObject({
  name: withDescription(name, 'Name of the reminder in the event `policy.end.reminder`.', 'renewal_offer'),
  daysBefore: withDescription(days, 'Number of days before the end of the term when it is sent.', 42),
})

/** `Days` and `days` are also accepted. */
const paymentTermsUnit = z.preprocess(asUnit, z.enum(['day']))

const paymentTerms = z.strictObject({
  amount: withDescription(
    days.default(0),
    "Number of days from the invoice of an installment to its due date. Payment is due by the end of the day on which the installment's period begins. The first installment is invoiced immediately.",
    14,
  ),
  unit: withDescription(paymentTermsUnit.default('day'), 'Unit of `amount`; only days are possible.', 'day'),
})

const paymentSchedule = z.strictObject({
  type: withDescription(
    caseInsensitiveEnum(PAYMENT_SCHEDULE_TYPES),
    'How often an installment begins; `total` bills the whole term in one installment.',
    'monthly',
  ),
  name: withDescription(
    name.optional(),
    'Name of the schedule in requests (`paymentScheduleName`). Default: its `type`.',
    'monthly',
  ),
  displayName: displayName('the payment schedule', 'Every month'),
})

const lapse = z.strictObject({
  gracePeriodDays: withDescription(
    days.optional(),
    'Days from the due time of an unpaid invoice to the lapse of its policy. If omitted: unpaid policies continue.',
    30,
  ),
  reinstatementPeriodDays: withDescription(
    days.optional(),
    'Days after a lapse during which the policy can be reinstated, if the product has no cancellations.json. If omitted: it cannot be reinstated.',
    60,
  ),
})

const invoicing = z.strictObject({
  generatingEvent: withDescription(
    caseInsensitiveEnum(['accept', 'issue']).default('issue'),
    'The step at which new business is billed. With `accept` a policy can be paid before it is issued. Endorsements, renewals and reinstatements are always billed when they are accepted, and cancellations when they are issued.',
    'accept',
  ),
  carryForwardBelow: withDescription(
    amount.optional(),
    "Invoices below this amount, in the tenant's currency, are carried forward to the next invoice of their plan. From 0, which carries none forward. If omitted: those below 2 are, except in plans of `createInstallments`.",
    2.5,
  ),
})

const cancellations = z.strictObject({
  proration: withDescription(
    caseInsensitiveEnum(['30E360', 'actual', 'actualMilliseconds']).default('30E360'),
    'How `POST /policy/{policyLocator}/cancel`, and a lapse if the product has no cancellations.json, prorate premiums. `30E360` and `actual` are the same: by whole months and parts of months, like all other changes; `actualMilliseconds` prorates by exact time.',
    '30E360',
  ),
})

const plugin = z.strictObject({
  path: withDescription(name, 'The script under `scripts/` that exports the function.', 'main/rater.js'),
  enabled: withDescription(
    flag.default(true),
    'Whether the function replaces templates and built-in rules.',
    true,
  ),
})

/** products/<product>/policy/policy.json */
export const policyFile = z.strictObject({
  displayName: displayName('the product', 'Commercial property'),
  fields: fieldsOf('the policy itself'),
  strict: withDescription(
    flag.default(false),
    'Whether mistakes that could change a price are errors: deployments reject them, and pricing rejects data that it does not find ([strict](strict.md)).',
    true,
  ),
  /** The field whose value is the jurisdiction. Default `jurisdiction`. */
  jurisdictionField: withDescription(
    name.optional(),
    'The field (a single string, select or lookup) whose value is the jurisdiction of the policy, by which resources can differ. Default: the field `jurisdiction`, if there is one.',
    'state',
  ),
  requiresJurisdiction: withDescription(
    flag.default(false),
    'Whether a policy cannot be quoted without a jurisdiction. Its field is then required and must not have a condition.',
    true,
  ),
  documents: documentsOf('for a policy, and for its renewals if the product has no renewals.json'),
  paymentSchedules: withDescription(
    list(paymentSchedule).optional(),
    'The payment schedules that policyholders can choose from. The first is the default for requests. If omitted: one schedule, `upfront`, of type `total`.',
    [{ type: 'monthly', name: 'monthly', displayName: 'Every month' }],
  ),
  defaultPaymentTerms: withDescription(
    paymentTerms.default({ amount: 0, unit: 'day' }),
    'The time that policyholders have to pay. Default: an installment is invoiced on the day on which it is due.',
    { amount: 14, unit: 'day' },
  ),
  lapse: withDescription(lapse.default({}), 'What happens to a policy that is not paid.', {
    gracePeriodDays: 30,
  }),
  invoicing: withDescription(invoicing.default({ generatingEvent: 'issue' }), 'When invoices are issued.', {
    generatingEvent: 'accept',
  }),
  cancellations: withDescription(
    cancellations.default({ proration: '30E360' }),
    'How refunds of older lapses and cancellations are computed. Types of cancellation are in cancellations.json.',
    { proration: '30E360' },
  ),
  plugins: withDescription(
    z
      .record(z.string(), plugin)
      .default({})
      .meta({ propertyNames: { enum: PLUGIN_FUNCTIONS } }),
    'The functions of scripts that the product uses, by the name of the function ([plugins](plugins.md)).',
    { getPerilRates: { path: 'main/rater.js', enabled: true } },
  ),
  externalRater: withDescription(
    name.optional(),
    'The service that rates, instead of any plugin or template: an integration of the tenant ([external services](integrations.md)).',
    'rating_house',
  ),
  reminders: withDescription(
    listOrSingle(list(reminder)).default([]),
    'The older form of `endReminders`. A single reminder does not have to be in a list.',
    [{ name: 'renewal_offer', from: 'policy.end', offset: '-42d' }],
  ),
  endReminders: withDescription(
    list(endReminder).default([]),
    'Events that notify other systems that a term is about to end.',
    [{ name: 'renewal_offer', daysBefore: 42 }],
  ),
  /** For user interfaces only. */
  searchSummary: withDescription(
    z.unknown().optional(),
    'Fields to show in lists of policies. For screens only; the service does not use it.',
    ['insured_name'],
  ),
})

export type PolicyFile = z.infer<typeof policyFile>

const nameSchema = (what: string, example: string) =>
  withDescription(
    name.optional(),
    `Name of ${what} in requests, templates and plugins. It should match its file or folder, whose name is the default.`,
    example,
  )

/** …/policy/exposures/<exposure>/exposure.json */
export const exposureFile = z.strictObject({
  name: nameSchema('the exposure', 'building'),
  displayName: displayName('the exposure', 'Building'),
  fields: fieldsOf('each exposure of this kind'),
  /** Look-ups that user interfaces of older systems made. */
  externalDataCalls: withDescription(
    z.unknown().optional(),
    'Look-ups that screens of older systems made. The service does not use it.',
    [],
  ),
})

const AS_ASKED = 'Default for requests that do not set it. From 0.'
const UNLIMITED = 'or `unlimited`'

/** …/exposures/<exposure>/perils/<peril>.json */
export const perilFile = z.strictObject({
  name: nameSchema('the peril', 'fire'),
  displayName: displayName('the peril', 'Fire and explosion'),
  fields: fieldsOf('the peril'),
  indemnityPerItem: withDescription(
    blankAsAbsent(indemnity),
    `Maximum paid for one item, ${UNLIMITED}. ${AS_ASKED}`,
    10000,
  ),
  indemnityPerEvent: withDescription(
    blankAsAbsent(indemnity),
    `Maximum paid for one event, ${UNLIMITED}. ${AS_ASKED}`,
    1000000,
  ),
  indemnityInAggregate: withDescription(
    blankAsAbsent(indemnity),
    `Maximum paid for all events of a term, ${UNLIMITED}. ${AS_ASKED}`,
    'unlimited',
  ),
  deductible: withDescription(
    blankAsAbsent(amount),
    `The part of each loss that the insured bears. ${AS_ASKED}`,
    2500,
  ),
  lumpSumPayment: withDescription(
    blankAsAbsent(amount),
    `A fixed sum paid for a loss, regardless of its size. ${AS_ASKED}`,
    50000,
  ),
})

const endorsement = z.strictObject({
  name: withDescription(
    name,
    'Name of this type of endorsement in requests (`endorsementName`).',
    'change_of_cover',
  ),
  displayName: displayName('the endorsement', 'Change of cover'),
  reprice: withDescription(
    caseInsensitiveEnum(['never', 'always', 'all', 'input']).default('never'),
    'Effect of the endorsement on the premium after it: `never` keeps and prorates it; `always` rates the changed parts again; `all` rates everything again; `input` requires `reprice`, true or false, in each request.',
    'always',
  ),
  documents: documentsOf('for such an endorsement'),
})

/** …/policy/endorsements.json */
export const endorsementsFile = z.strictObject({
  endorsements: withDescription(
    list(endorsement).default([]),
    'The types of endorsement that a policy can have during its term. No others are possible.',
    [{ name: 'change_of_cover', reprice: 'always' }],
  ),
})

/** …/policy/renewals.json */
export const renewalsFile = z.strictObject({ documents: documentsOf('for a renewal') })

const holdback = z.strictObject({
  amount: withDescription(
    amount.optional(),
    "A fixed amount in the tenant's currency, from 0. Not together with `percent`.",
    50,
  ),
  percent: withDescription(
    amount.optional(),
    'A percentage of the refund, from 0 to 100. Not together with `amount`.',
    10,
  ),
})

const reinstatement = z.strictObject({
  defaultDeadlineDays: withDescription(
    days.optional(),
    'Days from the creation of a reinstatement to its deadline for issue, unless the request sets another. If omitted: there is no deadline.',
    30,
  ),
  documents: documentsOf('for a reinstatement after such a cancellation'),
})

const cancellationType = z.strictObject({
  name: withDescription(
    name,
    'Name of the type in requests (`name`) and answers (`cancellationName`). The type with the name `lapse` is for policies that are not paid.',
    'insured_request',
  ),
  title: withDescription(
    text.optional(),
    'Name shown to people. Default: derived from the name.',
    "At the insured's request",
  ),
  documents: documentsOf('for such a cancellation'),
  cancellationCategories: withDescription(
    textList.default([]),
    'Categories, one of which a request must name. Either all types should have categories, or none.',
    ['sold', 'replaced'],
  ),
  holdback: withDescription(
    holdback.optional(),
    'The part of the refunded premium that is held back: an amount or a percentage. If omitted: none.',
    { percent: 10 },
  ),
  reinstatement: withDescription(
    reinstatement.optional(),
    'How the cancellation can be reversed. If omitted: without a deadline and without documents.',
    { defaultDeadlineDays: 30 },
  ),
})

/** …/policy/cancellations.json */
export const cancellationsFile = z.strictObject({
  cancellationTypes: withDescription(
    list(cancellationType).default([]),
    'The types of cancellation, each with its terms.',
    [{ name: 'insured_request' }],
  ),
})

const fee = z.strictObject({
  name: withDescription(name, 'Name of the fee for `add_fee` and plugins.', 'policy_fee'),
  displayName: displayName('the fee', 'Policy fee'),
  proration: withDescription(
    caseInsensitiveEnum(['proratable', 'flat']).default('proratable'),
    'Whether a change or cancellation prorates the fee, or it stays the same.',
    'flat',
  ),
})

/** …/policy/fees.json */
export const feesFile = z.strictObject({
  fees: withDescription(
    list(fee).default([]),
    'The fees of the product. Their amounts are set by policy.calculations.liquid, by requests, or by `createInstallments`.',
    [{ name: 'policy_fee', proration: 'flat' }],
  ),
})

const tax = z.strictObject({
  name: withDescription(
    name,
    'Name of the tax in answers and documents, and of its script, `taxes/<name>.premium.liquid`.',
    'insurance_tax',
  ),
  displayName: displayName('the tax', 'Insurance tax'),
})

/** …/policy/taxes/taxes.json */
export const taxesFile = z.strictObject({
  taxes: withDescription(
    list(tax).default([]),
    'The taxes on premiums. Each script runs for the premium of each peril.',
    [{ name: 'insurance_tax' }],
  ),
})
