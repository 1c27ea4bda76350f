// Runs tenant code in isolates (Dynamic Workers), one per program; the platform keeps them warm by name. The platform enforces the
// limits of an isolate; a local runtime enforces none.
import { Refusal } from '../../../kernel/errors.ts'
import { now } from '../../../kernel/time.ts'
import { ISOLATE_LIMITS, LONGEST_CALL_MS } from './limits.ts'
import { type Packed, pack } from './packing.ts'
import {
  type CallOutcome,
  failed,
  type PluginProgram,
  type PluginRunner,
  readOutcome,
  SPOILED,
  timeoutOutcome,
} from './runner.ts'

/** Part of every isolate's name. Raise it when a change of the sandbox's own code changes how a program runs. */
const SANDBOX_FORMAT = 8

type Entrypoint = { run(call: string, packed: Packed): Promise<unknown> }

type CodeOf = (program: PluginProgram) => WorkerLoaderWorkerCode

/** Runs plugins in isolates of Cloudflare's loader. A call whose isolate broke is repeated once in another one. */
export const isolateRunner = (loader: WorkerLoader, codeOf: CodeOf): PluginRunner => ({
  async run(program, call, mostMs = LONGEST_CALL_MS) {
    const text = JSON.stringify({ ...call, arguments: [] })
    const packed = pack(call.arguments)
    const usual = `plugins/${SANDBOX_FORMAT}/${program.key}`
    let problem: string | undefined
    let leftMs = mostMs
    for (let tried = 0; tried < MOST_ISOLATES && leftMs > 0; tried += 1) {
      const began = now()
      const name = replacements.get(usual) ?? usual
      const ending = await endingOf(loader, name, () => codeOf(program), text, packed, leftMs)
      if (ending.kind === 'answered') return ending.outcome
      if (ending.kind === 'refused') return failed({ reason: ending.problem })
      replaceIsolate(usual, name)
      if (ending.kind === 'late') return timeoutOutcome(mostMs)
      if (ending.kind === 'limit')
        return failed({ reason: `was stopped by the sandbox: ${ending.problem}`, limit: true })
      if (ending.kind === 'broken') {
        console.error(JSON.stringify({ at: 'plugin isolate', program: program.key, problem: ending.problem }))
        // A call has no side effects, so another isolate can repeat it. A program that breaks two isolates would break every one.
        if (problem !== undefined) return failed({ reason: `was ended by the sandbox: ${ending.problem}` })
        problem = ending.problem
      }
      leftMs -= now() - began
    }
    if (problem !== undefined) return failed({ reason: `was ended by the sandbox: ${problem}` })
    throw new Refusal('unavailable', 'The sandbox of the plugin is restarting; try again.', {}, 1)
  },
})

/** The names of the isolates that replaced abandoned ones, by program. */
const replacements = new Map<string, string>()

const MOST_REMEMBERED = 1_000

/** A fresh isolate is usable unless a simultaneous call spoils it too. */
const MOST_ISOLATES = 3

/** Sends the program's calls to a fresh isolate from now on, unless another call has done so already. */
function replaceIsolate(usual: string, name: string): void {
  if ((replacements.get(usual) ?? usual) !== name) return
  if (replacements.size === MOST_REMEMBERED) replacements.clear()
  replacements.set(usual, `${usual}/${crypto.randomUUID()}`)
}

type Ending =
  | { readonly kind: 'answered'; readonly outcome: CallOutcome }
  /** An earlier call changed the language there irreversibly, or no answer came in time. */
  | { readonly kind: 'spoiled' | 'late' }
  /** The platform rejected the code, stopped it at a limit, or stopped it for another reason. */
  | { readonly kind: 'refused' | 'limit' | 'broken'; readonly problem: string }

async function endingOf(
  loader: WorkerLoader,
  name: string,
  code: () => WorkerLoaderWorkerCode,
  call: string,
  packed: Packed,
  mostMs: number,
): Promise<Ending> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<Ending>(resolve => {
    timer = setTimeout(() => resolve({ kind: 'late' }), mostMs)
  })
  try {
    const worker = loader.get(name, code)
    const options = { limits: ISOLATE_LIMITS } as WorkerStubEntrypointOptions
    const entrypoint = worker.getEntrypoint(undefined, options) as unknown as Entrypoint
    const answered = entrypoint
      .run(call, packed)
      .then(
        (text): Ending =>
          text === SPOILED ? { kind: 'spoiled' } : { kind: 'answered', outcome: readOutcome(text) },
      )
    return await Promise.race([answered, timeout])
  } catch (thrown) {
    const problem = thrown instanceof Error ? thrown.message : String(thrown)
    // For example because the code is too large; the message gives the reason.
    if (problem.startsWith('Failed to start Worker')) return { kind: 'refused', problem }
    return { kind: AT_LIMIT.test(problem) ? 'limit' : 'broken', problem }
  } finally {
    clearTimeout(timer)
  }
}

/** Matches the platform's messages for a Worker stopped for CPU time, for memory, or because it could no longer answer. */
const AT_LIMIT = /exceeded|limit|code had hung|never generate a response/i
