import { NOW, renderingsOf } from '../../../packages/liquid/test/rendering.ts'
import type { CurrencyCode } from '../../../src/kernel/money.ts'
import type { Instant, TimeZone } from '../../../src/kernel/time.ts'
import type { TemplateEnvironment } from '../../../src/product/templates/effects.ts'
import { compileTemplate } from '../../../src/product/templates/liquid.ts'

const TABLES: Record<string, Record<string, string>> = { rates: { '12': '1.25', a: ' 2 ' } }

export const environment: TemplateEnvironment = {
  timeZone: 'Europe/Berlin' as TimeZone,
  currency: 'EUR' as CurrencyCode,
  now: NOW as Instant,
  lookup(table, key) {
    const value = TABLES[table]?.[key]
    return TABLES[table] ? (value === undefined ? 'noSuchKey' : { value }) : 'noSuchTable'
  },
}

export const { compiled, rendering, output, failure } = renderingsOf(compileTemplate, environment)
