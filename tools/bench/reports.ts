// `npm run bench -- --reports [--accounts N]`: a made-up book in four shards, and each report over it. Measures how long a report
// takes, what it reads and keeps in memory, and how long users of the same tenant wait meanwhile, compared with undisturbed runs
// that alternate with it.
import { execFileSync } from 'node:child_process'
import { mkdirSync, openAsBlob } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiClient, signIn } from '../../scripts/api-client.ts'
import { testUsers } from '../../scripts/example.ts'
import { CONFIG_FILE } from '../../scripts/write-config.ts'
import { writeBook } from '../generate-book.ts'
import { deployFiles, paperlessFiles } from './example-tenant.ts'
import { quantile } from './figures.ts'
import { startWatched } from './heap.ts'
import { newAsker } from './load-run/samples.ts'
import { prepareStores } from './world.ts'

const SHARDS = 4
/** How long isolates need to learn of a tenant's new databases. */
const KNOWN_MS = 11_000
/** Each request goes to one shard, chosen at random. */
const REQUESTS = 16
const USERS = 4
const THINK_MS = 150
/** Measuring memory collects garbage, which delays every request. So a report whose memory is measured has no users. */
const LOOK_MS = 1_000
/** How long past due events of a migrated book are handled after the migration. */
const SETTLED_MS = 150_000
/** Shorter reports run again, and undisturbed users continue, until there are enough samples for a meaningful p99. */
const FEWEST_SAMPLES = 400

const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS

/** The reports, each with the parameters of a month's end. */
function questions(now: number): { name: string; body: object }[] {
  const year = { from: now - YEAR_MS, to: now }
  return [
    { name: 'writtenPremium', body: { ...year, by: ['product', 'peril', 'month'] } },
    { name: 'earnedPremium', body: { ...year, by: ['product', 'peril'] } },
    { name: 'charges', body: { ...year, by: ['product', 'month'] } },
    { name: 'inForce', body: { at: now, by: ['product'] } },
    { name: 'receivables', body: { at: now, by: ['product'] } },
    { name: 'payments', body: { ...year, by: ['product', 'month'] } },
    { name: 'retention', body: { ...year, by: ['product'] } },
    { name: 'conversion', body: { ...year, by: ['product', 'month'] } },
    { name: 'ledger', body: { ...year, by: ['product', 'month'] } },
  ]
}

export type ReportFigures = {
  readonly name: string
  readonly seconds: number
  readonly policies: number
  readonly lines: number
  readonly rowsRead: number
  /** The most memory in use at any measurement, in MB, without users. */
  readonly megabytes: number | undefined
  readonly p50: number
  readonly p99: number
  /** The p99 divided by that of the undisturbed runs. */
  readonly ratio: number
}

export type ReportsFigures = {
  readonly accounts: number
  readonly policies: number
  /** Over all runs without a report. There is one before each report, because the speed of a machine changes within an hour. */
  readonly undisturbed: { readonly p50: number; readonly p99: number }
  readonly reports: readonly ReportFigures[]
}

type Say = (line: string) => void
/** How long the work took the first time, and how long users waited for each response, in milliseconds. */
type Watched = { seconds: number; waits: readonly number[] }
type Status = { locator: string; state: string; processed: number; lines: number; rowsRead: number }

