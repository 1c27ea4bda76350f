// Effects that templates record in addition to their output: premiums, taxes, fees, decisions (brief 5.4).
import type { RenderingContext, RenderingEnvironment } from '../../../packages/liquid/context.ts'
import { type Filter, type Filters, timestampOf } from '../../../packages/liquid/evaluation.ts'
import { asNumber, printedText, toDecimal } from '../../../packages/liquid/values.ts'
import type { CurrencyCode, Decimal } from '../../kernel/money.ts'
import { type Instant, instant, type TimeZone } from '../../kernel/time.ts'

/**
 * A premium in major units. `yearly`, `monthly` and `exact` are the amounts of the last call of each kind. `last` is the kind that
 * was set last: yearly and monthly exclude each other, exact and yearly may occur together (brief 3.1). `exact` and `added` are for
 * the segment and are not scaled by its months. `added` is the sum of `add_premium` (brief 5.4). The result of a rendering contains
 * it only together with a rate; it is then added to the scaled rate.
 */
export type RecordedPremium = {
  yearly?: Decimal
  monthly?: Decimal
  exact?: Decimal
  added?: Decimal
  last?: 'yearly' | 'monthly' | 'exact'
}

/** Effects in the order of the calls. Amounts are exact decimals in major units. */
export type RatingEffects = {
  premium: RecordedPremium
  technicalPremium: RecordedPremium
  /** One entry for each call, with exactly one amount. */
  commissions: { recipient: string; yearly?: Decimal; monthly?: Decimal; exact?: Decimal }[]
  /** `set_peril_tax` replaces it, `add_tax` adds to it. */
  tax?: { amount: Decimal; description?: string }
  fees: { name: string; amount: Decimal; description?: string }[]
  /** The last call counts. */
  decision?: 'accept' | 'reject' | 'none'
  notes: string[]
  /** Replaces the rendered document. If null, no document is made. */
  staticDocument?: string | null
}

/** Moves `added` into the exact premium, if one was set or nothing else was. */
export function settledEffects(effects: RatingEffects): RatingEffects {
  const { added, ...set } = effects.premium
  const isBesideRate = set.exact === undefined && (set.yearly ?? set.monthly) !== undefined
  if (added === undefined || isBesideRate) return effects
  return { ...effects, premium: { ...set, exact: set.exact?.plus(added) ?? added } }
}

/** Returns a new record of effects, which the filters of one rendering change. */
export function noEffects(): RatingEffects {
  return { premium: {}, technicalPremium: {}, commissions: [], fees: [], notes: [] }
}

const effectsOf = (context: RenderingContext): RatingEffects => context.state.effects as RatingEffects

/** A filter that records an amount and prints nothing. Unlike in arithmetic, nothing and text are not amounts and fail. */
const recording =
  (name: string, record: (effects: RatingEffects, amount: Decimal, args: string[]) => void): Filter =>
  (input, args, context) => {
    const number = asNumber(input)
    if (number) return record(effectsOf(context), toDecimal(number), args.map(printedText))
    const given = input === undefined || input === null ? 'nothing' : `'${printedText(input)}'`
    return context.reject(`${name} needs a number, not ${given}.`)
  }

type PremiumKind = 'yearly' | 'monthly' | 'exact'

function premium(name: string, of: 'premium' | 'technicalPremium', kind: PremiumKind): Filters {
  return {
    [name]: recording(name, (effects, amount) => {
      effects[of] = { ...effects[of], [kind]: amount, last: kind }
    }),
  }
}

const commission = (name: string, kind: PremiumKind): Filters => ({
  [name]: recordingNamed(name, 'recipient', (effects, amount, [recipient]) => {
    effects.commissions.push({ recipient: recipient!, [kind]: amount })
  }),
})

/** A recording filter that requires its first argument: a recipient or the name of a fee. */
function recordingNamed(name: string, what: string, record: Parameters<typeof recording>[1]): Filter {
  const filter = recording(name, record)
  return (input, args, context) =>
    printedText(args[0]).trim() === ''
      ? context.reject(`${name} needs a ${what}.`)
      : filter(input, args, context)
}

const described = (description: string | undefined) => (description ? { description } : {})

const decide: Filter = (input, _args, context) => {
  const decision = printedText(input).trim().toLowerCase()
  if (decision === 'accept' || decision === 'reject' || decision === 'none')
    effectsOf(context).decision = decision
  else
    context.reject(`'${printedText(input)}' is not an underwriting decision. Write accept, reject or none.`)
}

