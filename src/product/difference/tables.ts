// Compares the rows of tables by their keys.
import { countText } from '../../kernel/text.ts'
import type { LookupTable } from '../configuration.ts'
import { isLookupTable } from '../configuration.ts'
import {
  type CellChange,
  type Change,
  makeAddition,
  makeChange,
  makeRemoval,
  type Place,
  pairByName,
  type RowChange,
} from './change.ts'
import { canonical, percentBetween, percentText, sameCell } from './values.ts'

type Tables = Readonly<Record<string, LookupTable>>

/** Changes of the tables of a product or of the tenant, in the order of the old ones. */
export function tableChanges(before: Tables, after: Tables, product?: string): Change[] {
  const list = (tables: Tables) => Object.entries(tables).map(([name, table]) => ({ name, table }))
  return pairByName(list(before), list(after)).flatMap(({ name, old, now }): Change[] => {
    const place: Place = {
      area: 'tables',
      path: (now ?? old)!.table.path,
      subject: `table '${name}'`,
      ...(product !== undefined && { product }),
    }
    if (!old) return [makeAddition(place, countText(now!.table.rows.length, 'row'))]
    if (!now) return [makeRemoval(place, countText(old.table.rows.length, 'row'))]
    return compareTables(old.table, now.table, place)
  })
}

function compareTables(old: LookupTable, now: LookupTable, place: Place): Change[] {
  const gone = old.columns.filter(column => !now.columns.includes(column))
  const extra = now.columns.filter(column => !old.columns.includes(column))
  const rows = rowChanges(old, now)
  return [
    ...gone.map(column => makeRemoval({ ...place, subject: `column '${column}' of ${place.subject}` })),
    ...extra.map(column => makeAddition({ ...place, subject: `column '${column}' of ${place.subject}` })),
    ...(rows.length === 0 ? [] : [{ ...makeChange(place, summary(rows)), rows }]),
  ]
}

/** The rows that differ in the columns that both tables have, in the order of the old table followed by the new rows. */
export function rowChanges(old: LookupTable, now: LookupTable): RowChange[] {
  const columns = old.columns.filter(column => now.columns.includes(column))
  const keys = keyColumns(old, now, columns)
  if (!keys) return unkeyedChanges(old, now, columns)
  const keyOf = reader(keys)
  const later = new Map(now.rows.map(row => [canonical(keyOf(now, row)), row]))
  const earlier = new Set(old.rows.map(row => canonical(keyOf(old, row))))
  const changes = old.rows.flatMap((row): RowChange[] => {
    const key = keyOf(old, row)
    const other = later.get(canonical(key))
    if (!other) return [{ kind: 'removed', key, row: cellsOf(old, row) }]
    const cells = cellChanges(old, row, now, other, columns)
    return cells.length === 0 ? [] : [{ kind: 'changed', key, cells }]
  })
  const fresh = now.rows.flatMap((row): RowChange[] => {
    const key = keyOf(now, row)
    return earlier.has(canonical(key)) ? [] : [{ kind: 'added', key, row: cellsOf(now, row) }]
  })
  return [...changes, ...fresh]
}

const reader =
  (columns: readonly string[]) =>
  (table: LookupTable, row: readonly string[]): string[] =>
    columns.map(column => row[table.columns.indexOf(column)] ?? '')

const cellsOf = ({ columns }: LookupTable, row: readonly string[]): Record<string, string> =>
  Object.fromEntries(columns.map((column, at) => [column, row[at] ?? '']))

function cellChanges(
  old: LookupTable,
  row: readonly string[],
  now: LookupTable,
  other: readonly string[],
  columns: readonly string[],
): CellChange[] {
  const read = reader(columns)
  const [before, after] = [read(old, row), read(now, other)]
  return columns.flatMap((column, at): CellChange[] => {
    const [from, to] = [before[at]!, after[at]!]
    if (sameCell(from, to)) return []
    const percent = percentBetween(from, to)
    return [{ column, from, to, ...(percent !== undefined && { percent }) }]
  })
}

/**
 * The columns that identify a row in both tables: `key` if the tables are for look-ups, otherwise as few columns from the left as
 * necessary. Never all columns, because a row with a changed cell would then be another row. Undefined if no columns suffice.
 */
function keyColumns(
  old: LookupTable,
  now: LookupTable,
  columns: readonly string[],
): readonly string[] | undefined {
  const candidates =
    isLookupTable(old.columns) && isLookupTable(now.columns)
      ? [['key']]
      : columns.slice(0, -1).map((_, at) => columns.slice(0, at + 1))
  return candidates.find(keys => [old, now].every(table => areUnique(table, keys)))
}

function areUnique(table: LookupTable, keys: readonly string[]): boolean {
  const read = reader(keys)
  return new Set(table.rows.map(row => canonical(read(table, row)))).size === table.rows.length
}

/** The rows that only one of the tables has, counting repeated ones. */
function unkeyedChanges(old: LookupTable, now: LookupTable, columns: readonly string[]): RowChange[] {
  const read = reader(columns)
  const left = new Map<string, number>()
  const textOf = (table: LookupTable, row: readonly string[]): string => canonical(read(table, row))
  for (const row of now.rows) left.set(textOf(now, row), (left.get(textOf(now, row)) ?? 0) + 1)
  const takeRow = (text: string): boolean => {
    const count = left.get(text) ?? 0
    if (count > 0) left.set(text, count - 1)
    return count > 0
  }
  const gone = old.rows.filter(row => !takeRow(textOf(old, row)))
  const extra = now.rows.filter(row => takeRow(textOf(now, row)))
  return [
    ...gone.map((row): RowChange => ({ kind: 'removed', key: read(old, row), row: cellsOf(old, row) })),
    ...extra.map((row): RowChange => ({ kind: 'added', key: read(now, row), row: cellsOf(now, row) })),
  ]
}

/** Summarizes changes, for example as `2 rows changed (-3 % to +5 %), 1 row added`. */
function summary(rows: readonly RowChange[]): string {
  const percents = rows.flatMap(row =>
    row.kind === 'changed' ? row.cells.flatMap(({ percent }) => percent ?? []) : [],
  )
  const [least, most] = percents.reduce(
    ([low, high], percent) => [Math.min(low, percent), Math.max(high, percent)] as const,
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] as readonly [number, number],
  )
  const range = least === most ? percentText(least) : `${percentText(least)} to ${percentText(most)}`
  const counts = (['changed', 'added', 'removed'] as const).flatMap(kind => {
    const count = rows.filter(row => row.kind === kind).length
    const beside = kind === 'changed' && percents.length > 0 ? ` (${range})` : ''
    return count === 0 ? [] : [`${countText(count, 'row')} ${kind}${beside}`]
  })
  return counts.join(', ')
}
