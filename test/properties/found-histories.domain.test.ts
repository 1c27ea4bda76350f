// Shrunk histories on which the service and the naive model once disagreed, with their figures.
import { describe, expect, it } from 'vitest'
import { localParts } from '../../src/kernel/time.ts'
import { beginStory, type Story } from '../support/policy-story.ts'
import { expectModelAgrees, expectSegmentsMatchModel, priceOf, viewOf } from '../support/story-checks.ts'
import { keyedExposures, keyedPerils } from '../support/story-keys.ts'
import { carryOutStep, type StepOutcome } from '../support/story-runner.ts'
import type { NewBusiness, Step } from '../support/story-steps.ts'

/** 2027-01-30 to 2028-01-30, with the data of the example's first worked policy and its first payment schedule. */
const YEAR: NewBusiness = { which: 0, schedule: 0, startDays: 0, days: 365 }

const NOTHING: Step = {
  kind: 'wait',
  which: 0,
  at: { thousandths: 0, midnight: true },
  later: 0,
  firmly: false,
  days: 0,
  changes: [],
  far: 3,
  atOnce: true,
  reprice: true,
}

type Change = Step['changes'][number]

const change = (what: Change['what'], which = 0, amount = 0): Change => ({ what, which, amount })

/** The motor example's endorsement types by position: never, always, all. */
const NEVER = 0
const ALWAYS = 1
const ALL = 2

const endorse = (thousandths: number, which: number, changes: Change[], more: Partial<Step> = {}): Step => ({
  ...NOTHING,
  kind: 'endorse',
  at: { thousandths, midnight: true },
  which,
  changes,
  ...more,
})
const cancel = (thousandths: number): Step => ({
  ...NOTHING,
  kind: 'cancel',
  at: { thousandths, midnight: true },
})
const renew = (changes: Change[] = []): Step => ({ ...NOTHING, kind: 'renew', days: 3, changes })
const REINSTATE: Step = { ...NOTHING, kind: 'reinstate', firmly: true }

async function storyOf(
  steps: readonly Step[],
  business = YEAR,
  example: 'motor' | 'home' = 'motor',
): Promise<StepOutcome> {
  let last: StepOutcome = { story: await beginStory(example, business) }
  for (const one of steps) {
    last = await carryOutStep(last.story, one)
    expectModelAgrees(last.story)
    expectSegmentsMatchModel(last.story)
  }
  return last
}

/** A peril's pieces in force: start and premium. */
function pieces(story: Story, key: string): string[] {
  const perils = keyedExposures(viewOf(story)).flatMap(keyedPerils)
  return perils
    .find(one => one.key === key)!
    .one.pieces.filter(one => one.piece.replacedBy === undefined)
    .sort((a, b) => a.piece.start - b.piece.start)
    .map(({ piece }) => {
      const { year, month, day } = localParts(piece.start, story.rules.timeZone)
      return `${year}-${month}-${day}: ${(piece.amounts!.premium.minor / 100).toFixed(2)}`
    })
}
const figuresOf = (story: Story) => {
  const { grossPremium, grossTaxes, grossFees, total } = priceOf(story)
  return { grossPremium, grossTaxes, grossFees, total }
}

/** The vehicle's value changes from 24,500 to 49,000. */
const DEARER = change('exposureField', 0, 9)
const OWN_DAMAGE = 1

describe('An endorsement that was invalidated', () => {
  it('leaves no data behind that affects the rating of a later endorsement', async () => {
    const { story } = await storyOf([
      endorse(500, ALWAYS, [DEARER], { far: 1 }),
      { ...NOTHING, kind: 'continueEndorsement', far: 0 },
      endorse(500, ALL, []),
    ])
    expect(pieces(story, 'e0 own_damage 0')).toEqual(['2027-1-30: 227.84', '2027-7-31: 225.41'])
    expect(figuresOf(story)).toEqual({
      grossPremium: 671.17,
      grossTaxes: 127.52,
      grossFees: 12.5,
      total: 811.19,
    })
  })
})

describe('An endorsement that sends the present value', () => {
  it('rates nothing when it reprices changes, and rates again when it reprices everything', async () => {
    const sameRegion = change('policyField', 0, 2)
    const { story } = await storyOf([endorse(431, ALWAYS, [sameRegion])])
    expect(pieces(story, 'e0 own_damage 0')).toEqual(['2027-1-30: 196.41', '2027-7-6: 256.84'])
    expect(figuresOf(story).grossPremium).toBe(671.17)
    const { story: rated } = await storyOf([endorse(431, ALL, [sameRegion])])
    expect(pieces(rated, 'e0 own_damage 0')).toEqual(['2027-1-30: 196.41', '2027-7-6: 255.87'])
    expect(figuresOf(rated).grossPremium).toBe(669.73)
  })
})

