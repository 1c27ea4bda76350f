// The compiled configuration: what an archive says, checked and with every reference resolved. It is plain
// data: kept in R2 as JSON under the archive's hash, cached in the isolate, handed to domain functions.
import type { PageLayout } from '../../packages/pdf/page.ts'
import type { CurrencyCode } from '../kernel/money.ts'
import type { TimeZone } from '../kernel/time.ts'
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

/** Bound of a date field that moves with the clock: now + `amount` of `unit`, rounded to the day if asked. */
export type DateOffset = {
  unit: 'year' | 'month' | 'week' | 'day' | 'hour' | 'minute' | 'second'
  amount: number
  roundToDay: boolean
}

/** One field of a policy, exposure, peril, payment, policyholder (brief 5.2). */
export type FieldDefinition = {
  name: string
  title: string
  type: FieldType
  optional: boolean
  repeatable: boolean
  searchable: boolean
  /** All must hold: the named field has one of the values. Empty: unconditional. */
  conditions: { field: string; values: string[] }[]
  /** string: whole-value pattern (RE2 syntax). */
  regex?: string
  /** string: longest length; group: greatest count. */
  maximumCount?: number
  /** number: bounds and places as decimal text. */
  minimum?: string
  maximum?: string
  decimalPlaces?: number
  /** date: precision, and fixed bounds as ISO day or milliseconds text. */
  precision?: 'second' | 'day' | 'month' | 'year'
  earliest?: string
  latest?: string
  earliestOffset?: DateOffset
  latestOffset?: DateOffset
  /** select: the values allowed. */
  values?: string[]
  /** lookup: name of the table. */
  table?: string
  /** group: the fields of each group. */
  fields?: FieldDefinition[]
  /** Values are held against a constraint table. */
  constraint?: FieldConstraint
}

/** What a field may be: the values of `column` in the rows of the table that every `where` fits (resources brief 1.1). */
export type FieldConstraint = {
  /** Static name of a constraint table. */
  table: string
  column: string
  where: ConstraintCondition[]
}

/** `key` names the field that the column is compared with; `values` stand for it while it has none, or without a key. */
type ConstraintCondition = { column: string; key?: string; values: string[] }

export const PERIL_AMOUNTS = [
  'indemnityPerItem',
  'indemnityPerEvent',
  'indemnityInAggregate',
  'deductible',
  'lumpSumPayment',
] as const

/** Amounts as decimal text; indemnities also `unlimited`. Used when the request leaves them out. */
export type PerilDefaults = { [amount in (typeof PERIL_AMOUNTS)[number]]?: string }

/** A Liquid source with the path it has in the archive, for error messages. */
export type TemplateSource = { path: string; source: string }

export type PerilDefinition = {
  name: string
  displayName: string
  fields: FieldDefinition[]
  defaults: PerilDefaults
  /** Absent when a plugin or an external rater is to price the peril. */
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
  /** Static names of the snippets that its template may include; any where it has no such list (resources brief 4.3). */
  templateSnippets?: string[]
  /** The time for which names of resources are read; of its transaction when it says nothing. */
  selectionTimeBasis?: SelectionTimeBasis
  /** Static names of fonts in force, which are families of its style sheets without an `@font-face`. */
  customFonts?: string[]
  /** `templateName` names a static document, which it is as it stands. */
  isPrerendered?: true
  /** Made for every invoice, and at no step of a transaction. */
  isOfInvoices?: true
  /** Where the archive says it: what it belongs to, in the newer words. */
  scope?: 'transaction' | 'policy' | 'invoice'
  /** Where the archive says it: when it is made, in the newer words. */
  trigger?: 'validated' | 'priced' | 'underwritten' | 'accepted' | 'issued' | 'generated'
  pageLayout?: PageLayout
}

export type EndorsementType = {
  name: string
  displayName: string
  reprice: 'never' | 'always' | 'all' | 'input'
  documents: DocumentDefinition[]
}

/** What a cancellation keeps of the premium that it would give back: decimal text, an amount or a percentage. */
export type HoldbackTerms = { amount: string } | { percent: string }

export type CancellationType = {
  name: string
  title: string
  documents: DocumentDefinition[]
  cancellationCategories: string[]
  holdback?: HoldbackTerms
  reinstatement?: { defaultDeadlineDays: number; documents: DocumentDefinition[] }
}

export type FeeDefinition = { name: string; displayName: string; proration: 'proratable' | 'flat' }

export type TaxDefinition = { name: string; displayName: string; premium?: TemplateSource }

/** A plugin function and the script that exports it. */
export type PluginReference = { path: string; enabled: boolean }

/** A table of the archive: `rows[i][j]` belongs to `columns[j]`. Cells are text, trimmed on the right. */
export type LookupTable = { path: string; columns: string[]; rows: string[][] }

