import { describe, expect, test } from 'vitest'
import { OPERATIONS, type Operation, planName } from '../../tools/bench/operations.ts'
import { emptyStock, type Side, subjects } from '../../tools/bench/sides.ts'

const SIDE = {
  records: { policyholder: ['h1', 'h2'], policy: ['p1'], largePolicy: ['l1'], constrained: ['q1~e1'] },
  found: async (_: Operation, found: string[]) => found.map(one => `${one}~asked`),
} as unknown as Side

const taking = (takes: Operation['takes']): Operation => ({ ...OPERATIONS[0]!, takes })

const all = async (takes: Operation['takes'], stock = emptyStock(), most = 3) => {
  const source = await subjects(SIDE, taking(takes), stock, most)
  const told: string[] = []
  for (let next = source.next(); !next.done; next = source.next()) told.push(next.value)
  return told
}

describe('what an operation is about', () => {
  test('is each record in turn, over and over', async () => {
    expect(await all('policyholder')).toEqual(['h1', 'h2', 'h1'])
  })

  test('is a new record each time, where it makes one', async () => {
    expect(new Set(await all('new')).size).toBe(3)
  })

  test('is what an earlier operation left, once, in that order, and with what had to be asked for', async () => {
    const stock = { ...emptyStock(), quoted: ['d1', 'd2', 'd3', 'd4'] }
    expect(await all('quoted', stock)).toEqual(['d1~asked', 'd2~asked', 'd3~asked'])
    expect(await all('quoted', stock)).toEqual(['d4~asked'])
    expect(await all('quoted', stock)).toEqual([])
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
    const stocked = Object.keys(emptyStock())
    for (const { takes, leaves = {} } of OPERATIONS) {
      if (stocked.includes(takes)) expect(left).toContain(takes)
      for (const kind of Object.keys(leaves)) left.add(kind)
    }
    expect([...left].sort()).toEqual(stocked.sort())
  })
})
