// Calls of the service, by the typed client: it repeats what may be repeated, and gives every write a key. What goes wrong
// ends the command with the exit code of its kind.
import { type BinderyClient, BinderyError, createClient } from '../client/index.ts'
import { EXIT, type ExitCode, Failure, usage } from './exit.ts'
import { fileProblem } from './file-problem.ts'
import type { Terminal } from './terminal.ts'

/** Nobody watches a command that says nothing for longer. */
const LONGEST_WAIT_MS = 10_000

/** The address of a service as somebody wrote it, without what calls add. */
export function serviceAddress(text: string): string {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol)) return url.origin + url.pathname.replace(/\/$/, '')
  throw usage(`'${text}' is no address; it looks like 'https://bindery.example.com'.`)
}

/** `token` is asked before each call, so that one that ends is renewed. */
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
        // A service that is not there at all answers no sooner for being asked again.
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
    `${where} does not answer (${code ?? message ?? String(problem)}). Is the service running there? 'bindery login ADDRESS' names another.`,
  )
}

/** How a command ends that met the problem; undefined where it is a fault of the command itself. */
export function failureOf(problem: unknown): Failure | undefined {
  if (problem instanceof Failure) return problem
  if (problem instanceof BinderyError) return new Failure(exitOf(problem.status), refusalText(problem))
  // Ctrl-C, at whatever of a call it came.
  if (problem instanceof DOMException && problem.name === 'AbortError')
    return new Failure(EXIT.interrupted, 'Interrupted.')
  // Of files and folders: what may not be read or written, a file in the place of a folder, a full disk.
  if (isOfFiles(problem)) {
    const file = problem.path === undefined ? 'A file' : `'${problem.path}'`
    return new Failure(EXIT.usage, `${file} cannot be read or written: ${fileProblem(problem)}.`)
  }
  // What `fetch` throws of a connection that broke, each time that it was tried.
  if (problem instanceof TypeError && problem.cause !== undefined) return outOfReach('The service', problem)
  return undefined
}

/** Of a file that is open: such problems name no path. */
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
  const advice = status === 401 && code !== 'signInFailed' ? " Sign in by 'bindery login'." : ''
  return `${problem?.message ?? message}${reference}${advice}`
}
