import { describe, expect, test } from 'vitest'
import { readOptions } from '../../bench/options.ts'

describe('the command line', () => {
  test('with nothing on it means five small rounds and no file', () => {
    expect(readOptions([])).toMatchObject({ sizes: { rounds: 5 }, jsonFile: undefined })
  })

  test('with --full means more and longer rounds', () => {
    const { sizes } = readOptions(['--full', '--json', 'figures.json'])
    expect(sizes.rounds).toBeGreaterThan(5)
    expect(sizes.longestRunMs).toBeGreaterThan(readOptions([]).sizes.longestRunMs)
  })

  test('with --start-up means no load at all', () => {
    expect(readOptions([]).onlyStartUp).toBe(false)
    expect(readOptions(['--start-up']).onlyStartUp).toBe(true)
  })

  test('with --documents means a thousand documents and nothing else', () => {
    expect(readOptions([]).onlyDocuments).toBe(false)
    expect(readOptions(['--documents'])).toMatchObject({ onlyDocuments: true, onlyStartUp: false })
  })

  test('with --tables means look-ups in a table and nothing else, of a million rows with --full', () => {
    expect(readOptions(['--tables'])).toMatchObject({ onlyTables: true, onlyPlugin: false })
    expect(readOptions(['--tables', '--full']).sizes.tableRows).toBe(1_000_000)
  })

  test('with --webhooks means deliveries and nothing else', () => {
    expect(readOptions([]).onlyWebhooks).toBe(false)
    expect(readOptions(['--webhooks'])).toMatchObject({ onlyWebhooks: true, onlyDocuments: false })
  })

  test('names the file for the figures', () => {
    expect(readOptions(['--json=figures.json']).jsonFile).toBe('figures.json')
  })

  test('with a word that is not known is refused', () => {
    expect(() => readOptions(['--fast'])).toThrow("Unknown option '--fast'")
    expect(() => readOptions(['--json='])).toThrow('name of a file')
  })

  test('keeps a draft of a run in memory until the next run takes it', () => {
    // A run of the service, one of the floor, and the next of the service: all within ten seconds.
    expect(3 * readOptions(['--full']).sizes.longestRunMs).toBeLessThan(10_000)
  })
})
