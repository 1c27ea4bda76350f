// The compiled configuration: an archive, checked and with every reference resolved. It is plain data: kept in R2 as
// JSON under the archive's hash, cached in the isolate and passed to domain functions.
import type { PageLayout } from '../../packages/pdf/page.ts'
import type { CurrencyCode } from '../kernel/money.ts'
import type { TimeZone } from '../kernel/time.ts'
import type { BooksConfiguration } from './books.ts'
import type { CustomEventDefinition } from './custom-events.ts'
import type { Bootstrap, ResourceDeclarations, SelectionTimeBasis } from './resources.ts'

export type FieldType =
  | 'string'
  | 'number'
  | 'date'
  | 'select'
  | 'lookup'
  | 'email'
  | 'phone'
  | 'group'
  | 'media'

/** Relative bound of a date field: now + `amount` of `unit`, optionally rounded to the day. */
export type DateOffset = {
  unit: 'year' | 'month' | 'week' | 'day' | 'hour' | 'minute' | 'second'
  amount: number
  roundToDay: boolean
}

/** Brief 5.2. */
export type FieldDefinition = {
  name: string
  title: string
  type: FieldType
  optional: boolean
  repeatable: boolean
  searchable: boolean
  /** Nothing needs to read it: no finding that it is unused. */
  isInformational?: true
  /** All must hold: the named field has one of the values. Empty: unconditional. */
  conditions: { field: string; values: string[] }[]
  /** string: pattern for the whole value (RE2 syntax). */
  regex?: string
  /** string: greatest length; group: greatest count. */
  maximumCount?: number
  /** number: bounds as decimal text. */
  minimum?: string
  maximum?: string
  decimalPlaces?: number
  /** date: precision, and fixed bounds as ISO day or milliseconds text. */
  precision?: 'second' | 'day' | 'month' | 'year'
  earliest?: string
  latest?: string
  earliestOffset?: DateOffset
  latestOffset?: DateOffset
  /** select only. */
  values?: string[]
  /** lookup only. */
  table?: string
  /** group only. */
  fields?: FieldDefinition[]
  /** Limits the values by a constraint table. */
  constraint?: FieldConstraint
}

/** Allowed are the values of `column` in the rows that fit every `where` (resources brief 1.1). */
export type FieldConstraint = {
  /** Static name of a constraint table, which is a resource. */
  table: string
  column: string
  where: ConstraintCondition[]
}

/** `key` names the field to compare the column with; `values` replace a missing key or value. */
type ConstraintCondition = { column: string; key?: string; values: string[] }

export const PERIL_AMOUNTS = [
  'indemnityPerItem',
  'indemnityPerEvent',
  'indemnityInAggregate',
  'deductible',
  'lumpSumPayment',
] as const

/** Defaults of requests, as decimal text; indemnities also `unlimited`. */
export type PerilDefaults = { [amount in (typeof PERIL_AMOUNTS)[number]]?: string }

/** `path` is that in the archive, for error messages. */
export type TemplateSource = { path: string; source: string }

export type PerilDefinition = {
  name: string
  displayName: string
  fields: FieldDefinition[]
  defaults: PerilDefaults
  /** Absent if a plugin or an external rater prices the peril. */
  premium?: TemplateSource
}

export type ExposureDefinition = {
  name: string
  displayName: string
  fields: FieldDefinition[]
  perils: PerilDefinition[]
}

export const PAYMENT_SCHEDULE_TYPES = [
  'total',
  'annually',
  'semiannually',
  'quarterly',
  'monthly',
  'every_two_weeks',
  'every_week',
] as const
export type PaymentScheduleType = (typeof PAYMENT_SCHEDULE_TYPES)[number]

