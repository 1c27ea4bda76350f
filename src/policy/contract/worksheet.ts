// How each figure of a price was computed. Figures are exact decimals as text, in major units of the worksheet's currency, because
// rates have more places than amounts. Every amount can be recomputed from the lines before it.
import { z } from '@hono/zod-openapi'
import {
  booleanOr,
  Currency,
  component,
  Flag,
  Integer,
  OptionalLocator,
  OptionalText,
  Text,
  Texts,
  Timestamp,
} from '../../platform/wire.ts'
import { EXACT_DECIMAL } from '../../platform/wire-units.ts'

/** Maximum number of perils in one worksheet. Request others by `exposureLocator` or `perilLocator`. */
export const MOST_EXPLAINED_PERILS = 200

/** The query of every price that can be explained. */
export const ExplainQuery = z.object({
  explain: booleanOr(false).describe(
    'Whether to return a worksheet, which shows how each amount was computed.',
  ),
  exposureLocator: OptionalLocator.describe('Limits the worksheet to the perils of this exposure.'),
  perilLocator: OptionalLocator.describe(
    `Limits the worksheet to this peril. Without either parameter, it has the first ${MOST_EXPLAINED_PERILS} perils.`,
  ),
})
export type ExplainQuery = z.infer<typeof ExplainQuery>

/** Returns the member of an operation that requests a worksheet. Empty if none is requested. */
export const explainOf = ({ explain, ...selection }: ExplainQuery): { explain?: typeof selection } =>
  explain ? { explain: selection } : {}

const Exact = Text.openapi({ description: EXACT_DECIMAL, example: '453.25' })
const OptionalExact = Exact.optional()

const WorksheetLookup = component('WorksheetLookup', {
  table: Text,
  keys: Texts,
  column: OptionalText,
  value: OptionalText.describe('Absent if there is no such row.'),
  path: OptionalText.describe('The file of the table in the configuration.'),
  line: Integer.optional().describe('The line of the row in its file, from 1.'),
  resourceName: OptionalText.describe('For a table that is a resource: its name.'),
  revision: OptionalText.describe('For a table that is a resource: the locator of its contents.'),
})
export type WorksheetLookup = z.infer<typeof WorksheetLookup>

const WorksheetStep = component('WorksheetStep', {
  line: Integer.describe('Line and column in the template, from 1.'),
  column: Integer,
  path: OptionalText.describe("The file, if it is a snippet rather than the template's own file."),
  kind: z
    .enum(['read', 'lookup', 'compute', 'assign', 'branch', 'set'])
    .describe(
      'A value is read, looked up in a table, computed by a filter, or assigned to a variable; a branch is taken; an amount or decision is set.',
    ),
  name: Text.describe('The value that is read, the filter, the variable, or the tag that branches.'),
  input: OptionalText.describe('The input of the filter.'),
  arguments: Texts.optional(),
  result: OptionalText.describe(
    'The value. Absent if there is none. For a branch: the number of the condition that held, from 1, or `else`. For a loop: the number of its turns.',
  ),
  lookup: WorksheetLookup.optional(),
})
export type WorksheetStep = z.infer<typeof WorksheetStep>

const script = {
  source: Text.describe('The template or script.'),
  steps: z.array(WorksheetStep).describe('In the order of execution.'),
  moreSteps: Integer.describe('Number of further steps that are not listed.'),
}

/** A rate over the months of a run. `unrounded` is the exact amount, or the rate over the months plus what is added. */
const WorksheetFigure = component('WorksheetFigure', {
  yearly: OptionalExact.describe('A rate per twelve months.'),
  monthly: OptionalExact.describe('A rate per month. Takes precedence over a yearly rate.'),
  exact: OptionalExact.describe('The amount for the whole run. Takes precedence over rates.'),
  added: OptionalExact.describe('Amount added to a rate. It is not scaled by months.'),
  months: Exact.describe('Length of the run in months.'),
  unrounded: Exact.describe(
    'exact; otherwise monthly × months + added; otherwise yearly × months ÷ 12 + added; 0 if nothing was set.',
  ),
  amount: Exact.describe("`unrounded`, rounded half up to the worksheet's decimal places."),
  recorded: OptionalExact.describe(
    'The recorded amount, if rating again gives a different one. The recorded amount counts.',
  ),
})
export type WorksheetFigure = z.infer<typeof WorksheetFigure>

