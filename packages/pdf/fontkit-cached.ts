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
  ;(font as GlyphFont).getGlyph = function (id, characters = []) {
    const glyph = getGlyph.call(this, id, [])
    if (glyph === null || characters.length === 0) return glyph
    // Measures the glyph once. The objects created from it inherit the width.
    void glyph.advanceWidth
    return Object.create(glyph, { codePoints: { value: characters } })
  }
  return font
}
