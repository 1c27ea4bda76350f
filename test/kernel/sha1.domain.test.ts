import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sha1 } from '../../src/kernel/sha1.ts'

const hex = (text: string): string => Buffer.from(sha1(text)).toString('hex')
const expected = (text: string): string => createHash('sha1').update(text).digest('hex')

it("has the standard's digests", () => {
  expect(hex('')).toBe('da39a3ee5e6b4b0d3255bfef95601890afd80709')
  expect(hex('abc')).toBe('a9993e364706816aba3e25717850c26c9cd0d89d')
  expect(hex('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq')).toBe(
    '84983e441c3bd26ebaae4aa1f95129e5e54670f1',
  )
})

it('pads texts of every length on either side of a block, and of the memory that is set aside', () => {
  for (let length = 0; length <= 1_200; length += 1) {
    const text = 'a'.repeat(length)
    expect(hex(text), `${length} characters`).toBe(expected(text))
  }
})

it("has the platform's digest of any text, one after the other", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 300 }), { maxLength: 4 }), texts => {
      expect(texts.map(hex)).toEqual(texts.map(expected))
    }),
  )
})
