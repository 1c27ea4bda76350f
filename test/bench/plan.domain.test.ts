import { describe, expect, test } from 'vitest'
import { type Batch, describePlan, type Observation, planOf } from '../../tools/bench/plan.ts'

const READ: Batch = [{ kind: 'read', rows: 12, bytes: 6_000 }]
const WRITE: Batch = [
  { kind: 'write', rows: 3, bytes: 900 },
  { kind: 'write', rows: 0, bytes: 40 },
]

const observed = (worker: Batch[], object: Batch[], objectCalls: number, answerBytes = 100): Observation => ({
  recording: { worker, object, files: [{ kind: 'put', bytes: 7 }], messages: [20] },
  objectCalls,
  answerBytes,
})

describe('The plan of an operation', () => {
  test('is that of its most common requests, so it excludes rare leases or look-ups', () => {
    const rare = observed([READ], [READ, WRITE], 2)
    const common = observed([], [READ, WRITE], 1)
    expect(planOf([rare, common, common], false)).toEqual({
      hashes: false,
      worker: [],
      object: [READ, WRITE],
      files: [{ kind: 'put', bytes: 7 }],
      messages: [20],
      answerBytes: 100,
    })
  })

  test('is that of the last of its common requests, when everything is warm', () => {
    expect(planOf([observed([READ], [], 0, 1), observed([READ], [], 0, 2)], false).answerBytes).toBe(2)
  })

  test('calls no object if the service called none', () => {
    expect(planOf([observed([READ], [], 0)], true)).toMatchObject({ hashes: true, object: undefined })
  })

  test('calls an object even if that object does not query its database', () => {
    expect(planOf([observed([], [], 1)], false).object).toEqual([])
  })

  test('needs at least one observed request', () => {
    expect(() => planOf([], false)).toThrow('No calls were recorded')
  })

  test('is described by the batches, statements and rows of the Worker and the object', () => {
    const plan = { hashes: false, worker: [READ], object: [WRITE], messages: [20], answerBytes: 1 }
    expect(describePlan(plan)).toBe(
      '2 batches, 3 statements, 12 rows read, 3 written, 0 calls to R2, 1 messages',
    )
  })
})
