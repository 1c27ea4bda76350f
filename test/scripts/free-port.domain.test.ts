import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../../scripts/free-port.ts'

test('a free port is outside the range from which systems choose ports', async () => {
  for (let time = 0; time < 20; time += 1) {
    const port = await freePort()
    expect(port).toBeGreaterThanOrEqual(20_000)
    expect(port).toBeLessThan(32_768)
  }
})

test('a port in use by another program is skipped, and 100 failed attempts are an error', async () => {
  const [taken, free] = [await freePort(), await freePort()]
  const server = createServer().listen(taken, '127.0.0.1')
  await once(server, 'listening')
  const ports = [taken, taken, free]
  expect(await freePort(() => ports.shift()!)).toBe(free)
  await expect(freePort(() => taken)).rejects.toThrow('None of 100 ports from 20000 to 32000 is free.')
  server.close()
})