export type DocumentDefinition = {
  displayName: string
  fileName: string
  templateName: string
  type: 'pdf' | 'html'
  generatingEvent: 'quote' | 'accept' | 'issue'
  /** Static names of snippets that the template may include; absent means any (resources brief 4.3). */
  templateSnippets?: string[]
  /** Time for which resources are selected; default: that of the transaction. */
  selectionTimeBasis?: SelectionTimeBasis
  /** Static names of fonts in force, usable as families without `@font-face`. */
  customFonts?: string[]
  /** `templateName` is a static document, used unchanged. */
  isPrerendered?: true
  /** Prerendered, and not said to be PDF or HTML: it is what its file is. */
  isAnyType?: true
  /** Made for every invoice, never by a transaction. */
  isOfInvoices?: true
  /** Newer name of the owner; absent if the archive does not use it. */
  scope?: 'transaction' | 'policy' | 'invoice'
  /** Newer name of the event; absent if the archive does not use it. */
  trigger?: 'validated' | 'priced' | 'underwritten' | 'accepted' | 'issued' | 'generated'
  pageLayout?: PageLayout
}

export type EndorsementType = {
  name: string
  displayName: string
  reprice: 'never' | 'always' | 'all' | 'input'
  documents: DocumentDefinition[]
}

/** Holdback of a cancellation's refund, as decimal text: an amount or a percentage. */
export type HoldbackTerms = { amount: string } | { percent: string }

export type CancellationType = {
  name: string
  title: string
  documents: DocumentDefinition[]
  cancellationCategories: string[]
  holdback?: HoldbackTerms
  reinstatement?: { defaultDeadlineDays?: number; documents: DocumentDefinition[] }
}

export type FeeDefinition = { name: string; displayName: string; proration: 'proratable' | 'flat' }

export type TaxDefinition = { name: string; displayName: string; premium?: TemplateSource }

/** The script that exports the function. */
export type PluginReference = { path: string; enabled: boolean }

/** Of the archive: `rows[i][j]` belongs to `columns[j]`. Cells are text, trimmed on the right. */
export type LookupTable = {
  path: string
  columns: string[]
  rows: string[][]
  /** The line on which each row begins; absent where they follow one another below the first line. */
  lines?: number[]
}

/** The line of a row in its file, from 1. */
export const lineOfRow = ({ lines }: LookupTable, row: number): number => lines?.[row] ?? row + 2

export type ProductDefinition = {
  /** The folder's name, by which requests name the product. */
  name: string
  displayName: string
  /** Mistakes that could change a price refuse a deploy, and new pricing (docs/strict.md). Absent means false. */
  strict?: true
  /** The policy field whose value is the jurisdiction (policy/surroundings.ts). */
  jurisdictionField?: string
  /** UUID derived from the name alone; the `productLocator` of every record. */
  locator: string
  fields: FieldDefinition[]
  exposures: ExposureDefinition[]
  documents: DocumentDefinition[]
  /** The first is the default. Never empty: without any, a product gets one of type `total`. */
  paymentSchedules: { type: PaymentScheduleType; name: string; displayName: string }[]
  defaultPaymentTerms: { amount: number; unit: 'day' }
  lapse: { gracePeriodDays?: number; reinstatementPeriodDays?: number }
  /** `carryForwardBelow`, decimal text: smaller invoices are carried forward to the next of their plan. */
  invoicing: { generatingEvent: 'accept' | 'issue'; carryForwardBelow?: string | undefined }
  legacyCancellationProration: 'monthly' | 'linear'
  endReminders: { name: string; daysBefore: number }[]
  endorsements: EndorsementType[]
  renewals: { documents: DocumentDefinition[] }
  /** Undefined without cancellations.json: the product then lapses the legacy way. */
  cancellationTypes?: CancellationType[]
  fees: FeeDefinition[]
  taxes: TaxDefinition[]
  /** Computes standard fees. */
  calculations?: TemplateSource
  /** Sets the underwriting decision and adds notes. */
  underwriting?: TemplateSource
  /** By file name, e.g. `schedule.template.liquid`. */
  templates: Record<string, TemplateSource>
  /** File names below static_documents. */
  staticDocuments: string[]
  plugins: Record<string, PluginReference>
  externalRater?: string
  /** By file name without `.csv`; the product's own wins over the tenant's (brief 5.1). */
  tables: Record<string, LookupTable>
}

export type TestUser = { username: string; name: string; password: string; roles: string[] }

/** Types that config.json may declare for items of secrets. */
export const SECRET_DATA_TYPES = ['string', 'int', 'long', 'decimal', 'boolean', 'date', 'datetime'] as const
export type SecretDataType = (typeof SECRET_DATA_TYPES)[number]

/** Resources brief 5. */
export type SecretDeclaration = { items: Record<string, { dataType: SecretDataType }> }

