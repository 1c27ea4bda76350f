// Constraint tables as the Worker serves them. Their rows stay in the file: whoever asks a table reads it (contents.ts).
import type { Uuid } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Upload } from '../../platform/http/body/upload.ts'
import type { JsonText } from '../../platform/http/route.ts'
import { newestConfiguration } from '../../product/cache.ts'
import type { Configuration } from '../../product/configuration.ts'
import { graphOfProduct, policyholderGraph } from '../../product/constraint-graph.ts'
import { csvBytes, csvSource, Held } from '../data-tables/csv-source.ts'
import { storedFile } from '../data-tables/file.ts'
import { LARGEST_TABLE_BYTES } from '../data-tables/layout.ts'
import { invalidTable, type Notes } from '../data-tables/notes.ts'
import {
  downloadOf,
  type NewTable,
  newTable,
  type ReadTable,
  replacedTable,
  uploaded,
} from '../table-upload.ts'
import { ConstraintReading } from './contents.ts'
import { columnIn, declarationOf } from './force.ts'

const TYPE = 'constraintTable'

/** A new table. 409 for a name that exists, or a static name of another type; 400 with the problems of the file. */
export const createConstraintTable = (
  table: NewTable,
  file: Upload,
  context: RequestContext,
): Promise<JsonText> => uploaded(newTable(TYPE, table, context), file, context, readingIn(context))

/** Other contents of the table; all else of it stays. */
export const replaceConstraintTable = (
  name: string,
  file: Upload,
  context: RequestContext,
): Promise<JsonText> => uploaded(replacedTable(TYPE, name), file, context, readingIn(context))

export const downloadConstraintTable = (name: string, context: RequestContext): Promise<Response> =>
  downloadOf(TYPE, name, context)

/** The rows stay in the file: nothing of them goes into the database. */
const readingIn =
  (context: RequestContext) =>
  async (revision: Uuid, sizeBytes: number, staticName: string): Promise<ReadTable> => ({
    warnings: await checked(context, revision, sizeBytes, staticName),
    guards: [],
    facts: [],
    timersAfter: () => [],
    abandon: () => {},
  })

/** The warnings of a file. Refuses (400 `invalidTable`) one with problems, the first 50 listed. */
async function checked(
  context: RequestContext,
  revision: Uuid,
  sizeBytes: number,
  staticName: string,
): Promise<readonly string[]> {
  const configuration = await newestConfiguration(context)
  const file = storedFile(context, revision, sizeBytes)
  const source = await csvSource(file, LARGEST_TABLE_BYTES)
  const reading = new ConstraintReading(configuration && declarationOf(configuration, staticName))
  for await (const _ of reading.rows(csvBytes(file, source, new Held())));
  const { notes, columns } = reading
  if (configuration && columns)
    noteMissing(
      configuration,
      staticName,
      columns.map(one => one.name),
      notes,
    )
  if (notes.problems.length > 0) throw invalidTable(notes)
  return notes.warnings
}

/** Columns that fields of the newest configuration are held against, whether the table is declared or not. */
function noteMissing(
  configuration: Configuration,
  staticName: string,
  columns: readonly string[],
  notes: Notes,
): void {
  const nodes = [
    ...policyholderGraph(configuration.policyholderFields).nodes,
    ...Object.values(configuration.products).flatMap(one => graphOfProduct(configuration, one).nodes),
  ]
  const missing = new Map<string, string>()
  for (const { path, field } of nodes) {
    const { table, column, where } = field.constraint!
    if (table !== staticName) continue
    for (const name of [column, ...where.map(one => one.column)])
      if (columnIn(columns, name) === undefined && !missing.has(name)) missing.set(name, path)
  }
  for (const [name, path] of missing)
    notes.problem(1, `The column '${name}' is missing, which the field '${path}' is held against; add it.`)
}
