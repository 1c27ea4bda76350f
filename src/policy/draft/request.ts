// What requests ask of a draft's content, as the domain reads it, and what was wrong with the asking.

import type { LocatorSupply } from '../../kernel/locators.ts'
import type { Instant, TimeZone } from '../../kernel/time.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { FieldErrors } from '../../product/fields/errors.ts'
import type { FieldChanges } from '../../product/fields/groups.ts'
import type { PolicyAggregate } from '../records/aggregate.ts'
import type { PerilAmountsCreate, PerilAmountsUpdate } from './peril-amounts.ts'

/** A `locator` of what is to be made names the addition while it is only asked for; what is made has another. */
export type GroupCreate = { fieldName: string; locator?: string; fieldValues?: unknown }

export type PerilCreate = PerilAmountsCreate & {
  name: string
  locator?: string
  fieldValues?: unknown
  fieldGroups?: GroupCreate[]
}

export type PerilUpdate = PerilAmountsUpdate & FieldChanges & { perilLocator: string }

export type ExposureCreate = {
  exposureName: string
  locator?: string
  fieldValues?: unknown
  fieldGroups?: GroupCreate[]
  perils?: PerilCreate[]
}

export type ExposureUpdate = FieldChanges & {
  exposureLocator: string
  addPerils?: PerilCreate[]
  updatePerils?: PerilUpdate[]
  removePerils?: string[]
}

/** What an update does to a draft's content; spans and schedules are settled by the caller. */
export type DraftChanges = FieldChanges & {
  addExposures?: ExposureCreate[]
  updateExposures?: ExposureUpdate[]
  removeExposures?: string[]
}

/** What was wrong with the request itself, by the owner's locator; `strays` fit no owner. */
export type ReportedProblems = {
  byOwner: Map<string, FieldErrors>
  strays: StrayProblem[]
  /** Exposures that the request adds, with their place in its list: they have no locator to be named by yet. */
  added: Map<string, number>
}

/** A part of the request that names something unknown. `index` is its place in the request's list. */
export type StrayProblem = {
  exposureName: string
  exposureLocator?: string
  index?: number
  perilName?: string
  message: string
}

export type DraftContext = {
  product: ProductDefinition
  timeZone: TimeZone
  now: Instant
  supply: LocatorSupply
}

export type DraftResult = { aggregate: PolicyAggregate; reported: ReportedProblems }

/** Digit locators that a create request needs: policy, quote, modification, and one for each part. */
export const digitsForNewDraft = (exposures: readonly ExposureCreate[]): number =>
  3 + digitsForExposures(exposures)

const digitsForExposures = (exposures: readonly ExposureCreate[]): number =>
  exposures.reduce((count, exposure) => count + 1 + (exposure.perils?.length ?? 0), 0)

/** Digit locators that an update needs: one for each exposure and peril that it adds. */
export const digitsForChanges = (changes: DraftChanges): number =>
  digitsForExposures(changes.addExposures ?? []) +
  (changes.updateExposures ?? []).reduce((count, update) => count + (update.addPerils?.length ?? 0), 0)
