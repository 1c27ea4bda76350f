// Calls of the service, by the typed client, which retries calls that can be repeated and gives every write a key. A failed call
// ends the command with the exit code for its kind of failure.
import { type BinderyClient, BinderyError, createClient } from '../client/index.ts'
import { EXIT, type ExitCode, Failure, usage } from './exit.ts'
import { fileProblem } from './file-problem.ts'
import type { Terminal } from './terminal.ts'

/** Nobody waits for a command that is silent for longer. */
const LONGEST_WAIT_MS = 10_000

/** Returns the address of a service as the user wrote it, without the parts that calls add. */
export function serviceAddress(text: string): string {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol)) return url.origin + url.pathname.replace(/\/$/, '')
  throw usage(`'${text}' is not a URL. Give one such as 'https://bindery.example.com'.`)
}

/** `token` is called before each call, so that an expiring token is renewed. */
export const connect = (
  baseUrl: string,
  { interrupted }: Pick<Terminal, 'interrupted'>,
  token?: () => Promise<string>,
): BinderyClient =>
  createClient({
    baseUrl,
    ...(token && { token }),
    retry: { longestWaitMs: LONGEST_WAIT_MS },
    fetch: async request => {
      try {
        return await fetch(request, { signal: AbortSignal.any([interrupted]) })
      } catch (problem) {
        // Retrying does not help if there is no service at the address.
        throw isAbsent(problem) ? outOfReach(baseUrl, problem) : problem
      }
    },
  })

const causeOf = (problem: unknown): { code?: string; message?: string } =>
  (problem as { cause?: { code?: string; message?: string } } | undefined)?.cause ?? {}

const isAbsent = (problem: unknown): boolean =>
  ['ECONNREFUSED', 'ENOTFOUND'].includes(causeOf(problem).code ?? '')

const outOfReach = (where: string, problem: unknown): Failure => {
  const { code, message } = causeOf(problem)
  return new Failure(
    EXIT.unreachable,
    `${where} does not respond (${code ?? message ?? String(problem)}). Is the service running there? To use another address, run 'bindery login ADDRESS'.`,
  )
}

/** Returns how a command that met the problem ends. Undefined for a fault of the command itself. */
export function failureOf(problem: unknown): Failure | undefined {
  if (problem instanceof Failure) return problem
  if (problem instanceof BinderyError) return new Failure(exitOf(problem.status), refusalText(problem))
  // Ctrl-C, at any point of a call.
  if (problem instanceof DOMException && problem.name === 'AbortError')
    return new Failure(EXIT.interrupted, 'Interrupted.')
  // A file or folder that may not be read or written, a file in place of a folder, or a full disk.
  if (isOfFiles(problem)) {
    const file = problem.path === undefined ? 'A file' : `'${problem.path}'`
    return new Failure(EXIT.usage, `${file} cannot be read or written: ${fileProblem(problem)}.`)
  }
  // The error of `fetch` for a connection that broke at every attempt.
  if (problem instanceof TypeError && problem.cause !== undefined) return outOfReach('The service', problem)
  return undefined
}

/** Error codes of files that are open. Such errors name no path. */
const OF_OPEN_FILES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EISDIR', 'EIO', 'EROFS'])

const isOfFiles = (problem: unknown): problem is NodeJS.ErrnoException =>
  problem instanceof Error &&
  'syscall' in problem &&
  (('path' in problem && typeof problem.path === 'string') ||
    ('code' in problem && OF_OPEN_FILES.has(problem.code)))

function exitOf(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.signedOut
  return status === 429 || status >= 500 ? EXIT.unreachable : EXIT.refused
}

function refusalText({ status, code, problem, message, requestId }: BinderyError): string {
  const reference = status >= 500 && requestId !== undefined ? ` (reference ${requestId})` : ''
  const advice = status === 401 && code !== 'signInFailed' ? " Sign in with 'bindery login'." : ''
  return `${problem?.message ?? message}${reference}${advice}`
}
