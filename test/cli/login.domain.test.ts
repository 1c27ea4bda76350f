import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../../scripts/free-port.ts'
import { binderyWith } from './terminal.ts'

const env = { HOME: '/nonexistent' }

test.each([[[]], [['--token']]])(
  'login with the options %j does not ask for a secret if nothing responds at the address',
  async options => {
    const address = `http://localhost:${await freePort()}`
    // There is no input: a command that asked for a secret would say so.
    const { exit, err } = await binderyWith({ env }, 'login', address, ...options)
    expect(err).toContain(`${address} does not respond (ECONNREFUSED)`)
    expect(exit).toBe(3)
  },
)

test('login asks for the password if the address responds, even if only with a page or an error', async () => {
  const responses = [200, 404]
  const asked: string[] = []
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    response.writeHead(responses[asked.length - 1]!, { 'content-type': 'text/html' }).end('<p>A page')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/below`
  for (const _ of responses) {
    const { exit, err } = await binderyWith({ env }, 'login', address)
    expect(err).toContain('No password of administrator was given.')
    expect(exit).toBe(2)
  }
  server.close()
  expect(asked).toEqual(['/below/v1/ping', '/below/v1/ping'])
})
