// Splits paths by a condition: narrows the data to the values for which it holds, and to those for which it fails.
import type { Expression, FilteredValue } from '../../../../packages/liquid/outline.ts'
import {
  reportAlwaysHolds,
  reportFieldAsFlag,
  reportNeverEqual,
  reportNeverHolds,
  reportNeverOrdered,
} from './constant-conditions.ts'
import {
  areEqual,
  type Comparison,
  type Domain,
  type Interval,
  intersection,
  intervalOf,
  isEmpty,
  type Literal,
  onlyAbsent,
  onlyPresent,
  splitByComparison,
  union,
} from './domains.ts'
import type { Evaluation } from './evaluation.ts'
import { joinPaths, type Path, type Value } from './values.ts'

/** The paths on which a condition holds, and those on which it fails. */
export type Split = { readonly holds: readonly Path[]; readonly fails: readonly Path[] }

const COMPARISONS: Readonly<Record<string, Comparison>> = {
  '==': '==',
  '!=': '!=',
  '<>': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
  '===': '==',
  '!==': '!=',
}

const SWAPPED: Readonly<Record<Comparison, Comparison>> = {
  '==': '==',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
}

/**
 * Splits a path by a condition and reports mistakes in it. Changes `path` itself, so pass a fork to keep the original. A condition
 * with filters may hold or fail, with the same result wherever the path tests it again.
 */
export function splitBy(condition: FilteredValue, path: Path, evaluation: Evaluation): Split {
  const { initial, filters } = condition
  if (filters.length === 0) return split(initial, path, evaluation)
  evaluation.valueOf(condition, path, true)
  return splitUnknown(path, conditionText(condition, evaluation))
}

/**
 * Splits by a condition of which nothing is known: it may hold or fail. If the path has already decided the same condition, the
 * result is the same.
 */
function splitUnknown(
  path: Path,
  asked: string,
  subject?: { readonly text: string; readonly literal: Literal },
): Split {
  const key = ASKED + asked
  const known = path.facts.get(key)
  const same = subject && path.facts.get(EQUALS + subject.text)
  const before = singleWord(known) ?? (same && equality(same, subject.literal))
  if (before === 'holds') return { holds: [path], fails: [] }
  if (before === 'fails') return { holds: [], fails: [path] }
  const holding = path.fork()
  holding.facts.set(key, HOLDS)
  path.facts.set(key, FAILS)
  if (subject) holding.facts.set(EQUALS + subject.text, wordDomain(String(subject.literal)))
  return { holds: [holding], fails: [path] }
}

const wordDomain = (word: string): Domain => ({ kind: 'words', words: new Set([word]), canBeAbsent: false })
const HOLDS = wordDomain('holds')
const FAILS = wordDomain('fails')

/** The single word of a domain; undefined if there are several, as after joining paths. */
const singleWord = (domain: Domain | undefined): string | undefined =>
  domain?.kind === 'words' && domain.words.size === 1 ? [...domain.words][0] : undefined

function equality(same: Domain, literal: Literal): 'holds' | 'fails' | undefined {
  const word = singleWord(same)
  if (word === undefined) return undefined
  return areEqual(word, literal) ? 'holds' : 'fails'
}

/** Prefixes of facts about conditions with unknown values, by the text of the source. */
const ASKED = '?'
const EQUALS = '='

/** Forgets what conditions decided about a variable, because it has a new value. */
export function forgetConditionsOn(path: Path, variable: string): void {
  for (const key of path.facts.keys())
    if ((key.startsWith(ASKED) || key.startsWith(EQUALS)) && containsName(key, variable))
      path.facts.delete(key)
}

function containsName(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (!/[\w.-]/.test(text[at - 1] ?? ' ') && !/[\w-]/.test(text[at + name.length] ?? ' ')) return true
  return false
}

