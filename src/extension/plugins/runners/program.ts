// Prepares a configuration's tenant code once while it is in memory, and makes the code of its isolate. Built into a bundle
// (sandbox.bundle.mjs, scripts/bundles.ts), which is loaded at the first script check or plugin call.
import { memoByObject } from '../../../kernel/maps.ts'
import type { TenantScope } from '../../../platform/tenancy.ts'
import type { LoadedConfiguration } from '../../../product/cache.ts'
import { ISOLATE_LIMITS } from './limits.ts'
import { COPIES, unpack } from './packing.ts'
import type { PluginProgram } from './runner.ts'
import { zoneOffsets } from './sandbox/intl.ts'
import { REALM_SOURCE } from './sandbox/source.ts'
import { type CompiledScript, compileScript, parseScript } from './script.ts'
import { lookupIn, realmSettings, sentTables, tableNames } from './sent-program.ts'

export { compileScript, parseScript }

const compiledScripts = memoByObject(
  ({ configuration }: LoadedConfiguration): ReadonlyMap<string, CompiledScript> =>
    new Map(Object.entries(configuration.scripts).map(([path, text]) => [path, compileScript(path, text)])),
)

/** Returns the scripts of a configuration, compiled once while it is in memory. `key` is different for each tenant and version. */
export function pluginProgram(
  configuration: LoadedConfiguration,
  { locator, generation }: TenantScope,
  configVersion: number,
): PluginProgram {
  const key = `${locator}/${generation}/${configVersion}/${configuration.hash}`
  return { key, configuration, scripts: compiledScripts(configuration) }
}

/**
 * The Worker of a program: the realm, every script under its path, and the tables that are small enough. Scripts become functions
 * while the isolate starts, because the platform permits `eval` only then. As CommonJS modules they would run half as fast: each
 * look-up of a global such as `Number` would go through an object of the module.
 */
export function workerCode(program: PluginProgram): WorkerLoaderWorkerCode {
  const modules: WorkerLoaderWorkerCode['modules'] = {}
  const paths = [...program.scripts.keys()]
  for (const [path, { text }] of program.scripts) modules[path] = { text: text + sourceUrlComment(path) }
  const tables = sentTables(program)
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
const compile = (${functionFactory})(eval);
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
 * Returns a new function each time, because a script could leave a property on it. Runs inside the isolate, so it refers to nothing
 * outside itself. `evaluate` is the engine's `eval`; under another name it sees only globals. A script that only the engine rejects
 * throws when it is required.
 */
function functionFactory(
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

/**
 * The comment that makes the engine report the script under its path. None for a path with white space: a line break would end the
 * comment.
 */
const sourceUrlComment = (path: string): string => (/\s/.test(path) ? '' : `\n//# sourceURL=${path}`)
