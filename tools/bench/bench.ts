// `npm run bench [-- --full] [-- --PART | --against COMMIT | --record-floor COMMIT] [-- --record] [-- --only NAME,…] [-- --json
// FILE]`: compares the service with the least that the platform allows. Starts all that it needs on free ports and in its own
// folder, and removes it afterwards. See docs/bench.md.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildBundles } from '../../scripts/bundles.ts'
import { writeRouteIndex } from '../../scripts/route-index.ts'
import { writeConfig } from '../../scripts/write-config.ts'
import { removeCheckout } from './against.ts'
import type { HeapFigures } from './heap-over-time.ts'
import { recordFloor } from './kept-plans.ts'
import { assertFlat } from './migration/growth.ts'
import type { MigrationFigures } from './migration/migration.ts'
import { type Options, readOptions } from './options.ts'
import { measurePart } from './parts.ts'
import { describePlan } from './plan.ts'
import { recordHeap, recordReference, recordReports } from './recorded.ts'
import { measureChanges, measureReference, measureSome } from './reference.ts'
import type { ReportsFigures } from './reports.ts'
import { stopWorkers } from './worker-process.ts'

const say = (line: string): void => console.error(`bench: ${line}`)

function commit(): string | undefined {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return undefined
  }
}

/** Measures the requested part, or else the reference or the requested operations of it. */
async function measure({ sizes, part, against, only }: Options, folder: string) {
  if (part) return await measurePart(part, folder, sizes, say)
  if (against !== undefined) return await measureChanges(against, only, folder, sizes, say)
  if (only) return await measureSome(only, folder, sizes, say)
  return await measureReference(folder, sizes, say)
}

async function bench(options: Options, folder: string): Promise<void> {
  const { sizes, part, floorOf, recorded, jsonFile } = options
  writeConfig()
  await writeRouteIndex()
  await buildBundles()
  if (floorOf !== undefined) {
    const { plans } = await recordFloor(floorOf, folder)
    for (const [name, plan] of Object.entries(plans)) console.log(`${name}: ${describePlan(plan)}`)
    return
  }
  const { figures, text } = await measure(options, folder)
  console.log(text)
  if (jsonFile !== undefined)
    writeFileSync(jsonFile, `${JSON.stringify({ commit: commit(), sizes, ...figures }, undefined, 2)}\n`)
  if (recorded && part === 'heap') recordHeap((figures as { heap: HeapFigures }).heap)
  else if (recorded && part === 'reports') recordReports((figures as { reports: ReportsFigures }).reports)
  else if (recorded) recordReference(figures as never)
  if (part === 'migration') assertFlat((figures as { migration: MigrationFigures }).migration)
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2))
  const folder = mkdtempSync(join(tmpdir(), 'bindery-bench-'))
  let cleaned: Promise<void> | undefined
  const cleanUp = (): Promise<void> => {
    cleaned ??= stopWorkers().then(() => {
      if (options.against !== undefined || options.floorOf !== undefined) removeCheckout(folder)
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    })
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
