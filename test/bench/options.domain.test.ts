import { describe, expect, test } from 'vitest'
import { PARTS, readOptions } from '../../tools/bench/options.ts'

describe('The command line of the benchmark', () => {
  test('without options means five small rounds and no file', () => {
    expect(readOptions([])).toMatchObject({ sizes: { rounds: 5 }, jsonFile: undefined })
  })

  test('with --full means more and longer rounds', () => {
    const { sizes } = readOptions(['--full', '--json', 'figures.json'])
    expect(sizes.rounds).toBeGreaterThan(5)
    expect(sizes.longestRunMs).toBeGreaterThan(readOptions([]).sizes.longestRunMs)
  })

  test('accepts one part to measure alone, but not two', () => {
    expect(readOptions([]).part).toBeUndefined()
    for (const part of PARTS) expect(readOptions([`--${part}`]).part).toBe(part)
    expect(() => readOptions(['--tables', '--plugin'])).toThrow('Give only one')
    expect(() => readOptions(['--record', '--tables'])).toThrow(
      '--record can only be combined with --heap or --reports',
    )
  })

  test('with --tables and --full means a million rows', () => {
    expect(readOptions(['--tables', '--full']).sizes.tableRows).toBe(1_000_000)
  })

  test('accepts --accounts for the size of the migrated book, at least 10', () => {
    expect(readOptions(['--migration', '--accounts', '30']).sizes.accounts).toBe(30)
    expect(() => readOptions(['--migration', '--accounts', '3'])).toThrow('at least 10')
  })

  test('accepts --requests for the number of requests over which memory is watched, at least 1,000', () => {
    const { sizes, recorded } = readOptions(['--heap', '--requests', '10000', '--record'])
    expect([sizes.heapRequests, recorded]).toEqual([10_000, true])
    expect(readOptions(['--reports', '--record'])).toMatchObject({ part: 'reports', recorded: true })
    expect(() => readOptions(['--heap', '--requests', '10'])).toThrow('at least 1,000')
  })

  test('accepts --against to compare with another commit or --record to store the figures, but not both', () => {
    expect(readOptions(['--against', 'main'])).toMatchObject({ against: 'main', recorded: false })
    expect(readOptions(['--record'])).toMatchObject({ against: undefined, recorded: true })
    expect(() => readOptions(['--record', '--against=main'])).toThrow('--record can only be combined')
    expect(() => readOptions(['--tables', '--against=main'])).toThrow('Give only one')
  })

  test('accepts --record-floor with the commit whose plans the floor is to use', () => {
    expect(readOptions(['--record-floor', '039ad00']).floorOf).toBe('039ad00')
    expect(readOptions([]).floorOf).toBeUndefined()
    expect(() => readOptions(['--record-floor='])).toThrow('--record-floor needs a commit')
    expect(() => readOptions(['--record-floor', 'a', '--against', 'b'])).toThrow('Give only one')
    expect(() => readOptions(['--record-floor', 'a', '--record'])).toThrow('--record can only be combined')
    expect(() => readOptions(['--record-floor', 'a', '--only', 'quote'])).toThrow('--only chooses')
  })

  test('accepts --json with the file for the figures', () => {
    expect(readOptions(['--json=figures.json']).jsonFile).toBe('figures.json')
  })

  test('rejects unknown options', () => {
    expect(() => readOptions(['--fast'])).toThrow("Unknown option '--fast'")
    expect(() => readOptions(['--json='])).toThrow('name of a file')
  })

  test('keeps runs short enough for a draft to stay in memory until the next run uses it', () => {
    // A run of the service, one of the floor, and the next of the service: all within ten seconds.
    expect(3 * readOptions(['--full']).sizes.longestRunMs).toBeLessThan(10_000)
  })
})
