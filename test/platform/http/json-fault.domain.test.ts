import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonDepth, jsonFault, jsonShape } from '../../../src/platform/http/body/json.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('jsonFault', () => {
  it.each([
    ['{"a": 1,}', 1, 9, 'a property name in double quotes is expected'],
    ['{"a": 1,\n "b": tru}', 2, 7, 'a value is expected'],
    ['{\n  name: 1\n}', 2, 3, "a property name in double quotes or '}' is expected"],
    ['[1 2]', 1, 4, "',' or ']' is expected"],
    ['{"a" 1}', 1, 6, "':' is expected"],
    ['{"a": [1, 2}', 1, 12, "',' or ']' is expected"],
    ['{"a": 1} x', 1, 10, 'the body should end'],
    ['{"a": 01}', 1, 7, 'a value is expected'],
    ['{"a": [1', 1, 9, "the body ends, but ',' or ']' is expected"],
    ['{"a": "open}', 1, 7, 'the text that starts here does not end'],
    ['{"a": "\\x"}', 1, 7, 'the text that starts here does not end'],
    ['<html>', 1, 1, 'a value is expected'],
  ])('locates the fault of %j at %i:%i', (text, line, column, problem) => {
    const fault = jsonFault(text)
    expect(fault).toMatchObject({ line, column })
    expect(fault.problem).toContain(problem)
  })

  it('finds a fault in every text that JSON.parse rejects, never past its end', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.string({ maxLength: 2 }), (json, at, inserted) => {
        const text = json.slice(0, at % (json.length + 1)) + inserted + json.slice(at % (json.length + 1))
        try {
          JSON.parse(text)
        } catch {
          const { line, column, problem } = jsonFault(text)
          expect(text.split('\n')[line - 1]!.length).toBeGreaterThanOrEqual(column - 1)
          expect(problem).not.toBe('')
          if (inserted !== '') expect(problem).not.toContain('undefined')
        }
      }),
      { seed: 20_261_121, numRuns: 500 },
    )
  })

  it('finds a fault behind megabytes of text, digits or nesting', () => {
    for (const long of [`["${'x'.repeat(4_000_000)}"`, `[${'1'.repeat(4_000_000)}`, '['.repeat(4_000_000)])
      expect(jsonFault(long).column).toBe(long.length + 1)
  })
})

describe('jsonDepth', () => {
  it.each([
    ['1', 0],
    ['{"a": [[]], "b": {}}', 3],
    ['["[[[[", "\\"[[", "\\\\"]', 1],
    ['[[', 2],
  ])('of %s is %i', (text, depth) => {
    expect(jsonDepth(bytes(text))).toBe(depth)
  })
})

describe('jsonShape', () => {
  it.each([
    ['1', 1],
    ['[1, 2]', 3],
    ['{"a": [[], {}], "b": ",,,"}', 7],
  ])('counts at least the values of %s', (text, values) => {
    expect(jsonShape(bytes(text)).values).toBe(values)
  })
})
