// Finds records by values of any of their searchable fields, and policies by locators of their records. The work is bounded: a
// seek for each indexed field, and a limited number of terms, however large the tenant is.
import { eq, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type PolicyLocator, readDigits, readUuid, type Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { Database, Query } from '../../platform/database.ts'
import { beginsWith } from '../../platform/search.ts'
import { premium, stateAt } from '../../policy/list/store.ts'
import { type PolicySelection, policyLocatorQuery } from '../../policy/store/aggregates.ts'
import { invoices } from '../../policy/tables/billing.ts'
import { policies, policyTerms } from '../../policy/tables/policies.ts'
import { policyholders, policyholderTerms } from '../../policyholders/tables.ts'
import { termOf } from '../../product/fields/values.ts'

/** The number of values beginning with the longest word that are examined. */
const MOST_LOOKED_AT = 2_000

/** The number of field names in which terms are looked up. */
const MOST_FIELDS = 200

/** Limit on the characters of policyholders in an answer. An answer that would be longer has fewer than `count` entries. */
const MOST_CHARACTERS = 4_000_000

/** The number of words that are looked up separately. A longer text, such as the name of a company, is looked up as a whole. */
const MOST_WORDS = 5

/** The words of the search, folded as terms are. */
export type Words = {
  readonly whole: string
  /** Longest first: the longest word has the fewest matches. */
  readonly each: readonly string[]
}

/** Splits the text at white space. Text of more than `MOST_WORDS` different words is looked up only as a whole. */
export function wordsOf(text: string): Words {
  const whole = termOf(text)
  const each = [...new Set(text.split(/\s+/).map(termOf))].sort((a, b) => b.length - a.length)
  return { whole, each: each.length > MOST_WORDS ? [whole] : each }
}

type Terms = {
  readonly table: SQLiteTable
  readonly owner: SQLiteColumn
}

const OF_HOLDERS: Terms = { table: policyholderTerms, owner: policyholderTerms.policyholderLocator }
const OF_POLICIES: Terms = { table: policyTerms, owner: policyTerms.policyLocator }

/** Tables `looked`, which may repeat locators, and `hit`. Each field is one seek, since the primary key of terms begins with it. */
function selectHits({ table, owner }: Terms, { whole, each: [lead, ...others] }: Words): SQL {
  const column = sql.raw(`"${owner.name === 'policyLocator' ? 'policy_locator' : 'policyholder_locator'}"`)
  const termsBeginningWith = (word: string): SQL => sql`
    select t.${column} from field cross join ${table} as t
    where field.name is not null and t.field = field.name and ${beginsWith(sql`t.term`, word)} limit ${MOST_LOOKED_AT}`
  const also = others.map(
    word => sql`and exists (
      select 1 from ${table} as o where o.${column} = looked.locator and ${beginsWith(sql`o.term`, word)})`,
  )
  return sql`with recursive
    field(name) as (
      select min(field) from ${table}
      union all
      select (select min(field) from ${table} where field > name) from field where name is not null limit ${MOST_FIELDS}),
    looked(locator) as (${termsBeginningWith(lead!)}),
    entire(locator) as (${others.length > 0 ? termsBeginningWith(whole) : sql`select null where false`}),
    hit(locator) as (
      select locator from looked where true ${sql.join(also, sql` `)} union select locator from entire)`
}

type Row<Locator> = { readonly locator: Locator | null; readonly looked: number }

/** Returns locators, newest first. The last row has only the number of values that were examined. */
function searchQuery<Locator>(
  { build }: Database,
  terms: Terms,
  owners: typeof policies | typeof policyholders,
  words: Words,
  most: number,
) {
  const { locator, createdAt } = owners
  return build.all<Row<Locator>>(sql`${selectHits(terms, words)}
    select * from (
      select ${locator} as "locator", 0 as "looked" from hit cross join ${owners} on ${locator} = hit.locator
      order by ${createdAt} desc, ${locator} desc limit ${most})
    union all select null, (select count(*) from looked)`)
}

/** Reads the rows of a search. `isCut`: the limit on examined values was reached, so there may be more matches. */
export const readFound = <Locator>(
  rows: readonly Row<Locator>[],
): { locators: Locator[]; isCut: boolean } => ({
  locators: rows.flatMap(({ locator }) => locator ?? []),
  isCut: rows.at(-1)!.looked >= MOST_LOOKED_AT,
})

/** Finds policyholders by their values, newest first. Pass the rows to `readFound`. */
export const holdersFoundQuery = (database: Database, words: Words, most: number) =>
  searchQuery<Uuid>(database, OF_HOLDERS, policyholders, words, most)

/** Finds policies by values of their own fields, newest first. Pass the rows to `readFound`. */
export const policiesFoundQuery = (database: Database, words: Words, most: number) =>
  searchQuery<PolicyLocator>(database, OF_POLICIES, policies, words, most)

/**
 * Finds the policy that has a record with this locator, or an invoice with this number if `byNumber`. Each query returns at most
 * one row.
 */
export function ownerQueries(database: Database, text: string, byNumber: boolean): Query[] {
  const digits = readDigits(text)
  const uuid = readUuid(text)
  const selections: PolicySelection[] = []
  if (digits !== undefined)
    selections.push({ locator: digits as PolicyLocator }, { transactionLocator: digits })
  if (uuid !== undefined)
    selections.push({ invoiceLocator: uuid }, { paymentLocator: uuid }, { transactionLocator: uuid })
  const queries = selections.map(selection => policyLocatorQuery(database, selection))
  return digits !== undefined && byNumber ? [...queries, invoiceNumberQuery(database, digits)] : queries
}

const invoiceNumberQuery = ({ build }: Database, displayId: number): Query =>
  build.select({ policy: invoices.policyLocator }).from(invoices).where(eq(invoices.displayId, displayId))

/** Selects the policyholders, newest first, until they have `MOST_CHARACTERS` in all. */
export const holdersQuery = ({ build }: Database, locators: readonly Uuid[]) =>
  build
    .select({ policyholder: policyholders })
    .from(
      sql`(select locator, sum(size) over (order by created_at desc, locator desc) - size as size_before from (
        select ${policyholders.locator}, ${policyholders.createdAt}, length(${policyholders.entity}) as size
        from ${policyholders} where ${policyholders.locator} in (select value from json_each(${JSON.stringify(locators)})))) as page`,
    )
    .crossJoin(policyholders)
    .where(sql`${policyholders.locator} = page.locator and page.size_before < ${MOST_CHARACTERS}`)
    .orderBy(sql`${policyholders.createdAt} desc`, sql`${policyholders.locator} desc`)

/** Returns summaries of the named policies, and of those of the policyholders; newest first. */
export function summariesQuery(
  { build }: Database,
  { locators, holders }: { readonly locators: readonly PolicyLocator[]; readonly holders: readonly Uuid[] },
  now: Instant,
  most: number,
) {
  const { locator, createdAt, policyholderLocator } = policies
  const ofHolders = sql`select ${locator} from ${policies}
    where ${policyholderLocator} in (select value from json_each(${JSON.stringify(holders)}))
    order by ${createdAt} desc limit ${most}`
  return build
    .select({ policy: policies, state: stateAt(now).as('state'), premium: premium.as('premium') })
    .from(
      sql`(select value as locator from json_each(${JSON.stringify(locators)}) union select locator from (${ofHolders})) as page`,
    )
    .crossJoin(policies)
    .where(sql`${locator} = page.locator`)
    .orderBy(sql`${createdAt} desc`, sql`${locator} desc`)
}
