// The compiled configuration: a checked archive in which every reference is resolved. It is plain data: stored in R2 as JSON under
// the archive's hash, cached in the isolate, and passed to domain functions.
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

/** A relative bound of a date field: now + `amount` of `unit`, optionally rounded to the day. */
export type DateOffset = {
  unit: 'year' | 'month' | 'week' | 'day' | 'hour' | 'minute' | 'second'
  amount: number
  roundToDay: boolean
}

/** A field (brief 5.2). */
export type FieldDefinition = {
  name: string
  title: string
  type: FieldType
  optional: boolean
  repeatable: boolean
  searchable: boolean
  /** Set if nothing needs to read the field, so that it is not reported as unused. */
  isInformational?: true
  /** The field applies if all hold: each named field has one of its values. Empty if the field always applies. */
  conditions: { field: string; values: string[] }[]
  /** string: the pattern of the whole value (RE2 syntax). */
  regex?: string
  /** string: the maximum length; group: the maximum number. */
  maximumCount?: number
  /** number: bounds as decimal text. */
  minimum?: string
  maximum?: string
  decimalPlaces?: number
  /** date: precision, and fixed bounds as an ISO day or milliseconds, as text. */
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

/** Permits the values of `column` in the rows that meet every `where` (resources brief 1.1). */
export type FieldConstraint = {
  /** The static name of a constraint table, which is a resource. */
  table: string
  column: string
  where: ConstraintCondition[]
}

/** `key` names the field that the column is compared with. `values` apply if there is no key, or its field has no value. */
type ConstraintCondition = { column: string; key?: string; values: string[] }

export const PERIL_AMOUNTS = [
  'indemnityPerItem',
  'indemnityPerEvent',
  'indemnityInAggregate',
  'deductible',
  'lumpSumPayment',
] as const

/** Defaults for requests, as decimal text. Indemnities may also be `unlimited`. */
export type PerilDefaults = { [amount in (typeof PERIL_AMOUNTS)[number]]?: string }

/** `path` is the path in the archive, for error messages. */
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
  /** The time for which resources are selected. Default: that of the transaction. */
  selectionTimeBasis?: SelectionTimeBasis
  /** Static names of fonts in force, usable as families without `@font-face`. */
  customFonts?: string[]
  /** `templateName` is a static document, used unchanged. */
  isPrerendered?: true
  /** Set if the document is prerendered and its type is not specified: it has the type of its file. */
  isAnyType?: true
  /** Made for every invoice, and never by a transaction. */
  isOfInvoices?: true
  /** The newer name of the owner; absent if the archive does not use it. */
  scope?: 'transaction' | 'policy' | 'invoice'
  /** The newer name of the event; absent if the archive does not use it. */
  trigger?: 'validated' | 'priced' | 'underwritten' | 'accepted' | 'issued' | 'generated'
  pageLayout?: PageLayout
}

export type EndorsementType = {
  name: string
  displayName: string
  reprice: 'never' | 'always' | 'all' | 'input'
  documents: DocumentDefinition[]
}

/** What a cancellation holds back from the refund: an amount or a percentage, as decimal text. */
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

/** A table of the archive. `rows[i][j]` belongs to `columns[j]`. Cells are text, trimmed on the right. */
export type LookupTable = {
  path: string
  columns: string[]
  rows: string[][]
  /** The line at which each row begins. Absent if each row has one line, starting after the header. */
  lines?: number[]
}

/** The line of a row in its file, counted from 1. */
export const lineOfRow = ({ lines }: LookupTable, row: number): number => lines?.[row] ?? row + 2

