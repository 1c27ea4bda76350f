// The content of each work list, and its queries. A list consists of branches: records of one table, read by one index that
// contains only open records. With `indexed by`, a query that would scan fails instead.
import { type SQL, sql } from 'drizzle-orm'
import type { CurrencyCode } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import type { Database } from '../../platform/database.ts'
import type { Position } from '../../platform/paging.ts'
import type { ListedState } from '../../policy/list/contract.ts'
import { premium, stateAt } from '../../policy/list/store.ts'
import { OPEN_WORK } from '../../policy/tables/policies.ts'
import type { RecordType, WorkListName } from './contract.ts'
import { isDigits } from './position.ts'

type Branch = {
  readonly types: readonly RecordType[]
  readonly table: string
  readonly index: string
  /** The time that comes first in the index. */
  readonly by: string
  /** The condition of the index. Absent if the index contains all records. */
  readonly open?: SQL
  readonly hasDigits: boolean
  readonly recordType: SQL
  readonly name?: SQL
  readonly state: SQL
  /** JSON list. */
  readonly notes?: SQL
  /** The part of the index that belongs to the list. */
  readonly span?: (span: WorkSpan) => SQL
  /** A condition that the index cannot express. */
  readonly still?: (now: Instant) => SQL
}

/** `until` and `since` are how far the list reaches, if it has a span. */
export type WorkSpan = { readonly now: Instant; readonly until: Instant; readonly since: Instant }

const text = (value: string): SQL => sql.raw(`'${value}'`)
const NOTES = sql.raw(`coalesce(json_extract(underwriting, '$.notes'), '[]')`)
const NOT_ISSUED = sql.raw('policy.issued_at is null and policy.discarded_at is null')

const QUOTE: Omit<Branch, 'index' | 'open'> = {
  types: ['quote'],
  table: 'quote',
  by: 'updated_at',
  hasDigits: true,
  recordType: text('quote'),
  name: sql.raw('quote.name'),
  state: sql.raw('quote.state'),
  notes: NOTES,
  still: () => NOT_ISSUED,
}

const ENDORSEMENT: Omit<Branch, 'index' | 'open'> = {
  types: ['endorsement', 'renewal'],
  table: 'endorsement',
  by: 'updated_at',
  hasDigits: true,
  recordType: sql.raw('endorsement.kind'),
  name: sql.raw('endorsement.name'),
  state: sql.raw('endorsement.state'),
  notes: NOTES,
}

/** States of policies whose cover ends only by time. */
const COVERED = sql.raw(`('pending', 'issued', 'inGrace')`)

