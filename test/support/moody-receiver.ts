// A webhook receiver that behaves as receivers do: it fails, does not respond, or is down for a while. It verifies each post with
// the library of Standard Webhooks, and notes the events in the order of arrival.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { KEPT_OPEN } from './kept-open.ts'

/** The first post of an event. */
export type Arrival = { id: string; type: string; sequence: number; data: Record<string, string> }

/** A webhook that posts here. `arrivals` has each event once, in the order of first arrival. */
export type Box = {
  readonly arrivals: Arrival[]
  /** Ids that were answered with 2xx. */
  readonly taken: Set<string>
  /** Posts of an event that was already accepted. */
  repeats: number
  /** Posts with a wrong signature, or whose body has another id than the header. */
  refused: number
  posts: number
}

export type MoodyReceiver = {
  /** The URL of a path, also before there is a box for it. */
  urlOf(path: string): string
  /** Opens a box for posts to the path that are signed with the secret. */
  open(path: string, secret: string): Box
  /** Closes every connection and stops listening for this time. */
  stopFor(ms: number): Promise<void>
  close(): void
}

export type Mood = {
  /** Share of posts that fail, and share that get no response. */
  readonly failing: number
  readonly silent: number
  /** Maximum number of failures and silences for one event. Fewer than a webhook's attempts. */
  readonly mostOfOne: number
  /** Maximum number of posts without a response in total, because each takes as long as a webhook's timeout. */
  readonly mostSilent: number
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** Starts it on a free port. `chance` returns numbers from 0 to 1. */
export async function startMoodyReceiver(mood: Mood, chance: () => number): Promise<MoodyReceiver> {
  let silences = 0
  const boxes = new Map<string, { box: Box; webhook: Webhook; failures: Map<string, number> }>()

  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await textOf(request)
    const known = boxes.get(request.url ?? '')
    if (!known) return void response.writeHead(404).end()
    const { box, webhook, failures } = known
    const id = String(request.headers['webhook-id'])
    box.posts += 1
    let event: Arrival
    try {
      event = webhook.verify(body, request.headers as Record<string, string>) as Arrival
      if (event.id !== id) throw new Error('Another id.')
    } catch {
      box.refused += 1
      return void response.writeHead(401).end()
    }
    if (!failures.has(id)) box.arrivals.push(event)
    const failed = failures.get(id) ?? 0
    failures.set(id, failed)
    const luck = failed < mood.mostOfOne ? chance() : 1
    const silent = silences < mood.mostSilent ? mood.silent : 0
    if (luck < mood.failing + silent) failures.set(id, failed + 1)
    if (luck < silent) {
      silences += 1
      return
    }
    if (luck < mood.failing + silent) return void response.writeHead(503).end('not now')
    if (box.taken.has(id)) box.repeats += 1
    box.taken.add(id)
    response.writeHead(204).end()
  }

  const server = createServer(KEPT_OPEN, (request, response) => {
    // If the connection is closed meanwhile, the post ends, as it would at any receiver.
    take(request, response).catch(() => response.destroy())
  })
  const listen = (port: number): Promise<void> =>
    new Promise(resolve => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const shut = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return {
    urlOf: path => `http://127.0.0.1:${port}${path}`,
    open(path, secret) {
      const box: Box = { arrivals: [], taken: new Set(), repeats: 0, refused: 0, posts: 0 }
      boxes.set(path, { box, webhook: new Webhook(secret), failures: new Map() })
      return box
    },
    async stopFor(ms) {
      shut()
      await new Promise(resolve => setTimeout(resolve, ms))
      await listen(port)
    },
    close: shut,
  }
}
