// `npm run scale -- FILE`: what one policy, one tenant, one cell and the whole system can carry, reckoned from the counts of
// `npm run bench -- --json FILE` and the platform's published limits. Writes its tables into docs/scale.md.
import { readFileSync } from 'node:fs'
import { writeSection } from './measured.ts'

/** Of the file, what the model needs: an operation of the bench as the service carries it out. */
type Counted = {
  name: string
  service: { cpuMs?: number; roundTrips: string; rowsRead: number; rowsWritten: number }
}

type Figures = { commit?: string; operations: Counted[] }

/** As the provider publishes them (docs/scale.md names the pages). */
const PLATFORM = {
  databaseBytes: 10e9,
  databasesOfAccount: 50_000,
  bytesOfAccount: 1e12,
  bindingsOfWorker: 5_000,
  objectRequestsPerSecond: 1_000,
  queueMessagesPerSecond: 5_000,
} as const

/**
 * How long a database is busy with one batch, in milliseconds: the provider tells "less than a millisecond" of a read by an
 * index, and "several milliseconds" of a write. The model reckons with these, and with half and double of the write.
 */
const READ_MS = 1
const WRITE_MS = 5

/** Of Bindery. */
const SHARDS_OF_TENANT = 64
/** Bindings of a Worker that are no tenant's database, generously. */
const OTHER_BINDINGS = 100

/** A policy with its documents, deliveries and 1.4 transactions; growth of databases under `npm run load`. */
const BYTES_OF_POLICY = 27_000

/**
 * Batches that a policy that is issued has done afterwards: one claim of its documents and one write of them; deliveries to one
 * webhook are claimed and settled, several at a time.
 */
const AFTERWARDS = { reads: 2, writes: 4, messages: 5 } as const

/** The published figure: policies from quote to issue a second, for fifteen minutes. */
const PUBLISHED = { perSecond: 192, minutes: 15 } as const

/** What a policy goes through from quote to issue. */
const JOURNEY = ['create draft policy', 'price', 'finalize', 'issue'] as const

type Cost = {
  name: string
  reads: number
  writes: number
  rowsRead: number
  rowsWritten: number
  cpuMs: number
}

/** A request's batches: one that writes rows writes them in one of its round trips, and reads in the others. */
function costOf({ name, service }: Counted): Cost {
  const trips = Number(/\bd1 (\d+)/.exec(service.roundTrips)?.[1] ?? 0)
  const writes = service.rowsWritten > 0 ? 1 : 0
  const { rowsRead, rowsWritten, cpuMs = Number.NaN } = service
  return { name, reads: Math.max(0, trips - writes), writes, rowsRead, rowsWritten, cpuMs }
}

const sumOf = (name: string, costs: readonly Cost[]): Cost => {
  const sum = (of: (cost: Cost) => number): number => costs.reduce((total, cost) => total + of(cost), 0)
  return {
    name,
    reads: sum(cost => cost.reads),
    writes: sum(cost => cost.writes),
    rowsRead: sum(cost => cost.rowsRead),
    rowsWritten: sum(cost => cost.rowsWritten),
    cpuMs: sum(cost => cost.cpuMs),
  }
}

/** Rows that are read in a millisecond: a batch that reads more takes longer. */
const ROWS_OF_A_READ = 1_000

/** Milliseconds for which a database is busy. */
const busyMs = (
  { reads, writes, rowsRead = 0 }: Pick<Cost, 'reads' | 'writes'> & { rowsRead?: number },
  writeMs: number,
): number => (reads + Math.floor(rowsRead / ROWS_OF_A_READ)) * READ_MS + writes * writeMs

const perSecond = (ms: number): number => 1_000 / ms

const whole = (value: number): string => Math.floor(value).toLocaleString('en-US')

const one = (value: number): string => (Number.isNaN(value) ? '–' : value.toFixed(1))

const tableOf = (headings: readonly string[], rows: readonly (readonly string[])[]): string =>
  [
    `| ${headings.join(' | ')} |`,
    `| ${headings.map((_, column) => (column === 0 ? '---' : '---:')).join(' | ')} |`,
    ...rows.map(row => `| ${row.join(' | ')} |`),
  ].join('\n')

const countsTable = (costs: readonly Cost[]): string =>
  tableOf(
    [
      'operation',
      'batches that read',
      'that write',
      'rows read',
      'rows written',
      'CPU ms here',
      'of one database a second',
    ],
    costs.map(cost => [
      cost.name,
      String(cost.reads),
      String(cost.writes),
      whole(cost.rowsRead),
      whole(cost.rowsWritten),
      one(cost.cpuMs),
      cost.reads + cost.writes === 0 ? 'any number' : whole(perSecond(busyMs(cost, WRITE_MS))),
    ]),
  )

