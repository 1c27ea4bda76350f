// The only way to write to a tenant's database: one atomic batch with the record of the write, the guards, the rows, the events
// with their deliveries, and the timers (docs/design.md, section 5).
import { eq, type SQL, sql } from 'drizzle-orm'
import { Refusal, unavailable, versionConflict } from '../kernel/errors.ts'
import { orderedUuid, type Uuid } from '../kernel/locators.ts'
import { type Instant, now } from '../kernel/time.ts'
import type { RequestContext } from './context.ts'
import { putRows } from './database/rows.ts'
import { type Database, type Query, type Statement, statement } from './database.ts'
import {
  announce,
  armDispatcher,
  deliveriesOf,
  eventRows,
  type NewEvent,
  webhooksIn,
} from './events/outbox.ts'
import { isInterruption } from './faults.ts'
import {
  type GUARD_NAMES,
  guards as guardTable,
  type TimerKind,
  timers as timerTable,
  writes,
} from './tables.ts'
import { databaseFull, isFullAt, shareOf } from './tenancy/quotas.ts'
import { forgetBlock } from './tenancy/sequence.ts'

type GuardName = (typeof GUARD_NAMES)[number]

/**
 * A condition that fails the batch unless `holds` is true when the batch runs. With `values`, `holds` contains placeholders and
 * must be the same object each time, because an isolate builds its statement once.
 */
export type Guard = { name: GuardName; holds: SQL; values?: Readonly<Record<string, unknown>> }

export type NewTimer = {
  /** In the time of the tenant. */
  dueAt: Instant
  kind: TimerKind
  subject: string
  payload: Record<string, string>
  /** Set for a timer that exists only once: setting it again replaces it. */
  locator?: Uuid
}

/** The stored text of a response. Empty for no body. */
export type JsonAnswer = { status: number; text: string }

export const NO_BODY: JsonAnswer = { status: 200, text: '' }

/** Returns the value as JSON with the status 200. */
export const jsonAnswer = (value: unknown): JsonAnswer => ({ status: 200, text: JSON.stringify(value) })

/** The stored form of a response that is too long to store or to reply with: the subject is read again and shown. */
export type AnswerBySubject = { status: number; subject: string }

type Answer = JsonAnswer | AnswerBySubject

/** Whether the response is stored only as its subject, which the caller has to read and show again. */
export const isBySubject = (answer: JsonAnswer | AnswerBySubject): answer is AnswerBySubject =>
  'subject' in answer

const RECORD_OF_WRITE = statement(build =>
  build.insert(writes).values({
    key: sql.placeholder('key'),
    bodyHash: sql.placeholder('bodyHash'),
    status: sql.placeholder('status'),
    answer: sql.placeholder('answer'),
    subject: sql.placeholder('subject'),
    at: sql.placeholder('at'),
  }),
)

export type Commit = {
  shard: number
  /** Empty only when the batch depends on nothing that was read. Say so there. */
  guards: readonly Guard[]
  facts: readonly Query[]
  events?: readonly NewEvent[]
  timers?: readonly NewTimer[]
  /** For a repeat of the request. By default a response without a body. */
  answer?: JsonAnswer | AnswerBySubject
  /** The record that the response is about, e.g. a policyholder's locator. Stored responses are found by it. */
  subject: string
  /**
   * For work without a caller that may be repeated and then changes nothing: no record of the write is kept. When the outcome is
   * unknown, the commit throws and the work is repeated.
   */
  isRepeatable?: boolean
}

/** A record has changed since the writer read it. */
export class GuardTripped extends Error {
  readonly guard: GuardName
  constructor(guard: GuardName) {
    super(`${guard} tripped`)
    this.guard = guard
  }
}

const ATTEMPTS = 3

const isGuardTripped = (problem: unknown): boolean => problem instanceof GuardTripped

type Retrying = {
  readonly isConflict?: (problem: unknown) => boolean
  /** Total number of attempts. A function returns it for the conflict of the last attempt. */
  readonly attempts?: number | ((problem: unknown) => number)
}

/**
 * Retries when another write came between the read and the commit. `attempt` reads, decides and commits. Throws 409
 * `versionConflict` after the last attempt. `what` names the record in the message, e.g. `The webhook`.
 */
