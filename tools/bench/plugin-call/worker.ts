// Measures the overhead of rating by plugin over the plugin's own time: the same call through the isolate runner, and alone.

import { loadSandbox } from '../../../src/bundles/load.ts'
import { AttemptCalls } from '../../../src/extension/plugins/attempt-calls.ts'
import { isolateRunner } from '../../../src/extension/plugins/runners/isolate.ts'
import type { PluginCall, PluginProgram } from '../../../src/extension/plugins/runners/runner.ts'
import { compileScript } from '../../../src/extension/plugins/runners/script.ts'
import { locatorSupply, newUuid } from '../../../src/kernel/locators.ts'
import { zero } from '../../../src/kernel/money.ts'
import type { Instant } from '../../../src/kernel/time.ts'
import { PolicyCreateRequest } from '../../../src/policy/contract/requests.ts'
import { readArchive } from '../../../src/product/archive/read.ts'
import { loadedConfiguration } from '../../../src/product/cache.ts'
import { compileConfiguration } from '../../../src/product/compile.ts'
import { loadPatternEngine } from '../../../src/product/fields/patterns.ts'
import { compileTemplate } from '../../../src/product/templates/liquid.ts'
import { decideCreation } from '../../../src/transactions/new-business/decision.ts'

export { DeliveryObject } from '../../../durable/delivery.ts'
export { DispatcherObject } from '../../../durable/dispatcher.ts'
export { PolicyObject } from '../../../durable/policy.ts'
export { ImpactObject, MigrationObject, ReportObject } from '../../../durable/portions.ts'

const VEHICLES = 1_250
const PERILS = ['liability', 'own_damage', 'theft', 'glass']
const NOW = Date.UTC(2026, 10, 21, 12) as Instant

type Recorded = { program: PluginProgram; call: PluginCall }

/** Records the one call in which the plugin of the motor example rates 1,250 vehicles with 4 perils each. */
async function recordCall(
  zip: Uint8Array,
  policyRequest: Record<string, unknown>,
  values: object,
): Promise<Recorded> {
  const { pluginProgram } = await loadSandbox()
  await loadPatternEngine()
  const { configuration, findings } = compileConfiguration(readArchive(zip).files, {
    compileLiquid: compileTemplate,
    compileScript,
  })
  if (!configuration) throw new Error(JSON.stringify(findings))
  const { timeZone, currency, products } = configuration
  const product = products.private_motor!
  const holder = newUuid(0)
  let recorded: Recorded | undefined
  let sequence = 3_000_000
  const supply = () =>
    locatorSupply(
      0,
      Array.from({ length: 8_000 }, () => sequence++ * 64),
    )
  const [vehicle] = policyRequest.exposures as object[]
  const request = {
    ...policyRequest,
    policyholderLocator: holder,
    exposures: Array.from({ length: VEHICLES }, () => ({
      ...vehicle,
      perils: PERILS.map(name => ({ name })),
    })),
    finalize: true,
  }
  await decideCreation(
    PolicyCreateRequest.parse(request),
    {
      policyholder: {
        locator: holder,
        version: 1,
        completed: true,
        accountLocator: newUuid(0),
        entity: { locator: newUuid(0), values: values as never, subEntities: [] },
        createdAt: NOW,
        updatedAt: NOW,
      },
      configuration: loadedConfiguration(configuration, 'bench', compileTemplate),
      configVersion: 1,
      credit: zero(currency),
      timeZone,
      currency,
      product: { ...product, plugins: { getPerilRates: { path: 'main/rater.js', enabled: true } } },
    },
    {
      now: NOW,
      supply: supply(),
      digits: async () => supply(),
      plugins: new AttemptCalls(
        async () => ({
          programOf: pluginProgram,
          runner: {
            run: async (program, call) => {
              recorded = { program, call }
              throw new Error('recorded')
            },
          },
        }),
        { tenant: { locator: newUuid(0), generation: 1 } as never, now: NOW },
        async () => ({ aux: [], auxLocators: [], entities: [], rows: [] }),
      ),
    },
  ).catch((problem: Error) => {
    if (problem.message !== 'recorded') throw problem
  })
  if (!recorded) throw new Error('The plugin was not called.')
  return recorded
}

/**
 * How the plugin's files are loaded: unchanged, as CommonJS modules of a Worker, or compiled from text into functions, as the
 * sandbox does. The platform allows this only during start-up.
 */
type Reading = 'written' | 'compiled'

