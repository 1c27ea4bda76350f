import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { binderyWith } from './terminal.ts'

const CLAIMS = { exp: 4_000_000_000, 'tenant.uuid': '00000000-0000-4000-8000-000000000100' }
const TOKEN = ['{}', JSON.stringify(CLAIMS), ''].map(text => btoa(text)).join('.')

/** How many records the service has of each kind. */
const COUNTS: Readonly<Record<string, number>> = {
  policyholders: 1,
  policies: 1,
  disbursements: 1,
  quickQuotes: 2,
  journal: 1,
}

function responseTo(path: string): string {
  if (path === '/export') return JSON.stringify({ cursor: 'c1' })
  if (path.startsWith('/export/changes')) return '{"kind":"end","cursor":"c1","isCompleted":true}\n'
  const kind = /^\/export\/(\w+)\/records/.exec(path)![1]!
  const lines = Array.from({ length: COUNTS[kind] ?? 0 }, (_, at) =>
    JSON.stringify({ kind, record: { locator: `${kind} ${at}` } }),
  )
  return [...lines, '{"kind":"end"}', ''].join('\n')
}

test('export counts the records of each kind, one record in the singular', async () => {
  const server = createServer(({ url = '' }, response) => {
    const type = url === '/export' ? 'application/json' : 'application/x-ndjson'
    response.writeHead(200, { 'content-type': type }).end(responseTo(url))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const folder = mkdtempSync(join(tmpdir(), 'bindery-export-'))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = { BINDERY_URL: address, BINDERY_TOKEN: TOKEN }
  const { exit, out } = await binderyWith({ env }, 'export', '--out', folder)
  server.close()
  rmSync(folder, { recursive: true })
  expect(exit).toBe(0)
  expect(out).toBe(
    `1 policyholder, 1 policy, 1 disbursement, 0 auxData, 2 quickQuotes, 0 notes, 1 journal, 0 changed during or since the export in ${folder}\n`,
  )
})
