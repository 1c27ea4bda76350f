// The rows of constraint tables: short ones stay in the isolate's memory, long ones are read anew from R2, piece by piece,
// for each pass over them; what was asked of those is remembered (`known-answers.ts`). Contents never change under their
// revision.

import type { Uuid } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import { type CsvSource, csvBytes, csvSource } from '../data-tables/csv-source.ts'
import { revisionKey, storedFile } from '../data-tables/file.ts'
import { Held } from '../data-tables/held.ts'
import { LARGEST_TABLE_BYTES } from '../data-tables/limits.ts'
import { ConstraintReading } from './reading.ts'

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

type Kept = {
  readonly columns: readonly string[]
  readonly rows: readonly string[][]
  readonly bytes: number
}

/** What reading a long file begins with. */
type Beginning = { readonly source: CsvSource; readonly columns: readonly string[] }

const MOST_BEGINNINGS = 200
const beginnings = new Map<string, Beginning>()

/** In the order of use: the first was used the longest ago. */
const kept = new Map<string, Kept>()
let keptBytes = 0

type Place = Pick<RequestContext, 'env' | 'tenant' | 'calls'>

/** The contents of a revision whose file has so many bytes. */
export async function openContents(context: Place, revision: Uuid, sizeBytes: number): Promise<Contents> {
  const key = revisionKey(context.tenant, revision)
  const known = kept.get(key)
  if (known) {
    kept.delete(key)
    kept.set(key, known)
    return inMemory(key, known)
  }
  const file = storedFile(context, revision, sizeBytes)
  const begun = beginnings.get(key)
  const source = begun?.source ?? (await csvSource(file, LARGEST_TABLE_BYTES))
  const pass = () => {
    // What columns are declared as by now changes nothing of what was taken in.
    const reading = new ConstraintReading(undefined)
    return { reading, pieces: reading.rows(csvBytes(file, source, new Held())) }
  }
  const bytes = source.sizeBytes ?? sizeBytes
  if (begun) return { key, columns: begun.columns, rows: () => pass().pieces }
  const { reading, pieces } = pass()
  if (bytes > MOST_KEPT_BYTES) {
    for await (const _ of pieces) if (reading.columns) break
    const columns = namesOf(reading)
    if (beginnings.size >= MOST_BEGINNINGS) beginnings.clear()
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
  const read = { columns: namesOf(reading), rows, bytes }
  keep(key, read)
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

function keep(key: string, read: Kept): void {
  // Another request may have read it meanwhile.
  if (kept.has(key)) return
  kept.set(key, read)
  keptBytes += read.bytes
  for (const [oldest, { bytes }] of kept) {
    if (keptBytes <= MOST_KEPT_BYTES) break
    kept.delete(oldest)
    keptBytes -= bytes
  }
}
