// The plugin runner: a process beside the service, which it serves over HTTP on the loopback address (docs/plugins.md). It
// holds no credentials and reads nothing that tenant code makes; that code runs in processes of its own (cells.ts).
import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  LONGEST_CALL_MS,
  LONGEST_SENT_CALL,
  LONGEST_SENT_PROGRAM,
} from '../src/extension/plugins/runners/limits.ts'
import {
  HEADERS,
  PATHS,
  PROGRAM_UNKNOWN,
  PROTOCOL,
} from '../src/extension/plugins/runners/runner-protocol.ts'
import { startCell } from './cells.ts'
import { type LaneSettings, Lanes } from './lanes.ts'
import { outcomeOf } from './outcomes.ts'
import { Programs } from './programs.ts'

/** What the runner is given when it starts: one line of JSON on its standard input, which stays open as long as it is to run. */
export type RunnerStart = {
  readonly secret: string
  /** 0 for any that is free. */
  readonly port: number
  /** How long a call may take at most, whatever the service allows. */
  readonly longestMs?: number
  readonly lanes?: Partial<LaneSettings>
}

const LOOPBACK = '127.0.0.1'

/** How long a body may take to arrive, and connections at once. */
const REQUEST_MS = 10_000
const MOST_CONNECTIONS = 1_000

export type Runner = { readonly port: number; close(): Promise<void> }

export async function serve({
  secret,
  port,
  longestMs = LONGEST_CALL_MS,
  lanes: settings,
}: RunnerStart): Promise<Runner> {
  const programs = new Programs()
  const lanes = new Lanes(startCell, settings)
  const answering = { secret, longestMs, programs, lanes }
  const server = createServer((request, response) => {
    answer(answering, request, response).catch((problem: unknown) => {
      // Whoever asked has gone, or the body was cut off.
      if (!request.destroyed) console.error(JSON.stringify({ at: 'plugin runner', problem: String(problem) }))
      response.destroy()
    })
  })
  server.requestTimeout = REQUEST_MS
  server.maxConnections = MOST_CONNECTIONS
  // The service keeps connections: none ends just as it is used again.
  server.keepAliveTimeout = 120_000
  await listening(server, port)
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      lanes.close()
      server.closeAllConnections()
      return new Promise(done => server.close(() => done()))
    },
  }
}

const listening = (server: Server, port: number): Promise<void> =>
  new Promise((done, fail) => {
    server.once('error', fail)
    server.listen(port, LOOPBACK, () => done())
  })

type Answering = { secret: string; longestMs: number; programs: Programs; lanes: Lanes }

async function answer(
  { secret, longestMs, programs, lanes }: Answering,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!isProof(request.headers.authorization, secret)) return refuse(response, 401, 'The secret is wrong.')
  const { method, url } = request
  const key = headerOf(request, HEADERS.program)
  const tenant = headerOf(request, HEADERS.tenant)
  const isKnownPath = url === PATHS.calls || url === PATHS.programs
  if (!isKnownPath)
    return refuse(response, 404, `There is no ${method} ${url}; this runner speaks ${PROTOCOL}.`)
  if (!key || !tenant)
    return refuse(response, 400, `${HEADERS.program} and ${HEADERS.tenant} are both needed.`)
  if (method === 'PUT' && url === PATHS.programs) {
    const body = await bodyOf(request, LONGEST_SENT_PROGRAM)
    if (!body) return refuse(response, 413, `A program has at most ${LONGEST_SENT_PROGRAM} bytes.`)
    programs.put(key, body)
    response.writeHead(204).end()
    return
  }
  if (method !== 'POST' || url !== PATHS.calls) return refuse(response, 405, `${method} is not for ${url}.`)
  const program = programs.get(key)
  if (!program) {
    request.resume()
    return refuse(response, PROGRAM_UNKNOWN, 'The program is not here; send it first.')
  }
  const asked = Number(request.headers[HEADERS.most])
  const mostMs = Math.min(asked > 0 ? asked : longestMs, longestMs)
  const body = await bodyOf(request, LONGEST_SENT_CALL)
  if (!body) return refuse(response, 413, `A call has at most ${LONGEST_SENT_CALL} bytes.`)
  const abandoned = new AbortController()
  response.on('close', () => abandoned.abort())
  const ended = await lanes.run({ tenant, key, program, body, mostMs }, abandoned.signal)
  const outcome = outcomeOf(ended, longestMs)
  if (!outcome) return refuse(response, 503, 'Too many plugins are running.', { 'retry-after': '1' })
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': outcome.length })
  response.end(outcome)
}

function isProof(given: string | undefined, secret: string): boolean {
  const [expected, presented] = [Buffer.from(`Bearer ${secret}`), Buffer.from(given ?? '')]
  return expected.length === presented.length && timingSafeEqual(expected, presented)
}

const headerOf = ({ headers }: IncomingMessage, name: string): string => String(headers[name] ?? '')

function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): void {
  // What is left of a body is not read: the connection ends with the answer.
  const close = status === 413 || status === 401 ? { connection: 'close' } : {}
  response.writeHead(status, { 'content-type': 'text/plain', ...headers, ...close }).end(`${message}\n`)
}

/** The body, or undefined where it is longer than that. */
async function bodyOf(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > most) return undefined
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > most) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}
