// Whose call runs when. A call begins in the quick lane. One that goes on for longer moves to the slow lane, where calls
// take turns on a bounded share of the machine: a call that takes its time holds up others like it, and no quick one.
// Each tenant has one call running; its others wait.
import { availableParallelism } from 'node:os'
import type { Cell, CellAnswer } from './cells.ts'

export type LaneSettings = {
  /** Calls in the quick lane at once, and in the slow one; of these as many run as are not paused. */
  readonly quickAtOnce: number
  readonly mostSlow: number
  readonly slowAtOnce: number
  /** How long a call stays in the quick lane. */
  readonly quickMs: number
  /** How long a slow call runs before another one has its turn. */
  readonly turnMs: number
  /** A call that was ended for its length had at least so much of the processor, or it is to be tried again. */
  readonly fairMs: number
  /** How long a tenant stays in the slow lane after a call that took long, unless a quick one comes first. */
  readonly slowForMs: number
  /** Calls that wait, of one tenant and of all; and the bytes of all that wait or run. */
  readonly mostWaitingOfTenant: number
  readonly mostWaiting: number
  readonly mostBytes: number
  /** Processes that are kept for quick calls, those that run one included; before the first call one. */
  readonly spares: number
}

export const LANES: LaneSettings = {
  quickAtOnce: 2,
  mostSlow: 4,
  slowAtOnce: Math.max(1, Math.floor(availableParallelism() / 2)),
  quickMs: 250,
  turnMs: 50,
  fairMs: 100,
  slowForMs: 60_000,
  mostWaitingOfTenant: 100,
  mostWaiting: 400,
  mostBytes: 256 * 1024 * 1024,
  spares: 3,
}

export type LaneCall = {
  readonly tenant: string
  readonly key: string
  readonly program: Buffer
  readonly body: Buffer
  /** From now on, waiting included. */
  readonly mostMs: number
}

/** `late`: it took longer than it may. `busy`: it did not have its turn, or not for long. */
export type LaneAnswer = CellAnswer | { readonly ending: 'late' | 'busy' }

type Job = {
  readonly call: LaneCall
  readonly answer: (answer: LaneAnswer) => void
  readonly deadline: NodeJS.Timeout
  cell?: Cell
  lane?: 'quick' | 'slow'
  becomesSlow?: NodeJS.Timeout
  /** Since when it runs, or it is paused; how long it has run before. */
  runsSince?: number | undefined
  ranMs: number
  /** How often it was given to a process. */
  begun: number
}

export class Lanes {
  readonly #settings: LaneSettings
  readonly #start: (onEnd: (cell: Cell) => void) => Cell
  readonly #waiting: Job[] = []
  readonly #running = new Set<Job>()
  readonly #idle: Cell[] = []
  /** Tenants whose last call was slow: until when that counts, and whether it had to be ended. */
  readonly #slowTenants = new Map<string, { until: number; wasEnded: boolean }>()
  #bytes = 0
  #turns: NodeJS.Timeout | undefined
  #isClosed = false
  #wasCalled = false

  constructor(start: (onEnd: (cell: Cell) => void) => Cell, settings: Partial<LaneSettings> = {}) {
    this.#start = start
    this.#settings = { ...LANES, ...settings }
    this.#keepSpares()
  }

