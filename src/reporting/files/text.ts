// Lines of reports as CSV and NDJSON, and cells as responses show them: amounts in major units, times in UTC.
import { csvLine, textCell } from '../../../packages/csv/writer.ts'
import { type CurrencyCode, fromMinor, toText } from '../../kernel/money.ts'
import { type Instant, isoDay, type TimeZone } from '../../kernel/time.ts'
import type { Layout } from '../columns.ts'
import type { Cell, Column } from '../kind.ts'

/** Returns a cell for people and programs; null for none. Amounts are decimal text with the currency's number of digits. */
export function shownCell(cell: Cell, { type }: Column, currency: CurrencyCode, zone: TimeZone): Cell {
  if (cell === null) return null
  switch (type) {
    case 'amount':
      return toText(fromMinor(Number(cell), currency))
    case 'time':
      return new Date(Number(cell)).toISOString()
    case 'day':
      return typeof cell === 'number' ? isoDay(cell as Instant, zone) : cell
    default:
      return cell
  }
}

/** Returns the first line of the CSV file: the names of the columns. */
export const csvHead = ({ columns }: Layout): string => csvLine(columns.map(({ name }) => textCell(name)))

/**
 * Returns a line of the CSV file. Text that a spreadsheet could take for a formula gets an apostrophe before it. An empty cell
 * means null.
 */
export function csvOf(cells: readonly Cell[], layout: Layout, zone: TimeZone): string {
  const currency = String(cells[layout.currency]) as CurrencyCode
  return csvLine(
    layout.columns.map((column, at) => {
      const shown = shownCell(cells[at] ?? null, column, currency, zone)
      return column.type === 'text' ? textCell(String(shown ?? '')) : String(shown ?? '')
    }),
  )
}

/** Returns a line with an object by column names. */
export const ndjsonOf = (cells: readonly Cell[], layout: Layout, zone: TimeZone): string =>
  `${JSON.stringify(objectOf(cells, layout, zone))}\n`

/** Returns a line as an object by column names, with cells as `shownCell` returns them. */
export function objectOf(cells: readonly Cell[], layout: Layout, zone: TimeZone): Record<string, Cell> {
  const currency = String(cells[layout.currency]) as CurrencyCode
  return Object.fromEntries(
    layout.columns.map((column, at) => [column.name, shownCell(cells[at] ?? null, column, currency, zone)]),
  )
}
