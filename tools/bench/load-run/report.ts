// Formats a run of the load as a table, for people and for docs/measured.md.
import { median, quantile } from '../figures.ts'
import type { Backlog, Book } from './backlog.ts'
import type { Failure, Sample } from './samples.ts'

/** A part of the run, on the clock of `performance.now()`. */
export type Span = { readonly from: number; readonly to: number }

export type LoadFigures = {
  tenants: number
  users: number
  minutes: number
  samples: readonly Sample[]
  failures: readonly Failure[]
  /** The minute before the burst, the burst, and the minute after its backlog was cleared. */
  before: Span
  burst: Span
  after: Span
  /** The largest backlog, and the milliseconds from the end of the burst until the backlog was no larger than before it. */
  worstBacklog: Backlog
  drainedMs: number
  book: Book
  /** Events in the book that were to be sent and that arrived at the receiver, each counted once. */
  delivered: number
  /** Used megabytes of the service after a collection. Undefined if the inspector did not respond. */
  heapMb: { before: number | undefined; after: number | undefined }
}

const within =
  ({ from, to }: Span) =>
  ({ at }: Sample): boolean =>
    at >= from && at < to

const successLatencies = (samples: readonly Sample[]): number[] =>
  samples.filter(({ status }) => status >= 200 && status < 300).map(({ latencyMs }) => latencyMs)

const rate = (samples: readonly Sample[], { from, to }: Span): number =>
  (samples.length / (to - from)) * 1_000

const ms = (values: readonly number[], share: number): string =>
  values.length === 0 ? '–' : quantile(values, share).toFixed(0)

const ratioOf = (after: readonly number[], before: readonly number[]): string =>
  after.length === 0 || before.length === 0 ? '–' : (median(after) / median(before)).toFixed(2)

/** With fewer responses of a kind, their median is not meaningful. */
const FEWEST_OF_A_KIND = 5

/**
 * Returns the median ratio of response times after the burst to those of the same kind before it. Users do different things in
 * the two minutes, and some of these take longer than others, so the kinds are compared separately.
 */
export function latencyRatio({ samples, before, after }: LoadFigures): number {
  const usual = new Map(
    [...Map.groupBy(samples.filter(within(before)), ({ kind }) => kind)].flatMap(([kind, all]) => {
      const times = successLatencies(all)
      return times.length < FEWEST_OF_A_KIND ? [] : [[kind, median(times)] as const]
    }),
  )
  const ratios = samples.filter(within(after)).flatMap(sample => {
    const time = usual.get(sample.kind)
    return time === undefined ? [] : successLatencies([sample]).map(ms => ms / time)
  })
  return ratios.length === 0 ? Number.NaN : median(ratios)
}

/** Above this ratio, latency has not returned to normal. */
const MOST_LATENCY_RATIO = 1.5

/** The burst should have this many times as many requests. Below `FEWEST_TIMES`, it does not count as a burst. */
export const BURST_TIMES = 10
const FEWEST_TIMES = 9.5

const burstTimes = ({ samples, before, burst }: LoadFigures): number =>
  rate(samples.filter(within(burst)), burst) / rate(samples.filter(within(before)), before)

/**
 * Returns problems: failures, events that did not arrive, deliveries given up, too small a burst, and latency that did not
 * recover.
 */
export function problemsOf(figures: LoadFigures): string[] {
  const { failures, book, delivered } = figures
  const missing = book.toDeliver.size - delivered
  const times = burstTimes(figures)
  const latency = latencyRatio(figures)
  return [
    ...(failures.length > 0 ? [`${failures.length} responses were neither 2xx nor 429`] : []),
    ...(missing > 0 ? [`${missing} events did not arrive`] : []),
    ...(book.failedDeliveries > 0 ? [`${book.failedDeliveries} deliveries were given up`] : []),
    ...(times >= FEWEST_TIMES
      ? []
      : [`the burst had only ${times.toFixed(1)} times as many requests as usual`]),
    ...(Number.isNaN(latency)
      ? ['there are no responses from which to compute the latency before or after the burst']
      : []),
    ...(latency > MOST_LATENCY_RATIO
      ? [
          `latency did not return to its value before the burst: ${latency.toFixed(2)} times (at most ${MOST_LATENCY_RATIO})`,
        ]
      : []),
  ]
}

export function loadMarkdown(figures: LoadFigures): string {
  const { samples, before, burst, after, book, worstBacklog, heapMb } = figures
  const spans = [before, burst, after].map(span => ({ span, samples: samples.filter(within(span)) }))
  const kinds = [...new Set(samples.map(({ kind }) => kind))]
  const row = (name: string, of: (sample: Sample) => boolean): string => {
    const each = spans.map(span => span.samples.filter(of))
    const times = each.map(successLatencies)
    return `| ${name} | ${samples.filter(of).length} | ${times.map(time => `${ms(time, 0.5)} / ${ms(time, 0.99)}`).join(' | ')} | ${ratioOf(times[2]!, times[0]!)} |`
  }
  const refused = samples.filter(({ status }) => status === 429).length
  const statuses = Map.groupBy(figures.failures, ({ status }) => status)
  const wrong =
    figures.failures.length === 0
      ? 'none'
      : [...statuses].map(([status, all]) => `${all.length} × ${status}`).join(', ')
  const perSecond = spans.map(one => rate(one.samples, one.span).toFixed(1))
  const rest = [
    `${figures.tenants} tenants, ${figures.users} users who pause between their actions, for ${figures.minutes} minutes; then for ${((burst.to - burst.from) / 1_000).toFixed(0)} s ${BURST_TIMES} times as many requests, each started without waiting for other responses; then the users alone again. Requests started per second: ${perSecond[0]} in the minute before the burst, ${perSecond[1]} during the burst (${burstTimes(figures).toFixed(1)} times as many), ${perSecond[2]} in the minute after its backlog was done.`,
    '',
    `- responses that are neither 2xx nor 429: ${wrong}; 429: ${refused}`,
    `- events: ${book.events} written, ${book.toDeliver.size} to be sent to webhooks, ${figures.delivered} arrived, ${book.failedDeliveries} given up`,
    `- largest backlog: ${worstBacklog.deliveries} deliveries, ${worstBacklog.documents} policies with documents to create, ${worstBacklog.timers} timers; ${(figures.drainedMs / 1_000).toFixed(0)} s after the burst it was no larger than before, and at the end it was empty`,
    `- latency in the minute after, divided by the median of the same kind of request in the minute before: ${latencyRatio(figures).toFixed(2)} as the median (at most ${MOST_LATENCY_RATIO})`,
    ...(heapMb.before !== undefined && heapMb.after !== undefined
      ? [
          `- heap after a collection, at the end divided by that before the traffic: ${(heapMb.after / heapMb.before).toFixed(2)} (${heapMb.before.toFixed(0)} MB, ${heapMb.after.toFixed(0)} MB)`,
        ]
      : []),
    `- the book at the end: ${book.policies} policies, ${book.transactions} transactions, ${(book.bytes / book.policies / 1_024).toFixed(1)} KiB of database per policy`,
  ]
  return [
    ...rest,
    '',
    '| milliseconds, p50 / p99 | requests | before | burst | after | p50 after / before |',
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...kinds.map(kind => row(kind, sample => sample.kind === kind)),
    row('all', () => true),
  ].join('\n')
}
