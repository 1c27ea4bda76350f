// Tenant code in an isolate of its own (Dynamic Workers): one for each program, kept warm by the platform under the
// program's name. Its limits are the platform's to enforce; a runtime on one's own machine enforces none of them.
import { Refusal } from '../platform/errors.ts'
import { LONGEST_CALL_MS } from './limits.ts'
import { readOutcome } from './outcome.ts'
import { pack } from './pack.ts'
import type { Packed } from './packed.ts'
import { type CallOutcome, failed, type PluginProgram, type PluginRunner } from './runner.ts'

/** Raised whenever the sandbox's own code makes something else of the same program. */
const SANDBOX_FORMAT = 3

type Entrypoint = { run(call: string, packed: Packed): Promise<unknown> }

/** What gives a program's isolate its code: it comes from the module apart (sandboxed.ts). */
type CodeOf = (program: PluginProgram) => WorkerLoaderWorkerCode

export const isolateRunner = (loader: WorkerLoader, codeOf: CodeOf): PluginRunner => ({
  async run(program, call) {
    const text = JSON.stringify({ ...call, arguments: [] })
    const packed = pack(call.arguments)
    try {
      return await inIsolate(loader, codeOf, program, text, packed)
    } catch (problem) {
      const message = problem instanceof Error ? problem.message : String(problem)
      // As what is too large: its message says so.
      if (message.startsWith('Failed to start Worker')) return failed({ reason: message })
      if (/exceeded|limit/i.test(message))
        return failed({ reason: `was stopped by the sandbox: ${message}`, limit: true })
      console.error(JSON.stringify({ at: 'plugin isolate', program: program.key, problem: message }))
      throw new Refusal('unavailable', 'The sandbox of the plugin does not answer; try again.', {}, 1)
    }
  },
})

async function inIsolate(
  loader: WorkerLoader,
  codeOf: CodeOf,
  program: PluginProgram,
  call: string,
  packed: Packed,
): Promise<CallOutcome> {
  const worker = loader.get(`plugins/${SANDBOX_FORMAT}/${program.key}`, () => codeOf(program))
  const entrypoint = worker.getEntrypoint() as unknown as Entrypoint
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLong = new Promise<CallOutcome>(resolve => {
    const late = failed({ reason: `takes longer than ${LONGEST_CALL_MS / 1000} seconds`, limit: true })
    timer = setTimeout(() => resolve(late), LONGEST_CALL_MS)
  })
  try {
    return await Promise.race([entrypoint.run(call, packed).then(readOutcome), tooLong])
  } finally {
    clearTimeout(timer)
  }
}
