// `npm run bench -- --tables`: measures look-ups in a table per second, compared with a Worker that reads one row of D1 by its
// key and does nothing else. Look-ups are of rows that the isolate has not seen, and of some that it knows.
import { join } from 'node:path'
import { signIn } from '../../scripts/api-client.ts'
import { deployExample, testUsers } from '../../scripts/example.ts'
import { CONFIG_FILE } from '../../scripts/write-config.ts'
import { median, mostCommon } from './figures.ts'
import { type Call, type Connection, connect, drive, type Run } from './load.ts'
import { CONCURRENCY, type Sizes } from './options.ts'
import { type RoundTrips, roundTrips } from './round-trips.ts'
import { startWorker } from './worker-process.ts'
import { prepareStores } from './world.ts'

/** Rows that are requested repeatedly. */
const KNOWN = 100

export type LookUps = {
  /** Requests per second, median over the rounds. */
  readonly perSecond: number
  /** Ratio of the look-ups to the bare reads, in each round, and the median. */
  readonly ratios: readonly number[]
  readonly ratio: number
  /** The round trips of most responses. */
  readonly roundTrips: RoundTrips
}

export type TableFigures = {
  readonly rows: number
  readonly uploadSeconds: number
  readonly bareReadsPerSecond: number
  readonly cold: LookUps
  readonly warm: LookUps
}

export async function measureTables(
  folder: string,
  sizes: Sizes,
  say: (line: string) => void,
): Promise<TableFigures> {
  const rows = sizes.tableRows
  const dataFolder = join(folder, 'service')
  const administrator = await prepareStores(dataFolder)
  const service = await startWorker({ config: CONFIG_FILE, dataFolder, script: 'src/worker.ts' })
  const bare = await startWorker({
    config: 'tools/bench/point-read/wrangler.toml',
    script: 'tools/bench/point-read/worker.ts',
    dataFolder: join(folder, 'bare'),
  })
  const example = await deployExample(await signIn(service.origin, administrator), dataFolder)
  const { username, password } = testUsers().find(user => user.roles.includes('admin'))!
  const user = await signIn(service.origin, { username, password, hostName: example.hostname })
  const root = `/resource/${example.tenantLocator}`

  say(`a table of ${rows} rows`)
  await fetch(`${bare.origin}/rows/${rows}`, { method: 'PUT' })
  const begun = performance.now()
  await user.call('POST', `${root}/tables?name=points&staticName=points`, fileOf(rows))
  const uploadSeconds = (performance.now() - begun) / 1_000
  await user.call('POST', `${root}/groups`, {
    name: 'points',
    selectionStartTime: '2026-01-01T00:00:00Z',
    resourceNames: ['points'],
  })

  const ours = connect(service.origin, CONCURRENCY)
  const theirs = connect(bare.origin, CONCURRENCY)
  const lookUp = (at: number): Call => ({
    method: 'GET',
    path: `${root}/tables/points/record?key=k${at}`,
    token: user.token,
  })
  const read = (at: number): Call => ({ method: 'GET', path: `/k${at}` })
  // No key occurs twice, and consecutive keys are far apart: the multiplier is a prime that does not divide the number of rows.
  let next = 0
  const unseen = (): number => {
    next += 1
    return (next * 7_919) % rows
  }
  const known = (): number => {
    next += 1
    return next % KNOWN
  }
  const measured: { bare: Run; cold: Run; warm: Run }[] = []
  for (let round = 0; round <= sizes.rounds; round += 1) {
    say(round === 0 ? 'warming up' : `round ${round} of ${sizes.rounds}`)
    const cold = await run(ours, () => lookUp(unseen()), sizes)
    const bareRun = await run(theirs, () => read(unseen()), sizes)
    const warm = await run(ours, () => lookUp(known()), sizes)
    if (round > 0) measured.push({ bare: bareRun, cold, warm })
  }
  ours.close()
  theirs.close()
  await Promise.all([service.stop(), bare.stop()])
  const of = (which: 'cold' | 'warm'): LookUps => {
    const ratios = measured.map(one => perSecond(one[which]) / perSecond(one.bare))
    return {
      perSecond: median(measured.map(one => perSecond(one[which]))),
      ratios,
      ratio: median(ratios),
      roundTrips: mostCommon(
        measured.flatMap(one => one[which].answers.map(({ serverTiming }) => roundTrips(serverTiming))),
      ),
    }
  }
  return {
    rows,
    uploadSeconds,
    bareReadsPerSecond: median(measured.map(one => perSecond(one.bare))),
    cold: of('cold'),
    warm: of('warm'),
  }
}

function fileOf(rows: number): FormData {
  const lines = Array.from({ length: rows }, (_, at) => `k${at},${at}`)
  const form = new FormData()
  form.set('file', new Blob([`key,value\n${lines.join('\n')}\n`]), 'points.csv')
  return form
}

const perSecond = ({ answers, elapsedMs }: Run): number => (answers.length / elapsedMs) * 1_000

function run(connection: Connection, next: () => Call, { requestsARun, longestRunMs }: Sizes): Promise<Run> {
  let left = requestsARun
  const calls = {
    next() {
      left -= 1
      return left < 0 ? { done: true as const, value: undefined } : { done: false as const, value: next() }
    },
  }
  return drive(connection, calls, { atOnce: CONCURRENCY, longestMs: longestRunMs }, () => undefined)
}

/** Formats the figures as text. */
export function tableLines({ rows, uploadSeconds, bareReadsPerSecond, cold, warm }: TableFigures): string {
  const told = (what: string, { perSecond: rate, ratio, ratios, roundTrips: trips }: LookUps): string =>
    `lookups of ${what}: ${rate.toFixed(0)}/s; ratio to bare reads ${ratio.toFixed(2)} (${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}); round trips of most lookups: ${trips}`
  return [
    `a table of ${rows} rows: uploaded in ${uploadSeconds.toFixed(1)} s; bare reads of D1 by key ${bareReadsPerSecond.toFixed(0)}/s`,
    told('rows not read before', cold),
    told('rows cached by the isolate', warm),
  ].join('\n')
}
