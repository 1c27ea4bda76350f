// Tenant code in an isolate of its own (Dynamic Workers): one for each program, kept warm by the platform under the
// program's name. Its limits are the platform's to enforce; a runtime on one's own machine enforces none of them.
import { Refusal } from '../platform/errors.ts'
import { LONGEST_CALL_MS } from './limits.ts'
import { readOutcome } from './outcome.ts'
import { pack } from './pack.ts'
import type { Packed } from './packed.ts'
import { type CallOutcome, failed, type PluginProgram, type PluginRunner, SPOILED } from './runner.ts'

/** Raised whenever the sandbox's own code makes something else of the same program. */
const SANDBOX_FORMAT = 6

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

/** Names of isolates in the place of those that are spoiled, by the program. */
const instead = new Map<string, string>()

/** So many are remembered. */
const MOST_REMEMBERED = 1_000

/** A fresh isolate is not spoiled, unless a call at the same moment does it again. */
const MOST_ISOLATES = 3

async function inIsolate(
  loader: WorkerLoader,
  codeOf: CodeOf,
  program: PluginProgram,
  call: string,
  packed: Packed,
): Promise<CallOutcome> {
  const usual = `plugins/${SANDBOX_FORMAT}/${program.key}`
  for (let tried = 0; tried < MOST_ISOLATES; tried += 1) {
    const name = instead.get(usual) ?? usual
    const worker = loader.get(name, () => codeOf(program))
    const entrypoint = worker.getEntrypoint() as unknown as Entrypoint
    const outcome = await inTime(entrypoint.run(call, packed))
    if (outcome !== SPOILED) return outcome
    // Whoever else found it so has chosen another already.
    if ((instead.get(usual) ?? usual) !== name) continue
    if (instead.size === MOST_REMEMBERED) instead.clear()
    instead.set(usual, `${usual}/${crypto.randomUUID()}`)
  }
  throw new Refusal('unavailable', 'The sandbox of the plugin is being made anew; try again.', {}, 1)
}

async function inTime(answer: Promise<unknown>): Promise<CallOutcome | typeof SPOILED> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLong = new Promise<CallOutcome>(resolve => {
    const late = failed({ reason: `takes longer than ${LONGEST_CALL_MS / 1000} seconds`, limit: true })
    timer = setTimeout(() => resolve(late), LONGEST_CALL_MS)
  })
  try {
    const read = answer.then(text => (text === SPOILED ? SPOILED : readOutcome(text)))
    return await Promise.race([read, tooLong])
  } finally {
    clearTimeout(timer)
  }
}
