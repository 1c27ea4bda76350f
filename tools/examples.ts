// Writes the examples of the OpenAPI document from the requests and responses of the service tests, and the error codes that each
// operation was seen to return. npm run docs:examples [-- test files]: all service tests again, or some in addition to what
// exists.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadRoutes } from '../scripts/routes.ts'
import type { Exchange } from '../test/support/exchanges/note.ts'
import { type Examples, examplesOf, examplesText } from './examples/choose.ts'

const EXAMPLES_FILE = 'src/platform/http/reference/examples.json'

/** Runs the service tests of the files, and returns their requests and responses in no particular order. */
async function exchanges(files: readonly string[]): Promise<Exchange[]> {
  const found: Exchange[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    for (const line of Buffer.concat(chunks).toString('utf8').split('\n'))
      if (line !== '') found.push(JSON.parse(line))
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const tests = spawn('node_modules/.bin/vitest', ['run', '--project', 'service', ...files], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, BINDERY_EXCHANGES_URL: `http://127.0.0.1:${port}` },
  })
  const [code] = await once(tests, 'exit')
  server.close()
  if (code !== 0) throw new Error('A test failed. The examples were not changed.')
  return found
}

const files = process.argv.slice(2)
const present: Examples = files.length === 0 ? {} : JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8'))
const routes = await loadRoutes()
const examples = examplesOf(routes, await exchanges(files), present)
writeFileSync(EXAMPLES_FILE, examplesText(examples))
for (const { method, path } of routes)
  if (!examples[`${method} ${path}`]?.answer) console.error(`no example response yet: ${method} ${path}`)
