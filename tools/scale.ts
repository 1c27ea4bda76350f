// `npm run scale`: what one policy, one tenant, one cell and the whole system can carry, and what it costs, reckoned from the counts of
// `npm run counts` and what the platform publishes of its limits and prices. Writes its tables into docs/scale.md and docs/operate.md.
import { type Count, type CountedOperation, type CountedTransaction, readCounts } from './counts/counted.ts'
import { writeSection } from './measured.ts'

/** As the provider publishes them (docs/scale.md names the pages). */
const PLATFORM = {
  databaseBytes: 10e9,
  databasesOfAccount: 1_000_000,
  bytesOfAccount: 1e12,
  objectRequestsPerSecond: 1_000,
  queueMessagesPerSecond: 5_000,
} as const

/** Of Bindery: `npm run pool` stops there. */
const DATABASES_OF_CELL = 4_500

/**
 * How long a database is busy with one batch, in milliseconds: the provider tells "less than a millisecond" of a read by an
 * index, and "several milliseconds" of a write. The model reckons with these, and with half and double of the write.
 */
const READ_MS = 1
const WRITE_MS = 5

const SHARDS_OF_TENANT = 64

/** A policy with its documents, deliveries and 1.4 transactions; growth of databases under `npm run load`. */
const BYTES_OF_POLICY = 27_000

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
}

