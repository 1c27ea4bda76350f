// A local receiver of webhooks, which verifies signatures according to Standard Webhooks.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type ReceivedEvent = { id: string; type: string; data: Record<string, unknown> }

export type Receiver = {
  url: string
  /** The secret with which the webhook signs. */
  secret: string
  /** Events with a valid signature, each once, in the order of arrival. */
  events: ReceivedEvent[]
  /** The number of deliveries with an invalid signature. */
  refused: number
  /** Waits until `enough` returns true, for at most `mostMs`. Resolves to false if the time runs out. */
  waitUntil(enough: () => boolean, mostMs: number): Promise<boolean>
  close(): void
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function isSigned(request: IncomingMessage, body: string, key: Buffer): boolean {
  const header = (name: string): string => String(request.headers[name] ?? '')
  const signed = `${header('webhook-id')}.${header('webhook-timestamp')}.${body}`
  const right = createHmac('sha256', key).update(signed).digest()
  return header('webhook-signature')
    .split(' ')
    .filter(signature => signature.startsWith('v1,'))
    .map(signature => Buffer.from(signature.slice(3), 'base64'))
    .some(given => given.length === right.length && timingSafeEqual(given, right))
}

/** Starts a receiver on a free port of 127.0.0.1. */
export async function startReceiver(): Promise<Receiver> {
  const key = randomBytes(32)
  const server = createServer(async (request, response) => {
    const body = await textOf(request)
    if (isSigned(request, body, key)) {
      const event = JSON.parse(body) as ReceivedEvent
      if (!receiver.events.some(({ id }) => id === event.id)) receiver.events.push(event)
      response.writeHead(204).end()
    } else {
      receiver.refused += 1
      response.writeHead(401).end()
    }
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    secret: `whsec_${key.toString('base64')}`,
    events: [],
    refused: 0,
    async waitUntil(enough, mostMs) {
      for (let waited = 0; waited < mostMs && !enough(); waited += 100) await sleep(100)
      return enough()
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  return receiver
}
