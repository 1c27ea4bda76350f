import { describe, expect, test } from 'vitest'
import { OPERATIONS, planName } from '../../bench/operations.ts'
import { emptyStock, subjects } from '../../bench/sides.ts'

const RECORDS = { policyholder: ['h1', 'h2'], policy: ['p1'] }

describe('what an operation is about', () => {
  test('is each record in turn, over and over', () => {
    const source = subjects('policyholder', RECORDS, emptyStock())
    expect([1, 2, 3].map(() => source.next().value)).toEqual(['h1', 'h2', 'h1'])
  })

  test('is a new record each time, where it makes one', () => {
    const source = subjects('new', RECORDS, emptyStock())
    expect(source.next().value).not.toBe(source.next().value)
  })

  test('is what an earlier operation left, once and in that order', () => {
    const stock = { draft: ['d1', 'd2'], finalized: [] }
    expect([...subjects('draft', RECORDS, stock)]).toEqual(['d1', 'd2'])
    expect([...subjects('draft', RECORDS, stock)]).toEqual([])
  })
})

describe('the operations', () => {
  test('have a plan of their own each, whose name needs no escape in a path', () => {
    const names = OPERATIONS.map(planName)
    expect(new Set(names).size).toBe(OPERATIONS.length)
    for (const name of names) expect(encodeURIComponent(name)).toBe(name)
  })

  test('take up only what an earlier one has left', () => {
    const left = new Set<string>()
    for (const { takes, leaves } of OPERATIONS) {
      if (takes === 'draft' || takes === 'finalized') expect(left).toContain(takes)
      if (leaves) left.add(leaves)
    }
  })
})
