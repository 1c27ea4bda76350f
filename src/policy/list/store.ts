// Rows and summaries of a page of policies.
import { eq, type SQL, sql } from 'drizzle-orm'
import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import { memoByObject } from '../../kernel/maps.ts'
import { fromMinor, type Money, toNumber } from '../../kernel/money.ts'
import type { Instant, TimeZone } from '../../kernel/time.ts'
import { putRows } from '../../platform/database/rows.ts'
import { type Database, type Query, statement } from '../../platform/database.ts'
import type { Position } from '../../platform/paging.ts'
import { type Search, type SearchTerm, termMatches } from '../../platform/search.ts'
import { policyholders } from '../../policyholders/tables.ts'
import type { FieldDefinition, ProductDefinition } from '../../product/configuration.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import { storedTermsOf, type TermReader, termsOf, valuesOf } from '../../product/fields/values.ts'
import { policyProperties } from '../projection/characteristics.ts'
import { type Cut, type Policy, type PolicyAggregate, selectedQuoteIfAny } from '../records/aggregate.ts'
import type { ModificationKind } from '../records/transactions.ts'
import { readPolicy } from '../store/rows.ts'
import { fieldOwners, NeedsWholePolicy, type Unread } from '../surroundings.ts'
import {
  gracePeriods,
  modifications,
  policies,
  policyTerms,
  quotes,
  reinstatements,
} from '../tables/policies.ts'
import { STATES_BY_QUOTE } from '../transitions.ts'
import type { ListedState, PolicyListQuery, PolicySummaryResponse } from './contract.ts'

/** The state of a policy that is neither issued nor discarded: by its selected quote, or `created` without one. */
const stateByQuote = sql`coalesce((
  select case ${quotes.state} ${sql.raw(
    Object.entries(STATES_BY_QUOTE)
      .map(([quote, policy]) => `when '${quote}' then '${policy}'`)
      .join(' '),
  )} end
  from ${quotes} where ${quotes.policyLocator} = ${policies.locator} and ${quotes.selected} = 1), 'created')`

/** `withdrawn` or `cancelled` for an issued policy; null if it is neither or was reinstated. */
const cancelledState = sql`(
  select case max(${modifications.kind} = 'withdrawal') when 1 then 'withdrawn' when 0 then 'cancelled' end
  from ${modifications}
  where ${modifications.policyLocator} = ${policies.locator} and ${modifications.issuedAt} is not null
    and case ${modifications.kind} when 'withdrawal' then true when 'cancellation' then not exists (
      select 1 from ${reinstatements} where ${reinstatements.policyLocator} = ${policies.locator}
        and ${reinstatements.state} = 'issued'
        and ${reinstatements.cancellationLocator} = cast(${modifications.transactionLocator} as integer)) end)`

/** Whether a legacy lapse still ends the policy, as `standingLapses`. */
const isLapsed = sql`exists (
  select 1 from ${modifications}
  where ${modifications.policyLocator} = ${policies.locator} and ${modifications.issuedAt} is not null
    and ${modifications.kind} = 'lapse' and not exists (
      select 1 from ${modifications} as later
      where later.policy_locator = ${policies.locator} and later.issued_at is not null
        and (later.undoes = ${modifications.locator}
          or (later.kind = 'renewal' and later.number > ${modifications.number}))))`

/** A legacy lapse takes precedence over an open grace period (brief 1.1). */
const unpaidState = sql`case
  when ${isLapsed} then 'lapsed'
  when exists (select 1 from ${gracePeriods}
    where ${gracePeriods.policyLocator} = ${policies.locator} and ${gracePeriods.settledAt} is null) then 'inGrace' end`

/** The policy's ListedState, which refines `policyState`. Computed, not stored. */
export const stateAt = (now: Instant): SQL<ListedState> => sql<ListedState>`case
  when ${policies.discardedAt} is not null then 'discarded'
  when ${policies.issuedAt} is null then ${stateByQuote}
  else coalesce(${unpaidState}, ${cancelledState}, case
    when ${policies.originalStart} > ${now} then 'pending'
    when ${policies.effectiveEnd} <= ${now} then 'expired'
    else 'issued' end) end`

/** The sum of the premium changes of the selected quote and of all later issued transactions. */
export const premium = sql<number | null>`(
  select sum(${modifications.premiumChange}) from ${modifications}
  where ${modifications.policyLocator} = ${policies.locator} and case
    when ${modifications.quoteLocator} is null then ${modifications.issuedAt} is not null
    else ${modifications.quoteLocator} = (
      select ${quotes.locator} from ${quotes}
      where ${quotes.policyLocator} = ${policies.locator} and ${quotes.selected} = 1) end)`

