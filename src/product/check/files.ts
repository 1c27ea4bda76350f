// Schemas of the files under products/. Those of fields are in fields/file.ts, those of documents in product/document-file.ts.
import { z } from 'zod'
import { PAYMENT_SCHEDULE_TYPES, PLUGIN_FUNCTIONS } from '../configuration.ts'
import { asUnit, fieldList } from './fields/file.ts'
import {
  about,
  amount,
  choice,
  days,
  flag,
  indemnity,
  list,
  name,
  orSingle,
  text,
  textList,
  unlessBlank,
} from './json/scalars.ts'
import { documentList } from './product/document-file.ts'

const displayName = (what: string, example: string) =>
  about(text.optional(), `What people call ${what}. Left out, it is made of the name.`, example)

const fieldsOf = (owner: string) =>
  about(fieldList.default([]), `What is asked about ${owner}, in the order of screens. Left out: nothing.`, [
    { name: 'note', type: 'string', optional: true },
  ])

const documentsOf = (when: string) =>
  about(documentList, `What is made ${when}. Left out: none.`, [
    { displayName: 'Schedule', fileName: 'schedule.pdf', templateName: 'schedule.template.liquid' },
  ])

/** The format of published archives. Bindery's own is `endReminders`, with a number of days. */
const reminder = z.strictObject({
  name: about(name, 'What the event calls it.', 'renewal_offer'),
  enabled: about(flag.default(true), '`false` keeps it from being sent.', true),
  from: about(choice(['policy.end']).default('policy.end'), 'What it is counted from.', 'policy.end'),
  /** For example `-7d`. */
  offset: about(text, 'How long before: days or weeks, as `-7d` or `-2w`.', '-42d'),
})

const endReminder = z.strictObject({
  name: about(name, 'What the event `policy.end.reminder` calls it.', 'renewal_offer'),
  daysBefore: about(days, 'How many days before the end of the term it is sent.', 42),
})

/** `Days` and `days` are also accepted. */
const paymentTermsUnit = z.preprocess(asUnit, z.enum(['day']))

const paymentTerms = z.strictObject({
  amount: about(
    days.default(0),
    'How many days before an installment is due its invoice is made; it is due by the end of the day on which its period begins. The first is invoiced at once.',
    14,
  ),
  unit: about(paymentTermsUnit.default('day'), 'What `amount` counts; there are only days.', 'day'),
})

const paymentSchedule = z.strictObject({
  type: about(
    choice(PAYMENT_SCHEDULE_TYPES),
    'How often an installment begins; `total` is the whole term at once.',
    'monthly',
  ),
  name: about(
    name.optional(),
    'What requests call it (`paymentScheduleName`). Left out: its `type`.',
    'monthly',
  ),
  displayName: displayName('it', 'Every month'),
})

const lapse = z.strictObject({
  gracePeriodDays: about(
    days.optional(),
    'Days from the due time of an unpaid invoice to the lapse of its policy. Left out: unpaid policies go on.',
    30,
  ),
  reinstatementPeriodDays: about(
    days.optional(),
    'Days from a lapse during which the policy can be reinstated, where the product has no cancellations.json. Left out: not at all.',
    60,
  ),
})

const invoicing = z.strictObject({
  generatingEvent: about(
    choice(['accept', 'issue']).default('issue'),
    'The step at which new business is billed. With `accept` a policy can be paid before it is issued. Endorsements, renewals and reinstatements are billed when they are accepted, and cancellations when they are issued, in any case.',
    'accept',
  ),
  carryForwardBelow: about(
    amount.optional(),
    "Invoices of less than this, in the tenant's currency, are not asked for: the next of their plan asks for them. From 0. Left out: none is.",
    2.5,
  ),
})

const cancellations = z.strictObject({
  proration: about(
    choice(['30E360', 'actual', 'actualMilliseconds']).default('30E360'),
    'How `POST /policy/{policyLocator}/cancel`, and a lapse where the product has no cancellations.json, divide premiums by time. `30E360` and `actual` are one: whole months and parts of months, as all other changes do; `actualMilliseconds` is by the clock.',
    '30E360',
  ),
})

const plugin = z.strictObject({
  path: about(name, 'The script below `scripts/` that exports the function.', 'main/rater.js'),
  enabled: about(flag.default(true), 'Whether it takes the place of templates and built-in rules.', true),
})

