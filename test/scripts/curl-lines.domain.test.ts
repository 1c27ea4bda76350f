import { execFile } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { curlLines } from '../../scripts/curl-lines.ts'

type Call = { path: string; authorization: string | undefined; body: unknown }

const calls: Call[] = []
const answers: Record<string, unknown> = {
  '/account/authenticate': { authorizationToken: 'a.b-c.d_e', expiresTimestamp: '1' },
  '/policyholder/create': { locator: 'holder-1', entity: { locator: 'another' } },
  '/policy': { locator: '100000064' },
}
let server: Server
let origin: string

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    calls.push({ path: request.url!, authorization: request.headers.authorization, body: JSON.parse(text) })
    response.end(JSON.stringify(answers[request.url!]))
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

test('each printed curl line works by itself when pasted into a shell', async () => {
  const policyholder = { completed: true, values: { last_name: `O'Neill "Jr" $HOME \\` } }
  const policy = { productName: 'private_motor', fieldValues: { note: `it's` } }
  const credentials = { username: 'alice', password: `pass'word`, hostName: 'a.co.local.bindery.test' }
  const lines = curlLines({ origin, credentials, policyholder, policy })
  const printed: string[] = []
  for (const line of lines) printed.push((await promisify(execFile)('bash', ['-c', line])).stdout)
  expect(printed.map(text => JSON.parse(text))).toEqual(Object.values(answers))
  expect(calls.map(({ path }) => path)).toEqual([
    '/account/authenticate',
    '/account/authenticate',
    '/policyholder/create',
    '/account/authenticate',
    '/policyholder/create',
    '/policy',
  ])
  expect(calls[0]!.body).toEqual(credentials)
  expect(calls[2]).toMatchObject({ authorization: 'Bearer a.b-c.d_e', body: policyholder })
  expect(calls[5]).toMatchObject({
    authorization: 'Bearer a.b-c.d_e',
    body: { ...policy, policyholderLocator: 'holder-1' },
  })
})
