type Word = { readonly width: number; readonly trailingCut?: number; readonly noNewLine?: boolean }

type Line = {
  readonly inlines: readonly unknown[]
  readonly inlineWidths: number
  readonly leadingCut: number
  readonly maxWidth: number
  readonly newLineForced: boolean
}

/** In points. A column as wide as its text is a sum of widths, which is not exact. */
const HAIR = 0.001

/**
 * Whether the word fits in the line together with all words that must stay with it. For each word the engine adds up all of
 * these, hundreds if the direction changes with each letter. This function stops when the line is full.
 */
export function hasRoom(line: Line, word: Word, following: Iterable<Word>): boolean {
  if (line.inlines.length === 0) return true
  if (line.newLineForced) return false
  let { width, trailingCut: cut = 0 } = word
  const fits = (): boolean => line.inlineWidths + width - line.leadingCut - cut <= line.maxWidth + HAIR
  if (!word.noNewLine) return fits()
  for (const next of following) {
    if (!fits()) return false
    width += next.width
    cut += next.trailingCut ?? 0
    if (!next.noNewLine) break
  }
  return fits()
}
