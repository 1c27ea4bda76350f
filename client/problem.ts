// Refusals of the service as errors with a code.
import type { components } from './contract.ts'

/** The shape of every refusal (`ExceptionResponse`): a stable `code`, what is wrong, where, and what to do. */
export type Problem = components['schemas']['ExceptionResponse']

/** The stable name of a kind of refusal: `wrongState`, `notFound` … */
export type ProblemCode = Problem['code']

/** An answer other than 2xx. The message has the call, the status, and what the service says. */
export class BinderyError extends Error {
  readonly status: number
  /** The service's refusal; undefined when the answer is not the service's, for example a proxy's. */
  readonly problem: Problem | undefined
  /** Identifies the request in the service's log and in the event stream. */
  readonly requestId: string | undefined
  /** How long the service asks to wait before a retry. */
  readonly retryAfterSeconds: number | undefined

  constructor(call: string, response: Response, body: string) {
    const problem = problemOf(body)
    super(`${call} answered ${response.status}: ${problem?.message ?? body.slice(0, 500)}`)
    this.name = 'BinderyError'
    this.status = response.status
    this.problem = problem
    this.requestId = response.headers.get('x-request-id') ?? undefined
    const waitMs = retryAfterMs(response.headers)
    this.retryAfterSeconds = waitMs === undefined ? undefined : waitMs / 1_000
  }

  /** The refusal's code; undefined when the answer is not the service's. */
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

/** How long `Retry-After` asks to wait: seconds, or a time (RFC 9110, 10.2.3). Undefined without a readable one. */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1_000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}
