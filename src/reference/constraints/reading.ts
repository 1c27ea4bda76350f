// Reads the rows of a constraint table's file.
import type { ConstraintTableDeclaration } from '../../product/resources.ts'
import { type Column, layoutOf } from '../data-tables/layout.ts'
import type { Notes } from '../data-tables/notes.ts'
import { checkCells, RowReading } from '../data-tables/reading.ts'

const NUL = 'which is never part of a value'

export class ConstraintReading extends RowReading<string[]> {
  readonly #declared: ConstraintTableDeclaration | undefined
  #columns: readonly Column[] | undefined

  constructor(declared: ConstraintTableDeclaration | undefined) {
    super('The table has no rows below its header, so it permits nothing.')
    this.#declared = declared
  }

  /** Undefined until the header is read, and if the header is invalid. */
  get columns(): readonly Column[] | undefined {
    return this.#columns
  }

  protected readHeader(cells: string[], line: number): boolean {
    this.#columns = columnsOf(cells, line, this.#declared, this.notes)
    return this.#columns !== undefined
  }

  protected readRow(cells: string[], line: number): string[] | undefined {
    return checkCells(cells, line, this.#columns!, this.notes, NUL) === 'sound' ? cells : undefined
  }
}

/** The columns of a header, as in a data table but without keys. */
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
