// Uploads of constraint tables, whose rows stay in the file (contents.ts), and their permitted values by column (resources brief
// 3).
import { invalidParameter, tooLarge } from '../../kernel/errors.ts'
import { countText } from '../../kernel/text.ts'
import type { RequestContext } from '../../platform/context.ts'
import { homeDatabase } from '../../platform/tenancy.ts'
import { newestConfiguration } from '../../product/cache.ts'
import type { Configuration } from '../../product/configuration.ts'
import { graphOfProduct, policyholderGraph } from '../../product/constraint-graph.ts'
import type { ConstraintTableDeclaration } from '../../product/resources.ts'
import { csvBytes, csvSource } from '../data-tables/csv-source.ts'
import type { ReadTable } from '../data-tables/loading.ts'
import { invalidTable, type Notes } from '../data-tables/notes.ts'
import { type CellValue, typedValue } from '../data-tables/values.ts'
import { findRevision, readResource } from '../store.ts'
import { storedFile } from '../stored-files.ts'
import { openContents } from './contents.ts'
import type { ConstraintRecordQuery, ConstraintRecordResponse } from './contract.ts'
import { type Comparison, comparable } from './evaluation.ts'
import { columnIn, declarationOf } from './force.ts'
import { ConstraintReading } from './reading.ts'

/** Reads the whole file to check it, but adds no rows to the database. */
export const readConstraintTable: ReadTable = async ({ revision, sizeBytes, staticName }, context) => {
  const configuration = await newestConfiguration(context)
  const file = storedFile(context, revision, sizeBytes)
  const source = await csvSource(file)
  const reading = new ConstraintReading(configuration && declarationOf(configuration, staticName))
  for await (const _ of reading.rows(csvBytes(file, source)));
  const { notes, columns } = reading
  if (configuration && columns) {
    const names = columns.map(column => column.name)
    noteMissing(configuration, staticName, names, notes)
  }
  if (notes.problems.length > 0) throw invalidTable(notes)
  return { warnings: notes.warnings }
}

/** Reports missing columns that fields of the newest configuration use, even if the table is not declared. */
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
    notes.problem(
      1,
      `The column '${name}', which the constraint of the field '${path}' uses, is missing; add it.`,
    )
}

/** The most values in one answer, in all columns together. */
const MOST_VALUES = 200_000

/** Query parameters that never name a column. A column with such a name is filtered by `key=date=…`. */
const OWN_PARAMETERS = new Set(['byStaticName', 'date', 'jurisdiction', 'key'])

/** Returns the values of each column in the matching rows. Columns declared `makeDistinct` have no repeats. */
export async function showConstraintRecord(
  name: string,
  query: ConstraintRecordQuery,
  context: RequestContext,
): Promise<ConstraintRecordResponse> {
  const resource = await readResource(context, 'constraintTable', name, query)
  const [revision, configuration] = await Promise.all([
    findRevision(homeDatabase(context), resource.revision),
    newestConfiguration(context),
  ])
  const { columns, rows } = await openContents(context, resource.revision, revision!.sizeBytes)
  const declared = configuration && declarationOf(configuration, resource.staticName)
  const record = columns.map(column => new Column(column, declared))
  const filters = filtersOf(query, columns, record)
  let count = 0
  for await (const piece of rows())
    for (const cells of piece) {
      if (!filters.every(({ at: place, by, value }) => comparable(cells[place]!, by) === value)) continue
      for (const [place, column] of record.entries()) if (column.take(cells[place]!)) count += 1
      if (count > MOST_VALUES)
        throw tooLarge(
          `More than ${MOST_VALUES} values of '${resource.name}' match; specify more columns with 'key', or download the table.`,
        )
    }
  return Object.fromEntries(record.map(({ name: column, values }) => [column, values]))
}

/** Types that are not compared as text. */
const COMPARED_BY: Readonly<Record<string, Comparison>> = {
  int: 'number',
  long: 'number',
  decimal: 'number',
  boolean: 'truth',
}

class Column {
  readonly name: string
  readonly by: Comparison
  readonly values: CellValue[] = []
  readonly #type: Parameters<typeof typedValue>[0]
  readonly #seen: Set<string> | undefined

  constructor(inFile: string, declared: ConstraintTableDeclaration | undefined) {
    const column = declared?.columns.find(one => one.name.toLowerCase() === inFile.toLowerCase())
    this.name = column?.name ?? inFile
    this.#type = column?.dataType ?? 'string'
    this.#seen = column?.makeDistinct ? new Set() : undefined
    this.by = COMPARED_BY[this.#type] ?? 'text'
  }

  /** Adds the cell's value, and returns whether it did. */
  take(cell: string): boolean {
    const text = comparable(cell, this.by)
    if (this.#seen?.has(text)) return false
    this.#seen?.add(text)
    this.values.push(typedValue(this.#type, cell))
    return true
  }
}

type RecordFilter = { readonly at: number; readonly by: Comparison; readonly value: string }

/** Filters of a query. `key=VW&key=Golf` is in the order of the header; `key=model=Golf` and `model=Golf` name the column. */
function filtersOf(
  { key: keys, ...others }: ConstraintRecordQuery,
  columns: readonly string[],
  record: readonly Column[],
): RecordFilter[] {
  const filter = (at: number, text: string): RecordFilter => {
    const { by } = record[at]!
    return { at, by, value: comparable(text.trim(), by) }
  }
  let place = 0
  const byKey = keys.map(text => {
    const sign = text.indexOf('=')
    const column = sign > 0 ? columnIn(columns, text.slice(0, sign).trim()) : undefined
    if (column !== undefined) return filter(columns.indexOf(column), text.slice(sign + 1))
    if (place === columns.length)
      throw invalidParameter(
        `'key' is given ${countText(keys.length, 'time')}, but the table has ${countText(columns.length, 'column')}.`,
      )
    place += 1
    return filter(place - 1, text)
  })
  const byName = Object.entries(others).flatMap(([name, value]) => {
    const column = OWN_PARAMETERS.has(name) ? undefined : columnIn(columns, name)
    return column === undefined ? [] : [filter(columns.indexOf(column), String(value))]
  })
  return [...byKey, ...byName]
}