const WorksheetCommission = component('WorksheetCommission', {
  recipient: Text,
  ...WorksheetFigure.shape,
})

const WorksheetTax = component('WorksheetTax', {
  name: Text,
  ...script,
  unrounded: Exact,
  amount: Exact.describe("`unrounded`, rounded half up to the worksheet's decimal places."),
  recorded: OptionalExact.describe(
    'The recorded amount, if rating again gives a different one. The recorded amount counts.',
  ),
})
export type WorksheetTax = z.infer<typeof WorksheetTax>

/** A part of an amount over time. `amount` is from × part ÷ whole, rounded half up. The rest is what remains. */
const WorksheetShare = component('WorksheetShare', {
  of: z.enum(['premium', 'technicalPremium', 'tax', 'commission']),
  name: OptionalText.describe('The tax or the recipient.'),
  from: Exact.describe('The rest of the amount before this part.'),
  how: z
    .enum(['all', 'share', 'rest', 'plugin', 'recorded'])
    .describe(
      'all: the amount is not split. share: from × part ÷ whole. rest: what earlier parts left over. plugin: as the product’s plugin states. recorded: the stored amount.',
    ),
  part: OptionalExact.describe('For a share: the length of the part, in months or milliseconds.'),
  whole: OptionalExact.describe(
    'For a share: the time from the start of the part to the end, in months or milliseconds.',
  ),
  amount: Exact,
})
export type WorksheetShare = z.infer<typeof WorksheetShare>

const WorksheetPiece = component('WorksheetPiece', {
  perilCharacteristicsLocator: Text,
  startTimestamp: Timestamp,
  endTimestamp: Timestamp,
  policyModificationLocator: Text.describe('The transaction that created the piece.'),
  replacedBy: OptionalText.describe(
    'The transaction that replaced the piece. A replaced piece does not count.',
  ),
  splitFrom: z
    .object({
      what: z.enum(['run', 'piece', 'removed']),
      startTimestamp: Timestamp,
      endTimestamp: Timestamp,
      measure: z.enum(['months', 'milliseconds']),
    })
    .describe('What is split: the run as it was rated, an earlier piece, or what a cancellation removed.'),
  shares: z.array(WorksheetShare),
})
export type WorksheetPiece = z.infer<typeof WorksheetPiece>

const WorksheetPart = component('WorksheetPart', {
  perilCharacteristicsLocator: Text,
  premium: WorksheetFigure,
  technicalPremium: WorksheetFigure.optional(),
  commissions: z.array(WorksheetCommission),
})
export type WorksheetPart = z.infer<typeof WorksheetPart>

const WorksheetRun = component('WorksheetRun', {
  policyModificationLocator: Text.describe('The transaction that rated it.'),
  transaction: Text.describe('The kind of the transaction, such as creation or endorsement.'),
  startTimestamp: Timestamp,
  endTimestamp: Timestamp,
  configVersion: Integer.describe('The version of the configuration that rated it.'),
  ratedBy: z
    .enum(['template', 'plugin', 'externalRater', 'earlierRates', 'recorded'])
    .describe(
      'earlierRates: an endorsement that rates nothing again continues the run. recorded: the run was not rated again for this worksheet, and its amounts are the stored ones.',
    ),
  source: OptionalText.describe('The template, the script, or the name of the external rater.'),
  steps: z.array(WorksheetStep).describe('For a template: its steps in the order of execution.'),
  moreSteps: Integer.describe('Number of further steps that are not listed.'),
  parts: z
    .array(WorksheetPart)
    .describe(
      'For a plugin or external rater: the rates that it returned for each policy segment in the run. If they are the same in all segments, that is the rate of the run. Otherwise the run costs the sum of the parts.',
    ),
  premium: WorksheetFigure,
  technicalPremium: WorksheetFigure.optional(),
  commissions: z.array(WorksheetCommission),
  taxes: z.array(WorksheetTax),
  continues: z
    .object({ startTimestamp: Timestamp, endTimestamp: Timestamp, shares: z.array(WorksheetShare) })
    .optional()
    .describe('For earlierRates: the part of the earlier amounts that it takes over.'),
  differs: Flag.describe('Whether rating again gave a different amount from the recorded one.'),
  problem: OptionalText.describe('Why it could not be rated again.'),
  pieces: z
    .array(WorksheetPiece)
    .describe('The pieces of the run, in the order of the transactions. Those that are not replaced count.'),
})
export type WorksheetRun = z.infer<typeof WorksheetRun>

