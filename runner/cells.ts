// Processes for tenant code, seen from outside: each is given one call at a time, and can be paused and ended.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { frameReader, writeFrame } from './frames.ts'
import { guard, unguard } from './guard.ts'

/** Built by scripts/bundles.ts; a clean clone that was never started has the source alone. */
const BUNDLE = join(import.meta.dirname, 'cell.bundle.mjs')
const CELL = existsSync(BUNDLE) ? BUNDLE : join(import.meta.dirname, 'cell.ts')

/** Of V8: texts on their way in and out. The tenant's own memory lies in the interpreter's, which is bounded too. */
const MOST_HEAP_MB = 256

/** Programs that a cell keeps ready. */
const MOST_PROGRAMS = 6

/** A tick of the processor's time, as /proc counts it. */
const TICK_MS = 10

/** How much less of a busy processor a tenant gets whose last call had to be ended. */
const LOW_PRIORITY = 10

/** The outcome as JSON; `stopped` where the interpreter stopped the call, `died` where the process ended by itself. */
export type CellAnswer = { readonly ending: 'done' | 'stopped' | 'broken' | 'died'; readonly text: Buffer }

export type Cell = {
  /** Whether it has the program ready. */
  has(key: string): boolean
  /** Carries a call out. Rejects when the process is ended from outside. */
  run(key: string, program: Buffer, call: Buffer): Promise<CellAnswer>
  pause(): void
  resume(): void
  /** For the rest of its life. */
  lowerPriority(): void
  isLowered(): boolean
  isAlive(): boolean
  /** Processor time that its call has used so far, in milliseconds; undefined where the machine does not say. */
  callCpuMs(): number | undefined
  kill(): void
}

/** Starts a process with nothing in its environment. `onEnd` is called once, however it ends. */
export function startCell(onEnd: (cell: Cell) => void): Cell {
  const flags = [`--max-old-space-size=${MOST_HEAP_MB}`, '--disable-warning=ExperimentalWarning']
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(process.execPath, [...flags, CELL], {
    env: {} as NodeJS.ProcessEnv,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  // A process that waits for calls keeps nobody from ending: it ends then, too.
  child.unref()
  for (const pipe of [child.stdin, child.stdout]) (pipe as unknown as Socket).unref()
  if (child.pid !== undefined) guard(child.pid)
  const keys: string[] = []
  let waiting: { done(answer: CellAnswer): void; fail(problem: Error): void } | undefined
  let isReady = false
  let isAlive = true
  let isPaused = false
  let isLowered = false
  let cpuBefore: number | undefined
  let begin: (() => void) | undefined

  const cell: Cell = {
    has: key => keys.includes(key),
    run: (key, program, call) =>
      new Promise((done, fail) => {
        if (!isAlive) return fail(new Error('The process has ended.'))
        waiting = { done, fail }
        const isKnown = keys.includes(key)
        if (isKnown) keys.splice(keys.indexOf(key), 1)
        keys.push(key)
        const forgotten = keys.length > MOST_PROGRAMS ? keys.shift()! : ''
        const parts = [Buffer.from(key), isKnown ? Buffer.alloc(0) : program, call, Buffer.from(forgotten)]
        begin = () => {
          cpuBefore = cpuMsOf(child.pid)
          writeFrame(child.stdin, parts)
          if (isLowered) lower(child.pid!)
          if (isPaused) signal(child.pid, 'SIGSTOP')
        }
        if (isReady) begin()
      }),
    // A process that still starts does so first: that is no work of the tenant's.
    pause() {
      isPaused = true
      if (isReady) signal(child.pid, 'SIGSTOP')
    },
    resume() {
      isPaused = false
      signal(child.pid, 'SIGCONT')
    },
    lowerPriority() {
      isLowered = true
      if (isReady) lower(child.pid!)
    },
    isLowered: () => isLowered,
    isAlive: () => isAlive,
    callCpuMs() {
      if (waiting && !isReady) return 0
      const used = cpuMsOf(child.pid)
      return used === undefined || cpuBefore === undefined ? undefined : used - cpuBefore
    },
    kill() {
      isAlive = false
      child.kill('SIGKILL')
    },
  }

  const take = ([ending, text]: Buffer[]): void => {
    if (!ending) {
      isReady = true
      begin?.()
      return
    }
    const answered = waiting
    waiting = undefined
    begin = undefined
    answered?.done({ ending: ending.toString() as CellAnswer['ending'], text: text! })
  }
  child.stdout.on('data', frameReader(take))
  // Writing to a process that has ended: `exit` says so too.
  child.stdin.on('error', () => undefined)
  let isOver = false
  const over = (code: number | null, why: string): void => {
    if (isOver) return
    isOver = true
    isAlive = false
    if (child.pid !== undefined) unguard(child.pid)
    const unanswered = waiting
    waiting = undefined
    // Node ends itself when it is out of memory; a signal that it did not give itself came from outside.
    if (code !== null && isReady) unanswered?.done({ ending: 'died', text: Buffer.alloc(0) })
    else unanswered?.fail(new Error(`The process ended: ${why}.`))
    onEnd(cell)
  }
  child.on('error', problem => over(null, problem.message))
  child.on('close', (code, name) =>
    over(name === 'SIGABRT' || name === 'SIGTRAP' ? 134 : code, `${code ?? name}`),
  )
  return cell
}

function lower(pid: number): void {
  try {
    setPriority(pid, LOW_PRIORITY)
  } catch {
    // It has ended meanwhile.
  }
}

function signal(pid: number | undefined, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, name)
  } catch {
    // It has ended meanwhile.
  }
}

function cpuMsOf(pid: number | undefined): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // After the name, which may have spaces: user time is the 12th, system time the 13th.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    return undefined
  }
}
