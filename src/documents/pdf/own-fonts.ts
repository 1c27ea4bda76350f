// Fonts that a configuration brings: `@font-face` with a `src` that names a file of static_documents, TrueType or
// OpenType. The PDF holds the letters in use only.
import type { OwnFontFiles } from './font-names.ts'
import { type Coverage, coverageOf, type Font } from './fonts.ts'
import { ConversionError } from './page.ts'
import type { FontFace } from './sheet.ts'

/** The four faces of a family, by the names of their files. */
export type FamilyFaces = Record<'normal' | 'bold' | 'italics' | 'bolditalics', string>

export type OwnFonts = {
  readonly fonts: ReadonlyMap<string, Font>
  readonly faces: Readonly<Record<string, FamilyFaces>>
}

/** The families that the style sheets declare. Throws a ConversionError for a file that is no font. */
export function ownFonts(declared: readonly FontFace[], files: OwnFontFiles): OwnFonts {
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
  return { fonts, faces }
}

/** `true` and 0x00010000: TrueType; `OTTO`: OpenType with PostScript outlines. */
const SIGNATURES = new Set([0x74727565, 0x00010000, 0x4f54544f])

function coverageIn(file: string, bytes: Uint8Array): Coverage {
  const { buffer, byteOffset, byteLength } = bytes
  const view = new DataView(buffer, byteOffset, byteLength)
  try {
    if (!SIGNATURES.has(view.getUint32(0))) throw new Error('no font')
    return coverageOf(view)
  } catch {
    throw new ConversionError(`The font '${file}' is neither TrueType nor OpenType; use a .ttf or .otf file.`)
  }
}
