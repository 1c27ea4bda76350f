import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import { DEEPEST_JSON } from '../../src/platform/http/body/json.ts'
import { ElementSplitter, LARGEST_ACCOUNT_BYTES } from '../../src/servicing/migration/split.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** The elements that a splitter finds in the text when it arrives in pieces of this size. */
function split(text: string, pieceBytes: number, single = false) {
  const splitter = new ElementSplitter({ single })
  const all = bytes(text)
  const elements = []
  for (let at = 0; at < all.length; at += pieceBytes)
    elements.push(...splitter.push(all.subarray(at, at + pieceBytes)))
  splitter.end()
  return elements
}

function refusalOf(work: () => unknown): Refusal {
  try {
    work()
  } catch (problem) {
    if (problem instanceof Refusal) return problem
    throw problem
  }
  throw new Error('It was taken.')
}

describe('splitting a list of accounts', () => {
  it('returns every account as it was sent, with any piece boundaries', () => {
    const accounts = fc.array(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 3 })), {
      minLength: 0,
      maxLength: 5,
    })
    fc.assert(
      fc.property(
        accounts,
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(0, 2),
        (list, pieceBytes, indent) => {
          const text = JSON.stringify(list, undefined, indent)
          const found = split(text, pieceBytes)
          expect(found.map(one => JSON.parse(one.text))).toEqual(JSON.parse(text))
          const all = bytes(text)
          for (const { start, text: one } of found) {
            const length = bytes(one).length
            expect(new TextDecoder().decode(all.subarray(start, start + length))).toBe(one)
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it('skips a byte-order mark and whitespace', () => {
    expect(split('\uFEFF \n[ {"a":"}]\\""} ]\n', 3).map(one => one.text)).toEqual(['{"a":"}]\\""}'])
  })

  it('accepts a single object where one is expected', () => {
    expect(split(' {"policies":[{"id":"P1"}]} ', 4, true).map(one => one.text)).toEqual([
      '{"policies":[{"id":"P1"}]}',
    ])
    expect(refusalOf(() => split('{} {}', 2, true)).message).toBe(
      'At byte 3 of the body: expected no further text.',
    )
  })

  it.each([
    ['{}', 'At byte 0 of the body: expected a list of accounts (`[`).'],
    ['[1]', 'At byte 1 of the body: expected an account (an object).'],
    ['[{} {}]', 'At byte 4 of the body: expected `,` or `]`.'],
    ['[{},]', 'At byte 4 of the body: expected an object.'],
    ['[{}]x', 'At byte 4 of the body: expected no further text.'],
    ['[{"a":1}', 'The body ends before its JSON does. Send the complete body.'],
    ['[{"a":"}]', 'The body ends before its JSON does. Send the complete body.'],
    ['', 'The body ends before its JSON does. Send the complete body.'],
  ])('rejects %s', (text, message) => {
    const refusal = refusalOf(() => split(text, 2))
    expect(refusal.code).toBe('malformedJson')
    expect(refusal.message).toBe(message)
  })

  it('rejects an account that is nested too deeply, and accepts one at the limit', () => {
    const nested = (depth: number) => `[{}, {"a":"[[[","b":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}]`
    expect(split(nested(DEEPEST_JSON), 7)).toHaveLength(2)
    const refusal = refusalOf(() => split(nested(DEEPEST_JSON + 1), 7))
    expect([refusal.code, refusal.message]).toEqual([
      'malformedJson',
      'The account at byte 5 nests lists and objects more than 64 levels deep; flatten it.',
    ])
  })

  it('rejects text that is not UTF-8', () => {
    const splitter = new ElementSplitter({ single: false })
    const broken = Uint8Array.from([...bytes('[{"a":"'), 0xff, ...bytes('"}]')])
    expect(refusalOf(() => splitter.push(broken)).message).toBe(
      'The account at byte 1 of the body is not UTF-8.',
    )
  })

  it('rejects an account above the size limit before it has arrived completely', () => {
    const splitter = new ElementSplitter({ single: false })
    splitter.push(bytes('[{"a":"'))
    const piece = new Uint8Array(65_536).fill(0x78)
    const refusal = refusalOf(() => {
      for (let sent = 0; sent <= LARGEST_ACCOUNT_BYTES; sent += piece.length) splitter.push(piece)
    })
    expect(refusal.code).toBe('tooLarge')
    expect(refusal.message).toContain('The account at byte 1 is larger than 10 MiB')
  })
})
