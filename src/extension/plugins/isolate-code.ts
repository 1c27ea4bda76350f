// The code of the isolate that tenant code runs in (isolate.ts).
import { ISOLATE_LIMITS } from './limits.ts'
import { COPIES, unpack } from './packed.ts'
import { realmSettings } from './program.ts'
import type { PluginProgram } from './runner.ts'
import { REALM_SOURCE } from './sandbox/source.ts'
import { lookupIn, tableNames, travellingTables } from './travelling.ts'
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
  const tables = travellingTables(program)
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
