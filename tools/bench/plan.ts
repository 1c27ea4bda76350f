// The calls of the platform that an operation makes, recorded from the service and repeated by the floor.

/**
 * One SQL statement. `rows` is the number of rows returned or written; `bytes` is the size of the returned rows as JSON, or of
 * the parameters of a write.
 */
export type Statement = { kind: 'read' | 'write'; rows: number; bytes: number }

/** Statements of one round trip to D1. */
export type Batch = Statement[]

/** A call of R2, and the bytes transferred. */
export type FileCall = { kind: 'put' | 'get' | 'other'; bytes: number }

/**
 * The calls of one request. D1 batches are separated by their sender; calls of files and queues are those of the Worker and the
 * object together.
 */
export type Recording = {
  worker: Batch[]
  object: Batch[]
  files: FileCall[]
  /** Bytes of each message to a queue, which is sent after the response. */
  messages: number[]
}

/** The floor's work for one request. */
export type Plan = {
  /** Whether a password is hashed, which is the purpose of the call. */
  hashes: boolean
  /** Batches that the Worker itself sends. */
  worker: Batch[]
  /** Batches that a Durable Object sends in one call of it. Undefined without a call. */
  object: Batch[] | undefined
  files?: FileCall[]
  messages?: number[]
  /** Length of the response. */
  answerBytes: number
}

/** One request of the service, as observed. */
export type Observation = { recording: Recording; objectCalls: number; answerBytes: number }

/**
 * Returns the plan of the typical request: the last one with the most common numbers of calls. The others include work that is
 * only needed occasionally (a lease of locators, a look at the tenant).
 */
export function planOf(observations: readonly Observation[], hashes: boolean): Plan {
  const shape = ({ recording: { worker, object, files, messages }, objectCalls }: Observation): string =>
    [worker.length, object.length, objectCalls, files.length, messages.length].join(' ')
  const byShape = Map.groupBy(observations, shape)
  const most = [...byShape.values()].reduce((best, one) => (one.length > best.length ? one : best), [])
  const typical = most.at(-1)
  if (!typical) throw new Error('No calls were recorded, so there is no plan.')
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

/** Formats a plan: `1 batches, 3 statements, 12 rows read, 4 written, 0 calls of R2, 1 messages`. */
export function describePlan({ worker, object, files = [], messages = [] }: Plan): string {
  const batches = [...worker, ...(object ?? [])]
  const statements = batches.flat()
  const rows = (kind: Statement['kind']): number =>
    statements.filter(statement => statement.kind === kind).reduce((sum, one) => sum + one.rows, 0)
  const inDatabases = `${batches.length} batches, ${statements.length} statements, ${rows('read')} rows read, ${rows('write')} written`
  return `${inDatabases}, ${files.length} calls to R2, ${messages.length} messages`
}
