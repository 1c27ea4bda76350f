// Faults of the platform below the service. Neither the request nor our code is at fault, so none is a 500.
import { Refusal, unavailable } from '../kernel/errors.ts'

const OVERLOADED =
  /D1 DB is overloaded|Too many requests queued|object is overloaded|Requests queued for too long/i

const FULL = /Exceeded maximum DB size|database or disk is full|SQLITE_FULL/i

/**
 * D1 and Durable Objects move, restart, update their code and lose connections
 * (https://developers.cloudflare.com/d1/observability/debug-d1/, https://developers.cloudflare.com/durable-objects/observability/troubleshooting/)
 */
const INTERRUPTED = [
  /Network connection lost/i,
  /reset because its code was updated|code has been updated/i,
  /caused object to be reset|object to be reset/i,
  /due to transient issue on remote node/i,
  /storage operation exceeded timeout/i,
  /Internal error (?:in|while)|internal error; reference =/i,
  /Durable Object (?:was )?(?:reset|moved|evicted)|The object was moved/i,
  /database is locked|SQLITE_BUSY/i,
  // The object runs another version of the code.
  /RPC receiver does not implement the method/i,
  /Memory limit (?:would be )?exceeded/i,
]

type MarkedError = { readonly overloaded?: unknown; readonly retryable?: unknown; readonly cause?: unknown }

function* chainOf(problem: unknown): Generator<Error & MarkedError> {
  for (let error: unknown = problem, depth = 0; error instanceof Error && depth < 10; depth += 1) {
    yield error as Error & MarkedError
    error = error.cause
  }
}

/**
 * 503 `overloaded` or `unavailable`, 507 `databaseFull`; undefined for a fault of our own. Durable Objects mark their errors
 * (`overloaded`, `retryable`); D1 has only messages.
 */
export function refusalOfFault(problem: unknown): Refusal | undefined {
  const chain = [...chainOf(problem)]
  const anyMatches = (pattern: RegExp): boolean => chain.some(({ message }) => pattern.test(message))
  if (chain.some(({ overloaded }) => overloaded === true) || anyMatches(OVERLOADED))
    return new Refusal('overloaded', 'The service has too many requests; try again in a second.')
  if (anyMatches(FULL))
    return new Refusal(
      'databaseFull',
      'The database is full. What is there can be read; the operator has to give the tenant more room.',
    )
  if (chain.some(({ retryable }) => retryable === true) || INTERRUPTED.some(anyMatches))
    return unavailable(
      'A part of the service was interrupted; try again in a second, with the same Idempotency-Key if you sent one.',
    )
  return undefined
}

/** Whether the same call may succeed at once on a new connection. */
export const isInterruption = (problem: unknown): boolean => refusalOfFault(problem)?.code === 'unavailable'
