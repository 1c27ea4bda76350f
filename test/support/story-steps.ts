// Random steps of a policy's story.
import fc from 'fast-check'
import { size } from './sizes.ts'

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
  | 'renew'
  /** An open endorsement or renewal goes a step on, or is taken back. */
  | 'continueEndorsement'
  | 'withdraw'
  | 'reinstate'
  /** A draft reinstatement is accepted; an accepted one is issued, or invalidated. */
  | 'continueReinstatement'
  | 'wait'

/** A change that an endorsement or a renewal asks for; `which` and `amount` count among what there is (story-changes.ts). */
export type ChangePick = {
  readonly what:
    | 'policyField'
    | 'policyGroup'
    | 'exposureField'
    | 'perilField'
    | 'addPeril'
    | 'endPeril'
    | 'addExposure'
    | 'endExposure'
    | 'schedule'
  readonly which: number
  readonly amount: number
}

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
  readonly changes: readonly ChangePick[]
  /** How far an endorsement or a renewal is taken: 0 application, 1 quoted, 2 accepted, 3 issued. */
  readonly far: number
  /** In one request. */
  readonly atOnce: boolean
  readonly reprice: boolean
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
  endorse: 12,
  renew: 4,
  continueEndorsement: 5,
  withdraw: 1,
  reinstate: 8,
  continueReinstatement: 8,
  wait: 3,
}

const changePick: fc.Arbitrary<ChangePick> = fc.record({
  what: fc.oneof(
    {
      weight: 5,
      arbitrary: fc.constantFrom<ChangePick['what']>(
        'policyField',
        'exposureField',
        'perilField',
        'policyGroup',
      ),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom<ChangePick['what']>('addPeril', 'endPeril', 'addExposure', 'endExposure'),
    },
    { weight: 1, arbitrary: fc.constant<ChangePick['what']>('schedule') },
  ),
  which: fc.nat(20),
  amount: fc.nat(20),
})

export const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(
    ...Object.entries(kinds).map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind as StepKind) })),
  ),
  which: fc.nat(9),
  at: moment,
  later: fc.oneof(fc.constant(0), fc.integer({ min: -10, max: 1_010 })),
  firmly: fc.boolean(),
  days: fc.integer({ min: 1, max: 40 }),
  changes: fc.array(changePick, { maxLength: 3, size: 'max' }),
  far: fc.constantFrom(3, 3, 3, 3, 2, 1, 0),
  atOnce: fc.boolean(),
  reprice: fc.boolean(),
})

/** Each step costs as much as all before it: the model tells the story from its beginning. */
export const steps: fc.Arbitrary<Step[]> = fc.array(step, {
  minLength: 1,
  maxLength: size(15, 30),
  size: 'max',
})
