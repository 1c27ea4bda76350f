// Tenant code in an isolate of its own (Dynamic Workers): one for each program, kept warm by the platform under the
// program's name. Its limits are the platform's to enforce; a runtime on one's own machine enforces none of them.
import { Refusal } from '../../kernel/errors.ts'
import { now } from '../../kernel/time.ts'
import { ISOLATE_LIMITS, LONGEST_CALL_MS } from './limits.ts'
import { type Packed, pack } from './packed.ts'
import {
  type CallOutcome,
  failed,
  type PluginProgram,
  type PluginRunner,
  readOutcome,
  SPOILED,
  tooLong,
} from './runner.ts'

/** Raised whenever the sandbox's own code makes something else of the same program. */
const SANDBOX_FORMAT = 6

type Entrypoint = { run(call: string, packed: Packed): Promise<unknown> }

/** What gives a program's isolate its code: it comes from the module apart (sandboxed.ts). */
type CodeOf = (program: PluginProgram) => WorkerLoaderWorkerCode

export const isolateRunner = (loader: WorkerLoader, codeOf: CodeOf): PluginRunner => ({
  async run(program, call, mostMs = LONGEST_CALL_MS) {
    const text = JSON.stringify({ ...call, arguments: [] })
    const packed = pack(call.arguments)
    const usual = `plugins/${SANDBOX_FORMAT}/${program.key}`
    let problem: string | undefined
    let leftMs = mostMs
    for (let tried = 0; tried < MOST_ISOLATES && leftMs > 0; tried += 1) {
      const began = now()
      const name = instead.get(usual) ?? usual
      const ending = await endingOf(loader, name, () => codeOf(program), text, packed, leftMs)
      if (ending.kind === 'answered') return ending.outcome
      if (ending.kind === 'refused') return failed({ reason: ending.problem })
      // The next call finds another isolate, whatever has become of this one.
      leave(usual, name)
      if (ending.kind === 'late') return tooLong()
      if (ending.kind === 'limit')
        return failed({ reason: `was stopped by the sandbox: ${ending.problem}`, limit: true })
      if (ending.kind === 'broken') {
        console.error(JSON.stringify({ at: 'plugin isolate', program: program.key, problem: ending.problem }))
        // A call changes nothing: once more, elsewhere. What breaks two isolates breaks every one.
        if (problem !== undefined) return failed({ reason: `was ended by the sandbox: ${ending.problem}` })
        problem = ending.problem
      }
      leftMs -= now() - began
    }
    if (problem !== undefined) return failed({ reason: `was ended by the sandbox: ${problem}` })
    throw new Refusal('unavailable', 'The sandbox of the plugin is being made again; try again.', {}, 1)
  },
})

/** Names of isolates in the place of those that are left, by the program. */
const instead = new Map<string, string>()

/** So many are remembered. */
const MOST_REMEMBERED = 1_000

/** A fresh isolate is not spoiled, unless a call at the same moment does it again. */
const MOST_ISOLATES = 3

/** The program's calls go to a fresh isolate from now on, unless another call has found the same already. */
function leave(usual: string, name: string): void {
  if ((instead.get(usual) ?? usual) !== name) return
  if (instead.size === MOST_REMEMBERED) instead.clear()
  instead.set(usual, `${usual}/${crypto.randomUUID()}`)
}

/** How a call ended. */
type Ending =
  | { readonly kind: 'answered'; readonly outcome: CallOutcome }
  /** An earlier call changed the language there for good, or no answer came in time. */
  | { readonly kind: 'spoiled' | 'late' }
  /** The platform does not take the code, ended it at a limit, or ended it in any other way. */
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
  const late = new Promise<Ending>(resolve => {
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
    return await Promise.race([answered, late])
  } catch (thrown) {
    const problem = thrown instanceof Error ? thrown.message : String(thrown)
    // As what is too large: its message says so.
    if (problem.startsWith('Failed to start Worker')) return { kind: 'refused', problem }
    return { kind: AT_LIMIT.test(problem) ? 'limit' : 'broken', problem }
  } finally {
    clearTimeout(timer)
  }
}

/** What the platform says of a Worker that it ended: for CPU time, for memory, or since no answer could come any more. */
const AT_LIMIT = /exceeded|limit|code had hung|never generate a response/i
