// Every event is in the stream and was delivered, in the order of its policy. Nothing that is due is still waiting.
import { type Contents, type Row, SHARD } from '../contents.ts'
import type { Violation } from '../violation.ts'

const policyOf = (row: Row): { policy?: string } =>
  row.policy_locator === null ? {} : { policy: String(row.policy_locator) }

function* delivered({ rows, posts }: Contents): Generator<Violation> {
  const inShard = (row: Row, sequence: unknown): string => `${row[SHARD]} ${sequence}`
  const deliveries = new Map((rows.delivery ?? []).map(row => [inShard(row, row.event_sequence), row]))
  const came = new Set(posts)
  for (const event of rows.event ?? []) {
    const what = `The event ${event.type} ${event.locator}`
    const delivery = deliveries.get(inShard(event, event.sequence))
    // Sign-ins of the run itself, which happen whenever something is read.
    if (String(event.type).startsWith('login.')) continue
    if (!delivery) yield { check: 'delivery', ...policyOf(event), says: `${what} has no delivery.` }
    else if (delivery.state !== 'sent')
      yield {
        check: 'delivery',
        ...policyOf(event),
        says: `${what} is ${delivery.state} after ${delivery.attempts} attempts.`,
      }
    if (delivery && !came.has(String(event.locator)))
      yield { check: 'arrival', ...policyOf(event), says: `${what} did not come.` }
  }
  const known = new Set((rows.event ?? []).map(({ locator }) => String(locator)))
  for (const id of came)
    if (!known.has(id)) yield { check: 'noStranger', says: `The event ${id} came, and is not there.` }
}

/** Checks that each policy's events first arrived in the order in which they were committed. */
function* ordered({ rows, posts }: Contents): Generator<Violation> {
  const first = new Map<string, number>()
  for (const [at, id] of posts.entries()) if (!first.has(id)) first.set(id, at)
  const ofPolicies = Map.groupBy(
    (rows.event ?? []).filter(row => row.policy_locator !== null && first.has(String(row.locator))),
    row => row.policy_locator,
  )
  for (const [policy, events] of ofPolicies) {
    const sorted = [...events].sort((a, b) => Number(a.sequence) - Number(b.sequence))
    const arrivals = sorted.map(row => first.get(String(row.locator))!)
    if (arrivals.some((at, index) => index > 0 && at < arrivals[index - 1]!))
      yield {
        check: 'order',
        policy: String(policy),
        says: 'Its events came in another order than they happened.',
      }
  }
}

function* streamed({ rows, stream }: Contents): Generator<Violation> {
  const missing = new Set((rows.event ?? []).map(({ locator }) => String(locator)))
  for (const { id } of stream)
    if (!missing.delete(id))
      yield { check: 'streamOnce', says: `The stream has ${id} twice, or has no row of it.` }
  for (const id of missing) yield { check: 'streamWhole', says: `The stream lacks the event ${id}.` }
}

/** Checks that no timer, document or migration is due but waiting, and that no account was migrated twice. */
function* waiting({ rows, at }: Contents): Generator<Violation> {
  for (const { kind, subject, due_at } of rows.timer ?? [])
    if (Number(due_at) <= at - 60_000)
      yield {
        check: 'timer',
        policy: String(subject),
        says: `A timer ${kind} was due at ${due_at}, and has not fired.`,
      }
  for (const { policy_locator } of rows.document_job ?? [])
    yield {
      check: 'documentJob',
      policy: String(policy_locator),
      says: 'It has documents that are not made.',
    }
  for (const { policy_locator, locator, state, failure } of rows.document ?? [])
    if (state !== 'ready')
      yield {
        check: 'documentReady',
        policy: String(policy_locator),
        says: `The document ${locator} is ${state}: ${failure ?? ''}`,
      }
  for (const { original_id, state } of rows.migration_account ?? [])
    if (state !== 'completed')
      yield { check: 'migrated', says: `The migration of account ${original_id} is ${state}.` }
  for (const [id, made] of Map.groupBy(
    (rows.migration_mapping ?? []).filter(({ kind }) => kind === 'account'),
    ({ original_id }) => original_id,
  ))
    if (made.length > 1)
      yield { check: 'migratedOnce', says: `The account ${id} was migrated ${made.length} times.` }
  for (const { name } of rows.guard ?? []) yield { check: 'guard', says: `The guard ${name} is a row.` }
}

export function* events(contents: Contents): Generator<Violation> {
  yield* delivered(contents)
  yield* ordered(contents)
  yield* streamed(contents)
  yield* waiting(contents)
}
