// Sends requests over persistent connections, a fixed number at a time.
import { Agent, request } from 'node:http'

/** The runtime closes a connection that was idle for 5 s, and a request sent at that moment is lost. */
export const LONGEST_IDLE_MS = 2_000

export type Call = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  path: string
  token?: string
  body?: string | Uint8Array
  /** JSON by default. */
  contentType?: string
}

export type Answer = { text: string; serverTiming: string; latencyMs: number }

/** Connections to one Worker. */
export type Connection = {
  /** Resolves to the response. Rejects with an Error if its status is not 2xx. */
  send(call: Call): Promise<Answer>
  close(): void
}

export function connect(origin: string, connections: number): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, timeout: LONGEST_IDLE_MS })
  const { hostname, port } = new URL(origin)
  return {
    send: call => send({ agent, hostname, port }, call),
    close: () => agent.destroy(),
  }
}

type To = { agent: Agent; hostname: string; port: string }

const send = (
  to: To,
  { method, path, token, body, contentType = 'application/json' }: Call,
): Promise<Answer> =>
  new Promise((done, fail) => {
    const begun = performance.now()
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && {
        'content-type': contentType,
        'content-length': String(Buffer.byteLength(body)),
      }),
    }
    const sent = request({ ...to, method, path, headers }, response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', fail)
      response.once('end', () => {
        const latencyMs = performance.now() - begun
        const text = Buffer.concat(chunks).toString('utf8')
        const status = response.statusCode ?? 0
        if (status >= 200 && status < 300)
          done({ text, serverTiming: String(response.headers['server-timing'] ?? ''), latencyMs })
        else fail(new Error(`${method} ${path} responded with ${status}: ${text.slice(0, 500)}`))
      })
    })
    sent.once('error', fail)
    sent.end(body)
  })

export type Run = { answers: Answer[]; elapsedMs: number }

/**
 * Makes the calls, `atOnce` at any time, until there are no more or `longestMs` have passed. Waits for the calls in progress.
 * `took` is called with each response.
 */
export async function drive(
  { send }: Pick<Connection, 'send'>,
  calls: Iterator<Call>,
  { atOnce, longestMs }: { atOnce: number; longestMs: number },
  took: (call: Call, answer: Answer) => void,
): Promise<Run> {
  const answers: Answer[] = []
  const begun = performance.now()
  const oneAfterTheOther = async (): Promise<void> => {
    while (performance.now() - begun < longestMs) {
      const { value: call, done } = calls.next()
      if (done) return
      const answer = await send(call)
      answers.push(answer)
      took(call, answer)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, oneAfterTheOther))
  return { answers, elapsedMs: performance.now() - begun }
}
