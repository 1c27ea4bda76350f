// `npm run bench -- --migration [--accounts N]`: migrates a made-up book in ten requests, four of which run at the same time.
// Measures accounts a second, compared with a Worker that only inserts as many rows in the same batches; the calls of the
// platform for each account; and whether memory use stays constant.
import { mkdirSync, openAsBlob, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiClient, signIn } from '../../../scripts/api-client.ts'
import { testUsers } from '../../../scripts/example.ts'
import { CONFIG_FILE } from '../../../scripts/write-config.ts'
import type { BookOptions } from '../../book/account.ts'
import { type Written, writeBook } from '../../generate-book.ts'
import { deployFiles, paperlessFiles } from '../example-tenant.ts'
import { startWatched } from '../heap.ts'
import { connect } from '../load.ts'
import { startWorker } from '../worker-process.ts'
import { prepareStores } from '../world.ts'
import { growthOf, type Look, MOST_GROWN_MB, usualOf } from './growth.ts'
import { type AccountCost, costOf, type MigrationRecording } from './recording.ts'

const REQUESTS = 10
/** The number of migrations of a tenant that run at the same time. */
const AT_ONCE = 4
/** Accounts whose batches are recorded, and which the floor inserts repeatedly. */
const RECORDED = 40
/** The heap is measured this many times, at equal parts of the book. */
const LOOKS = 15
/** Accounts that are migrated before the others, so that the isolate has loaded and compiled its code. */
const WARM = 40
/** How long to wait before repeating a request that was rejected while others are being read. */
const BUSY_MS = 1_000
const LONGEST_WAIT_MS = 120 * 60_000

export type MigrationFigures = {
  book: Omit<Written, 'files'>
  seconds: number
  accountsPerSecond: number
  floorAccountsPerSecond: number
  ratio: number
  cost: AccountCost
  /** At each fifteenth of the book at which the inspector responded. */
  heap: Look[]
  /** Memory in use when nothing is in progress any more. */
  rested: number | undefined
  /** In megabytes (growth.ts). */
  growth: number | undefined
}

type Say = (line: string) => void
type Target = { readonly client: ApiClient; readonly origin: string; readonly root: string }

export async function measureMigration(
  folder: string,
  accounts: number,
  say: Say,
): Promise<MigrationFigures> {
  const recording = await recorded(join(folder, 'recorded'), say)
  const floorAccountsPerSecond = await floorRate(join(folder, 'floor'), recording, Math.min(accounts, 2_000))
  say(`the floor inserts ${floorAccountsPerSecond.toFixed(1)} accounts per second`)
  const measured = await migrateAll(join(folder, 'service'), accounts, say)
  return {
    ...measured,
    floorAccountsPerSecond,
    ratio: measured.accountsPerSecond / floorAccountsPerSecond,
    cost: costOf(recording, RECORDED),
  }
}

/** Records the calls of the platform for these accounts, in a single migration. */
async function recorded(folder: string, say: Say): Promise<MigrationRecording> {
  const { files } = bookIn(join(folder, 'book'), { seed: 'recorded' }, RECORDED, RECORDED)
  const administrator = await prepareStores(folder)
  const service = await startWorker({
    config: CONFIG_FILE,
    script: 'tools/bench/migration/worker.ts',
    dataFolder: folder,
  })
  const target = await targetOf(service.origin, administrator)
  say(`recording the platform calls of ${RECORDED} accounts`)
  await waitUntilFinished(target, await sendMigration(target, files[0]!))
  const recording = (await (await fetch(`${service.origin}/recording`)).json()) as MigrationRecording
  await service.stop()
  return recording
}

/** Returns the accounts a second when their rows are only inserted. */
async function floorRate(folder: string, recording: MigrationRecording, accounts: number): Promise<number> {
  const floor = await startWorker({
    config: 'tools/bench/floor/wrangler.toml',
    script: 'tools/bench/floor/worker.ts',
    dataFolder: folder,
  })
  const connection = connect(floor.origin, AT_ONCE)
  const plan = { hashes: false, worker: recording.batches, object: undefined, answerBytes: 2 }
  await connection.send({ method: 'PUT', path: '/plan/migration', body: JSON.stringify(plan) })
  const run = () => connection.send({ method: 'POST', path: '/run/migration/book', body: '[]' })
  await run()
  let left = Math.max(AT_ONCE, Math.ceil(accounts / RECORDED))
  const runs = left
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left > 0) {
        left -= 1
        await run()
      }
    }),
  )
  const seconds = (performance.now() - begun) / 1_000
  connection.close()
  await floor.stop()
  return (runs * RECORDED) / seconds
}

