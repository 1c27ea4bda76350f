import { type Liquid, type Token, toValue } from 'liquidjs/dist/liquid.browser.mjs'
import type { RenderingContext } from './context.ts'
import { instantOf } from './date-format.ts'
import { FILTER_WORK, STEP_WORK } from './limits.ts'

/**
 * A filter: its input and arguments are plain values (never a literal of the library), the context is that of the
 * template. What it makes is counted by `carriedOut`; one that could make far more than it was given counts first.
 */
export type Filter = (input: unknown, args: unknown[], context: RenderingContext) => unknown

export type Filters = Record<string, Filter>

/** The library calls a filter by such a function, for the little that it evaluates itself. */
type Handler = { readonly filter?: Filter }

/** The filter that a template names; undefined for one that the library put in the place of an unknown one. */
export const filterOf = (applied: object): Filter | undefined =>
  (applied as { handler: Handler }).handler.filter

export function registerFilters(engine: Liquid, filters: Filters): void {
  for (const [name, filter] of Object.entries(filters)) {
    const handler = function (this: { token: Token; context: unknown }, input: unknown, ...args: unknown[]) {
      return carriedOut(filter, this.token, input, args, this.context as RenderingContext)
    }
    engine.registerFilter(name, Object.assign(handler, { filter }))
  }
}

/** What the filter makes of the input; `args` are its own from here on. What is read and made is counted. */
export function carriedOut(
  filter: Filter,
  token: Token,
  input: unknown,
  args: unknown[],
  context: RenderingContext,
): unknown {
  context.filter = token
  const value = toValue(input)
  let read = sizeOf(value)
  for (let at = 0; at < args.length; at += 1) {
    args[at] = toValue(args[at])
    read += sizeOf(args[at]) + STEP_WORK
  }
  context.budget.countWork(FILTER_WORK + read)
  const result = filter(value, args, context)
  context.budget.countMemory(sizeOf(result))
  context.filter = undefined
  return result
}

const sizeOf = (value: unknown): number =>
  typeof value === 'string' || Array.isArray(value) ? value.length : 0

/** Milliseconds, `now`, `2026-01-31` (its start in the tenant's zone) or a full ISO time. Undefined for all else. */
export function timestampOf(value: unknown, context: RenderingContext): number | undefined {
  const { environment, dialect } = context.state
  if (typeof value === 'string' && /^\s*(?:now|today)\s*$/.test(value)) return environment.now
  return instantOf(value, environment.timeZone, dialect.calendar)
}
