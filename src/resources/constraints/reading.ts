// From the bytes of a CSV to the rows of a constraint table, one piece after the other; nothing is kept but the notes.
import { Refusal } from '../../platform/errors.ts'
import { CsvFault, CsvReader, type CsvRow } from '../data-tables/csv/reader.ts'
import { NotUtf8, Utf8Text } from '../data-tables/csv/text.ts'
import type { ConstraintTableDeclaration } from '../data-tables/declaration.ts'
import { type Column, layoutOf } from '../data-tables/layout.ts'
import { LARGEST_TABLE_BYTES, MOST_ROWS } from '../data-tables/limits.ts'
import { Notes } from '../data-tables/notes.ts'
import { TYPE_RULES } from '../data-tables/values.ts'

/** The reading of one file. `rows` gives the cells of its rows; the rest is known when they have come to their end. */
export class ConstraintReading {
  readonly notes = new Notes()
  readonly #declared: ConstraintTableDeclaration | undefined
  #columns: readonly Column[] | undefined
  #hasHeader = false
  #rowCount = 0
  #rows: string[][] = []

  constructor(declared: ConstraintTableDeclaration | undefined) {
    this.#declared = declared
  }

  /** Undefined while the header has not been read, or makes no sense. */
  get columns(): readonly Column[] | undefined {
    return this.#columns
  }

  /**
   * The rows without problems, those of each piece together. Ends early when no more problems are listed, or when the
   * text makes no sense any more. Refuses (413) a table over its limits.
   */
  async *rows(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string[][], void, undefined> {
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
        if (this.#isOver) return
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
    if (this.#columns && this.#rowCount === 0 && this.notes.problems.length === 0)
      this.notes.warn(1, 'The table has no rows below its header, so that it allows nothing.')
    yield this.#taken()
  }

  get #isOver(): boolean {
    return this.notes.isFull || (this.#hasHeader && this.#columns === undefined)
  }

  #taken(): string[][] {
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  #take({ line, cells, fault }: CsvRow): void {
    if (this.#isOver) return
    if (fault !== undefined) this.notes.problem(line, fault)
    if (!this.#hasHeader) {
      this.#hasHeader = true
      while (cells.length > 1 && cells.at(-1) === '') cells.pop()
      if (fault === undefined) this.#columns = columnsOf(cells, line, this.#declared, this.notes)
      return
    }
    if (!this.#columns || fault !== undefined) return
    this.#rowCount += 1
    if (this.#rowCount > MOST_ROWS)
      throw new Refusal(
        'tooLarge',
        `The table has more than ${MOST_ROWS.toLocaleString('en')} rows; split it over several tables.`,
      )
    if (isSound(cells, line, this.#columns, this.notes)) this.#rows.push(cells)
  }
}

/** A constraint table has no keys; all else of its header is that of a data table. */
function columnsOf(
  header: readonly string[],
  line: number,
  declared: ConstraintTableDeclaration | undefined,
  notes: Notes,
): readonly Column[] | undefined {
  const asTable = declared && {
    ...declared,
    columns: declared.columns.map(({ name, dataType }) => ({ name, dataType, isKey: false })),
  }
  return layoutOf(header, line, 'table', asTable, notes)?.layout.columns
}

/** Blank cells beyond the header are what spreadsheets leave behind. */
function isSound(cells: string[], line: number, columns: readonly Column[], notes: Notes): boolean {
  while (cells.length > columns.length && cells.at(-1) === '') cells.pop()
  if (cells.length !== columns.length) {
    notes.problem(
      line,
      `The row has ${cells.length} cells, the header ${columns.length}; add or remove commas, or quote cells that contain one.`,
    )
    return false
  }
  const before = notes.problems.length
  for (const [at, { name, type }] of columns.entries()) {
    const text = cells[at]!
    const what = text.includes('\0')
      ? 'has a NUL character, which no value has'
      : type !== 'string' && text !== '' && TYPE_RULES[type].canonical(text) === undefined
        ? `is not ${TYPE_RULES[type].named}`
        : undefined
    if (what !== undefined) notes.problem(line, `The cell '${name}' ${what}.`, { column: name, text })
  }
  return notes.problems.length === before
}
