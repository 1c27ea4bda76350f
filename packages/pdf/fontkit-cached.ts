// Fonts read once in an isolate. Reading the tables of one takes longer than laying out a page, and a PDF's engine does
// it anew for every document: in the renderer's bundle this module stands in for the library (scripts/bundles.ts).
import { create as read } from 'fontkit'

const known = new WeakMap<Uint8Array, unknown>()

/** The font of the bytes. It holds nothing of any document. */
export function create(bytes: Uint8Array, family?: string): unknown {
  const font = known.get(bytes) ?? read(bytes, family)
  known.set(bytes, font)
  return font
}
