// `npm run scale`: calculates what one policy, one tenant, one cell and the whole system can carry, and what it costs, from the
// counts of `npm run counts` and the platform's published limits and prices. Writes docs/scale.md and docs/operate.md.

import { WATCH_MS } from '../src/platform/events/outbox.ts'
import {
  type Count,
  type CountedOperation,
  type CountedTransaction,
  NEW_BUSINESS,
  NEW_BUSINESS_IN_TWO,
  POLICIES_AT_ONCE,
  readCounts,
} from './counts/counted.ts'
import { writeSection } from './measured.ts'

/** As the provider publishes them (docs/scale.md names the pages). */
const PLATFORM = {
  databaseBytes: 10e9,
  databasesOfAccount: 1_000_000,
  bytesOfAccount: 1e12,
  objectRequestsPerSecond: 1_000,
  queueMessagesPerSecond: 5_000,
} as const

/** Bindery's own limit, at which `npm run pool` stops. */
const DATABASES_OF_CELL = 4_500

/**
 * How long a database is busy with one batch, in milliseconds. The provider states "less than a millisecond" for a read by an
 * index, and "several milliseconds" for a write. The model calculates with these values, and with half and double of the write.
 */
const READ_MS = 1
const WRITE_MS = 5

const SHARDS_OF_TENANT = 64

/** A policy with its documents, deliveries and 1.4 transactions, from the growth of databases under `npm run load`. */
const BYTES_OF_POLICY = 27_000

/** The published figure: policies from quote to issue a second, for fifteen minutes. */
const PUBLISHED = { perSecond: 192, minutes: 15 } as const

/** The requests of a policy from quote to issue: four, or the two that do the same. */
const JOURNEY = ['create draft policy', 'price', 'finalize', 'issue'] as const
const JOURNEY_IN_TWO = ['create and finalize policy', 'issue'] as const

type Cost = {
  name: string
  reads: number
  writes: number
  rowsRead: number
  rowsWritten: number
}

/** Returns a request's batches. One that writes rows writes them in one of its round trips, and reads in the others. */
function costOf({ name, warm }: CountedOperation): Cost {
  const writes = warm.rowsWritten > 0 ? 1 : 0
  const { rowsRead, rowsWritten } = warm
  return { name, reads: Math.max(0, warm.d1 - warm.control - writes), writes, rowsRead, rowsWritten }
}

const sumOf = (name: string, costs: readonly Cost[]): Cost => {
  const sum = (of: (cost: Cost) => number): number => costs.reduce((total, cost) => total + of(cost), 0)
  return {
    name,
    reads: sum(cost => cost.reads),
    writes: sum(cost => cost.writes),
    rowsRead: sum(cost => cost.rowsRead),
    rowsWritten: sum(cost => cost.rowsWritten),
  }
}

/** A sold policy: the batches of its requests and of what follows (documents, deliveries), and messages of queues. */
type Sold = Pick<Cost, 'reads' | 'writes'> & { readonly messages: number }

const soldOf = ({ d1, control, writes, messages }: CountedTransaction): Sold => ({
  reads: Math.max(0, d1 - control - writes),
  writes,
  messages,
})

/** Rows read in a millisecond. A batch that reads more takes longer. */
const ROWS_OF_A_READ = 1_000

/** Returns the milliseconds for which a database is busy. */
const busyMs = (
  { reads, writes, rowsRead = 0 }: Pick<Cost, 'reads' | 'writes'> & { rowsRead?: number },
  writeMs: number,
): number => (reads + Math.floor(rowsRead / ROWS_OF_A_READ)) * READ_MS + writes * writeMs

const perSecond = (ms: number): number => 1_000 / ms

const whole = (value: number): string => Math.floor(value).toLocaleString('en-US')

const one = (value: number): string => value.toFixed(1)

const tableOf = (headings: readonly string[], rows: readonly (readonly string[])[]): string =>
  [
    `| ${headings.join(' | ')} |`,
    `| ${headings.map((_, column) => (column === 0 ? '---' : '---:')).join(' | ')} |`,
    ...rows.map(row => `| ${row.join(' | ')} |`),
  ].join('\n')

/** Formats round trips: `d1 1, object 1`. Databases of the tenant are `d1`, the control database is `control`. */
const tripsOf = ({ d1, control, object, r2, queue }: Count): string =>
  Object.entries({ d1: d1 - control, control, object, r2, queue })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ') || 'none'

