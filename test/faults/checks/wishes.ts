// What was acknowledged was done once, everything else was done completely or not at all, and no key was used twice.
import type { Wish } from '../client.ts'
import type { Contents, Row } from '../contents.ts'
import type { Violation } from '../violation.ts'

/**
 * The row of the wish's write, which shows that it was done. A row `elsewhere` only blocks the key in a database to which it no
 * longer leads.
 */
export function writeOf({ rows }: Pick<Contents, 'rows'>, { key }: Wish): Row[] {
  return (rows.write ?? []).filter(
    row => row.body_hash !== 'elsewhere' && String(row.key).endsWith(`:${key}`),
  )
}

export const isDone = (contents: Pick<Contents, 'rows'>, wish: Wish): boolean =>
  writeOf(contents, wish).length > 0

/** The first event type of each kind. Kinds that are missing here have none or several. */
const TELLS: Readonly<Record<string, string>> = {
  'create policyholder': 'policyholder.create',
  'create policy': 'policy.create',
  'update policy': 'policy.update',
  finalize: 'policy.finalize',
  issue: 'policy.issue',
  endorse: 'endorsement.create',
  renew: 'renewal.create',
  'issue endorsement': 'endorsement.issue',
  'issue renewal': 'renewal.issue',
  cancel: 'cancellation.create',
  'issue cancellation': 'cancellation.issue',
  reinstate: 'reinstatement.create',
  'accept reinstatement': 'reinstatement.accept',
  'issue reinstatement': 'reinstatement.issue',
  pay: 'payment.pay',
  reverse: 'payment.reverse',
  'add fee': 'policy.update',
  'change schedule': 'policy.update',
}

/** The table of the record that each kind creates. The response has the locator. */
const MAKES: Readonly<Record<string, string>> = {
  'create policyholder': 'policyholder',
  'create policy': 'policy',
  endorse: 'endorsement',
  renew: 'endorsement',
  cancel: 'cancellation',
  reinstate: 'reinstatement',
  pay: 'payment',
  migrate: 'migration_run',
  'add medium': 'medium',
}

/** URLs of files are signed again for each response. */
const SIGNED: ReadonlySet<string> = new Set(['url', 'urlExpirationTimestamp', 'expiresTimestamp'])

/** The parts of a response that do not depend on when it is given. A moved clock keeps running, but its target time stays. */
function comparable({ kind }: Wish, answer: unknown): string {
  if (kind === 'move clock') return (answer as { targetTimestamp: string }).targetTimestamp
  return JSON.stringify(answer, (name, value) => (SIGNED.has(name) ? undefined : value))
}

function* keys(contents: Contents, wish: Wish): Generator<Violation> {
  const about = { wish }
  const found = writeOf(contents, wish)
  if (found.length > 1) yield { check: 'keyOnce', ...about, says: `Its key was used ${found.length} times.` }
  if (wish.outcome === 'acknowledged' && found.length === 0)
    yield { check: 'acknowledgedThere', ...about, says: 'It was acknowledged and is not there.' }
  if (wish.outcome === 'refused' && found.length > 0)
    yield {
      check: 'refusedAbsent',
      ...about,
      says: `It was refused (${wish.refusal}) and is there all the same.`,
    }
  if (new Set(wish.answers.map(answer => comparable(wish, answer))).size > 1)
    yield { check: 'oneAnswer', ...about, says: 'It was acknowledged by answers that differ.' }
}

/** A reversal also reverses payments that were made from the surplus of the named one. */
const isReversedAlong = ({ kind, asked }: Wish, { data }: Row): boolean =>
  kind === 'reverse' && !asked.path.includes(`/${JSON.parse(String(data)).paymentLocator}/`)

/** Checks that the events of a request exist exactly if the request was carried out. */
function* told(contents: Contents, wish: Wish): Generator<Violation> {
  const ids = new Set(wish.requestIds)
  // If a refund cannot be paid out, the rejected payout writes it off.
  const isPay = wish.kind === 'pay'
  const events = (contents.rows.event ?? []).filter(
    row => ids.has(String(row.request_id)) && !(isPay && row.type === 'invoice.writtenOff'),
  )
  const requests = new Set(events.map(row => row.request_id))
  const type = TELLS[wish.kind]
  const isThere = isDone(contents, wish)
  if (requests.size > 1)
    yield { check: 'oneTry', wish, says: `${requests.size} of its tries were carried out.` }
  if (!isThere && events.length > 0)
    yield { check: 'absentUntold', wish, says: `It is not there, and has ${events.length} events.` }
  // A try without a response left its request id unknown.
  const isKnown = wish.tries.length === wish.requestIds.length
  if (isThere && isKnown && type !== undefined) {
    const count = events.filter(row => row.type === type && !isReversedAlong(wish, row)).length
    if (count !== 1) yield { check: 'toldOnce', wish, says: `It is there, and has ${count} events ${type}.` }
  }
}

