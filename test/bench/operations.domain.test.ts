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

describe('The subjects of an operation', () => {
  test('are the existing records in turn, repeatedly', async () => {
    expect(await all('policyholder')).toEqual(['h1', 'h2', 'h1'])
  })

  test('are new each time for an operation that creates a record', async () => {
    expect(new Set(await all('new')).size).toBe(3)
  })

  test('are what an earlier operation left, each once and in order, with what had to be looked up', async () => {
    const stock = { ...emptyStock(), quoted: ['d1', 'd2', 'd3', 'd4'] }
    expect(await all('quoted', stock)).toEqual(['d1~asked', 'd2~asked', 'd3~asked'])
    expect(await all('quoted', stock)).toEqual(['d4~asked'])
    expect(await all('quoted', stock)).toEqual([])
  })
})

describe('The operations', () => {
  test('have separate plans, with names that need no escaping in a path', () => {
    const names = OPERATIONS.map(planName)
    expect(new Set(names).size).toBe(OPERATIONS.length)
    for (const name of names) expect(encodeURIComponent(name)).toBe(name)
  })

  test('use only what an earlier operation has left', () => {
    const left = new Set<string>()
    const stocked = Object.keys(emptyStock())
    for (const { takes, leaves = {} } of OPERATIONS) {
      if (stocked.includes(takes)) expect(left).toContain(takes)
      for (const kind of Object.keys(leaves)) left.add(kind)
    }
    expect([...left].sort()).toEqual(stocked.sort())
  })
})