const LISTS: Record<WorkListName, readonly Branch[]> = {
  referred: [{ ...QUOTE, index: 'quote_referred', open: OPEN_WORK.referredQuote }],
  applications: [{ ...ENDORSEMENT, index: 'endorsement_application', open: OPEN_WORK.application }],
  quoted: [
    { ...QUOTE, index: 'quote_quoted', open: OPEN_WORK.quotedQuote },
    { ...ENDORSEMENT, index: 'endorsement_quoted', open: OPEN_WORK.quotedEndorsement },
  ],
  expiring: [
    {
      types: ['policy'],
      table: 'policy',
      index: 'policy_ending',
      by: 'effective_end',
      hasDigits: true,
      open: OPEN_WORK.inForce,
      recordType: text('policy'),
      state: text('issued'),
      span: ({ now, until }) => sql`policy.effective_end > ${now} and policy.effective_end <= ${until}`,
      still: now => sql`${stateAt(now)} in ${COVERED}`,
    },
  ],
  pastDue: [
    {
      types: ['invoice'],
      table: 'invoice',
      index: 'invoice_owed',
      by: 'due_at',
      hasDigits: false,
      open: OPEN_WORK.owedInvoice,
      recordType: text('invoice'),
      state: text('unfulfilled'),
      name: sql.raw('cast(invoice.display_id as text)'),
      span: ({ now }) => sql`invoice.due_at < ${now}`,
    },
  ],
  inGrace: [
    {
      types: ['gracePeriod'],
      table: 'grace_period',
      index: 'grace_period_open',
      by: 'end_at',
      hasDigits: false,
      open: OPEN_WORK.openGrace,
      recordType: text('gracePeriod'),
      state: sql.raw('grace_period.state'),
    },
  ],
  reinstatable: [
    {
      types: ['lapse'],
      table: 'lapse',
      index: 'lapse_ending',
      by: 'reinstatement_period_end_at',
      hasDigits: false,
      recordType: text('lapse'),
      state: text('lapsed'),
      span: ({ now }) => sql`lapse.reinstatement_period_end_at > ${now}`,
      // As `lapseInForce`: a lapse stays a record, regardless of later changes of the policy's cover.
      still: () =>
        sql.raw(`not exists (select 1 from modification as later where later.policy_locator = lapse.policy_locator
          and later.issued_at is not null and (later.undoes = lapse.modification_locator or (
            later.kind in ('renewal', 'cancellation', 'withdrawal', 'lapse') and later.number > (
              select number from modification where modification.locator = lapse.modification_locator
                and modification.policy_locator = lapse.policy_locator)
            and not exists (select 1 from modification as back where back.policy_locator = lapse.policy_locator
              and back.issued_at is not null and back.undoes = later.locator))))`),
    },
    {
      types: ['cancellation'],
      table: 'cancellation',
      index: 'cancellation_lapsed',
      by: 'issued_at',
      hasDigits: true,
      open: OPEN_WORK.lapsedByCancellation,
      recordType: text('cancellation'),
      name: sql.raw('cancellation.name'),
      state: sql.raw('cancellation.state'),
      span: ({ since }) => sql`cancellation.issued_at > ${since}`,
      still: () =>
        sql.raw(`not exists (select 1 from reinstatement where reinstatement.policy_locator = cancellation.policy_locator
          and reinstatement.cancellation_locator = cancellation.locator and reinstatement.state = 'issued')
          and not exists (select 1 from modification where modification.policy_locator = cancellation.policy_locator
          and modification.kind = 'withdrawal' and modification.issued_at is not null)`),
    },
  ],
  failedDocuments: [
    {
      types: ['document'],
      table: 'document',
      index: 'document_failed',
      by: 'updated_at',
      hasDigits: false,
      open: OPEN_WORK.failedDocument,
      recordType: text('document'),
      name: sql.raw('document.display_name'),
      state: sql.raw('document.state'),
      notes: sql.raw(`case when failure is null then '[]' else json_array(failure) end`),
    },
  ],
}

/** Types of records that the list can contain. */
export const recordTypesOf = (list: WorkListName): readonly RecordType[] =>
  LISTS[list].flatMap(({ types }) => types)

export type WorkSelection = {
  readonly list: WorkListName
  readonly span: WorkSpan
  readonly productName: string | undefined
  readonly recordType: RecordType | undefined
}

export type WorkRow = {
  /** 0 for records with digits. */
  rank: number
  /** The time by which the list is ordered, under the name that `mergedPage` uses. */
  createdAt: Instant
  locator: string
  recordType: RecordType
  name: string | null
  state: string
  notes: string
  policyLocator: number
  policyholderLocator: string
  productName: string
  policyState: ListedState
  currency: CurrencyCode
  /** In minor units; null until priced. */
  premium: number | null
}

const wantedBranches = ({ list, recordType }: WorkSelection): readonly Branch[] =>
  LISTS[list].filter(({ types }) => recordType === undefined || types.includes(recordType))

/** Returns the conditions that the index cannot express, and those of the request. */
function conditionsOf(branch: Branch, { span, productName, recordType }: WorkSelection): SQL[] {
  return [
    ...(branch.still ? [branch.still(span.now)] : []),
    ...(productName === undefined ? [] : [sql`policy.product_name = ${productName}`]),
    ...(recordType === undefined || branch.types.length === 1
      ? []
      : [sql`${branch.recordType} = ${recordType}`]),
  ]
}

/** Selects the next records of the index after the position, in its order, with only their keys. */
function selectCandidates(
  branch: Branch,
  { span }: WorkSelection,
  after: Position<string> | undefined,
  most: number,
): SQL {
  const { table, index, by, open } = branch
  const conditions = [
    ...(open ? [open] : []),
    ...(branch.span ? [branch.span(span)] : []),
    ...(after ? [isAfter(branch, after)] : []),
  ]
  const where = conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)
  const policy = table === 'policy' ? 'locator' : 'policy_locator'
  return sql`(select ${sql.raw(`${by} as at, locator, ${policy} as policy_locator from ${table} indexed by ${index}`)}
    where ${where} order by ${sql.raw(`${by}, locator`)} limit ${most})`
}

/**
 * Selects the candidates that belong to the list. They come in the order of the index until enough are found. The `cross join`
 * keeps that order, so nothing is sorted.
 */
