// `npm run bench [-- --full] [-- --json FILE]`: how the service compares with the least that the platform allows.
// Starts all it needs on free ports and in a folder of its own, and removes both. See docs/bench.md.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Service } from '../scripts/service.ts'
import { CONFIG_FILE } from '../scripts/write-config.ts'
import { type Options, readOptions } from './options.ts'
import { describePlan } from './plan.ts'
import { recordPlans } from './record.ts'
import { bundleLine, operationsTable, startUpLine } from './report.ts'
import { waitedFor } from './round-trips.ts'
import { measureAll } from './rounds.ts'
import { floorSide, serviceSide } from './sides.ts'
import { measureStartUp } from './start-up.ts'
import { startWorker, stopWorkers } from './worker-process.ts'
import { fill, prepareStores } from './world.ts'

const say = (line: string): void => console.error(`bench: ${line}`)

async function routesOf({ origin }: Service): Promise<number> {
  const response = await fetch(`${origin}/openapi.json`)
  const { paths } = (await response.json()) as { paths: Record<string, object> }
  return Object.values(paths).flatMap(Object.keys).length
}

function commit(): string | undefined {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return undefined
  }
}

async function bench({ sizes, jsonFile }: Options, folder: string): Promise<void> {
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
  const routes = await routesOf(service)
  ours.connection.close()
  theirs.connection.close()
  await stopWorkers()

  say('start-up and bundle')
  const { startUp, bundle } = await measureStartUp(routes, join(folder, 'bundles'), sizes.evaluations)

  console.log(`\n${operationsTable(operations)}\n\n${startUpLine(startUp)}\n${bundleLine(bundle)}`)
  for (const [{ name }, plan] of plans) {
    const batches = plan.worker.length + (plan.object?.length ?? 0)
    const { roundTrips } = operations.find(one => one.name === name)!
    const told = Number(/d1 (\d+)/.exec(waitedFor(roundTrips))?.[1] ?? 0)
    if (told !== batches)
      console.log(
        `'${name}': most answers took ${told} D1 round trips, the floor ${batches}; do not compare.`,
      )
  }
  if (jsonFile === undefined) return
  const figures = { commit: commit(), sizes, operations, plans: plansByName(plans), startUp, bundle }
  writeFileSync(jsonFile, `${JSON.stringify(figures, undefined, 2)}\n`)
}

const plansByName = (plans: Awaited<ReturnType<typeof recordPlans>>): Record<string, unknown> =>
  Object.fromEntries([...plans].map(([{ name }, plan]) => [name, plan]))

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
