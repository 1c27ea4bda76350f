// What an operation asks of the platform: recorded from the service, carried out by the floor.

/**
 * One SQL statement. `rows` came back or were written; `bytes` is the JSON of the rows that came back, or the
 * parameters of a write.
 */
export type Statement = { kind: 'read' | 'write'; rows: number; bytes: number }

/** Statements of one round trip to D1. */
export type Batch = Statement[]

/** D1 batches of one request, by where they were sent from. */
export type Recording = {
  worker: Batch[]
  object: Batch[]
}

/** The floor's work for one request. */
export type Plan = {
  /** Whether a password is hashed: work that is the purpose of the call. */
  hashes: boolean
  /** Batches that the Worker sends itself. */
  worker: Batch[]
  /** Batches that a Durable Object sends, in one call of it; undefined without a call. */
  object: Batch[] | undefined
  /** Length of the answer. */
  answerBytes: number
}

/** One request of the service, as it was observed. */
export type Observation = { recording: Recording; objectCalls: number; answerBytes: number }

/**
 * The plan of the typical request: the last of those with the most common number of round trips. The others
 * hold what is due now and then only (a lease of locators, a look at the tenant).
 */
export function planOf(observations: readonly Observation[], hashes: boolean): Plan {
  const shape = ({ recording, objectCalls }: Observation): string =>
    `${recording.worker.length} ${recording.object.length} ${objectCalls}`
  const byShape = Map.groupBy(observations, shape)
  const most = [...byShape.values()].reduce((best, one) => (one.length > best.length ? one : best), [])
  const typical = most.at(-1)
  if (!typical) throw new Error('Nothing was observed, so there is no plan.')
  const { recording, objectCalls, answerBytes } = typical
  return {
    hashes,
    worker: recording.worker,
    object: objectCalls > 0 ? recording.object : undefined,
    answerBytes,
  }
}

/** `1 batch, 3 statements, 12 rows read, 4 rows written`. */
export function describePlan({ worker, object }: Plan): string {
  const batches = [...worker, ...(object ?? [])]
  const statements = batches.flat()
  const rows = (kind: Statement['kind']): number =>
    statements.filter(one => one.kind === kind).reduce((sum, one) => sum + one.rows, 0)
  return `${batches.length} batches, ${statements.length} statements, ${rows('read')} rows read, ${rows('write')} written`
}
