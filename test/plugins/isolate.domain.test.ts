// How the platform ends a call in an isolate. Its limits apply only in production, so a loader that behaves the same stands in
// for it here.
import { afterEach, describe, expect, it, vi } from 'vitest'
import { isolateRunner } from '../../src/extension/plugins/runners/isolate.ts'
import { ISOLATE_LIMITS, LONGEST_CALL_MS } from '../../src/extension/plugins/runners/limits.ts'
import { type PluginProgram, SPOILED } from '../../src/extension/plugins/runners/runner.ts'
import type { LoadedConfiguration } from '../../src/product/cache.ts'
import { CALL } from './runner/direct.ts'

const FINE = JSON.stringify({ value: 'fine', missing: [], logs: [], writes: [], events: [] })

const CODE = { limits: ISOLATE_LIMITS } as unknown as WorkerLoaderWorkerCode

let programs = 0

const programOf = (): PluginProgram => {
  programs += 1
  return { key: `tenant/1/1/${programs}`, configuration: {} as LoadedConfiguration, scripts: new Map() }
}

type Answer = () => Promise<unknown>

/** Returns a loader whose isolates answer one after the other as `answers` say. Later ones succeed. */
function loaderOf(answers: Answer[]) {
  const names: string[] = []
  const limits: unknown[] = []
  const loader = {
    get(name: string) {
      names.push(name)
      return {
        getEntrypoint(_: undefined, options: { limits: unknown }) {
          limits.push(options.limits)
          return { run: answers.shift() ?? (async () => FINE) }
        },
      }
    },
  } as unknown as WorkerLoader
  return { names, limits, runner: isolateRunner(loader, () => CODE) }
}

const thrown =
  (message: string): Answer =>
  () =>
    Promise.reject(new Error(message))

afterEach(() => {
  vi.useRealTimers()
})

describe('a call in an isolate', () => {
  it('has limits of CPU time and requests each time, and they are shorter than a client waits', async () => {
    const { runner, limits } = loaderOf([])
    const program = programOf()
    await runner.run(program, CALL)
    await runner.run(program, CALL)
    expect(limits).toEqual([
      { cpuMs: 4_000, subRequests: 0 },
      { cpuMs: 4_000, subRequests: 0 },
    ])
    expect(ISOLATE_LIMITS.cpuMs).toBeLessThan(LONGEST_CALL_MS)
    expect(LONGEST_CALL_MS).toBeLessThan(5_000)
  })

  it.each([
    ['CPU time', 'Worker exceeded CPU time limit.'],
    ['memory', 'Worker exceeded memory limit.'],
    ['resources', 'Worker exceeded resource limits.'],
    ['requests', 'Too many subrequests by single Worker invocation: limit exceeded.'],
    [
      'a wait without end',
      "The Workers runtime canceled this request because it detected that your Worker's code had hung and would never generate a response.",
    ],
  ])(
    'that the platform ends for %s fails with a limit, and the next one runs in another isolate',
    async (_what, message) => {
      const { runner, names } = loaderOf([thrown(message)])
      const program = programOf()
      expect((await runner.run(program, CALL)).failure).toEqual({
        reason: `was stopped by the sandbox: ${message}`,
        limit: true,
      })
      expect(await runner.run(program, CALL)).toMatchObject({ value: 'fine' })
      expect(new Set(names).size).toBe(2)
    },
  )

  it.each(['Network connection lost.', 'internal error; reference = 0a1b2c', 'The script threw'])(
    'that ends with "%s" is repeated in another isolate, and fails if it ends the same way',
    async message => {
      vi.spyOn(console, 'error').mockImplementation(() => undefined)
      const program = programOf()
      const once = loaderOf([thrown(message)])
      expect(await once.runner.run(program, CALL)).toMatchObject({ value: 'fine' })
      expect(new Set(once.names).size).toBe(2)
      const twice = loaderOf([thrown(message), thrown(message)])
      expect((await twice.runner.run(program, CALL)).failure).toEqual({
        reason: `was ended by the sandbox: ${message}`,
      })
      expect(await twice.runner.run(program, CALL)).toMatchObject({ value: 'fine' })
    },
  )

  it('that gets no answer fails with a limit after 4.2 seconds, and the next one runs in another isolate', async () => {
    vi.useFakeTimers()
    const { runner, names } = loaderOf([() => new Promise(() => undefined)])
    const program = programOf()
    const outcome = runner.run(program, CALL)
    await vi.advanceTimersByTimeAsync(LONGEST_CALL_MS)
    expect((await outcome).failure).toEqual({ reason: 'takes longer than 4.2 seconds', limit: true })
    expect(await runner.run(program, CALL)).toMatchObject({ value: 'fine' })
    expect(new Set(names).size).toBe(2)
  })

  it('whose code the platform rejects fails with the reason', async () => {
    const { runner } = loaderOf([thrown('Failed to start Worker: too large')])
    expect((await runner.run(programOf(), CALL)).failure).toEqual({
      reason: 'Failed to start Worker: too large',
    })
  })

  it('avoids an isolate that an earlier call spoiled, and returns unavailable if all are spoiled', async () => {
    const spoiled: Answer = async () => SPOILED
    const { runner } = loaderOf([spoiled, spoiled])
    expect(await runner.run(programOf(), CALL)).toMatchObject({ value: 'fine' })
    const all = loaderOf([spoiled, spoiled, spoiled])
    await expect(all.runner.run(programOf(), CALL)).rejects.toMatchObject({ code: 'unavailable' })
  })
})
