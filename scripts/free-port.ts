import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ports that operating systems assign to connections and to programs that request any port (from 32,768 on Linux, from
 * 49,152 elsewhere). Such a port could be taken in the seconds before a service listens.
 */
const PORTS = [20_000, 32_000] as const
const MOST_TRIES = 100

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}

/** Returns a local port on which nothing listens now. */
export async function freePort(chosen = (): number => randomInt(...PORTS)): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const port = chosen()
    if (await isFree(port)) return port
  }
  throw new Error(`None of ${MOST_TRIES} ports from ${PORTS[0]} to ${PORTS[1]} is free.`)
}
