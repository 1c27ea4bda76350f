import type { Uuid } from '../kernel/locators.ts'
import type { Instant, TimeZone } from '../kernel/time.ts'
import type { Configuration, FieldDefinition } from '../product/configuration.ts'
import type { FieldValues } from '../product/fields/values.ts'

/** A part of a policyholder, e.g. a contact: an entry of the dictionary that `ontologyUri` names. */
export type SubEntity = {
  readonly locator: Uuid
  readonly ontologyUri: string
  readonly completed: boolean
  readonly values: FieldValues
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

export type Entity = {
  readonly locator: Uuid
  readonly values: FieldValues
  readonly subEntities: readonly SubEntity[]
}

export type Policyholder = {
  readonly locator: Uuid
  /** From 1, +1 for each update. */
  readonly version: number
  readonly completed: boolean
  /** The account that made it. */
  readonly accountLocator: Uuid
  readonly entity: Entity
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

/** The fields of policyholders in the newest configuration, its zone, and the tables that it declares. */
export type Dictionary = Pick<Configuration, 'resources'> & {
  readonly fields: readonly FieldDefinition[]
  readonly timeZone: TimeZone
}

/** Of a tenant without configuration: any field may hold anything. */
export const NO_DICTIONARY: Dictionary = { fields: [], timeZone: 'UTC' as TimeZone }
