// `npm run counts`: counts the platform calls of each operation, warm and idle, and of each transaction with everything that
// follows from it. Writes docs/counts.json, from which `npm run scale` makes the tables of docs/scale.md and the prices of
// docs/operate.md.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CONFIG_FILE } from '../scripts/write-config.ts'
import { median } from './bench/figures.ts'
import { receiveEvents } from './bench/load-run/receiver.ts'
import { type LoadTenant, makeTenants } from './bench/load-run/tenants.ts'
import { OPERATIONS, type Operation } from './bench/operations.ts'
import { emptyStock, type Side, type Stock, serviceSide, subjects } from './bench/sides.ts'
import { startWorker, stopWorkers, type Worker } from './bench/worker-process.ts'
import { fill, prepareStores } from './bench/world.ts'
import {
  COUNTS_FILE,
  type Count,
  type Counted,
  type CountedOperation,
  type CountedTransaction,
  type Counts,
  type Line,
  NEW_BUSINESS,
  NEW_BUSINESS_IN_TWO,
  POLICIES_AT_ONCE,
} from './counts/counted.ts'

const say = (line: string): void => console.error(`counts: ${line}`)

/** Consecutive rounds of all operations, whose medians count. */
const WARM = 5
/** After this time, isolates have forgotten the tenant, and a policy's object has left memory. */
const IDLE_MS = 12_000
/** After this time without activity, nothing more follows. */
const QUIET_MS = 4_000

const KEYS = ['d1', 'control', 'object', 'r2', 'queue', 'rowsRead', 'rowsWritten'] as const

const countOf = (lines: readonly Line[], combine: (values: readonly number[]) => number): Count =>
  Object.fromEntries(KEYS.map(key => [key, combine(lines.map(line => line[key]))])) as Count

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

async function fetchCounts(service: Worker): Promise<Counted> {
  return (await (await fetch(`${service.origin}/counted`)).json()) as Counted
}

/** Waits until nothing happens any more. Returns what happened, without ticks of the clock, which belong to no operation. */
async function countUntilQuiet(service: Worker): Promise<Counted> {
  const all: Counted = { lines: [], puts: 0, writes: 0 }
  for (let quietMs = 0; quietMs < QUIET_MS; quietMs += 500) {
    await sleep(500)
    const more = await fetchCounts(service)
    const lines = more.lines.filter(line => line.at !== 'cron')
    if (lines.length > 0) quietMs = 0
    all.lines.push(...lines)
    all.puts += more.puts
    all.writes += more.writes
  }
  return all
}

/** Carries out the operation on a subject. Returns the log line of its request. */
async function carryOut(service: Worker, side: Side, stock: Stock, operation: Operation, subject: string) {
  await fetchCounts(service)
  const { text } = await side.connection.send(side.call(operation, subject))
  const { lines } = await fetchCounts(service)
  side.leave(stock, operation, subject, text)
  return lines.find(({ at }) => at === 'request')!
}

/**
 * Carries out each operation on a subject, in order. Later operations use the records of earlier ones. `pause` runs before each.
 */
async function carryOutAll(service: Worker, side: Side, pause: () => Promise<unknown>): Promise<Line[]> {
  const stock = emptyStock()
  const lines: Line[] = []
  for (const operation of OPERATIONS) {
    const subject = (await subjects(side, operation, stock, 1)).next().value
    if (subject === undefined) throw new Error(`There is no record for the operation ${operation.name}.`)
    await pause()
    lines.push(await carryOut(service, side, stock, operation, subject))
  }
  return lines
}

async function countOperations(service: Worker, side: Side): Promise<CountedOperation[]> {
  const rounds: Line[][] = []
  for (let round = 0; round < WARM; round += 1)
    rounds.push(await carryOutAll(service, side, async () => undefined))
  say('each operation idle')
  const idle = await carryOutAll(service, side, () => sleep(IDLE_MS))
  return OPERATIONS.map(({ name }, at) => ({
    name,
    warm: countOf(
      rounds.map(lines => lines[at]!),
      median,
    ),
    idle: countOf([idle[at]!], sum),
  }))
}

type Journey = readonly [name: string, ...operations: string[]]

const NEW: Journey = [NEW_BUSINESS, 'create draft policy', 'price', 'finalize', 'issue']
const NEW_IN_TWO: Journey = [NEW_BUSINESS_IN_TWO, 'create and finalize policy', 'issue']

