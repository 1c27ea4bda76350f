import type { Uuid } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
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
