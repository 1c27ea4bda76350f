// Rows that D1 answered as the query's own. Drizzle looks at every value of every row for what kind of column it is, which is
// most of what reading a large policy takes; here each column is looked at once for all rows.
import { Column, is, noopDecoder, SQL } from 'drizzle-orm'

type Decoder = { mapFromDriverValue(value: unknown): unknown }

/** A column of the result: its name in the row, and what makes its value of the database's where that is another one. */
type Cell = { readonly name: string; readonly decoder: Decoder | undefined }

type Selected = { readonly path: readonly string[]; readonly field: unknown }

type Row = Readonly<Record<string, unknown>>

/** Makes rows of the rows of a result. */
export type ReadRows = (rows: readonly Row[]) => object[]

/** The reader for a query that selects columns and expressions side by side; undefined for all others, as for rows of a join. */
export function rowReader(prepared: object): ReadRows | undefined {
  const { fields, executeMethod, customResultMapper } = prepared as {
    readonly fields?: readonly Selected[]
    readonly executeMethod?: string
    readonly customResultMapper?: unknown
  }
  if (!fields || executeMethod !== 'all' || customResultMapper) return undefined
  const cells: Cell[] = []
  for (const { path, field } of fields) {
    const decoder = decoderOf(field)
    if (path.length !== 1 || !decoder) return undefined
    cells.push({ name: path[0]!, decoder: isIdentity(decoder) ? undefined : decoder })
  }
  return rows => readRows(rows, cells)
}

function decoderOf(field: unknown): Decoder | undefined {
  if (is(field, Column)) return field
  if (is(field, SQL.Aliased)) return decoderOf(field.sql)
  return is(field, SQL) ? (field as unknown as { readonly decoder: Decoder }).decoder : undefined
}

const isIdentity = ({ mapFromDriverValue }: Decoder): boolean =>
  mapFromDriverValue === Column.prototype.mapFromDriverValue ||
  mapFromDriverValue === noopDecoder.mapFromDriverValue

/** Columns of a row are in the order of the query, and the same in every row. */
function readRows(rows: readonly Row[], cells: readonly Cell[]): object[] {
  const [first] = rows
  if (!first) return []
  const columns = Object.keys(first)
  return rows.map(row => {
    const made: Record<string, unknown> = {}
    for (let at = 0; at < cells.length; at += 1) {
      const { name, decoder } = cells[at]!
      const value = row[columns[at]!]
      made[name] = decoder === undefined || value === null ? value : decoder.mapFromDriverValue(value)
    }
    return made
  })
}
