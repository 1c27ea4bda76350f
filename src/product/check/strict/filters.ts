// The results of template filters, as far as their input is known.
import type { AppliedFilter } from '../../../../packages/liquid/outline.ts'
import { SETTERS } from '../product/templates.ts'
import type { Domain } from './domains.ts'
import { checkEffect } from './effects.ts'
import { malformedNumberAdvice } from './number-slips.ts'
import type { AnalysedSource } from './source.ts'
import { ANYTHING, NUMBER, type Path, TEXT, type Value } from './values.ts'

/** What filters need from the evaluation. */
export type Knowledge = {
  readonly source: AnalysedSource
  domainOf(value: Value, path: Path): Domain | undefined
  canBeAbsent(value: Value, path: Path): boolean
  isAbsent(value: Value, path: Path): boolean
  wordsOf(value: Value, path: Path): readonly string[] | undefined
  whyNotNumber(value: Value, path: Path): string | undefined
}

type Filtering = (input: Value, args: readonly Value[], call: Call) => Value

type Call = { readonly filter: AppliedFilter; readonly path: Path; readonly known: Knowledge }

/**
 * Returns the result of a filter, as far as it is known. Reports a filter that has no effect in this kind of template, and marks
 * the fields of a record that is used as a whole.
 */
export function applyFilter(
  input: Value,
  filter: AppliedFilter,
  args: readonly Value[],
  path: Path,
  known: Knowledge,
): Value {
  const apply = Object.hasOwn(FILTERS, filter.name) ? FILTERS[filter.name] : undefined
  checkEffect(filter, known.source)
  // A record that is printed, joined or sorted is used as a whole.
  for (const one of [input, ...args])
    if (one.is === 'data' && (one.node.members || one.node.type === 'map')) known.source.markAllUsed(one.node)
  return apply ? apply(input, args, { filter, path, known }) : ANYTHING
}

/** Reports a value that arithmetic counts as 0, and records the table whose values it adds up. */
function checkOperand(value: Value, { filter, path, known }: Call): void {
  const { source } = known
  if (value.is === 'row') source.sums(value.table, filter.begin)
  const problem = known.whyNotNumber(value, path)
  if (problem === undefined) return
  const slip =
    value.is === 'text' ? value.words?.find(word => malformedNumberAdvice(word) !== undefined) : undefined
  if (slip !== undefined) {
    const message = `'${slip}' is not a number, and '${filter.name}' counts it as 0. ${malformedNumberAdvice(slip)}`
    source.alarm('badNumber', filter.begin, message)
  } else {
    const message = `'${filter.name}' counts its value as 0 here: ${problem}. Use a number, or look one up.`
    source.alarm('textInSum', filter.begin, message)
  }
}

const constantOf = (value: Value): number | undefined => (value.is === 'number' ? value.value : undefined)

/** Paths of values whose absence makes the value nothing, and so 0 in arithmetic. */
function absences(value: Value, { path, known }: Call): readonly string[] {
  if (value.is === 'number') return value.zeroWithout ?? []
  return value.is === 'data' && known.canBeAbsent(value, path) ? [value.key] : []
}

const numberWith = (zeroWithout: readonly string[]): Value =>
  zeroWithout.length > 0 ? { is: 'number', zeroWithout: [...new Set(zeroWithout)] } : NUMBER

const arithmetic =
  (
    compute: (a: number, b: number) => number,
    zeroWithout: (a: readonly string[], b: readonly string[]) => readonly string[],
  ): Filtering =>
  (input, args, call) => {
    const operand = args[0] ?? ANYTHING
    checkOperand(input, call)
    checkOperand(operand, call)
    const [a, b] = [constantOf(input), constantOf(operand)]
    if (a !== undefined && b !== undefined) {
      const value = compute(a, b)
      return Number.isFinite(value) ? { is: 'number', value } : NUMBER
    }
    return numberWith(zeroWithout(absences(input, call), absences(operand, call)))
  }