async function migrateAll(
  folder: string,
  accounts: number,
  say: Say,
): Promise<Pick<MigrationFigures, 'book' | 'seconds' | 'accountsPerSecond' | 'heap' | 'rested' | 'growth'>> {
  // Generated before the service starts, because generating a book blocks this process and connections would end.
  const { files, ...book } = bookIn(join(folder, 'book'), { seed: 'bench' }, accounts, accounts / REQUESTS)
  const warm = bookIn(join(folder, 'warm'), { seed: 'warm' }, WARM, WARM)
  const administrator = await prepareStores(folder)
  const { service, usedMegabytes } = await startWatched({
    config: CONFIG_FILE,
    script: 'src/worker.ts',
    dataFolder: folder,
  })
  const target = await targetOf(service.origin, administrator)
  await warmUp(target, warm.files[0]!)
  say(
    `${book.accounts} accounts, ${book.policies} policies, ${book.invoices} invoices in ${files.length} requests`,
  )
  const heap: Look[] = []
  const begun = performance.now()
  const look = async (done: number): Promise<void> => {
    const megabytes = await usedMegabytes()
    if (megabytes !== undefined) heap.push({ accounts: done, megabytes })
    const used =
      megabytes === undefined ? 'the inspector does not respond' : `${megabytes.toFixed(1)} MB in use`
    say(
      `${done} of ${book.accounts} accounts after ${((performance.now() - begun) / 1_000).toFixed(0)} s, ${used}`,
    )
  }
  const locators = await Promise.all(files.map(file => sendMigration(target, file)))
  rmSync(join(folder, 'book'), { recursive: true })
  let looks = 0
  let seconds = 0
  for (let done = 0; done < book.accounts; ) {
    const states = await Promise.all(locators.map(locator => stateOf(target, locator)))
    done = states.reduce((sum, one) => sum + one.processedAccounts, 0)
    if (states.some(state => ['failed', 'error'].includes(state.migrationState)))
      throw new Error('Accounts of the book could not be migrated.')
    if (performance.now() - begun > LONGEST_WAIT_MS) throw new Error(`Only ${done} accounts are migrated.`)
    seconds = (performance.now() - begun) / 1_000
    if (done >= ((looks + 1) * book.accounts) / LOOKS) {
      looks = Math.floor((done * LOOKS) / book.accounts)
      await look(done)
    }
    await sleep(500)
  }
  const rested = await waitForUsualHeap(heap, usedMegabytes)
  await service.stop()
  return {
    book,
    seconds,
    heap,
    rested,
    accountsPerSecond: book.accounts / seconds,
    growth: growthOf(heap, rested),
  }
}

function bookIn(folder: string, options: BookOptions, accounts: number, ofRequest: number): Written {
  mkdirSync(folder, { recursive: true })
  // The book ends today, so that no timers fire for events between its end and now.
  const asOf = new Date().toISOString().slice(0, 10)
  return writeBook(folder, { ...options, asOf, accounts, accountsOfRequest: Math.ceil(ofRequest) })
}

async function targetOf(
  origin: string,
  administrator: Awaited<ReturnType<typeof prepareStores>>,
): Promise<Target> {
  const example = await deployFiles(await signIn(origin, administrator), 'motor', paperlessFiles())
  const { username, password } = testUsers().find(({ roles }) => roles.includes('admin'))!
  const client = await signIn(origin, { username, password, hostName: example.hostname })
  return { client, origin, root: `/migration/${example.tenantLocator}/migrations` }
}

/**
 * Migrates the first accounts and advances the clock, so that their due events are handled now. Those of the others are handled
 * from a minute after their migration.
 */
async function warmUp(target: Target, file: string): Promise<void> {
  await waitUntilFinished(target, await sendMigration(target, file))
  await target.client.call('POST', '/test/clock', { advance: { amount: 1, unit: 'second' } })
}

type State = { locator: string; migrationState: string; processedAccounts: number }

/**
 * Sends the file as a stream, without reading it into memory. Repeats the request while the service reads as many large ones as
 * it accepts.
 */
async function sendMigration({ client, origin, root }: Target, file: string): Promise<string> {
  for (;;) {
    const response = await fetch(`${origin}${root}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' },
      body: await openAsBlob(file),
    })
    if (response.ok) return ((await response.json()) as State).locator
    if (response.status !== 503)
      throw new Error(`A request got the response ${response.status}: ${await response.text()}`)
    await response.text()
    await sleep(BUSY_MS)
  }
}

const stateOf = ({ client, root }: Target, locator: string): Promise<State> =>
  client.call('GET', `${root}/${locator}`)

/**
 * Returns the least use of memory, measured until it is the usual one or three minutes are over, because past due events are
 * handled until then.
 */
async function waitForUsualHeap(
  heap: readonly Look[],
  look: () => Promise<number | undefined>,
): Promise<number | undefined> {
  const usual = usualOf(heap)
  let least: number | undefined
  for (
    let looks = 0;
    looks < 9 && usual !== undefined && !(least !== undefined && least <= usual);
    looks += 1
  ) {
    await sleep(20_000)
    const megabytes = await look()
    if (megabytes !== undefined) least = Math.min(least ?? megabytes, megabytes)
  }
  return least
}

async function waitUntilFinished(target: Target, locator: string): Promise<void> {
  for (;;) {
    const { migrationState } = await stateOf(target, locator)
    if (migrationState === 'finished') return
    if (!['submitted', 'processing'].includes(migrationState))
      throw new Error(`The migration is ${migrationState}.`)
    await sleep(100)
  }
}

/** Formats the figures as text. */
export const migrationLines = (figures: MigrationFigures): string => {
  const { book, seconds, accountsPerSecond, floorAccountsPerSecond, ratio, cost, heap, rested, growth } =
    figures
  const one = (value: number): string => value.toFixed(2)
  return [
    `${book.accounts} accounts, ${book.policies} policies, ${book.transactions} transactions, ${book.invoices} invoices: all migrated in ${seconds.toFixed(1)} s`,
    `${accountsPerSecond.toFixed(1)} accounts per second, the floor ${floorAccountsPerSecond.toFixed(1)}: ratio ${one(ratio)}`,
    `per account: ${one(cost.roundTrips)} D1 round trips, ${cost.statements.toFixed(1)} statements, ${cost.rowsRead.toFixed(0)} rows read, ${cost.rowsWritten.toFixed(0)} written; R2 ${one(cost.r2)}, queue ${one(cost.queue)}, object ${one(cost.object)} calls`,
    `heap after a collection, at every fifteenth of the book: ${heap.map(({ megabytes }) => megabytes.toFixed(1)).join(' ')} MB; ${growth === undefined ? 'too few measurements' : `${rested?.toFixed(1)} MB at the end, ${growth.toFixed(1)} MB more than in the fourth to seventh (at most ${MOST_GROWN_MB})`}`,
  ].join('\n')
}
