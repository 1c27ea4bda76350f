// What a constraint table allows, column by column (resources brief 3).

import { invalidParameter, tooLarge } from '../../kernel/errors.ts'
import type { RequestContext } from '../../platform/context.ts'
import { homeDatabase } from '../../platform/tenancy.ts'
import { newestConfiguration } from '../../product/cache.ts'
import type { ConstraintTableDeclaration } from '../../product/resources.ts'
import { type CellValue, typedValue } from '../data-tables/values.ts'
import { readResource } from '../in-force.ts'
import { findRevision } from '../store.ts'
import { openContents } from './contents.ts'
import type { ConstraintRecordQuery, ConstraintRecordResponse } from './contract.ts'
import { columnIn, declarationOf } from './force.ts'
import { type Comparison, comparable } from './scan.ts'

/** Values of one answer, all columns together. */
const MOST_VALUES = 200_000

/** Parameters of the query that are no columns, even where a table has one of that name: `key=date=…` asks for that. */
const OWN_PARAMETERS = new Set(['byStaticName', 'date', 'jurisdiction', 'key'])

/** The values of each column in the rows that fit: of columns declared `makeDistinct` without repeats. */
export async function showConstraintRecord(
  name: string,
  query: ConstraintRecordQuery,
  context: RequestContext,
): Promise<ConstraintRecordResponse> {
  const { byStaticName, date, jurisdiction } = query
  const at = date ?? context.now
  const database = homeDatabase(context)
  const { resource } = await readResource(database, {
    name,
    byStaticName,
    at,
    jurisdiction,
    type: 'constraintTable',
  })
  const [revision, configuration] = await Promise.all([
    findRevision(database, resource.revision),
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
          `More than ${MOST_VALUES} values of '${resource.name}' fit; name more of them by 'key', or download the table.`,
        )
    }
  return Object.fromEntries(record.map(({ name: column, values }) => [column, values]))
}

class Column {
  readonly name: string
  readonly by: Comparison
  readonly values: CellValue[] = []
  readonly #type: Parameters<typeof typedValue>[0]
  readonly #seen: Set<string> | undefined

  constructor(inFile: string, declared: ConstraintTableDeclaration | undefined) {
    const own = declared?.columns.find(one => one.name.toLowerCase() === inFile.toLowerCase())
    this.name = own?.name ?? inFile
    this.#type = own?.dataType ?? 'string'
    this.#seen = own?.makeDistinct ? new Set() : undefined
    const isNumber = ['int', 'long', 'decimal'].includes(this.#type)
    this.by = isNumber ? 'number' : this.#type === 'boolean' ? 'truth' : 'text'
  }

  /** Whether the cell is a value more. */
  take(cell: string): boolean {
    const same = comparable(cell, this.by)
    if (this.#seen?.has(same)) return false
    this.#seen?.add(same)
    this.values.push(typedValue(this.#type, cell))
    return true
  }
}

type RecordFilter = { readonly at: number; readonly by: Comparison; readonly value: string }

/** `key=VW&key=Golf` in the order of the header, `key=model=Golf` or `model=Golf` for a column by its name. */
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
      throw invalidParameter(`'key' is given ${keys.length} times; the table has ${columns.length} columns.`)
    place += 1
    return filter(place - 1, text)
  })
  const byName = Object.entries(others).flatMap(([name, value]) => {
    const column = OWN_PARAMETERS.has(name) ? undefined : columnIn(columns, name)
    return column === undefined ? [] : [filter(columns.indexOf(column), String(value))]
  })
  return [...byKey, ...byName]
}
