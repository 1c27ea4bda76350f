import { CsvFault, CsvReader, type CsvRow } from '../../../packages/csv/reader.ts'
import { countText } from '../../kernel/text.ts'
import type { ArchiveFile } from '../archive/read.ts'
import { isLookupTable, type LookupTable } from '../configuration.ts'
import { type Archive, readText } from './archive.ts'
import { type ArchiveReport, LARGEST_WORK } from './report.ts'

type Tables = {
  byProduct: Map<string, Map<string, LookupTable>>
  /** If several products have a table of that name, that of the product whose paths come first. */
  ofTenant: Map<string, LookupTable>
}

/**
 * Reads the CSV files of each product's `tables` folder; the name of a table is its file name without `.csv`. Reports unreadable
 * tables as errors, and tables of one name that differ between products as a warning. An unreadable table is replaced by an empty
 * one.
 */
export function readTables(productNames: readonly string[], archive: Archive): Tables {
  const tables: Tables = { byProduct: new Map(), ofTenant: new Map() }
  for (const product of productNames) {
    const folder = `products/${product}/policy/tables`
    const own = new Map<string, LookupTable>()
    for (const fileName of archive.namesIn(folder)) {
      if (!fileName.toLowerCase().endsWith('.csv')) continue
      const name = fileName.slice(0, -'.csv'.length)
      const path = `${folder}/${fileName}`
      // Stands in for an unreadable table, so that references to it are not reported as missing.
      const unreadable = { path, columns: ['key', 'value'], rows: [] }
      const table = readTable(archive.take(path)!, archive.report) ?? unreadable
      own.set(name, table)
      const first = tables.ofTenant.get(name) ?? table
      tables.ofTenant.set(name, first)
      const message = `'${first.path}' has different contents. Each product uses its own table; products without one use the first. Rename one to tell them apart.`
      if (table.rows.length > 0 && first.rows.length > 0 && !haveEqualContent(first, table))
        archive.report.at({ path }).warning('tablesDiffer', message)
    }
    tables.byProduct.set(product, own)
  }
  return tables
}

const haveEqualContent = (a: LookupTable, b: LookupTable): boolean =>
  a === b ||
  (a.rows.length === b.rows.length &&
    a.columns.join() === b.columns.join() &&
    a.rows.every((row, index) => row.every((cell, column) => cell === b.rows[index]![column])))

/** Reads a CSV table (brief 5.1, resources brief 1.2 and 1.6). Returns undefined if it has problems, which are reported. */
function readTable(file: ArchiveFile, report: ArchiveReport): LookupTable | undefined {
  const { path } = file
  const text = readText(file, report)
  const found = text === undefined ? undefined : readRows(path, text, report)
  if (found === undefined) return undefined
  const { rows: read, isSound } = found
  const header = read.shift()
  if (header === undefined) {
    const message = 'The table is empty. Its first line must name the columns.'
    if (isSound) report.at({ path }).error('badTable', message)
    return undefined
  }
  const columns = readColumns(path, header, report)
  if (columns === undefined) return undefined
  const delimiter = wrongDelimiter(columns)
  const oneColumn = `The columns are separated by ${delimiter}, so the table has only one column. Separate them with commas.`
  if (delimiter !== undefined) report.at({ path, line: header.line }).warning('wrongDelimiter', oneColumn)
  const misfits = read.filter(row => !fitsColumns(row, columns.length, path, report))
  if (!isSound || misfits.length > 0) return undefined
  if (read.length === 0)
    report.at({ path, line: 1 }).warning('emptyTable', 'The table has no rows below its header.')
  if (isLookupTable(columns)) warnOfRepeatedKeys(path, read, columns.indexOf('key'), report)
  const isPlain = read.every(({ line }, at) => line === at + 2)
  const rows = read.map(({ cells }) => cells)
  return { path, columns, rows, ...(!isPlain && { lines: read.map(({ line }) => line) }) }
}

