// Programs of tenant code for tests: scripts and tables, without an archive.
import { env } from 'cloudflare:workers'
import { pluginProgram, workerCode } from '../../src/bundles/sandbox.bundle.mjs'
import { isolateRunner } from '../../src/extension/plugins/isolate.ts'
import { localRunner } from '../../src/extension/plugins/process-runner.ts'
import type {
  CallOutcome,
  Known,
  PluginCall,
  PluginProgram,
  PluginRunner,
} from '../../src/extension/plugins/runner.ts'
import type { Uuid } from '../../src/kernel/locators.ts'
import { loadedConfiguration } from '../../src/product/cache.ts'
import type { Configuration, LookupTable, ProductDefinition } from '../../src/product/configuration.ts'
import { compileTemplate } from '../../src/product/templates/liquid.ts'

/** On a busy machine a call of a test may take its time; how long one may take is held by test/plugins/runner. */
const PATIENT_MS = 60_000

const patient = (runner: PluginRunner): PluginRunner => ({
  run: (program, call) => runner.run(program, call, PATIENT_MS),
})

/** The runner in a process beside the service. */
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

/** The runner keeps programs by their keys, of all test files. */
const FILE = crypto.randomUUID()

let programs = 0

/** A program of its own: no two share an isolate. */
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

/** What the body of a function of `data` comes to in a program of its own. */
export const outcomeOf = (
  runner: PluginRunner,
  body: string,
  more: Partial<PluginCall> = {},
): Promise<CallOutcome> =>
  runner.run(
    programOf({ 'main/rater.js': `exports.getPerilRates = function (data) {\n${body}\n}` }),
    callOf(more),
  )
