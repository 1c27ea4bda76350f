// Random steps of a policy's story.
import fc from 'fast-check'
import { size } from './sizes.ts'

/** A time within the coverage, in thousandths of it from its start. With `midnight`, the start of that day. */
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
  /** Takes an open endorsement or renewal to its next state, or takes it back. */
  | 'continueEndorsement'
  | 'withdraw'
  | 'reinstate'
  /** Accepts a draft reinstatement. Issues or invalidates an accepted one. */
  | 'continueReinstatement'
  | 'wait'

/** A change requested by an endorsement or a renewal. `which` and `amount` pick from the possible ones (story-changes.ts). */
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

/** A step with everything that it may need. A step without a record to work on becomes the one that leads to such a record. */
export type Step = {
  readonly kind: StepKind
  /** Picks one of the records that the step can work on. */
  readonly which: number
  readonly at: Moment
  /** Time of a reinstatement, in thousandths from the cancellation's time to the end of the term. */
  readonly later: number
  /** Takes back transactions that block the step. Issues a reinstatement immediately. */
  readonly firmly: boolean
  readonly days: number
  readonly changes: readonly ChangePick[]
  /** The state to which an endorsement or a renewal is taken: 0 application, 1 quoted, 2 accepted, 3 issued. */
  readonly far: number
  /** Reaches that state in one request. */
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

/** Each step costs as much as all steps before it, because the model starts from the beginning each time. */
export const steps: fc.Arbitrary<Step[]> = fc.array(step, {
  minLength: 1,
  maxLength: size(15, 30),
  size: 'max',
})