export async function retryOnConflict<T>(
  what: string | ((problem: unknown) => string),
  attempt: (isFirst: boolean) => Promise<T>,
  { attempts = ATTEMPTS, isConflict = isGuardTripped }: Retrying = {},
): Promise<T> {
  for (let number = 1; ; number += 1)
    try {
      return await attempt(number === 1)
    } catch (problem) {
      if (!isConflict(problem)) throw problem
      if (number < (typeof attempts === 'number' ? attempts : attempts(problem))) continue
      const record = typeof what === 'string' ? what : what(problem)
      throw versionConflict(
        `${record} was changed by another request at the same time; read it and try again.`,
      )
    }
}

/** Maximum length of a stored response, in UTF-16 units. For a longer one, a repeat shows the current state of the subject. */
export const LONGEST_KEPT_ANSWER = 65_536

/** How long a repeat with the same `Idempotency-Key` gets the original response. */
export const KEEP_WRITES_MS = 30 * 24 * 60 * 60 * 1000

/**
 * Writes the batch. If the request was already carried out, returns the stored response: after the same key from the same caller,
 * or after an unknown outcome of this request (the platform did not report whether the batch was committed).
 *
 * Throws `GuardTripped`, or rejects with `idempotencyConflict` (same key, other body) or `databaseFull`.
 */
export async function commit(
  context: RequestContext,
  database: Database,
  { shard, subject, facts, guards, events = [], timers = [], answer = NO_BODY, isRepeatable = false }: Commit,
): Promise<JsonAnswer | AnswerBySubject> {
  if (context.adds && isFullAt(shareOf(context.tenant, database.bytes()))) {
    const earlier = await storedAnswer(context, database)
    if (earlier) return earlier
    throw databaseFull(context.tenant, database.bytes())
  }
  const text = isBySubject(answer) ? undefined : answer.text
  const keep = context.idempotency !== undefined && text !== undefined && text.length <= LONGEST_KEPT_ANSWER
  const recordOfWrite = (): Query =>
    database.bind(RECORD_OF_WRITE, {
      key: writeKey(context),
      bodyHash: context.idempotency?.bodyHash ?? '',
      status: answer.status,
      answer: keep ? text : null,
      subject,
      at: now(),
    })
  const batch: Query[] = [
    ...(isRepeatable ? [] : [recordOfWrite()]),
    ...guards.map(guard => guardQuery(database, guard)),
    ...facts,
    ...eventRows(database, context, events, shard),
    ...putRows(
      database,
      timerTable,
      timers.map(timer => ({ locator: orderedUuid(shard), ...timer })),
    ),
    deliveriesOf(database, context.requestId),
  ]
  if (events.length > 0 || timers.length > 0) await armDispatcher(context, shard)
  try {
    const results = await database.batch(batch as [Query, ...Query[]])
    context.calls.hasChanged = true
    const due = webhooksIn(results.at(-1))
    if (due.length > 0) announce(context, shard, due)
    return answer
  } catch (problem) {
    return await readOutcome(database, context, { shard, answer, isRepeatable }, problem)
  }
}

const guardStatements = new WeakMap<SQL, Statement<Query>>()

function guardQuery(database: Database, { name, holds, values }: Guard): Query {
  const buildGuard = (build: Database['build']): Query =>
    build.run(sql`insert into ${guardTable} (name) select ${name} where not coalesce((${holds}), 0)`)
  if (!values) return buildGuard(database.build)
  const prepared = guardStatements.get(holds) ?? statement(buildGuard)
  guardStatements.set(holds, prepared)
  return database.bind(prepared, values)
}

/** Returns the response stored for this request's key, if any. Throws if it was stored for another body. */
export async function storedAnswer(
  context: RequestContext,
  database: Database,
): Promise<JsonAnswer | AnswerBySubject | undefined> {
  if (!context.idempotency) return undefined
  const row = await findWrite(context, database)
  return row && answerIn(row)
}

/**
 * Does the work unless the request was carried out before: then `again` turns the stored response into the result. The stored
 * response is looked up again after a rejection, because a repeat that arrives while the first request is running may be rejected
 * for what the first one did, e.g. a name that is now taken or a record that is gone.
 */
export async function unlessRepeated<T>(
  context: RequestContext,
  database: Database,
  work: () => Promise<T>,
  again: (earlier: Answer) => T | Promise<T>,
): Promise<T> {
  const earlier = await storedAnswer(context, database)
  if (earlier) return await again(earlier)
  try {
    return await work()
  } catch (problem) {
    const meanwhile = problem instanceof Refusal ? await storedAnswer(context, database) : undefined
    if (!meanwhile) throw problem
    return await again(meanwhile)
  }
}

/** The `again` of `unlessRepeated` for work whose response is stored unchanged. */
export const returnStored = (earlier: Answer): Answer => earlier

