import type { FieldDefinition } from '../configuration/configuration.ts'
import type { TimeZone } from '../platform/time.ts'

/** The fields of policyholders in the newest configuration, and its zone. */
export type Dictionary = { readonly fields: readonly FieldDefinition[]; readonly timeZone: TimeZone }

/** Of a tenant without configuration: any field may hold anything. */
export const NO_DICTIONARY: Dictionary = { fields: [], timeZone: 'UTC' as TimeZone }
