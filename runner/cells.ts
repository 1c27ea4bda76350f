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
export const startCell = (onEnd: (cell: Cell) => void): Cell => new ProcessCell(onEnd)

const FLAGS = [`--max-old-space-size=${MOST_HEAP_MB}`, '--disable-warning=ExperimentalWarning']

type Waiting = { done(answer: CellAnswer): void; fail(problem: Error): void }

class ProcessCell implements Cell {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #onEnd: (cell: Cell) => void
  /** Of the programs that it keeps ready; the one used last at the end. */
  readonly #keys: string[] = []
  #waiting: Waiting | undefined
  /** Hands the call over that waits for the process to be ready. */
  #begin: (() => void) | undefined
  #isReady = false
  #isAlive = true
  #isOver = false
  #isPaused = false
  #isLowered = false
  #cpuBefore: number | undefined

  constructor(onEnd: (cell: Cell) => void) {
    this.#onEnd = onEnd
    const child = spawn(process.execPath, [...FLAGS, CELL], {
      env: {} as NodeJS.ProcessEnv,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    this.#child = child
    // A process that waits for calls keeps nobody from ending: it ends then, too.
    child.unref()
    for (const pipe of [child.stdin, child.stdout]) (pipe as unknown as Socket).unref()
    if (child.pid !== undefined) guard(child.pid)
    child.stdout.on(
      'data',
      frameReader(frame => this.#take(frame)),
    )
    // Writing to a process that has ended: `exit` says so too.
    child.stdin.on('error', () => undefined)
    child.on('error', problem => this.#over(null, problem.message))
    child.on('close', (code, name) =>
      this.#over(name === 'SIGABRT' || name === 'SIGTRAP' ? 134 : code, `${code ?? name}`),
    )
  }

  has(key: string): boolean {
    return this.#keys.includes(key)
  }

  run(key: string, program: Buffer, call: Buffer): Promise<CellAnswer> {
    return new Promise((done, fail) => {
      if (!this.#isAlive) return fail(new Error('The process has ended.'))
      this.#waiting = { done, fail }
      const isKnown = this.has(key)
      const forgotten = this.#use(key)
      const parts = [Buffer.from(key), isKnown ? Buffer.alloc(0) : program, call, Buffer.from(forgotten)]
      this.#begin = () => {
        this.#cpuBefore = cpuMsOf(this.#child.pid)
        writeFrame(this.#child.stdin, parts)
        if (this.#isLowered) lower(this.#child.pid!)
        if (this.#isPaused) signal(this.#child.pid, 'SIGSTOP')
      }
      if (this.#isReady) this.#begin()
    })
  }

  /** A process that still starts does so first: that is no work of the tenant's. */
  pause(): void {
    this.#isPaused = true
    if (this.#isReady) signal(this.#child.pid, 'SIGSTOP')
  }

  resume(): void {
    this.#isPaused = false
    signal(this.#child.pid, 'SIGCONT')
  }

  lowerPriority(): void {
    this.#isLowered = true
    if (this.#isReady) lower(this.#child.pid!)
  }

  isLowered(): boolean {
    return this.#isLowered
  }

  isAlive(): boolean {
    return this.#isAlive
  }

  callCpuMs(): number | undefined {
    if (this.#waiting && !this.#isReady) return 0
    const used = cpuMsOf(this.#child.pid)
    return used === undefined || this.#cpuBefore === undefined ? undefined : used - this.#cpuBefore
  }

  kill(): void {
    this.#isAlive = false
    this.#child.kill('SIGKILL')
  }

  /** The program that the process no longer needs to keep; empty for none. */
  #use(key: string): string {
    const keys = this.#keys
    const at = keys.indexOf(key)
    if (at >= 0) keys.splice(at, 1)
    keys.push(key)
    return keys.length > MOST_PROGRAMS ? keys.shift()! : ''
  }

  #take([ending, text]: Buffer[]): void {
    if (!ending) {
      this.#isReady = true
      this.#begin?.()
      return
    }
    const answered = this.#waiting
    this.#waiting = undefined
    this.#begin = undefined
    answered?.done({ ending: ending.toString() as CellAnswer['ending'], text: text! })
  }

  #over(code: number | null, why: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#isAlive = false
    if (this.#child.pid !== undefined) unguard(this.#child.pid)
    const unanswered = this.#waiting
    this.#waiting = undefined
    // Node ends itself when it is out of memory; a signal that it did not give itself came from outside.
    if (code !== null && this.#isReady) unanswered?.done({ ending: 'died', text: Buffer.alloc(0) })
    else unanswered?.fail(new Error(`The process ended: ${why}.`))
    this.#onEnd(this)
  }
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
