// What an endorsement changes of a policy, in the words of its request: plain data that is kept with it.
import type { FieldChanges } from '../../product/fields/groups.ts'
import type { ExposureCreate, ExposureUpdate } from '../draft/request.ts'

export type EndorsedExposure = Omit<ExposureUpdate, 'removePerils'> & { endPerils?: string[] }

export type EndorsementChanges = FieldChanges & {
  addExposures?: ExposureCreate[]
  updateExposures?: EndorsedExposure[]
  endExposures?: string[]
  newPaymentScheduleName?: string
  reprice?: boolean
}

/** Digit locators that carrying it out takes: one for each exposure and peril that it adds, and its modification. */
export const digitsForEndorsement = ({
  addExposures = [],
  updateExposures = [],
}: EndorsementChanges): number =>
  1 +
  addExposures.reduce((count, one) => count + 1 + (one.perils?.length ?? 0), 0) +
  updateExposures.reduce((count, one) => count + (one.addPerils?.length ?? 0), 0)
