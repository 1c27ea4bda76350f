import { describe, expect, test } from 'vitest'
import { compileWith, foundIn } from '../minimal-archive.ts'

const config = (more: object) => ({ 'config.json': { timezone: 'UTC', currency: 'EUR', ...more } })
const messages = (more: object) => compileWith(config(more)).findings.map(({ message }) => message)

const AGE = { columns: { state: { isKey: true }, from: { dataType: 'decimal' } }, rangeStart: 'from' }

describe('resources that config.json declares', () => {
  test('compile with their columns in order, and with default types and selection times', () => {
    const { configuration, findings } = compileWith(
      config({
        tables: {
          base: {
            columns: {
              state: { dataType: 'String', isKey: true },
              class: { dataType: 'int', isKey: 'true' },
              rate: {},
            },
            selectionTimeBasis: 'PolicyStartTime',
          },
        },
        rangeTables: { age: { ...AGE, rangeEnd: undefined } },
        constraintTables: { cars: { columns: { make: { dataType: 'string', makeDistinct: true } } } },
      }),
    )
    expect(findings).toEqual([])
    expect(configuration?.resources).toEqual({
      tables: {
        base: {
          columns: [
            { name: 'state', dataType: 'string', isKey: true },
            { name: 'class', dataType: 'int', isKey: true },
            { name: 'rate', dataType: 'string', isKey: false },
          ],
          selectionTimeBasis: 'policyStartTime',
        },
      },
      rangeTables: {
        age: {
          columns: [
            { name: 'state', dataType: 'string', isKey: true },
            { name: 'from', dataType: 'decimal', isKey: false },
          ],
          rangeStart: 'from',
          selectionTimeBasis: 'transactionEffectiveTime',
        },
      },
      constraintTables: {
        cars: {
          columns: [{ name: 'make', dataType: 'string', makeDistinct: true }],
          selectionTimeBasis: 'transactionEffectiveTime',
        },
      },
    })
    expect(compileWith(config({})).configuration).not.toHaveProperty('resources')
  })

  test.each([
    [
      { tables: { base: { columns: { a: { dataType: 'money' } } } } },
      /^'tables\.base\.columns\.a\.dataType' must be one of 'string', 'int'/,
    ],
    [{ tables: { base: {} } }, /^'tables\.base\.columns' is missing/],
    [{ tables: { base: { columns: {} } } }, /^'base' declares no columns/],
    [{ tables: { 'no name': { columns: { a: {} } } } }, /^'no name' is not a static name/],
    [{ tables: { base: { columns: { a: {}, A: {} } } } }, /^'base' declares the column 'A' twice/],
    [
      { tables: { base: { columns: { a: {} }, selectionTimeBasis: 'now' } } },
      /^'tables\.base\.selectionTimeBasis' must be one of/,
    ],
    [{ rangeTables: { age: { columns: AGE.columns } } }, /^'rangeTables\.age\.rangeStart' is missing/],
    [
      { rangeTables: { age: { ...AGE, rangeEnd: 'to' } } },
      /^'rangeEnd' of 'age' names the column 'to', which it does not have/,
    ],
    [
      { rangeTables: { age: { ...AGE, rangeStart: 'state' } } },
      /^'rangeStart' of 'age' names 'state', which is a key/,
    ],
    [{ rangeTables: { age: { ...AGE, rangeEnd: 'from' } } }, /^'rangeEnd' of 'age' names the same column/],
    [
      { tables: { age: { columns: { a: {} } } }, rangeTables: { age: AGE } },
      /^'age' is also declared as a different kind of table/,
    ],
  ])('are rejected with %j', (more, problem) => {
    expect(messages(more)).toEqual([expect.stringMatching(problem)])
    expect(compileWith(config(more)).configuration).toBeUndefined()
  })

  test('may be template snippets with a selection time basis', () => {
    const declared = { seal: { displayName: 'Seal', selectionTimeBasis: 'CurrentTime' }, plain: {} }
    const { configuration, findings } = compileWith(config({ templateSnippets: declared }))
    expect(findings.filter(one => one.path === 'config.json')).toEqual([])
    expect(configuration?.resources?.templateSnippets).toEqual({
      seal: { selectionTimeBasis: 'currentTime' },
    })
    expect(messages({ templateSnippets: { 'a-b': {} } })).toEqual([
      expect.stringMatching(/^'a-b' is not a static name/),
    ])
  })

  test('allow look-ups by name in templates although the archive does not contain the tables', () => {
    const files = (more: object) => ({
      ...config(more),
      'products/p/policy/policy.calculations.liquid': '{% assign x = "base" | lookup: "a" %}',
    })
    expect(foundIn(compileWith(files({})))).toContainEqual(expect.stringContaining('missingTable'))
    expect(
      foundIn(compileWith(files({ tables: { base: { columns: { key: {}, value: {} } } } }))),
    ).not.toContainEqual(expect.stringContaining('missingTable'))
  })

  test('do not allow look-ups by name in range tables, and the message says what to do', () => {
    const { findings } = compileWith({
      ...config({ rangeTables: { age: AGE } }),
      'products/p/policy/policy.calculations.liquid': '{% assign x = "age" | lookup: "a" %}',
    })
    expect(findings.find(one => one.code === 'missingTable')?.message).toContain('which is a range table')
  })
})