function note(input: unknown, _args: unknown[], context: RenderingContext): void {
  const text = printedText(input)
  context.budget.countMemory(text.length)
  if (text.trim() !== '') effectsOf(context).notes.push(text)
}

function staticDocument(input: unknown, _args: unknown[], context: RenderingContext): void {
  effectsOf(context).staticDocument = printedText(input).trim() || null
}

/** Filters that record effects (brief 5.4). They print nothing and return nothing. */
export const effectFilters: Filters = {
  ...premium('set_year_premium', 'premium', 'yearly'),
  ...premium('set_month_premium', 'premium', 'monthly'),
  ...premium('set_peril_premium', 'premium', 'exact'),
  ...premium('set_year_technical_premium', 'technicalPremium', 'yearly'),
  ...premium('set_month_technical_premium', 'technicalPremium', 'monthly'),
  ...premium('set_peril_technical_premium', 'technicalPremium', 'exact'),
  add_premium: recording('add_premium', (effects, amount) => {
    const { added } = effects.premium
    effects.premium = { ...effects.premium, added: added?.plus(amount) ?? amount }
  }),
  ...commission('add_year_commission', 'yearly'),
  ...commission('add_month_commission', 'monthly'),
  ...commission('add_commission', 'exact'),
  set_peril_tax: recording('set_peril_tax', (effects, amount, [description]) => {
    effects.tax = { amount, ...described(description) }
  }),
  add_tax: recording('add_tax', (effects, amount, [description]) => {
    effects.tax = {
      ...effects.tax,
      amount: effects.tax?.amount.plus(amount) ?? amount,
      ...described(description),
    }
  }),
  add_fee: recordingNamed('add_fee', 'fee name', (effects, amount, [name, description]) => {
    effects.fees.push({ name: name!, amount, ...described(description) })
  }),
  set_underwriting_decision: decide,
  add_underwriting_note: note,
  render_static_document: staticDocument,
}

/** `notLoaded`: the caller fetches all missing keys together and renders again. */
export type LookupResult = { value: string } | 'noSuchTable' | 'noSuchKey' | 'notLoaded'

/** The place of the row that a look-up found: in a file of the configuration, or in a revision of a resource. */
export type RowPlace = {
  readonly path?: string
  readonly resource?: { readonly name: string; readonly revision: string }
  /** Counted from 1, including the header; undefined if it is no longer known. */
  readonly line?: number
}

export type Lookup = {
  (table: string, key: string, at?: Instant): LookupResult
  /** Returns the place of a row that a look-up found, for explanations. */
  rowOf?(table: string, key: string, at?: Instant): RowPlace | undefined
}

/** The detail of a look-up that an observer of a template receives (packages/liquid/observation.ts). */
export type LookupDetail = {
  readonly table: string
  readonly keys: readonly string[]
  readonly column: string | undefined
  readonly row: RowPlace | undefined
}

/** What templates of this service can request in addition to their own data. */
export type TemplateEnvironment = RenderingEnvironment & {
  timeZone: TimeZone
  currency: CurrencyCode
  now: Instant
  /** `at` is the time passed to `lookup_effective`. */
  lookup: Lookup
  /** Implements `get_policyholder_info_from_id`. Without it, the filter returns nothing. */
  policyholderInfo?(locator: string): unknown
}

/** A key that was not loaded. Only `lookup_effective` sets `at`. */
export type MissingKey = { table: string; key: string; at?: Instant }

const environmentOf = (context: RenderingContext): TemplateEnvironment =>
  context.state.environment as TemplateEnvironment

/** Fails unless the value is text. A number is not a key, because `7` and `07` differ. */
function asText(value: unknown, what: string, context: RenderingContext): string | undefined {
  if (typeof value === 'string') return value
  if (value === undefined || value === null)
    return context.reject(`The ${what} of a look-up is missing or has no value.`)
  if (!asNumber(value)) return context.reject(`The ${what} of a look-up must be text.`)
  const message = `The ${what} of a look-up must be text, but ${printedText(value)} is a number. Write "${printedText(value)}", or add '| append: ""' before.`
  return context.reject(message)
}

/** Whether an argument is named: the library represents `column: "rate"` as a pair. */
const isNamed = (arg: unknown): arg is [string, unknown] => Array.isArray(arg)

