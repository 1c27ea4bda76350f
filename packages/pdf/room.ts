type Word = { readonly width: number; readonly trailingCut?: number; readonly noNewLine?: boolean }

type Line = {
  readonly inlines: readonly unknown[]
  readonly inlineWidths: number
  readonly leadingCut: number
  readonly maxWidth: number
  readonly newLineForced: boolean
}

/**
 * Whether the word fits the line, with all that must stay with it. The engine adds these up to the last for each word, hundreds where the
 * direction changes with each letter; this stops where the line is full.
 */
export function hasRoom(line: Line, word: Word, following: Iterable<Word>): boolean {
  if (line.inlines.length === 0) return true
  if (line.newLineForced) return false
  let { width, trailingCut: cut = 0 } = word
  const fits = (): boolean => line.inlineWidths + width - line.leadingCut - cut <= line.maxWidth
  if (!word.noNewLine) return fits()
  for (const next of following) {
    if (!fits()) return false
    width += next.width
    cut += next.trailingCut ?? 0
    if (!next.noNewLine) break
  }
  return fits()
}
