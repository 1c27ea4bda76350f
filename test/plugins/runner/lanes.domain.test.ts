// The order in which calls run, with processes that only let time pass.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Cell, CellAnswer } from '../../../runner/cells.ts'
import { type LaneCall, type LaneSettings, Lanes } from '../../../runner/lanes.ts'

/** A process whose call takes as many milliseconds as its body says, without the time for which it is paused. */
class IdleCell implements Cell {
  isLow = false
  isDead = false
  isPaused = false
  ranMs = 0
  left = 0
  done: ((answer: CellAnswer) => void) | undefined
  timer: NodeJS.Timeout | undefined

  has = () => false
  isLowered = () => this.isLow
  isAlive = () => !this.isDead
  callCpuMs = () => this.ranMs
  lowerPriority = () => {
    this.isLow = true
  }
  pause = () => {
    this.isPaused = true
  }
  resume = () => {
    this.isPaused = false
  }
  kill = () => {
    this.isDead = true
    clearInterval(this.timer)
  }

  run(_key: string, _program: Buffer, call: Buffer): Promise<CellAnswer> {
    this.left = Number(call.toString())
    this.ranMs = 0
    return new Promise(done => {
      this.timer = setInterval(() => {
        if (this.isPaused) return
        this.ranMs += 10
        if (this.ranMs < this.left) return
        clearInterval(this.timer)
        done({ ending: 'done', text: Buffer.from('fine') })
      }, 10)
    })
  }
}

const FOR_EVER = 1e9

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

/** Returns lanes with one slow call at a time, as on two cores. */
function lanesOf(settings: Partial<LaneSettings> = {}) {
  const cells: IdleCell[] = []
  const lanes = new Lanes(
    () => {
      const cell = new IdleCell()
      cells.push(cell)
      return cell
    },
    { slowAtOnce: 1, ...settings },
  )
  /** Returns how the call of the tenant ended, and after how long. */
  const run = async (tenant: string, ms: number, more: Partial<LaneCall> = {}) => {
    const began = performance.now()
    const body = Buffer.from(String(ms))
    const program = Buffer.alloc(0)
    const { ending } = await lanes.run({ tenant, key: tenant, program, body, mostMs: 4_200, ...more })
    return { ending, ms: performance.now() - began }
  }
  return { cells, run, lanes }
}

