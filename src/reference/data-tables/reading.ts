// Converts the bytes of a CSV to rows, piece by piece, and keeps only the notes. Each kind of table checks its own header and rows.
import { CsvFault, CsvReader, type CsvRow, NotUtf8, Utf8Text } from '../../../packages/csv/reader.ts'
import { tooLarge } from '../../kernel/errors.ts'
import { countText } from '../../kernel/text.ts'
import { KEY_SEPARATOR } from '../../product/templates/effects.ts'
import {
  type AnyDeclaration,
  type Column,
  LARGEST_TABLE_BYTES,
  layoutOf,
  MOST_ROWS,
  type ReadLayout,
  type TableKind,
  type TableLayout,
} from './layout.ts'
import { Notes } from './notes.ts'
import { canonicalDecimal, MOST_DECIMAL_DIGITS, sortableDecimal, TYPE_RULES } from './values.ts'

/** Part of a warning and not a problem, because a file with one line may be intended. `curl -d @file` removes the line ends. */
const ONE_LINE =
  'It is a single line; if its line ends were lost in transfer, preserve them (curl: --data-binary).'

const PIECE_BYTES = 65_536

/** Reads one file. The other members are complete after `rows` has yielded all rows. */
export abstract class RowReading<Row> {
  readonly notes = new Notes()
  readonly #empty: string
  #hasHeader = false
  #isReadable = false
  #rowCount = 0
  #rows: Row[] = []

  constructor(empty: string) {
    this.#empty = empty
  }

  /** Returns whether the header is valid, and notes its problems. */
  protected abstract readHeader(cells: string[], line: number): boolean

  /** Returns the row; undefined if it has problems, which are noted. */
  protected abstract readRow(cells: string[], line: number): Row | undefined

  get rowCount(): number {
    return this.#rowCount
  }

