// Checks tables for cells that arithmetic cannot read, rows that nothing looks up, and missing rows.
import { isLookupTable, type LookupTable, lineOfRow } from '../../configuration.ts'
import type { FindingCode } from '../report.ts'
import { isNumeric } from './domains.ts'
import { malformedNumberAdvice } from './number-slips.ts'
import type { LookUp } from './source.ts'

/** Reports a problem of a row. `row` counts from 0 and is undefined for the header. */
export type TableAlarm = (code: FindingCode, row: number | undefined, message: string) => void

type Summed = { readonly path: string; readonly line: number } | undefined

/** Reports cells that are not numbers in columns of numbers. `summed` is where arithmetic uses the value column. */
export function checkNumbers(table: LookupTable, summed: Summed, alarm: TableAlarm): void {
  const isLookup = isLookupTable(table.columns)
  for (const [column, name] of table.columns.entries())
    if (isLookup ? name === 'value' : column > 0)
      checkColumn(table, column, isLookup ? summed : undefined, alarm)
}

function checkColumn(
  { columns, rows }: LookupTable,
  column: number,
  summed: Summed,
  alarm: TableAlarm,
): void {
  const cellOf = (row: number): string => rows[row]![column]!
  const adviceForRow = (row: number): string | undefined => malformedNumberAdvice(cellOf(row))
  const wrong = [...rows.keys()].filter(row => !isNumeric(cellOf(row)))
  if (wrong.length === 0) return
  const where = summed ? `, and ${summed.path}:${summed.line} adds it up` : ''
  if (summed && wrong.length === rows.length && !wrong.some(adviceForRow)) {
    const message = `The column '${columns[column]}' is text${where}: it counts as 0. Write numbers, or look up a different column.`
    alarm('textInSum', undefined, message)
    return
  }
  // A column of codes is not a column of numbers because some codes are digits.
  const isOfNumbers = summed || wrong.every(adviceForRow) || isMostlyNumbers(wrong.length, rows.length)
  if (!isOfNumbers) return
  for (const row of wrong) {
    const [cell, slip] = [cellOf(row), adviceForRow(row)]
    const shown = cell === '' ? 'The cell is empty' : `'${cell}' is text`
    if (slip) alarm('badNumber', row, `'${cell}' is not a number${where}: it counts as 0. ${slip}`)
    else if (summed) alarm('textInSum', row, `${shown}${where}: it counts as 0. Write a number.`)
  }
}

const isMostlyNumbers = (wrong: number, all: number): boolean => wrong * 2 < all

/** Reports keys with surrounding blanks, unless a look-up has the same blanks. */
export function checkKeyBlanks(
  { columns, rows }: LookupTable,
  lookUps: readonly LookUp[],
  alarm: TableAlarm,
): void {
  const column = columns.indexOf('key')
  const asked = new Set(lookUps.flatMap(one => one.keys ?? []))
  for (const [row, cells] of rows.entries()) {
    const key = cells[column]!
    if (key === key.trim() || asked.has(key)) continue
    const message = `The key '${key}' has a blank before or after it, so nothing finds the row. Remove the blank.`
    alarm('rowNeverMatches', row, message)
  }
}

const MOST_LISTED = 10

/** Reports keys that a look-up needs and the table lacks. The finding is placed where the rows belong: at the end. */
export function checkMissingRows(
  name: string,
  table: LookupTable,
  lookUps: readonly LookUp[],
  alarm: TableAlarm,
): void {
  const column = table.columns.indexOf('key')
  const keys = new Set(table.rows.map(row => row[column]!))
  const missing = new Map<string, LookUp>()
  for (const one of lookUps)
    for (const key of one.keys ?? []) if (!keys.has(key) && !missing.has(key)) missing.set(key, one)
  const [first] = missing.values()
  if (!first) return
  const all = [...missing.keys()]
  const listed = all.slice(0, MOST_LISTED).map(key => `'${key}'`)
  const more = all.length > MOST_LISTED ? ` and ${all.length - MOST_LISTED} more` : ''
  const message = `The table '${name}' has no row for ${listed.join(', ')}${more}, which ${first.path}:${first.line} looks up. Add ${all.length === 1 ? 'the row' : 'the rows'}.`
  alarm('missingRow', table.rows.length - 1, message)
}

/** Reports rows whose keys no look-up can have. Only reports if every look-up of the table is known. */
export function checkUnmatchedRows(
  { columns, rows }: LookupTable,
  lookUps: readonly LookUp[],
  suggestion: (key: string, known: readonly string[]) => string,
  alarm: TableAlarm,
): void {
  if (lookUps.length === 0 || lookUps.some(one => one.keys === undefined)) return
  const column = columns.indexOf('key')
  const asked = new Set(lookUps.flatMap(one => one.keys ?? []))
  const byLower = new Map([...asked].map(key => [key.toLowerCase(), key]))
  for (const [row, cells] of rows.entries()) {
    const key = cells[column]!
    if (asked.has(key) || key !== key.trim()) continue
    const otherCase = byLower.get(key.toLowerCase())
    const advice =
      otherCase === undefined
        ? `Correct the key, or remove the row.${suggestion(key, [...asked])}`
        : `Write it in the same case: '${otherCase}'.`
    const { path, line } = lookUps[0]!
    const message = `Nothing looks up '${key}': ${path}:${line} never requests it. ${advice}`
    alarm('rowNeverMatches', row, message)
  }
}

/** The line of a row or, if `row` is undefined, of the header. */
export const lineOf = (table: LookupTable, row: number | undefined): number =>
  row === undefined || row < 0 ? 1 : lineOfRow(table, row)
