// What an isolate was asked of constraint tables: contents never change under their revision, so an answer holds for ever,
// and a table of a million rows is gone through once for each question, not each time.
import type { Question } from './scan.ts'

/** Characters of all answers and their questions. */
const MOST_CHARACTERS = 2 * 1_048_576
/** Longer ones are worked out anew. */
const LONGEST_ANSWER = 64 * 1_024

type Answer = readonly string[]

/** In the order of use: the first was used the longest ago. */
const known = new Map<string, { readonly answer: Answer; readonly characters: number }>()
let characters = 0

const nameOf = (contents: string, question: Question): string => `${contents}/${JSON.stringify(question)}`

/** The answers in the order of the questions; those that are not known are asked for together, if there are any. */
export async function answered(
  contents: string,
  questions: readonly Question[],
  ask: (unknown: readonly Question[]) => Promise<readonly Answer[]>,
): Promise<readonly Answer[]> {
  const names = questions.map(question => nameOf(contents, question))
  const found = names.map(recalled)
  const unknown = questions.filter((_, at) => found[at] === undefined)
  const asked = unknown.length === 0 ? [] : [...(await ask(unknown))].reverse()
  return found.map((answer, at) => {
    if (answer) return answer
    const made = asked.pop()!
    remember(names[at]!, made)
    return made
  })
}

function recalled(name: string): Answer | undefined {
  const entry = known.get(name)
  if (!entry) return undefined
  known.delete(name)
  known.set(name, entry)
  return entry.answer
}

function remember(name: string, answer: Answer): void {
  const size = answer.reduce((sum, text) => sum + text.length + 20, 100 + name.length)
  if (size > LONGEST_ANSWER || known.has(name)) return
  known.set(name, { answer, characters: size })
  characters += size
  for (const [oldest, entry] of known) {
    if (characters <= MOST_CHARACTERS) break
    known.delete(oldest)
    characters -= entry.characters
  }
}