const countsTable = (operations: readonly CountedOperation[]): string =>
  tableOf(
    ['operation', 'round trips', 'idle', 'rows read', 'rows written', 'per second and database'],
    operations.map(operation => {
      const cost = costOf(operation)
      return [
        operation.name,
        tripsOf(operation.warm),
        tripsOf(operation.idle),
        whole(cost.rowsRead),
        whole(cost.rowsWritten),
        cost.reads + cost.writes === 0 ? 'any number' : whole(perSecond(busyMs(cost, WRITE_MS))),
      ]
    }),
  )

const transactionsTable = (transactions: readonly CountedTransaction[]): string =>
  tableOf(
    [
      'transaction',
      'requests',
      'D1 round trips',
      'with writes',
      'rows read',
      'rows written',
      'calls to objects',
      'alarms',
      'messages',
      'files written',
      'read or checked',
      'log lines',
    ],
    transactions.map(
      ({ name, requests, d1, writes, rowsRead, rowsWritten, object, alarms, messages, puts, r2, lines }) => [
        name,
        ...[
          requests,
          d1,
          writes,
          rowsRead,
          rowsWritten,
          object,
          alarms,
          messages,
          puts,
          Math.max(0, r2 - puts),
          lines,
        ].map(whole),
      ],
    ),
  )

/** A table of policies a second from quote to issue, for the requests alone and with the work afterwards. */
function throughputTable(ways: readonly Way[]): string {
  return tableOf(
    ['', 'requests', ...WRITE_TIMES.map(ms => `a write batch takes ${ms} ms`)],
    ways.flatMap(({ requests, journey, alone, atOnce }) =>
      (
        [
          ['only its requests', journey],
          ['with documents and a webhook', alone],
          [`the same, per policy of ${POLICIES_AT_ONCE} concurrent ones`, atOnce],
        ] as const
      ).map(([what, cost]) => [
        what,
        String(requests),
        ...WRITE_TIMES.map(ms => one(perSecond(busyMs(cost, ms)))),
      ]),
    ),
  )
}

const WRITE_TIMES = [WRITE_MS / 2, WRITE_MS, WRITE_MS * 2] as const

/** A way to sell a policy: its requests alone, with what follows from one policy, and with the share of one in many. */
type Way = {
  readonly requests: number
  readonly journey: Pick<Cost, 'reads' | 'writes'>
  readonly alone: Sold
  readonly atOnce: Sold
}

/** A table of databases, for policies with documents and a webhook, one in many. */
function databases({ atOnce }: Way): string {
  return tableOf(
    [
      'a write batch takes',
      'one database',
      `one tenant on ${SHARDS_OF_TENANT} databases`,
      `databases for ${PUBLISHED.perSecond} per second`,
      'all databases of a cell',
    ],
    WRITE_TIMES.map(writeMs => {
      const shard = perSecond(busyMs(atOnce, writeMs))
      return [
        `${writeMs} ms`,
        one(shard),
        one(shard * SHARDS_OF_TENANT),
        String(Math.ceil(PUBLISHED.perSecond / shard)),
        whole(shard * DATABASES_OF_CELL),
      ]
    }),
  )
}

/** A table of the capacity of each level, and what limits it. */
function rooms(issue: Cost, sold: Sold): string {
  const shard = perSecond(busyMs(sold, WRITE_MS))
  const policiesOfShard = PLATFORM.databaseBytes / BYTES_OF_POLICY
  const databases = DATABASES_OF_CELL
  const byQueue = PLATFORM.queueMessagesPerSecond / sold.messages
  const cell = Math.min(shard * databases, byQueue)
  const cells = Math.floor(PLATFORM.databasesOfAccount / databases)
  return tableOf(
    ['', 'quote to issue per second', 'policies stored', 'first limit'],
    [
      [
        'one policy',
        `${one(perSecond(busyMs(issue, WRITE_MS)))} transactions`,
        '1',
        `one after the other, each with its write; its object alone could serve ${whole(PLATFORM.objectRequestsPerSecond)} requests`,
      ],
      ['one shard', one(shard), whole(policiesOfShard), 'the writer of its database; 10 GB'],
      [
        `one tenant, ${SHARDS_OF_TENANT} shards`,
        one(Math.min(shard * SHARDS_OF_TENANT, byQueue)),
        whole(policiesOfShard * SHARDS_OF_TENANT),
        'locators of digits distinguish 64 shards',
      ],
      [
        `one cell, ${whole(databases)} databases`,
        one(cell),
        whole(Math.min(policiesOfShard * databases, PLATFORM.bytesOfAccount / BYTES_OF_POLICY)),
        `hints by queue, ${whole(PLATFORM.queueMessagesPerSecond)} messages per second (beyond that, the clock finds due work a minute later); 1 TB per account, more on request`,
      ],
      [
        `one account, ${cells} cells`,
        one(cell * cells),
        whole(PLATFORM.bytesOfAccount / BYTES_OF_POLICY),
        `1 TB of databases until the provider grants more; ${whole(PLATFORM.databasesOfAccount)} databases`,
      ],
      [
        'the whole system',
        'times the number of accounts',
        'times the number of accounts',
        'nothing is shared between cells',
      ],
    ],
  )
}

