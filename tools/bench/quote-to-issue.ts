// Measures a policy from quote to issue, in four requests: create, price, finalize, issue. Compares the service with its floor,
// and with what somebody could build instead in a week (tools/bench/naive-node), so that a reader sees the cost of the
// guarantees.
import { median, quantile } from './figures.ts'
import type { Connection } from './load.ts'
import { connect } from './load.ts'
import { OPERATIONS, type Operation, type World } from './operations.ts'
import { CONCURRENCY, type Sizes } from './options.ts'
import { roundTrips } from './round-trips.ts'
import type { Side } from './sides.ts'
import type { Worker } from './worker-process.ts'

export const GOALS = { ratio: 0.6, warm: 4 } as const

const STEPS = ['create draft policy', 'price', 'finalize', 'issue'].map(
  name => OPERATIONS.find(one => one.name === name)!,
)

export type JourneyFigures = {
  /** Policies issued per second, median over the rounds. */
  perSecond: number
  /** Milliseconds of all four requests in sequence. */
  p50: number
  p99: number
  /** CPU milliseconds for each policy. */
  cpuMs: number | undefined
}

export type QuoteToIssue = {
  service: JourneyFigures
  floor: JourneyFigures
  naiveNode: JourneyFigures
  /** Ratio of the service to the floor: the median, and that of each round. */
  ratio: number
  ratios: number[]
  naiveNodeRatio: number
  /** D1 round trips of all four requests together, median over the policies. */
  d1RoundTrips: number
}

/** Issues a policy. Resolves to the D1 round trips of its requests, if the responses report them. */
type Journey = () => Promise<number>

type Contestant = { journey: Journey; cpuMs(): number | undefined }

const ofSide = (side: Side): Contestant => ({
  cpuMs: side.cpuMs,
  async journey() {
    let subject = newName()
    let d1 = 0
    for (const step of STEPS) {
      const { text, serverTiming } = await side.connection.send(side.call(step, subject))
      if (step === STEPS[0]) subject = draftSubjectOf(side, step, subject, text)
      d1 += Number(/d1 (\d+)/.exec(roundTrips(serverTiming))?.[1] ?? 0)
    }
    return d1
  },
})

/** Returns the subject of the draft for the following steps. */
function draftSubjectOf(side: Side, step: Operation, subject: string, text: string): string {
  const stock = { unquoted: [] as string[] }
  side.leave(stock as never, step, subject, text)
  return stock.unquoted[0]!
}

let made = 0
const newName = (): string => {
  made += 1
  return `new-journey-${made}`
}

const ofNaiveNode = (worker: Worker, connection: Connection, world: World): Contestant => ({
  cpuMs: worker.cpuMs,
  async journey() {
    let subject = ''
    for (const step of STEPS) {
      const { text } = await connection.send(step.call(world, subject))
      if (step === STEPS[0]) subject = (JSON.parse(text) as { locator: string }).locator
    }
    return 0
  },
})

type Run = { perSecond: number; latencies: number[]; cpuMs: number | undefined; d1: number[] }

async function run({ journey, cpuMs }: Contestant, longestMs: number): Promise<Run> {
  const latencies: number[] = []
  const d1: number[] = []
  const cpu = cpuMs()
  const begun = performance.now()
  const oneAfterTheOther = async (): Promise<void> => {
    while (performance.now() - begun < longestMs) {
      const started = performance.now()
      d1.push(await journey())
      latencies.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, oneAfterTheOther))
  const elapsed = performance.now() - begun
  const used = cpuMs()
  return {
    latencies,
    d1,
    perSecond: (latencies.length / elapsed) * 1_000,
    cpuMs: cpu === undefined || used === undefined ? undefined : (used - cpu) / latencies.length,
  }
}

function figures(runs: readonly Run[]): JourneyFigures {
  const latencies = runs.flatMap(one => one.latencies)
  const cpu = runs.flatMap(one => one.cpuMs ?? [])
  return {
    perSecond: median(runs.map(one => one.perSecond)),
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    cpuMs: cpu.length === 0 ? undefined : median(cpu),
  }
}

/** Runs the three alternately, round after round. The first round warms up. */
export async function measureQuoteToIssue(
  service: Side,
  floor: Side,
  naiveNode: Worker,
  world: World,
  sizes: Sizes,
): Promise<QuoteToIssue> {
  const connection = connect(naiveNode.origin, CONCURRENCY)
  const contestants = {
    service: ofSide(service),
    floor: ofSide(floor),
    naiveNode: ofNaiveNode(naiveNode, connection, world),
  }
  const rounds: Record<keyof typeof contestants, Run>[] = []
  for (let round = 0; round <= sizes.rounds; round += 1) {
    const one = {
      service: await run(contestants.service, 2 * sizes.longestRunMs),
      floor: await run(contestants.floor, 2 * sizes.longestRunMs),
      naiveNode: await run(contestants.naiveNode, 2 * sizes.longestRunMs),
    }
    if (round > 0) rounds.push(one)
  }
  connection.close()
  const ratios = rounds.map(one => one.service.perSecond / one.floor.perSecond)
  return {
    service: figures(rounds.map(one => one.service)),
    floor: figures(rounds.map(one => one.floor)),
    naiveNode: figures(rounds.map(one => one.naiveNode)),
    ratios,
    ratio: median(ratios),
    naiveNodeRatio: median(rounds.map(one => one.service.perSecond / one.naiveNode.perSecond)),
    d1RoundTrips: median(rounds.flatMap(one => one.service.d1)),
  }
}
