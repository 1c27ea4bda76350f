// The service's side of the protocol with the plugin runner.
import { PassThrough } from 'node:stream'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { frameReader, writeFrame } from '../../../runner/frames.ts'
import { Programs } from '../../../runner/programs.ts'
import { localRunner, processRunner } from '../../../src/extension/plugins/runners/process-runner.ts'
import { HEADERS, runnerSecret } from '../../../src/extension/plugins/runners/runner-protocol.ts'
import { CALL, programOf } from './direct.ts'

const FINE = JSON.stringify({ value: 'fine', missing: [], logs: [], writes: [], events: [] })

type Answer = Response | Error

function runnerOf(answers: Answer[]) {
  const asked: string[] = []
  const headers: Record<string, string>[] = []
  const runner = processRunner(
    { address: 'http://127.0.0.1:1', secret: 'secret' },
    async (address, request) => {
      asked.push(`${request.method} ${new URL(address).pathname}`)
      headers.push(request.headers as Record<string, string>)
      const answer = answers.shift() ?? new Response(FINE)
      if (answer instanceof Error) throw answer
      return answer
    },
  )
  return { asked, headers, runner }
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe('processRunner', () => {
  it('names the program, its tenant and the time limit, and sends the program if the runner does not know it', async () => {
    const { runner, asked, headers } = runnerOf([
      new Response('', { status: 412 }),
      new Response(null, { status: 204 }),
    ])
    expect(await runner.run(programOf('tenant', 'return 1'), CALL, 1_234)).toMatchObject({ value: 'fine' })
    expect(asked).toEqual(['POST /v1/calls', 'PUT /v1/programs', 'POST /v1/calls'])
    expect(headers[0]).toMatchObject({
      authorization: 'Bearer secret',
      [HEADERS.tenant]: 'tenant',
      [HEADERS.program]: expect.stringMatching(/^tenant%2F1%2F1%2F\d+$/),
      [HEADERS.most]: '1234',
    })
  })

  it('repeats a call when the connection breaks, and throws unavailable after six requests', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const lost = new TypeError('fetch failed')
    const back = runnerOf([lost, lost])
    expect(await back.runner.run(programOf('tenant', ''), CALL)).toMatchObject({ value: 'fine' })
    expect(back.asked.length).toBe(3)
    const gone = runnerOf(Array(9).fill(lost))
    await expect(gone.runner.run(programOf('tenant', ''), CALL)).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect(gone.asked.length).toBe(6)
  })

  it.each([
    [503, 'Too many plugins are running; try again.', 7],
    [401, 'The plugin runner rejects the service; start the service again.', 5],
  ])('throws unavailable when the runner responds with %i', async (status, message, seconds) => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const { runner } = runnerOf([new Response('', { status, headers: { 'retry-after': '7' } })])
    await expect(runner.run(programOf('tenant', ''), CALL)).rejects.toMatchObject({
      code: 'unavailable',
      message,
      retryAfterSeconds: seconds,
    })
  })

  it('does not send an input that is too long, and rejects an outcome of another form', async () => {
    const long = runnerOf([])
    const call = { ...CALL, arguments: ['x'.repeat(32 * 1024 * 1024)] }
    const { failure } = await long.runner.run(programOf('tenant', ''), call)
    expect(failure).toMatchObject({
      limit: true,
      reason: expect.stringMatching(/^receives \d+ bytes of JSON/),
    })
    expect(long.asked).toEqual([])
    const { runner } = runnerOf([new Response('{"value":1,"missing":[{"kind":"none"}]}')])
    expect((await runner.run(programOf('tenant', ''), CALL)).failure?.reason).toBe(
      'the script broke the sandbox',
    )
  })

  it('says what to do if no runner was started', async () => {
    await expect(localRunner({} as Env)).rejects.toThrow(
      'No plugin runner is running. `npm start` starts one',
    )
  })
})

describe('the runner', () => {
  it('has another secret at each start', async () => {
    const [one, two, same] = [
      await runnerSecret('s', '1'),
      await runnerSecret('s', '2'),
      await runnerSecret('s', '1'),
    ]
    expect(one).toMatch(/^[0-9a-f]{64}$/)
    expect([two === one, same === one]).toEqual([false, true])
  })

  it('evicts the least recently used programs', () => {
    const programs = new Programs(10)
    programs.put('a', Buffer.alloc(4))
    programs.put('b', Buffer.alloc(4))
    programs.get('a')
    programs.put('c', Buffer.alloc(4))
    expect(['a', 'b', 'c'].map(key => programs.get(key) !== undefined)).toEqual([true, false, true])
    programs.put('large', Buffer.alloc(11))
    expect(['a', 'c', 'large'].map(key => programs.get(key) !== undefined)).toEqual([false, false, true])
  })

  it('reads messages no matter how the pipe splits them', async () => {
    const messages = [['', 'x'.repeat(300)], [], ['one', 'two', '\u00e4'], ['last']]
    const pipe = new PassThrough()
    for (const parts of messages)
      writeFrame(
        pipe,
        parts.map(part => Buffer.from(part)),
      )
    pipe.end()
    const bytes = Buffer.concat(await pipe.toArray())
    for (const size of [1, 2, 3, 5, 64, bytes.length]) {
      const read: string[][] = []
      const take = frameReader(parts => read.push(parts.map(String)))
      for (let at = 0; at < bytes.length; at += size) take(bytes.subarray(at, at + size))
      expect(read).toEqual(messages)
    }
  })
})
