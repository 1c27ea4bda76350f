// Measures the overhead of a plugin call over the plugin's own time, in the isolate runner.
import { workedPolicies, zipOf } from '../../scripts/example.ts'
import { CONFIG_FILE } from '../../scripts/write-config.ts'
import { median, quantile } from './figures.ts'
import { startWorker } from './worker-process.ts'

export const PLUGIN_CALL_GOAL = 1.3

/** What a call is compared with. */
type Other = 'asWritten' | 'reading' | 'compiled'

export type PluginCallCost = {
  /** Characters of JSON that one call passes to the sandbox. */
  characters: number
  /** Median milliseconds of a call that rates 5,000 perils. */
  throughRunnerMs: number
  /**
   * The plugin as its author runs it: its files unchanged, as CommonJS modules of a plain Worker, with its input in memory and
   * its result unused (`asWritten`). The same with parsing its input from JSON and serializing its result (`reading`). And the
   * plugin compiled in the way that only the sandbox can (`compiled`).
   */
  alone: Record<Other, { ms: number; ratio: Ratio }>
}

/** How many times as long as the other the call takes: the median of the rounds, and the limits of their middle half. */
export type Ratio = { median: number; from: number; to: number }

const CALLS_A_RUN = 5

/** Rounds before those that count. The engine has optimized the code after about fifty calls. */
const WARM_UP_ROUNDS = 12

const PATHS: Record<'through' | Other, string> = {
  through: '/through?',
  asWritten: '/alone?',
  reading: '/alone?reads&',
  compiled: '/alone?compiled&',
}

/** Calls the plugin of the motor example through the runner and alone, alternately. */
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
  const { characters } = await readResult<{ characters: number }>(
    await fetch(`${worker.origin}/record`, { method: 'POST', body: form }),
  )
  const run = async (path: string): Promise<number> => {
    const began = performance.now()
    const { priced } = await readResult<{ priced: number }>(
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
  // Compared within each round, because other load on the machine slows down both consecutive runs.
  const compareWith = (other: Other) => {
    const ratios = counted.map(one => one.through / one[other])
    const ratio = { median: median(ratios), from: quantile(ratios, 0.25), to: quantile(ratios, 0.75) }
    return { ms: median(counted.map(one => one[other])), ratio }
  }
  return {
    characters,
    throughRunnerMs: median(counted.map(one => one.through)),
    alone: {
      asWritten: compareWith('asWritten'),
      reading: compareWith('reading'),
      compiled: compareWith('compiled'),
    },
  }
}

async function readResult<Answer>(response: Response): Promise<Answer> {
  const text = await response.text()
  if (!response.ok)
    throw new Error(`The worker of the benchmark responded with ${response.status}: ${text.slice(0, 500)}`)
  return JSON.parse(text) as Answer
}