export type Configuration = {
  timeZone: TimeZone
  currency: CurrencyCode
  features: Record<string, boolean>
  /** Absent if config.json declares none: then any name is valid. */
  jurisdictions?: string[]
  /** By static name. */
  resources?: ResourceDeclarations
  policyholderFields: FieldDefinition[]
  paymentFields: FieldDefinition[]
  testUsers: TestUser[]
  /** Display name by role key. */
  roles: Record<string, string>
  /** `group.action` or `group.*` by role key; absent if no role has its own permissions. */
  rolePermissions?: Record<string, string[]>
  products: Record<string, ProductDefinition>
  /** For products without their own table of that name. */
  tables: Record<string, LookupTable>
  /** By static name. */
  secrets: Record<string, SecretDeclaration>
  /** Emitted by plugins or the calendar; absent if config.json declares none. */
  customEvents?: CustomEventDefinition[]
  /** Resources and groups that the tenant starts with; absent if the archive contains none. */
  bootstrap?: Bootstrap
  /** What books.json says; absent without the file. */
  books?: BooksConfiguration
  /** By path below `scripts/`. */
  scripts: Record<string, string>
}

/** A line of a deploy log (resources brief 10.4). `line` and `column` count from 1. */
export type Finding = {
  severity: 'ERROR' | 'WARNING'
  path: string
  line?: number
  column?: number
  /** Stable slug, e.g. `selectWithoutValues`. */
  code: string
  message: string
  /** Applies only if the tenant has no external rater of this name. */
  integration?: string
  /** Applies only if the tenant has no template of this static name among its resources; a deploy then refuses. */
  template?: string
}

/** Documents of all kinds of transactions of the product. */
export const documentDefinitions = ({
  documents,
  endorsements,
  renewals,
  cancellationTypes = [],
}: ProductDefinition): DocumentDefinition[] => [
  ...documents,
  ...endorsements.flatMap(one => one.documents),
  ...renewals.documents,
  ...cancellationTypes.flatMap(one => [...one.documents, ...(one.reinstatement?.documents ?? [])]),
]

/**
 * A table as a product finds it: its own, else another product's (brief 5.1). Names come from templates: `constructor` is
 * no table.
 */
export const tableOf = (
  { tables }: Pick<Configuration, 'tables'>,
  product: Pick<ProductDefinition, 'tables'> | undefined,
  name: string,
): LookupTable | undefined =>
  [product?.tables ?? {}, tables].find(tables => Object.hasOwn(tables, name))?.[name]

/** Whether the `lookup` filter can use a table with these columns. */
export const isLookupTable = (columns: readonly string[]): boolean =>
  columns.includes('key') && columns.includes('value')

/** Of a look-up's text (`lookUpKey` of templates/effects.ts), which may name the column `value`, as it may of a table that is a resource. */
export const keyInLookupTable = (text: string): string =>
  text.endsWith('\u001evalue') ? text.slice(0, -'\u001evalue'.length) : text

/** Brief 5.6. */
export const PLUGIN_FUNCTIONS = [
  'getPerilRates',
  'getUnderwritingResult',
  'getProrationResult',
  'createInstallments',
  'getPreGraceResult',
  'getPostPaymentReversal',
  'getPostIssuanceResult',
  'getDataAutofill',
  'executeLambda',
] as const

export type PluginFunction = (typeof PLUGIN_FUNCTIONS)[number]

/**
 * (decision) Every property of these answers is optional, so a script that changes nothing may return nothing or null,
 * as a branch that ends in `return` does. The other functions must return a value: a rate cannot be undefined.
 */
export const MAY_RETURN_NOTHING: readonly PluginFunction[] = [
  'getPreGraceResult',
  'getPostPaymentReversal',
  'getPostIssuanceResult',
  'getDataAutofill',
  'executeLambda',
]

export const isPluginFunction = (name: string): name is PluginFunction =>
  (PLUGIN_FUNCTIONS as readonly string[]).includes(name)

/** Such a function wins over templates (brief 5.5). */
export const hasPlugin = ({ plugins }: Pick<ProductDefinition, 'plugins'>, name: PluginFunction): boolean =>
  plugins[name]?.enabled === true
