// Histories on which the service and the naive model once disagreed, shrunk, with their figures.
import { describe, expect, it } from 'vitest'
import { localParts } from '../../src/platform/time.ts'
import { beginStory, type Story } from '../support/policy-story.ts'
import { agreesWithModel, priceOf, tiles, viewOf } from '../support/story-checks.ts'
import { keyedExposures, keyedPerils } from '../support/story-keys.ts'
import type { NewBusiness, Step } from '../support/story-steps.ts'
import { type Told, tell } from '../support/story-telling.ts'

/** 2027-01-30 to 2028-01-30, as the first worked policy of the example, by its first payment schedule. */
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

/** Endorsement types of the motor example by their place: never, always, all. */
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

async function told(
  steps: readonly Step[],
  business = YEAR,
  example: 'motor' | 'home' = 'motor',
): Promise<Told> {
  let last: Told = { story: await beginStory(example, business) }
  for (const one of steps) {
    last = await tell(last.story, one)
    agreesWithModel(last.story)
    tiles(last.story)
  }
  return last
}

/** A peril's pieces in force: from when, and what each costs. */
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

/** The vehicle is worth 49,000 in place of 24,500. */
const DEARER = change('exposureField', 0, 9)
const OWN_DAMAGE = 1

describe('an endorsement that was taken back', () => {
  it('leaves no data behind that a later one is rated by', async () => {
    const { story } = await told([
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