export type ProductDefinition = {
  /** The folder's name. */
  name: string
  displayName: string
  /** The field of the policy whose value is its jurisdiction (policy/surroundings.ts). */
  jurisdictionField?: string
  /** UUID derived from tenant-independent product name; the `productLocator` of every record. */
  locator: string
  fields: FieldDefinition[]
  exposures: ExposureDefinition[]
  documents: DocumentDefinition[]
  /** The first is the default. Never empty: a product without any gets one of type `total`. */
  paymentSchedules: { type: PaymentScheduleType; name: string; displayName: string }[]
  defaultPaymentTerms: { amount: number; unit: 'day' }
  lapse: { gracePeriodDays?: number; reinstatementPeriodDays?: number }
  /** `carryForwardBelow`: decimal text; invoices that ask for less are carried forward to the next of their plan. */
  invoicing: { generatingEvent: 'accept' | 'issue'; carryForwardBelow?: string | undefined }
  legacyCancellationProration: 'monthly' | 'linear'
  endReminders: { name: string; daysBefore: number }[]
  endorsements: EndorsementType[]
  renewals: { documents: DocumentDefinition[] }
  /** Undefined: the archive has no cancellations.json, and the product lapses the legacy way. */
  cancellationTypes?: CancellationType[]
  fees: FeeDefinition[]
  taxes: TaxDefinition[]
  /** Standard fees. */
  calculations?: TemplateSource
  /** Underwriting decision and notes. */
  underwriting?: TemplateSource
  /** Document templates by file name, e.g. `schedule.template.liquid`. */
  templates: Record<string, TemplateSource>
  /** File names under static_documents. */
  staticDocuments: string[]
  plugins: Record<string, PluginReference>
  externalRater?: string
  /** By file name without `.csv`; what the product has itself wins over the tenant's (brief 5.1). */
  tables: Record<string, LookupTable>
}

export type TestUser = { username: string; name: string; password: string; roles: string[] }

/** Types of the items of secrets. */
export const SECRET_DATA_TYPES = ['string', 'int', 'long', 'decimal', 'boolean', 'date', 'datetime'] as const
export type SecretDataType = (typeof SECRET_DATA_TYPES)[number]

/** What a secret of the static name must have (resources brief 5). */
export type SecretDeclaration = { items: Record<string, { dataType: SecretDataType }> }

export type Configuration = {
  timeZone: TimeZone
  currency: CurrencyCode
  features: Record<string, boolean>
  /** Names of the jurisdictions that resources may be for; absent when config.json declares none: then any is one. */
  jurisdictions?: string[]
  /** Tables that are resources, by static name; absent when config.json declares none. */
  resources?: ResourceDeclarations
  policyholderFields: FieldDefinition[]
  paymentFields: FieldDefinition[]
  testUsers: TestUser[]
  /** Role key to display name. */
  roles: Record<string, string>
  /** Role key to what it may, as `group.action` or `group.*`; absent where no role has permissions of its own. */
  rolePermissions?: Record<string, string[]>
  products: Record<string, ProductDefinition>
  /** Tables of all products together, for products that lack one of their own. */
  tables: Record<string, LookupTable>
  /** By static name. */
  secrets: Record<string, SecretDeclaration>
  /** Events that plugins or the calendar tell; absent when config.json declares none. */
  customEvents?: CustomEventDefinition[]
  /** What the tenant starts with; absent where the archive has nothing of the kind. */
  bootstrap?: Bootstrap
  /** Plugin sources by path below `scripts/`. */
  scripts: Record<string, string>
}

/** One line of a deploy log (resources brief 10.4). `line` and `column` count from 1. */
export type Finding = {
  severity: 'ERROR' | 'WARNING'
  path: string
  line?: number
  column?: number
  /** Stable text slug, e.g. `selectWithoutValues`. */
  code: string
  message: string
  /** It holds only where the tenant has no external rater of this name. */
  integration?: string
}

/** Every document that the product makes at some transaction. */
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

/** Whether the `lookup` filter of templates can use a table with these columns. */
export const isLookupTable = (columns: readonly string[]): boolean =>
  columns.includes('key') && columns.includes('value')

/** The functions that products may have (brief 5.6). */
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
 * (decision) What these answer may all be left out, so that a script which has nothing to say may return nothing, or
 * null: a branch that ends in `return`. The others have to say something: of `undefined` a rate cannot be made.
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

/** Whether the product has the function of its own: it wins over templates then (brief 5.5). */
export const hasPlugin = ({ plugins }: Pick<ProductDefinition, 'plugins'>, name: PluginFunction): boolean =>
  plugins[name]?.enabled === true

/** Calls a function of a product; what it answers is not checked. Refuses (422) when it fails. */
export type PluginCaller = (name: PluginFunction, ...given: unknown[]) => Promise<unknown>
