// The rows of constraint tables: short ones stay in the isolate's memory, long ones are read from R2 again, piece by piece,
// for each pass over them; answers from those are remembered (`force.ts`). Contents never change under their
// revision.

import type { Uuid } from '../../kernel/locators.ts'
import { BoundedCache } from '../../kernel/maps.ts'
import { heavyReading } from '../../platform/seats.ts'
import type { TenantPlace } from '../../platform/tenancy.ts'
import type { ConstraintTableDeclaration } from '../../product/resources.ts'
import { type CsvSource, csvBytes, csvSource } from '../data-tables/csv-source.ts'
import { type Column, LARGEST_TABLE_BYTES, layoutOf } from '../data-tables/layout.ts'
import type { Notes } from '../data-tables/notes.ts'
import { checkCells, RowReading } from '../data-tables/reading.ts'
import { revisionKey, storedFile } from '../stored-files.ts'

export type Contents = {
  /** Names the contents, in an isolate's memory. */
  readonly key: string
  /** The header as it was uploaded. */
  readonly columns: readonly string[]
  /** One pass, in file order. */
  rows(): AsyncIterable<readonly (readonly string[])[]>
}

/** Bytes of CSV that are kept as rows, of all tables together; in memory they are some times as many. */
const MOST_KEPT_BYTES = 4 * 1_048_576

type Kept = { readonly columns: readonly string[]; readonly rows: readonly string[][] }

/** What reading a long file begins with. */
type Beginning = { readonly source: CsvSource; readonly columns: readonly string[] }

const beginnings = new BoundedCache<Beginning>(200)

const kept = new BoundedCache<Kept>(MOST_KEPT_BYTES)

type Place = TenantPlace

/** So many rows that a pass goes over take as long as one that is read from a database. */
const SCANNED_AS_ONE_READ = 20

/** The contents of a revision whose file has so many bytes. A pass over very many rows has the tenant's share of an isolate. */
export async function openContents(context: Place, revision: Uuid, sizeBytes: number): Promise<Contents> {
  const { rows, ...contents } = await contentsOf(context, revision, sizeBytes)
  return {
    ...contents,
    async *rows() {
      const reading = heavyReading(context.tenant.locator)
      for await (const piece of rows()) {
        await reading.read(piece.length / SCANNED_AS_ONE_READ)
        yield piece
      }
    },
  }
}

async function contentsOf(context: Place, revision: Uuid, sizeBytes: number): Promise<Contents> {
  const key = revisionKey(context.tenant, revision)
  const known = kept.get(key)
  if (known) return inMemory(key, known)
  const file = storedFile(context, revision, sizeBytes)
  const begun = beginnings.get(key)
  const source = begun?.source ?? (await csvSource(file, LARGEST_TABLE_BYTES))
  const pass = () => {
    // What columns are declared as by now changes nothing of what was taken in.
    const reading = new ConstraintReading(undefined)
    return { reading, pieces: reading.rows(csvBytes(file, source)) }
  }
  const bytes = source.sizeBytes ?? sizeBytes
  if (begun) return { key, columns: begun.columns, rows: () => pass().pieces }
  const { reading, pieces } = pass()
  if (bytes > MOST_KEPT_BYTES) {
    for await (const _ of pieces) if (reading.columns) break
    const columns = namesOf(reading)
    beginnings.set(key, { source, columns })
    return { key, columns, rows: () => pass().pieces }
  }
  const same = new Map<string, string>()
  const shared = (cell: string): string => {
    const first = same.get(cell)
    if (first !== undefined) return first
    same.set(cell, cell)
    return cell
  }
  const rows: string[][] = []
  for await (const piece of pieces) for (const cells of piece) rows.push(cells.map(shared))
  const read = { columns: namesOf(reading), rows }
  kept.set(key, read, bytes)
  return inMemory(key, read)
}

const namesOf = ({ columns }: ConstraintReading): string[] => (columns ?? []).map(({ name }) => name)

const inMemory = (key: string, { columns, rows }: Kept): Contents => ({
  key,
  columns,
  rows: async function* () {
    yield rows
  },
})

const NUL = 'which no value has'

/** The reading of a constraint table. */
export class ConstraintReading extends RowReading<string[]> {
  readonly #declared: ConstraintTableDeclaration | undefined
  #columns: readonly Column[] | undefined

  constructor(declared: ConstraintTableDeclaration | undefined) {
    super('The table has no rows below its header, so that it allows nothing.')
    this.#declared = declared
  }

  /** Undefined while the header has not been read, or makes no sense. */
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