export async function measureReports(folder: string, accounts: number, say: Say): Promise<ReportsFigures> {
  const book = join(folder, 'book')
  mkdirSync(book, { recursive: true })
  const asOf = new Date().toISOString().slice(0, 10)
  const { files, policies } = writeBook(book, {
    seed: 'reports',
    faults: 0,
    asOf,
    accounts,
    accountsOfRequest: Math.ceil(accounts / REQUESTS),
  })
  const data = join(folder, 'service')
  const administrator = await prepareStores(data, SHARDS + 1)
  const { service, usedMegabytes } = await startWatched({
    config: CONFIG_FILE,
    script: 'src/worker.ts',
    dataFolder: data,
  })
  const { origin } = service
  const example = await deployFiles(await signIn(origin, administrator), 'motor', paperlessFiles())
  execFileSync(process.execPath, ['scripts/tenant.ts', 'shards', example.tenantName, String(SHARDS)], {
    env: { ...process.env, BINDERY_DATA: data },
    stdio: 'pipe',
  })
  await sleep(KNOWN_MS)
  const { username, password } = testUsers().find(({ roles }) => roles.includes('admin'))!
  const client = await signIn(origin, { username, password, hostName: example.hostname })
  await migrate(client, origin, `/migration/${example.tenantLocator}/migrations`, files, say)
  say(`${accounts} accounts, ${policies} policies in ${SHARDS} shards`)
  await sleep(SETTLED_MS)
  const locators = await someLocators(client)
  const watch = async (work: () => Promise<void>, leastSamples: number): Promise<Watched> => {
    const { ask, samples, close } = newAsker(origin, USERS)
    let isOver = false
    const users = Array.from({ length: USERS }, async (_, user) => {
      for (let turn = user; !isOver; turn += USERS) {
        const policy = locators[turn % locators.length]!
        await ask('get policy', client.token, 'GET', `/policy/${policy}`)
        await sleep(THINK_MS)
      }
    })
    const begun = performance.now()
    let seconds: number | undefined
    do {
      await work()
      seconds ??= (performance.now() - begun) / 1_000
    } while (samples.all.length < leastSamples)
    isOver = true
    await Promise.all(users)
    close()
    if (samples.failures.length > 0)
      throw new Error(`A request of a user was rejected: ${samples.failures[0]!.text}`)
    return { seconds: seconds!, waits: samples.all.map(({ latencyMs }) => latencyMs) }
  }
  const mostMegabytes = async (work: () => Promise<void>): Promise<number | undefined> => {
    let isOver = false
    let most: number | undefined
    const looks = (async () => {
      while (!isOver) {
        const used = await usedMegabytes()
        if (used !== undefined) most = Math.max(most ?? 0, used)
        await sleep(LOOK_MS)
      }
    })()
    await work()
    isOver = true
    await looks
    return most
  }
  await watch(() => sleep(5_000), 0)
  // The first report adds the data from before the journal and loads its code.
  await finished(client, 'conversion', {})
  const undisturbedWaits: number[] = []
  const measured: Omit<ReportFigures, 'ratio'>[] = []
  for (const { name, body } of questions(Date.now())) {
    let status: Status | undefined
    const work = async () => {
      status = await finished(client, name, body)
    }
    const megabytes = await mostMegabytes(work)
    const undisturbed = await watch(() => sleep(1_000), FEWEST_SAMPLES)
    undisturbedWaits.push(...undisturbed.waits)
    const { seconds, waits } = await watch(work, FEWEST_SAMPLES)
    measured.push({
      name,
      seconds,
      megabytes,
      ...quantilesOf(waits),
      policies: status!.processed,
      lines: status!.lines,
      rowsRead: status!.rowsRead,
    })
    say(
      `${name}: p99 ${measured.at(-1)!.p99.toFixed(1)} ms in ${seconds.toFixed(1)} s, ${quantilesOf(undisturbed.waits).p99.toFixed(1)} before it`,
    )
  }
  await service.stop()
  const undisturbed = quantilesOf(undisturbedWaits)
  const reports = measured.map(one => ({ ...one, ratio: one.p99 / undisturbed.p99 }))
  return { accounts, policies, undisturbed, reports }
}

async function migrate(
  client: ApiClient,
  origin: string,
  root: string,
  files: string[],
  say: Say,
): Promise<void> {
  type State = { locator: string; migrationState: string; processedAccounts: number }
  const locators: string[] = []
  for (const file of files)
    for (;;) {
      const response = await fetch(`${origin}${root}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' },
        body: await openAsBlob(file),
      })
      const text = await response.text()
      if (response.ok) {
        locators.push((JSON.parse(text) as State).locator)
        break
      }
      if (response.status !== 503) throw new Error(`A request got the response ${response.status}: ${text}`)
      await sleep(1_000)
    }
  for (let told = -1; ; ) {
    const states = await Promise.all(locators.map(locator => client.call<State>('GET', `${root}/${locator}`)))
    const done = states.filter(({ migrationState }) => migrationState === 'finished').length
    if (states.some(({ migrationState }) => ['failed', 'error'].includes(migrationState)))
      throw new Error('Accounts of the book could not be migrated.')
    if (done > told) say(`${done} of ${states.length} requests are migrated`)
    told = done
    if (done === states.length) return
    await sleep(1_000)
  }
}

async function someLocators(client: ApiClient): Promise<string[]> {
  const { policies } = await client.call<{ policies: { locator: string }[] }>('GET', '/policies?pageSize=100')
  return policies.map(({ locator }) => locator)
}

async function finished(client: ApiClient, name: string, body: object): Promise<Status> {
  let status = await client.call<Status>('POST', `/report/${name}?wait=30`, body)
  while (status.state === 'running') {
    await sleep(200)
    status = await client.call<Status>('GET', `/report/${status.locator}/status`)
  }
  if (status.state !== 'finished') throw new Error(`The report ${name} is ${status.state}.`)
  return status
}

const quantilesOf = (waits: readonly number[]): { p50: number; p99: number } => ({
  p50: quantile(waits, 0.5),
  p99: quantile(waits, 0.99),
})

const reportLine = ({
  name,
  seconds,
  policies,
  lines,
  rowsRead,
  megabytes,
  p50,
  p99,
  ratio,
}: ReportFigures): string =>
  `${name}: ${seconds.toFixed(1)} s, ${policies} policies, ${lines} lines, ${rowsRead} rows read, ${megabytes?.toFixed(0) ?? '?'} MB; users p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${ratio.toFixed(2)} times`

export const reportsLines = ({ accounts, policies, undisturbed, reports }: ReportsFigures): string =>
  [
    `${accounts} accounts, ${policies} policies in ${SHARDS} shards; undisturbed p50 ${undisturbed.p50.toFixed(1)} ms, p99 ${undisturbed.p99.toFixed(1)} ms`,
    ...reports.map(reportLine),
  ].join('\n')