/**
 * The plugin in a plain Worker without anything around it. Either its input is in memory, as the objects that it receives, and
 * its result stays there, or it parses the input from JSON and serializes the result, as a call from elsewhere requires.
 */
function aloneCode(
  { program, call }: Recorded,
  code: WorkerLoaderWorkerCode,
  reading: Reading,
): WorkerLoaderWorkerCode {
  const { scripts: sources, products } = program.configuration.configuration
  const tables = Object.values(products.private_motor!.tables)
    .filter(({ columns }) => columns.includes('key'))
    .map(({ path, rows }) => [path.split('/').at(-1)!.replace('.csv', ''), rows])
  const compiled = Object.fromEntries([...program.scripts].map(([path, { text }]) => [path, { text }]))
  const written = Object.fromEntries(Object.entries(sources).map(([path, cjs]) => [path, { cjs }]))
  const loading = reading === 'written' ? loadingWritten(call) : loadingCompiled(program, call)
  return {
    ...code,
    mainModule: 'alone',
    modules: {
      ...(reading === 'written' ? written : compiled),
      given: { text: JSON.stringify(call.arguments) },
      tables: {
        js: `const tables = new Map(${JSON.stringify(tables)}.map(([name, rows]) => [name, new Map(rows)]))
globalThis.socotraApi = { tableLookup: (_, table, key) => tables.get(table)?.get(String(key)) ?? '' }`,
      },
      alone: {
        js: `import { WorkerEntrypoint } from 'cloudflare:workers'
import 'tables'
import given from 'given'
${loading}
const input = JSON.parse(given)
export default class extends WorkerEntrypoint {
  run(times, reads) {
    let priced = 0
    for (let at = 0; at < times; at += 1) {
      const answer = rate(...(reads ? JSON.parse(given) : input))
      if (reads) JSON.stringify(answer)
      priced += Object.keys(answer.pricedPerilCharacteristics).length
    }
    return priced
  }
}`,
      },
    },
  }
}

const loadingWritten = ({ path }: PluginCall): string =>
  `import rater from ${JSON.stringify(path)}
const rate = rater.getPerilRates`

function loadingCompiled({ scripts }: PluginProgram, { path }: PluginCall): string {
  const paths = [...scripts.keys()]
  return `${paths.map((one, at) => `import script${at} from ${JSON.stringify(one)}`).join('\n')}
const compile = eval
const scripts = { ${paths.map((one, at) => `${JSON.stringify(one)}: compile(script${at})`)} }
const loaded = {}
const load = path => {
  if (loaded[path]) return loaded[path].exports
  const module = (loaded[path] = { exports: {} })
  scripts[path].call(module.exports, module.exports, name => load(Object.keys(scripts).find(one => one.endsWith('/' + name.split('/').at(-1)))), module, path, '')
  return module.exports
}
const rate = load(${JSON.stringify(path)}).getPerilRates`
}

type Alone = { run(times: number, reads: boolean): Promise<number> }

let recorded: Recorded | undefined

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url)
    const times = Number(searchParams.get('times'))
    if (pathname === '/health') return Response.json({})
    if (pathname === '/record') {
      const form = await request.formData()
      const zip = new Uint8Array(await (form.get('zip') as unknown as Blob).arrayBuffer())
      const { policy, values } = JSON.parse(form.get('request') as string)
      recorded = await recordCall(zip, policy, values)
      return Response.json({ characters: JSON.stringify(recorded.call).length })
    }
    if (!recorded) return new Response('Nothing is recorded.', { status: 409 })
    const { program, call } = recorded
    const { workerCode } = await loadSandbox()
    if (pathname === '/alone') {
      const reading = searchParams.has('compiled') ? 'compiled' : 'written'
      const code = () => aloneCode({ program, call }, workerCode(program), reading)
      const worker = env.LOADER.get(`alone/${reading}`, code)
      const entrypoint = worker.getEntrypoint() as unknown as Alone
      return Response.json({ priced: await entrypoint.run(times, searchParams.has('reads')) })
    }
    const runner = isolateRunner(env.LOADER, workerCode)
    let priced = 0
    for (let at = 0; at < times; at += 1) {
      const { value, failure } = await runner.run(program, call)
      if (failure) return Response.json(failure, { status: 500 })
      priced += Object.keys(
        (value as { pricedPerilCharacteristics: object }).pricedPerilCharacteristics,
      ).length
    }
    return Response.json({ priced })
  },
} satisfies ExportedHandler<Env>
