// Which font has a character. Noto Sans has Latin, Greek, Cyrillic, Vietnamese and Devanagari; what it lacks is
// looked for in DejaVu Sans: Hebrew, Arabic, Armenian, Georgian, symbols.

/** The faces that the renderer needs, each a TrueType file. */
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

/** Above the base line and below it, as multiples of the font's size. */
export const MAIN_FONT_EXTENT = { above: 1.069, below: 0.293 } as const

/** Spans of code points, flat: start, end (inclusive), start, end … in order. */
export type Coverage = readonly number[]

/** The characters that a TrueType font has, by its cmap: formats 4 and 12, which every font in use has. */
export function coverageOf(font: ArrayBuffer): Coverage {
  const view = new DataView(font)
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

/** Whether the spans have the code point. */
export function covers(spans: Coverage, code: number): boolean {
  let [low, high] = [0, spans.length / 2 - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    if (code < spans[middle * 2]!) high = middle - 1
    else if (code > spans[middle * 2 + 1]!) low = middle + 1
    else return true
  }
  return false
}

/** The text in pieces, each with the font that has its characters; a character that neither has stays with the main one. */
export function byFont(text: string, main: Coverage, other: Coverage): { text: string; font: string }[] {
  const pieces: { text: string; font: string }[] = []
  for (const character of text) {
    const code = character.codePointAt(0)!
    const last = pieces.at(-1)
    const isOther = code > 0x7e && !covers(main, code) && covers(other, code)
    // Blanks within other letters belong to them, so that they are shaped as one.
    const font = isOther || (character === ' ' && last?.font === OTHER_FONT) ? OTHER_FONT : MAIN_FONT
    if (last?.font === font) last.text += character
    else pieces.push({ text: character, font })
  }
  return pieces
}
