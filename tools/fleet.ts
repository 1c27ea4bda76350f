// `npm run fleet -- [--databases N] [--record]`: operates a cell of this many databases with the commands of an operator, against
// a simulated provider (test/support/provider). The databases are created, bound and migrated, and then migrated by two releases,
// the second with a broken database. Counts the work. With --record, writes it to docs/measured.md with the projected work for a
// hundred thousand tenants.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openStored, readAccount, type Work } from '../test/support/provider/account.ts'
import { newAccountFolder, newCheckout } from '../test/support/provider/checkout.ts'
import { measuredAt, writeSection } from './measured.ts'

const USAGE = 'npm run fleet -- [--databases N] [--record]'

/** Cells of a hundred thousand tenants (docs/operate.md). */
const CELLS = 30
/** The provider's interface allows 1,200 requests in five minutes. */
const REQUESTS_A_SECOND = 4
/** Consumers of the queue (wrangler.toml), and the milliseconds of a round trip to a database there. */
const CONSUMERS = 10
const MESSAGES_AT_ONCE = 10
const ROUND_TRIP_MS = 50

const { values } = parseArgs({
  options: { databases: { type: 'string', default: '4300' }, record: { type: 'boolean', default: false } },
})
if (!/^[1-9]\d{0,3}$/.test(values.databases)) {
  console.error(`fleet: usage: ${USAGE}`)
  process.exit(2)
}
const databases = Number(values.databases)
const account = newAccountFolder()
const checkout = newCheckout(account, { TIME_FLIES: '1' })

type Phase = {
  readonly name: string
  readonly seconds: number
  readonly commands: number
  readonly work: Work
}

const phases: Phase[] = []

/** Runs a command and counts its work. */
async function phase(name: string, script: string, ...options: string[]): Promise<string> {
  const before = readAccount(account)
  const began = performance.now()
  const { code, output } = await checkout.run(script, ...options)
  const seconds = (performance.now() - began) / 1_000
  if (code !== 0) throw new Error(`${name} exited with ${code}:\n${output.slice(-4_000)}`)
  const after = readAccount(account)
  const workDelta = (key: keyof Work): number => after.work[key] - before.work[key]
  phases.push({
    name,
    seconds,
    commands: after.commands.length - before.commands.length,
    work: {
      minutes: workDelta('minutes'),
      d1: workDelta('d1'),
      queue: workDelta('queue'),
      messages: workDelta('messages'),
    },
  })
  console.log(`fleet: ${name}: ${seconds.toFixed(0)} s`)
  return output
}

/** Sorts after all existing migrations. */
const nameOf = (number: number): string => `900${number}_release`

const release = (number: number): void =>
  writeFileSync(
    join(checkout.folder, `migrations/tenant/${nameOf(number)}.sql`),
    `alter table "timer" add release_${number} text;\n--> statement-breakpoint\ncreate table release_${number} (x integer);\n`,
  )

/** Returns how many databases are at the migration of that release, according to the control database. */
function finished(number: number): number {
  const control = openStored(account, readAccount(account).databases['bindery-cell-control']!.id)
  try {
    const row = control
      .prepare('select count(*) as n from pool_database where migration = ?')
      .get(nameOf(number))
    return Number(row?.n)
  } finally {
    control.close()
  }
}

function expectFinished(number: number, wanted: number): void {
  if (finished(number) !== wanted) throw new Error(`${finished(number)} databases, not ${wanted}.`)
}

const CELL = ['--environment', 'cell'] as const

try {
  await phase(
    'created, bound, registered and migrated',
    'deploy',
    ...CELL,
    ...['--domain', 'example.com', '--location', 'weur', '--databases', values.databases],
  )
  await phase('a tenant created', 'tenant', 'create', 'acme', ...CELL)
  await phase('deployed again without changes', 'deploy', ...CELL)
  release(1)
  await phase('a release with a migration', 'deploy', ...CELL)
  expectFinished(1, databases)
  release(2)
  const { databases: stored } = readAccount(account)
  const broken = openStored(
    account,
    Object.entries(stored).find(([name]) => /-tenant-0*2-/.test(name))![1].id,
  )
  broken.exec('create table release_2 (y integer)')
  const output = await phase('another release, with one broken database', 'deploy', ...CELL)
  expectFinished(2, databases - 1)
  if (!output.includes('TENANT_002 could not be migrated'))
    throw new Error('The output does not name the broken database.')
  broken.exec('drop table release_2')
  broken.close()
  await phase('the broken database repaired', 'migrate', ...CELL)
  expectFinished(2, databases)
  const report = reportOf()
  console.log(report)
  if (values.record) writeSection('fleet', report)
} finally {
  checkout.remove()
  rmSync(account, { recursive: true, force: true })
}

function reportOf(): string {
  const rows = phases.map(
    ({ name, seconds, commands, work: { d1, queue, messages, minutes } }) =>
      `| ${name} | ${commands} | ${d1} | ${messages} | ${queue} | ${minutes} | ${(seconds / 60).toFixed(1)} |`,
  )
  const [made] = phases
  const released = phases[3]!
  const minutes = (seconds: number): string => `${Math.ceil(seconds / 6) / 10} min`
  const making = made!.commands / REQUESTS_A_SECOND
  const perDatabase = released.work.d1 / databases
  // The databases of a batch only wait for each other at its ends: a read, the migration, and the notes of all.
  const batches = Math.ceil(databases / MESSAGES_AT_ONCE / CONSUMERS)
  const migrating = (batches * 6 * ROUND_TRIP_MS) / 1_000
  return `## A fleet of databases

\`npm run fleet -- --databases ${databases} --record\`. ${measuredAt()}

A cell of ${databases} databases, operated by the usual commands against a simulated provider whose databases are local files. Commands are calls of
the provider's tool. Round trips are those of the Worker to its databases, including the control database. Ticks are minutes of the simulated
clock of the provider until the command had what it waited for.

| what | commands | round trips | messages | sends | ticks | minutes here |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
${rows.join('\n')}

At the provider ${made!.commands} commands take ${minutes(making)} at ${REQUESTS_A_SECOND} a second, the limit of its API. They are needed once. A release needs
${perDatabase.toFixed(1)} round trips for each database. At ${ROUND_TRIP_MS} ms each, ${CONSUMERS} consumers with ${MESSAGES_AT_ONCE} databases each migrate a cell in ${minutes(migrating)}.
A hundred thousand tenants in ${CELLS} cells: ${((making * CELLS) / 3_600).toFixed(1)} hours to create them all, one cell after the other. A release needs ${(released.commands * CELLS).toLocaleString('en')} commands,
${(released.work.messages * CELLS).toLocaleString('en')} messages and ${(released.work.d1 * CELLS).toLocaleString('en')} round trips, and ${minutes(migrating * CELLS)} of migrations if cells are migrated one after the other.`
}