function branchSource(branch: Branch, selection: WorkSelection, found: SQL): SQL {
  const { table } = branch
  const record =
    table === 'policy'
      ? ''
      : ` cross join ${table} on ${table}.locator = c.locator and ${table}.policy_locator = c.policy_locator`
  const choice = conditionsOf(branch, selection)
  const where = choice.length === 0 ? sql`true` : sql.join(choice, sql` and `)
  return sql`${found} as c${sql.raw(record)} cross join policy on policy.locator = c.policy_locator where ${where}`
}

/** Records with digits come before the others with the same time. */
function isAfter({ by, hasDigits }: Branch, { createdAt, locator }: Position<string>): SQL {
  const at = sql.raw(by)
  if (isDigits(locator) === hasDigits)
    return sql`(${at}, locator) > (${createdAt}, ${hasDigits ? Number(locator) : locator})`
  return hasDigits ? sql`${at} > ${createdAt}` : sql`${at} >= ${createdAt}`
}

/** The number of candidates that are examined for a page when few of them fit. */
const MOST_SCANNED = 500

/** Reads the first `most` records of the list after the position, among the candidates of a page. */
export function workQuery(
  database: Database,
  selection: WorkSelection,
  after: Position<string> | undefined,
  most: number,
) {
  const branches = wantedBranches(selection).map(branch => {
    const { hasDigits, recordType, name, state, notes } = branch
    const found = selectCandidates(branch, selection, after, Math.max(most, MOST_SCANNED))
    return sql`select * from (select c.at as "createdAt", ${sql.raw(hasDigits ? '0' : '1')} as rank,
      c.locator as place, cast(c.locator as text) as locator,
      ${recordType} as "recordType", ${name ?? sql`null`} as name, ${state} as state, ${notes ?? text('[]')} as notes,
      policy.locator as "policyLocator", policy.policyholder_locator as "policyholderLocator",
      policy.product_name as "productName", ${stateAt(selection.span.now)} as "policyState", policy.currency as currency,
      ${premium} as premium
      from ${branchSource(branch, selection, found)} limit ${most})`
  })
  return database.build.all<WorkRow>(
    sql`select * from (${sql.join(branches, sql` union all `)}) order by "createdAt", rank, place limit ${most}`,
  )
}

/** Whether some candidates may be skipped. Only then may a page end before it is full. */
const isChoosing = (selection: WorkSelection): boolean =>
  wantedBranches(selection).some(branch => conditionsOf(branch, selection).length > 0)

/** Reads the earliest last candidate among the branches that have more. No row if all candidates were examined. */
export function horizonQuery(
  database: Database,
  selection: WorkSelection,
  after: Position<string> | undefined,
  most: number,
) {
  const scanned = Math.max(most, MOST_SCANNED)
  const ends = isChoosing(selection)
    ? wantedBranches(selection).map(
        branch => sql`select * from (select at, ${sql.raw(branch.hasDigits ? '0' : '1')} as rank, locator as place
          from ${selectCandidates(branch, selection, after, scanned)} limit 1 offset ${scanned - 1})`,
      )
    : [sql`select 0 as at, 0 as rank, 0 as place where false`]
  return database.build.all<{ createdAt: Instant; locator: string; rank: number }>(
    sql`select at as "createdAt", cast(place as text) as locator, rank from (${sql.join(ends, sql` union all `)})
      order by at, rank, place limit 1`,
  )
}

export type Horizon = Awaited<ReturnType<typeof horizonQuery>>[number]

/** Counts the records in each list, and the candidates that were examined: at most `most` in each branch. */
export const countQuery = (database: Database, selections: readonly WorkSelection[], most: number) =>
  database.build.all<Record<string, number>>(
    sql`select ${sql.join(
      selections.flatMap(selection => {
        const counts = wantedBranches(selection).map(branch => {
          const found = selectCandidates(branch, selection, undefined, most)
          return {
            scanned: sql`(select count(*) from ${found})`,
            fitting: sql`(select count(*) from ${branchSource(branch, selection, found)})`,
          }
        })
        const sum = (parts: SQL[]) => sql.join(parts, sql` + `)
        const isCut = sql.join(
          counts.map(({ scanned }) => sql`${scanned} = ${most}`),
          sql` or `,
        )
        return [
          sql`${sum(counts.map(({ fitting }) => fitting))} as ${sql.raw(`"${selection.list}"`)}`,
          sql`(${isCut}) as ${sql.raw(`"${selection.list}IsCut"`)}`,
        ]
      }),
      sql`, `,
    )}`,
  )
