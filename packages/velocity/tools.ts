// The tools `$date`, `$number` and `$esc` (resources brief 12.2).
import { type Calendar, DatePatternError, formatDate, instantOf } from '../liquid/date-format.ts'
import { type RenderBudget, TemplateError } from '../liquid/limits.ts'
import { formatCurrency, formatPattern, NumberFormatError } from '../liquid/number-format.ts'
import { asNumber, escapeHtml, normalizeNumber } from '../liquid/values.ts'
import { printed } from './values.ts'

export type ToolSurroundings = {
  /** An IANA name. */
  readonly timeZone: string
  /** An ISO 4217 code. */
  readonly currency: string
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  readonly calendar: Calendar
  isCurrency(code: string): boolean
  /** The number of digits of the currency's minor unit. */
  digitsOfCurrency(code: string): number
}

type Tool = (args: readonly unknown[], given: ToolSurroundings, budget: RenderBudget) => unknown

/** Names of the number tool's formats, in addition to `currency`. */
const NUMBER_FORMATS: ReadonlyMap<string, string> = new Map([
  ['integer', '#,##0'],
  ['number', '#,##0.###'],
  ['percent', '#,##0%'],
])

/** Names of the date tool's formats for a day and for a time of day, in American English. */
const DAY_FORMATS = {
  full: 'EEEE, MMMM d, yyyy',
  long: 'MMMM d, yyyy',
  medium: 'MMM d, yyyy',
  short: 'M/d/yy',
} as const
const TIME_FORMATS = {
  full: 'h:mm:ss a z',
  long: 'h:mm:ss a z',
  medium: 'h:mm:ss a',
  short: 'h:mm a',
} as const

/** `long_date` and `long_time` are the two parts, `long` is both. `default` is `medium`. */
const DATE_FORMATS: ReadonlyMap<string, string> = new Map(
  (['full', 'long', 'medium', 'short', 'default'] as const).flatMap(name => {
    const style = name === 'default' ? 'medium' : name
    const [day, time] = [DAY_FORMATS[style], TIME_FORMATS[style]]
    const between = style === 'full' || style === 'long' ? " 'at' " : ', '
    return [
      [name, day + between + time],
      [`${name}_date`, day],
      [`${name}_time`, time],
    ] as const
  }),
)

/** `$number.format('#,##0.00', $amount)`, or the name of a format: `'currency'` prints the tenant's currency. */
const formatted: Tool = ([pattern, value], { currency, digitsOfCurrency }, budget) => {
  const number = asNumber(value)
  if (!number || typeof pattern !== 'string') return undefined
  return pattern === 'currency'
    ? formatCurrency(number.value, 'en-US', currency, digitsOfCurrency(currency), budget)
    : formatPattern(number.value, NUMBER_FORMATS.get(pattern) ?? pattern)
}

const formattedAs =
  (name: string): Tool =>
  ([value], ...given) =>
    formatted([name, value], ...given)

const TOOLS: Readonly<Record<string, Readonly<Record<string, Tool>>>> = {
  date: {
    /**
     * `$date.format('d MMM yyyy', $time)`: a Joda pattern or the name of a format, in the tenant's zone. Returns nothing if the value
     * is not a time.
     */
    format: ([pattern, value], given) => {
      const at = instantOf(value, given.timeZone, given.calendar)
      return at === undefined || typeof pattern !== 'string'
        ? undefined
        : formatDate(at, DATE_FORMATS.get(pattern) ?? pattern, given.timeZone, given.calendar)
    },
    /** `$date.toDate($time)`, or with a pattern before it, which is ignored: the data has milliseconds and ISO dates only. */
    toDate: (args, given) => instantOf(args.at(-1), given.timeZone, given.calendar),
    now: (_args, { now }) => now,
  },
  number: {
    format: formatted,
    integer: formattedAs('integer'),
    number: formattedAs('number'),
    percent: formattedAs('percent'),
    currency: ([value, code], { currency, isCurrency, digitsOfCurrency }, budget) => {
      const number = asNumber(value)
      const asked = typeof code === 'string' && isCurrency(code) ? code : currency
      return number && formatCurrency(number.value, 'en-US', asked, digitsOfCurrency(asked), budget)
    },
    toNumber: ([value]) => {
      const number = asNumber(value)
      return number && normalizeNumber(number.value, number.whole)
    },
  },
  esc: {
    html: ([value], _given, budget) => {
      if (value === undefined || value === null) return undefined
      const text = printed(value, budget)
      budget.countWork(text.length)
      return escapeHtml(text)
    },
    url: ([value], _given, budget) =>
      value === undefined || value === null
        ? undefined
        : encodeURIComponent(printed(value, budget).toWellFormed()),
  },
}

export const isTool = (name: string): boolean => Object.hasOwn(TOOLS, name)

/** Returns nothing for an unknown method. Throws TemplateError for an invalid pattern. */
export function callTool(
  tool: string,
  name: string,
  args: readonly unknown[],
  given: ToolSurroundings,
  budget: RenderBudget,
): unknown {
  const methods = TOOLS[tool]!
  if (!Object.hasOwn(methods, name)) return undefined
  try {
    const made = methods[name]!(args, given, budget)
    if (typeof made === 'string') budget.countMemory(made.length)
    return made
  } catch (problem) {
    if (problem instanceof DatePatternError || problem instanceof NumberFormatError)
      throw new TemplateError('templateFailed', `${problem.message}.`)
    throw problem
  }
}