function published(sold: Sold): string {
  const shard = perSecond(busyMs(sold, WRITE_MS))
  const policies = PUBLISHED.perSecond * PUBLISHED.minutes * 60
  const tenants = Math.ceil(PUBLISHED.perSecond / shard)
  const gigabytes = (policies * BYTES_OF_POLICY) / 1e9
  return [
    `${PUBLISHED.perSecond} per second for ${PUBLISHED.minutes} minutes are ${whole(policies)} policies. That is ${tenants} tenants of one database each, at ${one(shard)} per second, or one tenant of ${tenants} databases. They grow by ${one(gigabytes)} GB in total, ${one(gigabytes / tenants)} of 10 GB each.`,
    `One tenant alone, on ${SHARDS_OF_TENANT} databases, has capacity for ${one(Math.min(shard * SHARDS_OF_TENANT, PLATFORM.queueMessagesPerSecond / sold.messages) / PUBLISHED.perSecond)} times that rate.`,
  ].join('\n')
}

/** Dollars for use beyond what the plan includes in a month, and the included amounts. */
const PRICES = {
  requests: { each: 0.3e-6, included: 10e6, what: 'requests' },
  cpuMs: { each: 0.02e-6, included: 30e6, what: 'CPU milliseconds' },
  rowsWritten: { each: 1e-6, included: 50e6, what: 'rows written' },
  rowsRead: { each: 0.001e-6, included: 25e9, what: 'rows read' },
  databaseGigabytes: { each: 0.75, included: 5, what: 'database gigabytes' },
  objects: { each: 0.15e-6, included: 1e6, what: 'calls and alarms of objects' },
  objectGigabyteSeconds: { each: 12.5e-6, included: 400e3, what: 'gigabyte seconds of objects' },
  queue: { each: 0.4e-6, included: 1e6, what: 'queue operations, three per message' },
  filesWritten: { each: 4.5e-6, included: 1e6, what: 'files written (class A)' },
  filesRead: { each: 0.36e-6, included: 10e6, what: 'files read (class B)' },
  fileGigabytes: { each: 0.015, included: 10, what: 'file gigabytes' },
  logLines: { each: 0.6e-6, included: 20e6, what: 'log lines' },
  dynamicWorkers: { each: 0.002, included: 1_000, what: 'sandboxes of tenant code, per day' },
} as const

type Meter = keyof typeof PRICES

const PLAN_DOLLARS = 5

/** The average transaction, with one payment each, and how often a policy is read in addition. */
const MIX: Readonly<Record<string, number>> = {
  'new business': 0.2,
  renewal: 0.5,
  endorsement: 0.2,
  cancellation: 0.1,
  payment: 1,
}
const LOOKS = 10

const POLICIES_OF_TENANT = 20_000
/** In a month, for each policy. */
const TRANSACTIONS_OF_POLICY = 1 / 6
/** For a request or a message. bench.md measures from 1 to 10. */
const CPU_MS = 6
/** Seconds for which an object is in use in each call, with 128 MB. */
const OBJECT_SECONDS = 0.05
/** Checks by a shard's dispatcher after a transaction, if no other follows within minutes: alarms that find nothing. */
const LOOKS_OF_DISPATCHER = WATCH_MS / 60_000
const FILE_BYTES = 60_000
/** Policies are kept with their files. The prices are for what is stored after a year. */
const STORED_MONTHS = 12