/** From quote to issue, with what is done afterwards, in databases. */
function carried(journey: Cost): string {
  const all = { reads: journey.reads + AFTERWARDS.reads, writes: journey.writes + AFTERWARDS.writes }
  const row = (writeMs: number): string[] => {
    const alone = perSecond(busyMs(journey, writeMs))
    const shard = perSecond(busyMs(all, writeMs))
    return [
      `${writeMs} ms`,
      one(alone),
      one(shard),
      one(shard * SHARDS_OF_TENANT),
      String(Math.ceil(PUBLISHED.perSecond / shard)),
      whole(shard * (PLATFORM.bindingsOfWorker - OTHER_BINDINGS)),
    ]
  }
  return tableOf(
    [
      'a write batch takes',
      'quote to issue a second, one database',
      'with documents and a webhook',
      `one tenant on ${SHARDS_OF_TENANT} databases`,
      `databases for ${PUBLISHED.perSecond} a second`,
      'all databases of a cell',
    ],
    [WRITE_MS / 2, WRITE_MS, WRITE_MS * 2].map(row),
  )
}

/** What each has room for, and what ends it. */
function rooms(journey: Cost, issue: Cost): string {
  const all = { reads: journey.reads + AFTERWARDS.reads, writes: journey.writes + AFTERWARDS.writes }
  const shard = perSecond(busyMs(all, WRITE_MS))
  const policiesOfShard = PLATFORM.databaseBytes / BYTES_OF_POLICY
  const databases = PLATFORM.bindingsOfWorker - OTHER_BINDINGS
  const byQueue = PLATFORM.queueMessagesPerSecond / AFTERWARDS.messages
  const cell = Math.min(shard * databases, byQueue)
  const cells = Math.floor(PLATFORM.databasesOfAccount / databases)
  return tableOf(
    ['', 'quote to issue a second', 'policies that it holds', 'what ends it first'],
    [
      [
        'one policy',
        `${one(perSecond(busyMs(issue, WRITE_MS)))} transactions`,
        '1',
        `one after the other, each with its write; its object alone would take ${whole(PLATFORM.objectRequestsPerSecond)} requests`,
      ],
      ['one shard', one(shard), whole(policiesOfShard), 'the writer of its database; 10 GB'],
      [
        `one tenant, ${SHARDS_OF_TENANT} shards`,
        one(Math.min(shard * SHARDS_OF_TENANT, byQueue)),
        whole(policiesOfShard * SHARDS_OF_TENANT),
        'digit locators tell 64 shards',
      ],
      [
        `one cell, ${whole(databases)} databases`,
        one(cell),
        whole(Math.min(policiesOfShard * databases, PLATFORM.bytesOfAccount / BYTES_OF_POLICY)),
        `hints by queue, ${whole(PLATFORM.queueMessagesPerSecond)} messages a second (beyond it the clock finds what is due, a minute later); 1 TB an account, more on request`,
      ],
      [
        `one account, ${cells} cells`,
        one(cell * cells),
        whole(PLATFORM.bytesOfAccount / BYTES_OF_POLICY),
        '1 TB of databases until the provider grants more; 50,000 databases',
      ],
      [
        'the whole system',
        'as many times as accounts',
        'as many times as accounts',
        'nothing is shared between cells',
      ],
    ],
  )
}

function published(journey: Cost): string {
  const all = { reads: journey.reads + AFTERWARDS.reads, writes: journey.writes + AFTERWARDS.writes }
  const shard = perSecond(busyMs(all, WRITE_MS))
  const policies = PUBLISHED.perSecond * PUBLISHED.minutes * 60
  const tenants = Math.ceil(PUBLISHED.perSecond / shard)
  const gigabytes = (policies * BYTES_OF_POLICY) / 1e9
  return [
    `${PUBLISHED.perSecond} a second for ${PUBLISHED.minutes} minutes are ${whole(policies)} policies. That is ${tenants} tenants of one database each, at ${one(shard)} a second, or one tenant of ${tenants} databases; they grow by ${one(gigabytes)} GB together, ${one(gigabytes / tenants)} GB each of 10.`,
    `One tenant alone, on ${SHARDS_OF_TENANT} databases, has room for ${one(Math.min(shard * SHARDS_OF_TENANT, PLATFORM.queueMessagesPerSecond / AFTERWARDS.messages) / PUBLISHED.perSecond)} times that rate.`,
  ].join('\n')
}

function main(): void {
  const [file] = process.argv.slice(2)
  if (file === undefined)
    throw new Error('npm run scale -- FILE, which `npm run bench -- --json FILE` wrote.')
  const figures = JSON.parse(readFileSync(file, 'utf8')) as Figures
  const costs = figures.operations.map(costOf)
  const steps = JOURNEY.map(name => {
    const cost = costs.find(operation => operation.name === name)
    if (!cost)
      throw new Error(
        `${file} has no operation '${name}'; it has ${costs.map(each => each.name).join(', ')}.`,
      )
    return cost
  })
  const journey = sumOf('**quote to issue**', steps)
  const issue = steps.at(-1)!
  const sections: Record<string, string> = {
    counts: countsTable([...costs, journey]),
    carried: carried(journey),
    rooms: rooms(journey, issue),
    published: published(journey),
  }
  for (const [name, markdown] of Object.entries(sections)) {
    console.log(`${markdown}\n`)
    writeSection(name, markdown, 'docs/scale.md')
  }
}

try {
  main()
} catch (error) {
  console.error(`scale: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
