import { CsvError, parse } from 'csv-parse/sync'
import { isLongerThan } from '../../kernel/text.ts'
import type { ArchiveFile } from '../archive/read.ts'
import { isLookupTable, type LookupTable } from '../configuration.ts'
import { readText } from './json/decode.ts'
import { LARGEST_WORK, type Report } from './report.ts'

/** Columns of one table and characters of one cell (resources brief 1.2). */
export const MOST_COLUMNS = 200
export const LONGEST_CELL = 8_192

/** A CSV table (brief 5.1, resources brief 1.2 and 1.6), or undefined with every problem of it reported. */
export function readTable(file: ArchiveFile, report: Report): LookupTable | undefined {
  const text = readText(file, report)
  const read = text === undefined ? undefined : readRecords(file.path, text, report)
  if (read === undefined) return undefined
  const { records, isWhole } = read
  const header = records.shift()
  if (header === undefined) {
    if (!isWhole) return undefined
    report.error({ path: file.path }, 'badTable', 'The table is empty. Its first line must name the columns.')
    return undefined
  }
  const columns = readColumns(file.path, header, report)
  if (columns === undefined) return undefined
  const rows: string[][] = []
  let sound = isWhole
  for (const { line, cells } of records) {
    while (cells.length > columns.length && cells.at(-1) === '') cells.pop()
    if (cells.length !== columns.length) {
      sound = false
      report.error(
        { path: file.path, line },
        'badTable',
        `The row has ${cells.length} cells, the header ${columns.length}. Add or remove commas, or quote cells that contain one.`,
      )
    } else rows.push(cells)
  }
  if (!sound) return undefined
  if (rows.length === 0)
    report.warning({ path: file.path, line: 1 }, 'emptyTable', 'The table has no rows below its header.')
  if (isLookupTable(columns)) warnOfRepeatedKeys(file.path, records, columns.indexOf('key'), report)
  return { path: file.path, columns, rows }
}

/** The parser makes an error, with its stack, for every row that is not as long as the first. */
const UNEVEN_ROW_WORK = 20

type CsvRow = { line: number; cells: string[] }

/** `isWhole` is false when the text stops making sense; the rows are those before. */
type Records = { records: CsvRow[]; isWhole: boolean }

function readRecords(path: string, text: string, report: Report): Records | undefined {
  const rows: CsvRow[] = []
  let line = 1
  let columnCount: number | undefined
  let isWhole = true
  try {
    parse(text, {
      relax_column_count: true,
      relax_quotes: true,
      rtrim: true,
      skip_empty_lines: true,
      max_record_size: MOST_COLUMNS * LONGEST_CELL,
      on_record: (cells: string[], { lines }) => {
        line = lines + 1
        columnCount ??= cells.length
        const work = cells.length + (cells.length === columnCount ? 0 : UNEVEN_ROW_WORK)
        if (!report.afford('tableCells', work)) throw new TooManyCells()
        const trimmed = cells.map(cell => cell.trimEnd())
        if (trimmed.some(cell => cell !== '')) rows.push({ line: firstLine(cells, lines), cells: trimmed })
        return null
      },
    })
  } catch (error) {
    if (error instanceof TooManyCells) {
      report.error(
        { path },
        'tableTooLarge',
        `With this table the archive has more than ${LARGEST_WORK.tableCells} table cells. Upload large tables as resources.`,
      )
      return undefined
    }
    if (!(error instanceof CsvError)) throw error
    report.error(
      { path, line },
      'badTable',
      `The table does not parse from here on: ${error.message.replace(/\s+/g, ' ')}`,
    )
    isWhole = false
  }
  const longest = rows.find(({ cells }) => cells.length > MOST_COLUMNS || cells.some(isTooLong))
  if (longest === undefined) return { records: rows, isWhole }
  report.error(
    { path, line: longest.line },
    'tableTooLarge',
    `The row has more than ${MOST_COLUMNS} cells or a cell of more than ${LONGEST_CELL} characters.`,
  )
  return undefined
}

const firstLine = (cells: readonly string[], lastLine: number): number =>
  cells.reduce((line, cell) => line - (cell.split('\n').length - 1), lastLine)

class TooManyCells extends Error {}

const isTooLong = (cell: string): boolean => isLongerThan(cell, LONGEST_CELL)

function readColumns(path: string, header: CsvRow, report: Report): string[] | undefined {
  const place = { path, line: header.line }
  const columns = header.cells.map(cell => cell.trim())
  while (columns.at(-1) === '') columns.pop()
  const repeated = columns.find((column, index) => columns.indexOf(column) !== index)
  if (columns.includes('') || repeated !== undefined) {
    report.error(
      place,
      'badTable',
      repeated
        ? `The header names the column '${repeated}' twice. Rename one of them.`
        : 'A column has no name. Name it in the header.',
    )
    return undefined
  }
  const lower = columns.map(column => column.toLowerCase())
  if (lower.length === 2 && isLookupTable(lower) && !isLookupTable(columns)) {
    report.warning(
      place,
      'headerCase',
      `The header '${columns.join(',')}' is read as 'key,value'. Write it in lower case.`,
    )
    return lower
  }
  return columns
}

function warnOfRepeatedKeys(path: string, rows: readonly CsvRow[], keyColumn: number, report: Report): void {
  const firstLines = new Map<string, number>()
  for (const { line, cells } of rows) {
    const key = cells[keyColumn]!
    const first = firstLines.get(key)
    if (first === undefined) firstLines.set(key, line)
    else
      report.warning(
        { path, line },
        'duplicateTableKey',
        `The key '${key}' stands in line ${first} already, which counts. Remove one of the two rows.`,
      )
  }
}
