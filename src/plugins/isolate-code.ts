// The code of the isolate that tenant code runs in (isolate.ts).
import { isLookupTable } from '../configuration/lookup-table.ts'
import { ISOLATE_LIMITS, LARGEST_TRAVELLING_TABLE } from './limits.ts'
import { unpack } from './packed.ts'
import { realmSettings } from './program.ts'
import type { PluginProgram } from './runner.ts'
import { REALM_SOURCE } from './sandbox/source.ts'
import { zoneOffsets } from './zone-offset.ts'

/** The isolate's code: the realm, every script under its own path, and the tables that are small enough. */
export function workerCode(program: PluginProgram): WorkerLoaderWorkerCode {
  const modules: WorkerLoaderWorkerCode['modules'] = {}
  const paths = [...program.scripts.keys()]
  for (const [path, { text }] of program.scripts) modules[path] = { cjs: `module.exports = ${text}` }
  const tables = travelling(program)
  for (const [name, text] of tables) modules[name] = { text }
  const imports = [
    ...paths.map((path, at) => `import script${at} from ${JSON.stringify(path)};`),
    ...[...tables.keys()].map((name, at) => `import table${at} from ${JSON.stringify(name)};`),
  ]
  const scripts = paths.map((path, at) => `[${JSON.stringify(path)}, script${at}]`)
  const indexes = [...tables.keys()].map((name, at) => `[${JSON.stringify(name)}, { text: table${at} }]`)
  modules.sandbox = {
    js: `import { WorkerEntrypoint } from 'cloudflare:workers';
${imports.join('\n')}
const { Intl, Date } = globalThis;
const scripts = new Map([${scripts}]);
const tables = new Map([${indexes}]);
const settings = ${JSON.stringify(realmSettings(program))};
const named = ${JSON.stringify(tableNames(program))};
const own = (record, name) => record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
const lookup = (${lookupIn})(tables, named, own, JSON.parse);
const host = { ...settings, script: path => scripts.get(path), lookup, unpack: ${unpack} };
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

type Names = { products: Record<string, Record<string, string>>; tenant: Record<string, string> }

type Index = { text: string; rows?: Map<string, string> }

/** Runs inside the isolate: it stands alone. */
function lookupIn(
  tables: Map<string, Index>,
  { products, tenant }: Names,
  own: <T>(record: Record<string, T> | undefined, name: string) => T | undefined,
  parse: (text: string) => unknown,
): (product: string, table: string, key: string) => string | null | undefined {
  return (product, table, key) => {
    const name = own(own(products, product), table) ?? own(tenant, table)
    if (name === undefined) return null
    const index = tables.get(name)
    if (!index) return undefined
    index.rows ??= new Map(parse(index.text) as [string, string][])
    return index.rows.get(key) ?? null
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
