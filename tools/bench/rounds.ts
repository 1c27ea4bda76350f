// Measures the service and the floor, or the service of two commits: one run of each in turn, round after round.
import { median, mostCommon, quantile } from './figures.ts'
import { type Answer, drive, type Run } from './load.ts'
import { GOALS, type Operation } from './operations.ts'
import { CONCURRENCY, type Sizes } from './options.ts'
import { type RoundTrips, roundTrips, rowsOf } from './round-trips.ts'
import { emptyStock, type Side, type Stock, subjects } from './sides.ts'

/** The results of one side in all rounds that count. */
export type SideFigures = {
  /** Requests per second, median over the rounds. */
  perSecond: number
  /** Milliseconds over all requests. */
  p50: number
  p99: number
  /** CPU milliseconds of a request, over all processes that handle it. Median over the rounds. */
  cpuMs: number | undefined
  /** The round trips of most responses. `none` for the floor, which does not report them. */
  roundTrips: RoundTrips
  /** Median over the responses, as D1 counts them, including entries of indexes. */
  rowsRead: number
  rowsWritten: number
}

export type Measured = {
  name: string
  kind: Operation['kind']
  goal: number
  service: SideFigures
  /** The floor, or the other commit's service. */
  other: SideFigures
  /** Requests per second of the service divided by those of the other: for each round, and their median. */
  ratios: number[]
  ratio: number
}

/** Passwords that are hashed at the same time slow each other down, and above a limit they are rejected. */
const HASHES_AT_ONCE = 2

type CountedRun = Run & { cpuMs: number | undefined }

/** Runs the operations in their order. `say` reports the progress. */
export async function measureAll(
  operations: readonly Operation[],
  service: Side,
  other: Side,
  sizes: Sizes,
  say: (line: string) => void,
): Promise<Measured[]> {
  const runs = operations.map(operation => ({
    operation,
    service: [] as CountedRun[],
    other: [] as CountedRun[],
  }))
  for (let round = 0; round <= sizes.rounds; round += 1) {
    say(round === 0 ? 'warming up' : `round ${round} of ${sizes.rounds}`)
    const stocks = { service: emptyStock(), other: emptyStock() }
    for (const { operation, ...of } of runs) {
      const pair = {
        service: await runOnce(service, operation, stocks.service, sizes),
        other: await runOnce(other, operation, stocks.other, sizes),
      }
      if (round === 0) continue
      of.service.push(pair.service)
      of.other.push(pair.other)
    }
  }
  return runs.map(measured)
}

async function runOnce(side: Side, operation: Operation, stock: Stock, sizes: Sizes): Promise<CountedRun> {
  const { leaves, hashes, atOnce = hashes ? HASHES_AT_ONCE : CONCURRENCY } = operation
  const source = await subjects(side, operation, stock, sizes.requestsARun)
  const subjectOf = new Map<object, string>()
  const calls = {
    next() {
      const subject = source.next()
      if (subject.done) return { done: true as const, value: undefined }
      const call = side.call(operation, subject.value)
      subjectOf.set(call, subject.value)
      return { done: false as const, value: call }
    },
  }
  const changed: { subject: string; text: string }[] = []
  const begun = side.cpuMs()
  const run = await drive(
    side.connection,
    calls,
    { atOnce, longestMs: sizes.longestRunMs },
    (call, { text }) => {
      if (leaves) changed.push({ subject: subjectOf.get(call)!, text })
    },
  )
  const ended = side.cpuMs()
  // After the run, because parsing responses is not part of it.
  for (const { subject, text } of changed) side.leave(stock, operation, subject, text)
  if (run.answers.length === 0) throw new Error(`There was no record for '${operation.name}' to work on.`)
  const cpuMs = begun === undefined || ended === undefined ? undefined : (ended - begun) / run.answers.length
  return { ...run, cpuMs }
}

const perSecond = ({ answers, elapsedMs }: Run): number => (answers.length / elapsedMs) * 1_000

function figures(runs: readonly CountedRun[]): SideFigures {
  const answers = runs.flatMap(run => run.answers)
  const latencies = answers.map(({ latencyMs }) => latencyMs)
  const cpu = runs.flatMap(({ cpuMs }) => cpuMs ?? [])
  const rows = answers.map(({ serverTiming }: Answer) => rowsOf(serverTiming))
  return {
    perSecond: median(runs.map(perSecond)),
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    cpuMs: cpu.length === 0 ? undefined : median(cpu),
    roundTrips: mostCommon(answers.map(({ serverTiming }) => roundTrips(serverTiming))),
    rowsRead: median(rows.map(row => row.read)),
    rowsWritten: median(rows.map(row => row.written)),
  }
}

function measured({
  operation: { name, kind },
  service,
  other,
}: {
  operation: Operation
  service: CountedRun[]
  other: CountedRun[]
}): Measured {
  const ratios = service.map((run, round) => perSecond(run) / perSecond(other[round]!))
  return {
    name,
    kind,
    ratios,
    goal: GOALS[kind],
    service: figures(service),
    other: figures(other),
    ratio: median(ratios),
  }
}
