// Patterns of fields, by an engine that takes linear time. It is large: loaded with the first configuration.
import type { RE2JS } from 're2js'
import { loadPatterns } from '../../bundles/load.ts'
import { BoundedCache } from '../../kernel/bounded-cache.ts'

let engine: typeof RE2JS | undefined

/** Matching is synchronous: the engine has to be there before. Loads it once. */
export async function loadPatternEngine(): Promise<void> {
  engine ??= (await loadPatterns()).RE2JS
}

/** Instructions of the largest pattern that a configuration may have. */
const LARGEST_PATTERN_SIZE = 2_000

const compiled = new BoundedCache<RE2JS>(256)

function patternEngine(): typeof RE2JS {
  if (!engine) throw new Error('No pattern is matched before loadPatternEngine().')
  return engine
}

/** Throws with the reason when the source is not RE2 syntax as it stands. */
export function assertPattern(source: string): void {
  patternEngine().compile(source)
}

function compile(source: string): RE2JS {
  const engine = patternEngine()
  const pattern = compiled.get(source) ?? engine.compile(engine.translateRegExp(source))
  compiled.set(source, pattern)
  return pattern
}

/** Why a field may not have the pattern (RE2 syntax, at most 2,000 instructions); undefined when it may. */
export function patternProblem(source: string): string | undefined {
  try {
    const size = compile(source).programSize()
    if (size <= LARGEST_PATTERN_SIZE) return undefined
    return `The pattern compiles to ${size} instructions; simplify it to at most ${LARGEST_PATTERN_SIZE}.`
  } catch (error) {
    return `The pattern is not RE2 syntax: ${error instanceof Error ? error.message : String(error)}.`
  }
}

/** Upper bound of the steps that matching takes: instructions × characters. Throws as `matchesPattern`. */
export const patternSteps = (source: string, text: string): number =>
  compile(source).programSize() * (text.length + 1)

/** Whether the pattern matches the whole text, in linear time. Throws on a source that `patternProblem` refuses. */
export function matchesPattern(source: string, text: string): boolean {
  // Not `RE2JS.matches`: it builds an automaton of up to 8 MB for each pattern, and an isolate has 128 MB.
  return compile(source).matcher(text).matches()
}
