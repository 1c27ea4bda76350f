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
  explain: booleanOr(false).describe('Whether the answer has a worksheet: how each figure came to be.'),
  exposureLocator: OptionalLocator.describe('Only perils of this exposure in the worksheet.'),
  perilLocator: OptionalLocator.describe(
    `Only this peril in the worksheet. Without either, it has the first ${MOST_EXPLAINED_PERILS} perils.`,
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
  value: OptionalText.describe('Left out where there is no such row.'),
  path: OptionalText.describe("The table's file in the configuration."),
  line: Integer.optional().describe('The line of the row in its file, from 1.'),
  resourceName: OptionalText.describe('Of a table that is a resource: its name.'),
  revision: OptionalText.describe('Of a table that is a resource: the locator of its contents.'),
})
export type WorksheetLookup = z.infer<typeof WorksheetLookup>

const WorksheetStep = component('WorksheetStep', {
  line: Integer.describe('Line and column in the template, from 1.'),
  column: Integer,
  path: OptionalText.describe("Where this is another file than the template's: a snippet."),
  kind: z
    .enum(['read', 'lookup', 'compute', 'assign', 'branch', 'set'])
    .describe(
      'A value is read, looked up in a table, computed by a filter, assigned to a variable; a branch is taken; an amount or decision is set.',
    ),
  name: Text.describe('What is read, the filter, the variable, or the tag that branches.'),
  input: OptionalText.describe('What the filter is given.'),
  arguments: Texts.optional(),
  result: OptionalText.describe(
    'The value; left out where there is none. Of a branch: which of its conditions held, from 1, or `else`; of a loop its turns.',
  ),
  lookup: WorksheetLookup.optional(),
})
export type WorksheetStep = z.infer<typeof WorksheetStep>

const script = {
  source: Text.describe('The template or script.'),
  steps: z.array(WorksheetStep).describe('In the order of execution.'),
  moreSteps: Integer.describe('Further steps, which are left out.'),
}

/** A rate over the months of a run. `unrounded` is the exact amount, or the rate over the months plus what is added. */
const WorksheetFigure = component('WorksheetFigure', {
  yearly: OptionalExact.describe('A rate of twelve months.'),
  monthly: OptionalExact.describe('A rate of a month; it wins over a yearly one.'),
  exact: OptionalExact.describe('For the run as it is; it wins over rates.'),
  added: OptionalExact.describe('Added to a rate, not scaled by months.'),
  months: Exact.describe('The months of the run.'),
  unrounded: Exact.describe(
    'exact; else monthly × months + added; else yearly × months ÷ 12 + added; 0 where nothing was set.',
  ),
  amount: Exact.describe("Unrounded to the worksheet's decimal places, half up."),
  recorded: OptionalExact.describe('What was recorded, where rating again gives another amount. It counts.'),
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
  amount: Exact.describe("Unrounded to the worksheet's decimal places, half up."),
  recorded: OptionalExact.describe('What was recorded, where rating again gives another amount. It counts.'),
})
export type WorksheetTax = z.infer<typeof WorksheetTax>

/** A part of an amount over time. `amount` is from × part ÷ whole, rounded half up. The rest is what remains. */
const WorksheetShare = component('WorksheetShare', {
  of: z.enum(['premium', 'technicalPremium', 'tax', 'commission']),
  name: OptionalText.describe('The tax or the recipient.'),
  from: Exact.describe('What is left of the amount before this part.'),
  how: z
    .enum(['all', 'share', 'rest', 'plugin', 'recorded'])
    .describe(
      'all: nothing is split. share: from × part ÷ whole. rest: what earlier parts left. plugin: as the product’s plugin states it. recorded: as it is stored.',
    ),
  part: OptionalExact.describe('Of a share: months, or milliseconds, of the part.'),
  whole: OptionalExact.describe(
    'Of a share: months, or milliseconds, from the start of the part to the end.',
  ),
  amount: Exact,
})
export type WorksheetShare = z.infer<typeof WorksheetShare>

