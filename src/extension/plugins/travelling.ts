// The tables that are sent to the sandbox with a program, and their look-up there. Rows of other tables are fetched on request.
import { isLookupTable } from '../../product/configuration.ts'
import { LARGEST_TRAVELLING_TABLE, MOST_TRAVELLING } from './limits.ts'
import type { PluginProgram } from './runner.ts'

/** The path of the table behind each name, for each product and for the tenant. */
export type TableNames = { products: Record<string, Record<string, string>>; tenant: Record<string, string> }

export function tableNames({ configuration: { configuration } }: PluginProgram): TableNames {
  const named = (tables: Record<string, { path: string; columns: string[] }>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(tables)
        .filter(([, table]) => isLookupTable(table.columns))
        .map(([name, table]) => [name, table.path]),
    )
  return {
    products: Object.fromEntries(
      Object.values(configuration.products).map(product => [product.name, named(product.tables)]),
    ),
    tenant: named(configuration.tables),
  }
}

/** Tables by path, each as the JSON of its keys and values; of rows with the same key the first counts. */
export function travellingTables({ configuration: { configuration } }: PluginProgram): Map<string, string> {
  const texts = new Map<string, string>()
  let characters = 0
  for (const { tables } of [...Object.values(configuration.products), configuration])
    for (const { path, columns, rows } of Object.values(tables)) {
      if (texts.has(path) || !isLookupTable(columns)) continue
      const [key, value] = [columns.indexOf('key'), columns.indexOf('value')]
      const text = JSON.stringify(rows.map(row => [row[key], row[value]]).reverse())
      if (text.length > LARGEST_TRAVELLING_TABLE || characters + text.length > MOST_TRAVELLING) continue
      characters += text.length
      texts.set(path, text)
    }
  return texts
}

/** A table as it was sent; its rows are parsed at the first look-up. */
type TravelledTable = { text: string; rows?: Record<string, string> }

/** An own property of the record. */
export type Own = <T>(record: Record<string, T> | undefined, name: string) => T | undefined

/**
 * Looks a key up: null for no such row, undefined when the table was not sent. Runs inside the isolate too, so it refers to
 * nothing outside itself. Scripts cannot reach what it keeps.
 */
export function lookupIn(
  tables: Record<string, TravelledTable>,
  { products, tenant }: TableNames,
  own: Own,
  parse: (text: string) => unknown,
): (product: string, table: string, key: string) => string | null | undefined {
  const rowsOf = (text: string): Record<string, string> => {
    const rows = { __proto__: null } as unknown as Record<string, string>
    const entries = parse(text) as [string, string][]
    for (let at = 0; at < entries.length; at += 1) rows[entries[at]![0]] = entries[at]![1]
    return rows
  }
  return (product, table, key) => {
    const name = own(own(products, product), table) ?? own(tenant, table)
    if (name === undefined) return null
    const index = tables[name]
    if (!index) return undefined
    index.rows ??= rowsOf(index.text)
    return index.rows[key] ?? null
  }
}
