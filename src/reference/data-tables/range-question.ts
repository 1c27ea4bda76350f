// A plugin's query to a range table, checked against the table's layout (resources brief 1.5).
import { Refusal } from '../../kernel/errors.ts'
import { countText } from '../../kernel/text.ts'
import type { ColumnType } from '../../product/resources.ts'
import { KEY_SEPARATOR } from '../../product/templates/effects.ts'
import { INTERPOLATIONS, type Interpolation, RANGE_OPERATIONS, type RangeOperation } from './interpolation.ts'
import type { TableLayout } from './layout.ts'
import { canonicalDecimal, sortableDecimal, TYPE_RULES } from './values.ts'

export type WantedRange = {
  readonly keys: readonly string[]
  readonly bound: string
  readonly operation: string
  readonly columns: Readonly<Record<string, string>>
}

export type RangeQuestion = {
  /** The key as in stored rows; undefined if no row can have such a key. */
  readonly key: string | undefined
  /** The bound as a plain decimal, and in the sortable form of stored rows. */
  readonly exact: string
  readonly bound: string
  readonly operation: RangeOperation
  readonly operations: Readonly<Record<string, Interpolation>>
}

/** Checks a query. Rejects with 422 one that does not fit the table. */
export function parseRangeQuery(
  name: string,
  layout: TableLayout,
  keyTypes: readonly ColumnType[],
  { keys, bound, operation, columns }: WantedRange,
): RangeQuestion {
  const wrong = (message: string): Refusal =>
    new Refusal('pluginFailed', `rangeLookup in '${name}': ${message}`)
  const exact = canonicalDecimal(bound.trim())
  if (exact === undefined) throw wrong(`the bound '${bound}' is not a plain decimal number.`)
  if (!isOneOf(RANGE_OPERATIONS, operation))
    throw wrong(`there is no operation '${operation}'; use one of ${RANGE_OPERATIONS.join(', ')}.`)
  const operations = Object.entries(columns).map(([column, one]) => {
    const type = layout.columns.find(other => other.name === column)?.type
    if (type === undefined) throw wrong(`it has no column '${column}'.`)
    if (!isOneOf(INTERPOLATIONS, one))
      throw wrong(`'${column}' must be computed by one of ${INTERPOLATIONS.join(', ')}, not '${one}'.`)
    if (one === 'linear' && !['int', 'long', 'decimal'].includes(type))
      throw wrong(`'${column}' has type ${type}; declare it as a number in config.json to interpolate it.`)
    return [column, one] as const
  })
  if (keys.length !== keyTypes.length)
    throw wrong(`it has ${countText(keyTypes.length, 'key')}, but the look-up has ${keys.length}.`)
  const parts = keys.map((text, at) => TYPE_RULES[keyTypes[at]!].canonical(text.trim()))
  return {
    key: parts.includes(undefined) ? undefined : parts.join(KEY_SEPARATOR),
    exact,
    bound: sortableDecimal(exact),
    operation,
    operations: Object.fromEntries(operations),
  }
}

const isOneOf = <const T extends string>(words: readonly T[], word: string): word is T =>
  (words as readonly string[]).includes(word)