const times: Filtering = (input, args, call) => {
  const result = arithmetic(
    (a, b) => a * b,
    (a, b) => [...a, ...b],
  )(input, args, call)
  const isZero = [input, args[0] ?? ANYTHING].some(
    one => constantOf(one) === 0 || call.known.isAbsent(one, call.path),
  )
  return isZero ? { is: 'number', value: 0 } : result
}

/** For a sum: it is 0 only if both operands are, so it needs absences on both sides. */
const absencesOfSum = (a: readonly string[], b: readonly string[]): readonly string[] =>
  a.length > 0 && b.length > 0 ? [...a, ...b] : []

const unary =
  (compute: (a: number) => number): Filtering =>
  (input, _args, call) => {
    checkOperand(input, call)
    const a = constantOf(input)
    if (a !== undefined) return { is: 'number', value: compute(a) }
    return numberWith(absences(input, call))
  }

const atLeast: Filtering = (input, args, call) => {
  checkOperand(input, call)
  const least = constantOf(args[0] ?? ANYTHING)
  const a = constantOf(input)
  if (a !== undefined && least !== undefined) return { is: 'number', value: Math.max(a, least) }
  return least !== undefined && least > 0 ? NUMBER : numberWith(absences(input, call))
}

const rounded: Filtering = (input, args, call) => {
  const places = constantOf(args[0] ?? { is: 'number', value: 0 })
  return unary(a => (places === undefined ? a : Number(a.toFixed(Math.min(100, Math.max(0, places))))))(
    input,
    [],
    call,
  )
}

/** The most texts that are enumerated, and the most characters that they have together. */
const MOST_WORDS = 2_000
const MOST_CHARACTERS = 100_000
const CHARACTERS_OF_A_UNIT = 16

const charactersOf = (words: readonly string[]): number => words.reduce((sum, { length }) => sum + length, 0)

function combineTexts(
  input: Value,
  other: Value,
  { path, known }: Call,
  combine: (a: string, b: string) => string,
): Value {
  const [a, b] = [known.wordsOf(input, path), wordsOfArgument(other, known, path)]
  if (!a || !b || a.length * b.length > MOST_WORDS) return TEXT
  const characters = charactersOf(a) * b.length + charactersOf(b) * a.length
  if (characters > MOST_CHARACTERS) return TEXT
  known.source.spend(Math.ceil(characters / CHARACTERS_OF_A_UNIT))
  return { is: 'text', words: [...new Set(a.flatMap(one => b.map(two => combine(one, two))))] }
}

function wordsOfArgument(value: Value, known: Knowledge, path: Path): readonly string[] | undefined {
  return value.is === 'number' && value.value !== undefined
    ? [String(value.value)]
    : known.wordsOf(value, path)
}

const ofText =
  (change: (word: string) => string): Filtering =>
  (input, _args, { path, known }) => {
    const words = known.wordsOf(input, path)
    return words ? { is: 'text', words: [...new Set(words.map(change))] } : TEXT
  }

/** A filter that returns its list, and one that returns an entry of it. */
const sameList: Filtering = input => (input.is === 'data' && input.node.type === 'list' ? input : ANYTHING)

const entry: Filtering = input =>
  input.is === 'data' && input.node.type === 'list' && input.node.items
    ? { is: 'data', node: input.node.items, key: `${input.key}[]` }
    : ANYTHING

/** A filter such as `map`, `sum` or `where`, whose argument names a member of the entries. */
const ofMember =
  (result: Filtering): Filtering =>
  (input, args, call) => {
    const items = input.is === 'data' ? input.node.items : undefined
    const [name] = args
    const word = name?.is === 'text' && name.words?.length === 1 ? name.words[0]! : undefined
    const { source } = call.known
    if (items?.members && word !== undefined && !word.includes('.')) {
      const member = source.memberOf(items, word)
      const known = Object.keys(items.members)
      const message = `The entries have no '${word}', so it has no value. Correct the name.${source.suggestion(word, known)}`
      if (member) source.use(member)
      else source.alarm('unknownPath', call.filter.begin, message)
    }
    return result(input, args, call)
  }

