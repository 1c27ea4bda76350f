import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { binderyWith, type RunOptions } from './terminal.ts'

/** Returns a token with these claims. Nobody here checks its signature. */
const token = (claims: object): string =>
  ['{}', JSON.stringify({ exp: 4_000_000_000, ...claims }), ''].map(part => btoa(part)).join('.')

describe('Ctrl-C while the service responds', () => {
  let server: Server
  /** Called when a request has arrived whose response never ends. */
  let isAsked: () => void = () => {}
  beforeAll(async () => {
    server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"locator":')
      isAsked()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  async function interruptedRun(claims: object, ...argv: string[]) {
    const interruption = new AbortController()
    isAsked = () => interruption.abort()
    const { port } = server.address() as AddressInfo
    const env = { BINDERY_URL: `http://127.0.0.1:${port}`, BINDERY_TOKEN: token(claims) }
    const options: RunOptions = { env, interrupted: interruption.signal }
    return await binderyWith(options, ...argv)
  }

  const OF_TENANT = { 'tenant.uuid': '00000000-0000-4000-8000-000000000100' }

  test('ends events tail with exit code 0', async () => {
    expect(await interruptedRun(OF_TENANT, 'events', 'tail')).toEqual({ exit: 0, out: '', err: '' })
  })

  test('ends deploy and migrate --follow with exit code 130', async () => {
    const { exit, err } = await interruptedRun({}, 'deploy', 'examples/home', '--tenant', 'a')
    expect(err).toBe('bindery: Interrupted.\n')
    expect(exit).toBe(130)
    expect((await interruptedRun(OF_TENANT, 'migrate', '--follow', 'x')).exit).toBe(130)
  })
})

describe('Ctrl-C while the command works by itself', () => {
  /** Interrupts the command at its first text that has `sign`, and as a signal does: only when the process gets to it. */
  async function interruptedAt(sign: string, ...argv: string[]) {
    const interruption = new AbortController()
    const heard = (text: string): void => {
      if (text.includes(sign)) setTimeout(() => interruption.abort(), 0)
    }
    return await binderyWith({ interrupted: interruption.signal, isWatched: true, heard }, ...argv)
  }

  test('ends try with exit code 130, and reports the policies that were made', async () => {
    const { exit, out } = await interruptedAt(
      '\r50/1000000 policies',
      ...['try', 'cli/starter', '--count', '1000000'],
    )
    expect(exit).toBe(130)
    const count = Number(/: (\d+) policies, \d+ priced in/.exec(out)?.[1])
    expect(count).toBeGreaterThanOrEqual(50)
    expect(count).toBeLessThan(100_000)
  }, 60_000)

  test('ends test after the scenario that is running, with exit code 130', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bindery-interrupted-'))
    const policy = JSON.parse(readFileSync('cli/starter/policy.json', 'utf8')) as object
    const fileOf = (name: string, count: number): string => {
      const file = join(folder, name)
      writeFileSync(file, JSON.stringify(Array.from({ length: count }, () => ({ policy }))))
      return file
    }
    const files = [fileOf('one.json', 1), fileOf('many.json', 1_000)]
    const { exit, out, err } = await interruptedAt('one.json', 'test', 'cli/starter', ...files)
    rmSync(folder, { recursive: true })
    expect([exit, err]).toEqual([130, 'bindery: Interrupted.\n'])
    const ran = out.match(/✗ many \d+ /g)?.length
    expect(ran).toBeGreaterThanOrEqual(1)
    expect(ran).toBeLessThan(1_000)
  })
})