/** Returns undefined while a requested value is not loaded. */
function keyOf(args: readonly unknown[], context: RenderingContext): string | undefined {
  const given = args.filter(arg => !isNamed(arg))
  const keys = (given.length === 0 ? [undefined] : given).map(one => asText(one, 'key', context))
  const named = args.filter(isNamed)
  const columns = named.map(([, name]) => asText(name, 'column', context))
  if (named.length > 1 || named.some(([name]) => name !== 'column'))
    return context.reject("A look-up accepts keys, and 'column' as the only named argument.")
  return [...keys, ...columns].includes(undefined) ? undefined : lookUpKey(keys as string[], columns[0])
}

/** `args` are the keys (usually one), and optionally `column: "rate"`. */
function lookUp(tableName: unknown, args: readonly unknown[], context: RenderingContext, at?: Instant) {
  const table = asText(tableName, 'table', context)
  const [only] = args
  const key =
    args.length === 1 && typeof only === 'string' ? lookUpKey([only], undefined) : keyOf(args, context)
  if (table === undefined || key === undefined) return undefined
  const { lookup } = environmentOf(context)
  const found = lookup(table, key, at)
  if (typeof found === 'object') {
    if (context.observation)
      context.explain(
        (): LookupDetail => ({ table, ...readLookUpKey(key), row: lookup.rowOf?.(table, key, at) }),
      )
    return found.value
  }
  const unknown = `There is no table '${table}'. Add ${table}.csv to the product's tables, or make sure that a resource of that static name is in force.`
  if (found === 'noSuchTable') return context.reject(unknown)
  if (found === 'noSuchKey')
    return context.reject(`The table '${table}' has no key '${shownLookUpKey(key)}'. Add a row for it.`)
  const missing: MissingKey = at === undefined ? { table, key } : { table, key, at }
  context.state.missing.set(JSON.stringify([table, key, at]), missing)
  return undefined
}

const lookupEffective: Filter = (input, args, context) => {
  const times = args.filter(arg => !isNamed(arg))
  const time = times.length > 1 ? times.pop() : undefined
  const at = timestampOf(time, context) as Instant | undefined
  if (at === undefined) return context.reject('lookup_effective needs a time in milliseconds after the key.')
  return lookUp(input, [...times, ...args.filter(isNamed)], context, at)
}

/** `lookup` and `lookup_effective` read tables; the other filter reads records beyond the template's data. */
export const lookupFilters: Filters = {
  lookup: (input, args, context) => lookUp(input, args, context),
  lookup_effective: lookupEffective,
  get_policyholder_info_from_id: (input, _args, context) =>
    input === undefined || input === null
      ? undefined
      : environmentOf(context).policyholderInfo?.(printedText(input)),
}

/** Separates the keys of a row in the database. Keys never contain it. */
export const KEY_SEPARATOR = '\u001f'

/** Separates the keys from the column. Neither contains it. */
const COLUMN_SEPARATOR = '\u001e'

/** Precedes the time that a plugin specifies. */
const TIME_SEPARATOR = '\u001d'

/** The text of a look-up. The sandbox of plugins must write the same text (extension/plugins/runners/sandbox/api.ts). */
export const lookUpKey = (keys: readonly string[], column: string | undefined): string =>
  keys.join(KEY_SEPARATOR) + (column === undefined ? '' : COLUMN_SEPARATOR + column)

/** Reads the text that `lookUpKey` writes. The time that a plugin specifies is left out; `readDatedKey` returns it. */
export function readLookUpKey(text: string): {
  readonly keys: string[]
  readonly column: string | undefined
} {
  const [keys = '', column] = readDatedKey(text).key.split(COLUMN_SEPARATOR)
  return { keys: keys.split(KEY_SEPARATOR), column }
}

/** The key of a plugin's look-up, and the time that it specifies. */
export function readDatedKey(text: string): { readonly key: string; readonly at: Instant | undefined } {
  const [key = '', time] = text.split(TIME_SEPARATOR)
  return { key, at: time === undefined ? undefined : instant(Number(time)) }
}

/** Formats a key for messages, such as `CA, 1 (rate)`. */
function shownLookUpKey(text: string): string {
  const { keys, column } = readLookUpKey(text)
  return keys.join(', ') + (column === undefined ? '' : ` (${column})`)
}
