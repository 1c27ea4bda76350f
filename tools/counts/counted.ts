// docs/counts.json: the counted platform calls of operations. `npm run counts` writes it; everything that calculates with counts
// reads it.
import { readFileSync } from 'node:fs'

/** The counted part of a log line (src/platform/observation.ts). */
export type Line = Count & {
  readonly at: 'request' | 'queue' | 'alarm' | 'cron'
  readonly operation: string
}

/** The response of the counting Worker. `writes` is the number of batches that wrote rows. */
export type Counted = { lines: Line[]; puts: number; writes: number }

/** Calls of the platform, and rows including entries of indexes. */
export type Count = {
  readonly d1: number
  /** The part of `d1` that went to the control database: one call to read the tenant again, after 5 s. */
  readonly control: number
  readonly object: number
  readonly r2: number
  readonly queue: number
  readonly rowsRead: number
  readonly rowsWritten: number
}

export type CountedOperation = {
  readonly name: string
  /** When its tenant and its policy were used just before. */
  readonly warm: Count
  /** When nobody had used them for a while. */
  readonly idle: Count
}

/** A transaction with everything that follows from it: its requests, documents, deliveries to a webhook for every event, timers. */
export type CountedTransaction = Count & {
  readonly name: string
  readonly requests: number
  /** Alarms of objects, which the provider counts as requests to them. */
  readonly alarms: number
  /** Messages received from queues. */
  readonly messages: number
  /** Files written, as part of the calls of `r2`. */
  readonly puts: number
  /** Batches that wrote rows, as part of the calls of `d1`. */
  readonly writes: number
  /** Lines of the log. */
  readonly lines: number
}

export type Counts = {
  readonly commit: string
  readonly operations: readonly CountedOperation[]
  readonly transactions: readonly CountedTransaction[]
  /** The share of one transaction in many that are carried out together, whose consequences are read and recorded together. */
  readonly atOnce: readonly CountedTransaction[]
}

/** The number of policies in `atOnce`. */
export const POLICIES_AT_ONCE = 40

/** A policy from quote to issue, with four requests or with two. */
export const NEW_BUSINESS = 'new business'
export const NEW_BUSINESS_IN_TWO = 'new business, finalized when created'

export const COUNTS_FILE = 'docs/counts.json'

export const readCounts = (): Counts => JSON.parse(readFileSync(COUNTS_FILE, 'utf8')) as Counts