/** How many keys of a look-up cost as much as one statement. */
const KEYS_OF_A_UNIT = 16

function lookUp(input: Value, args: readonly Value[], call: Call): Value {
  const { filter, path, known } = call
  const { source } = known
  const names = input.is === 'text' ? input.words : undefined
  if (names?.length !== 1) {
    source.uses.isOpen ||= names === undefined
    for (const name of names ?? []) source.recordLookUp(name, filter.begin, undefined)
    return ANYTHING
  }
  const [name] = names as readonly [string]
  checkKeys(args, call)
  const isPlain = args.length === (filter.name === 'lookup' ? 1 : 2) && filter.named.size === 0
  const keys = isPlain ? known.wordsOf(args[0]!, path) : undefined
  source.spend(Math.ceil((keys?.length ?? 0) / KEYS_OF_A_UNIT))
  if (!source.tables.isResource(name) && source.tables.table(name) === undefined) {
    const message = `The script looks up in the table '${name}', which no product has. Add tables/${name}.csv, or correct the name.${source.suggestion(name, source.tables.names)}`
    // A name at the beginning of an expression is already checked for every product (check/product/templates.ts).
    if (!isDirect(source.text, filter, name)) source.alarm('missingTable', filter.begin, message)
    return ANYTHING
  }
  source.recordLookUp(name, filter.begin, keys)
  return { is: 'row', table: name }
}

/**
 * Reports numbers as keys: a look-up fails on them, because `7` and `07` differ. The last argument of `lookup_effective` is a time.
 */
function checkKeys(args: readonly Value[], { filter, known }: Call): void {
  const keys = filter.name === 'lookup' ? args : args.slice(0, -1)
  const number = keys.find(one => one.is === 'number')
  if (number === undefined) return
  const shown =
    constantOf(number) === undefined ? 'this one is a number' : `${constantOf(number)} is a number`
  const message = `The key of a look-up must be text, but ${shown}: the look-up fails. Write it in quotes, or add '| append: ""' before.`
  known.source.alarm('keyNotText', filter.begin, message)
}

const isDirect = (text: string, { begin }: AppliedFilter, name: string): boolean =>
  new RegExp(`["']${name.replace(/[^\w]/g, '\\$&')}["']\\s*\\|\\s*$`).test(
    text.slice(Math.max(0, begin - name.length - 40), begin),
  )

const withDefault: Filtering = (input, args, { path, known }) => {
  const [instead = ANYTHING] = args
  if (input.is === 'nothing') return instead
  if (input.is === 'data' && !known.canBeAbsent(input, path)) return input
  if (input.is === 'data' && !input.node.items && !input.node.members) {
    const [own, other] = [known.wordsOf(input, path), known.wordsOf(instead, path)]
    if (own && other) return { is: 'text', words: [...new Set([...own, ...other])] }
    if (instead.is === 'number') return NUMBER
  }
  return ANYTHING
}

const policyholder: Filtering = (_input, _args, { known }) => {
  const node = known.source.memberOf(known.source.data, 'policyholder')
  return node ? { is: 'data', node, key: 'data.policyholder' } : ANYTHING
}

type Setter = (value: 'set' | 'zero', path: Path) => void

const setting =
  (set: Setter): Filtering =>
  (input, _args, call) => {
    checkAmount(input, call)
    set(constantOf(input) === 0 ? 'zero' : 'set', call.path)
    return ANYTHING
  }

/** Reports a premium that is 0 because a field has no value, which is hardly intended. */
function checkAmount(input: Value, call: Call): void {
  const { filter, known } = call
  checkOperand(input, call)
  const without = absences(input, call)
  if (without.length === 0) return
  const message = `The premium is 0 if '${without.slice(0, 3).join("' or '")}' has no value, which is possible. Require the field, test it, or give it a default.`
  known.source.alarm('premiumCanBeZero', filter.begin, message)
}

const premiumSetter: Filtering = setting((value, path) => {
  path.premium = value
})