/** Returns a stored response for sending again, without a body if that was too long to store. */
export const answerForRepeat = (earlier: Answer): JsonAnswer =>
  isBySubject(earlier) ? { status: earlier.status, text: '' } : earlier

/** Stored instead of the body's hash: no write in this database may use the key. */
const KEY_CLOSED = 'elsewhere'

/**
 * Blocks the request's key in a database to which the request is no longer routed. Returns `taken` if the key is now blocked, even
 * for an earlier attempt that is still running, or `written` if a write (with any body) already has the key.
 */
export async function takeFormerKey(
  context: RequestContext,
  database: Database,
): Promise<'written' | 'taken'> {
  const key = writeKey(context)
  const [, rows] = await database.batch([
    database.build
      .insert(writes)
      .values({ key, bodyHash: KEY_CLOSED, status: 0, subject: '', at: now() })
      .onConflictDoNothing(),
    database.build.select({ bodyHash: writes.bodyHash }).from(writes).where(eq(writes.key, key)),
  ])
  return rows[0]?.bodyHash === KEY_CLOSED ? 'taken' : 'written'
}

const writeKey = (context: RequestContext): string =>
  context.idempotency?.key ?? `request:${context.requestId}`

type WriteRow = typeof writes.$inferSelect

async function findWrite(context: RequestContext, database: Database): Promise<WriteRow | undefined> {
  const [rows] = await database.batch([
    database.build
      .select()
      .from(writes)
      .where(eq(writes.key, writeKey(context))),
  ])
  const row = rows[0]
  if (row?.bodyHash === KEY_CLOSED)
    throw versionConflict(
      'The tenant has just received more databases, and another attempt of this request is running in one of them. Send the request again.',
    )
  if (row && context.idempotency && row.bodyHash !== context.idempotency.bodyHash)
    throw new Refusal(
      'idempotencyConflict',
      'This Idempotency-Key was used with another request; use a new key for a new request.',
    )
  return row
}

const answerIn = ({ status, answer, subject }: WriteRow): JsonAnswer | AnswerBySubject =>
  answer === null ? { status, subject } : { status, text: answer }

/** Returns the row of the write after its batch failed. Throws 503 when the row cannot be read: the outcome is then unknown. */
async function knownWrite(
  context: RequestContext,
  database: Database,
  problem: unknown,
): Promise<WriteRow | undefined> {
  return await findWrite(context, database).catch(failure => {
    if (!isInterruption(failure)) throw failure
    const text = String(problem).split('\nparams:')[0]
    console.error(JSON.stringify({ at: 'commit', requestId: context.requestId, problem: text }))
    throw unavailable(
      context.idempotency
        ? 'The database was interrupted, and it is not known whether the request was carried out. Send it again with the same Idempotency-Key.'
        : 'The database was interrupted, and it is not known whether the request was carried out. Read the record before you send it again.',
    )
  })
}

/**
 * Finds out what happened to a batch that failed. Returns the response if it was committed, now or by an earlier request with the
 * same key. Throws `GuardTripped` if a record had changed, 503 if the outcome is unknown, and other problems unchanged.
 */
async function readOutcome(
  database: Database,
  context: RequestContext,
  { shard, answer, isRepeatable }: Required<Pick<Commit, 'shard' | 'answer' | 'isRepeatable'>>,
  problem: unknown,
): Promise<JsonAnswer | AnswerBySubject> {
  // Thrown by the fence, so the batch was not carried out.
  if (problem instanceof Refusal) throw problem
  const message = problem instanceof Error ? `${problem.message} ${problem.cause ?? ''}` : String(problem)
  const guard = /CHECK constraint failed: (guard_\w+)/.exec(message)?.[1] as GuardName | undefined
  if (!guard && message.includes('constraint failed') && !message.includes('write.key')) {
    if (!/UNIQUE constraint failed: .*\.locator\b/.test(message)) throw problem
    // Numbers that this isolate leased are in use: the shard was restored, or is also served elsewhere.
    forgetBlock(context.tenant, shard)
    console.error(JSON.stringify({ at: 'commit', requestId: context.requestId, problem: message }))
    throw unavailable('A locator for a new record is already in use. Send the request again.')
  }
  // Without a caller's key, a tripped guard means that nothing was carried out. Repeatable work leaves no row to look up: it is
  // repeated.
  const isKnown = isRepeatable || (guard && !context.idempotency)
  const row = isKnown ? undefined : await knownWrite(context, database, problem)
  if (row) {
    context.calls.hasChanged = true
    return context.idempotency ? answerIn(row) : answer
  }
  throw guard ? new GuardTripped(guard) : problem
}
