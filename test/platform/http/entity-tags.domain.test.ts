import { expect, test } from 'vitest'
import { readIfMatch, tagsIn } from '../../../src/platform/http/entity-tags.ts'

// RFC 9110, 8.8.3 and 13.1.1. Weak tags match too, because proxies that compress weaken ours (docs/http.md).
test.each([
  [null, undefined],
  ['*', '*'],
  [' * ', '*'],
  ['"a"', ['a']],
  ['W/"a"', ['a']],
  ['"a","b"', ['a', 'b']],
  ['"a" , W/"b"', ['a', 'b']],
  ['"a", "a"', ['a', 'a']],
  ['""', ['']],
  ['"a,b"', ['a,b']],
  // The dot and the rest are a suffix for URLs of files.
  ['W/"a.1x"', ['a']],
  // Empty elements are skipped (5.6.1.2), also when an empty header precedes another one.
  [', "a"', ['a']],
  ['"a",', ['a']],
  ['"a", ,,\t"b" , ', ['a', 'b']],
  ['"\u00e9\u00ff"', ['\u00e9\u00ff']],
])('If-Match of %j is read', (header, read) => {
  expect(readIfMatch(header)).toEqual(read)
})

test.each([
  '',
  ',',
  'a',
  '"a',
  'a"',
  '"a" "b"',
  '"a"b"',
  'w/"a"',
  'W/ "a"',
  '*, "a"',
  '*,*',
  '"a b"',
  '"\u007f"',
])('If-Match of %j is rejected', header => {
  expect(() => readIfMatch(header)).toThrow('with its quotation marks')
  expect(tagsIn(header)).toBeUndefined()
})

test('a long malformed list is rejected quickly', () => {
  for (const part of ['"a",', ',', ' ', '"a" ,  ', 'W/"a",'])
    expect(tagsIn(`${part.repeat(20_000)}x`)).toBeUndefined()
})