const NamedAmount = z.object({ name: Text, amount: Exact })

const WorksheetPeril = component('WorksheetPeril', {
  exposureLocator: Text,
  exposureName: Text,
  perilLocator: Text,
  perilName: Text,
  premium: Exact.describe('The sum of the pieces that count, like the other amounts.'),
  technicalPremium: OptionalExact,
  taxes: z.array(NamedAmount),
  commissions: z.array(NamedAmount),
  total: Exact.describe('Premium and taxes.'),
  runs: z.array(WorksheetRun),
})
export type WorksheetPeril = z.infer<typeof WorksheetPeril>

const FeePart = z.object({
  startTimestamp: Timestamp,
  endTimestamp: Timestamp,
  months: Exact,
  amount: Exact,
})

const WorksheetFee = component('WorksheetFee', {
  locator: Text,
  name: Text,
  description: Text,
  policyModificationLocator: Text.describe('The transaction that added it.'),
  months: Exact.describe('Length of its whole span in months.'),
  original: Exact.describe('The amount of the fee when it was added.'),
  parts: z.array(FeePart).describe('The parts of the fee that are charged.'),
  amount: Exact.describe('The sum of its parts. 0 for a fee that was taken back.'),
  reversed: Flag,
})

const WorksheetScript = component('WorksheetScript', {
  policyModificationLocator: Text,
  ...script,
  amounts: z.array(NamedAmount).describe('The fees that the script adds, unrounded.'),
})
export type WorksheetScript = z.infer<typeof WorksheetScript>

/** A call of the plugin or the external rater, which rates all perils of a transaction together. */
const WorksheetCall = component('WorksheetCall', {
  policyModificationLocator: Text,
  ratedBy: z.enum(['plugin', 'externalRater']),
  source: Text.describe('The script, or the name of the external rater.'),
  lookups: z.array(WorksheetLookup).describe('The rows that the plugin looked up, each listed once.'),
  moreLookups: Integer,
  notes: z
    .array(z.object({ label: Text, value: Text }))
    .describe('What the plugin recorded with socotraApi.explain(label, value).'),
  moreNotes: Integer,
  request: OptionalText.describe('The request to the external rater, without secrets.'),
  answer: OptionalText.describe('The response of the external rater, without secrets.'),
})
export type WorksheetCall = z.infer<typeof WorksheetCall>

export const Worksheet = component('Worksheet', {
  currency: Currency,
  decimalPlaces: Integer.describe('The number of decimal places of amounts, which are rounded half up.'),
  timeZone: Text.describe('The time zone in which months are counted.'),
  isRecorded: Flag.describe('Whether the price is stored. If not, it is the price that would result now.'),
  perils: z.array(WorksheetPeril),
  morePerils: Integer.describe(
    'Number of perils that are not listed. Request them by exposureLocator or perilLocator.',
  ),
  calls: z.array(WorksheetCall),
  feeScripts: z.array(WorksheetScript),
  fees: z.array(WorksheetFee),
  holdbacks: z.array(NamedAmount).describe('The amounts that cancellations hold back.'),
  premium: Exact.describe('The premium of all perils, including those that are not listed.'),
  taxes: z.array(NamedAmount),
  commissions: z.array(NamedAmount),
  total: Exact.describe('Premium, taxes, fees, and holdbacks except those of commissions.'),
  totalBefore: OptionalExact.describe('For a change: the total before it.'),
  differs: Flag.describe('Whether rating any run again gave a different amount from the recorded one.'),
  notes: Texts,
})
export type Worksheet = z.infer<typeof Worksheet>

export const WorksheetIfAsked = Worksheet.optional().describe(
  'How each amount was computed. Present only if `explain` requests it.',
)
