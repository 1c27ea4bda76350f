import { CsvFault, CsvReader, type CsvRow } from '../../../packages/csv/reader.ts'
import type { ArchiveFile } from '../archive/read.ts'
import { isLookupTable, type LookupTable } from '../configuration.ts'
import { readText } from './json/decode.ts'
import { LARGEST_WORK, type Report } from './report.ts'

/** A CSV table (brief 5.1, resources brief 1.2 and 1.6), or undefined with every problem of it reported. */
export function readTable(file: ArchiveFile, report: Report): LookupTable | undefined {
  const text = readText(file, report)
  const found = text === undefined ? undefined : readRows(file.path, text, report)
  if (found === undefined) return undefined
  const { rows: read, isSound } = found
  const header = read.shift()
  if (header === undefined) {
    if (!isSound) return undefined
    report.error({ path: file.path }, 'badTable', 'The table is empty. Its first line must name the columns.')
    return undefined
  }
  const columns = readColumns(file.path, header, report)
  if (columns === undefined) return undefined
  const rows: string[][] = []
  let sound = isSound
  for (const { line, cells } of read) {
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
  if (isLookupTable(columns)) warnOfRepeatedKeys(file.path, read, columns.indexOf('key'), report)
  return { path: file.path, columns, rows }
}

/** The rows before the text stops making sense. Not `isSound`: a problem is reported. */
type Rows = { readonly rows: CsvRow[]; readonly isSound: boolean }

function readRows(path: string, text: string, report: Report): Rows | undefined {
  const rows: CsvRow[] = []
  let isSound = true
  const reader = new CsvReader(
    row => {
      if (!report.afford('tableCells', row.cells.length)) throw new TooManyCells()
      rows.push(row)
      if (row.fault === undefined) return
      isSound = false
      report.error({ path, line: row.line }, 'badTable', row.fault)
    },
    { keepsLeadingBlanks: true },
  )
  try {
    reader.push(text)
    reader.end()
    return { rows, isSound }
  } catch (problem) {
    if (problem instanceof TooManyCells) {
      report.error(
        { path },
        'tableTooLarge',
        `With this table the archive has more than ${LARGEST_WORK.tableCells} table cells. Upload large tables as resources.`,
      )
      return undefined
    }
    if (!(problem instanceof CsvFault)) throw problem
    const { line, message, isTooLarge } = problem
    report.error({ path, line }, isTooLarge ? 'tableTooLarge' : 'badTable', message)
    return isTooLarge ? undefined : { rows, isSound: false }
  }
}

class TooManyCells extends Error {}

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
