// `$date`, `$number` and `$esc` (resources brief 12.2).
import { type Calendar, DatePatternError, formatDate, instantOf } from '../liquid/date-format.ts'
import { type RenderBudget, TemplateError } from '../liquid/limits.ts'
import { formatCurrency, formatPattern, NumberFormatError } from '../liquid/number-format.ts'
import { asNumber, escapeHtml, simplest } from '../liquid/values.ts'
import { printed } from './values.ts'

export type ToolSurroundings = {
  /** IANA name. */
  readonly timeZone: string
  /** ISO 4217. */
  readonly currency: string
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  readonly calendar: Calendar
  isCurrency(code: string): boolean
}

type Tool = (args: readonly unknown[], given: ToolSurroundings, budget: RenderBudget) => unknown

const TOOLS: Readonly<Record<string, Readonly<Record<string, Tool>>>> = {
  date: {
    /** `$date.format('d MMM yyyy', $time)`: a Joda pattern, in the tenant's zone. Nothing for what is no time. */
    format: ([pattern, value], given) => {
      const at = instantOf(value, given.timeZone, given.calendar)
      return at === undefined || typeof pattern !== 'string'
        ? undefined
        : formatDate(at, pattern, given.timeZone, given.calendar)
    },
    now: (_args, { now }) => now,
  },
  number: {
    /** `$number.format('#,##0.00', $amount)`, or `'currency'` for an amount of the tenant's currency. */
    format: ([pattern, value], { currency }) => {
      const number = asNumber(value)
      if (!number || typeof pattern !== 'string') return undefined
      return pattern === 'currency'
        ? formatCurrency(number.value, 'en-US', currency)
        : formatPattern(number.value, pattern)
    },
    currency: ([value, code], { currency, isCurrency }) => {
      const number = asNumber(value)
      const other = typeof code === 'string' && isCurrency(code) ? code : undefined
      return number && formatCurrency(number.value, 'en-US', other ?? currency)
    },
    toNumber: ([value]) => {
      const number = asNumber(value)
      return number && simplest(number.value, number.whole)
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

/** What the tool's method gives; nothing for one that it has not. Throws TemplateError for a pattern that is none. */
export function toolCalled(
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
