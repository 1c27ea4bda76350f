// Retries calls that can be repeated: those that the service did not carry out, and those that it carries out only once (reads,
// and writes with an Idempotency-Key).
import { retryAfterMs } from './problem.ts'

export type Retry = {
  /** The maximum number of attempts of one call. 1 means no retry. */
  readonly attempts: number
  /** The wait before the second attempt. It doubles with each attempt. */
  readonly firstWaitMs: number
  /** The longest wait. If `Retry-After` requests more, the caller gets the response instead. */
  readonly longestWaitMs: number
}

export const DEFAULT_RETRY: Retry = { attempts: 4, firstWaitMs: 250, longestWaitMs: 30_000 }

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

const SIGN_IN = /\/account\/authenticate(?:Admin|ByProvider)?$/

/** Whether the request signs in. Sign-ins change nothing, and need neither a key nor a token. The service may be below a path. */
export const isSignIn = ({ url }: Request): boolean => SIGN_IN.test(new URL(url).pathname)

/** Whether a repetition has no effect beyond the first attempt. */
const isRepeatable = (request: Request): boolean =>
  READS.has(request.method) || request.headers.has('idempotency-key') || isSignIn(request)

/**
 * 429: the service has not begun. 503: the service, or a proxy in front of it, cannot respond now. A gateway's error about a
 * broken connection is not JSON. A 502 of the service itself is JSON and means that another service failed.
 */
function isPassing(response: Response, repeatable: boolean): boolean {
  if (response.status === 429) return true
  if (!repeatable) return false
  if (response.status === 503) return true
  const isGateway = response.status === 502 || response.status === 504 || response.status >= 520
  return isGateway && !isJson(response)
}

export const isJson = ({ headers }: Response): boolean =>
  headers.get('content-type')?.includes('json') ?? false

/** Reads a JSON response completely, so that a connection that breaks in the middle counts as broken. */
async function whole(response: Response): Promise<Response> {
  if (!isJson(response)) return response
  const text = await response.text()
  const headers = new Headers(response.headers)
  // These headers describe the transfer, which may have been compressed.
  for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  return new Response(text, { status: response.status, statusText: response.statusText, headers })
}

/**
 * Returns the last response, or throws the error of the last attempt. `send` makes one attempt with its own request, because a
 * body can be read only once. An aborted call throws the signal's reason, also during a wait.
 */
export async function withRetries(
  request: Request,
  { attempts, firstWaitMs, longestWaitMs }: Retry,
  send: (request: Request) => Promise<Response>,
): Promise<Response> {
  const repeatable = isRepeatable(request)
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt >= attempts
    const doubled = Math.min(firstWaitMs * 2 ** (attempt - 1), longestWaitMs)
    try {
      const response = await whole(await send(isLast ? request : request.clone()))
      if (isLast || !isPassing(response, repeatable)) return response
      const asked = retryAfterMs(response.headers)
      if (asked !== undefined && asked > longestWaitMs) return response
      await response.body?.cancel()
      // Spreads out clients that were rejected together.
      await wait(
        asked === undefined ? jittered(doubled) : asked + Math.random() * firstWaitMs,
        request.signal,
      )
    } catch (problem) {
      request.signal.throwIfAborted()
      // `fetch` throws a TypeError for a failed connection. Any other error does not come from the network.
      if (isLast || !repeatable || !(problem instanceof TypeError)) throw problem
      await wait(jittered(doubled), request.signal)
    }
  }
}

const jittered = (ms: number): number => ms * (0.5 + Math.random() / 2)

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      signal.removeEventListener('abort', aborted)
      resolve()
    }
    const timer = setTimeout(done, ms)
    const aborted = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    if (signal.aborted) aborted()
    else signal.addEventListener('abort', aborted, { once: true })
  })
}
