// Faults of the platform below the service. They are faults of neither the request nor the code, so none is a 500.
import { Refusal, unavailable } from '../kernel/errors.ts'
import type { Calls } from './calls.ts'

const OVERLOADED =
  /D1 DB is overloaded|Too many requests queued|object is overloaded|Requests queued for too long|Please back off and try again later/i

const FULL = /Exceeded maximum DB size|database or disk is full|SQLITE_FULL/i

/** All databases of the account together. Each may still have space by its own size. */
const ACCOUNT_FULL = /exceeded D1's maximum account storage limit/i

/**
 * Messages of D1 and Durable Objects when they move, restart, update their code or lose connections
 * (https://developers.cloudflare.com/d1/observability/debug-d1/,
 * https://developers.cloudflare.com/durable-objects/observability/troubleshooting/)
 */
const INTERRUPTED = [
  /Network connection lost/i,
  /reset because its code was updated|code has been updated/i,
  /caused object to be reset|object to be reset/i,
  /due to transient issue on remote node/i,
  /storage operation exceeded timeout/i,
  /Internal error (?:in|while)|internal error; reference =/i,
  /Durable Object (?:was )?(?:reset|moved|evicted)|object (?:was|has) moved/i,
  /Durable Object instance is no longer active/i,
  /Replica disconnected from primary/i,
  /database is locked|SQLITE_BUSY/i,
  // The object runs another version of the code.
  /RPC receiver does not implement the method/i,
  /Memory limit (?:would be )?exceeded/i,
  // Most requests that fail this way only ran at the same time as the one that used too much.
  /exceeded its (?:memory|CPU time) limit and was reset/i,
  /request stream because client disconnected/i,
]

/**
 * R2 ends its messages with a code (https://developers.cloudflare.com/r2/api/error-codes/): internal error, unavailable,
 * disconnected, unspecified.
 */
const FILES_FAILED = /^\w+: .*\((?:10001|10043|10054|0)\)$/

/** R2 has too many simultaneous requests, often for one key. */
const FILES_OVERLOADED = /^\w+: .*\(10058\)$/

type MarkedError = { readonly overloaded?: unknown; readonly retryable?: unknown; readonly cause?: unknown }

function* chainOf(problem: unknown): Generator<Error & MarkedError> {
  for (let error: unknown = problem, depth = 0; error instanceof Error && depth < 10; depth += 1) {
    yield error as Error & MarkedError
    error = error.cause
  }
}

/**
 * Returns 503 `overloaded` or `unavailable`, 507 `databaseFull`, or undefined for a fault of the service itself. Durable Objects
 * mark their errors (`overloaded`, `retryable`); D1 and R2 have only messages. `calls` are those of the failed work: R2 fails
 * before or after a commit, never within one, so it is known whether anything was changed.
 */
export function refusalOfFault(
  problem: unknown,
  calls?: Pick<Calls, 'isRead' | 'hasChanged'>,
): Refusal | undefined {
  const chain = [...chainOf(problem)]
  const anyMatches = (pattern: RegExp): boolean => chain.some(({ message }) => pattern.test(message))
  if (
    chain.some(({ overloaded }) => overloaded === true) ||
    anyMatches(OVERLOADED) ||
    anyMatches(FILES_OVERLOADED)
  )
    return new Refusal('overloaded', 'The service has too many requests. Try again in a second.')
  if (anyMatches(ACCOUNT_FULL))
    return new Refusal(
      'databaseFull',
      'The account of the service at its provider has no storage left. Reading still works; the operator must have its limit raised.',
    )
  if (anyMatches(FULL))
    return new Refusal(
      'databaseFull',
      'The database is full. Reading still works; the operator must add space for the tenant.',
    )
  if (anyMatches(FILES_FAILED))
    return unavailable(
      calls && !calls.isRead && !calls.hasChanged
        ? 'File storage failed, and nothing was changed. Try again in a second.'
        : 'File storage failed. Try again in a second, with the same Idempotency-Key if you sent one.',
    )
  if (chain.some(({ retryable }) => retryable === true) || INTERRUPTED.some(anyMatches))
    return unavailable(
      'A part of the service was interrupted. Try again in a second, with the same Idempotency-Key if you sent one.',
    )
  return undefined
}

/** Whether the same call may succeed immediately on a new connection. */
export const isInterruption = (problem: unknown): boolean => refusalOfFault(problem)?.code === 'unavailable'
