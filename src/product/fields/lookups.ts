import type { LookupTable } from '../configuration.ts'

const columnKeys = new WeakMap<LookupTable, Map<number, Set<string>>>()

/**
 * Whether the value is a key of the table: a cell of the column that bears the field's name, so that one table of
 * make, model and year serves three fields, or else of the first column. Exact match.
 */
export function isTableKey(table: LookupTable, fieldName: string, value: string): boolean {
  const column = Math.max(0, table.columns.indexOf(fieldName))
  let columns = columnKeys.get(table)
  if (!columns) {
    columns = new Map()
    columnKeys.set(table, columns)
  }
  let keys = columns.get(column)
  if (!keys) {
    keys = new Set(table.rows.flatMap(row => row[column] ?? []))
    columns.set(column, keys)
  }
  return keys.has(value)
}