export type ProductDefinition = {
  /** The name of the folder, which requests use for the product. */
  name: string
  displayName: string
  /** Whether mistakes that could change a price reject a deployment, and new pricing (docs/strict.md). Absent means false. */
  strict?: true
  /** The policy field whose value is the jurisdiction (policy/selection-basis.ts). */
  jurisdictionField?: string
  /** A UUID derived from the name alone; the `productLocator` of every record. */
  locator: string
  fields: FieldDefinition[]
  exposures: ExposureDefinition[]
  documents: DocumentDefinition[]
  /** The first one is the default. Never empty: a product without any gets one of type `total`. */
  paymentSchedules: { type: PaymentScheduleType; name: string; displayName: string }[]
  defaultPaymentTerms: { amount: number; unit: 'day' }
  lapse: { gracePeriodDays?: number; reinstatementPeriodDays?: number }
  /** `carryForwardBelow` is decimal text. Smaller invoices are carried forward to the next one of their plan. */
  invoicing: { generatingEvent: 'accept' | 'issue'; carryForwardBelow?: string | undefined }
  legacyCancellationProration: 'monthly' | 'linear'
  endReminders: { name: string; daysBefore: number }[]
  endorsements: EndorsementType[]
  renewals: { documents: DocumentDefinition[] }
  /** Absent without cancellations.json. The product then lapses the legacy way. */
  cancellationTypes?: CancellationType[]
  fees: FeeDefinition[]
  taxes: TaxDefinition[]
  /** The script that computes standard fees. */
  calculations?: TemplateSource
  /** The script that sets the underwriting decision and adds notes. */
  underwriting?: TemplateSource
  /** By file name, such as `schedule.template.liquid`. */
  templates: Record<string, TemplateSource>
  /** File names under static_documents. */
  staticDocuments: string[]
  plugins: Record<string, PluginReference>
  externalRater?: string
  /** By file name without `.csv`. The product's own tables override the tenant's (brief 5.1). */
  tables: Record<string, LookupTable>
}

export type TestUser = { username: string; name: string; password: string; roles: string[] }

/** Types that config.json may declare for the items of secrets. */
export const SECRET_DATA_TYPES = ['string', 'int', 'long', 'decimal', 'boolean', 'date', 'datetime'] as const
export type SecretDataType = (typeof SECRET_DATA_TYPES)[number]

/** A declaration of a secret (resources brief 5). */
export type SecretDeclaration = { items: Record<string, { dataType: SecretDataType }> }

/** An input of policyholder.form.json. Only screens require its value (brief 7). */
export type PolicyholderFormField = {
  name: string
  /** The label, if it is not the title of the field. */
  prompt?: string
  isRequired: boolean
  /** The input is shown while all of them are met. */
  conditions: FieldDefinition['conditions']
}

export type Configuration = {
  timeZone: TimeZone
  currency: CurrencyCode
  features: Record<string, boolean>
  /** Absent if config.json declares none, in which case any name is valid. */
  jurisdictions?: string[]
  /** By static name. */
  resources?: ResourceDeclarations
  policyholderFields: FieldDefinition[]
  /** Absent if the archive contains none. */
  policyholderForm?: PolicyholderFormField[]
  paymentFields: FieldDefinition[]
  testUsers: TestUser[]
  /** Display names, by role key. */
  roles: Record<string, string>
  /** `group.action` or `group.*`, by role key. Absent if no role has its own permissions. */
  rolePermissions?: Record<string, string[]>
  products: Record<string, ProductDefinition>
  /** Tables for products without their own table of that name. */
  tables: Record<string, LookupTable>
  /** By static name. */
  secrets: Record<string, SecretDeclaration>
  /** Events that plugins or the calendar emit. Absent if config.json declares none. */
  customEvents?: CustomEventDefinition[]
  /** Resources and groups that the tenant starts with. Absent if the archive contains none. */
  bootstrap?: Bootstrap
  /** The content of books.json; absent without the file. */
  books?: BooksConfiguration
  /** By path under `scripts/`. */
  scripts: Record<string, string>
}

/** A line of a deploy log (resources brief 10.4). `line` and `column` count from 1. */
export type Finding = {
  severity: 'ERROR' | 'WARNING'
  path: string
  line?: number
  column?: number
  /** A stable identifier, such as `selectWithoutValues`. */
  code: string
  message: string
  /** Set if the finding applies only while the tenant has no external rater of this name. */
  integration?: string
  /**
   * Set if the finding applies only while the tenant has no template resource of this static name. A deployment is then rejected.
   */
  template?: string
}

/** The documents of all kinds of transactions of a product. */
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
 * Returns the table that a product uses: its own, or else another product's (brief 5.1). Names come from templates, so
 * `constructor` must not find anything.
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

/**
 * The key in the text of a look-up (`lookUpKey` of templates/effects.ts). The text may name the column `value`, as it may for a
 * table that is a resource.
 */
export const keyInLookupTable = (text: string): string =>
  text.endsWith('\u001evalue') ? text.slice(0, -'\u001evalue'.length) : text

/** Functions that plugins may provide (brief 5.6). */
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
 * (decision) Functions whose answers have only optional properties. A script that changes nothing may return nothing or null, as a
 * branch that ends in `return` does. The other functions must return a value: a rate cannot be undefined.
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

/** Whether the product enables the function, which then replaces templates (brief 5.5). */
export const hasPlugin = ({ plugins }: Pick<ProductDefinition, 'plugins'>, name: PluginFunction): boolean =>
  plugins[name]?.enabled === true
