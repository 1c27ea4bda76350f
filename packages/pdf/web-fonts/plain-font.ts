// Fonts as the layout engine reads them: TrueType and OpenType as they are, WOFF and WOFF2 unpacked. There are libraries for
// WOFF2, all of them WebAssembly that is compiled while it runs, which the platform does not do.
import { inflateSync } from 'node:zlib'
import { coverageOf } from '../fonts.ts'
import { assembled, FontError, PLAIN, type Table, UNPACKING_ROOM, viewOf } from './sfnt.ts'
import { unpackedWoff2 } from './woff2.ts'

const [WOFF, WOFF2] = [0x774f4646, 0x774f4632]

/** The font, of at most `mostBytes` once it is unpacked. Throws a FontError for whatever is none. */
export function plainFont(bytes: Uint8Array, mostBytes: number): Uint8Array {
  try {
    const signature = viewOf(bytes).getUint32(0)
    if (PLAIN.has(signature)) return bytes
    if (signature === WOFF) return unpackedWoff(bytes, mostBytes)
    if (signature === WOFF2) return unpackedWoff2(bytes, mostBytes)
  } catch (problem) {
    if (problem instanceof FontError) throw problem
    throw new FontError('it is damaged')
  }
  throw new FontError('it is neither TrueType, OpenType, WOFF nor WOFF2')
}

const [WOFF_HEADER, WOFF_ENTRY] = [44, 20]

function unpackedWoff(bytes: Uint8Array, mostBytes: number): Uint8Array {
  const view = viewOf(bytes)
  const tables: Table[] = []
  let total = 0
  for (let index = 0; index < view.getUint16(12); index += 1) {
    const at = WOFF_HEADER + index * WOFF_ENTRY
    const [offset, packed, size] = [view.getUint32(at + 4), view.getUint32(at + 8), view.getUint32(at + 12)]
    total += size
    if (total > mostBytes) throw new FontError(`it is larger than ${mostBytes} bytes once it is unpacked`)
    if (offset + packed > bytes.length || packed > size) throw new FontError('it is damaged')
    const own = bytes.subarray(offset, offset + packed)
    const table =
      packed === size ? own : new Uint8Array(inflateSync(own, { maxOutputLength: size + UNPACKING_ROOM }))
    if (table.length !== size) throw new FontError('it is damaged')
    tables.push({ tag: view.getUint32(at), bytes: table })
  }
  return assembled(view.getUint32(4), tables)
}

// Whether a font can be printed with, asked when it is uploaded: one that is damaged should not be found when a document fails.
/** Tables without which no letter has a shape or a place, by their tags. */
const NEEDED = ['cmap', 'head', 'hhea', 'hmtx', 'maxp'] as const
/** Outlines: TrueType's, or those of PostScript. */
const OUTLINES = ['glyf', 'CFF ', 'CFF2'] as const

const [HEADER_BYTES, ENTRY_BYTES] = [12, 16]

/** Why the font cannot be used, as the end of a sentence; undefined for one that can. `mostBytes`: once it is unpacked. */
export function fontProblem(bytes: Uint8Array, mostBytes: number): string | undefined {
  try {
    const plain = plainFont(bytes, mostBytes)
    const tags = tagsOf(plain)
    const missing = NEEDED.filter(tag => !tags.has(tag))
    if (missing.length > 0) return `it lacks ${missing.map(tag => `'${tag}'`).join(', ')}`
    if (!OUTLINES.some(tag => tags.has(tag))) return 'it has no outlines of letters'
    return coverageOf(viewOf(plain)).length === 0 ? 'it says of no character which letter it is' : undefined
  } catch (problem) {
    if (problem instanceof FontError) return problem.message
    // A place that it names lies behind its end.
    if (problem instanceof RangeError) return 'it is damaged'
    throw problem
  }
}

/** The tags of its tables. Throws a FontError where one lies beyond its end. */
function tagsOf(font: Uint8Array): Set<string> {
  const view = viewOf(font)
  const tags = new Set<string>()
  for (let index = 0; index < view.getUint16(4); index += 1) {
    const at = HEADER_BYTES + index * ENTRY_BYTES
    if (view.getUint32(at + 8) + view.getUint32(at + 12) > font.length) throw new FontError('it is damaged')
    tags.add(Buffer.from(font.subarray(at, at + 4)).toString('latin1'))
  }
  return tags
}
