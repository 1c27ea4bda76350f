// Reports conditions that always or never hold.
import type { Expression } from '../../../../packages/liquid/outline.ts'
import { areEqual, type Comparison, isNumeric, type Literal } from './domains.ts'
import type { Evaluation } from './evaluation.ts'
import type { Value } from './values.ts'

/** Reports conditions such as `state == "CA" or "FL"`: a text or number alone is always present, so it always holds. */
export function reportAlwaysHolds({ begin, end }: Expression, { source }: Evaluation): void {
  const alone = source.text.slice(begin, end)
  const message = `${alone} alone always holds. Write a comparison, such as 'x == ${alone}', or remove it.`
  source.remark('alwaysHolds', begin, message)
}

/** Reports a select field that is compared with a value it never has. The branch is dead, or always taken. */
export function reportNeverEqual(
  operator: Comparison,
  value: Value,
  subject: Expression,
  other: Expression,
  literal: Literal,
  evaluation: Evaluation,
): void {
  if ((operator !== '==' && operator !== '!=') || value.is !== 'data' || literal === '') return
  reportNeverHolds(value, subject, other, literal, evaluation)
}

/** Reports a select field without numeric values that is compared with a number: nothing is more or less than `up to 10%`. */
export function reportNeverOrdered(
  operator: Comparison,
  value: Value,
  subject: Expression,
  other: Expression,
  literal: Literal,
  { source }: Evaluation,
): void {
  // Two texts are compared alphabetically.
  if (operator === '==' || operator === '!=' || value.is !== 'data' || typeof literal !== 'number') return
  const whole = source.domainOf(value.node)
  if (whole.kind !== 'words' || whole.words.size === 0 || [...whole.words].some(isNumeric)) return
  const name = source.text.slice(subject.begin, subject.end)
  const message = `'${name}' is never greater or less than ${literal}: it is one of ${joinFirstWords([...whole.words])}. Compare it with these.`
  source.remark('textNotOrdered', other.begin, message)
}

/**
 * Reports a field that is compared with a text or number that is none of its values. All values of the field count, even those that
 * the path excludes. A field without a known list of values is not reported.
 */
export function reportNeverHolds(
  value: Extract<Value, { is: 'data' }>,
  subject: Expression,
  other: Expression,
  literal: Literal,
  { source }: Evaluation,
): void {
  const whole = source.domainOf(value.node)
  if (whole.kind !== 'words' || [...whole.words].some(word => areEqual(word, literal))) return
  const words = [...whole.words]
  const name = source.text.slice(subject.begin, subject.end)
  const message = `'${name}' is never '${literal}': it is one of ${joinFirstWords(words)}. Correct the value.${source.suggestion(String(literal), words)}`
  source.alarm('neverHolds', other.begin, message)
}

const MOST_LISTED = 12

const joinFirstWords = (words: readonly string[]): string =>
  words.slice(0, MOST_LISTED).join(', ') + (words.length > MOST_LISTED ? ', …' : '')

/** Reports a field of texts or numbers that is compared with `true` or `false`, which it never equals. */
export function reportFieldAsFlag(value: Value, other: Expression, { source }: Evaluation): void {
  if (value.is !== 'data') return
  const { node } = value
  if (!node.fields || node.type === 'anything' || node.type === 'flag') return
  const message = `A field is never true or false: its values are texts and numbers. Compare it with one of them, such as 'yes'.`
  source.alarm('neverHolds', other.begin, message)
}
