// What a call of a plugin costs beside the plugin's own time, in the isolate runner.
import { workedPolicies, zipOf } from '../scripts/example.ts'
import { CONFIG_FILE } from '../scripts/write-config.ts'
import { median } from './figures.ts'
import { startWorker } from './worker-process.ts'

export const PLUGIN_CALL_GOAL = 1.3

export type PluginCallCost = {
  /** Characters of JSON that one call gives the sandbox. */
  characters: number
  /** Milliseconds of a call that rates 5,000 perils, medians. */
  throughRunnerMs: number
  /** The function alone, compiled as the sandbox compiles it; and with reading its input from JSON and writing its answer. */
  aloneMs: number
  readingMs: number
  /** The function alone, of files that are CommonJS modules of a Worker. */
  asModulesMs: number
  ratio: number
  ratioToReading: number
  ratioToModules: number
}

type Way = 'through' | 'alone' | 'reading' | 'asModules'

const CALLS_A_RUN = 5

/** Calls the plugin of the motor example through the runner and alone, in turns. */
export async function measurePluginCall(dataFolder: string, rounds: number): Promise<PluginCallCost> {
  const worker = await startWorker({ config: CONFIG_FILE, dataFolder, script: 'bench/plugin-call/worker.ts' })
  const [plain] = workedPolicies()
  const form = new FormData()
  form.set('zip', new Blob([zipOf('examples/motor/configuration')]))
  const { policy, policyholder } = plain!.request
  form.set('request', JSON.stringify({ policy, values: policyholder.values }))
  const { characters } = await asked<{ characters: number }>(
    await fetch(`${worker.origin}/record`, { method: 'POST', body: form }),
  )
  const run = async (path: string): Promise<number> => {
    const began = performance.now()
    const { priced } = await asked<{ priced: number }>(
      await fetch(`${worker.origin}${path}times=${CALLS_A_RUN}`),
    )
    if (priced !== CALLS_A_RUN * 5_000) throw new Error(`${path} priced ${priced} perils.`)
    return (performance.now() - began) / CALLS_A_RUN
  }
  const times: Record<Way, number>[] = []
  for (let round = 0; round <= rounds; round += 1)
    times.push({
      through: await run('/through?'),
      alone: await run('/alone?'),
      reading: await run('/alone?reads&'),
      asModules: await run('/alone?modules&'),
    })
  await worker.stop()
  // The first round warms up.
  const medianOf = (way: Way) => median(times.slice(1).map(one => one[way]))
  const [throughRunnerMs, aloneMs] = [medianOf('through'), medianOf('alone')]
  const [readingMs, asModulesMs] = [medianOf('reading'), medianOf('asModules')]
  return {
    characters,
    throughRunnerMs,
    aloneMs,
    readingMs,
    asModulesMs,
    ratio: throughRunnerMs / aloneMs,
    ratioToReading: throughRunnerMs / readingMs,
    ratioToModules: throughRunnerMs / asModulesMs,
  }
}

async function asked<Answer>(response: Response): Promise<Answer> {
  const text = await response.text()
  if (!response.ok)
    throw new Error(`The worker of the bench answered ${response.status}: ${text.slice(0, 500)}`)
  return JSON.parse(text) as Answer
}