  /** Carries the call out in its turn. `abandoned` aborts when nobody waits for the answer any more. */
  run(call: LaneCall, abandoned?: AbortSignal): Promise<LaneAnswer> {
    const { mostWaiting, mostWaitingOfTenant, mostBytes } = this.#settings
    const ofTenant = this.#waiting.filter(one => one.call.tenant === call.tenant).length
    const isFull =
      this.#waiting.length >= mostWaiting ||
      ofTenant >= mostWaitingOfTenant ||
      this.#bytes + call.body.length > mostBytes
    if (isFull || this.#isClosed) return Promise.resolve({ ending: 'busy' })
    this.#wasCalled = true
    this.#bytes += call.body.length
    return new Promise(resolve => {
      let isAnswered = false
      const job: Job = {
        call,
        ranMs: 0,
        begun: 0,
        deadline: setTimeout(() => this.#end(job), call.mostMs),
        answer: answer => {
          if (isAnswered) return
          isAnswered = true
          clearTimeout(job.deadline)
          this.#bytes -= call.body.length
          resolve(answer)
        },
      }
      abandoned?.addEventListener('abort', () => !isAnswered && this.#end(job), { once: true })
      this.#waiting.push(job)
      this.#admit()
    })
  }

  /** Ends every process; what waits is answered that it was busy. */
  close(): void {
    this.#isClosed = true
    for (const job of this.#waiting.splice(0)) job.answer({ ending: 'busy' })
    for (const job of [...this.#running]) this.#stop(job, { ending: 'busy' })
    for (const cell of this.#idle.splice(0)) cell.kill()
  }

  /** Starts whatever may run now, in the order in which it came. */
  #admit(): void {
    for (let at = 0; at < this.#waiting.length; ) {
      const job = this.#waiting[at]!
      const lane = this.#laneFor(job.call.tenant)
      const most = lane === 'slow' ? this.#settings.mostSlow : this.#settings.quickAtOnce
      const isTurn = !this.#runs(job.call.tenant) && this.#in(lane).length < most
      if (!isTurn) at += 1
      else {
        this.#waiting.splice(at, 1)
        this.#begin(job, lane)
      }
    }
  }

  #begin(job: Job, lane: 'quick' | 'slow'): void {
    const { tenant, key, program, body } = job.call
    const cell = this.#takeCell(key, lane)
    job.cell = cell
    job.begun += 1
    job.lane = lane
    job.runsSince = performance.now()
    this.#running.add(job)
    if (lane === 'quick') this.#watch(job, this.#settings.quickMs)
    else if (this.#slowTenants.get(tenant)?.wasEnded) cell.lowerPriority()
    cell.run(key, program, body).then(
      answer => this.#finish(job, answer),
      (problem: unknown) => {
        if (!this.#running.has(job)) return
        console.error(JSON.stringify({ at: 'plugin cell', problem: String(problem) }))
        this.#repeat(job)
      },
    )
    if (lane === 'slow') this.#takeTurns()
  }

  /**
   * Begins the call again in another process, where the one that it was given had ended from outside: a call leaves nothing behind.
   * The spare processes may all have ended at that moment.
   */
  #repeat(job: Job): void {
    if (job.begun > this.#settings.spares) {
      this.#stop(job, { ending: 'busy' })
      return
    }
    clearTimeout(job.becomesSlow)
    this.#running.delete(job)
    job.cell!.kill()
    this.#waiting.unshift(job)
    this.#goOn()
  }

  /**
   * Looks in so many milliseconds whether the call is slow: what waits for a processor on a busy machine is not. Where others wait
   * for its place, it goes all the same, and nothing is held against its tenant.
   */
  #watch(job: Job, ms: number): void {
    job.becomesSlow = setTimeout(() => {
      const left = this.#settings.quickMs - this.#used(job)
      if (left <= 0) this.#markSlow(job.call.tenant, false)
      if (left <= 0 || (this.#isWaitedFor() && this.#in('slow').length < this.#settings.mostSlow))
        this.#slowDown(job)
      else this.#watch(job, Math.min(left, this.#settings.turnMs))
    }, ms)
  }

  /** Whether a call waits for the quick lane alone. */
  #isWaitedFor(): boolean {
    return this.#waiting.some(
      ({ call: { tenant } }) => !this.#runs(tenant) && this.#laneFor(tenant) === 'quick',
    )
  }

  /** Moves a call to the slow lane. Where that is full, one goes whose tenant had a call ended before. */
  #slowDown(job: Job): void {
    const { mostSlow } = this.#settings
    const slow = this.#in('slow')
    if (slow.length >= mostSlow) {
      const worst = slow.filter(one => this.#slowTenants.get(one.call.tenant)?.wasEnded)
      this.#stop(worst.sort((a, b) => this.#ran(b) - this.#ran(a))[0] ?? job, { ending: 'busy' })
    }
    if (!this.#running.has(job)) return
    job.lane = 'slow'
    this.#takeTurns()
    this.#keepSpares()
    this.#admit()
  }

  /** Lets those slow calls run that have run the least; of tenants whose calls had to be ended, after all others. */
  #takeTurns(): void {
    clearTimeout(this.#turns)
    this.#turns = undefined
    const { slowAtOnce, turnMs } = this.#settings
    const slow = this.#in('slow')
    const classOf = (job: Job): number => (this.#slowTenants.get(job.call.tenant)?.wasEnded ? 1 : 0)
    slow.sort((a, b) => classOf(a) - classOf(b) || this.#ran(a) - this.#ran(b))
    for (const job of slow.slice(slowAtOnce)) {
      if (job.runsSince === undefined) continue
      job.ranMs = this.#ran(job)
      job.runsSince = undefined
      job.cell!.pause()
    }
    for (const job of slow.slice(0, slowAtOnce)) {
      if (job.runsSince !== undefined) continue
      job.runsSince = performance.now()
      job.cell!.resume()
    }
    if (slow.length > slowAtOnce) this.#turns = setTimeout(() => this.#takeTurns(), turnMs)
  }

  #finish(job: Job, answer: CellAnswer): void {
    if (!this.#running.has(job)) return
    const isQuick = this.#used(job) <= this.#settings.quickMs
    const cell = this.#leave(job)
    const isLost = answer.ending === 'broken' || answer.ending === 'died'
    if (isLost || !isQuick) this.#markSlow(job.call.tenant, answer.ending !== 'done')
    // Its tenant is one like the others again.
    else if (answer.ending === 'done') this.#slowTenants.delete(job.call.tenant)
    if (isLost) cell.kill()
    else this.#giveBack(cell)
    job.answer(answer)
    this.#goOn()
  }

  /** Ends a call that took too long, waits for too long, or that nobody waits for. */
  #end(job: Job): void {
    const at = this.#waiting.indexOf(job)
    if (at >= 0) {
      this.#waiting.splice(at, 1)
      job.answer({ ending: 'busy' })
      return
    }
    if (!this.#running.has(job)) return
    const used = this.#used(job)
    if (used >= this.#settings.fairMs) this.#markSlow(job.call.tenant, true)
    this.#stop(job, { ending: used >= this.#settings.fairMs ? 'late' : 'busy' })
  }

  #stop(job: Job, answer: LaneAnswer): void {
    if (!this.#running.has(job)) return
    this.#leave(job).kill()
    job.answer(answer)
    this.#goOn()
  }

  #leave(job: Job): Cell {
    clearTimeout(job.becomesSlow)
    clearTimeout(job.deadline)
    this.#running.delete(job)
    return job.cell!
  }

  #goOn(): void {
    if (this.#isClosed) return
    this.#takeTurns()
    this.#admit()
    this.#keepSpares()
  }

  /** A slow call leaves the spare processes to the quick ones. */
  #takeCell(key: string, lane: 'quick' | 'slow'): Cell {
    if (lane === 'slow' && this.#spare <= this.#settings.quickAtOnce) return this.#newCell()
    const known = this.#idle.findIndex(cell => cell.has(key))
    const [cell] = this.#idle.splice(Math.max(known, 0), 1)
    return cell ?? this.#newCell()
  }

  #giveBack(cell: Cell): void {
    if (this.#isClosed || cell.isLowered() || !cell.isAlive() || this.#spare >= this.#settings.spares)
      cell.kill()
    else this.#idle.unshift(cell)
  }

  #newCell(): Cell {
    return this.#start(ended => {
      const at = this.#idle.indexOf(ended)
      if (at < 0) return
      this.#idle.splice(at, 1)
      // Not at once: where processes cannot be started at all, trying is all that would be done.
      setTimeout(() => this.#keepSpares(), RESTART_MS).unref()
    })
  }

  #keepSpares(): void {
    const wanted = this.#wasCalled ? this.#settings.spares : 1
    while (!this.#isClosed && this.#spare < wanted) this.#idle.push(this.#newCell())
  }

  /** Processes for calls to come: those of quick calls are given back in a moment. To start one takes longer than most calls. */
  get #spare(): number {
    return this.#idle.length + this.#in('quick').length
  }

  #in(lane: 'quick' | 'slow'): Job[] {
    return [...this.#running].filter(job => job.lane === lane)
  }

  #runs(tenant: string): boolean {
    return [...this.#running].some(job => job.call.tenant === tenant)
  }

  /** What the call has had of the processor. */
  #used(job: Job): number {
    return job.cell!.callCpuMs() ?? this.#ran(job)
  }

  #ran({ ranMs, runsSince }: Job): number {
    return ranMs + (runsSince === undefined ? 0 : performance.now() - runsSince)
  }

  /** Where a call of the tenant begins. Only one whose last call had to be ended waits for the slow lane. */
  #laneFor(tenant: string): 'quick' | 'slow' {
    const known = this.#slowTenants.get(tenant)
    if (!known) return 'quick'
    if (known.until < performance.now()) {
      this.#slowTenants.delete(tenant)
      return 'quick'
    }
    return known.wasEnded || this.#in('slow').length < this.#settings.mostSlow ? 'slow' : 'quick'
  }

  #markSlow(tenant: string, isEnded: boolean): void {
    const wasEnded = isEnded || (this.#slowTenants.get(tenant)?.wasEnded ?? false)
    this.#slowTenants.delete(tenant)
    this.#slowTenants.set(tenant, { until: performance.now() + this.#settings.slowForMs, wasEnded })
    if (this.#slowTenants.size > MOST_REMEMBERED)
      this.#slowTenants.delete(this.#slowTenants.keys().next().value!)
  }
}

/** Tenants that are remembered. */
const MOST_REMEMBERED = 10_000

/** How long after a spare process ended by itself another one is started. */
const RESTART_MS = 200
