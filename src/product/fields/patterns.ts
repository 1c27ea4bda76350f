// Patterns of text fields, matched in linear time. The engine is large, so it is loaded with the first configuration.
import type { RE2JS } from 're2js'
import { loadPatterns } from '../../bundles/load.ts'
import { Memo } from '../../kernel/maps.ts'
import { splitLookAround } from './look-around.ts'

let engine: typeof RE2JS | undefined

/** Loads the engine. Call it before matching, which is synchronous. */
export async function loadPatternEngine(): Promise<void> {
  engine ??= (await loadPatterns()).RE2JS
}

function compileWithEngine(source: string): RE2JS {
  if (!engine) throw new Error('Call loadPatternEngine() before matching a pattern.')
  return engine.compile(engine.translateRegExp(source))
}

type Look = { readonly pattern: RE2JS; readonly isWanted: boolean; readonly place: number | 'end' }
type Pattern = { readonly plain: RE2JS; readonly looks: readonly Look[]; readonly size: number }

const patterns = new Memo<string, Pattern>(256)

/** The pattern of the whole text for a look-around at its end. */
const wholeTextPattern = (pattern: string): string => `(?s:.*)(?:${pattern})`

const compile = (source: string): Pattern => patterns.getOrMake(source, () => compilePattern(source))

function compilePattern(source: string): Pattern {
  const { plain, looks } = splitLookAround(source)
  const own = compileWithEngine(plain)
  const others = looks.map(({ pattern, isWanted, place }) => ({
    isWanted,
    place,
    pattern: compileWithEngine(place === 'end' ? wholeTextPattern(pattern) : pattern),
  }))
  const size = [own, ...others.map(one => one.pattern)].reduce((sum, one) => sum + one.programSize(), 0)
  return { plain: own, looks: others, size }
}

/** Returns why the pattern cannot be used; undefined if it can. */
export function patternProblem(source: string): string | undefined {
  try {
    compile(source)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message.replace(/\.$/, '') : 'it does not parse'
  }
}

/** An upper bound for the cost of a match: instructions × characters. Throws like `matchesPattern`. */
export const patternSteps = (source: string, text: string): number => compile(source).size * (text.length + 1)

/** Matches the whole text in linear time. Throws for a source that `patternProblem` rejects. */
export function matchesPattern(source: string, text: string): boolean {
  const { plain, looks } = compile(source)
  // Not `RE2JS.matches`: it builds an automaton of up to 8 MB for each pattern, and an isolate has 128 MB.
  return (
    plain.matcher(text).matches() &&
    looks.every(({ pattern, isWanted, place }) => {
      const found =
        place === 'end'
          ? pattern.matcher(text).matches()
          : pattern.matcher(skipCharacters(text, place)).lookingAt()
      return found === isWanted
    })
  )
}

/** The text after a number of code points, which is how patterns count characters. */
function skipCharacters(text: string, count: number): string {
  let at = 0
  for (let passed = 0; passed < count; passed += 1) at += text.codePointAt(at)! > 0xffff ? 2 : 1
  return text.slice(at)
}
