// What a call of a plugin costs beside the plugin's own time, in the isolate runner.
import { workedPolicies, zipOf } from '../../scripts/example.ts'
import { CONFIG_FILE } from '../../scripts/write-config.ts'
import { median, quantile } from './figures.ts'
import { startWorker } from './worker-process.ts'

export const PLUGIN_CALL_GOAL = 1.3

/** What a call is held against. */
type Other = 'asWritten' | 'reading' | 'compiled'

export type PluginCallCost = {
  /** Characters of JSON that one call gives the sandbox. */
  characters: number
  /** Milliseconds of a call that rates 5,000 perils, medians. */
  throughRunnerMs: number
  /**
   * The plugin as its author runs it: its files as they are written, CommonJS modules of a plain Worker, its input in memory,
   * nothing done with its answer. The same with reading its input from JSON and writing its answer. And the plugin
   * compiled as only the sandbox can compile it.
   */
  alone: Record<Other, { ms: number; ratio: Ratio }>
}

/** How many times as long as the other the call takes: medians of what the rounds say, and where their middle half lies. */
export type Ratio = { median: number; from: number; to: number }

const CALLS_A_RUN = 5

/** Rounds before those that count: what the engine makes of the code is settled after some fifty calls. */
const WARM_UP_ROUNDS = 12

const PATHS: Record<'through' | Other, string> = {
  through: '/through?',
  asWritten: '/alone?',
  reading: '/alone?reads&',
  compiled: '/alone?compiled&',
}

/** Calls the plugin of the motor example through the runner and alone, in turns. */
export async function measurePluginCall(dataFolder: string, rounds: number): Promise<PluginCallCost> {
  const worker = await startWorker({
    config: CONFIG_FILE,
    dataFolder,
    script: 'tools/bench/plugin-call/worker.ts',
  })
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
  const times: Record<keyof typeof PATHS, number>[] = []
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round += 1)
    times.push({
      through: await run(PATHS.through),
      asWritten: await run(PATHS.asWritten),
      reading: await run(PATHS.reading),
      compiled: await run(PATHS.compiled),
    })
  await worker.stop()
  const counted = times.slice(WARM_UP_ROUNDS)
  // Of each round by itself: what else the machine does lengthens both that follow each other.
  const against = (other: Other) => {
    const ratios = counted.map(one => one.through / one[other])
    const ratio = { median: median(ratios), from: quantile(ratios, 0.25), to: quantile(ratios, 0.75) }
    return { ms: median(counted.map(one => one[other])), ratio }
  }
  return {
    characters,
    throughRunnerMs: median(counted.map(one => one.through)),
    alone: {
      asWritten: against('asWritten'),
      reading: against('reading'),
      compiled: against('compiled'),
    },
  }
}

async function asked<Answer>(response: Response): Promise<Answer> {
  const text = await response.text()
  if (!response.ok)
    throw new Error(`The worker of the bench answered ${response.status}: ${text.slice(0, 500)}`)
  return JSON.parse(text) as Answer
}
