// Sends requests over persistent connections. Every response is returned, whatever its status.
import { Agent, request } from 'node:http'
import { LONGEST_IDLE_MS } from '../load.ts'

export type Reply = {
  /** 0 if the connection broke. */
  readonly status: number
  readonly text: string
  readonly retryAfterSeconds: number | undefined
}

export type LoadConnection = {
  send(method: string, path: string, token: string, body?: object): Promise<Reply>
  close(): void
}

export function connect(origin: string, connections: number): LoadConnection {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, timeout: LONGEST_IDLE_MS })
  const { hostname, port } = new URL(origin)
  return {
    close: () => agent.destroy(),
    send: (method, path, token, body) =>
      new Promise(done => {
        const text = body === undefined ? undefined : JSON.stringify(body)
        const headers = {
          authorization: `Bearer ${token}`,
          ...(text !== undefined && {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(text)),
          }),
        }
        const resolveWithError = (problem: Error): void =>
          done({ status: 0, text: String(problem), retryAfterSeconds: undefined })
        const sent = request({ agent, hostname, port, method, path, headers }, response => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.once('error', resolveWithError)
          response.once('end', () => {
            const later = Number(response.headers['retry-after'])
            done({
              status: response.statusCode ?? 0,
              text: Buffer.concat(chunks).toString('utf8'),
              retryAfterSeconds: Number.isFinite(later) ? later : undefined,
            })
          })
        })
        sent.once('error', resolveWithError)
        sent.end(text)
      }),
  }
}
