import { describe, expect, it } from 'vitest'
import { type LoadFigures, latencyRatio, problemsOf } from '../../tools/bench/load-run/report.ts'
import type { Sample } from '../../tools/bench/load-run/samples.ts'

const before = { from: 0, to: 60_000 }
const burst = { from: 60_000, to: 70_000 }
const after = { from: 80_000, to: 140_000 }

const asked = (count: number, from: number, kind: string, latencyMs: number): Sample[] =>
  Array.from({ length: count }, (_, at) => ({ kind, at: from + at, latencyMs, status: 200 }))

/** A minute of 60 requests, a burst at ten times that rate, and a minute like the first. */
const figures = (samples: readonly Sample[], changes: Partial<LoadFigures> = {}): LoadFigures => ({
  tenants: 1,
  users: 1,
  minutes: 1,
  failures: [],
  before,
  burst,
  after,
  drainedMs: 0,
  delivered: 0,
  worstBacklog: { deliveries: 0, documents: 0, timers: 0 },
  book: { policies: 1, transactions: 1, events: 0, bytes: 1, failedDeliveries: 0, toDeliver: new Set() },
  heapMb: { before: undefined, after: undefined },
  samples,
  ...changes,
})
const usual = [...asked(50, 0, 'price', 20), ...asked(10, 100, 'endorse', 100)]
const tenfold = asked(100, 60_000, 'price', 5_000)

describe('A load run', () => {
  it('passes when the burst was ten times the usual rate and latency returned to within 1.5 times', () => {
    expect(problemsOf(figures([...usual, ...tenfold, ...asked(60, 80_000, 'price', 29)]))).toEqual([])
  })

  it('fails when fewer requests were sent in the burst', () => {
    const few = figures([...usual, ...tenfold.slice(0, 94), ...asked(60, 80_000, 'price', 20)])
    expect(problemsOf(few)).toEqual(['the burst had only 9.4 times as many requests as usual'])
  })

  it('fails when latency stays above 1.5 times the usual, or was not measured', () => {
    const slow = figures([...usual, ...tenfold, ...asked(60, 80_000, 'price', 31)])
    expect(problemsOf(slow)).toEqual([
      'latency did not return to its value before the burst: 1.55 times (at most 1.5)',
    ])
    expect(problemsOf(figures([...usual, ...tenfold]))).toEqual([
      'there are no responses from which to compute the latency before or after the burst',
    ])
  })

  it('compares each response with the usual latency of its own kind', () => {
    const other = figures([...usual, ...tenfold, ...asked(60, 80_000, 'endorse', 110)])
    expect(latencyRatio(other)).toBeCloseTo(1.1)
    expect(problemsOf(other)).toEqual([])
  })

  it('fails when a response was wrong, an event did not arrive or a delivery was given up', () => {
    const good = [...usual, ...tenfold, ...asked(60, 80_000, 'price', 20)]
    const failures = [{ call: 'GET /', status: 503, text: '' }]
    const book = { ...figures([]).book, toDeliver: new Set(['one', 'two']), failedDeliveries: 1 }
    expect(problemsOf(figures(good, { failures, book, delivered: 1 }))).toEqual([
      '1 responses were neither 2xx nor 429',
      '1 events did not arrive',
      '1 deliveries were given up',
    ])
  })
})
