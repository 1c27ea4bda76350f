// `npm run load [-- --minutes N] [--tenants N] [--users N] [--think SECONDS] [--burst SECONDS] [--seed N]`: runs mixed traffic of
// many tenants and a burst of ten times as many requests, and checks that the service then recovers. Starts its own service in
// its own folder and removes both. Writes its table to docs/measured.md. Fails if a response was neither 2xx nor 429, an event
// did not arrive, work is left waiting, the burst was too small, or latency stays too high (tools/bench/load-run/report.ts).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { CONFIG_FILE } from '../scripts/write-config.ts'
import { startWatched } from './bench/heap.ts'
import { type Backlog, isDrained, openDatabases } from './bench/load-run/backlog.ts'
import { receiveEvents } from './bench/load-run/receiver.ts'
import {
  BURST_TIMES,
  type LoadFigures,
  loadMarkdown,
  problemsOf,
  type Span,
} from './bench/load-run/report.ts'
import { newAsker } from './bench/load-run/samples.ts'
import { makeTenants } from './bench/load-run/tenants.ts'
import { startBurst, startUsers } from './bench/load-run/user.ts'
import { stopWorkers } from './bench/worker-process.ts'
import { prepareStores } from './bench/world.ts'
import { measuredAt, writeSection } from './measured.ts'

const say = (line: string): void => console.error(`load: ${line}`)

const OPTIONS = {
  minutes: '10',
  tenants: '20',
  /** Users of each tenant. */
  users: '1',
  /** Average seconds between two actions of a user. */
  think: '4',
  burst: '30',
  seed: '1',
} as const

/** Connections at any time. A request that waits for one includes the wait in its latency. */
const CONNECTIONS = 256
const MINUTE_MS = 60_000
/** How long the backlog of the burst may take. */
const LONGEST_DRAIN_MS = 15 * MINUTE_MS
const LOOK_EVERY_MS = 1_000

type Sizes = Record<keyof typeof OPTIONS, number>

function readSizes(words: readonly string[]): Sizes {
  const { values } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      Object.entries(OPTIONS).map(([name, value]) => [name, { type: 'string' as const, default: value }]),
    ),
  })
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const number = Number(value)
      if (!Number.isFinite(number) || number <= 0) throw new Error(`--${name} needs a number above 0.`)
      return [name, number]
    }),
  ) as Sizes
}

const mostOf = (one: Backlog, other: Backlog): Backlog => ({
  deliveries: Math.max(one.deliveries, other.deliveries),
  documents: Math.max(one.documents, other.documents),
  timers: Math.max(one.timers, other.timers),
})

const fitsIn = (backlog: Backlog, most: Backlog): boolean =>
  backlog.deliveries <= most.deliveries &&
  backlog.documents <= most.documents &&
  backlog.timers <= most.timers

async function load(sizes: Sizes, folder: string): Promise<LoadFigures> {
  say('creating databases')
  const administrator = await prepareStores(folder, sizes.tenants)
  const { service, usedMegabytes } = await startWatched({
    config: CONFIG_FILE,
    script: 'src/worker.ts',
    dataFolder: folder,
  })
  const receiver = await receiveEvents()
  say(`creating ${sizes.tenants} tenants`)
  const tenants = await makeTenants(service.origin, administrator, sizes.tenants, receiver.origin)
  const databases = openDatabases(folder)
  const { ask, samples, close } = newAsker(service.origin, CONNECTIONS)
  let seed = sizes.seed
  const seeds = (): number => {
    seed += 1
    return seed
  }
  let worst = databases.backlog()
  /** Watches the backlog for this time. Returns the span. */
  const watch = async (longMs: number): Promise<Span> => {
    const from = performance.now()
    while (performance.now() - from < longMs) {
      await sleep(Math.min(LOOK_EVERY_MS, longMs))
      worst = mostOf(worst, databases.backlog())
    }
    return { from, to: performance.now() }
  }
  const printProgress = (what: string): void => {
    const { deliveries, documents, timers } = databases.backlog()
    say(
      `${what}; ${samples.all.length} responses, ${samples.failures.length} wrong; waiting: ${deliveries} deliveries, ${documents} documents, ${timers} timers`,
    )
  }

  // Measured only without traffic, because the garbage collection for a debugger delays every request.
  const heapBefore = await usedMegabytes()
  say(`${sizes.minutes} minutes of traffic`)
  const thinkMs = sizes.think * 1_000
  const all = tenants.flatMap(tenant => Array<typeof tenant>(sizes.users).fill(tenant))
  const users = startUsers(ask, all, seeds, thinkMs)
  await watch(Math.max(0, sizes.minutes * MINUTE_MS - MINUTE_MS))
  const begunBefore = samples.begun
  const before = await watch(MINUTE_MS)
  const usual = worst
  printProgress(`a burst of ${BURST_TIMES} times as many requests for ${sizes.burst} s`)
  const perSecond = ((samples.begun - begunBefore) / (before.to - before.from)) * 1_000
  const more = startBurst(ask, tenants, seeds, thinkMs, perSecond * BURST_TIMES, () => samples.begun)
  const burst = await watch(sizes.burst * 1_000)
  await more.stop()
  printProgress('over')
  const left = performance.now()
  const awaits = async (enough: (backlog: Backlog) => boolean, since: number): Promise<void> => {
    while (!enough(databases.backlog())) {
      if (performance.now() - since > LONGEST_DRAIN_MS)
        throw new Error(
          `${LONGEST_DRAIN_MS / MINUTE_MS} minutes later, ${JSON.stringify(databases.backlog())} is still waiting.`,
        )
      await watch(LOOK_EVERY_MS)
    }
  }
  await awaits(backlog => fitsIn(backlog, usual), left)
  const drainedMs = performance.now() - left
  printProgress('the backlog is no larger than before the burst; another minute of traffic')
  const after = await watch(MINUTE_MS)
  await users.stop()
  await awaits(isDrained, performance.now())
  const heapAfter = await usedMegabytes()
  printProgress('all users have stopped, and the backlog is empty')

  const book = databases.book()
  const received = new Set([...receiver.received.values()].flatMap(locators => [...locators]))
  databases.close()
  close()
  receiver.close()
  await service.stop()
  return {
    tenants: sizes.tenants,
    users: all.length,
    minutes: sizes.minutes,
    samples: samples.all,
    failures: samples.failures,
    before,
    burst,
    after,
    worstBacklog: worst,
    drainedMs,
    book,
    delivered: [...book.toDeliver].filter(locator => received.has(locator)).length,
    heapMb: { before: heapBefore, after: heapAfter },
  }
}

async function main(): Promise<void> {
  const sizes = readSizes(process.argv.slice(2))
  const folder = mkdtempSync(join(tmpdir(), 'bindery-load-'))
  let cleaned: Promise<void> | undefined
  const cleanUp = (): Promise<void> => {
    cleaned ??= stopWorkers().then(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    return cleaned
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => void cleanUp().finally(() => process.exit(130)))
  try {
    const figures = await load(sizes, folder)
    const markdown = loadMarkdown(figures)
    console.log(markdown)
    writeSection('load', `## Load\n\n\`npm run load\`. ${measuredAt()}\n\n${markdown}`)
    for (const { call, status, text } of figures.failures.slice(0, 10)) say(`${status} for ${call}: ${text}`)
    const problems = problemsOf(figures)
    if (problems.length > 0) throw new Error(`${problems.join('; ')}.`)
  } finally {
    await cleanUp()
  }
}

await main().catch((error: unknown) => {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
})
