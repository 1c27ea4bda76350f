import { type Liquid, toValue } from 'liquidjs/dist/liquid.browser.mjs'
import type { RenderingContext } from '../context.ts'
import { FILTER_WORK, STEP_WORK } from '../limits.ts'

/**
 * A filter: its input and arguments are plain values (never a literal of the library), the context is that of the
 * template. What it makes is counted by `registerFilters`; one that could make far more than it was given counts first.
 */
export type Filter = (input: unknown, args: unknown[], context: RenderingContext) => unknown

export type Filters = Record<string, Filter>

export function registerFilters(engine: Liquid, filters: Filters): void {
  for (const [name, filter] of Object.entries(filters))
    engine.registerFilter(name, function (input: unknown, ...args: unknown[]) {
      const context = this.context as RenderingContext
      context.filter = this.token
      const value = toValue(input)
      const values = args.map(toValue)
      const read = values.reduce<number>((size, arg) => size + sizeOf(arg) + STEP_WORK, sizeOf(value))
      context.budget.countWork(FILTER_WORK + read)
      const result = filter(value, values, context)
      context.budget.countMemory(sizeOf(result))
      context.filter = undefined
      return result
    })
}

const sizeOf = (value: unknown): number =>
  typeof value === 'string' || Array.isArray(value) ? value.length : 0