/** products/<product>/policy/policy.json */
export const policyFile = z.strictObject({
  displayName: displayName('the product', 'Commercial property'),
  fields: fieldsOf('the policy as a whole'),
  strict: about(
    flag.default(false),
    'Whether mistakes that could change a price are errors: a deploy refuses them, and pricing refuses what it does not find ([strict](strict.md)).',
    true,
  ),
  /** The field whose value is the jurisdiction. Default `jurisdiction`. */
  jurisdictionField: about(
    name.optional(),
    'The field (a single string, select or lookup) whose value says where the policy is, by which resources differ. Left out: the field `jurisdiction`, if there is one.',
    'state',
  ),
  requiresJurisdiction: about(
    flag.default(false),
    'Whether no policy is quoted without a jurisdiction. Its field is then needed, and has no condition.',
    true,
  ),
  documents: documentsOf('for a policy, and for its renewals where the product has no renewals.json'),
  paymentSchedules: about(
    list(paymentSchedule).optional(),
    'How policyholders may pay; the first is used where a request names none. Left out: one, `upfront`, of type `total`.',
    [{ type: 'monthly', name: 'monthly', displayName: 'Every month' }],
  ),
  defaultPaymentTerms: about(
    paymentTerms.default({ amount: 0, unit: 'day' }),
    'How long policyholders have to pay. Left out: an installment is invoiced on the day on which it is due.',
    { amount: 14, unit: 'day' },
  ),
  lapse: about(lapse.default({}), 'What becomes of a policy that is not paid.', { gracePeriodDays: 30 }),
  invoicing: about(invoicing.default({ generatingEvent: 'issue' }), 'When invoices are made.', {
    generatingEvent: 'accept',
  }),
  cancellations: about(
    cancellations.default({ proration: '30E360' }),
    'How the older lapses and cancellations give back. Types of cancellation are in cancellations.json.',
    { proration: '30E360' },
  ),
  plugins: about(
    z
      .record(z.string(), plugin)
      .default({})
      .meta({ propertyNames: { enum: PLUGIN_FUNCTIONS } }),
    "The functions that the product takes from scripts, by the function's name ([plugins](plugins.md)).",
    { getPerilRates: { path: 'main/rater.js', enabled: true } },
  ),
  externalRater: about(
    name.optional(),
    'The service that rates, before any plugin or template: an integration of the tenant ([external services](integrations.md)).',
    'rating_house',
  ),
  reminders: about(
    orSingle(list(reminder)).default([]),
    'The older form of `endReminders`; a single one need not be in a list.',
    [{ name: 'renewal_offer', from: 'policy.end', offset: '-42d' }],
  ),
  endReminders: about(
    list(endReminder).default([]),
    'Events that tell other systems that a term is about to end.',
    [{ name: 'renewal_offer', daysBefore: 42 }],
  ),
  /** For user interfaces only. */
  searchSummary: about(
    z.unknown().optional(),
    'Fields that a list of policies shows. For screens; the service reads nothing of it.',
    ['insured_name'],
  ),
})

export type PolicyFile = z.infer<typeof policyFile>

const ofFile = (what: string, example: string) =>
  about(
    name.optional(),
    `What requests, templates and plugins call ${what}. It should be that of its file or folder, which counts where this is left out.`,
    example,
  )

/** …/policy/exposures/<exposure>/exposure.json */
export const exposureFile = z.strictObject({
  name: ofFile('the exposure', 'building'),
  displayName: displayName('it', 'Building'),
  fields: fieldsOf('each exposure of this kind'),
  /** Look-ups that user interfaces of older systems made. */
  externalDataCalls: about(
    z.unknown().optional(),
    'Look-ups that screens of older systems made. The service reads nothing of it.',
    [],
  ),
})

const AS_ASKED = 'Used where a request says nothing of it. From 0.'
const UNLIMITED = 'or `unlimited`'