const JOURNEYS: readonly Journey[] = [
  NEW,
  ['payment', 'pay'],
  ['endorsement', 'endorse'],
  ['renewal', 'renew'],
  ['cancellation', 'cancel'],
]

/** Carries out the journey's operations, each on the result of the one before. */
async function travel(side: Side, stock: Stock, [, ...operations]: Journey): Promise<void> {
  for (const wanted of operations) {
    const operation = OPERATIONS.find(one => one.name === wanted)!
    const subject = (await subjects(side, operation, stock, 1)).next().value!
    const { text } = await side.connection.send(side.call(operation, subject))
    side.leave(stock, operation, subject, text)
    // New business is priced without the interface of quotes.
    stock.quoted.push(...stock.unquoted.splice(0))
    if (wanted === NEW_IN_TWO[1]) stock.finalized.push((JSON.parse(text) as { locator: string }).locator)
  }
}

/** Returns the share of one journey in everything that happened since the last look. */
function transactionOf(name: string, { lines, puts, writes }: Counted, journeys = 1): CountedTransaction {
  const share = (count: number): number => Math.round((count / journeys) * 100) / 100
  const times = (at: Line['at']): number => share(lines.filter(line => line.at === at).length)
  return {
    name,
    ...countOf(lines, values => share(sum(values))),
    requests: times('request'),
    alarms: times('alarm'),
    messages: times('queue'),
    puts: share(puts),
    writes: share(writes),
    lines: share(lines.length),
  }
}

async function countTransactions(service: Worker, side: Side): Promise<CountedTransaction[]> {
  const stock = emptyStock()
  const transactions: CountedTransaction[] = []
  // The first pass opens what later transactions find open, so it does not count.
  for (const isCounted of [false, true])
    for (const journey of [...JOURNEYS, NEW_IN_TWO]) {
      const [name] = journey
      say(`${name}, with all subsequent work`)
      await countUntilQuiet(service)
      await travel(side, stock, journey)
      const counted = await countUntilQuiet(service)
      if (isCounted) transactions.push(transactionOf(name, counted))
    }
  return transactions
}

/** Clients that send one request after the other. */
const LANES = 8

/** An isolate sends a limited number of hints in a minute. Each journey begins with none sent. */
const MINUTE_MS = 60_000

async function countAtOnce(service: Worker, side: Side): Promise<CountedTransaction[]> {
  const transactions: CountedTransaction[] = []
  for (const journey of [NEW, NEW_IN_TWO]) {
    const [name] = journey
    say(`${name}, ${POLICIES_AT_ONCE} at once`)
    await sleep(MINUTE_MS)
    await countUntilQuiet(service)
    const journeys = Array.from({ length: POLICIES_AT_ONCE }).values()
    const lane = async (): Promise<void> => {
      for (const _ of journeys) await travel(side, emptyStock(), journey)
    }
    await Promise.all(Array.from({ length: LANES }, lane))
    transactions.push(transactionOf(name, await countUntilQuiet(service), POLICIES_AT_ONCE))
  }
  return transactions
}

async function run(folder: string): Promise<Counts> {
  const administrator = await prepareStores(folder, 4)
  const service = await startWorker({
    config: CONFIG_FILE,
    script: 'tools/counts/worker.ts',
    dataFolder: folder,
  })
  const { world, records } = await fill(service.origin, administrator)
  const side = serviceSide(service, world, records)
  const operations = await countOperations(service, side)
  const receiver = await receiveEvents()
  // This tenant has the documents of the example, which the tenant of the bench lacks, and a webhook for every event.
  const [{ token }] = (await makeTenants(service.origin, administrator, 1, receiver.origin)) as [LoadTenant]
  const holder = await fetch(`${service.origin}/policyholder/create`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(world.policyholder),
  })
  const { locator: policyholderLocator } = (await holder.json()) as { locator: string }
  const other = serviceSide(service, { ...world, token, policyholderLocator }, records)
  const transactions = await countTransactions(service, other)
  const atOnce = await countAtOnce(service, other)
  other.connection.close()
  side.connection.close()
  receiver.close()
  await service.stop()
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  return { commit, operations, transactions, atOnce }
}

const folder = mkdtempSync(join(tmpdir(), 'bindery-counts-'))
try {
  const counts = await run(folder)
  writeFileSync(COUNTS_FILE, `${JSON.stringify(counts, null, 2)}\n`)
  say(`${COUNTS_FILE} is written`)
} finally {
  await stopWorkers()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
