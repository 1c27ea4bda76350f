// Random steps of a policy's story.
import fc from 'fast-check'

/** A time within the coverage: thousandths of it from its start, as it comes or at midnight. */
export type Moment = { readonly thousandths: number; readonly midnight: boolean }

export type NewBusiness = {
  readonly which: number
  readonly schedule: number
  readonly startDays: number
  readonly days: number
}

export type StepKind =
  | 'cancel'
  | 'legacyCancel'
  | 'endorse'
  | 'withdraw'
  | 'reinstate'
  /** A draft reinstatement is accepted; an accepted one is issued, or invalidated. */
  | 'continueReinstatement'
  | 'wait'

/** A step with all that it may need; one that finds no record to be about is the cancellation that leads to one. */
export type Step = {
  readonly kind: StepKind
  /** Counts among the records that the step could be about. */
  readonly which: number
  readonly at: Moment
  /** A reinstatement's time: thousandths from the cancellation's own to the end of the term. */
  readonly later: number
  /** Takes back what stands in the way; issues a reinstatement at once. */
  readonly firmly: boolean
  readonly days: number
}

export const newBusiness: fc.Arbitrary<NewBusiness> = fc.record({
  which: fc.nat(9),
  schedule: fc.nat(9),
  startDays: fc.integer({ min: -30, max: 60 }),
  days: fc.oneof(fc.constant(365), fc.integer({ min: 20, max: 800 })),
})

const moment: fc.Arbitrary<Moment> = fc.record({
  thousandths: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(0, 1000) },
    { weight: 12, arbitrary: fc.integer({ min: -10, max: 1_010 }) },
  ),
  midnight: fc.boolean(),
})

const kinds: Record<StepKind, number> = {
  cancel: 6,
  legacyCancel: 2,
  endorse: 5,
  withdraw: 1,
  reinstate: 8,
  continueReinstatement: 8,
  wait: 3,
}

export const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(
    ...Object.entries(kinds).map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind as StepKind) })),
  ),
  which: fc.nat(9),
  at: moment,
  later: fc.oneof(fc.constant(0), fc.integer({ min: -10, max: 1_010 })),
  firmly: fc.boolean(),
  days: fc.integer({ min: 1, max: 40 }),
})

export const steps: fc.Arbitrary<Step[]> = fc.array(step, { minLength: 1, maxLength: 15, size: 'max' })
