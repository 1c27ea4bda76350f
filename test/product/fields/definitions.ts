import type { Instant, TimeZone } from '../../../src/kernel/time.ts'
import type { FieldDefinition, FieldType, LookupTable } from '../../../src/product/configuration.ts'
import { loadPatternEngine } from '../../../src/product/fields/patterns.ts'
import type { ValidationContext } from '../../../src/product/fields/validate.ts'

// The service loads it with the configuration.
await loadPatternEngine()

export const BERLIN = 'Europe/Berlin' as TimeZone

/** 2026-07-15 12:30:00 in Berlin. */
export const NOW = Date.UTC(2026, 6, 15, 10, 30) as Instant

/** An optional, single, unconditional field. */
export const field = (
  name: string,
  type: FieldType,
  more: Partial<FieldDefinition> = {},
): FieldDefinition => ({
  name,
  title: name,
  type,
  optional: true,
  repeatable: false,
  searchable: false,
  conditions: [],
  ...more,
})

export const VEHICLES: LookupTable = {
  path: 'products/motor/policy/tables/vehicles.csv',
  columns: ['make', 'model', 'year'],
  rows: [
    ['Audi', 'A4', '2019'],
    ['Volvo', 'V60', '2021'],
  ],
}

export const context = (more: Partial<ValidationContext> = {}): ValidationContext => ({
  timeZone: BERLIN,
  now: NOW,
  requireMissing: false,
  table: name => (name === 'vehicles' ? VEHICLES : undefined),
  ...more,
})
