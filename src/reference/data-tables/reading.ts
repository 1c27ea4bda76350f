// From the bytes of a CSV to rows that can be looked up; nothing is kept but the notes.
import type { RangeTableDeclaration, TableDeclaration } from '../../product/resources.ts'
import { KEY_SEPARATOR } from '../../product/templates/effects.ts'
import { layoutOf, type ReadLayout, type TableKind, type TableLayout } from './layout.ts'
import { Notes } from './notes.ts'
import { checkCells, RowReading } from './row-reading.ts'
import { canonicalDecimal, MOST_DECIMAL_DIGITS, sortableDecimal, TYPE_RULES } from './values.ts'

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

const NUL = 'which cannot be kept'

/** The reading of one file. `rows` gives its rows; the rest is known when they have come to their end. */
export class TableReading {
  readonly notes = new Notes()
  readonly #rows: RowReading<TableRow>
  #read: ReadLayout | undefined

  constructor(kind: TableKind, declared: TableDeclaration | RangeTableDeclaration | undefined) {
    const { notes } = this
    this.#rows = new RowReading({
      notes,
      header: (cells, line) => {
        this.#read = layoutOf(cells, line, kind, declared, notes)
        return this.#read !== undefined
      },
      row: (cells, line) => rowOf(cells, line, this.#read!.layout, notes),
      empty: 'The table has no rows below its header.',
    })
  }

  /** Undefined while the header has not been read, or makes no sense. */
  get layout(): TableLayout | undefined {
    return this.#read?.layout
  }

  get isKeyUnique(): boolean {
    return this.#read?.isKeyUnique ?? false
  }

  get rowCount(): number {
    return this.#rows.rowCount
  }

  /** As of `RowReading`. */
  rows(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TableRow[], void, undefined> {
    return this.#rows.rows(bytes)
  }
}

/** The row, or undefined with its problems noted. */
function rowOf(
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
