// A receiver of webhooks: an HTTP server next to the tests, with one box for each path. A box keeps what is posted. Tests set its
// responses (PUT) and read the posts (GET). A global setup of the `service` project.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { KEPT_OPEN } from './kept-open.ts'

/** How to respond to a post. `hang` never responds. */
export type Behaviour = {
  status: number
  /** Default `received`. */
  body?: string
  headers?: Record<string, string>
  delayMs?: number
  hang?: boolean
  /** Holds the response back until the box gets new behaviours. */
  held?: boolean
}

export type Received = { headers: Record<string, string>; body: string; atMs: number }

/** `behaviours` are used one after the other. The last one stays. */
type Box = { behaviours: Behaviour[]; received: Received[]; release: (() => void)[] }

declare module 'vitest' {
  export interface ProvidedContext {
    receiverPort: number
  }
}

const boxes = new Map<string, Box>()

function boxOf(path: string): Box {
  const box = boxes.get(path) ?? { behaviours: [{ status: 200 }], received: [], release: [] }
  boxes.set(path, box)
  return box
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

const flat = (headers: IncomingMessage['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

function receiver(): Server {
  return createServer(KEPT_OPEN, async (request, response) => {
    const box = boxOf(request.url ?? '/')
    const body = await textOf(request).catch(() => undefined)
    // The connection was closed during the request.
    if (body === undefined) return void response.destroy()
    if (request.method === 'GET') return response.end(JSON.stringify(box.received))
    if (request.method === 'PUT') {
      box.behaviours = JSON.parse(body)
      for (const release of box.release.splice(0)) release()
      return response.end()
    }
    box.received.push({ headers: flat(request.headers), body, atMs: Date.now() })
    const { status, headers, body: answer = 'received', delayMs = 0, hang, held } = box.behaviours[0]!
    if (box.behaviours.length > 1) box.behaviours.shift()
    if (hang) return
    if (held) await new Promise<void>(resolve => box.release.push(resolve))
    await new Promise(resolve => setTimeout(resolve, delayMs))
    response.writeHead(status, headers).end(answer)
  })
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = receiver()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  project.provide('receiverPort', (server.address() as AddressInfo).port)
  return async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
}
