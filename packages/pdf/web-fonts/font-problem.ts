// Whether a font can be printed with, asked when it is uploaded: one that is damaged should not be found when a document fails.
import { coverageOf } from '../fonts.ts'
import { plainFont } from './plain-font.ts'
import { FontError, viewOf } from './sfnt.ts'

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
