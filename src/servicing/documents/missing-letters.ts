/** Most characters that a warning names. */
const MOST_NAMED = 20

/** What the author of a document is told of characters that no font has, each once in `missing`. */
export function missingLetters(missing: string): string {
  const all = [...missing]
  const named = all
    .slice(0, MOST_NAMED)
    .map(one => `${one} (U+${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')})`)
  const more = all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : ''
  return `no font has ${named.join(', ')}${more}; boxes stand in their places. Upload a font that has them, or put it into static_documents, and name it by @font-face.`
}
