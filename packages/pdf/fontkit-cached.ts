// Reads each font once per isolate. Reading a font's tables takes longer than laying out a page, and the engine repeats
// it for every document. Replaces the library in the renderer's bundle (scripts/bundles.ts).
import { create as read } from 'fontkit'

const known = new WeakMap<Uint8Array, unknown>()

/** The font keeps no state of a document, so it can be shared. */
export function create(bytes: Uint8Array, family?: string): unknown {
  const font = known.get(bytes) ?? read(bytes, family)
  known.set(bytes, font)
  return font
}
