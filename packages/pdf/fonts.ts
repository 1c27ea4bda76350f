// Chooses a font for each character. Noto Sans covers Latin, Greek, Cyrillic, Vietnamese and Devanagari. DejaVu Sans covers
// Hebrew, Arabic, Armenian, Georgian and symbols. The configuration's fonts add theirs.

/** The fonts that the renderer needs, all of them, as TrueType files. */
export type FontFiles = {
  readonly regular: ArrayBuffer
  readonly bold: ArrayBuffer
  readonly italic: ArrayBuffer
  readonly boldItalic: ArrayBuffer
  readonly otherRegular: ArrayBuffer
  readonly otherBold: ArrayBuffer
}

export const MAIN_FONT = 'Main'
export const OTHER_FONT = 'Other'

/** The extent above and below the baseline, as multiples of the font size. */
export const MAIN_FONT_EXTENT = { above: 1.069, below: 0.293 } as const

/** Flat, sorted ranges of code points: start, end (inclusive), start, end … */
export type Coverage = readonly number[]

/** Returns the characters of a TrueType font from its cmap, in formats 4 and 12, which every font in use has. */
export function coverageOf(view: DataView): Coverage {
  const tables = view.getUint16(4)
  for (let at = 12; at < 12 + tables * 16; at += 16)
    if (view.getUint32(at) === 0x636d6170) return cmapCoverage(view, view.getUint32(at + 8))
  return []
}

function cmapCoverage(view: DataView, cmap: number): Coverage {
  let best: { format: number; at: number } | undefined
  for (let index = 0; index < view.getUint16(cmap + 2); index += 1) {
    const at = cmap + view.getUint32(cmap + 4 + index * 8 + 4)
    const format = view.getUint16(at)
    if ((format === 4 || format === 12) && (best === undefined || format > best.format)) best = { format, at }
  }
  if (!best) return []
  const { at } = best
  const spans: number[] = []
  if (best.format === 12)
    for (let group = 0; group < view.getUint32(at + 12); group += 1)
      spans.push(view.getUint32(at + 16 + group * 12), view.getUint32(at + 20 + group * 12))
  else {
    const doubled = view.getUint16(at + 6)
    for (let segment = 0; segment < doubled; segment += 2)
      spans.push(view.getUint16(at + 16 + doubled + segment), view.getUint16(at + 14 + segment))
  }
  return spans
}

function covers(spans: Coverage, code: number): boolean {
  let [low, high] = [0, spans.length / 2 - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    if (code < spans[middle * 2]!) high = middle - 1
    else if (code > spans[middle * 2 + 1]!) low = middle + 1
    else return true
  }
  return false
}

/** `name` is the engine's name of the font. */
export type Font = { readonly name: string; readonly coverage: Coverage }

export type DocumentFonts = {
  readonly main: Font
  readonly other: Font
  /** Fonts of the configuration (`@font-face`), by family in lower case. */
  readonly own: ReadonlyMap<string, Font>
  /** Characters of the document that no font contains. */
  readonly missing: Set<string>
}

/** Characters without a visible shape: joiners, direction marks, variation selectors, blanks. */
const UNSEEN = /^(?:[\s\u00a0\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]|\p{Variation_Selector})$/u

/** Splits the text by font. Records characters that no font contains as missing. */
export function byFont(text: string, fonts: DocumentFonts, family: Font | undefined) {
  const pieces: { text: string; font: string }[] = []
  for (const character of text) {
    const last = pieces.at(-1)
    // Joiners and marks belong to the preceding letter.
    const font =
      last && character !== ' ' && character !== '\n' && UNSEEN.test(character)
        ? last.font
        : fontOf(character, fonts, family).name
    if (last?.font === font) last.text += character
    else pieces.push({ text: character, font })
  }
  return pieces
}

function fontOf(character: string, fonts: DocumentFonts, family: Font | undefined): Font {
  const { main, other, own, missing } = fonts
  const code = character.codePointAt(0)!
  if (family && covers(family.coverage, code)) return family
  if (code <= 0x7e || covers(main.coverage, code)) return main
  if (covers(other.coverage, code)) return other
  for (const font of own.values()) if (covers(font.coverage, code)) return font
  if (!UNSEEN.test(character)) missing.add(character)
  return main
}

export type OwnFontFiles = ReadonlyMap<string, Uint8Array>

/** A source that is a file of the configuration: a name without scheme or folder. */
const FONT_SOURCE = /url\(\s*["']?([^"'():/]{1,200}\.(?:ttf|otf|woff2?))["']?\s*\)/gi

/**
 * Returns the file names in the `@font-face` rules of the HTML, each once, in the order of the first mention. The files need not
 * exist.
 */
export function fontNames(html: string): string[] {
  const names = new Set<string>()
  const rules = html.split(/@font-face\s*\{/i).slice(1)
  for (const rule of rules)
    for (const [, name] of rule.slice(0, (rule.indexOf('}') + 1 || 1) - 1).matchAll(FONT_SOURCE))
      names.add(name!.trim())
  return [...names]
}

const mediaType = (name: string): string => {
  const ending = name.trim().split('.').at(-1)!.toLowerCase()
  return ending.startsWith('woff') ? `font/${ending}` : 'font/sfnt'
}

/** Matches fonts that `withFonts` embedded. */
const EMBEDDED_FONT = /url\(data:font\/(sfnt|woff2?);base64,([A-Za-z0-9+/=]*)\)/g

/** Undoes `withFonts`: returns the HTML with file names in place of embedded fonts, and the files. */
export function withoutFonts(html: string): { html: string; fonts: OwnFontFiles } {
  const fonts = new Map<string, Uint8Array>()
  const named = html.replace(EMBEDDED_FONT, (_, kind: string, encoded: string) => {
    const name = `embedded-${fonts.size + 1}.${kind === 'sfnt' ? 'ttf' : kind}`
    fonts.set(name, Buffer.from(encoded, 'base64'))
    return `url(${name})`
  })
  return { html: named, fonts }
}

/** Embeds into the HTML the files that `@font-face` names. */
export const withFonts = (html: string, fonts: OwnFontFiles): string =>
  fonts.size === 0
    ? html
    : html.replace(FONT_SOURCE, (whole, name: string) => {
        const bytes = fonts.get(name.trim())
        return bytes ? `url(data:${mediaType(name)};base64,${Buffer.from(bytes).toString('base64')})` : whole
      })
