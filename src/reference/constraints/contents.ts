// The rows of constraint tables. Short tables stay in the isolate's memory. A long one is read from R2 in pieces for each pass, and
// the answers are cached (`force.ts`). The contents of a revision never change.

import type { Uuid } from '../../kernel/locators.ts'
import { BoundedCache } from '../../kernel/maps.ts'
import { heavyReading } from '../../platform/seats.ts'
import type { TenantPlace } from '../../platform/tenancy.ts'
import { type CsvSource, csvBytes, csvSource } from '../data-tables/csv-source.ts'
import { revisionKey, storedFile } from '../stored-files.ts'
import { ConstraintReading } from './reading.ts'

export type Contents = {
  readonly key: string
  /** The header of the uploaded file. */
  readonly columns: readonly string[]
  /** Makes one pass over the rows, in the order of the file. */
  rows(): AsyncIterable<readonly (readonly string[])[]>
}

/** The limit of CSV bytes whose rows are cached, for all tables together. Rows take several times as much memory. */
const MOST_KEPT_BYTES = 4 * 1_048_576

type CachedRows = { readonly columns: readonly string[]; readonly rows: readonly string[][] }

type FileStart = { readonly source: CsvSource; readonly columns: readonly string[] }

const fileStarts = new BoundedCache<FileStart>(200)

const rowCache = new BoundedCache<CachedRows>(MOST_KEPT_BYTES)

type Place = TenantPlace

/** Scanning this many rows takes as long as reading one row from a database. */
const SCANNED_AS_ONE_READ = 20

/**
 * Opens the contents of a revision whose file has this size. A pass over very many rows counts against the tenant's share of an
 * isolate.
 */
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
  const cached = rowCache.get(key)
  if (cached) return contentsInMemory(key, cached)
  const file = storedFile(context, revision, sizeBytes)
  const start = fileStarts.get(key)
  const source = start?.source ?? (await csvSource(file))
  const pass = () => {
    // Without a declaration: a later one does not change stored contents.
    const reading = new ConstraintReading(undefined)
    return { reading, pieces: reading.rows(csvBytes(file, source)) }
  }
  const bytes = source.sizeBytes ?? sizeBytes
  if (start) return { key, columns: start.columns, rows: () => pass().pieces }
  const { reading, pieces } = pass()
  if (bytes > MOST_KEPT_BYTES) {
    for await (const _ of pieces) if (reading.columns) break
    const columns = namesOf(reading)
    fileStarts.set(key, { source, columns })
    return { key, columns, rows: () => pass().pieces }
  }
  const texts = new Map<string, string>()
  const shared = (cell: string): string => {
    const first = texts.get(cell)
    if (first !== undefined) return first
    texts.set(cell, cell)
    return cell
  }
  const rows: string[][] = []
  for await (const piece of pieces) for (const cells of piece) rows.push(cells.map(shared))
  const read = { columns: namesOf(reading), rows }
  rowCache.set(key, read, bytes)
  return contentsInMemory(key, read)
}

const namesOf = ({ columns }: ConstraintReading): string[] => (columns ?? []).map(({ name }) => name)

const contentsInMemory = (key: string, { columns, rows }: CachedRows): Contents => ({
  key,
  columns,
  rows: async function* () {
    yield rows
  },
})
