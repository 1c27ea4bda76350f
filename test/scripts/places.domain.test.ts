import { describe, expect, test } from 'vitest'
import { placeArguments, placeOfOptions } from '../../scripts/place-options.ts'
import { databasesToAdd, formatPool, parsePool, plannedDatabase } from '../../scripts/pool-file.ts'
import { progressBar } from '../../scripts/progress.ts'

describe('A place on the command line', () => {
  test('is a jurisdiction or a location, with the names of the provider', () => {
    expect(placeOfOptions({})).toBe('')
    expect(placeArguments(placeOfOptions({ jurisdiction: 'eu' }))).toEqual(['--jurisdiction', 'eu'])
    expect(placeArguments(placeOfOptions({ location: 'apac' }))).toEqual(['--location', 'apac'])
    expect(placeArguments('')).toEqual([])
  })

  test.each([
    [{ jurisdiction: 'weur' }, "'weur' is not a known jurisdiction. Known ones are eu, us, fedramp."],
    [{ location: 'eu' }, "'eu' is not a known location. Known ones are wnam, enam, weur, eeur, apac, oc."],
    [{ jurisdiction: 'eu', location: 'weur' }, 'Omit --location.'],
  ])('is rejected with the options %j', (options, told) => {
    expect(() => placeOfOptions(options)).toThrow(told)
  })
})

describe('The pool of databases', () => {
  test('keeps the place of a database in its name', () => {
    const databases = [plannedDatabase(1), plannedDatabase(2, 'eu'), plannedDatabase(3, 'apac')]
    expect(databases[1]!.databaseName).toBe('bindery-tenant-002-eu')
    expect(parsePool(formatPool(databases))).toEqual(databases)
    expect(() => parsePool(formatPool(databases).replace('-apac', '-mars'))).toThrow("'mars'")
  })

  test('grows in one place without using databases that were planned in another', () => {
    const listed = [plannedDatabase(1), plannedDatabase(2, 'eu'), plannedDatabase(3)]
    const added = databasesToAdd(listed, new Set(['TENANT_001']), 2, 'eu')
    expect(added.map(({ databaseName }) => databaseName)).toEqual([
      'bindery-tenant-002-eu',
      'bindery-tenant-004-eu',
    ])
  })
})

describe('The progress bar', () => {
  const told = (isTTY: boolean) => {
    const lines: string[] = []
    const written: string[] = []
    const bar = progressBar(line => lines.push(line), {
      isTTY,
      write: (text: string) => written.push(text),
    } as never)
    for (let done = 1; done <= 40; done += 1) bar(done, 40, 'databases')
    return { lines, written }
  }

  test('is redrawn in one line on a terminal', () => {
    const { lines, written } = told(true)
    expect(lines).toEqual([])
    expect(written[19]).toBe('\r\x1b[K[############............] 20 of 40 databases')
    expect(written.at(-1)).toBe('\n')
  })

  test('prints a line now and then without a terminal, and one at the end', () => {
    expect(told(false)).toEqual({
      lines: ['16 of 40 databases', '32 of 40 databases', '40 of 40 databases'],
      written: [],
    })
  })
})
