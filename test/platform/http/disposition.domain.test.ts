import fc from 'fast-check'
import { expect, test } from 'vitest'
import { disposition } from '../../../src/platform/http/disposition.ts'

const GRAMMAR =
  /^attachment; filename="[\x20-\x21\x23-\x5b\x5d-\x7e]*"(?:; filename\*=UTF-8''(?:%[0-9A-F]{2}|[\w!#$&+.^`|~-])*)?$/

test('any file name becomes a header that strict parsers accept, and reads back unchanged', () => {
  const check = (name: string): void => {
    const header = disposition('attachment', name)
    expect(header).toMatch(GRAMMAR)
    const encoded = header.split("; filename*=UTF-8''")[1]
    const read = encoded === undefined ? /"(.*)"/.exec(header)![1] : decodeURIComponent(encoded)
    expect(read).toBe(name.toWellFormed())
  }
  for (const name of ['a.pdf', '100% "it\'s" (1)*.pdf', 'a\\b', 'a\r\nset-cookie: x', '\ud83d', '\u{1f697}'])
    check(name)
  fc.assert(fc.property(fc.string({ unit: 'binary' }), check), { seed: 20261121, numRuns: 500 })
})
