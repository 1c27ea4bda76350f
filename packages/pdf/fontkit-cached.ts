// Reads each font once per isolate. Reading a font's tables takes longer than laying out a page, and the engine repeats it for
// every document. Replaces the library in the renderer's bundle (scripts/bundles.ts).
import { create as read } from 'fontkit'

const known = new WeakMap<Uint8Array, unknown>()

/** The font keeps no state of a document, so documents can share it. */
export function create(bytes: Uint8Array, family?: string): unknown {
  const font = known.get(bytes) ?? withOwnCharacters(read(bytes, family))
  known.set(bytes, font)
  return font
}

type Glyph = { readonly id: number; readonly advanceWidth: number; readonly codePoints: readonly number[] }
type GlyphFont = { getGlyph?: (id: number, characters?: readonly number[]) => Glyph | null }

/**
 * Gives each call its own characters. The library permanently gives a glyph the characters of the call that met it first: none,
 * if it was a part of another letter (the `u` of `ü`), or those of another document (a no-break space). A PDF names the
 * characters of its glyphs, so its text could then be neither searched nor copied.
 */
function withOwnCharacters(font: unknown): unknown {
  const { getGlyph } = font as GlyphFont
  // A font collection has no `getGlyph`.
  if (getGlyph === undefined) return font
  const ofOneCharacter = new Map<number, Glyph>()
  ;(font as GlyphFont).getGlyph = function (id, characters = []) {
    if (characters.length === 0) return getGlyph.call(this, id, [])
    const key = characters.length === 1 ? id * CHARACTERS + characters[0]! : undefined
    const known = key === undefined ? undefined : ofOneCharacter.get(key)
    if (known) return known
    const glyph = getGlyph.call(this, id, [])
    if (glyph === null) return glyph
    // Measures the glyph once. The objects created from it inherit the width.
    void glyph.advanceWidth
    const own: Glyph = Object.create(glyph, { codePoints: { value: characters } })
    if (key === undefined) return own
    // A document can name a million characters that the font lacks.
    if (ofOneCharacter.size === MOST_KNOWN) ofOneCharacter.clear()
    ofOneCharacter.set(key, own)
    return own
  }
  return font
}

/** The number of Unicode code points. */
const CHARACTERS = 0x110000

/** How many glyphs with one character each font keeps. */
const MOST_KNOWN = 10_000
