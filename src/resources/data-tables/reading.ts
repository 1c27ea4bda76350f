// From the bytes of a CSV to rows that can be looked up, one piece after the other; nothing is kept but the notes.
import { Refusal } from '../../platform/errors.ts'
import { CsvFault, CsvReader, type CsvRow } from './csv/reader.ts'
import { NotUtf8, Utf8Text } from './csv/text.ts'
import { canonicalDecimal, MOST_DECIMAL_DIGITS, sortableDecimal } from './decimals.ts'
import type { RangeTableDeclaration, TableDeclaration } from './declaration.ts'
import { layoutOf, type ReadLayout, type TableKind, type TableLayout } from './layout.ts'
import { LARGEST_TABLE_BYTES, MOST_ROWS } from './limits.ts'
import { Notes } from './notes.ts'
import { KEY_SEPARATOR, TYPE_RULES } from './values.ts'

/** A row as it is stored. `key` joins the canonical texts of its keys; `start` and `end` are sortable decimals. */
export type TableRow = {
  readonly key: string
  /** Empty in a data table. */
  readonly start: string
  /** Null: without bound. */
  readonly end: string | null
  readonly line: number
  readonly cells: readonly string[]
}

/** The reading of one file. `rows` gives its rows; the rest is known when they have come to their end. */
export class TableReading {
  readonly notes = new Notes()
  readonly #kind: TableKind
  readonly #declared: TableDeclaration | RangeTableDeclaration | undefined
  #read: ReadLayout | undefined
  #hasHeader = false
  #rowCount = 0
  #rows: TableRow[] = []

  constructor(kind: TableKind, declared: TableDeclaration | RangeTableDeclaration | undefined) {
    this.#kind = kind
    this.#declared = declared
  }

  /** Undefined while the header has not been read, or makes no sense. */
  get layout(): TableLayout | undefined {
    return this.#read?.layout
  }

  get isKeyUnique(): boolean {
    return this.#read?.isKeyUnique ?? false
  }

  get rowCount(): number {
    return this.#rowCount
  }

  /**
   * The rows without problems, those of each piece together. Ends early when so many problems are noted that no
   * more are listed, or when the text makes no sense any more. Refuses (413) a table over its limits.
   */
  async *rows(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TableRow[], void, undefined> {
    const text = new Utf8Text()
    const reader = new CsvReader(row => this.#take(row))
    let total = 0
    try {
      for await (const piece of bytes) {
        total += piece.length
        if (total > LARGEST_TABLE_BYTES)
          throw new Refusal(
            'tooLarge',
            `The table has more than ${LARGEST_TABLE_BYTES / 1_048_576} MiB; split it over several tables.`,
          )
        reader.push(text.read(piece))
        if (this.notes.isFull || this.#isUnreadable) return
        yield this.#taken()
      }
      reader.push(text.end())
      reader.end()
    } catch (problem) {
      if (problem instanceof CsvFault) this.notes.problem(problem.line, problem.message)
      else if (problem instanceof NotUtf8)
        this.notes.problem(
          reader.line + problem.line,
          'The text is not UTF-8 from this line on; save the file as UTF-8.',
        )
      else throw problem
    }
    if (!this.#hasHeader && this.notes.problems.length === 0)
      this.notes.problem(1, 'The file is empty; its first line names the columns.')
    if (this.#read && this.#rowCount === 0 && this.notes.problems.length === 0)
      this.notes.warn(1, 'The table has no rows below its header.')
    yield this.#taken()
  }

  get #isUnreadable(): boolean {
    return this.#hasHeader && this.#read === undefined
  }

  #taken(): TableRow[] {
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  #take({ line, cells, fault }: CsvRow): void {
    if (this.notes.isFull || this.#isUnreadable) return
    if (fault !== undefined) this.notes.problem(line, fault)
    if (!this.#hasHeader) {
      this.#hasHeader = true
      while (cells.length > 1 && cells.at(-1) === '') cells.pop()
      if (fault === undefined) this.#read = layoutOf(cells, line, this.#kind, this.#declared, this.notes)
      return
    }
    if (!this.#read || fault !== undefined) return
    this.#rowCount += 1
    if (this.#rowCount > MOST_ROWS)
      throw new Refusal(
        'tooLarge',
        `The table has more than ${MOST_ROWS.toLocaleString('en')} rows; split it over several tables.`,
      )
    const row = rowOf(cells, line, this.#read.layout, this.notes)
    if (row) this.#rows.push(row)
  }
}

/** The row, or undefined with its problems noted. Blank cells beyond the header are what spreadsheets leave behind. */
function rowOf(
  cells: string[],
  line: number,
  { columns, keys, range }: TableLayout,
  notes: Notes,
): TableRow | undefined {
  while (cells.length > columns.length && cells.at(-1) === '') cells.pop()
  if (cells.length !== columns.length) {
    notes.problem(
      line,
      `The row has ${cells.length} cells, the header ${columns.length}; add or remove commas, or quote cells that contain one.`,
    )
    return undefined
  }
  const before = notes.problems.length
  for (const [at, { name, type }] of columns.entries()) {
    const text = cells[at]!
    const what = text.includes('\0')
      ? 'has a NUL character, which cannot be kept'
      : type !== 'string' && text !== '' && TYPE_RULES[type].canonical(text) === undefined
        ? `is not ${TYPE_RULES[type].named}`
        : undefined
    if (what !== undefined) notes.problem(line, `The cell '${name}' ${what}.`, { column: name, text })
  }
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
  if (text === '' && type !== 'string')
    notes.problem(line, `The key '${name}' is empty; a key of this type has a value.`, { column: name, text })
  if (text.includes(KEY_SEPARATOR))
    notes.problem(line, `The key '${name}' has the control character U+001F; remove it.`, {
      column: name,
      text,
    })
  return TYPE_RULES[type].canonical(text) ?? ''
}

/** Start and end of a row of a range table, as sortable texts. */
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
        notes.problem(line, `The bound '${column}' is empty; every row has one.`, { column, text })
      return null
    }
    const decimal = canonicalDecimal(text)
    if (decimal !== undefined) return sortableDecimal(decimal)
    if (columns[at]!.type !== 'string' && TYPE_RULES[columns[at]!.type].canonical(text) !== undefined)
      notes.problem(
        line,
        `The bound '${column}' is no decimal number of at most ${MOST_DECIMAL_DIGITS} digits on either side of the point.`,
        { column, text },
      )
    return null
  }
  const start = sortable(range.start, true) ?? ''
  const end = range.end === undefined ? null : sortable(range.end, false)
  if (end !== null && start !== '' && end < start)
    notes.problem(line, 'The range ends before it begins; exchange its bounds.')
  return { start, end }
}
