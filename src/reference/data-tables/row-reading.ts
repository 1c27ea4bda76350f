// From the bytes of a CSV to rows, one piece after the other; nothing is kept but the notes. What a header and a row must
// be, each kind of table says.
import { CsvFault, CsvReader, type CsvRow, NotUtf8, Utf8Text } from '../../../packages/csv/reader.ts'
import { tooLarge } from '../../kernel/errors.ts'
import { type Column, LARGEST_TABLE_BYTES, MOST_ROWS } from './layout.ts'
import type { Notes } from './notes.ts'
import { TYPE_RULES } from './values.ts'

type RowRules<Row> = {
  readonly notes: Notes
  /** Whether the header makes sense; notes why not. */
  readonly header: (cells: string[], line: number) => boolean
  /** The row, or undefined with its problems noted. */
  readonly row: (cells: string[], line: number) => Row | undefined
  /** What is said of a table without rows. */
  readonly empty: string
}

/** What comes of `curl -d @file`, and may be meant all the same. */
const ONE_LINE = 'It is one line; if its line ends were lost on the way, send them (curl: --data-binary).'

/** The reading of one file. `rows` gives its rows; the rest is known when they have come to their end. */
export class RowReading<Row> {
  readonly #rules: RowRules<Row>
  #hasHeader = false
  #isReadable = false
  #rowCount = 0
  #rows: Row[] = []

  constructor(rules: RowRules<Row>) {
    this.#rules = rules
  }

  get rowCount(): number {
    return this.#rowCount
  }

  /**
   * The rows without problems, those of each piece together. Ends early when so many problems are noted that no
   * more are listed, or when the text makes no sense any more. Refuses (413) a table over its limits.
   */
  async *rows(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Row[], void, undefined> {
    const { notes, empty } = this.#rules
    const text = new Utf8Text()
    const reader = new CsvReader(row => this.#take(row))
    let total = 0
    try {
      for await (const piece of bytes) {
        total += piece.length
        if (total > LARGEST_TABLE_BYTES)
          throw tooLarge(
            `The table has more than ${LARGEST_TABLE_BYTES / 1_048_576} MiB; split it over several tables.`,
          )
        reader.push(text.read(piece))
        if (this.#isOver) return
        yield this.#taken()
      }
      reader.push(text.end())
      reader.end()
    } catch (problem) {
      if (problem instanceof CsvFault) notes.problem(problem.line, problem.message)
      else if (problem instanceof NotUtf8)
        notes.problem(
          reader.line + problem.line,
          'The text is not UTF-8 from this line on; save the file as UTF-8.',
        )
      else throw problem
    }
    if (!this.#hasHeader && notes.problems.length === 0)
      notes.problem(1, 'The file is empty; its first line names the columns.')
    if (this.#isReadable && this.#rowCount === 0 && notes.problems.length === 0)
      notes.warn(1, reader.line === 1 ? `${empty} ${ONE_LINE}` : empty)
    yield this.#taken()
  }

  get #isOver(): boolean {
    return this.#rules.notes.isFull || (this.#hasHeader && !this.#isReadable)
  }

  #taken(): Row[] {
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  #take({ line, cells, fault }: CsvRow): void {
    const { notes, header, row } = this.#rules
    if (this.#isOver) return
    if (fault !== undefined) notes.problem(line, fault)
    if (!this.#hasHeader) {
      this.#hasHeader = true
      while (cells.length > 1 && cells.at(-1) === '') cells.pop()
      const separator = cells.length === 1 ? /[;\t]/.exec(cells[0]!)?.[0] : undefined
      if (separator !== undefined)
        notes.problem(
          line,
          `Cells are separated by commas, and the header by ${separator === ';' ? 'semicolons' : 'tabs'}; save the file as CSV with commas.`,
        )
      this.#isReadable = fault === undefined && separator === undefined && header(cells, line)
      return
    }
    if (fault !== undefined) return
    this.#rowCount += 1
    if (this.#rowCount > MOST_ROWS)
      throw tooLarge(
        `The table has more than ${MOST_ROWS.toLocaleString('en')} rows; split it over several tables.`,
      )
    const made = row(cells, line)
    if (made !== undefined) this.#rows.push(made)
  }
}

/**
 * Whether the cells are one for each column, each of its type; notes what is wrong. Blank cells beyond the header are what
 * spreadsheets leave behind. `nul`: why no cell may have that character.
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
      `The row has ${cells.length} cells, the header ${columns.length}; add or remove commas, or quote cells that contain one.`,
    )
    return 'ragged'
  }
  const before = notes.problems.length
  for (const [at, { name, type }] of columns.entries()) {
    const text = cells[at]!
    const what = text.includes('\0')
      ? `has a NUL character, ${nul}`
      : type !== 'string' && text !== '' && TYPE_RULES[type].canonical(text) === undefined
        ? `is not ${TYPE_RULES[type].named}`
        : undefined
    if (what !== undefined) notes.problem(line, `The cell '${name}' ${what}.`, { column: name, text })
  }
  return notes.problems.length === before ? 'sound' : 'wrong'
}