/** Which policies a page selects. `now` decides their states. */
export type PageSelection = Omit<PolicyListQuery, 'policyholderLocator' | 'pagingToken'> & {
  policyholder: Uuid | undefined
  search: Search | undefined
  position: Position<PolicyLocator> | undefined
  now: Instant
}

/**
 * Selects one policy more than the page has. Finds the page first, then its policies (`cross join` keeps that order). Otherwise
 * SQLite would read every policy of the shard.
 */
export function pageQuery(database: Database, selection: PageSelection) {
  const { search, pageSize, now } = selection
  const { locator, createdAt } = policies
  const where = sql.join(conditions(selection), sql` and `)
  const pageLocators = isChoosing(selection)
    ? sql`select ${locator} from ${selectCandidates(selection)} as c cross join ${policies} on ${locator} = c.locator
        where ${where} limit ${pageSize + 1}`
    : sql`select ${locator} from ${search ? foundByTerm(search) : policies}
        where ${where} order by ${createdAt}, ${locator} limit ${pageSize + 1}`
  return database.build
    .select({ policy: policies, state: stateAt(now).as('state'), premium: premium.as('premium') })
    .from(sql`(${pageLocators}) as page`)
    .crossJoin(policies)
    .where(sql`${locator} = page.locator`)
    .orderBy(createdAt, locator)
}

/** Maximum number of policies that are examined for a page if few of them may match. */
const MOST_SCANNED = 2_000

/** Whether policies have to be examined one after the other. A search and a policyholder have their own indexes. */
const isChoosing = ({ search, policyholder, ...selection }: PageSelection): boolean =>
  search === undefined &&
  policyholder === undefined &&
  [
    selection.productName,
    selection.state,
    selection.issuedAfterTimestamp,
    selection.issuedBeforeTimestamp,
    selection.effectiveAfterTimestamp,
    selection.effectiveBeforeTimestamp,
  ].some(value => value !== undefined)

/** Selects the next policies in the order of the list, before any other condition. Reads only the index. */
function selectCandidates(selection: PageSelection): SQL {
  const { createdAt, locator } = policies
  return sql`(select ${createdAt}, ${locator} from ${policies} where ${sql.join(createdConditions(selection), sql` and `)}
    order by ${createdAt}, ${locator} limit ${scanLimitOf(selection)})`
}

const scanLimitOf = ({ pageSize }: PageSelection): number => Math.max(pageSize + 1, MOST_SCANNED)

/** Selects the last policy that is examined for the page. No row if there are fewer. */
export const horizonQuery = (database: Database, selection: PageSelection) =>
  database.build.all<Position<PolicyLocator>>(
    isChoosing(selection)
      ? sql`select created_at as "createdAt", locator from ${selectCandidates(selection)} limit 1 offset ${scanLimitOf(selection) - 1}`
      : sql`select 0 as "createdAt", 0 as locator where false`,
  )

type SummaryRow = {
  policy: typeof policies.$inferSelect
  state: ListedState
  /** In minor units; null until priced. */
  premium: number | null
}

/** Converts a row. `premium` is undefined until the policy is priced. */
export function readSummary({ policy, state, premium }: SummaryRow): PolicySummary {
  const read = readPolicy(policy)
  return { ...read, state, premium: premium === null ? undefined : fromMinor(premium, read.currency) }
}

const conditionIfGiven = <T>(value: T | undefined, condition: (value: T) => SQL): SQL[] =>
  value === undefined ? [] : [condition(value)]

/** Returns the conditions that the index of the list's order can check. */
function createdConditions({ position, ...selection }: PageSelection): SQL[] {
  const { locator, createdAt } = policies
  return [
    sql`true`,
    ...conditionIfGiven(
      position,
      last => sql`(${createdAt}, ${locator}) > (${last.createdAt}, ${last.locator})`,
    ),
    ...conditionIfGiven(selection.createdAfterTimestamp, at => sql`${createdAt} > ${at}`),
    ...conditionIfGiven(selection.createdBeforeTimestamp, at => sql`${createdAt} < ${at}`),
  ]
}

