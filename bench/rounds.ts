// Service and floor, one run of each after the other, round after round.
import { median, mostCommon, quantile } from './figures.ts'
import { drive, type Run } from './load.ts'
import { GOALS, OPERATIONS, type Operation } from './operations.ts'
import { CONCURRENCY, type Sizes } from './options.ts'
import { type RoundTrips, roundTrips } from './round-trips.ts'
import { emptyStock, type Side, type Stock, subjects } from './sides.ts'

export type Measured = {
  name: string
  kind: Operation['kind']
  goal: number
  /** Requests per second, medians over the rounds. */
  service: number
  floor: number
  /** Requests per second of the service divided by those of the floor: of each round, and their median. */
  ratios: number[]
  ratio: number
  /** Milliseconds; over all requests that count. */
  serviceP99: number
  floorP99: number
  /** Those of most answers. */
  roundTrips: RoundTrips
}

/** Passwords that are hashed at the same time hold each other up, and above a limit are refused. */
const HASHES_AT_ONCE = 2

/** Runs every operation; `say` is told what is being done. */
export async function measureAll(
  service: Side,
  floor: Side,
  sizes: Sizes,
  say: (line: string) => void,
): Promise<Measured[]> {
  const runs = OPERATIONS.map(operation => ({ operation, service: [] as Run[], floor: [] as Run[] }))
  for (let round = 0; round <= sizes.rounds; round += 1) {
    say(round === 0 ? 'warming up' : `round ${round} of ${sizes.rounds}`)
    const stocks = { service: emptyStock(), floor: emptyStock() }
    for (const { operation, ...of } of runs) {
      const pair = {
        service: await runOnce(service, operation, stocks.service, sizes),
        floor: await runOnce(floor, operation, stocks.floor, sizes),
      }
      if (round === 0) continue
      of.service.push(pair.service)
      of.floor.push(pair.floor)
    }
  }
  return runs.map(measured)
}

async function runOnce(side: Side, operation: Operation, stock: Stock, sizes: Sizes): Promise<Run> {
  const { takes, leaves, hashes } = operation
  const source = subjects(takes, side.records, stock)
  const subjectOf = new Map<object, string>()
  const limits = { atOnce: hashes ? HASHES_AT_ONCE : CONCURRENCY, longestMs: sizes.longestRunMs }
  let left = sizes.requestsARun
  const calls = {
    next() {
      const subject = left-- > 0 ? source.next().value : undefined
      if (subject === undefined) return { done: true as const, value: undefined }
      const call = side.call(operation, subject)
      subjectOf.set(call, subject)
      return { done: false as const, value: call }
    },
  }
  const changed: { subject: string; text: string }[] = []
  const run = await drive(side.connection, calls, limits, (call, { text }) => {
    if (leaves) changed.push({ subject: subjectOf.get(call)!, text })
  })
  // After the run: reading answers is no part of it.
  if (leaves) stock[leaves].push(...changed.map(({ subject, text }) => side.subjectAfter(subject, text)))
  if (run.answers.length === 0) throw new Error(`Nothing was there for '${operation.name}' to work on.`)
  return run
}

const perSecond = ({ answers, elapsedMs }: Run): number => (answers.length / elapsedMs) * 1_000

const latencies = (runs: readonly Run[]): number[] =>
  runs.flatMap(({ answers }) => answers.map(({ latencyMs }) => latencyMs))

function measured({
  operation: { name, kind },
  service,
  floor,
}: {
  operation: Operation
  service: Run[]
  floor: Run[]
}): Measured {
  const ratios = service.map((run, round) => perSecond(run) / perSecond(floor[round]!))
  return {
    name,
    kind,
    goal: GOALS[kind],
    service: median(service.map(perSecond)),
    floor: median(floor.map(perSecond)),
    ratios,
    ratio: median(ratios),
    serviceP99: quantile(latencies(service), 0.99),
    floorP99: quantile(latencies(floor), 0.99),
    roundTrips: mostCommon(
      service.flatMap(({ answers }) => answers.map(({ serverTiming }) => roundTrips(serverTiming))),
    ),
  }
}
