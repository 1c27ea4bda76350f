import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ports that systems choose themselves, for connections and for programs that ask for any port (from 32,768 on Linux, from
 * 49,152 elsewhere). One of those could be taken in the seconds that a service needs until it listens.
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

/** A port of this machine that nothing listens on now. */
export async function freePort(chosen = (): number => randomInt(...PORTS)): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const port = chosen()
    if (await isFree(port)) return port
  }
  throw new Error(`None of ${MOST_TRIES} ports from ${PORTS[0]} to ${PORTS[1]} is free.`)
}
