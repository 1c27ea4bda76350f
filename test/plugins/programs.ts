// Programs of tenant code for tests: scripts and tables, without an archive.
import { env } from 'cloudflare:workers'
import { pluginProgram, workerCode } from '../../src/bundles/sandbox.bundle.mjs'
import { isolateRunner } from '../../src/extension/plugins/runners/isolate.ts'
import { localRunner } from '../../src/extension/plugins/runners/process-runner.ts'
import type {
  CallOutcome,
  Known,
  PluginCall,
  PluginProgram,
  PluginRunner,
} from '../../src/extension/plugins/runners/runner.ts'
import type { Uuid } from '../../src/kernel/locators.ts'
import { loadedConfiguration } from '../../src/product/cache.ts'
import type { Configuration, LookupTable, ProductDefinition } from '../../src/product/configuration.ts'
import { compileTemplate } from '../../src/product/templates/liquid.ts'

/** On a busy computer a call in a test may take long. test/plugins/runner tests how long a call may take. */
const PATIENT_MS = 60_000

const patient = (runner: PluginRunner): PluginRunner => ({
  run: (program, call) => runner.run(program, call, PATIENT_MS),
})

/** The runner in a process next to the service. */
export const QUICKJS = patient(await localRunner(env))

export const RUNNERS: [name: 'quickjs' | 'isolate', runner: PluginRunner][] = [
  ['quickjs', QUICKJS],
  ['isolate', patient(isolateRunner(env.LOADER, workerCode))],
]

export const table = (name: string, rows: [string, string][]): LookupTable => ({
  path: `products/motor/policy/tables/${name}.csv`,
  columns: ['key', 'value'],
  rows,
})

/** The runner keeps the programs of all test files by their keys. */
const FILE = crypto.randomUUID()

let programs = 0

/** Returns a separate program: no two share an isolate. */
export function programOf(
  scripts: Record<string, string>,
  tables: Record<string, LookupTable> = {},
): PluginProgram {
  const product = { name: 'motor', tables } as unknown as ProductDefinition
  const configuration = { scripts, tables, products: { motor: product } } as unknown as Configuration
  programs += 1
  const loaded = loadedConfiguration(configuration, `hash-${programs}`, compileTemplate)
  return pluginProgram(loaded, { locator: `${FILE}-${programs}` as Uuid, generation: 1 }, 1)
}

export const nothingKnown = (): Known => ({ aux: [], auxLocators: [], entities: [], rows: [] })

export const callOf = (more: Partial<PluginCall> = {}): PluginCall => ({
  product: 'motor',
  path: 'main/rater.js',
  function: 'getPerilRates',
  arguments: [{}],
  now: Date.UTC(2026, 10, 21, 12),
  seed: 7,
  known: nothingKnown(),
  resourceTables: [],
  datedTables: [],
  ...more,
})

/** Returns the outcome of a function of `data` with this body, in a separate program. */
export const outcomeOf = (
  runner: PluginRunner,
  body: string,
  more: Partial<PluginCall> = {},
): Promise<CallOutcome> =>
  runner.run(
    programOf({ 'main/rater.js': `exports.getPerilRates = function (data) {\n${body}\n}` }),
    callOf(more),
  )
