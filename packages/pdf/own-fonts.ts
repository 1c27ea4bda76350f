// Fonts of a configuration or of a tenant's resources: `@font-face` rules whose `src` names a static document, or a font in
// force. TrueType, OpenType, WOFF or WOFF2. The PDF contains only the letters in use.
import { type Coverage, coverageOf, type Font, type OwnFontFiles } from './fonts.ts'
import { ConversionError } from './page.ts'
import type { FontFace } from './sheet.ts'
import { damagedFontError, FontError, plainFont, tagsOf, viewOf } from './web-fonts.ts'

/** The file names of a family's four faces. */
type FamilyFaces = Record<'normal' | 'bold' | 'italics' | 'bolditalics', string>

type OwnFonts = {
  readonly fonts: ReadonlyMap<string, Font>
  readonly faces: Readonly<Record<string, FamilyFaces>>
  readonly files: OwnFontFiles
}

/** The maximum for the unpacked bytes of all fonts of a document. */
const MOST_BYTES = 24_000_000

/** Returns the families that the style sheets declare. Throws a ConversionError for a file that is not a font. */
export function ownFonts(declared: readonly FontFace[], packed: OwnFontFiles): OwnFonts {
  const files = new Map<string, Uint8Array>()
  let left = MOST_BYTES
  for (const [name, bytes] of packed) {
    const plain = readFont(name, bytes, left)
    files.set(name, plain)
    left -= plain.length
  }
  const fonts = new Map<string, Font>()
  const faces: Record<string, FamilyFaces> = {}
  for (const [family, all] of Map.groupBy(declared, ({ family }) => family)) {
    const known = all.filter(({ file }) => files.has(file))
    const face = (bold: boolean, italic: boolean): string | undefined =>
      known.find(one => one.bold === bold && one.italic === italic)?.file
    const normal = face(false, false) ?? known[0]?.file
    if (normal === undefined) continue
    const name = `Own ${family}`
    faces[name] = {
      normal,
      bold: face(true, false) ?? normal,
      italics: face(false, true) ?? normal,
      bolditalics: face(true, true) ?? face(true, false) ?? normal,
    }
    fonts.set(family, { name, coverage: coverageIn(normal, files.get(normal)!) })
  }
  return { fonts, faces, files }
}

function readFont(file: string, bytes: Uint8Array, mostBytes: number): Uint8Array {
  try {
    return plainFont(bytes, mostBytes)
  } catch (problem) {
    throw problem instanceof FontError ? unusableFontError(file, problem) : problem
  }
}

function coverageIn(file: string, bytes: Uint8Array): Coverage {
  try {
    return coverageOf(viewOf(bytes))
  } catch {
    throw unusableFontError(file, damagedFontError())
  }
}

const unusableFontError = (file: string, { message }: FontError): ConversionError =>
  new ConversionError(`The font '${file}' cannot be used: ${message}.`)

/** Tags of the tables without which no letter has a shape or a place. */
const NEEDED = ['cmap', 'head', 'hhea', 'hmtx', 'maxp'] as const
/** TrueType or PostScript outlines. */
const OUTLINES = ['glyf', 'CFF ', 'CFF2'] as const

/**
 * Returns why an uploaded font cannot be used, as the end of a sentence, or undefined if it can. `mostBytes` applies to the
 * unpacked font.
 */
export function fontProblem(bytes: Uint8Array, mostBytes: number): string | undefined {
  try {
    const plain = plainFont(bytes, mostBytes)
    const tags = tagsOf(plain)
    const missing = NEEDED.filter(tag => !tags.has(tag))
    if (missing.length > 0) return `it lacks ${missing.map(tag => `'${tag}'`).join(', ')}`
    if (!OUTLINES.some(tag => tags.has(tag))) return 'it has no outlines of glyphs'
    return coverageOf(viewOf(plain)).length === 0 ? 'it maps no characters to glyphs' : undefined
  } catch (problem) {
    if (problem instanceof FontError) return problem.message
    // An offset in the file is beyond its end.
    if (problem instanceof RangeError) return damagedFontError().message
    throw problem
  }
}
