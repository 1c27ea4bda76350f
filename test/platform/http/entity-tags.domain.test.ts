import { expect, test } from 'vitest'
import { readIfMatch, tagsIn } from '../../../src/platform/http/entity-tags.ts'

// RFC 9110, 8.8.3 and 13.1.1. Weak tags count, since proxies that compress weaken ours (docs/http.md).
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
  // The dot and what follows it are of addresses of files.
  ['W/"a.1x"', ['a']],
  // Empty elements are passed over (5.6.1.2): of an empty header before another, too.
  [', "a"', ['a']],
  ['"a",', ['a']],
  ['"a", ,,\t"b" , ', ['a', 'b']],
  ['"\u00e9\u00ff"', ['\u00e9\u00ff']],
])('If-Match of %j', (header, read) => {
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
])('If-Match of %j is refused', header => {
  expect(() => readIfMatch(header)).toThrow('with its quotation marks')
  expect(tagsIn(header)).toBeUndefined()
})

test('a long list that ends badly is read in time', () => {
  for (const part of ['"a",', ',', ' ', '"a" ,  ', 'W/"a",'])
    expect(tagsIn(`${part.repeat(20_000)}x`)).toBeUndefined()
})