function conditions(selection: PageSelection): SQL[] {
  const { issuedAt, originalStart, effectiveEnd } = policies
  const { state, effectiveAfterTimestamp, effectiveBeforeTimestamp } = selection
  return [
    ...createdConditions(selection),
    ...conditionIfGiven(selection.policyholder, holder => sql`${policies.policyholderLocator} = ${holder}`),
    ...conditionIfGiven(selection.productName, name => sql`${policies.productName} = ${name}`),
    ...conditionIfGiven(selection.issuedAfterTimestamp, at => sql`${issuedAt} > ${at}`),
    ...conditionIfGiven(selection.issuedBeforeTimestamp, at => sql`${issuedAt} < ${at}`),
    // A withdrawn policy ends where it starts, so it was never in force.
    ...conditionIfGiven(
      effectiveAfterTimestamp ?? effectiveBeforeTimestamp,
      () => sql`${issuedAt} is not null and ${effectiveEnd} > ${originalStart}`,
    ),
    ...conditionIfGiven(effectiveAfterTimestamp, at => sql`${effectiveEnd} > ${at}`),
    ...conditionIfGiven(effectiveBeforeTimestamp, at => sql`${originalStart} < ${at}`),
    ...conditionIfGiven(state, wanted => sql`${stateAt(selection.now)} = ${wanted}`),
  ]
}

/** Reads the index first (`cross join` keeps the order), then the policies that it names. */
const foundByTerm = (search: Search): SQL => sql`(
    select distinct policy_locator from ${policyTerms} where ${termMatches(search)}) as hit
    cross join ${policies} on ${policies.locator} = hit.policy_locator`

/** Selects whether the shard knows the policyholder, and whether it has policies indexed by the field. */
export const knownQuery = (database: Database, policyholder: Uuid | undefined, field: string | undefined) =>
  database.build.all<{ policyholder: number; field: number }>(sql`select
    exists (select 1 from ${policyholders} where ${policyholders.locator} = ${policyholder ?? null}) as policyholder,
    exists (select 1 from ${policyTerms} where ${policyTerms.field} = ${field ?? null}) as field`)

/** Maximum number of terms in one parameter, which keeps it below 2 MB. */
const MOST_TERMS_AT_ONCE = 150

/**
 * Returns the queries that make the stored terms those of `after`. Work grows with the change, not with the policy. Throws
 * `NeedsWholePolicy` if terms are to be deleted while exposures are `unread`, because one of those may have the same term.
 */
export function termQueries(
  database: Database,
  product: ProductDefinition,
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  unread?: Unread,
): Query[] {
  const policyLocator = after.policy.locator
  const { all, added, removed } = termChange(product, before, after)
  if (unread && (all || removed.length > 0)) throw new NeedsWholePolicy()
  const rows = added.map(term => ({ ...term, policyLocator }))
  const ofPolicy = eq(policyTerms.policyLocator, policyLocator)
  return [
    ...(all && before ? [database.build.delete(policyTerms).where(ofPolicy)] : []),
    ...removalQueries(database, policyLocator, removed),
    ...putRows(database, policyTerms, rows),
  ]
}

const REMOVE_TERMS = statement(build =>
  build.run(sql`delete from ${policyTerms} where (field, term, policy_locator) in (
    select value ->> 0, value ->> 1, ${sql.placeholder('policyLocator')} from json_each(${sql.placeholder('terms')}))`),
)

function removalQueries(
  database: Database,
  policyLocator: PolicyLocator,
  terms: readonly SearchTerm[],
): Query[] {
  const queries: Query[] = []
  for (let at = 0; at < terms.length; at += MOST_TERMS_AT_ONCE) {
    const some = terms.slice(at, at + MOST_TERMS_AT_ONCE).map(({ field, term }) => [field, term])
    queries.push(database.bind(REMOVE_TERMS, { policyLocator, terms: JSON.stringify(some) }))
  }
  return queries
}

/** `premium` is absent until the policy is priced. */
export type PolicySummary = Policy & { readonly state: ListedState; readonly premium: Money | undefined }

export const policySummaryResponse = (summary: PolicySummary): PolicySummaryResponse => ({
  ...policyProperties(summary),
  state: summary.state,
  grossPremium: summary.premium && toNumber(summary.premium),
  grossPremiumCurrency: summary.currency,
})

// Terms: values of searchable fields of the policy, its exposures and perils, in any part of the term. Of the quotes, only the
// selected one is searched.
/** How a change alters a policy's terms. If `all` is set, `added` lists all its terms. */
export type TermChange = {
  readonly all: boolean
  readonly added: readonly SearchTerm[]
  readonly removed: readonly SearchTerm[]
}