describe('the lanes of the plugin runner', () => {
  it('end a call at its time limit, and start another process in its place', async () => {
    const { cells, run } = lanesOf()
    const hostile = run('a', FOR_EVER)
    await vi.advanceTimersByTimeAsync(4_300)
    expect(await hostile).toEqual({ ending: 'late', ms: 4_200 })
    expect(cells.filter(cell => cell.isDead).length).toBe(1)
    const next = run('b', 20)
    await vi.advanceTimersByTimeAsync(100)
    expect((await next).ending).toBe('done')
  })

  it('let quick calls pass immediately while four tenants have endless calls', async () => {
    const { run } = lanesOf()
    for (let round = 0; round < 3; round += 1) {
      const hostile = ['a', 'b', 'c', 'd'].map(tenant => run(tenant, FOR_EVER))
      // At first no tenant is known: they have the two quick places for 250 ms, twice.
      await vi.advanceTimersByTimeAsync(round === 0 ? 600 : 10)
      for (let n = 0; n < 5; n += 1) {
        const quick = run('neighbour', 20)
        await vi.advanceTimersByTimeAsync(50)
        expect((await quick).ms).toBeLessThanOrEqual(30)
      }
      await vi.advanceTimersByTimeAsync(5_000)
      expect((await Promise.all(hostile)).map(({ ending }) => ending)).toEqual(Array(4).fill('late'))
    }
  })

  it('run one slow call at a time on two cores, while the others are paused and take turns', async () => {
    const { cells, run } = lanesOf()
    const all = ['a', 'b', 'c'].map(tenant => run(tenant, FOR_EVER))
    await vi.advanceTimersByTimeAsync(1_000)
    for (let at = 0; at < 20; at += 1) {
      await vi.advanceTimersByTimeAsync(50)
      expect(cells.filter(cell => cell.ranMs > 0 && !cell.isPaused).length).toBe(1)
    }
    const ran = cells.filter(cell => cell.ranMs > 0).map(cell => cell.ranMs)
    expect(Math.max(...ran) - Math.min(...ran)).toBeLessThanOrEqual(150)
    await vi.advanceTimersByTimeAsync(5_000)
    await Promise.all(all)
  })

  it('run a slow call of a tenant that did no harm before those of tenants that did', async () => {
    const { run } = lanesOf()
    const first = ['a', 'b', 'c'].map(tenant => run(tenant, FOR_EVER))
    await vi.advanceTimersByTimeAsync(5_000)
    await Promise.all(first)
    const again = ['a', 'b', 'c'].map(tenant => run(tenant, FOR_EVER))
    const heavy = run('fleet', 2_000)
    await vi.advanceTimersByTimeAsync(5_000)
    const { ending, ms } = await heavy
    expect([ending, ms < 2_100]).toEqual(['done', true])
    await Promise.all(again)
  })

  it('keep one process until the first call, and then the configured number of processes', async () => {
    const { cells, run } = lanesOf({ spares: 3 })
    expect(cells).toHaveLength(1)
    const call = run('first', 20)
    await vi.advanceTimersByTimeAsync(30)
    expect((await call).ending).toBe('done')
    const alive = cells.filter(cell => !cell.isDead)
    expect(alive.length).toBeGreaterThanOrEqual(3)
  })

  it('start no further process for 40 concurrent quick calls', async () => {
    const { cells, run } = lanesOf({ spares: 3 })
    await vi.advanceTimersByTimeAsync(10)
    const calls = Array.from({ length: 40 }, (_, at) => run(`tenant ${at % 5}`, 20))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(new Set((await Promise.all(calls)).map(({ ending }) => ending))).toEqual(new Set(['done']))
    expect(cells).toHaveLength(3)
    expect(cells.filter(cell => cell.isDead)).toEqual([])
  })

  it('keep processes for quick calls while slow ones run', async () => {
    const { cells, run, lanes } = lanesOf({ spares: 3 })
    const slow = ['a', 'b'].map(tenant => run(tenant, 3_000))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(cells).toHaveLength(5)
    for (let n = 0; n < 5; n += 1) {
      const quick = ['c', 'd'].map(tenant => run(tenant, 20))
      await vi.advanceTimersByTimeAsync(50)
      expect((await Promise.all(quick)).map(({ ending }) => ending)).toEqual(['done', 'done'])
    }
    expect(cells).toHaveLength(5)
    await vi.advanceTimersByTimeAsync(6_000)
    await Promise.all(slow)
    expect(cells.filter(cell => !cell.isDead)).toHaveLength(3)
    lanes.close()
    expect(cells.filter(cell => !cell.isDead)).toEqual([])
  })

  it('make room for a call that waits for the quick lane, even if a busy computer gives each call little time', async () => {
    const { cells, run } = lanesOf()
    const starved = ['a', 'b', 'c'].map(tenant => run(tenant, FOR_EVER))
    const starve = () => {
      for (const cell of cells) cell.callCpuMs = () => 10
    }
    starve()
    await vi.advanceTimersByTimeAsync(250)
    const quick = run('neighbour', 20)
    await vi.advanceTimersByTimeAsync(300)
    starve()
    const { ending, ms } = await quick
    expect([ending, ms < 300]).toEqual(['done', true])
    await vi.advanceTimersByTimeAsync(5_000)
    // They had less than their share, so they can be tried again.
    expect((await Promise.all(starved)).map(one => one.ending)).toEqual(['busy', 'busy', 'busy'])
  })

  it('run one call of a tenant at a time, and lift its low priority once a quick call succeeded', async () => {
    const { cells, run } = lanesOf()
    const calls = [run('a', FOR_EVER), run('a', 10, { mostMs: 10_000 }), run('b', 10)]
    await vi.advanceTimersByTimeAsync(100)
    expect(cells.filter(cell => cell.ranMs > 10).length).toBe(1)
    await vi.advanceTimersByTimeAsync(6_000)
    const [late, waited, other] = await Promise.all(calls)
    expect([late!.ending, waited!.ending, other!.ending]).toEqual(['late', 'done', 'done'])
    expect(waited!.ms).toBeGreaterThanOrEqual(4_200)
    // It ran at low priority, so its process is not used again. The next one is an ordinary process.
    expect(cells.filter(cell => cell.isLow).map(cell => cell.isDead)).toEqual([true])
    const next = run('a', 10)
    await vi.advanceTimersByTimeAsync(100)
    expect((await next).ending).toBe('done')
    expect(cells.filter(cell => cell.isLow).length).toBe(1)
  })

  it('answer immediately that they are busy if one tenant or all together have too many calls or bytes', async () => {
    const { run } = lanesOf({ mostWaitingOfTenant: 2, mostWaiting: 3, mostBytes: 60 })
    const hostile = [1, 2, 3].map(() => run('a', FOR_EVER))
    expect(await run('a', 10)).toEqual({ ending: 'busy', ms: 0 })
    const other = run('b', 10)
    // Each body has 10 bytes or more. This one would exceed the limit.
    expect(await run('c', 10, { body: Buffer.from('1'.padStart(60)) })).toEqual({ ending: 'busy', ms: 0 })
    await vi.advanceTimersByTimeAsync(20_000)
    expect((await other).ending).toBe('done')
    // Those that got no turn were not at fault.
    expect((await Promise.all(hostile)).map(({ ending }) => ending)).toEqual(['late', 'busy', 'busy'])
    // Calls that were answered no longer take up room.
    const large = run('c', 10, { body: Buffer.from('1'.padStart(60)) })
    await vi.advanceTimersByTimeAsync(1_000)
    expect((await large).ending).toBe('done')
  })

  it('end a call that nobody waits for any more', async () => {
    const { cells, lanes } = lanesOf()
    const abandoned = new AbortController()
    const [body, program] = [Buffer.from(String(FOR_EVER)), Buffer.alloc(0)]
    const call = { tenant: 'a', key: 'a', program, body, mostMs: 4_200 }
    const ended = lanes.run(call, abandoned.signal)
    await vi.advanceTimersByTimeAsync(500)
    abandoned.abort()
    await ended
    expect(cells.filter(cell => cell.isDead).length).toBe(1)
  })
})
