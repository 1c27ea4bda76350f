// What the other system said of a record that the record has no place for: auxiliary data under its locator.
import type { AuxRow } from './converted.ts'

/** The key under which it is. */
export const ORIGIN_KEY = 'migration.origin'

/** One row, or none where nothing was said. */
export function originRows(locator: string, said: Readonly<Record<string, unknown>>): AuxRow[] {
  const value = JSON.stringify(said)
  return value === '{}' ? [] : [{ locator, key: ORIGIN_KEY, value }]
}
