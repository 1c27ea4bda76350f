// From the bytes of a CSV to the rows of a constraint table; nothing is kept but the notes.
import type { ConstraintTableDeclaration } from '../../product/resources.ts'
import { type Column, layoutOf } from '../data-tables/layout.ts'
import { Notes } from '../data-tables/notes.ts'
import { checkCells, RowReading } from '../data-tables/row-reading.ts'

const NUL = 'which no value has'

/** The reading of one file. `rows` gives the cells of its rows; the rest is known when they have come to their end. */
export class ConstraintReading {
  readonly notes = new Notes()
  readonly #rows: RowReading<string[]>
  #columns: readonly Column[] | undefined

  constructor(declared: ConstraintTableDeclaration | undefined) {
    const { notes } = this
    this.#rows = new RowReading({
      notes,
      header: (cells, line) => {
        this.#columns = columnsOf(cells, line, declared, notes)
        return this.#columns !== undefined
      },
      row: (cells, line) =>
        checkCells(cells, line, this.#columns!, notes, NUL) === 'sound' ? cells : undefined,
      empty: 'The table has no rows below its header, so that it allows nothing.',
    })
  }

  /** Undefined while the header has not been read, or makes no sense. */
  get columns(): readonly Column[] | undefined {
    return this.#columns
  }

  /** As of `RowReading`. */
  rows(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string[][], void, undefined> {
    return this.#rows.rows(bytes)
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