const WorksheetPiece = component('WorksheetPiece', {
  perilCharacteristicsLocator: Text,
  startTimestamp: Timestamp,
  endTimestamp: Timestamp,
  policyModificationLocator: Text.describe('The transaction that made it.'),
  replacedBy: OptionalText.describe('The transaction that replaced it; then it does not count any more.'),
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
  transaction: Text.describe('The kind of the transaction, as creation or endorsement.'),
  startTimestamp: Timestamp,
  endTimestamp: Timestamp,
  configVersion: Integer.describe('The version of the configuration that rated it.'),
  ratedBy: z
    .enum(['template', 'plugin', 'externalRater', 'earlierRates', 'recorded'])
    .describe(
      'earlierRates: an endorsement that rates nothing again continues it. recorded: it was not rated again for this worksheet, and its amounts are those that were stored.',
    ),
  source: OptionalText.describe('The template, the script, or the name of the external rater.'),
  steps: z.array(WorksheetStep).describe('Of a template, in the order of execution.'),
  moreSteps: Integer.describe('Further steps, which are left out.'),
  parts: z
    .array(WorksheetPart)
    .describe(
      'Of a plugin or external rater: the rates that it gave for each segment of the policy in the run. With the same rate in all of them it is the rate of the run; else the run costs their sum.',
    ),
  premium: WorksheetFigure,
  technicalPremium: WorksheetFigure.optional(),
  commissions: z.array(WorksheetCommission),
  taxes: z.array(WorksheetTax),
  continues: z
    .object({ startTimestamp: Timestamp, endTimestamp: Timestamp, shares: z.array(WorksheetShare) })
    .optional()
    .describe('Of earlierRates: the part of the earlier amounts that it takes over.'),
  differs: Flag.describe('Whether rating again gave another amount than was recorded.'),
  problem: OptionalText.describe('Why it could not be rated again.'),
  pieces: z
    .array(WorksheetPiece)
    .describe('What became of the run, in the order of the transactions. Those not replaced count.'),
})
export type WorksheetRun = z.infer<typeof WorksheetRun>

const NamedAmount = z.object({ name: Text, amount: Exact })

const WorksheetPeril = component('WorksheetPeril', {
  exposureLocator: Text,
  exposureName: Text,
  perilLocator: Text,
  perilName: Text,
  premium: Exact.describe('The sum of the pieces that count; so are the other amounts.'),
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
  months: Exact.describe('The months of its whole span.'),
  original: Exact.describe('As it was added.'),
  parts: z.array(FeePart).describe('What is charged of it.'),
  amount: Exact.describe('The sum of its parts; 0 of a fee that was taken back.'),
  reversed: Flag,
})

const WorksheetScript = component('WorksheetScript', {
  policyModificationLocator: Text,
  ...script,
  amounts: z.array(NamedAmount).describe('The fees that it adds, unrounded.'),
})
export type WorksheetScript = z.infer<typeof WorksheetScript>

/** A call of the plugin or the external rater, which rates all perils of a transaction together. */
const WorksheetCall = component('WorksheetCall', {
  policyModificationLocator: Text,
  ratedBy: z.enum(['plugin', 'externalRater']),
  source: Text.describe('The script, or the name of the external rater.'),
  lookups: z.array(WorksheetLookup).describe('Each row that the plugin looked up, once.'),
  moreLookups: Integer,
  notes: z
    .array(z.object({ label: Text, value: Text }))
    .describe('What the plugin noted by socotraApi.explain(label, value).'),
  moreNotes: Integer,
  request: OptionalText.describe('What the external rater was sent, without secrets.'),
  answer: OptionalText.describe('What it answered, without secrets.'),
})
export type WorksheetCall = z.infer<typeof WorksheetCall>

export const Worksheet = component('Worksheet', {
  currency: Currency,
  decimalPlaces: Integer.describe('Of amounts; they are rounded half up.'),
  timeZone: Text.describe('Months are counted in it.'),
  isRecorded: Flag.describe('Whether the price is stored. If not, it is as it would be now.'),
  perils: z.array(WorksheetPeril),
  morePerils: Integer.describe('Perils that are left out; ask for them by exposureLocator or perilLocator.'),
  calls: z.array(WorksheetCall),
  feeScripts: z.array(WorksheetScript),
  fees: z.array(WorksheetFee),
  holdbacks: z.array(NamedAmount).describe('What cancellations keep.'),
  premium: Exact.describe('Of all perils, those left out too.'),
  taxes: z.array(NamedAmount),
  commissions: z.array(NamedAmount),
  total: Exact.describe('Premium, taxes, fees, and holdbacks except those of commissions.'),
  totalBefore: OptionalExact.describe('Of a change: the total before it.'),
  differs: Flag.describe('Whether rating any run again gave another amount than was recorded.'),
  notes: Texts,
})
export type Worksheet = z.infer<typeof Worksheet>

export const WorksheetIfAsked = Worksheet.optional().describe(
  'How each figure came to be; where `explain` asks for it.',
)
