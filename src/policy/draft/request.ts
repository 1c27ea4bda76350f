// What requests ask of a draft's content, as the domain reads it, and what was wrong with the asking.
import type { LocatorSupply } from '../../kernel/locators.ts'
import type { Instant, TimeZone } from '../../kernel/time.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { FieldErrors } from '../../product/fields/errors.ts'
import type { PolicyAggregate } from '../records/aggregate.ts'

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
