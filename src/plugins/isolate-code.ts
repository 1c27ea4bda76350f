// The code of the isolate that tenant code runs in (isolate.ts).
import { isLookupTable } from '../configuration/lookup-table.ts'
import { ISOLATE_LIMITS, LARGEST_TRAVELLING_TABLE } from './limits.ts'
import { COPIES, unpack } from './packed.ts'
import { realmSettings } from './program.ts'
import type { PluginProgram } from './runner.ts'
import { REALM_SOURCE } from './sandbox/source.ts'
import { zoneOffsets } from './zone-offset.ts'

/**
 * The isolate's code: the realm, every script under its own path, and the tables that are small enough. Scripts are made
 * functions from text while the isolate starts, which the platform allows then and never after. As CommonJS modules
 * they would run half as fast: each name of the language, such as `Number`, is looked up each time in an object of the
 * module's, which may have it too.
 */
export function workerCode(program: PluginProgram): WorkerLoaderWorkerCode {
  const modules: WorkerLoaderWorkerCode['modules'] = {}
  const paths = [...program.scripts.keys()]
  for (const [path, { text }] of program.scripts) modules[path] = { text: text + calledBy(path) }
  const tables = travelling(program)
  for (const [name, text] of tables) modules[name] = { text }
  const imports = [
    ...paths.map((path, at) => `import script${at} from ${JSON.stringify(path)};`),
    ...[...tables.keys()].map((name, at) => `import table${at} from ${JSON.stringify(name)};`),
  ]
  const scripts = paths.map(
    (path, at) => `[${JSON.stringify(path)}]: compile(${JSON.stringify(path)}, script${at})`,
  )
  const indexes = [...tables.keys()].map((name, at) => `[${JSON.stringify(name)}]: { text: table${at} }`)
  modules.sandbox = {
    js: `import { WorkerEntrypoint } from 'cloudflare:workers';
${imports.join('\n')}
const { Intl, Date } = globalThis;
const compile = (${compiling})(eval);
const scripts = { __proto__: null, ${scripts} };
const tables = { __proto__: null, ${indexes} };
const settings = ${JSON.stringify(realmSettings(program))};
const named = ${JSON.stringify(tableNames(program))};
const { hasOwn } = Object;
const own = (record, name) => record !== undefined && hasOwn(record, name) ? record[name] : undefined;
const lookup = (${lookupIn})(tables, named, own, JSON.parse);
const copies = ${COPIES};
const unpack = ${unpack};
const host = { ...settings, script: path => scripts[path](), lookup, unpack: packed => unpack(packed, copies) };
const realm = ${REALM_SOURCE}(host, ((Intl, Date) => (${zoneOffsets})())(Intl, Date));
export default class extends WorkerEntrypoint { run(call, packed) { return realm.run(call, packed) } }
`,
  }
  return {
    compatibilityDate: '2026-10-01',
    mainModule: 'sandbox',
    modules,
    env: {},
    globalOutbound: null,
    limits: ISOLATE_LIMITS,
  }
}

/**
 * Gives what makes a script's function: a new one each time, since a script can get at it and leave something on it. Runs
 * inside the isolate: it stands alone. `evaluate` is the engine's `eval`, which under another name than its own sees
 * nothing but globals. What the parser let pass and the engine does not fails where it is required.
 */
function compiling(
  evaluate: (text: string) => () => () => void,
): (path: string, text: string) => () => () => void {
  return (path, text) => {
    try {
      return evaluate(`() => ${text}`)
    } catch (problem) {
      const message = `${(problem as Error).message} (${path})`
      return () => () => {
        throw new SyntaxError(message)
      }
    }
  }
}

/** What makes the engine call the code by its path: a comment, which a path with lines of its own would end. */
const calledBy = (path: string): string => (/\s/.test(path) ? '' : `\n//# sourceURL=${path}`)

type Names = { products: Record<string, Record<string, string>>; tenant: Record<string, string> }

type Index = { text: string; rows?: Record<string, string> }

/** Runs inside the isolate: it stands alone. What it keeps is nothing that a script could lay hands on. */
function lookupIn(
  tables: Record<string, Index>,
  { products, tenant }: Names,
  own: <T>(record: Record<string, T> | undefined, name: string) => T | undefined,
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

/** Which table each name stands for, of each product and of the tenant. */
function tableNames({ configuration: { configuration } }: PluginProgram): Names {
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

/** Tables by their path, each as the JSON of its keys and values; of rows with the same key the first counts. */
function travelling({ configuration: { configuration } }: PluginProgram): Map<string, string> {
  const texts = new Map<string, string>()
  for (const { tables } of [...Object.values(configuration.products), configuration])
    for (const { path, columns, rows } of Object.values(tables)) {
      if (texts.has(path) || !isLookupTable(columns)) continue
      const [key, value] = [columns.indexOf('key'), columns.indexOf('value')]
      const text = JSON.stringify(rows.map(row => [row[key], row[value]]).reverse())
      if (text.length <= LARGEST_TRAVELLING_TABLE) texts.set(path, text)
    }
  return texts
}