function meters(
  tenants: number,
  transactions: readonly CountedTransaction[],
  look: Count,
): Record<Meter, number> {
  const policies = tenants * POLICIES_OF_TENANT
  const times = policies * TRANSACTIONS_OF_POLICY
  const of = (key: Exclude<keyof CountedTransaction, 'name'>): number =>
    transactions.reduce((total, one) => total + one[key] * (MIX[one.name] ?? 0), 0)
  const looks = LOOKS_OF_DISPATCHER * Object.values(MIX).reduce((sum, share) => sum + share, 0)
  const alarms = of('alarms') + looks
  const objects = of('object') + alarms
  return {
    requests: times * (of('requests') + LOOKS),
    cpuMs: times * CPU_MS * (of('requests') + of('messages') + alarms + LOOKS),
    // Setting an alarm writes a row of its object.
    rowsWritten: times * (of('rowsWritten') + alarms),
    rowsRead: times * (of('rowsRead') + LOOKS * look.rowsRead),
    databaseGigabytes: (policies * BYTES_OF_POLICY) / 1e9,
    objects: times * objects,
    objectGigabyteSeconds: times * objects * OBJECT_SECONDS * 0.128,
    queue: times * of('messages') * 3,
    filesWritten: times * of('puts'),
    filesRead: times * Math.max(0, of('r2') - of('puts')),
    fileGigabytes: (times * of('puts') * FILE_BYTES * STORED_MONTHS) / 1e9,
    logLines: times * (of('lines') + looks + LOOKS),
    dynamicWorkers: tenants * 30,
  }
}

const dollarsOf = (meter: Meter, used: number): number =>
  Math.max(0, used - PRICES[meter].included) * PRICES[meter].each

/** Formats a number, such as `8.3 million`. */
function short(value: number): string {
  for (const [size, word] of [
    [1e9, ' billion'],
    [1e6, ' million'],
  ] as const)
    if (value >= size)
      return `${(value / size).toLocaleString('en-US', { maximumSignificantDigits: 2 })}${word}`
  return Number(value.toPrecision(2)).toLocaleString('en-US')
}

const TENANTS = [10, 1_000, 100_000] as const

function prices(transactions: readonly CountedTransaction[], look: Count): string {
  const all = TENANTS.map(tenants => meters(tenants, transactions, look))
  const rows = (Object.keys(PRICES) as Meter[]).map(meter => [
    PRICES[meter].what,
    ...all.map(used => `${short(used[meter])}, ${short(Math.round(dollarsOf(meter, used[meter])))} $`),
  ])
  const totals = all.map(
    used =>
      PLAN_DOLLARS +
      (Object.keys(PRICES) as Meter[]).reduce((sum, meter) => sum + dollarsOf(meter, used[meter]), 0),
  )
  return tableOf(
    ['per month', ...TENANTS.map(tenants => `${whole(tenants)} tenants`)],
    [
      ['policies in force', ...TENANTS.map(tenants => short(tenants * POLICIES_OF_TENANT))],
      [
        'transactions',
        ...TENANTS.map(tenants => short(tenants * POLICIES_OF_TENANT * TRANSACTIONS_OF_POLICY)),
      ],
      ...rows,
      ['**dollars, including the plan**', ...totals.map(total => `**${whole(total)}**`)],
      ['dollars per tenant', ...totals.map((total, at) => (total / TENANTS[at]!).toFixed(2))],
    ],
  )
}

function main(): void {
  const { operations, transactions, atOnce } = readCounts()
  const costs = operations.map(costOf)
  const journeyOf = (names: readonly string[]): Cost =>
    sumOf(
      'quote to issue',
      names.map(name => costs.find(operation => operation.name === name)!),
    )
  const named = (all: readonly CountedTransaction[], name: string): Sold =>
    soldOf(all.find(one => one.name === name)!)
  const way = (names: readonly string[], name: string): Way => ({
    requests: names.length,
    journey: journeyOf(names),
    alone: named(transactions, name),
    atOnce: named(atOnce, name),
  })
  const inFour = way(JOURNEY, NEW_BUSINESS)
  const inTwo = way(JOURNEY_IN_TWO, NEW_BUSINESS_IN_TWO)
  const issue = costs.find(({ name }) => name === JOURNEY.at(-1))!
  const look = operations.find(({ name }) => name === 'get policy')!.warm
  const sections: Record<string, string> = {
    counts: countsTable(operations),
    transactions: transactionsTable(transactions),
    carried: throughputTable([inFour, inTwo]),
    databases: databases(inFour),
    rooms: rooms(issue, inFour.atOnce),
    published: published(inFour.atOnce),
  }
  for (const [name, markdown] of Object.entries(sections)) writeSection(name, markdown, 'docs/scale.md')
  writeSection('prices', prices(transactions, look), 'docs/operate.md')
}

main()
