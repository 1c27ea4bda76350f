// The parts of a program that are sent to a sandbox: settings, scripts and the tables that are small enough. Rows of other tables
// are fetched.
import { ABSENT_GLOBALS } from '../../../product/absent-globals.ts'
import { isLookupTable, MAY_RETURN_NOTHING } from '../../../product/configuration.ts'
import { LONGEST_AUX_NAME, LONGEST_AUX_VALUE } from '../../auxdata/limits.ts'
import * as limits from './limits.ts'
import type { PluginProgram } from './runner.ts'
import type { RealmHost } from './sandbox/host.ts'
import { ENTITIES } from './script-api.ts'

/** The body of the request that sends a program, as JSON. */
export type SentProgram = {
  readonly settings: ReturnType<typeof realmSettings>
  readonly scripts: readonly (readonly [path: string, text: string])[]
  /** For each table that is sent, its path, and its keys and values as JSON. */
  readonly tables: readonly (readonly [path: string, rows: string])[]
  readonly tableNames: TableNames
}

/** Returns the program as JSON for a runner in another process. */
export const sentProgram = (program: PluginProgram): SentProgram => ({
  settings: realmSettings(program),
  scripts: [...program.scripts].map(([path, { text }]) => [path, text] as const),
  tables: [...sentTables(program)],
  tableNames: tableNames(program),
})

/** The tenant of a program: the first part of its key. */
export const tenantOf = ({ key }: PluginProgram): string => key.slice(0, key.indexOf('/'))

/** The program's settings for the realm, as plain data. */
export const realmSettings = ({
  scripts,
}: PluginProgram): Pick<
  RealmHost,
  'scripts' | 'entities' | 'mayReturnNothing' | 'absentGlobals' | 'limits'
> => ({
  scripts: [...scripts].map(([path, { problem }]) => ({ path, problem })),
  entities: ENTITIES,
  mayReturnNothing: MAY_RETURN_NOTHING,
  absentGlobals: ABSENT_GLOBALS,
  limits: {
    output: limits.LONGEST_OUTPUT,
    turns: limits.MOST_TURNS,
    logLines: limits.MOST_LOG_LINES,
    log: limits.LONGEST_LOG,
    writes: limits.MOST_WRITES,
    written: limits.MOST_WRITTEN,
    auxName: LONGEST_AUX_NAME,
    auxValue: LONGEST_AUX_VALUE,
    eventData: limits.LONGEST_EVENT_DATA,
    gathered: limits.MOST_GATHERED,
    gatheredRecords: limits.MOST_RECORDS_GATHERED,
    lookups: limits.MOST_EXPLAINED_LOOKUPS,
    notes: limits.MOST_EXPLAINED_NOTES,
    explanation: limits.LONGEST_EXPLANATION,
  },
})

/** The path of the table behind each name, for each product and for the tenant. */
export type TableNames = { products: Record<string, Record<string, string>>; tenant: Record<string, string> }

/** Returns the paths of the look-up tables by their names, of each product and of the tenant. Leaves out other tables. */
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

/**
 * Tables by path, each as the JSON of its keys and values. The rows are reversed, so that the first of several rows with the same
 * key wins.
 */
export function sentTables({ configuration: { configuration } }: PluginProgram): Map<string, string> {
  const texts = new Map<string, string>()
  let characters = 0
  for (const { tables } of [...Object.values(configuration.products), configuration])
    for (const { path, columns, rows } of Object.values(tables)) {
      if (texts.has(path) || !isLookupTable(columns)) continue
      const [key, value] = [columns.indexOf('key'), columns.indexOf('value')]
      const text = JSON.stringify(rows.map(row => [row[key], row[value]]).reverse())
      if (text.length > limits.LARGEST_TRAVELLING_TABLE || characters + text.length > limits.MOST_TRAVELLING)
        continue
      characters += text.length
      texts.set(path, text)
    }
  return texts
}

/** Rows are parsed at the first look-up. */
type TravelledTable = { text: string; rows?: Record<string, string> }

export type Own = <T>(record: Record<string, T> | undefined, name: string) => T | undefined

/**
 * Looks up a key. Returns null if there is no such row, and undefined if the table was not sent. Also runs inside the isolate, so
 * it refers to nothing outside itself, and scripts cannot reach what it keeps.
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
    // Must agree with `keyInLookupTable` in product/configuration.ts.
    return index.rows[key.endsWith('\u001evalue') ? key.slice(0, -6) : key] ?? null
  }
}
