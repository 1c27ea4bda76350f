// Overwrites a policyholder's values in every version, e.g. to erase a person (brief 7). Events contain no values.

import { type SQL, sql } from 'drizzle-orm'
import { invalidRequest, tooLarge } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { putRows } from '../../platform/database/rows.ts'
import type { Database, Query } from '../../platform/database.ts'
import type { SearchTerm } from '../../platform/search.ts'
import { writes } from '../../platform/tables.ts'
import { policies } from '../../policy/tables/policies.ts'
import { validationRefusal } from '../../policyholders/change.ts'
import { keepVersionQuery } from '../../policyholders/store.ts'
import { policyholders, policyholderTerms, policyholderVersions } from '../../policyholders/tables.ts'
import {
  type Dictionary,
  type Policyholder,
  searchTerms,
  validationFieldError,
} from '../../policyholders/values.ts'
import { type FieldValues, fieldError, readFieldValues, valuesOf } from '../../product/fields/values.ts'

/** A value of any version of the policyholder or a sub-entity. */
export type StoredValue = { readonly field: string; readonly value: string }

/** One value for each field, or none. */
type Replacements = FieldValues

/** Limits the replacements (bytes) and the JSON of each version after them (characters). A row of D1 holds 2 MB. */
const LARGEST_OVERWRITTEN = 1_000_000

/** Reads the replacements. They need not fit the type of their field, because erasing must always work. Throws 400 or 413. */
export function replacementsOf(overwrites: Readonly<Record<string, string>>): Replacements {
  const { values, problems } = readFieldValues(overwrites)
  if (problems.length > 0) throw validationRefusal(problems.map(validationFieldError))
  if (Object.keys(values).length === 0)
    throw invalidRequest("'overwrites' contains no field. Name at least one.")
  assertSize(new TextEncoder().encode(JSON.stringify(values)).length)
  return values
}

/** Rejects with 400 a field that is neither in the dictionary nor in any version. */
export function assertKnown(
  replacements: Replacements,
  { fields }: Dictionary,
  stored: readonly StoredValue[],
): void {
  const known = new Set([...fields.map(({ name }) => name), ...stored.map(({ field }) => field)])
  const unknown = Object.keys(replacements).filter(name => !known.has(name))
  if (unknown.length === 0) return
  const rule = 'is unknown, and no version has it; check the spelling'
  throw validationRefusal(unknown.map(name => validationFieldError(fieldError(name, 'INVALID_FIELD', rule))))
}

/** Rejects with 413 replacements that are too long, or make a version too long. */
export function assertSize(size: number): void {
  if (size > LARGEST_OVERWRITTEN)
    throw tooLarge('The replacements would make the policyholder too large. Send shorter texts.')
}

/** Only fields in which the policyholder has a value now have terms. */
export function termsAfter(
  { entity }: Policyholder,
  replacements: Replacements,
  dictionary: Dictionary,
): SearchTerm[] {
  const present = Object.entries(replacements).filter(([field]) => valuesOf(entity.values, field).length > 0)
  return searchTerms(dictionary, Object.fromEntries(present))
}

/** Returns the values as stored, in upper case and in lower case. */
export const formsOf = (stored: readonly StoredValue[]): string[] => [
  ...new Set(
    stored
      .flatMap(({ value }) => [value, value.toUpperCase(), value.toLowerCase()])
      .filter(form => form.trim() !== ''),
  ),
]

const WORD = /[\p{L}\p{N}\p{M}]/u

/** Returns a function that replaces whole words, as stored or in upper or lower case. Other forms, such as a printed date, stay. */
export function scrubber(
  stored: readonly StoredValue[],
  replacements: Replacements,
): (text: string) => string {
  const replacing = new Map<string, string>()
  for (const one of stored) {
    const replacement = valuesOf(replacements, one.field)[0] ?? ''
    for (const form of formsOf([one])) replacing.set(form, replacement)
  }
  // Longest first, so that a name that is part of another does not break it up.
  const longestFirst = [...replacing].sort(([a], [b]) => b.length - a.length)
  return text => longestFirst.reduce((rest, [form, by]) => withoutWords(rest, form, by), text)
}

function withoutWords(text: string, words: string, replacement: string): string {
  let clean = ''
  let from = 0
  let at = text.indexOf(words)
  while (at !== -1) {
    const end = at + words.length
    const whole = !isInsideWord(text, at) && !isInsideWord(text, end)
    if (whole) {
      clean += text.slice(from, at) + replacement
      from = end
    }
    at = text.indexOf(words, whole ? end : at + 1)
  }
  return clean + text.slice(from)
}

function isInsideWord(text: string, place: number): boolean {
  const before = Array.from(text.slice(Math.max(0, place - 2), place)).at(-1) ?? ''
  const after = text.codePointAt(place)
  return WORD.test(before) && after !== undefined && WORD.test(String.fromCodePoint(after))
}

/** Every version of the entity, including the current one. */
export const everyEntity = (locator: Uuid): SQL => sql`(
  select entity from ${policyholders} where locator = ${locator}
  union all select entity from ${policyholderVersions} where policyholder_locator = ${locator})`

/** The values of the entities and their sub-entities, as JSON. */
const everyValues = (locator: Uuid): SQL => sql`(
  select entity ->> '$.values' as field_values from ${everyEntity(locator)}
  union all select s.value ->> '$.values' from ${everyEntity(locator)} e, json_each(e.entity, '$.subEntities') s)`

/** Selects each different value that these fields have in any version of the policyholder, with its field. */
export const storedValuesQuery = (database: Database, locator: Uuid, fields: readonly string[]) =>
  database.build.all<StoredValue>(sql`
    select distinct f.key as field, v.value as value
    from ${everyValues(locator)} e, json_each(e.field_values) f, json_each(f.value) v
    where f.key in (select value from json_each(${JSON.stringify(fields)}))`)

/** The table `entry`. SQLite builds it once, with an index, but would read a plain `json_each` for each value. */
const withEntries = (json: string): SQL =>
  sql`with entry as materialized (select key, value from json_each(${json}))`

/** The number of characters of the largest version after the replacements. */
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

/** Fields that are replaced by nothing are removed. */
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
 * Creates the next version, puts the replacements into every version, and deletes stored responses about the policyholder and its
 * policies. `terms` are the search terms of the replaced fields.
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
