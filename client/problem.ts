// Error responses of the service as exceptions with a code.
import type { components } from './contract.ts'

/** The shape of every error response (`ExceptionResponse`): a stable `code`, what is wrong, where, and what to do. */
export type Problem = components['schemas']['ExceptionResponse']

/** The stable name of a kind of error: `wrongState`, `notFound` … */
export type ProblemCode = Problem['code']

/** A response other than 2xx. The message contains the call, the status, and the service's message. */
export class BinderyError extends Error {
  readonly status: number
  /** The service's error response. Undefined if the response is not from the service, but for example from a proxy. */
  readonly problem: Problem | undefined
  /** Identifies the request in the service's log and in the event stream. */
  readonly requestId: string | undefined
  /** How long the service asks you to wait before a retry. */
  readonly retryAfterSeconds: number | undefined

  constructor(call: string, response: Response, body: string) {
    const problem = problemOf(body)
    super(`${call} responded with ${response.status}: ${problem?.message ?? body.slice(0, 500)}`)
    this.name = 'BinderyError'
    this.status = response.status
    this.problem = problem
    this.requestId = response.headers.get('x-request-id') ?? undefined
    const waitMs = retryAfterMs(response.headers)
    this.retryAfterSeconds = waitMs === undefined ? undefined : waitMs / 1_000
  }

  /** The code of the error. Undefined if the response is not from the service. */
  get code(): ProblemCode | undefined {
    return this.problem?.code
  }
}

function problemOf(body: string): Problem | undefined {
  try {
    const read: unknown = JSON.parse(body)
    return typeof read === 'object' && read !== null && 'code' in read && 'httpErrorCode' in read
      ? (read as Problem)
      : undefined
  } catch {
    return undefined
  }
}

/** Returns the wait that `Retry-After` requests: seconds, or a time (RFC 9110, 10.2.3). Undefined without a readable one. */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1_000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}
