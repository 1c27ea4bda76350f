import { type CompiledTemplate, compileTemplate } from '../../../packages/liquid/compile.ts'
import {
  type Rendering,
  type RenderingEnvironment,
  renderTemplate,
  TemplateError,
} from '../../../packages/liquid/render.ts'
import type { CurrencyCode } from '../../../src/kernel/money.ts'
import type { Instant, TimeZone } from '../../../src/kernel/time.ts'

/** 2026-03-10T08:05:09.007Z, 09:05 in Berlin. */
export const NOW = 1_773_129_909_007 as Instant

const TABLES: Record<string, Record<string, string>> = { rates: { '12': '1.25', a: ' 2 ' } }

export const environment: RenderingEnvironment = {
  timeZone: 'Europe/Berlin' as TimeZone,
  currency: 'EUR' as CurrencyCode,
  now: NOW,
  lookup(table, key) {
    const value = TABLES[table]?.[key]
    return TABLES[table] ? (value === undefined ? 'noSuchKey' : { value }) : 'noSuchTable'
  },
}

/** The template, which must have no errors. */
export function compiled(source: string, path = 'test.liquid'): CompiledTemplate {
  const { template, findings } = compileTemplate({ path, source })
  if (!template) throw new Error(findings.map(finding => finding.message).join('\n'))
  return template
}

export function rendering(
  source: string,
  data?: unknown,
  more: Partial<RenderingEnvironment> = {},
): Rendering {
  return renderTemplate(compiled(source), data, { ...environment, ...more })
}

export const output = (source: string, data?: unknown, more?: Partial<RenderingEnvironment>): string =>
  rendering(source, data, more).output

/** What stops the template. */
export function failure(source: string, data?: unknown, more?: Partial<RenderingEnvironment>): TemplateError {
  try {
    rendering(source, data, more)
  } catch (error) {
    if (error instanceof TemplateError) return error
    throw error
  }
  throw new Error('The template did not fail.')
}
