import type { FieldDefinition } from '../../configuration.ts'
import { assertPattern } from '../../fields/patterns.ts'
import type { JsonPath } from '../json/read.ts'
import type { FieldContext } from './fields.ts'

const LONGEST_PATTERN = 2_000

/** The pattern if the linear-time engine takes it; else an error, since it could not run later either. */
export function checkRegex(
  pattern: string,
  path: JsonPath,
  { place, report }: FieldContext,
): Pick<FieldDefinition, 'regex'> {
  if (pattern.length > LONGEST_PATTERN) {
    report.error(
      place(path),
      'badRegex',
      `The pattern has ${pattern.length} characters; at most ${LONGEST_PATTERN} are allowed. Shorten it.`,
    )
    return {}
  }
  if (!report.afford('patternSize', compiledSize(pattern))) {
    report.error(
      place(path),
      'badRegex',
      'With this pattern those of the archive are too large together. Write smaller repetitions, like {1,20}.',
    )
    return {}
  }
  try {
    assertPattern(pattern)
    return { regex: pattern }
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/\.$/, '') : 'it does not parse'
    report.error(
      place(path),
      'badRegex',
      `The pattern does not compile: ${reason}. Use RE2 syntax, which has no look-around and no back-references.`,
    )
    return {}
  }
}

/** The engine refuses nested repetitions that multiply to more. */
const MOST_REPETITIONS = 1_000

/** Upper bound of what the engine writes out for a pattern: every part as often as the repetitions multiply to. */
function compiledSize(pattern: string): number {
  let repetitions = 1
  for (const [, least, most] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    repetitions = Math.min(MOST_REPETITIONS, repetitions * Math.max(1, Number(most || least)))
  return pattern.length * repetitions
}
