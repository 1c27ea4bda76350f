// The figures for people.
import { PLUGIN_CALL_GOAL, type PluginCallCost } from './plugin-call.ts'
import type { Measured } from './rounds.ts'
import { BUNDLE_GOAL_BYTES, type BundleSize, START_UP_GOAL, type StartUp } from './start-up.ts'

const HEADINGS = [
  'operation',
  'req/s',
  'floor req/s',
  'ratio',
  'spread',
  'goal',
  'p99 ms',
  'floor p99 ms',
  'round trips',
]

/** Columns as wide as their widest cell; all but the first and the last to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map(row => row[column]!.length)))
  const last = widths.length - 1
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => (at === 0 || at === last ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join('  ')
      .trimEnd()
  return rows.map(line).join('\n')
}

export const operationsTable = (operations: readonly Measured[]): string =>
  table([
    HEADINGS,
    ...operations.map(one => [
      one.name,
      one.service.toFixed(1),
      one.floor.toFixed(1),
      one.ratio.toFixed(2),
      `${Math.min(...one.ratios).toFixed(2)}-${Math.max(...one.ratios).toFixed(2)}`,
      `>= ${one.goal}`,
      one.serviceP99.toFixed(1),
      one.floorP99.toFixed(1),
      one.roundTrips,
    ]),
  ])

export function startUpLine({ routes, serviceMs, emptyAppMs, ratio }: StartUp): string {
  const times = `${serviceMs.toFixed(0)} ms CPU, an empty app with ${routes} routes ${emptyAppMs.toFixed(0)} ms`
  return `start-up: ${times}: ratio ${ratio.toFixed(2)} (goal <= ${START_UP_GOAL})`
}

const kibibytes = (bytes: number): string => (bytes / 1024).toFixed(0)

export const bundleLine = ({ bytes, gzippedBytes, apart }: BundleSize): string =>
  `bundle: ${kibibytes(gzippedBytes)} KiB gzipped, ${kibibytes(bytes)} KiB plain (goal < ${kibibytes(BUNDLE_GOAL_BYTES)} KiB gzipped); loaded when needed: ${kibibytes(apart.gzippedBytes)} KiB gzipped`

/** The ratio that has the goal first, and beside it what else the call can be held against (docs/bench.md). */
export function pluginCallLine({ characters, throughRunnerMs, alone }: PluginCallCost): string {
  const told = ({ ms, ratio }: PluginCallCost['alone']['reading']): string =>
    `${ms.toFixed(0)} ms: ratio ${ratio.median.toFixed(2)} (${ratio.from.toFixed(2)} to ${ratio.to.toFixed(2)})`
  const parts = [
    `rating 5,000 perils in one call of a plugin: ${throughRunnerMs.toFixed(0)} ms for ${kibibytes(characters)} KiB`,
    `alone, as it is written, ${told(alone.asWritten)} (goal <= ${PLUGIN_CALL_GOAL})`,
    `with reading its input and writing its answer ${told(alone.reading)}`,
    `alone, compiled as the sandbox does, ${told(alone.compiled)}`,
  ]
  return parts.join('; ')
}
