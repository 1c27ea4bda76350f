// docs/counts.json: what operations ask of the platform, counted. Written by `npm run counts`; everything that reckons with counts reads it.
import { readFileSync } from 'node:fs'

/** A line of the log (src/platform/observation.ts), as far as it counts. */
export type Line = Count & {
  readonly at: 'request' | 'queue' | 'alarm' | 'cron'
  readonly operation: string
}

/** What the counting Worker tells. `writes`: batches that wrote rows. */
export type Counted = { lines: Line[]; puts: number; writes: number }

/** Calls of the platform, and rows with the entries of indexes. */
export type Count = {
  readonly d1: number
  /** Those of `d1` that went to the control database: one that looks at the tenant again, after 5 s. */
  readonly control: number
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
  /** Batches that wrote rows, of the calls of `d1`. */
  readonly writes: number
  /** Lines of the log. */
  readonly lines: number
}

export type Counts = {
  readonly commit: string
  readonly operations: readonly CountedOperation[]
  readonly transactions: readonly CountedTransaction[]
  /** The share of one in many that are carried out at the same time: what comes of them is read and recorded together. */
  readonly atOnce: readonly CountedTransaction[]
}

/** In `atOnce`. */
export const POLICIES_AT_ONCE = 40

/** Policies from quote to issue: by four requests, and by two. */
export const NEW_BUSINESS = 'new business'
export const NEW_BUSINESS_IN_TWO = 'new business, finalized when created'

export const COUNTS_FILE = 'docs/counts.json'

export const readCounts = (): Counts => JSON.parse(readFileSync(COUNTS_FILE, 'utf8')) as Counts
