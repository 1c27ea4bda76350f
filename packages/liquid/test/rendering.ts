import { type Dialect, newRenderState, type RenderingEnvironment } from '../context.ts'
import {
  type CompiledTemplate,
  createLiquid,
  libraryEngine,
  type Rendering,
  type TemplateCompiler,
} from '../engine.ts'
import { TemplateError } from '../limits.ts'
import { printedText } from '../values.ts'
import { CALENDAR, digitsOfCurrency, isCurrency } from './calendar.ts'

/** 2026-03-10T08:05:09.007Z, which is 09:05 in Berlin. */
export const NOW = 1_773_129_909_007

/** A caller's dialect, with a filter that requests a value that is not loaded, or fails. */
const DIALECT: Dialect = {
  filters: {
    lookup(table, args, context) {
      if (typeof table !== 'string') return context.reject(`'${printedText(table)}' is no table.`)
      context.state.missing.set(JSON.stringify([table, args]), { table, args })
      return undefined
    },
  },
  newEffects: () => ({}),
  settledEffects: effects => effects,
  calendar: CALENDAR,
  isCurrency,
  digitsOfCurrency,
  suggestion: () => '',
}

export const engine = libraryEngine(DIALECT)
export const stateOf = (data: unknown, given: RenderingEnvironment) => newRenderState(data, given, DIALECT)

export const compileTemplate = createLiquid<RenderingEnvironment, unknown>(DIALECT)

export const environment: RenderingEnvironment = { timeZone: 'Europe/Berlin', currency: 'EUR', now: NOW }

/** Helpers that compile and render the templates of tests in a dialect. */
export function renderingsOf<Environment, Effects>(
  compile: TemplateCompiler<Environment, Effects>,
  usual: Environment,
) {
  /** Compiles a template, which must have no errors. */
  const compiled = (source: string, path = 'test.liquid'): CompiledTemplate<Environment, Effects> => {
    const { template, findings } = compile({ path, source })
    if (!template) throw new Error(findings.map(finding => finding.message).join('\n'))
    return template
  }
  const rendering = (source: string, data?: unknown, more: Partial<Environment> = {}): Rendering<Effects> =>
    compiled(source).render(data, { ...usual, ...more })
  const output = (source: string, data?: unknown, more?: Partial<Environment>): string =>
    rendering(source, data, more).output
  /** Returns the error that stops the template. */
  const failure = (source: string, data?: unknown, more?: Partial<Environment>): TemplateError => {
    try {
      rendering(source, data, more)
    } catch (error) {
      if (error instanceof TemplateError) return error
      throw error
    }
    throw new Error('The template did not fail.')
  }
  return { compiled, rendering, output, failure }
}

export const { compiled, rendering, output, failure } = renderingsOf(compileTemplate, environment)
