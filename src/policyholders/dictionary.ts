import type { TimeZone } from '../kernel/time.ts'
import type { Configuration, FieldDefinition } from '../product/configuration.ts'

/** The fields of policyholders in the newest configuration, its zone, and the tables that it declares. */
export type Dictionary = Pick<Configuration, 'resources'> & {
  readonly fields: readonly FieldDefinition[]
  readonly timeZone: TimeZone
}

/** Of a tenant without configuration: any field may hold anything. */
export const NO_DICTIONARY: Dictionary = { fields: [], timeZone: 'UTC' as TimeZone }
