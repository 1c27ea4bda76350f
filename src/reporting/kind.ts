// The definition of a report, as a value: what it reads, and how a policy becomes its lines. Reading the book, grouping, adding
// up and writing files are the same for all reports (docs/reports.md).
import type { Uuid } from '../kernel/locators.ts'
import type { CurrencyCode } from '../kernel/money.ts'
import type { Instant, TimeZone } from '../kernel/time.ts'
import type { Earning } from '../policy/journal/earned.ts'
import type { JournalEntry, StoredJournalRow } from '../policy/journal/rows.ts'
import type { Policy, PolicyAggregate } from '../policy/records/aggregate.ts'
import type { Policyholder } from '../policyholders/values.ts'
import type { Configuration } from '../product/configuration.ts'
import type { FieldData } from '../product/fields/groups.ts'

/**
 * The type of a column's values. `amount`: minor units of the line's currency, which files and responses show in major units.
 * `number`: decimal text. `time`: milliseconds. `day`: YYYY-MM-DD in the tenant's time zone.
 */
export type ColumnType = 'amount' | 'integer' | 'number' | 'time' | 'day' | 'text'

export type Column = {
  /** In camelCase, or as the request names it: `field:channel`. */
  readonly name: string
  readonly type: ColumnType
  /** Its meaning, for docs/reports.md and the manifest. */
  readonly about: string
  /** A measure is added up in totals. Group columns come only from `by`. */
  readonly isMeasure?: true
}

export type Cell = string | number | null

/** The parameters of the request, with times resolved. A kind reads those that it lists in `takes`. */
export type ReportParameters = {
  /** The period: from this time, and before `to`. */
  readonly from: Instant
  readonly to: Instant
  /** For reports about one moment. */
  readonly at: Instant
  /** Dimensions, in the order of the columns. */
  readonly by: readonly string[]
  /** Empty means all. */
  readonly products: readonly string[]
  readonly earning: Earning
  /** Numeric fields of exposures to add up, such as `vehicle.value`. */
  readonly sums: readonly string[]
  /** For a bordereau: fields of the policy, the policyholder and its exposures. */
  readonly columns: readonly string[]
  /** The name of a bordereau in the configuration, whose columns come first. */
  readonly bordereau?: string
}

export const PARAMETERS = ['period', 'at', 'earning', 'sums', 'columns', 'bordereau'] as const
export type ParameterName = (typeof PARAMETERS)[number]

/** What a report reads of each policy. Nothing else is read. */
export type ReportNeeds = {
  /** Rows of the journal, as known at the report's time. */
  readonly journal?: true
  /** All records, as known at the report's time (policy/projection/as-known.ts). */
  readonly records?: true
  /** The policyholder in its current state. */
  readonly holder?: true
}

/** A policy as a report reads it. Overwritten values are current; everything else is as known at the report's time. */
export type ReportedPolicy = {
  /** The current row of the policy. Absent for disbursements, which belong to no policy. */
  readonly policy?: Policy
  /** Ordered by `at`, then `id`. */
  readonly journal: readonly StoredJournalRow[]
  /** Undefined if the policy was not known yet. */
  readonly records?: PolicyAggregate
  readonly holder?: Policyholder
  /** Data of the policy segments that journal rows name. Read only if a dimension or column is a field. */
  readonly segments: ReadonlyMap<Uuid, FieldData>
}

export type ReportSurroundings = {
  /** The tenant's newest configuration. */
  readonly configuration: Configuration
  readonly timeZone: TimeZone
  readonly knownAt: Instant
}

/** A line: values of the kind's own columns, and the values from which its dimensions are read. */
export type ReportLine = {
  readonly currency: CurrencyCode
  /** In the order of the kind's columns. */
  readonly cells: readonly Cell[]
  readonly row?: StoredJournalRow
  readonly entry?: JournalEntry
  /** When the line is booked or occurs. Determines its month. */
  readonly booked?: Instant
  /** The policy data from which fields are read. By default, that of the row's segment. */
  readonly data?: FieldData
  /** Values of dimensions that only this kind has. */
  readonly own?: Readonly<Record<string, string>>
}

export type ReportKind = {
  /** The name in the path: `POST /report/{name}`. */
  readonly name: string
  readonly title: string
  readonly about: string
  /** In addition to `by`, `products` and `knownAt`, which all kinds have. */
  readonly takes: readonly ParameterName[]
  /** Dimensions that `by` may name, in addition to those of every policy (dimensions.ts). */
  readonly dimensions: readonly string[]
  /** The default of `by`. */
  readonly usual: readonly string[]
  needs(parameters: ReportParameters): ReportNeeds
  /** Returns the kind's own columns. Rejects with 400 names that the configuration does not have. */
  columns(parameters: ReportParameters, surroundings: ReportSurroundings): readonly Column[]
  lines(
    policy: ReportedPolicy,
    parameters: ReportParameters,
    surroundings: ReportSurroundings,
  ): Iterable<ReportLine>
}
