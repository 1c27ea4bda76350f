// Where values of a policyholder lie, rewritten in place: the current version and all earlier ones, the search
// terms, the stored answers. Events hold locators, names and numbers only; for texts of policies see
// erased-texts.ts.
import { type SQL, sql } from 'drizzle-orm'
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { type Database, putRows, type Query } from '../../platform/database.ts'
import type { SearchTerm } from '../../platform/search/matching.ts'
import { writes } from '../../platform/tables.ts'
import { policies } from '../../policy/tables/policies.ts'
import { keepVersionQuery } from '../../policyholders/store.ts'
import { policyholders, policyholderTerms, policyholderVersions } from '../../policyholders/tables.ts'
import type { Replacements, StoredValue } from './overwrite.ts'

/** The entity of every version, the current one too. */
const everyEntity = (locator: Uuid): SQL => sql`(
  select entity from ${policyholders} where locator = ${locator}
  union all select entity from ${policyholderVersions} where policyholder_locator = ${locator})`

/** The `values` of the entities and of their sub-entities, as JSON. */
const everyValues = (locator: Uuid): SQL => sql`(
  select entity ->> '$.values' as field_values from ${everyEntity(locator)}
  union all select s.value ->> '$.values' from ${everyEntity(locator)} e, json_each(e.entity, '$.subEntities') s)`

/** A query for the different values of the fields in all versions. */
export const storedValuesQuery = (database: Database, locator: Uuid, fields: readonly string[]) =>
  database.build.all<StoredValue>(sql`
    select distinct f.key as field, v.value as value
    from ${everyValues(locator)} e, json_each(e.field_values) f, json_each(f.value) v
    where f.key in (select value from json_each(${JSON.stringify(fields)}))`)

/**
 * The entries of a JSON object as the table `entry` of the statement that follows: SQLite makes it once, with an index.
 * `json_each` itself in its place would be read again for each value of each version.
 */
const withEntries = (json: string): SQL =>
  sql`with entry as materialized (select key, value from json_each(${json}))`

/** A query for the most characters that a version can have after the replacements. */
export const largestAfterQuery = (database: Database, locator: Uuid, replacements: Replacements) => {
  const lengths = Object.fromEntries(
    Object.entries(replacements).map(([name, values]) => [name, JSON.stringify(values).length]),
  )
  const added = (values: SQL): SQL => sql`(
    select coalesce(sum(o.value), 0) from json_each(${values}) f
    join entry o on o.key = f.key)`
  return database.build.all<{ largest: number }>(sql`
    ${withEntries(JSON.stringify(lengths))}
    select max(length(entity) + ${added(sql`entity ->> '$.values'`)} + (
      select coalesce(sum(${added(sql`s.value ->> '$.values'`)}), 0)
      from json_each(entity, '$.subEntities') s)) as largest
    from ${everyEntity(locator)}`)
}

/** The values with what `entry` replaces them by; fields that are replaced by nothing are gone. */
const rewrittenValues = (values: SQL): SQL => sql`json((
  select json_group_object(f.key, json(coalesce(o.value, f.value)))
  from json_each(${values}) f left join entry o on o.key = f.key
  where o.value is null or o.value <> '[]'))`

const rewrittenEntity = sql`json_set(entity,
  '$.values', ${rewrittenValues(sql`entity ->> '$.values'`)},
  '$.subEntities', json((
    select json_group_array(json_set(s.value, '$.values',
      ${rewrittenValues(sql`s.value ->> '$.values'`)}))
    from json_each(entity, '$.subEntities') s)))`

/**
 * Queries that make the next version with the replacements, put them into every version, and forget the stored
 * answers about the policyholder and its policies: repeats are answered from the records as they are then.
 * `terms` are those of the fields after it.
 */
export function overwriteQueries(
  database: Database,
  { locator, at }: { locator: Uuid; at: Instant },
  replacements: Replacements,
  terms: readonly SearchTerm[],
): Query[] {
  const json = JSON.stringify(replacements)
  const { build } = database
  return [
    keepVersionQuery(database, locator, at),
    build.run(
      sql`${withEntries(json)} update ${policyholderVersions} set entity = ${rewrittenEntity} where policyholder_locator = ${locator}`,
    ),
    build.run(
      sql`${withEntries(json)} update ${policyholders} set entity = ${rewrittenEntity}, version = version + 1, updated_at = ${at}
        where locator = ${locator}`,
    ),
    build.run(
      sql`delete from ${policyholderTerms} where policyholder_locator = ${locator}
        and field in (select key from json_each(${json}))`,
    ),
    ...putRows(
      database,
      policyholderTerms,
      terms.map(term => ({ ...term, policyholderLocator: locator })),
    ),
    build.run(
      sql`update ${writes} set answer = null where subject = ${locator}
        or substr(subject, 1, instr(subject || '/', '/') - 1) in (select cast(locator as text) from ${policies} where policyholder_locator = ${locator})`,
    ),
  ]
}
