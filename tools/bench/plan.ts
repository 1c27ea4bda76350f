// What an operation asks of the platform: recorded from the service, carried out by the floor.

/**
 * One SQL statement. `rows` came back or were written; `bytes` is the JSON of the rows that came back, or the
 * parameters of a write.
 */
export type Statement = { kind: 'read' | 'write'; rows: number; bytes: number }

/** Statements of one round trip to D1. */
export type Batch = Statement[]

/** A call of R2, and the bytes that went one way or the other. */
export type FileCall = { kind: 'put' | 'get' | 'other'; bytes: number }

/** Calls of one request: D1 batches by where they were sent from; files and queues as the Worker's or the object's alike. */
export type Recording = {
  worker: Batch[]
  object: Batch[]
  files: FileCall[]
  /** Bytes of each message to a queue, which is sent after the answer. */
  messages: number[]
}

/** The floor's work for one request. */
export type Plan = {
  /** Whether a password is hashed: work that is the purpose of the call. */
  hashes: boolean
  /** Batches that the Worker sends itself. */
  worker: Batch[]
  /** Batches that a Durable Object sends, in one call of it; undefined without a call. */
  object: Batch[] | undefined
  files?: FileCall[]
  messages?: number[]
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
  const shape = ({ recording: { worker, object, files, messages }, objectCalls }: Observation): string =>
    [worker.length, object.length, objectCalls, files.length, messages.length].join(' ')
  const byShape = Map.groupBy(observations, shape)
  const most = [...byShape.values()].reduce((best, one) => (one.length > best.length ? one : best), [])
  const typical = most.at(-1)
  if (!typical) throw new Error('Nothing was observed, so there is no plan.')
  const { recording, objectCalls, answerBytes } = typical
  const { worker, object, files, messages } = recording
  return {
    hashes,
    worker,
    files,
    messages,
    answerBytes,
    object: objectCalls > 0 ? object : undefined,
  }
}

/** `1 batches, 3 statements, 12 rows read, 4 written, 0 files, 1 messages`. */
export function describePlan({ worker, object, files = [], messages = [] }: Plan): string {
  const batches = [...worker, ...(object ?? [])]
  const statements = batches.flat()
  const rows = (kind: Statement['kind']): number =>
    statements.filter(one => one.kind === kind).reduce((sum, one) => sum + one.rows, 0)
  const inDatabases = `${batches.length} batches, ${statements.length} statements, ${rows('read')} rows read, ${rows('write')} written`
  return `${inDatabases}, ${files.length} calls of R2, ${messages.length} messages`
}
