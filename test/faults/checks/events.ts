// Every event is in the stream and was delivered, in the order of its policy; nothing that is due waits.
import type { Contents } from '../contents.ts'
import type { Violation } from '../violation.ts'

const policyOf = (row: Contents['rows'][string][number]): { policy?: string } =>
  row.policy_locator === null ? {} : { policy: String(row.policy_locator) }

function* delivered({ rows, posts }: Contents): Generator<Violation> {
  const deliveries = new Map((rows.delivery ?? []).map(row => [row.event_sequence, row]))
  const came = new Set(posts)
  for (const event of rows.event ?? []) {
    const what = `The event ${event.type} ${event.locator}`
    const delivery = deliveries.get(event.sequence)
    // Whoever reads what is there has signed in.
    if (String(event.type).startsWith('login.')) continue
    if (!delivery) yield { ...policyOf(event), says: `${what} has no delivery.` }
    else if (delivery.state !== 'sent')
      yield { ...policyOf(event), says: `${what} is ${delivery.state} after ${delivery.attempts} attempts.` }
    if (delivery && !came.has(String(event.locator)))
      yield { ...policyOf(event), says: `${what} did not come.` }
  }
  const known = new Set((rows.event ?? []).map(({ locator }) => String(locator)))
  for (const id of came) if (!known.has(id)) yield { says: `The event ${id} came, and is not there.` }
}

/** First arrivals of each policy's events are in the order in which they were committed. */
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
      yield { policy: String(policy), says: 'Its events came in another order than they happened.' }
  }
}

function* streamed({ rows, stream }: Contents): Generator<Violation> {
  const stored = [...(rows.event ?? [])].sort((a, b) => Number(a.sequence) - Number(b.sequence))
  const missing = new Set(stored.map(({ locator }) => String(locator)))
  for (const { id } of stream)
    if (!missing.delete(id)) yield { says: `The stream has ${id} twice, or has no row of it.` }
  for (const id of missing) yield { says: `The stream lacks the event ${id}.` }
}

/** Nothing is due and waits: no timer, no document, no migration. */
function* waiting({ rows, at, files }: Contents): Generator<Violation> {
  for (const { kind, subject, due_at } of rows.timer ?? [])
    if (Number(due_at) <= at - 60_000)
      yield { policy: String(subject), says: `A timer ${kind} was due at ${due_at}, and has not fired.` }
  for (const { policy_locator } of rows.document_job ?? [])
    yield { policy: String(policy_locator), says: 'It has documents that are not made.' }
  for (const row of rows.document ?? []) {
    const policy = String(row.policy_locator)
    if (row.state !== 'ready')
      yield { policy, says: `The document ${row.locator} is ${row.state}: ${row.failure ?? ''}` }
    else if (![...files].some(key => key.includes(String(row.locator))))
      yield { policy, says: `The file of the document ${row.locator} is not there.` }
  }
  for (const { original_id, state } of rows.migration_account ?? [])
    if (state !== 'completed') yield { says: `The migration of account ${original_id} is ${state}.` }
  for (const { name } of rows.guard ?? []) yield { says: `The guard ${name} is a row.` }
}

export function* events(contents: Contents): Generator<Violation> {
  yield* delivered(contents)
  yield* ordered(contents)
  yield* streamed(contents)
  yield* waiting(contents)
}
