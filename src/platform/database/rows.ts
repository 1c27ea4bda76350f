// Queries that write many rows together: whole records of a table, as JSON in one parameter per chunk.
import { Column, is } from 'drizzle-orm'
import { getTableConfig, SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { memoByObject } from '../../kernel/maps.ts'
import type { Database, Query } from '../database.ts'
import { jsonLists } from './parameters.ts'

/** Converts a name like drizzle's `snake_case` casing. */
export const snakeCase = (key: string): string => key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

type TableTexts = {
  /** By property name. `column` is set where stored values differ from values in code, as with JSON. */
  columns: { name: string; column: SQLiteColumn | undefined }[]
  /** Inserts rows or replaces rows with the same key. Its parameter is a JSON list of rows, each a list. */
  put: string
  /** Like `put`, but fails if a row exists. */
  insert: string
  /** Like `put`, but existing rows keep their columns of indexes that cover all records. */
  change: string
  /** Deletes rows. Its parameter is a JSON list of locators. */
  remove: string
}

const textsOf = memoByObject((table: SQLiteTable): TableTexts => {
  const { name, columns, primaryKeys, indexes } = getTableConfig(table)
  const keyed = primaryKeys[0]?.columns ?? columns.filter(column => column.primary)
  const names = columns.map(column => snakeCase(column.name))
  const keys = keyed.map(column => snakeCase(column.name))
  const rest = names.filter(column => !keys.includes(column))
  const quoted = (list: string[]): string => list.map(column => `"${column}"`).join(', ')
  const values = names.map((_, at) => `cells ->> ${at}`).join(', ')
  // A table whose key was extended may still have its former key (docs/design.md, section 5), so the conflict target is left out.
  const target = keys.length > 1 && !indexes.some(({ config }) => config.unique) ? '' : `(${quoted(keys)}) `
  const onConflict = (changing: string[]): string => {
    if (keys.length === 0) return ''
    const set = changing.map(column => `"${column}" = excluded."${column}"`).join(', ')
    return ` on conflict ${target}do ${set === '' ? 'nothing' : `update set ${set}`}`
  }
  // Partial indexes list open work: records enter and leave them as columns change, so `change` writes the columns of those.
  const indexed = indexes
    .filter(({ config }) => config.where === undefined)
    .flatMap(({ config }) =>
      config.columns.flatMap(column => (is(column, Column) ? snakeCase(column.name) : [])),
    )
  // Extracts each row from the list once. With `value` itself, SQLite would parse it for each column. `limit` prevents SQLite from
  // merging the two queries into one that does so.
  const insert = `insert into "${name}" (${quoted(names)}) select ${values} from (select value as cells from json_each(?) limit -1)`
  return {
    columns: columns.map(column => ({ name: column.name, column: isUnmapped(column) ? undefined : column })),
    put: `${insert} where true${onConflict(rest)}`,
    insert,
    change: `${insert} where true${onConflict(rest.filter(column => !indexed.includes(column)))}`,
    remove: `delete from "${name}" where locator in (select value from json_each(?))`,
  }
})

const isUnmapped = (column: SQLiteColumn): boolean =>
  column.mapToDriverValue === SQLiteColumn.prototype.mapToDriverValue

/** Formats each row as the JSON text that queries send. */
export function rowTexts<T extends SQLiteTable>(table: T, rows: readonly T['$inferInsert'][]): string[] {
  const { columns } = textsOf(table)
  return rows.map(row => {
    const cells: unknown[] = []
    for (const { name, column } of columns) {
      const value = (row as Record<string, unknown>)[name] ?? null
      cells.push(column && value !== null ? column.mapToDriverValue(value) : value)
    }
    return JSON.stringify(cells)
  })
}

type WriteRows = <T extends SQLiteTable>(
  database: Database,
  table: T,
  rows: readonly T['$inferInsert'][],
) => Query[]

const writeRows =
  (kind: 'put' | 'insert' | 'change'): WriteRows =>
  (database, table, rows) =>
    writeTexts(database, textsOf(table)[kind], rowTexts(table, rows))

const writeTexts = (database: Database, statement: string, texts: readonly string[]): Query[] =>
  jsonLists(texts).map(list => database.rawQuery(statement, list))

/**
 * Builds queries that insert rows or replace rows with the same key. Rows are JSON in one parameter per chunk, because D1 binds at
 * most 100 parameters. The number of rows is therefore unlimited.
 */
export const putRows = writeRows('put')

/** Inserts rows. The batch fails if a row with one of the keys exists. */
export const insertRows = writeRows('insert')

/**
 * Like `putRows`, for tables where the columns in indexes of all records never change, such as those of a policy's records.
 * Existing rows keep these columns, so that a change does not write such an index.
 */
export const changeRows = writeRows('change')

/** Like `putRows`, with texts from `rowTexts`. */
export const putTexts = (database: Database, table: SQLiteTable, texts: readonly string[]): Query[] =>
  writeTexts(database, textsOf(table).put, texts)

/** Deletes rows of a table whose only key column is `locator`. */
export const deleteRows = (
  database: Database,
  table: SQLiteTable,
  locators: readonly (string | number)[],
): Query[] =>
  locators.length === 0 ? [] : [database.rawQuery(textsOf(table).remove, JSON.stringify(locators))]

/** Deletes rows of a table of a policy's records. */
export const deleteOfPolicy = (
  database: Database,
  table: SQLiteTable,
  policy: number,
  locators: readonly (string | number)[],
): Query[] =>
  locators.length === 0
    ? []
    : [database.rawQuery(`${textsOf(table).remove} and policy_locator = ?`, JSON.stringify(locators), policy)]
