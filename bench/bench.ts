// `npm run bench [-- --full] [-- --start-up | --plugin | --documents | --tables | --webhooks | --migration] [-- --json FILE]`: how the service compares with the least that the platform allows.
// Starts all it needs on free ports and in a folder of its own, and removes both. See docs/bench.md.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildBundles } from '../scripts/bundles.ts'
import { writeRouteIndex } from '../scripts/route-index.ts'
import { CONFIG_FILE, writeConfig } from '../scripts/write-config.ts'
import { documentLines, measureDocuments } from './documents.ts'
import { measureMigration, migrationLines } from './migration/migration.ts'
import type { Operation } from './operations.ts'
import { type Options, readOptions, type Sizes } from './options.ts'
import { describePlan, type Plan } from './plan.ts'
import { measurePluginCall, type PluginCallCost } from './plugin-call.ts'
import { recordPlans } from './record.ts'
import { bundleLine, operationsTable, pluginCallLine, startUpLine } from './report.ts'
import { waitedFor } from './round-trips.ts'
import { type Measured, measureAll } from './rounds.ts'
import { floorSide, serviceSide } from './sides.ts'
import { measureStartUp } from './start-up.ts'
import { measureTables, tableLines } from './tables.ts'
import { measureWebhooks, webhookLines } from './webhooks.ts'
import { startWorker, stopWorkers } from './worker-process.ts'
import { fill, prepareStores } from './world.ts'

const say = (line: string): void => console.error(`bench: ${line}`)

function commit(): string | undefined {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return undefined
  }
}

async function bench(options: Options, folder: string): Promise<void> {
  const {
    sizes,
    onlyStartUp,
    onlyPlugin,
    onlyDocuments,
    onlyTables,
    onlyWebhooks,
    migratedAccounts,
    jsonFile,
  } = options
  writeConfig()
  await writeRouteIndex()
  await buildBundles()
  if (onlyDocuments) {
    const documents = await measureDocuments(join(folder, 'documents'), say)
    console.log(documentLines(documents))
    return writeFigures(jsonFile, { documents })
  }
  if (onlyTables) {
    const tables = await measureTables(join(folder, 'tables'), sizes, say)
    console.log(tableLines(tables))
    return writeFigures(jsonFile, { tables })
  }
  if (migratedAccounts !== undefined) {
    const migration = await measureMigration(join(folder, 'migration'), migratedAccounts, say)
    console.log(migrationLines(migration))
    return writeFigures(jsonFile, { migration })
  }
  if (onlyWebhooks) {
    const webhooks = await measureWebhooks(join(folder, 'webhooks'), say)
    console.log(webhookLines(webhooks))
    return writeFigures(jsonFile, { webhooks })
  }
  const plugin = onlyStartUp ? undefined : await pluginCall(sizes, folder)
  if (plugin && onlyPlugin) {
    console.log(pluginCallLine(plugin))
    return writeFigures(jsonFile, { plugin })
  }
  const load = onlyStartUp ? undefined : await underLoad(sizes, folder)
  say('start-up and bundle')
  const { startUp, bundle } = await measureStartUp(join(folder, 'bundles'), sizes.evaluations)
  if (load) console.log(`\n${operationsTable(load.operations)}\n`)
  console.log(`${startUpLine(startUp)}\n${bundleLine(bundle)}`)
  if (plugin) console.log(pluginCallLine(plugin))
  if (load) warnOfOtherPlans(load)
  writeFigures(jsonFile, { sizes, ...(load && underLoadByName(load)), startUp, bundle, plugin })
}

function writeFigures(jsonFile: string | undefined, figures: object): void {
  if (jsonFile === undefined) return
  writeFileSync(jsonFile, `${JSON.stringify({ commit: commit(), ...figures }, undefined, 2)}\n`)
}

type UnderLoad = { operations: Measured[]; plans: Map<Operation, Plan> }

/** Service and floor, started and ended. */
async function underLoad(sizes: Sizes, folder: string): Promise<UnderLoad> {
  const dataFolder = join(folder, 'service')
  say('making databases')
  const administrator = await prepareStores(dataFolder)
  const ofService = { config: CONFIG_FILE, dataFolder }

  say('recording what each operation asks of the platform')
  const recorder = await startWorker({ ...ofService, script: 'bench/recorder/worker.ts' })
  const { world, records } = await fill(recorder.origin, administrator, dataFolder)
  const plans = await recordPlans(recorder, world, records)
  await recorder.stop()
  for (const [{ name }, plan] of plans) say(`  ${name}: ${describePlan(plan)}`)

  say('starting service and floor')
  const service = await startWorker({ ...ofService, script: 'src/worker.ts' })
  const floor = await startWorker({
    config: 'bench/floor/wrangler.toml',
    script: 'bench/floor/worker.ts',
    dataFolder: join(folder, 'floor'),
  })
  const ours = serviceSide(service, world, records)
  const theirs = await floorSide(floor, plans, world, records)
  const operations = await measureAll(ours, theirs, sizes, say)
  ours.connection.close()
  theirs.connection.close()
  await stopWorkers()
  return { operations, plans }
}

/** A worker of its own, started and ended. */
async function pluginCall(sizes: Sizes, folder: string): Promise<PluginCallCost> {
  say('a call of a plugin')
  return await measurePluginCall(join(folder, 'plugin'), sizes.pluginRounds)
}

function warnOfOtherPlans({ operations, plans }: UnderLoad): void {
  for (const [{ name }, plan] of plans) {
    const batches = plan.worker.length + (plan.object?.length ?? 0)
    const { roundTrips } = operations.find(one => one.name === name)!
    const told = Number(/d1 (\d+)/.exec(waitedFor(roundTrips))?.[1] ?? 0)
    if (told !== batches)
      console.log(
        `'${name}': most answers took ${told} D1 round trips, the floor ${batches}; do not compare.`,
      )
  }
}

const underLoadByName = ({ operations, plans }: UnderLoad) => ({
  operations,
  plans: Object.fromEntries([...plans].map(([{ name }, plan]) => [name, plan])),
})

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2))
  const folder = mkdtempSync(join(tmpdir(), 'bindery-bench-'))
  let cleaned: Promise<void> | undefined
  const cleanUp = (): Promise<void> => {
    cleaned ??= stopWorkers().then(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    return cleaned
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => void cleanUp().finally(() => process.exit(130)))
  try {
    await bench(options, folder)
  } finally {
    await cleanUp()
  }
}

await main().catch((error: unknown) => {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
})
