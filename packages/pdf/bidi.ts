// Texts that are read from the right: which pieces of a paragraph go which way (Unicode's bidirectional algorithm). The
// lines are put in their order when it is known what stands in them (engine-layout.ts).
import { bidi, embeddingLevels } from './bidi-levels.ts'
import type { Run } from './content.ts'

/** Letters of Hebrew, Arabic, Syriac, Thaana, N'Ko … and their forms. */
const FROM_THE_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** Whether the paragraph goes from the right, with `auto` by its first letter. */
export type Direction = 'ltr' | 'rtl' | undefined

/** The runs, cut where the direction changes, each with its level: odd ones go from the right. */
export function directed(runs: readonly Run[], direction: Direction): { runs: Run[]; fromTheRight: boolean } {
  const text = runs.map(run => run.text).join('')
  if (direction !== 'rtl' && !FROM_THE_RIGHT.test(text)) return { runs: [...runs], fromTheRight: false }
  const { levels, base } = embeddingLevels(text, direction)
  const cut: Run[] = []
  let at = 0
  for (const run of runs) {
    const end = at + run.text.length
    if (at === end) cut.push(run)
    while (at < end) {
      const start = at
      const level = levels[at]!
      while (at < end && levels[at] === level) at += 1
      cut.push({ ...run, text: shown(text.slice(start, at), level), ...(level > 0 && { level }) })
    }
  }
  return { runs: cut, fromTheRight: base % 2 === 1 }
}

/** Brackets are turned round; what has no letters the engine takes for text from the left. */
function shown(text: string, level: number): string {
  if (level % 2 === 0) return text
  const mirrored = [...text].map(character => bidi.getMirroredCharacter(character) ?? character)
  return FROM_THE_RIGHT.test(text) ? mirrored.join('') : mirrored.reverse().join('')
}