/** Whether the row has one cell for each column. Removes empty cells at its end. */
function fitsColumns({ line, cells }: CsvRow, count: number, path: string, report: ArchiveReport): boolean {
  while (cells.length > count && cells.at(-1) === '') cells.pop()
  if (cells.length === count) return true
  const message = `The row has ${countText(cells.length, 'cell')}, but the header has ${count}. Add or remove commas, or quote cells that contain one.`
  report.at({ path, line }).error('badTable', message)
  return false
}

/** The rows before the first unreadable one. If `isSound` is false, a problem was reported. */
type Rows = { readonly rows: CsvRow[]; readonly isSound: boolean }

function readRows(path: string, text: string, report: ArchiveReport): Rows | undefined {
  const rows: CsvRow[] = []
  let isSound = true
  const take = (row: CsvRow): void => {
    if (!report.afford('tableCells', row.cells.length)) throw new TooManyCells()
    rows.push(row)
    if (row.fault === undefined) return
    isSound = false
    report.at({ path, line: row.line }).error('badTable', row.fault)
  }
  const reader = new CsvReader(take, { keepsLeadingBlanks: true })
  try {
    reader.push(text)
    reader.end()
    return { rows, isSound }
  } catch (problem) {
    if (problem instanceof TooManyCells) {
      const message = `With this table the archive has more than ${LARGEST_WORK.tableCells} table cells. Upload large tables as resources.`
      report.at({ path }).error('tableTooLarge', message)
      return undefined
    }
    if (!(problem instanceof CsvFault)) throw problem
    const { line, message, isTooLarge } = problem
    report.at({ path, line }).error(isTooLarge ? 'tableTooLarge' : 'badTable', message)
    return isTooLarge ? undefined : { rows, isSound: false }
  }
}

class TooManyCells extends Error {}

const DELIMITERS: Readonly<Record<string, string>> = { ';': 'semicolons', '\t': 'tabs', '|': 'bars' }

/** The separator of a header that reads as a single column; undefined if there is none. */
export function wrongDelimiter(columns: readonly string[]): string | undefined {
  const [only, ...others] = columns
  if (only === undefined || others.length > 0) return undefined
  const found = Object.keys(DELIMITERS).find(one => only.includes(one))
  return found && DELIMITERS[found]
}

/** The separator that Excel reads the file with. If it is a comma, it reads as an empty second cell. */
const OF_EXCEL = /^sep=\S?$/i

function readColumns(path: string, header: CsvRow, report: ArchiveReport): string[] | undefined {
  const own = report.at({ path, line: header.line })
  const columns = header.cells.map(cell => cell.trim())
  while (columns.at(-1) === '') columns.pop()
  if (columns.length === 1 && OF_EXCEL.test(columns[0]!)) {
    own.error(
      'badTable',
      `The line '${columns[0]}' is an instruction to Excel. Remove it: the first line must name the columns, separated by commas.`,
    )
    return undefined
  }
  const repeated = columns.find((column, index) => columns.indexOf(column) !== index)
  if (columns.includes('') || repeated !== undefined) {
    const message = repeated
      ? `The header contains the column '${repeated}' twice. Rename one of them.`
      : 'A column has no name. Name it in the header.'
    own.error('badTable', message)
    return undefined
  }
  const lower = columns.map(column => column.toLowerCase())
  if (lower.length !== 2 || !isLookupTable(lower) || isLookupTable(columns)) return columns
  own.warning(
    'headerCase',
    `The header '${columns.join(',')}' is read as 'key,value'. Write it in lower case.`,
  )
  return lower
}

function warnOfRepeatedKeys(
  path: string,
  rows: readonly CsvRow[],
  keyColumn: number,
  report: ArchiveReport,
): void {
  const firstLines = new Map<string, number>()
  for (const { line, cells } of rows) {
    const key = cells[keyColumn]!
    const first = firstLines.get(key) ?? line
    firstLines.set(key, first)
    if (first === line) continue
    const message = `The key '${key}' is already in line ${first}, which counts. Remove one of the two rows.`
    report.at({ path, line }).warning('duplicateTableKey', message)
  }
}