/** The condition as written in the source, with insignificant differences removed. */
const conditionText = ({ begin, end }: { begin: number; end: number }, { source }: Evaluation): string =>
  source.text.slice(begin, end).replaceAll("'", '"').replace(/\s+/g, ' ').trim()

function split(expression: Expression, path: Path, evaluation: Evaluation): Split {
  if (expression.kind === 'operation') {
    const { operator, left, right } = expression
    if (operator === 'and' || operator === 'or') return splitChain(expression, path, evaluation)
    const comparison = COMPARISONS[operator]
    if (comparison) return comparisonSplit(comparison, left, right, path, evaluation)
    checkContains(operator, left, right, path, evaluation)
    return splitUnknown(path, conditionText(expression, evaluation))
  }
  if (expression.kind === 'group' && expression.value.filters.length === 0)
    return split(expression.value.initial, path, evaluation)
  if (expression.kind === 'text' || expression.kind === 'number') {
    reportAlwaysHolds(expression, evaluation)
    return { holds: [path], fails: [] }
  }
  const value = evaluation.expression(expression, path, true)
  if (value.is === 'nothing') return { holds: [], fails: [path] }
  if (value.is === 'flag') return value.value ? { holds: [path], fails: [] } : { holds: [], fails: [path] }
  const domain = presenceOf(value, path, evaluation)
  if (!domain) return splitUnknown(path, conditionText(expression, evaluation))
  return splitByDomains(path, value, onlyPresent(domain), onlyAbsent(domain))
}

type Operation = Extract<Expression, { kind: 'operation' }>

const isChained = (expression: Expression): expression is Operation =>
  expression.kind === 'operation' && (expression.operator === 'and' || expression.operator === 'or')

/** Splits by `a and b or c …`, which groups from the right. Goes from term to term, so that no chain fills the stack. */
function splitChain(chain: Operation, path: Path, evaluation: Evaluation): Split {
  const holds: Path[] = []
  const fails: Path[] = []
  let open: readonly Path[] = [path]
  let rest: Expression = chain
  while (isChained(rest)) {
    const { operator, left, right }: Operation = rest
    const splits = open.map(one => split(left, one, evaluation))
    const held = splits.flatMap(one => one.holds)
    const failed = splits.flatMap(one => one.fails)
    if (operator === 'and') fails.push(...failed)
    else holds.push(...held)
    open = operator === 'and' ? held : failed
    rest = right
  }
  const last = open.map(one => split(rest, one, evaluation))
  holds.push(...last.flatMap(one => one.holds))
  fails.push(...last.flatMap(one => one.fails))
  return { holds: joinPaths(holds, union), fails: joinPaths(fails, union) }
}

/** The domain for a test of presence, which any part of the data permits. */
function presenceOf(value: Value, path: Path, evaluation: Evaluation): Domain | undefined {
  if (value.is !== 'data' || value.node.type === 'flag') return undefined
  const known = evaluation.domainOf(value, path)
  if (known) return known
  return (
    path.facts.get(value.key) ?? {
      kind: 'anything',
      canBePresent: true,
      canBeAbsent: value.node.isOptional === true,
    }
  )
}

const keyOf = (value: Value): string | undefined =>
  value.is === 'data' || value.is === 'number' ? value.key : undefined

function splitByDomains(path: Path, value: Value, holds: Domain, fails: Domain): Split {
  const key = keyOf(value)
  if (key === undefined) return { holds: [path.fork()], fails: [path] }
  const withFact = (domain: Domain): Path[] => {
    if (isEmpty(domain)) return []
    const narrowed = path.fork()
    narrowed.facts.set(key, domain)
    return [narrowed]
  }
  return { holds: withFact(holds), fails: withFact(fails) }
}

function literalOf(expression: Expression, value: Value): Literal | undefined {
  if (expression.kind === 'number') return expression.value
  if (expression.kind === 'text') return expression.value
  if (value.is === 'number') return value.value
  return value.is === 'text' && value.words?.length === 1 ? value.words[0] : undefined
}

