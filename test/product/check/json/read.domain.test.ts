import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pathText, readJson } from '../../../../src/product/check/json/read.ts'

const read = (text: string) => {
  const document = readJson(text)
  if ('message' in document) throw new Error(document.message)
  return document
}
const problem = (text: string): string => {
  const document = readJson(text)
  return 'message' in document ? `${document.line}:${document.column} ${document.message}` : 'none'
}

test('any JSON text reads to the same value as with JSON.parse', () => {
  fc.assert(
    fc.property(fc.json(), fc.integer({ min: 0, max: 4 }), (json, indent) => {
      const text = JSON.stringify(JSON.parse(json), null, indent)
      expect(JSON.stringify(read(text).value)).toBe(JSON.stringify(JSON.parse(text)))
    }),
    { seed: 1, numRuns: 500 },
  )
})

test('any text is either read or rejected with a line and column inside it', () => {
  const letters = fc.string({ unit: fc.constantFrom(...'{}[]",:\\ \n1-.eEtrufalsn\u0001é') })
  fc.assert(
    fc.property(letters, text => {
      const document = readJson(text)
      let isJson = true
      try {
        JSON.parse(text)
      } catch {
        isJson = false
      }
      expect('message' in document).toBe(!isJson)
      if ('message' in document) {
        const line = text.split('\n')[document.line - 1]
        expect(line).toBeDefined()
        expect(document.column).toBeLessThanOrEqual(line!.length + 1)
      }
    }),
    { seed: 2, numRuns: 2_000 },
  )
})

test('the position of a property is its name, and that of a list entry is its beginning', () => {
  const { positionOf } = read('{\n  "fields": [\n    {"name": "a"},\n    {"name": "b"}\n  ]\n}')
  expect(positionOf(['fields'])).toEqual({ line: 2, column: 3 })
  expect(positionOf(['fields', 1])).toEqual({ line: 4, column: 5 })
  expect(positionOf(['fields', 1, 'name'])).toEqual({ line: 4, column: 6 })
})

test('the position of a missing property is that of the value around it', () => {
  const { positionOf } = read('{\n  "fields": [\n    {}\n  ]\n}')
  expect(positionOf(['fields', 0, 'name'])).toEqual({ line: 3, column: 5 })
  expect(positionOf(['documents', 3])).toEqual({ line: 1, column: 1 })
})

test('a duplicate key is reported, and its last value is used', () => {
  const { value, duplicates } = read('{"a": {"b": 1, "b": 2}}')
  expect(duplicates).toEqual([['a', 'b']])
  expect(JSON.stringify(value)).toBe('{"a":{"b":2}}')
})

test('the key __proto__ is an ordinary key', () => {
  const value = read('{"__proto__": {"polluted": true}}').value as object
  expect(Object.keys(value)).toEqual(['__proto__'])
  expect('polluted' in {}).toBe(false)
})

describe('syntax errors', () => {
  test.each([
    ['{"a": 1,}', "1:9 Remove the comma before this '}'."],
    ['{\n  // the fields\n  "a": 1 }', '2:3 JSON has no comments. Remove this one.'],
    ['{"a": /* one */ 1}', '1:7 JSON has no comments. Remove this one.'],
    ['{"a": \u201cone\u201d}', "1:7 Text must be in straight double quotes (\"), not in '\u201c'."],
    ['{\u201ea\u201c: 1}', "1:2 Text must be in straight double quotes (\"), not in '\u201e'."],
    ['{"a":\u00a01}', '1:6 Replace the invisible character U+00A0 here by a blank.'],
    ['{"a": 1,\n\u200b"b": 2}', '2:1 Replace the invisible character U+200B here by a blank.'],
    ['{"a": 1}\ufeff', '1:9 Replace the invisible character U+FEFF here by a blank.'],
    ['{"a": \u00e9}', "1:7 Expected a value here, not '\u00e9'."],
    ['[1 2]', "1:4 Expected ',' or ']' here, not '2'."],
    ['{\n  "a" 1}', "2:7 Expected ':' here, not '1'."],
    ["{'a': 1}", "1:2 Expected a name in double quotes here, not '''."],
    ['{"a": nope}', "1:7 Expected a value here, not 'n'."],
    ['{"a": "x', '1:7 The text that begins here has no closing quote.'],
    ['{"a": "C:\\dir"}', "1:7 The text that begins here has a '\\' that JSON does not know; write '\\\\'."],
    ['{"a": 1e999}', '1:7 The number is too large.'],
    ['{} x', "1:4 Nothing can follow the value, but here is 'x'."],
    ['', '1:1 The file is empty. Write its content, or remove the file.'],
    [' \n', '2:1 The file is empty. Write its content, or remove the file.'],
  ])('state their place and the remedy: %j', (text, message) => {
    expect(problem(text)).toBe(message)
  })

  test('include nesting deeper than 64 levels and more than 200,000 values', () => {
    expect(problem('['.repeat(100_000))).toMatch(/nested deeper than 64/)
    expect(problem(`[${'0,'.repeat(200_001)}0]`)).toMatch(/more than 200000 values/)
  })
})

test('pathText writes a path in JavaScript notation', () => {
  expect(pathText(['fields', 3, 'condition', 'vehicle type'])).toBe("fields[3].condition['vehicle type']")
  expect(pathText([])).toBe('the file')
})
