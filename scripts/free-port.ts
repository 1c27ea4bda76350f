import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below those that systems choose for connections and for who asks for any port (from 32,768 on Linux, from 49,152 elsewhere):
 * one of these would be taken by whoever comes first, and a service needs seconds until it listens.
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