const answerThere = (contents: Contents, wish: Wish): { locator?: string } | undefined => {
  if (wish.answers.length > 0) return wish.answers[0] as { locator?: string }
  const text = writeOf(contents, wish)[0]?.answer
  return typeof text === 'string' ? JSON.parse(text) : undefined
}

/** Checks that each record created by a wish exists, and that no other records do. */
function* records(contents: Contents): Generator<Violation> {
  for (const table of new Set(Object.values(MAKES))) {
    const wished = new Map<string, Wish>()
    for (const wish of contents.ledger) {
      if (MAKES[wish.kind] !== table || !isDone(contents, wish)) continue
      const locator = answerThere(contents, wish)?.locator
      if (locator === undefined) continue
      if (wished.has(locator))
        yield { check: 'recordOfOneWish', wish, says: `Another wish made the ${table} ${locator} too.` }
      wished.set(locator, wish)
    }
    const present = new Map((contents.rows[table] ?? []).map(row => [String(row.locator), row]))
    for (const [locator, wish] of wished)
      if (!present.has(locator))
        yield { check: 'recordThere', wish, says: `The ${table} ${locator} that it made is not there.` }
    for (const [locator, row] of present)
      if (!wished.has(locator) && !isOwn(contents, table, row))
        yield {
          check: 'recordWished',
          policy: String(row.policy_locator ?? row.locator),
          says: `The ${table} ${locator} is there, and nobody wished for it.`,
        }
  }
}

/**
 * Whether the service created the record itself: migrated records, cancellations of lapsed policies, payments from credit and
 * payments of invoices that settle each other.
 */
function isOwn({ rows }: Contents, table: string, row: Row): boolean {
  const migrated = new Set((rows.migration_mapping ?? []).map(one => String(one.account_locator)))
  const holders = new Map((rows.policy ?? []).map(one => [one.locator, String(one.policyholder_locator)]))
  const holder =
    table === 'policyholder'
      ? String(row.locator)
      : String(row.policyholder_locator ?? holders.get(row.policy_locator))
  if (migrated.has(holder)) return true
  if (table === 'payment') return row.source === 'credit' || row.source === 'offset'
  return (rows.grace_period ?? []).some(one => one.cancellation_locator === row.locator)
}

/** Checks the rows that each carry a unique text of their wish, and what a wish removed or reversed. */
function* marks(contents: Contents): Generator<Violation> {
  const { rows, ledger } = contents
  const removed = new Set(
    ledger
      .filter(wish => wish.kind === 'remove document' && isDone(contents, wish))
      .map(({ asked }) => asked.undoes),
  )
  const count = (table: string, column: string, value: unknown): number =>
    (rows[table] ?? []).filter(row => row[column] === value).length
  for (const wish of ledger) {
    const expected = isDone(contents, wish) ? 1 : 0
    if (wish.kind === 'add fee') {
      const { description } = (wish.asked.body as { newFees: [{ description: string }] }).newFees[0]
      const fees = count('fee', 'description', description)
      if (fees !== expected)
        yield { check: 'feeOnce', wish, says: `Its fee is there ${fees} times instead of ${expected}.` }
    }
    if (wish.kind === 'add document') {
      const name = nameOf(wish)
      const left = removed.has(name) ? 0 : expected
      const documents = count('document', 'display_name', name)
      if (documents !== left)
        yield {
          check: 'documentOnce',
          wish,
          says: `Its document is there ${documents} times instead of ${left}.`,
        }
    }
    if (wish.kind === 'reverse' && expected === 1) {
      const payment = /payments\/([^/]+)/.exec(wish.asked.path)?.[1]
      const row = (rows.payment ?? []).find(one => one.locator === payment)
      if (row?.reversed_at == null)
        yield { check: 'reversed', wish, says: `The payment ${payment} is not reversed.` }
    }
  }
}

/** The unique name of its document. */
const nameOf = ({ asked }: Wish): string => new URL(asked.path, 'http://x').searchParams.get('displayName')!

/** Violations of what clients requested and what the service returned. */
export function* wishes(contents: Contents): Generator<Violation> {
  for (const wish of contents.ledger) {
    yield* keys(contents, wish)
    yield* told(contents, wish)
  }
  yield* records(contents)
  yield* marks(contents)
}