/** Spends work in proportion to the words or intervals of the domain. */
function spendForDomain(domain: Domain, { source }: Evaluation): void {
  if (domain.kind === 'words') source.spend(Math.ceil(domain.words.size / WORDS_OF_A_UNIT))
  if (domain.kind === 'numbers') source.spend(domain.parts.length * UNITS_OF_AN_INTERVAL)
}

const WORDS_OF_A_UNIT = 16
const UNITS_OF_AN_INTERVAL = 2

const isNothing = (expression: Expression): boolean =>
  expression.kind === 'word' && ['nil', 'blank', 'empty'].includes(expression.value)

function comparisonSplit(
  operator: Comparison,
  left: Expression,
  right: Expression,
  path: Path,
  evaluation: Evaluation,
): Split {
  const asked = conditionText({ begin: left.begin, end: right.end }, evaluation)
  const asksForNothing = isNothing(left) || isNothing(right)
  const a = evaluation.expression(left, path, asksForNothing)
  const b = evaluation.expression(right, path, asksForNothing)
  const [value, subject, other, otherValue, comparison] =
    keyOf(a) === undefined ? [b, right, left, a, SWAPPED[operator]] : [a, left, right, b, operator]
  if (isNothing(other)) {
    const domain = presenceOf(value, path, evaluation)
    if (!domain || (operator !== '==' && operator !== '!=')) return splitUnknown(path, asked)
    const [present, absent] = [onlyPresent(domain), onlyAbsent(domain)]
    return operator === '=='
      ? splitByDomains(path, value, absent, present)
      : splitByDomains(path, value, present, absent)
  }
  const literal = literalOf(other, otherValue)
  const domain = evaluation.domainOf(value, path)
  if (otherValue.is === 'flag') reportFieldAsFlag(value, other, evaluation)
  const constant = literalOf(subject, value)
  if (!domain && literal !== undefined && constant !== undefined)
    return isComparisonTrue(constant, comparison, literal)
      ? { holds: [path], fails: [] }
      : { holds: [], fails: [path] }
  if (!domain || literal === undefined)
    return unknownSplit(operator, asked, subject, literal, path, evaluation)
  spendForDomain(domain, evaluation)
  reportNeverEqual(comparison, value, subject, other, literal, evaluation)
  reportNeverOrdered(comparison, value, subject, other, literal, evaluation)
  const { holds, fails } = splitByComparison(domain, comparison, literal)
  return splitByDomains(path, value, holds, fails)
}

/** Whether a comparison of two constants holds. */
function isComparisonTrue(a: Literal, operator: Comparison, b: Literal): boolean {
  if (operator === '==' || operator === '!=') return areEqual(a, b) === (operator === '==')
  const [left, right] = [Number(a), Number(b)]
  if (operator === '<') return left < right
  if (operator === '<=') return left <= right
  return operator === '>' ? left > right : left >= right
}

/** Splits by a comparison with an unknown value. If it equals one text, it equals no other. */
function unknownSplit(
  operator: Comparison,
  asked: string,
  subject: Expression,
  literal: Literal | undefined,
  path: Path,
  evaluation: Evaluation,
): Split {
  if (literal === undefined || (operator !== '==' && operator !== '!=')) return splitUnknown(path, asked)
  const text = conditionText(subject, evaluation)
  const { holds, fails } = splitUnknown(path, `${text} == ${literal}`, { text, literal })
  return operator === '==' ? { holds, fails } : { holds: fails, fails: holds }
}

/** Checks conditions such as `devices contains "alarm"` on a list of select values. */
function checkContains(
  operator: string,
  left: Expression,
  right: Expression,
  path: Path,
  evaluation: Evaluation,
): void {
  const list = evaluation.expression(left, path, true)
  const value = evaluation.expression(right, path, true)
  const items = operator === 'contains' && list.is === 'data' ? list.node.items : undefined
  const literal = literalOf(right, value)
  if (!items || literal === undefined || list.is !== 'data') return
  reportNeverHolds({ is: 'data', node: items, key: `${list.key}[]` }, left, right, literal, evaluation)
}

