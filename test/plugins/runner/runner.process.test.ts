// The plugin runner as a process: who may reach it, what it has open, and that it restarts.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { processRunner } from '../../../src/extension/plugins/runners/process-runner.ts'
import { HEADERS, PATHS } from '../../../src/extension/plugins/runners/runner-protocol.ts'
import { CALL, type DirectRunner, directRunner, programOf, timed } from './direct.ts'

let direct: DirectRunner

/** For calls that must finish. On a busy computer they take far longer than the service waits. */
const ENOUGH_MS = 60_000

beforeAll(async () => {
  direct = await directRunner({ longestMs: ENOUGH_MS })
})

afterAll(() => direct.stop())

/** In one built-in function, which nothing interrupts. */
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
  ])('returns 401 to a caller with %s', async (_what, authorization) => {
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

  it('rejects unknown paths, methods and programs, and bodies that are too long', async () => {
    const statusOf = async (path: string, request: RequestInit) => (await ask(path, request)).status
    expect(await statusOf('/v0/calls', { method: 'POST', headers: headers(), body: '{}' })).toBe(404)
    expect(await statusOf(PATHS.calls, { headers: headers() })).toBe(405)
    expect(await statusOf(PATHS.calls, { method: 'POST', headers: headers(), body: '{}' })).toBe(412)
    const nameless = headers({ [HEADERS.tenant]: '' })
    expect(await statusOf(PATHS.calls, { method: 'POST', headers: nameless, body: '{}' })).toBe(400)
    const long = Buffer.alloc(32 * 1024 * 1024 + 1)
    const put = ask(PATHS.programs, { method: 'PUT', headers: headers(), body: long })
    // If the connection ends while the rest is still being sent, there is no response to read.
    expect(await put.then(({ status }) => status).catch(() => 'ended')).toSatisfy(
      (ending: unknown) => ending === 413 || ending === 'ended',
    )
  })

  it('listens only on the loopback address', async () => {
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

  it('has an empty environment and no data file open, and neither have the processes of tenant code', async () => {
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

  it('runs one call of a tenant at a time, and calls of another tenant meanwhile', async () => {
    const { runner } = direct
    // Longer than the start of a process, because on a busy computer the neighbour's process may have to start meanwhile.
    const busy = 'let x = 0; for (let i = 0; i < 2e7; i++) x += i; return x'
    const ended: string[] = []
    const run = async (tenant: string, name: string, body: string) => {
      await timed(runner, programOf(tenant, body), ENOUGH_MS)
      ended.push(name)
    }
    // The second call waits for the first, although it could be done immediately.
    const isBusy = busySince(direct.pid()!)
    const first = run('one-tenant', 'long', busy)
    await expect.poll(isBusy).toBe(true)
    await Promise.all([
      first,
      run('one-tenant', 'short', 'return 1'),
      run('another-tenant', 'neighbour', 'return 1'),
    ])
    expect(ended.indexOf('short')).toBeGreaterThan(ended.indexOf('long'))
    expect(ended.indexOf('neighbour')).toBeLessThan(ended.indexOf('long'))
  })

  it('restarts after kill -9, and the interrupted call is repeated', async () => {
    const { runner } = direct
    const before = direct.pid()!
    const cells = childrenOf(before)
    // Longer than the time until the runner is killed.
    const program = programOf('killed', 'let x = 0; for (let i = 0; i < 1e7; i++) x += i; return "done"')
    const isBusy = busySince(before)
    const call = timed(runner, program, ENOUGH_MS)
    await expect.poll(isBusy).toBe(true)
    process.kill(before, 'SIGKILL')
    expect((await call).outcome).toMatchObject({ value: 'done' })
    expect(direct.pid()).not.toBe(before)
    // Nothing of the killed runner is left.
    await expect.poll(() => cells.filter(isAlive)).toEqual([])
  })

  it('continues when the processes of tenant code are killed', async () => {
    const { runner } = direct
    // It may have ended in the meantime.
    for (const cell of childrenOf(direct.pid()!)) if (isAlive(cell)) process.kill(cell, 'SIGKILL')
    const { outcome } = await timed(runner, programOf('after', 'return 1'))
    expect(outcome).toMatchObject({ value: 1 })
  })

  it('ends with the process that started it, even in the middle of a call', async () => {
    const other = await directRunner({})
    const pid = other.pid()!
    const cells = childrenOf(pid)
    const isBusy = busySince(pid)
    const call = other.runner.run(programOf('last', FOR_HOURS), CALL).catch(() => undefined)
    await expect.poll(isBusy).toBe(true)
    await other.stop()
    await call
    await expect.poll(() => [pid, ...cells].filter(isAlive)).toEqual([])
  })

  it('leaves no process with tenant code behind when it is killed and nobody cleans up', async () => {
    const secret = 'a secret that only this test uses'
    const alone = spawn(process.execPath, ['runner/main.bundle.mjs'], { stdio: ['pipe', 'pipe', 'inherit'] })
    alone.stdin.write(`${JSON.stringify({ secret, port: 0, longestMs: ENOUGH_MS })}\n`)
    const [line] = (await once(alone.stdout, 'data')) as [Buffer]
    const address = `http://127.0.0.1:${(JSON.parse(line.toString()) as { port: number }).port}`
    const program = programOf('left', FOR_HOURS)
    const isBusy = busySince(alone.pid!)
    const call = processRunner({ address, secret })
      .run(program, CALL, ENOUGH_MS)
      .catch(() => undefined)
    await expect.poll(isBusy).toBe(true)
    const children = childrenOf(alone.pid!)
    alone.kill('SIGKILL')
    await call
    await expect.poll(() => children.filter(isAlive)).toEqual([])
  })
})

/** The processor time that each process of tenant code has used, in ticks of 10 ms, by process id. */
const ticksOf = (runnerPid: number): ReadonlyMap<number, number> =>
  new Map(
    childrenOf(runnerPid).map(pid => {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
      return [pid, Number(stat[11]) + Number(stat[12])]
    }),
  )

/** Returns a function that says whether tenant code has run for half a second since. The start of a process takes less. */
function busySince(runnerPid: number): () => boolean {
  const before = ticksOf(runnerPid)
  return () => [...ticksOf(runnerPid)].some(([pid, ticks]) => ticks - (before.get(pid) ?? 0) > 50)
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // A process that has ended, and that nobody has waited for, still exists.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
