// A font that documents share: no document shows characters that another one used.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { create } from '../fontkit-cached.ts'

type Glyph = { id: number; advanceWidth: number; codePoints: number[] }
type Font = {
  glyphsForString(text: string): Glyph[]
  layout(text: string): { glyphs: Glyph[] }
  createSubset(): { includeGlyph(glyph: number): number; encode(): Uint8Array }
}

const opened = (): (() => Font) => {
  const bytes = new Uint8Array(readFileSync('node_modules/dejavu-fonts-ttf/ttf/DejaVuSans.ttf'))
  return () => create(bytes) as Font
}

/** Returns the characters that a PDF declares for its glyphs. */
const told = (font: Font, text: string): string =>
  String.fromCodePoint(...font.layout(text).glyphs.flatMap(glyph => glyph.codePoints))

test('a letter keeps its character after a document that used it only as part of another letter', () => {
  const open = opened()
  const font = open()
  const subset = font.createSubset()
  for (const { id } of font.glyphsForString('üé')) subset.includeGlyph(id)
  subset.encode()
  expect(told(open(), 'Mutual, due: ü')).toBe('Mutual, due: ü')
})

test('glyph widths are those of the font each time that it is used', () => {
  const open = opened()
  const widths = (text: string): number[] =>
    open()
      .layout(text)
      .glyphs.map(glyph => glyph.advanceWidth)
  expect(widths('mii')[0]).toBeGreaterThan(widths('mii')[1]!)
  expect(widths('mii')).toEqual(widths('mii'))
})

test('characters that the font lacks share its empty box, and each stays the character that it is', () => {
  const font = opened()()
  const lacking = String.fromCodePoint(...Array.from({ length: 10_100 }, (_, at) => 0x20000 + at))
  expect(new Set(font.glyphsForString(lacking).map(glyph => glyph.id))).toEqual(new Set([0]))
  for (const text of [lacking, 'due: ü', lacking]) expect(told(font, text)).toBe(text)
})

test('a glyph with one character is made once for all documents', () => {
  const open = opened()
  expect(open().glyphsForString('a')[0]).toBe(open().layout('a').glyphs[0])
})
