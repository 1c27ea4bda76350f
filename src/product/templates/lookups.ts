// `lookup` and its like: rows of tables, and records beyond a template's data.
import type { RenderingContext, RenderingEnvironment } from '../../../packages/liquid/context.ts'
import { type Filter, type Filters, timestampOf } from '../../../packages/liquid/evaluation.ts'
import { asNumber, printed } from '../../../packages/liquid/values.ts'
import type { CurrencyCode } from '../../kernel/money.ts'
import type { Instant, TimeZone } from '../../kernel/time.ts'

/**
 * What a look-up answers. `notLoaded`: the key goes to `missing`, rendering goes on with blank; the caller fetches
 * all missing keys at once and renders again.
 */
export type LookupResult = { value: string } | 'noSuchTable' | 'noSuchKey' | 'notLoaded'

/** What a template of the service may ask for beyond its data. */
export type TemplateEnvironment = RenderingEnvironment & {
  timeZone: TimeZone
  currency: CurrencyCode
  now: Instant
  /** `at` is the time that `lookup_effective` was given. */
  lookup(table: string, key: string, at?: Instant): LookupResult
  /** For `get_policyholder_info_from_id`; without it the filter gives nothing. */
  policyholderInfo?(locator: string): unknown
}

/** A key that was not loaded yet. `at` only from `lookup_effective`. */
export type MissingKey = { table: string; key: string; at?: Instant }

const environmentOf = (context: RenderingContext): TemplateEnvironment =>
  context.state.environment as TemplateEnvironment

/** The value as text, or a failure that says how to write it: a number is no key, since `7` and `07` differ. */
function asText(value: unknown, what: string, context: RenderingContext): string | undefined {
  if (typeof value === 'string') return value
  if (asNumber(value))
    return context.reject(
      `The ${what} of a look-up must be text, and ${printed(value)} is a number. Write "${printed(value)}", or add '| append: ""' before.`,
    )
  return context.reject(
    value === undefined || value === null
      ? `The ${what} of a look-up is missing or nothing.`
      : `The ${what} of a look-up must be text.`,
  )
}

/** An argument with a name, as the library gives it: `column: "rate"`. */
const isNamed = (arg: unknown): arg is [string, unknown] => Array.isArray(arg)

/** Undefined where what is asked for is not known yet. */
function keyOf(args: readonly unknown[], context: RenderingContext): string | undefined {
  const given = args.filter(arg => !isNamed(arg))
  const keys = (given.length === 0 ? [undefined] : given).map(one => asText(one, 'key', context))
  const named = args.filter(isNamed)
  const columns = named.map(([, name]) => asText(name, 'column', context))
  if (named.length > 1 || named.some(([name]) => name !== 'column'))
    return context.reject("A look-up takes keys, and 'column' as the only argument with a name.")
  return [...keys, ...columns].includes(undefined) ? undefined : lookUpKey(keys as string[], columns[0])
}

/** `args`: the keys, of which most tables have one, and perhaps `column: "rate"`. */
function lookUp(
  tableName: unknown,
  args: readonly unknown[],
  context: RenderingContext,
  at?: Instant,
): unknown {
  const table = asText(tableName, 'table', context)
  const [only] = args
  const key =
    args.length === 1 && typeof only === 'string' ? lookUpKey([only], undefined) : keyOf(args, context)
  if (table === undefined || key === undefined) return undefined
  const found = environmentOf(context).lookup(table, key, at)
  if (typeof found === 'object') return found.value
  if (found === 'noSuchTable')
    return context.reject(
      `There is no table '${table}'. Add ${table}.csv to the product's tables, or put a resource of that static name in force.`,
    )
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

/** Tables, and records beyond the data. */
export const lookupFilters: Filters = {
  lookup: (input, args, context) => lookUp(input, args, context),
  lookup_effective: lookupEffective,
  get_policyholder_info_from_id: (input, _args, context) =>
    input === undefined || input === null
      ? undefined
      : environmentOf(context).policyholderInfo?.(printed(input)),
}

/** Between the keys of a row in the database; no key has it. */
export const KEY_SEPARATOR = '\u001f'

/** Between the keys and the column; neither has it. */
const COLUMN_SEPARATOR = '\u001e'

/**
 * What a template or plugin asks a table for, as one text: the keys, and the column if one is named. The sandbox of plugins
 * writes the same text (extension/plugins/sandbox/realm.ts).
 */
export const lookUpKey = (keys: readonly string[], column: string | undefined): string =>
  keys.join(KEY_SEPARATOR) + (column === undefined ? '' : COLUMN_SEPARATOR + column)

export function readLookUpKey(text: string): {
  readonly keys: string[]
  readonly column: string | undefined
} {
  const [keys = '', column] = text.split(COLUMN_SEPARATOR)
  return { keys: keys.split(KEY_SEPARATOR), column }
}

/** For people: `CA, 1 (rate)`. */
export function shownLookUpKey(text: string): string {
  const { keys, column } = readLookUpKey(text)
  return keys.join(', ') + (column === undefined ? '' : ` (${column})`)
}