  /**
   * Yields the rows without problems, piece by piece. Ends early if the list of problems is full or the text can no longer be read.
   * Rejects with 413 a table over its limits.
   */
  async *rows(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Row[], void, undefined> {
    const text = new Utf8Text()
    const reader = new CsvReader(row => this.#take(row))
    let total = 0
    try {
      for await (const piece of bytes) {
        total += piece.length
        if (total > LARGEST_TABLE_BYTES)
          throw tooLarge(
            `The table has more than ${LARGEST_TABLE_BYTES / 1_048_576} MiB; split it into several tables.`,
          )
        reader.push(text.read(piece))
        if (this.#isOver) return
        yield this.#taken()
      }
      reader.push(text.end())
      reader.end()
    } catch (problem) {
      this.#noteFault(problem, reader)
    }
    this.#noteEmpty(reader)
    yield this.#taken()
  }

  /** Reads a whole file only for its notes, without keeping rows. */
  readWhole(bytes: Uint8Array): void {
    const text = new Utf8Text()
    const reader = new CsvReader(row => this.#take(row))
    try {
      for (let at = 0; at < bytes.length && !this.#isOver; at += PIECE_BYTES) {
        reader.push(text.read(bytes.subarray(at, at + PIECE_BYTES)))
        this.#rows = []
      }
      if (this.#isOver) return
      reader.push(text.end())
      reader.end()
    } catch (problem) {
      this.#noteFault(problem, reader)
    }
    this.#noteEmpty(reader)
  }

  #noteFault(problem: unknown, { line }: CsvReader): void {
    if (problem instanceof CsvFault) this.notes.problem(problem.line, problem.message)
    else if (problem instanceof NotUtf8)
      this.notes.problem(
        line + problem.line,
        'The text is not UTF-8 from this line on; save the file as UTF-8.',
      )
    else throw problem
  }

  #noteEmpty({ line }: CsvReader): void {
    const { notes } = this
    if (!this.#hasHeader && notes.problems.length === 0)
      notes.problem(1, 'The file is empty; its first line must name the columns.')
    if (this.#isReadable && this.#rowCount === 0 && notes.problems.length === 0)
      notes.warn(1, line === 1 ? `${this.#empty} ${ONE_LINE}` : this.#empty)
  }

  get #isOver(): boolean {
    return this.notes.isFull || (this.#hasHeader && !this.#isReadable)
  }

  #taken(): Row[] {
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  #take({ line, cells, fault }: CsvRow): void {
    const { notes } = this
    if (this.#isOver) return
    if (fault !== undefined) notes.problem(line, fault)
    if (!this.#hasHeader) {
      this.#hasHeader = true
      while (cells.length > 1 && cells.at(-1) === '') cells.pop()
      const separator = cells.length === 1 ? /[;\t]/.exec(cells[0]!)?.[0] : undefined
      if (separator !== undefined)
        notes.problem(
          line,
          `Cells are separated by commas, but the header by ${separator === ';' ? 'semicolons' : 'tabs'}; save the file as CSV with commas.`,
        )
      this.#isReadable = fault === undefined && separator === undefined && this.readHeader(cells, line)
      return
    }
    if (fault !== undefined) return
    this.#rowCount += 1
    if (this.#rowCount > MOST_ROWS)
      throw tooLarge(
        `The table has more than ${MOST_ROWS.toLocaleString('en')} rows; split it into several tables.`,
      )
    const row = this.readRow(cells, line)
    if (row !== undefined) this.#rows.push(row)
  }
}

/**
 * Checks that there is one cell of the right type for each column, and notes problems. Removes blank cells beyond the header, which
 * spreadsheets leave. `nul` says why no cell may contain that character.
 */
export function checkCells(
  cells: string[],
  line: number,
  columns: readonly Column[],
  notes: Notes,
  nul: string,
): 'sound' | 'wrong' | 'ragged' {
  while (cells.length > columns.length && cells.at(-1) === '') cells.pop()
  if (cells.length !== columns.length) {
    notes.problem(
      line,
      `The row has ${countText(cells.length, 'cell')}, but the header has ${columns.length}; add or remove commas, or quote cells that contain one.`,
    )
    return 'ragged'
  }
  const before = notes.problems.length
  for (const [at, { name, type }] of columns.entries()) {
    const text = cells[at]!
    const what = text.includes('\0') ? `has a NUL character, ${nul}` : faultOf(type, text)
    if (what !== undefined) notes.problem(line, `The cell '${name}' ${what}.`, { column: name, text })
  }
  return notes.problems.length === before ? 'sound' : 'wrong'
}

const faultOf = (type: Column['type'], text: string): string | undefined =>
  type !== 'string' && text !== '' && TYPE_RULES[type].canonical(text) === undefined
    ? `is not ${TYPE_RULES[type].named}`
    : undefined

/** A row as it is stored. `key` joins the canonical texts of its keys; `start` and `end` are sortable decimals. */
export type TableRow = {
  readonly key: string
  /** Empty in a data table. */
  readonly start: string
  /** Null: no bound. */
  readonly end: string | null
  readonly line: number
  readonly cells: readonly string[]
}

const NUL = 'which cannot be stored'

export class TableReading extends RowReading<TableRow> {
  readonly #kind: TableKind
  readonly #declared: AnyDeclaration | undefined
  #read: ReadLayout | undefined

  constructor(kind: TableKind, declared: AnyDeclaration | undefined) {
    super('The table has no rows below its header.')
    this.#kind = kind
    this.#declared = declared
  }

  protected readHeader(cells: string[], line: number): boolean {
    this.#read = layoutOf(cells, line, this.#kind, this.#declared, this.notes)
    return this.#read !== undefined
  }

  protected readRow(cells: string[], line: number): TableRow | undefined {
    return rowOf(cells, line, this.#read!.layout, this.notes)
  }

  /** Undefined until the header is read, and if the header is invalid. */
  get layout(): TableLayout | undefined {
    return this.#read?.layout
  }

  get isKeyUnique(): boolean {
    return this.#read?.isKeyUnique ?? false
  }
}

/** Returns the row; undefined if it has problems, which are noted. */
export function rowOf(
  cells: string[],
  line: number,
  { columns, keys, range }: TableLayout,
  notes: Notes,
): TableRow | undefined {
  const before = notes.problems.length
  if (checkCells(cells, line, columns, notes, NUL) === 'ragged') return undefined
  const parts = keys.map(at => keyPart(columns[at]!, cells[at]!, line, notes))
  const bounds = range && boundsOf(cells, line, columns, range, notes)
  if (notes.problems.length > before) return undefined
  return { key: parts.join(KEY_SEPARATOR), start: '', end: null, ...bounds, line, cells }
}

function keyPart(
  { name, type }: TableLayout['columns'][number],
  text: string,
  line: number,
  notes: Notes,
): string {
  const cell = { column: name, text }
  if (text === '' && type !== 'string')
    notes.problem(line, `The key '${name}' is empty; a key of this type must have a value.`, cell)
  if (text.includes(KEY_SEPARATOR))
    notes.problem(line, `The key '${name}' contains the control character U+001F; remove it.`, cell)
  return TYPE_RULES[type].canonical(text) ?? ''
}

/** The start and end of a range table's row, as sortable texts. */
function boundsOf(
  cells: readonly string[],
  line: number,
  columns: TableLayout['columns'],
  range: NonNullable<TableLayout['range']>,
  notes: Notes,
): Pick<TableRow, 'start' | 'end'> {
  const sortable = (at: number, isNeeded: boolean): string | null => {
    const [text, column] = [cells[at]!, columns[at]!.name]
    if (text === '') {
      if (isNeeded)
        notes.problem(line, `The bound '${column}' is empty; every row must have one.`, { column, text })
      return null
    }
    const decimal = canonicalDecimal(text)
    if (decimal !== undefined) return sortableDecimal(decimal)
    if (columns[at]!.type !== 'string' && TYPE_RULES[columns[at]!.type].canonical(text) !== undefined)
      notes.problem(
        line,
        `The bound '${column}' is not a decimal number with at most ${MOST_DECIMAL_DIGITS} digits before and after the point.`,
        { column, text },
      )
    return null
  }
  const start = sortable(range.start, true) ?? ''
  const end = range.end === undefined ? null : sortable(range.end, false)
  if (end !== null && start !== '' && end < start)
    notes.problem(line, 'The range ends before it begins; swap its bounds.')
  return { start, end }
}
