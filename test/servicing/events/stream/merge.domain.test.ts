import fc from 'fast-check'
import { expect, it } from 'vitest'
import { mergeShards, type Positions } from '../../../../src/servicing/events/stream/service.ts'

type Entry = { sequence: number; at: number; name: string; isShown?: boolean }

/** Commits in order: the shard of each, and how far its clock moved since its last commit. */
const history = fc.array(
  fc.record({
    shard: fc.integer({ min: 0, max: 3 }),
    passed: fc.integer({ min: 0, max: 5 }),
    isShown: fc.boolean(),
    read: fc.boolean(),
  }),
  { maxLength: 60 },
)

it('shards are merged oldest first, each in its own order', () => {
  const entry = (name: string, sequence: number, at: number): Entry => ({ name, sequence, at })
  const { events, positions } = mergeShards(
    [[entry('a', 5, 10), entry('c', 6, 30), entry('e', 9, 50)], [], [entry('b', 2, 20), entry('d', 3, 40)]],
    [4, 7],
    4,
  )
  expect(events.map(({ name }) => name).join('')).toBe('abcd')
  expect(positions).toEqual([6, 7, 3])
})

it('newest first is the exact reverse of oldest first, even with events at the same time', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 6 }), { maxLength: 4 }),
      passed => {
        const shards = passed.map((steps, shard) => {
          let at = 0
          return steps.map((step, sequence): Entry => {
            at += step
            return { sequence: sequence + 1, at, name: `${shard}:${sequence + 1}` }
          })
        })
        const names = (given: Entry[][], order: 'oldestFirst' | 'newestFirst') =>
          mergeShards(given, [], 100, [], order).events.map(({ name }) => name)
        const newest = names(
          shards.map(entries => entries.toReversed()),
          'newestFirst',
        )
        expect(newest).toEqual(names(shards, 'oldestFirst').toReversed())
      },
    ),
  )
})

it('a reader that follows the positions gets each shown event once and skips each other event once', () => {
  fc.assert(
    fc.property(history, fc.integer({ min: 1, max: 5 }), (commits, most) => {
      const shards: Entry[][] = [[], [], [], []]
      const read: string[] = []
      let positions: Positions = []
      const readPage = (): number => {
        const after = shards.map((entries, shard) =>
          entries.filter(({ sequence }) => sequence > (positions[shard] ?? 0)),
        )
        const waiting = after.map(entries => entries.filter(({ isShown }) => isShown).slice(0, most))
        const reached = waiting.map(
          (page, shard) => (page.length < most ? after[shard] : page)!.at(-1)?.sequence ?? 0,
        )
        const page = mergeShards(waiting, positions, most, reached)
        for (const [shard, position] of page.positions.entries())
          expect(position).toBeGreaterThanOrEqual(positions[shard] ?? 0)
        positions = page.positions
        read.push(...page.events.map(({ name }) => name))
        return page.events.length
      }
      for (const { shard, passed, isShown, read: reads } of commits) {
        const entries = shards[shard]!
        const last = entries.at(-1) ?? { sequence: 0, at: 0 }
        const sequence = last.sequence + 1
        entries.push({ sequence, at: last.at + passed, name: `${shard}:${sequence}`, isShown })
        if (reads) readPage()
      }
      while (readPage() > 0);
      const shown = shards.map(entries => entries.filter(one => one.isShown).map(({ name }) => name))
      expect([...read].sort()).toEqual(shown.flat().sort())
      for (const [shard, names] of shown.entries())
        expect(read.filter(name => name.startsWith(`${shard}:`))).toEqual(names)
      // Nothing is read twice.
      expect(positions.map((position, shard) => position - shards[shard]!.length)).toEqual([0, 0, 0, 0])
    }),
    { seed: 20261102 },
  )
})