/** Splits by the values of a `when` in a `case`. */
export function splitByValues(
  subject: Value,
  shown: Expression,
  values: readonly Expression[],
  path: Path,
  evaluation: Evaluation,
): Split {
  let rest: readonly Path[] = [path]
  const holds: Path[] = []
  for (const one of values) {
    const value = evaluation.expression(one, path)
    const literal = literalOf(one, value)
    if (literal !== undefined) reportNeverEqual('==', subject, shown, one, literal, evaluation)
    const splits = rest.map((from): Split => {
      const domain = evaluation.domainOf(subject, from)
      const constant = literalOf(shown, subject)
      if (!domain && literal !== undefined && constant !== undefined)
        return areEqual(constant, literal) ? { holds: [from], fails: [] } : { holds: [], fails: [from] }
      if (!domain || literal === undefined)
        return unknownSplit('==', conditionText(one, evaluation), shown, literal, from, evaluation)
      spendForDomain(domain, evaluation)
      const { holds: same, fails } = splitByComparison(domain, '==', literal)
      return splitByDomains(from, subject, same, fails)
    })
    holds.push(...splits.flatMap(split => split.holds))
    rest = splits.flatMap(split => split.fails)
  }
  return { holds: joinPaths(holds, union), fails: rest }
}

/** A range that a branch of a ladder tests. */
export type TestedRange = {
  readonly value: Value
  readonly key: string
  readonly parts: readonly Interval[]
  /** Whether both ends are written out. */
  readonly isBounded: boolean
}

/** The range of one number that a condition tests; undefined for any other condition. */
export function testedRange(
  condition: FilteredValue,
  path: Path,
  evaluation: Evaluation,
): TestedRange | undefined {
  return condition.filters.length > 0 ? undefined : rangeOf(condition.initial, path, evaluation)
}

function rangeOf(expression: Expression, path: Path, evaluation: Evaluation): TestedRange | undefined {
  let whole: TestedRange | undefined
  let rest = expression
  while (rest.kind === 'operation' && rest.operator === 'and') {
    const { left, right }: Operation = rest
    whole = overlap(whole, rangeOf(left, path, evaluation))
    if (!whole) return undefined
    rest = right
  }
  return overlap(whole, comparedRange(rest, path, evaluation))
}

function overlap(a: TestedRange | undefined, b: TestedRange | undefined): TestedRange | undefined {
  if (!a || !b) return b
  if (a.key !== b.key) return undefined
  const parts = intersection(a.parts, b.parts, undefined)
  const isBounded = parts.every(one => Number.isFinite(one.low) && Number.isFinite(one.high))
  return { ...a, parts, isBounded }
}

function comparedRange(expression: Expression, path: Path, evaluation: Evaluation): TestedRange | undefined {
  if (expression.kind !== 'operation') return undefined
  const { operator, left, right } = expression
  const comparison = COMPARISONS[operator]
  if (!comparison || comparison === '!=') return undefined
  const [a, b] = [evaluation.expression(left, path, true), evaluation.expression(right, path, true)]
  const [value, literal, asked] =
    keyOf(a) === undefined
      ? [b, literalOf(left, a), SWAPPED[comparison]]
      : [a, literalOf(right, b), comparison]
  const key = keyOf(value)
  const number = typeof literal === 'string' ? Number(literal) : literal
  if (key === undefined || number === undefined || !Number.isFinite(number)) return undefined
  if (evaluation.domainOf(value, path)?.kind !== 'numbers') return undefined
  const parts = [intervalOf(asked as Exclude<Comparison, '!='>, number)]
  return { value, key, parts, isBounded: asked === '==' }
}
