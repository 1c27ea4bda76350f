// Calls of the service. What it answers that is no 2xx ends the command, with the exit code for its kind.
import { randomUUID } from 'node:crypto'
import { EXIT, type ExitCode, Failure } from './exit.ts'
import { pause, type Terminal } from './terminal.ts'

export type Call = {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** A FormData or bytes go as they are, anything else as JSON. */
  readonly body?: unknown
}

export type Api = {
  /** The parsed body of a 2xx answer. Throws a Failure for any other, and where nothing answers. */
  call<Body>(method: 'GET' | 'POST' | 'PATCH', path: string, call?: Call): Promise<Body>
}

/** A call that the service refused: what it says, and its code (src/platform/errors.ts). */
export class Refused extends Failure {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(exitOf(status), message)
    this.name = 'Refused'
    this.status = status
    this.code = code
  }
}

function exitOf(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.signedOut
  return status === 429 || status >= 500 ? EXIT.unreachable : EXIT.refused
}

/** How often a call is tried in all, where the service is overloaded or out of reach. */
const MOST_TRIES = 4
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 10_000

/** `token` is asked before each call, so that one that ends is renewed. Writes carry a key, so that a repeat is none. */
export function connect(address: string, terminal: Terminal, token: () => Promise<string | undefined>): Api {
  return {
    async call<Body>(method: string, path: string, { query = {}, body }: Call = {}) {
      const url = new URL(address.replace(/\/$/, '') + path)
      for (const [name, value] of Object.entries(query))
        if (value !== undefined) url.searchParams.set(name, String(value))
      const bearer = await token()
      const isRaw = body instanceof FormData || body instanceof Uint8Array
      const headers = new Headers(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` })
      if (body !== undefined && !(body instanceof FormData)) headers.set('content-type', 'application/json')
      if (method !== 'GET') headers.set('idempotency-key', randomUUID())
      const request = { method, headers, body: body === undefined || isRaw ? body : JSON.stringify(body) }
      const response = await answered(url, request as RequestInit, terminal)
      const text = await response.text()
      if (!response.ok) throw refusal(response.status, text, `${method} ${url.pathname}`)
      return (text === '' ? undefined : JSON.parse(text)) as Body
    },
  }
}

/** The answer; what says "later" is tried again, and so is what nothing answered to. */
async function answered(url: URL, request: RequestInit, terminal: Terminal): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    let response: Response | undefined
    let problem: unknown
    try {
      response = await fetch(url, { ...request, signal: terminal.interrupted })
    } catch (thrown) {
      if (terminal.interrupted.aborted) throw new Failure(EXIT.interrupted, 'Interrupted.')
      problem = thrown
    }
    const isLater = response === undefined || response.status === 429 || response.status === 503
    if (response && (!isLater || tries === MOST_TRIES)) return response
    // A service that is not there at all is not waited for: it answers no sooner for being asked again.
    if (!response && (tries === MOST_TRIES || isRefusedConnection(problem))) throw outOfReach(url, problem)
    const told = Number(response?.headers.get('retry-after') ?? Number.NaN) * 1_000
    await response?.body?.cancel()
    await pause(Math.min(told || FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS), terminal)
  }
}

const causeOf = (problem: unknown): { code?: string; message?: string } =>
  (problem as { cause?: { code?: string; message?: string } } | undefined)?.cause ?? {}

const isRefusedConnection = (problem: unknown): boolean =>
  ['ECONNREFUSED', 'ENOTFOUND'].includes(causeOf(problem).code ?? '')

const outOfReach = (url: URL, problem: unknown): Failure =>
  new Failure(
    EXIT.unreachable,
    `${url.origin} does not answer (${causeOf(problem).code ?? causeOf(problem).message ?? String(problem)}). Is the service running there? Sign in with another address by 'bindery login ADDRESS'.`,
  )

function refusal(status: number, text: string, call: string): Refused {
  let said: { code?: string; message?: string; referenceId?: string } = {}
  try {
    said = JSON.parse(text)
  } catch {
    // Something on the way answered, and not the service.
  }
  const { code = `http${status}`, message = `${call} answered ${status}.`, referenceId } = said
  const reference = status >= 500 && referenceId ? ` (reference ${referenceId})` : ''
  const advice = status === 401 && code !== 'signInFailed' ? " Sign in by 'bindery login'." : ''
  return new Refused(status, code, `${message}${reference}${advice}`)
}