describe('A policy that was endorsed while cancelled, and then reinstated', () => {
  const restored = [cancel(600), endorse(500, ALWAYS, [DEARER]), REINSTATE]

  it('has the endorsement up to the cancellation, and after it what the cancellation removed', async () => {
    const { story } = await storyOf(restored)
    expect(pieces(story, 'e0 own_damage 0')).toEqual([
      '2027-1-30: 137.23',
      '2027-5-19: 270.49',
      '2027-9-6: 180.33',
    ])
    const { runs } = keyedExposures(viewOf(story))[0]!.one
    const values = runs.filter(one => one.replacedBy === undefined).sort((a, b) => a.start - b.start)
    expect(values.map(one => one.run.data.values.vehicle_value)).toEqual([['24500'], ['49000'], ['24500']])
  })

  it('can be endorsed: a peril that is ended is no longer charged', async () => {
    const { story } = await storyOf([...restored, endorse(800, NEVER, [change('endPeril', OWN_DAMAGE)])])
    expect(pieces(story, 'e0 own_damage 0')).toEqual([
      '2027-1-30: 137.23',
      '2027-5-19: 270.49',
      '2027-9-6: 90.65',
    ])
    expect(figuresOf(story)).toEqual({
      grossPremium: 731.09,
      grossTaxes: 138.89,
      grossFees: 12.5,
      total: 882.48,
    })
  })

  it('is rated again up to its end', async () => {
    const { story } = await storyOf([...restored, endorse(700, ALL, [])])
    expect(pieces(story, 'e0 own_damage 0')).toEqual([
      '2027-1-30: 137.23',
      '2027-5-19: 270.49',
      '2027-9-6: 45.07',
      '2027-10-12: 135.24',
    ])
  })

  it('is renewed with every peril', async () => {
    const { story } = await storyOf([...restored, renew()])
    expect(pieces(story, 'e0 own_damage 1')).toEqual(['2028-1-30: 453.25'])
  })
})

describe('An endorsement before a later renewal', () => {
  it('changes the deductible to 1,000 in the peril and in the peril that renews it', async () => {
    const { story } = await storyOf([renew(), endorse(250, ALWAYS, [change('perilField', OWN_DAMAGE, 3)])])
    expect(pieces(story, 'e0 own_damage 0')).toEqual(['2027-1-30: 227.84', '2027-7-31: 191.59'])
    expect(pieces(story, 'e0 own_damage 1')).toEqual(['2028-1-30: 385.26'])
  })

  it('ends a peril in both terms', async () => {
    const { story } = await storyOf([renew(), endorse(250, ALWAYS, [change('endPeril', OWN_DAMAGE)])])
    expect(pieces(story, 'e0 own_damage 0')).toEqual(['2027-1-30: 227.84'])
    expect(pieces(story, 'e0 own_damage 1')).toEqual([])
    expect(figuresOf(story).grossPremium).toBe(663.68)
  })
})

describe('An endorsement before the start of an exposure that was added earlier', () => {
  it('adds perils to the exposure from its start', async () => {
    const { story } = await storyOf([
      endorse(600, NEVER, [change('addExposure', 1, 0)]),
      endorse(250, NEVER, [change('addPeril', 1, 0)]),
    ])
    const [added] = keyedExposures(viewOf(story)).slice(-1)
    expect(added!.one.exposure.name).toBe('trailer')
    expect(keyedPerils(added!).map(one => one.key)).toEqual(['e1 trailer_liability 0', 'e1 trailer_damage 0'])
    expect(pieces(story, 'e1 trailer_liability 0')).toEqual(['2027-9-6: 9.55'])
    expect(pieces(story, 'e1 trailer_damage 0')).toEqual(['2027-9-6: 25.48'])
  })
})

describe('A renewal', () => {
  it('to another payment schedule charges the fee of that schedule', async () => {
    const { story } = await storyOf([renew([change('schedule', 1)])], YEAR, 'home')
    expect(story.loaded.aggregate.policy.paymentScheduleName).toBe('monthly')
    expect(priceOf(story).fees.map(fee => `${fee.name} ${fee.amount}`)).toEqual([
      'policy_fee 35',
      'policy_fee 35',
      'payment_plan_fee 24',
    ])
  })

  it('of a cancelled policy is rejected until the policy is reinstated', async () => {
    const { refused, story } = await storyOf([cancel(500), renew()])
    expect(refused?.message).toMatch(
      /is cancelled from 1816984800000 and cannot be renewed; reinstate it first/,
    )
    expect(figuresOf(story).grossPremium).toBe(337.39)
  })
})

describe('A cancellation at a time in a gap of the coverage', () => {
  it('ends the policy where its coverage ends, and a reinstatement of an earlier one keeps that end', async () => {
    const dayOf = ({ loaded, rules }: Story): string => {
      const { year, month, day } = localParts(loaded.aggregate.policy.effectiveEnd, rules.timeZone)
      return `${year}-${month}-${day}`
    }
    // The year is cancelled after a quarter, and its last part is reinstated.
    const gap = [cancel(250), { ...REINSTATE, which: 0, later: 600 }]
    expect(dayOf((await storyOf(gap)).story)).toBe('2028-1-30')
    const { story } = await storyOf([...gap, cancel(600)])
    expect(dayOf(story)).toBe('2027-5-1')
    const { story: back } = await storyOf([...gap, cancel(600), cancel(300), { ...REINSTATE, which: 2 }])
    expect(dayOf(back)).toBe('2027-5-1')
    expect(priceOf(back)).toMatchObject(figuresOf(story))
  })
})