/** Returns names of fields by which policies of the product can be found: its own, those of exposures, perils and groups. */
export const searchableNames = memoByObject(({ fields, exposures }: ProductDefinition): string[] => {
  const perils = exposures.flatMap(one => one.perils)
  const all = [...fields, ...[...exposures, ...perils].flatMap(one => one.fields)]
  const names = all.flatMap(field => [field, ...(field.fields ?? [])])
  return [...new Set(names.filter(field => field.searchable).map(field => field.name))]
})

/**
 * Returns how the terms change from `before` to `after`. Skips data that both share, unless the configuration version changed,
 * because other fields may now be searchable.
 */
export function termChange(
  product: ProductDefinition,
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
): TermChange {
  const zone = after.policy.timeZone
  const current = searchableData(after, product)
  const distinctTerms = (data: Iterable<Searched>, read = termsOf): Map<string, SearchTerm> =>
    new Map(
      [...data].flatMap(one => dataTerms(one, zone, read)).map(term => [JSON.stringify(term), term] as const),
    )
  if (before?.policy.configVersion !== after.policy.configVersion)
    return { all: true, added: [...distinctTerms(current.values()).values()], removed: [] }

  const former = searchableData(before, product)
  const added = distinctTerms(dataMissingFrom(current, former))
  const removed = distinctTerms(dataMissingFrom(former, current), storedTermsOf)
  for (const key of added.keys()) removed.delete(key)
  if (removed.size > 0)
    for (const key of distinctTerms(current.values(), storedTermsOf).keys()) removed.delete(key)
  return { all: false, added: [...added.values()], removed: [...removed.values()] }
}

const dataMissingFrom = (some: ReadonlyMap<FieldData, Searched>, others: ReadonlyMap<FieldData, Searched>) =>
  [...some.values()].filter(({ data }) => !others.has(data))

type Fields = readonly FieldDefinition[]

/** Returns the searchable fields, and the groups that contain some. */
const searchableAmong = memoByObject((all: Fields) =>
  all.filter(field => field.searchable || field.fields?.some(one => one.searchable)),
)

type Searched = { readonly data: FieldData; readonly fields: Fields }

/** Returns the data by which a policy is found, with the fields to check. Shared data counts once. */
function searchableData(aggregate: PolicyAggregate, product: ProductDefinition): Map<FieldData, Searched> {
  const found = new Map<FieldData, Searched>()
  if (searchableNames(product).length === 0) return found
  const isIncluded = recordFilter(aggregate)
  for (const { record, fields } of fieldOwners(aggregate, product)) {
    const searchable = searchableAmong(fields)
    if (searchable.length > 0 && isIncluded(record))
      found.set(record.data, { data: record.data, fields: searchable })
  }
  return found
}

const ENDINGS: ReadonlySet<ModificationKind> = new Set(['cancellation', 'withdrawal', 'lapse'])

/**
 * Returns a test for whether a record belongs to the selected quote or a later accepted transaction and was not replaced whole by
 * an issued one. Cancelled records count, because a policy is found by what it covered.
 */
export function recordFilter(aggregate: PolicyAggregate) {
  const { modifications } = aggregate
  const selected = selectedQuoteIfAny(aggregate)?.locator
  const replaces = (by: Uuid): boolean => {
    const modification = modifications.get(by)
    return modification?.issuedAt !== undefined && !ENDINGS.has(modification.kind)
  }
  return ({ madeBy, replacedBy, cuts = [], start }: Replaceable): boolean => {
    const { quoteLocator = selected, invalidatedAt } = modifications.get(madeBy) ?? {}
    if (quoteLocator !== selected || invalidatedAt !== undefined) return false
    if (replacedBy !== undefined && replaces(replacedBy)) return false
    return !cuts.some(cut => cut.from <= start && replaces(cut.by))
  }
}

type Replaceable = {
  readonly madeBy: Uuid
  readonly start: Instant
  readonly replacedBy?: Uuid
  readonly cuts?: readonly Cut[]
}

function dataTerms({ data, fields }: Searched, zone: TimeZone, read: TermReader): SearchTerm[] {
  return fields.flatMap(field => [
    ...(field.searchable ? read(field, valuesOf(data.values, field.name), zone) : []),
    ...(field.fields ?? [])
      .filter(inner => inner.searchable)
      .flatMap(inner => {
        const groups = data.groups.filter(group => group.fieldName === field.name)
        return groups.flatMap(group => read(inner, valuesOf(group.values, inner.name), zone))
      }),
  ])
}
