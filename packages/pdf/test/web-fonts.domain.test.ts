// WOFF and WOFF2 fonts in documents: unpacked, they equal the original font, no matter which program packed them.
import { readFileSync } from 'node:fs'
import { create } from 'fontkit'
import { expect, test } from 'vitest'
import { compress } from 'wawoff2'
import { buildFontFile, plainFont, viewOf } from '../web-fonts.ts'
import { woff2Of, woffOf } from './packed-fonts.ts'
import { hasPoppler, rendered, textLines } from './tools.ts'

const MOST = 24_000_000
const file = (path: string): Uint8Array => new Uint8Array(readFileSync(`node_modules/${path}`))
const FONT = file('dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf')
/** Packed by the program of the format's authors, which takes seconds. */
const WOFF2 = await compress(Buffer.from(FONT))

type Glyph = { path: { commands: unknown[] }; advanceWidth: number }
type Read = { numGlyphs: number; familyName: string; getGlyph(index: number): Glyph }
const read = (bytes: Uint8Array): Read => create(Buffer.from(bytes) as never) as unknown as Read

/** Every seventh outline, simple and composite, with its width. */
const outlines = (bytes: Uint8Array): string[] => {
  const font = read(bytes)
  return Array.from({ length: Math.floor(font.numGlyphs / 7) }, (_, index) => {
    const { path, advanceWidth } = font.getGlyph(index * 7)
    return JSON.stringify([path.commands, advanceWidth])
  })
}

test('a font that was packed as WOFF or WOFF2 has the same outlines and widths when unpacked', async () => {
  expect(WOFF2.length).toBeLessThan(FONT.length)
  const expected = outlines(FONT)
  expect(outlines(plainFont(woffOf(FONT), MOST))).toEqual(expected)
  expect(outlines(plainFont(woff2Of(FONT), MOST))).toEqual(expected)
  const unpacked = plainFont(new Uint8Array(WOFF2), MOST)
  expect(outlines(unpacked)).toEqual(expected)
  expect(read(unpacked).familyName).toBe(read(FONT).familyName)
})

test.runIf(hasPoppler)('a PDF shows the letters of a WOFF2 font', async () => {
  const font = new Uint8Array(WOFF2)
  const html =
    '<style>@font-face { font-family: Own; src: url(mono.woff2) format("woff2") }</style><p style="font-family: Own">Grüße ✓</p>'
  const { bytes, missing } = await rendered(html, {}, new Map([['mono.woff2', font]]))
  expect([missing, textLines(bytes)]).toEqual(['', ['Grüße ✓']])
})

test('a truncated or damaged font can only fail its document, with a ConversionError', async () => {
  const html = `<style>@font-face { font-family: Own; src: url(f.woff) }</style><p style="font-family: Own">text</p>`
  for (const packed of [woffOf(FONT), woff2Of(FONT)])
    for (const [kept, changed] of [
      [40, 0],
      [200, 0],
      [Math.floor(packed.length / 2), 0],
      [packed.length, 60],
      [packed.length, Math.floor(packed.length / 2)],
    ] as const) {
      const broken = packed.slice(0, kept)
      if (changed > 0) broken.fill(0xaa, changed, changed + 40)
      const outcome = await rendered(html, {}, new Map([['f.woff', broken]])).catch(problem => problem)
      expect(outcome.name ?? 'made').toMatch(/^(?:ConversionError|made)$/)
    }
})

test('a small font that unpacks to more than the limit is rejected, even if it declares a smaller size', () => {
  const zeros = buildFontFile(0x00010000, [{ tag: 'glyf', bytes: new Uint8Array(3_000_000) }])
  const bomb = woffOf(zeros)
  expect(bomb.length).toBeLessThan(5_000)
  expect(() => plainFont(bomb, 1_000_000)).toThrow('it is larger than 1000000 bytes when unpacked')
  viewOf(bomb).setUint32(44 + 12, 500_000)
  expect(() => plainFont(bomb, 1_000_000)).toThrow('it is damaged')
})
