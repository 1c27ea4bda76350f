// The changes that requests make to a policy's content, in the domain's form. An endorsement keeps its changes.
import type { FieldChanges } from '../../product/fields/groups.ts'

/** Limits and own share of a peril segment: exact decimal text as sent; indemnities also `unlimited`. */
export type PerilAmounts = {
  deductible?: string
  lumpSumPayment?: string
  indemnityInAggregate?: string
  indemnityPerEvent?: string
  indemnityPerItem?: string
}

/** Amounts of PerilCreateRequest: numbers or numeric text; null and "" count as absent. */
export type PerilAmountsCreate = { [name in keyof PerilAmounts]?: unknown }

/** Amounts of PerilUpdateRequest, with a flag for each that removes it. */
export type PerilAmountsUpdate = PerilAmountsCreate & {
  [name in keyof PerilAmounts as `remove${Capitalize<name>}`]?: boolean | null
}

/** The `locator` of an addition identifies it within the request only; the record gets another one. */
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

/** An update of a draft's content; the caller decides about spans and schedules. */
export type DraftChanges = FieldChanges & {
  addExposures?: ExposureCreate[]
  updateExposures?: ExposureUpdate[]
  removeExposures?: string[]
}

export type EndorsedExposure = Omit<ExposureUpdate, 'removePerils'> & { endPerils?: string[] }

export type EndorsementChanges = FieldChanges & {
  addExposures?: ExposureCreate[]
  updateExposures?: EndorsedExposure[]
  endExposures?: string[]
  newPaymentScheduleName?: string
  reprice?: boolean
}

/** How many digit locators an endorsement needs: those of its changes, and its modification's. */
export const digitsForNewDraft = (exposures: readonly ExposureCreate[]): number =>
  3 + digitsForExposures(exposures)

/** Digit locators that an update needs: one for each exposure and peril that it adds. */
export const digitsForChanges = ({
  addExposures,
  updateExposures,
}: Pick<EndorsementChanges, 'addExposures' | 'updateExposures'>): number =>
  digitsForExposures(addExposures ?? []) +
  (updateExposures ?? []).reduce((count, update) => count + (update.addPerils?.length ?? 0), 0)

const digitsForExposures = (exposures: readonly ExposureCreate[]): number =>
  exposures.reduce((count, exposure) => count + 1 + (exposure.perils?.length ?? 0), 0)

/** Digit locators that carrying out an endorsement takes: those of its changes, and its modification. */
export const digitsForEndorsement = (changes: EndorsementChanges): number => 1 + digitsForChanges(changes)

/** Locators of the exposures that the changes name. */
export const namedExposures = ({ updateExposures, endExposures }: EndorsementChanges): string[] => [
  ...new Set([...(updateExposures ?? []).map(one => one.exposureLocator), ...(endExposures ?? [])]),
]
