// A run of the load as a table, for people and for docs/measured.md.
import { median, quantile } from '../figures.ts'
import type { Backlog, Book } from './backlog.ts'
import type { Failure, Sample } from './samples.ts'

/** A stretch of the run, on the clock of `performance.now()`. */
export type Span = { readonly from: number; readonly to: number }

export type LoadFigures = {
  tenants: number
  users: number
  burstUsers: number
  minutes: number
  samples: readonly Sample[]
  failures: readonly Failure[]
  /** The minute before the burst, the burst, the minute after all was as before. */
  before: Span
  burst: Span
  after: Span
  /** The most that waited, and milliseconds from the end of the burst until no more waited than before it. */
  worstBacklog: Backlog
  drainedMs: number
  book: Book
  /** Events that came to the receiver, each once, of those in the book that were to be sent. */
  delivered: number
  /** Used megabytes of the service after a collection, where the inspector answered. */
  heapMb: { before: number | undefined; after: number | undefined }
}

const within =
  ({ from, to }: Span) =>
  ({ at }: Sample): boolean =>
    at >= from && at < to

const answered = (samples: readonly Sample[]): number[] =>
  samples.filter(({ status }) => status >= 200 && status < 300).map(({ latencyMs }) => latencyMs)

const rate = (samples: readonly Sample[], { from, to }: Span): number =>
  (samples.length / (to - from)) * 1_000

const ms = (values: readonly number[], share: number): string =>
  values.length === 0 ? '–' : quantile(values, share).toFixed(0)

const ratioOf = (after: readonly number[], before: readonly number[]): string =>
  after.length === 0 || before.length === 0 ? '–' : (median(after) / median(before)).toFixed(2)

/** Medians of all answers after and before, as a ratio. */
export const latencyRatio = ({ samples, before, after }: LoadFigures): number =>
  median(answered(samples.filter(within(after)))) / median(answered(samples.filter(within(before))))

/** Whether nothing failed, all was delivered and made, and the service answers as it did. */
export function problemsOf(figures: LoadFigures): string[] {
  const { failures, book, delivered } = figures
  const missing = book.toDeliver.size - delivered
  return [
    ...(failures.length > 0 ? [`${failures.length} answers were neither 2xx nor 429`] : []),
    ...(missing > 0 ? [`${missing} events did not arrive`] : []),
    ...(book.failedDeliveries > 0 ? [`${book.failedDeliveries} deliveries were given up`] : []),
  ]
}

export function loadMarkdown(figures: LoadFigures): string {
  const { samples, before, burst, after, book, worstBacklog, heapMb } = figures
  const spans = [before, burst, after].map(span => ({ span, samples: samples.filter(within(span)) }))
  const kinds = [...new Set(samples.map(({ kind }) => kind))]
  const row = (name: string, of: (sample: Sample) => boolean): string => {
    const each = spans.map(one => one.samples.filter(of))
    const times = each.map(answered)
    return `| ${name} | ${samples.filter(of).length} | ${times.map(one => `${ms(one, 0.5)} / ${ms(one, 0.99)}`).join(' | ')} | ${ratioOf(times[2]!, times[0]!)} |`
  }
  const refused = samples.filter(({ status }) => status === 429).length
  const statuses = Map.groupBy(figures.failures, ({ status }) => status)
  const wrong =
    figures.failures.length === 0
      ? 'none'
      : [...statuses].map(([status, all]) => `${all.length} × ${status}`).join(', ')
  const perSecond = spans.map(one => rate(one.samples, one.span).toFixed(1))
  const rest = [
    `${figures.tenants} tenants, ${figures.users} users who think between what they do, for ${figures.minutes} minutes; then ${figures.burstUsers} users for ${((burst.to - burst.from) / 1_000).toFixed(0)} s; then ${figures.users} again. Requests a second: ${perSecond[0]} in the minute before the burst, ${perSecond[1]} in it, ${perSecond[2]} in the minute after what it left was done.`,
    '',
    `- answers that are neither 2xx nor 429: ${wrong}; 429: ${refused}`,
    `- events: ${book.events} written, ${book.toDeliver.size} to be sent to webhooks, ${figures.delivered} arrived, ${book.failedDeliveries} given up`,
    `- waiting at the most: ${worstBacklog.deliveries} deliveries, ${worstBacklog.documents} policies with documents to make, ${worstBacklog.timers} timers; ${(figures.drainedMs / 1_000).toFixed(0)} s after the burst no more than before it, and at the end nothing`,
    `- median latency of the minute after by that before: ${latencyRatio(figures).toFixed(2)}`,
    ...(heapMb.before !== undefined && heapMb.after !== undefined
      ? [
          `- heap after a collection, at the end by that before the traffic: ${(heapMb.after / heapMb.before).toFixed(2)} (${heapMb.before.toFixed(0)} MB, ${heapMb.after.toFixed(0)} MB)`,
        ]
      : []),
    `- the book at the end: ${book.policies} policies, ${book.transactions} transactions, ${(book.bytes / book.policies / 1_024).toFixed(1)} KiB of database a policy`,
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