const premiumAdder: Filtering = (input, _args, call) => {
  checkOperand(input, call)
  const { path } = call
  if (path.premium === 'unset') path.premium = constantOf(input) === 0 ? 'zero' : 'set'
  else if (constantOf(input) !== 0) path.premium = 'set'
  return ANYTHING
}

const recorder: Filtering = (input, _args, call) => {
  checkOperand(input, call)
  return ANYTHING
}

const DECISIONS: ReadonlySet<string> = new Set(['accept', 'reject', 'none'])

const decisionSetter: Filtering = (input, _args, { filter, path, known }) => {
  const wrong = known.wordsOf(input, path)?.find(word => !DECISIONS.has(word.trim().toLowerCase()))
  const message = `'${wrong}' is not an underwriting decision, so the policy is rejected. Write accept, reject, or none, which refers it.`
  if (wrong !== undefined) known.source.alarm('unknownDecision', filter.begin, message)
  return ANYTHING
}

const feeAdder: Filtering = (input, args, call) => {
  const { filter, path, known } = call
  const { source } = known
  const name = known.wordsOf(args[0] ?? ANYTHING, path)?.find(word => !source.fees.includes(word))
  const message = `The script adds the fee '${name}', which is not declared in fees.json. Declare it or correct the name.${source.suggestion(name ?? '', source.fees)}`
  // A name that is a literal is already checked for every product (check/product/templates.ts).
  if (name !== undefined && !/^add_fee\s*:\s*["']/.test(source.text.slice(filter.begin)))
    source.alarm('unknownFee', filter.begin, message)
  return recorder(input, args, call)
}

const names = <T>(value: T, ...all: string[]): Record<string, T> =>
  Object.fromEntries(all.map(name => [name, value]))

const FILTERS: Readonly<Record<string, Filtering>> = {
  plus: arithmetic((a, b) => a + b, absencesOfSum),
  minus: arithmetic((a, b) => a - b, absencesOfSum),
  times,
  divided_by: arithmetic(
    (a, b) => a / b,
    a => a,
  ),
  modulo: arithmetic(
    (a, b) => a % b,
    a => a,
  ),
  at_most: arithmetic(Math.min, (a, b) => [...a, ...b]),
  at_least: atLeast,
  abs: unary(Math.abs),
  ceil: unary(Math.ceil),
  floor: unary(Math.floor),
  round: rounded,
  append: (input, [other = TEXT], call) => combineTexts(input, other, call, (a, b) => a + b),
  prepend: (input, [other = TEXT], call) => combineTexts(input, other, call, (a, b) => b + a),
  downcase: ofText(word => word.toLowerCase()),
  upcase: ofText(word => word.toUpperCase()),
  capitalize: ofText(word => word.charAt(0).toUpperCase() + word.slice(1)),
  strip: ofText(word => word.trim()),
  size: () => NUMBER,
  ...names(sameList, 'sort', 'sort_natural', 'reverse', 'uniq', 'compact', 'slice'),
  ...names(entry, 'first', 'last'),
  ...names(ofMember(sameList), 'where', 'reject'),
  find: ofMember(entry),
  sum: ofMember(() => NUMBER),
  map: ofMember(() => ANYTHING),
  default: withDefault,
  lookup: lookUp,
  lookup_effective: lookUp,
  get_policyholder_info_from_id: policyholder,
  ...names(() => NUMBER, 'get_timestamp_millis', 'get_30_360_day_count'),
  ...names(premiumSetter, 'set_year_premium', 'set_month_premium', 'set_peril_premium'),
  add_premium: premiumAdder,
  ...names(
    recorder,
    ...['set_year_technical_premium', 'set_month_technical_premium', 'set_peril_technical_premium'],
    ...['add_year_commission', 'add_month_commission', 'add_commission'],
    ...['set_peril_tax', 'add_tax'],
  ),
  add_fee: feeAdder,
  set_underwriting_decision: decisionSetter,
}

export const PREMIUM_SETTERS: ReadonlySet<string> = new Set(SETTERS.premium)