/** …/exposures/<exposure>/perils/<peril>.json */
export const perilFile = z.strictObject({
  name: ofFile('the peril', 'fire'),
  displayName: displayName('it', 'Fire and explosion'),
  fields: fieldsOf('this cover'),
  indemnityPerItem: about(
    unlessBlank(indemnity),
    `The most that is paid for one item, ${UNLIMITED}. ${AS_ASKED}`,
    10000,
  ),
  indemnityPerEvent: about(
    unlessBlank(indemnity),
    `The most that is paid for one event, ${UNLIMITED}. ${AS_ASKED}`,
    1000000,
  ),
  indemnityInAggregate: about(
    unlessBlank(indemnity),
    `The most that is paid for all events of a term, ${UNLIMITED}. ${AS_ASKED}`,
    'unlimited',
  ),
  deductible: about(unlessBlank(amount), `What the insured bears of each loss. ${AS_ASKED}`, 2500),
  lumpSumPayment: about(unlessBlank(amount), `A sum that is paid whatever the loss. ${AS_ASKED}`, 50000),
})

const endorsement = z.strictObject({
  name: about(name, 'What requests call this kind of change (`endorsementName`).', 'change_of_cover'),
  displayName: displayName('it', 'Change of cover'),
  reprice: about(
    choice(['never', 'always', 'all', 'input']).default('never'),
    'What the change does to the premium after it: `never` keeps it, divided by time; `always` rates again what was changed; `all` rates everything again; `input` asks each request for `reprice`, true or false.',
    'always',
  ),
  documents: documentsOf('for such an endorsement'),
})

/** …/policy/endorsements.json */
export const endorsementsFile = z.strictObject({
  endorsements: about(
    list(endorsement).default([]),
    'The kinds of change that a policy may have during its term; of others there are none.',
    [{ name: 'change_of_cover', reprice: 'always' }],
  ),
})

/** …/policy/renewals.json */
export const renewalsFile = z.strictObject({ documents: documentsOf('for a renewal') })

const holdback = z.strictObject({
  amount: about(amount.optional(), "So much in the tenant's currency, from 0. Not beside `percent`.", 50),
  percent: about(amount.optional(), 'This share of it, from 0 to 100. Not beside `amount`.', 10),
})

const reinstatement = z.strictObject({
  defaultDeadlineDays: about(
    days.optional(),
    "Days from a reinstatement's creation to when it must be issued, unless its request says otherwise. Left out: there is no deadline.",
    30,
  ),
  documents: documentsOf('for a reinstatement after such a cancellation'),
})

const cancellationType = z.strictObject({
  name: about(
    name,
    'What requests call it (`name`), and answers (`cancellationName`). A type with the name `lapse` is the one of policies that are not paid.',
    'insured_request',
  ),
  title: about(
    text.optional(),
    'What people call it. Left out, it is made of the name.',
    "At the insured's request",
  ),
  documents: documentsOf('for such a cancellation'),
  cancellationCategories: about(
    textList.default([]),
    'Reasons, of which a request names one. Where one type has some all should, or none.',
    ['sold', 'replaced'],
  ),
  holdback: about(
    holdback.optional(),
    'What is kept of the premium that it would give back: an amount or a percentage. Left out: nothing.',
    { percent: 10 },
  ),
  reinstatement: about(
    reinstatement.optional(),
    'How it can be undone. Left out: without a deadline and without documents.',
    { defaultDeadlineDays: 30 },
  ),
})

/** …/policy/cancellations.json */
export const cancellationsFile = z.strictObject({
  cancellationTypes: about(
    list(cancellationType).default([]),
    'The kinds of cancellation, each with its terms.',
    [{ name: 'insured_request' }],
  ),
})

const fee = z.strictObject({
  name: about(name, 'What `add_fee` and plugins call it.', 'policy_fee'),
  displayName: displayName('it', 'Policy fee'),
  proration: about(
    choice(['proratable', 'flat']).default('proratable'),
    'Whether a change or cancellation divides it by time, or it stays as it is.',
    'flat',
  ),
})

/** …/policy/fees.json */
export const feesFile = z.strictObject({
  fees: about(
    list(fee).default([]),
    'The fees that there are. How much they come to is said by policy.calculations.liquid, by hand or by `createInstallments`.',
    [{ name: 'policy_fee', proration: 'flat' }],
  ),
})

const tax = z.strictObject({
  name: about(
    name,
    'What answers and documents call it; also the name of its script, `taxes/<name>.premium.liquid`.',
    'insurance_tax',
  ),
  displayName: displayName('it', 'Insurance tax'),
})

/** …/policy/taxes/taxes.json */
export const taxesFile = z.strictObject({
  taxes: about(
    list(tax).default([]),
    'The taxes on premiums. Each script runs for each peril, on its premium.',
    [{ name: 'insurance_tax' }],
  ),
})
