// Range tables that a scenario gives. They are looked up in memory like those that are resources in force.
import { Refusal } from '../../src/kernel/errors.ts'
import type { RangeTableDeclaration } from '../../src/product/resources.ts'
import type { Neighbour } from '../../src/reference/data-tables/interpolation.ts'
import { rangeRecord } from '../../src/reference/data-tables/interpolation.ts'
import { layoutOf, type TableLayout } from '../../src/reference/data-tables/layout.ts'
import { Notes } from '../../src/reference/data-tables/notes.ts'
import { parseRangeQuery, type WantedRange } from '../../src/reference/data-tables/range-question.ts'
import { rowOf, type TableRow } from '../../src/reference/data-tables/reading.ts'
import type { TableRecord } from '../../src/reference/data-tables/values.ts'

type Rows = readonly Readonly<Record<string, string>>[]

/**
 * Returns the record of the bound, or undefined if there is none. Rejects with 422 rows that are not a range table, and wrong
 * questions.
 */
export function givenRange(
  name: string,
  rows: Rows,
  declared: RangeTableDeclaration | undefined,
  asked: WantedRange,
): TableRecord | undefined {
  const { layout, read } = rangeTable(name, rows, declared)
  const keyTypes = layout.keys.map(at => layout.columns[at]!.type)
  const { key, exact, bound, operation, operations } = parseRangeQuery(name, layout, keyTypes, asked)
  const own = read.filter(row => row.key === key)
  const neighbour = ({ cells, end }: TableRow): Neighbour => ({ cells, holds: end === null || bound <= end })
  const below = own.filter(({ start }) => start <= bound).sort((a, b) => (a.start < b.start ? 1 : -1))
  const above = own.filter(({ start }) => start >= bound).sort((a, b) => (a.start < b.start ? -1 : 1))
  const neighbours = { below: below.slice(0, 2).map(neighbour), above: above.slice(0, 2).map(neighbour) }
  return rangeRecord(layout, neighbours, exact, operation, operations)
}

function rangeTable(
  name: string,
  rows: Rows,
  declared: RangeTableDeclaration | undefined,
): { layout: TableLayout; read: TableRow[] } {
  const notes = new Notes()
  const columns = Object.keys(rows[0] ?? {})
  const layout = layoutOf(columns, 1, 'rangeTable', declared, notes)?.layout
  const read = layout
    ? rows.flatMap(
        (row, at) =>
          rowOf(
            columns.map(column => row[column] ?? ''),
            at + 1,
            layout,
            notes,
          ) ?? [],
      )
    : []
  const [problem] = notes.problems
  if (!layout || problem)
    throw new Refusal(
      'pluginFailed',
      `The given range table '${name}' cannot be read: row ${problem?.line ?? 1}: ${problem?.message ?? 'it has no columns.'}`,
    )
  return { layout, read }
}
