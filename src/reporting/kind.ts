// What a report is: a value that says what it reads and how a policy becomes its lines. Going over the book, adding up and
// writing files is the same for all (docs/reports.md).
import type { z } from 'zod'
import type { Uuid } from '../kernel/locators.ts'
import type { CurrencyCode } from '../kernel/money.ts'
import type { Instant, TimeZone } from '../kernel/time.ts'
import type { StoredJournalRow } from '../policy/journal/rows.ts'
import type { Policy, PolicyAggregate } from '../policy/records/aggregate.ts'
import type { Policyholder } from '../policyholders/values.ts'
import type { Configuration } from '../product/configuration.ts'
import type { FieldData } from '../product/fields/groups.ts'

/**
 * Of a column's values: `amount` in minor units of the line's currency (files show it in major units), `integer` and `number` as they
 * are (a `number` is decimal text), `time` in milliseconds, `day` as YYYY-MM-DD in the tenant's time zone, `text`, `boolean`.
 */
export type ColumnType = 'amount' | 'integer' | 'number' | 'time' | 'day' | 'text' | 'boolean'

export type Column = {
  /** camelCase; of a field that the parameters choose: its name in the request, such as `field:channel`. */
  readonly name: string
  readonly type: ColumnType
  /** What it means; for docs/reports.md and the manifest. */
  readonly about: string
  /**
   * `group`: lines with equal values (and the same currency) are added up together. `measure`: is added up; an amount or integer.
   * Neither: stands in lines only.
   */
  readonly role?: 'group' | 'measure'
}

export type Cell = string | number | boolean | null

/** Cells in the order of the columns. Every line has a currency, as the column `currency`. */
export type ReportLine = readonly Cell[]

/** What a report reads of each policy; what is not named is not read. */
export type ReportNeeds = {
  /** Rows of the journal, as known at the report's time. */
  readonly journal?: boolean
  /** Data of the segments that journal rows name. */
  readonly segments?: boolean
  /** All records, as known at the report's time (policy/projection/known.ts). */
  readonly records?: boolean
  /** The policyholder as it is now. */
  readonly holder?: boolean
}

/** A policy as a report reads it. Overwritten values are as they are now; all else is as known at the report's time. */
export type ReportedPolicy = {
  /** The policy's row as it is now. */
  readonly policy: Policy
  /** Ordered by `at`, then `id`; empty unless needed. */
  readonly journal: readonly StoredJournalRow[]
  /** Data of policy segments by locator; empty unless needed. */
  readonly segments: ReadonlyMap<Uuid, FieldData>
  /** Undefined unless needed, and where the policy was not known yet. */
  readonly records?: PolicyAggregate
  readonly holder?: Policyholder
}

/** Journal rows of disbursements, which belong to no policy, come as one more subject of each shard. */
export type ReportedSubject = ReportedPolicy | { readonly disbursements: readonly StoredJournalRow[] }

export type ReportSurroundings = {
  /** The tenant's newest configuration: products, fields, mapped accounts and columns. */
  readonly configuration: Configuration
  readonly timeZone: TimeZone
  readonly currency: CurrencyCode
  /** What is known: rows and records up to this time count. */
  readonly knownAt: Instant
}

/** Lines of one policy: small enough to be held together. */
export type ReportKind<Parameters = never> = {
  /** In the path: `POST /report/{name}`. */
  readonly name: string
  readonly title: string
  readonly about: string
  /** The body of the request. Times and days are checked here. */
  readonly parameters: z.ZodType<Parameters>
  needs(parameters: Parameters): ReportNeeds
  /**
   * Refuses (400 `invalidRequest`) what the configuration does not have, such as an unknown field or product.
   */
  columns(parameters: Parameters, surroundings: ReportSurroundings): readonly Column[]
  /** Whether a policy can have lines at all, judged by its row: saves reading it. */
  concerns?(
    policy: Pick<Policy, 'locator' | 'productName' | 'createdAt' | 'issuedAt'>,
    parameters: Parameters,
  ): boolean
  lines(
    subject: ReportedSubject,
    parameters: Parameters,
    surroundings: ReportSurroundings,
  ): Iterable<ReportLine>
}

export type AnyReportKind = ReportKind<never>

/** Checks a kind's types where it is declared, and forgets them for the list of kinds. */
export const defineReport = <P>(kind: ReportKind<P>): AnyReportKind => kind as unknown as AnyReportKind

/** A line of totals: the values of the group columns, the currency, the number of lines, and the sums of the measures. */
export type ReportTotal = {
  readonly group: readonly Cell[]
  readonly currency: CurrencyCode
  readonly lines: number
  readonly sums: readonly number[]
}
