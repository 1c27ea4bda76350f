// The plugin runner as a process: who may reach it, what it holds, and that it comes back.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { processRunner } from '../../../src/extension/plugins/process-runner.ts'
import { HEADERS, PATHS } from '../../../src/extension/plugins/runner-protocol.ts'
import { CALL, type DirectRunner, directRunner, programOf, timed } from './direct.ts'

let direct: DirectRunner

/** For calls that have to end: on a busy machine they take far longer than the service would wait. */
const ENOUGH_MS = 60_000

beforeAll(async () => {
  direct = await directRunner({ longestMs: ENOUGH_MS })
})

afterAll(() => direct.stop())

/** In one function of the language, which nothing interrupts. */
const FOR_HOURS = 'return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)'

const childrenOf = (pid: number): number[] =>
  execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .trim()
    .split(/\s+/)
    .map(Number)

const ask = (path: string, request: RequestInit = {}) =>
  fetch(direct.vars.PLUGIN_RUNNER_ADDRESS + path, request)

const headers = (more: Record<string, string> = {}) => ({
  authorization: `Bearer ${direct.secret}`,
  [HEADERS.program]: 'tenant%2F1%2F1%2Fnone',
  [HEADERS.tenant]: 'tenant',
  ...more,
})

describe('the plugin runner', () => {
  it.each([
    ['no secret', undefined],
    ['a wrong secret', 'Bearer 0000'],
    ['a secret of the right length', `Bearer ${'0'.repeat(64)}`],
  ])('refuses who has %s', async (_what, authorization) => {
    for (const [path, method] of [
      [PATHS.calls, 'POST'],
      [PATHS.programs, 'PUT'],
    ] as const) {
      const given = { ...headers(), authorization }
      if (authorization === undefined) delete given.authorization
      const response = await ask(path, { method, headers: given as Record<string, string>, body: '{}' })
      expect(response.status).toBe(401)
    }
  })

  it('refuses what it does not know: paths, methods, programs, and bodies that are too long', async () => {
    const statusOf = async (path: string, request: RequestInit) => (await ask(path, request)).status
    expect(await statusOf('/v0/calls', { method: 'POST', headers: headers(), body: '{}' })).toBe(404)
    expect(await statusOf(PATHS.calls, { headers: headers() })).toBe(405)
    expect(await statusOf(PATHS.calls, { method: 'POST', headers: headers(), body: '{}' })).toBe(412)
    const nameless = headers({ [HEADERS.tenant]: '' })
    expect(await statusOf(PATHS.calls, { method: 'POST', headers: nameless, body: '{}' })).toBe(400)
    const long = Buffer.alloc(32 * 1024 * 1024 + 1)
    const put = ask(PATHS.programs, { method: 'PUT', headers: headers(), body: long })
    // Where the connection ends while the rest is still on its way, there is no answer to read.
    expect(await put.then(({ status }) => status).catch(() => 'ended')).toSatisfy(
      (ending: unknown) => ending === 413 || ending === 'ended',
    )
  })

  it('listens on the loopback address alone', async () => {
    const others = Object.values(networkInterfaces())
      .flatMap(all => all ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4')
      .map(({ address }) => address)
    const reaches = (host: string) =>
      new Promise<boolean>(done => {
        const socket = connect({ host, port: direct.port }, () => done(true)).once('error', () => done(false))
        socket.once('connect', () => socket.destroy())
      })
    expect(await reaches('127.0.0.1')).toBe(true)
    for (const host of [...others, '127.0.0.2', '::1'])
      expect([host, await reaches(host)]).toEqual([host, false])
  })

  it('has nothing in its environment, nor have the processes of tenant code; and no file of data open', async () => {
    const pid = direct.pid()!
    const all = [pid, ...childrenOf(pid)]
    expect(all.length).toBeGreaterThan(1)
    for (const one of all) {
      expect(readFileSync(`/proc/${one}/environ`, 'utf8')).toBe('')
      expect(readFileSync(`/proc/${one}/cmdline`, 'utf8')).not.toContain(direct.secret)
      const open = readdirSync(`/proc/${one}/fd`).map(fd => {
        try {
          return readlinkSync(`/proc/${one}/fd/${fd}`)
        } catch {
          return ''
        }
      })
      expect(open.filter(file => /sqlite|\.vars/.test(file))).toEqual([])
    }
  })

  it('runs one call of a tenant at a time, and another tenant’s meanwhile', async () => {
    const { runner } = direct
    // Longer than it takes to start a process: the neighbour's process may have to start meanwhile, on a busy machine.
    const busy = 'let x = 0; for (let i = 0; i < 1e7; i++) x += i; return x'
    const ended: string[] = []
    const run = async (tenant: string, name: string, body: string) => {
      await timed(runner, programOf(tenant, body), ENOUGH_MS)
      ended.push(name)
    }
    // The second one waits for the first, though it would be done at once.
    const first = run('one-tenant', 'long', busy)
    await sleep(50)
    await Promise.all([
      first,
      run('one-tenant', 'short', 'return 1'),
      run('another-tenant', 'neighbour', 'return 1'),
    ])
    expect(ended.indexOf('short')).toBeGreaterThan(ended.indexOf('long'))
    expect(ended.indexOf('neighbour')).toBeLessThan(ended.indexOf('long'))
  })

  it('is back after kill -9, and the call that it carried out then is made again', async () => {
    const { runner } = direct
    const before = direct.pid()!
    const cells = childrenOf(before)
    // Longer than until it is killed.
    const program = programOf('killed', 'let x = 0; for (let i = 0; i < 5e6; i++) x += i; return "done"')
    const call = timed(runner, program, ENOUGH_MS)
    await sleep(100)
    process.kill(before, 'SIGKILL')
    expect((await call).outcome).toMatchObject({ value: 'done' })
    expect(direct.pid()).not.toBe(before)
    // Nothing of the one before is left.
    await expect.poll(() => cells.filter(isAlive)).toEqual([])
  })

  it('goes on when a process of tenant code is killed', async () => {
    const { runner } = direct
    // It may have ended meanwhile.
    for (const cell of childrenOf(direct.pid()!)) if (isAlive(cell)) process.kill(cell, 'SIGKILL')
    const { outcome } = await timed(runner, programOf('after', 'return 1'))
    expect(outcome).toMatchObject({ value: 1 })
  })

  it('ends with the one that started it, also in the middle of a call', async () => {
    const other = await directRunner({})
    const pid = other.pid()!
    const cells = childrenOf(pid)
    const call = other.runner.run(programOf('last', FOR_HOURS), CALL).catch(() => undefined)
    await sleep(200)
    await other.stop()
    await call
    await expect.poll(() => [pid, ...cells].filter(isAlive)).toEqual([])
  })

  it('leaves no process behind that still runs tenant code when it is killed and nobody tidies up', async () => {
    const secret = 'a secret that only this test uses'
    const alone = spawn(process.execPath, ['runner/main.bundle.mjs'], { stdio: ['pipe', 'pipe', 'inherit'] })
    alone.stdin.write(`${JSON.stringify({ secret, port: 0, longestMs: ENOUGH_MS })}\n`)
    const [line] = (await once(alone.stdout, 'data')) as [Buffer]
    const address = `http://127.0.0.1:${(JSON.parse(line.toString()) as { port: number }).port}`
    const program = programOf('left', FOR_HOURS)
    const call = processRunner({ address, secret })
      .run(program, CALL, ENOUGH_MS)
      .catch(() => undefined)
    await expect.poll(() => childrenOf(alone.pid!).some(isBusy)).toBe(true)
    const children = childrenOf(alone.pid!)
    alone.kill('SIGKILL')
    await call
    await expect.poll(() => children.filter(isAlive)).toEqual([])
  })
})

/** Has used a second of the processor: it takes less to start. */
const isBusy = (pid: number): boolean => {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13)
  return Number(user) + Number(system) > 100
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // One that has ended and that nobody has asked after yet is there still.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
