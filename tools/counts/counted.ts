// docs/counts.json: what operations ask of the platform, counted. Written by `npm run counts`; everything that reckons with counts reads it.
import { readFileSync } from 'node:fs'

/** A line of the log (src/platform/observation.ts), as far as it counts. */
export type Line = Count & {
  readonly at: 'request' | 'queue' | 'alarm' | 'cron'
  readonly operation: string
}

/** What the counting Worker tells. */
export type Counted = { lines: Line[]; puts: number }

/** Calls of the platform, and rows with the entries of indexes. */
export type Count = {
  readonly d1: number
  readonly object: number
  readonly r2: number
  readonly queue: number
  readonly rowsRead: number
  readonly rowsWritten: number
}

export type CountedOperation = {
  readonly name: string
  /** Where its tenant and its policy were touched a moment ago. */
  readonly warm: Count
  /** Where nobody had touched them for a while. */
  readonly idle: Count
}

/** A transaction with all that comes of it: its requests, documents, deliveries to a webhook that is sent every event, timers. */
export type CountedTransaction = Count & {
  readonly name: string
  readonly requests: number
  /** Alarms of objects, which the provider counts as requests to them. */
  readonly alarms: number
  /** Messages taken from queues. */
  readonly messages: number
  /** Files written, of the calls of `r2`. */
  readonly puts: number
  /** Lines of the log. */
  readonly lines: number
}

export type Counts = {
  readonly commit: string
  readonly operations: readonly CountedOperation[]
  readonly transactions: readonly CountedTransaction[]
}

export const COUNTS_FILE = 'docs/counts.json'

export const readCounts = (): Counts => JSON.parse(readFileSync(COUNTS_FILE, 'utf8')) as Counts
