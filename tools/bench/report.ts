// Formats the figures for people: lines, and rows of cells for both the console and docs/measured.md.
import { LIQUID_GOAL, type LiquidPerils } from './liquid-perils.ts'
import type { MigrationFigures } from './migration/migration.ts'
import { PLUGIN_CALL_GOAL, type PluginCallCost } from './plugin-call.ts'
import { GOALS as JOURNEY_GOALS, type JourneyFigures, type QuoteToIssue } from './quote-to-issue.ts'
import type { Measured, SideFigures } from './rounds.ts'
import { BUNDLE_GOAL_BYTES, type BundleSize, START_UP_GOAL, type StartUp } from './start-up.ts'
import { deliveryCpu, type WebhookLoad } from './webhooks.ts'

type Row = readonly string[]

/** Formats a table with columns as wide as their widest cell. All columns but the first and the last are aligned to the right. */
export function table(rows: readonly Row[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map(row => row[column]!.length)))
  const last = widths.length - 1
  const line = (row: Row): string =>
    row
      .map((cell, at) => (at === 0 || at === last ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join('  ')
      .trimEnd()
  return rows.map(line).join('\n')
}

/** Formats the same as a Markdown table. */
export function markdownTable(rows: readonly Row[]): string {
  const [head, ...body] = rows as [Row, ...Row[]]
  const line = (row: Row): string => `| ${row.join(' | ')} |`
  const marks = head.map((_, at) => (at === 0 || at === head.length - 1 ? '---' : '---:'))
  return [line(head), line(marks), ...body.map(line)].join('\n')
}

const milliseconds = (value: number | undefined): string => (value === undefined ? '-' : value.toFixed(1))

const spread = (ratios: readonly number[]): string =>
  `${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`

/** The figures of both sides, and the ratio of the first to the second. */
type Pair = Pick<Measured, 'name' | 'ratio' | 'ratios'> & {
  service: Pick<SideFigures, 'perSecond' | 'p50' | 'p99' | 'cpuMs'>
  other: Pick<SideFigures, 'perSecond' | 'p50' | 'p99' | 'cpuMs'>
}

const pairCells = ({ name, service, other, ratio, ratios }: Pair): string[] => [
  name,
  service.perSecond.toFixed(1),
  other.perSecond.toFixed(1),
  ratio.toFixed(2),
  spread(ratios),
]

const costCells = ({ service, other }: Pair): string[] => [
  milliseconds(service.p50),
  milliseconds(service.p99),
  milliseconds(other.p99),
  milliseconds(service.cpuMs),
  milliseconds(other.cpuMs),
]

export const operationRows = (operations: readonly Measured[]): Row[] => [
  [
    ...['operation', 'req/s', 'floor req/s', 'ratio', 'spread', 'goal'],
    ...['p50 ms', 'p99 ms', 'floor p99 ms', 'CPU ms', 'floor CPU ms'],
    ...['rows read', 'rows written', 'round trips'],
  ],
  ...operations.map(operation => [
    ...pairCells(operation),
    `>= ${operation.goal}`,
    ...costCells(operation),
    String(operation.service.rowsRead),
    String(operation.service.rowsWritten),
    operation.service.roundTrips,
  ]),
]

/** The service of this commit compared with another. For round trips and rows, shows what changed. */
export const changeRows = (operations: readonly Measured[]): Row[] => [
  [
    ...['operation', 'req/s', 'before', 'ratio', 'spread'],
    ...['p50 ms', 'p99 ms', 'p99 before', 'CPU ms', 'CPU before'],
    ...['rows read', 'rows written', 'round trips'],
  ],
  ...operations.map(operation => {
    const { service, other } = operation
    const changed = (now: string | number, before: string | number): string =>
      now === before ? String(now) : `${before} -> ${now}`
    return [
      ...pairCells(operation),
      ...costCells(operation),
      changed(service.rowsRead, other.rowsRead),
      changed(service.rowsWritten, other.rowsWritten),
      changed(service.roundTrips, other.roundTrips),
    ]
  }),
]

export function quoteToIssueRows({ service, floor, naiveNode, ...figures }: QuoteToIssue): Row[] {
  const row = (name: string, one: JourneyFigures, ratio: string, goal: string): Row => [
    name,
    one.perSecond.toFixed(1),
    ratio,
    goal,
    ...[one.p50, one.p99, one.cpuMs].map(milliseconds),
  ]
  const to = (ratio: number): string => ratio.toFixed(2)
  return [
    ['quote to issue', 'policies/s', 'ratio', 'goal', 'p50 ms', 'p99 ms', 'CPU ms'],
    row('service', service, '', ''),
    row('floor', floor, `${to(figures.ratio)} (${spread(figures.ratios)})`, `>= ${JOURNEY_GOALS.ratio}`),
    row('Node, Hono and SQLite, no guarantees', naiveNode, to(figures.naiveNodeRatio), ''),
  ]
}

export const quoteToIssueLine = ({ d1RoundTrips }: QuoteToIssue): string =>
  `quote to issue: ${d1RoundTrips} D1 round trips warm (goal <= ${JOURNEY_GOALS.warm})`

export function startUpLine({ routes, serviceMs, emptyAppMs, ratio }: StartUp): string {
  const times = `${serviceMs.toFixed(0)} ms CPU, an empty app with ${routes} routes ${emptyAppMs.toFixed(0)} ms`
  return `start-up: ${times}: ratio ${ratio.toFixed(2)} (goal <= ${START_UP_GOAL})`
}

const kibibytes = (bytes: number): string => (bytes / 1024).toFixed(0)

export const bundleLine = ({ bytes, gzippedBytes, apart }: BundleSize): string =>
  `bundle: ${kibibytes(gzippedBytes)} KiB gzipped, ${kibibytes(bytes)} KiB plain (goal < ${kibibytes(BUNDLE_GOAL_BYTES)} KiB gzipped); loaded when needed: ${kibibytes(apart.gzippedBytes)} KiB gzipped`

/** Shows the ratio with the goal first, and then the other comparisons of the call (docs/bench.md). */
export function pluginCallLine({ characters, throughRunnerMs, alone }: PluginCallCost): string {
  const told = ({ ms, ratio }: PluginCallCost['alone']['reading']): string =>
    `${ms.toFixed(0)} ms: ratio ${ratio.median.toFixed(2)} (${ratio.from.toFixed(2)} to ${ratio.to.toFixed(2)})`
  const parts = [
    `rating 5,000 perils in one call of a plugin: ${throughRunnerMs.toFixed(0)} ms for ${kibibytes(characters)} KiB`,
    `alone, as written, ${told(alone.asWritten)} (goal <= ${PLUGIN_CALL_GOAL})`,
    `with parsing of the input and serializing of the result, ${told(alone.reading)}`,
    `alone, compiled as in the sandbox, ${told(alone.compiled)}`,
  ]
  return parts.join('; ')
}

export const liquidLine = ({ perils, pricedMs, bareMs, ratio, ratios }: LiquidPerils): string =>
  `rating ${perils} perils by templates: ${pricedMs.toFixed(0)} ms CPU, the same number of renderings with the bare library ${bareMs.toFixed(0)} ms: ratio ${ratio.toFixed(2)} (${spread(ratios)}; goal <= ${LIQUID_GOAL})`

export const deliveryLine = ({ service, floor, ratio, ratios, cpuMs }: WebhookLoad): string =>
  `deliver a webhook: ${service.toFixed(0)} events/s, floor ${floor.toFixed(0)}: ratio ${ratio.toFixed(2)} (${spread(ratios)}; goal >= 0.6)${deliveryCpu(cpuMs)}`

export const migratedLine = (figures: MigrationFigures): string => {
  const { accountsPerSecond, floorAccountsPerSecond, ratio, cost } = figures
  const rows = `${cost.rowsRead.toFixed(0)} rows read, ${cost.rowsWritten.toFixed(0)} written`
  return `migrate an account: ${accountsPerSecond.toFixed(1)}/s, floor ${floorAccountsPerSecond.toFixed(1)}: ratio ${ratio.toFixed(2)} (goal >= 0.6); ${cost.roundTrips.toFixed(2)} D1 round trips, ${rows}`
}