/** A request's batches: one that writes rows writes them in one of its round trips, and reads in the others. */
function costOf({ name, warm }: CountedOperation): Cost {
  const writes = warm.rowsWritten > 0 ? 1 : 0
  const { rowsRead, rowsWritten } = warm
  return { name, reads: Math.max(0, warm.d1 - writes), writes, rowsRead, rowsWritten }
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

/** What comes of a policy that is sold, beyond its requests: documents, deliveries. Half of the batches write, as those do. */
type Afterwards = { readonly reads: number; readonly writes: number; readonly messages: number }

function afterwardsOf(business: CountedTransaction, journey: Cost): Afterwards {
  const batches = Math.max(0, business.d1 - journey.reads - journey.writes)
  const writes = Math.ceil(batches / 2)
  return { reads: batches - writes, writes, messages: business.messages }
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

const one = (value: number): string => value.toFixed(1)

const tableOf = (headings: readonly string[], rows: readonly (readonly string[])[]): string =>
  [
    `| ${headings.join(' | ')} |`,
    `| ${headings.map((_, column) => (column === 0 ? '---' : '---:')).join(' | ')} |`,
    ...rows.map(row => `| ${row.join(' | ')} |`),
  ].join('\n')

/** `d1 1, object 1`. */
const tripsOf = (count: Count): string =>
  (['d1', 'object', 'r2', 'queue'] as const)
    .filter(name => count[name] > 0)
    .map(name => `${name} ${count[name]}`)
    .join(', ') || 'none'

const countsTable = (operations: readonly CountedOperation[]): string =>
  tableOf(
    ['operation', 'round trips', 'idle', 'rows read', 'rows written', 'of one database a second'],
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
      'rows read',
      'rows written',
      'calls of objects',
      'alarms',
      'messages',
      'files written',
      'read or looked for',
      'log lines',
    ],
    transactions.map(
      ({ name, requests, d1, rowsRead, rowsWritten, object, alarms, messages, puts, r2, lines }) => [
        name,
        ...[
          requests,
          d1,
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

/** From quote to issue, with what is done afterwards, in databases. */
function carried(journey: Cost, afterwards: Afterwards): string {
  const all = { reads: journey.reads + afterwards.reads, writes: journey.writes + afterwards.writes }
  const row = (writeMs: number): string[] => {
    const alone = perSecond(busyMs(journey, writeMs))
    const shard = perSecond(busyMs(all, writeMs))
    return [
      `${writeMs} ms`,
      one(alone),
      one(shard),
      one(shard * SHARDS_OF_TENANT),
      String(Math.ceil(PUBLISHED.perSecond / shard)),
      whole(shard * DATABASES_OF_CELL),
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
function rooms(journey: Cost, issue: Cost, afterwards: Afterwards): string {
  const all = { reads: journey.reads + afterwards.reads, writes: journey.writes + afterwards.writes }
  const shard = perSecond(busyMs(all, WRITE_MS))
  const policiesOfShard = PLATFORM.databaseBytes / BYTES_OF_POLICY
  const databases = DATABASES_OF_CELL
  const byQueue = PLATFORM.queueMessagesPerSecond / afterwards.messages
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
        `1 TB of databases until the provider grants more; ${whole(PLATFORM.databasesOfAccount)} databases`,
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

function published(journey: Cost, afterwards: Afterwards): string {
  const all = { reads: journey.reads + afterwards.reads, writes: journey.writes + afterwards.writes }
  const shard = perSecond(busyMs(all, WRITE_MS))
  const policies = PUBLISHED.perSecond * PUBLISHED.minutes * 60
  const tenants = Math.ceil(PUBLISHED.perSecond / shard)
  const gigabytes = (policies * BYTES_OF_POLICY) / 1e9
  return [
    `${PUBLISHED.perSecond} a second for ${PUBLISHED.minutes} minutes are ${whole(policies)} policies. That is ${tenants} tenants of one database each, at ${one(shard)} a second, or one tenant of ${tenants} databases; they grow by ${one(gigabytes)} GB together, ${one(gigabytes / tenants)} GB each of 10.`,
    `One tenant alone, on ${SHARDS_OF_TENANT} databases, has room for ${one(Math.min(shard * SHARDS_OF_TENANT, PLATFORM.queueMessagesPerSecond / afterwards.messages) / PUBLISHED.perSecond)} times that rate.`,
  ].join('\n')
}

/** Dollars beyond what the plan includes a month, and what it includes. */
const PRICES = {
  requests: { each: 0.3e-6, included: 10e6, what: 'requests' },
  cpuMs: { each: 0.02e-6, included: 30e6, what: 'milliseconds of CPU' },
  rowsWritten: { each: 1e-6, included: 50e6, what: 'rows written' },
  rowsRead: { each: 0.001e-6, included: 25e9, what: 'rows read' },
  databaseGigabytes: { each: 0.75, included: 5, what: 'gigabytes of databases' },
  objects: { each: 0.15e-6, included: 1e6, what: 'calls and alarms of objects' },
  objectGigabyteSeconds: { each: 12.5e-6, included: 400e3, what: 'gigabyte seconds of objects' },
  queue: { each: 0.4e-6, included: 1e6, what: 'operations of queues, three a message' },
  filesWritten: { each: 4.5e-6, included: 1e6, what: 'files written (class A)' },
  filesRead: { each: 0.36e-6, included: 10e6, what: 'files read (class B)' },
  fileGigabytes: { each: 0.015, included: 10, what: 'gigabytes of files' },
  logLines: { each: 0.6e-6, included: 20e6, what: 'log lines' },
  dynamicWorkers: { each: 0.002, included: 1_000, what: 'sandboxes of tenant code, a day each' },
} as const

type Meter = keyof typeof PRICES

const PLAN_DOLLARS = 5

/** What a transaction is on average, with one payment each; and how often a policy is looked at beside. */
const MIX: Readonly<Record<string, number>> = {
  'new business': 0.2,
  renewal: 0.5,
  endorsement: 0.2,
  cancellation: 0.1,
  payment: 1,
}
const LOOKS = 10

const POLICIES_OF_TENANT = 20_000
/** A month, of each policy. */
const TRANSACTIONS_OF_POLICY = 1 / 6
/** A request or a message, which bench.md measures from 1 to 10. */
const CPU_MS = 6
/** For which an object is in use in each call, with 128 MB. */
const OBJECT_SECONDS = 0.05
const FILE_BYTES = 60_000
/** Policies are kept, with their files; what is stored after a year. */
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
  const objects = of('object') + of('alarms')
  return {
    requests: times * (of('requests') + LOOKS),
    cpuMs: times * CPU_MS * (of('requests') + of('messages') + of('alarms') + LOOKS),
    // An alarm that is set is a row of its object.
    rowsWritten: times * (of('rowsWritten') + of('alarms')),
    rowsRead: times * (of('rowsRead') + LOOKS * look.rowsRead),
    databaseGigabytes: (policies * BYTES_OF_POLICY) / 1e9,
    objects: times * objects,
    objectGigabyteSeconds: times * objects * OBJECT_SECONDS * 0.128,
    queue: times * of('messages') * 3,
    filesWritten: times * of('puts'),
    filesRead: times * Math.max(0, of('r2') - of('puts')),
    fileGigabytes: (times * of('puts') * FILE_BYTES * STORED_MONTHS) / 1e9,
    logLines: times * (of('lines') + LOOKS),
    dynamicWorkers: tenants * 30,
  }
}

const dollarsOf = (meter: Meter, used: number): number =>
  Math.max(0, used - PRICES[meter].included) * PRICES[meter].each

/** `8.3 million`. */
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
    ['a month', ...TENANTS.map(tenants => `${whole(tenants)} tenants`)],
    [
      ['policies in force', ...TENANTS.map(tenants => short(tenants * POLICIES_OF_TENANT))],
      [
        'transactions',
        ...TENANTS.map(tenants => short(tenants * POLICIES_OF_TENANT * TRANSACTIONS_OF_POLICY)),
      ],
      ...rows,
      ['**dollars, with the plan**', ...totals.map(total => `**${whole(total)}**`)],
      ['dollars a tenant', ...totals.map((total, at) => (total / TENANTS[at]!).toFixed(2))],
    ],
  )
}

function main(): void {
  const { operations, transactions } = readCounts()
  const costs = operations.map(costOf)
  const journey = sumOf(
    'quote to issue',
    JOURNEY.map(name => costs.find(operation => operation.name === name)!),
  )
  const issue = costs.find(({ name }) => name === JOURNEY.at(-1))!
  const afterwards = afterwardsOf(transactions.find(({ name }) => name === 'new business')!, journey)
  const look = operations.find(({ name }) => name === 'get policy')!.warm
  const sections: Record<string, string> = {
    counts: countsTable(operations),
    transactions: transactionsTable(transactions),
    carried: carried(journey, afterwards),
    rooms: rooms(journey, issue, afterwards),
    published: published(journey, afterwards),
  }
  for (const [name, markdown] of Object.entries(sections)) writeSection(name, markdown, 'docs/scale.md')
  writeSection('prices', prices(transactions, look), 'docs/operate.md')
}

main()
