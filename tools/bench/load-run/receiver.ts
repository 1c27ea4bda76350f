// A receiver for the tenants' webhooks. It responds immediately and remembers each event once.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type EventReceiver = {
  readonly origin: string
  /** Locators of the received events, by the path of the webhook. */
  readonly received: ReadonlyMap<string, ReadonlySet<string>>
  close(): void
}

export async function receiveEvents(): Promise<EventReceiver> {
  const received = new Map<string, Set<string>>()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const events = received.get(path) ?? new Set()
    received.set(path, events.add(String(request.headers['webhook-id'])))
    request.resume()
    request.once('end', () => response.writeHead(204).end())
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
