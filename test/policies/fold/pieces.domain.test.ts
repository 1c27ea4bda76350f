// The brief's worked amounts for splits, cancellations and reinstatements (3.1, 3.2, 1.6).
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newUuid, type QuoteLocator, type Uuid } from '../../../src/kernel/locators.ts'
import { type CurrencyCode, fromMinor, money, sum, toText } from '../../../src/kernel/money.ts'
import { dayStart, type Instant, months, type Span, type TimeZone } from '../../../src/kernel/time.ts'
import type { Step } from '../../../src/policy/fold/line.ts'
import { type Piece, piecesInForce, piecesOf } from '../../../src/policy/fold/pieces.ts'
import { measureOf, portion, shares } from '../../../src/policy/fold/shares.ts'
import type {
  Modification,
  PerilRun,
  PolicySegment,
  Proration,
} from '../../../src/policy/records/aggregate.ts'
import type { ModificationKind } from '../../../src/policy/records/transactions.ts'
import { size } from '../../support/sizes.ts'

const EUR = 'EUR' as CurrencyCode
const BERLIN = 'Europe/Berlin' as TimeZone
const UTC = 'UTC' as TimeZone
const day = (text: string, zone: TimeZone = BERLIN): Instant => dayStart(text, zone)!

const NO_DATA = { values: {}, groups: [] }

/** A line of modifications under construction, with one run over the whole span. */
class Story {
  readonly steps: Step[] = []
  run: PerilRun
  readonly zone: TimeZone

  constructor(span: Span, premium: string, zone: TimeZone = BERLIN) {
    this.zone = zone
    const first = this.#modification('creation', 'monthly')
    const made = [this.#segment(first, span)]
    this.steps.push({ modification: first, made, replaced: [] })
    this.run = {
      ...span,
      locator: newUuid(0),
      perilLocator: newUuid(0),
      madeBy: first.locator,
      createdAt: 0 as Instant,
      updatedAt: 0 as Instant,
      data: NO_DATA,
      amounts: {},
      cuts: [],
      price: {
        premium: { month: '0', amount: money(premium, EUR) },
        taxes: [{ name: 'tax', amount: money(premium, EUR) }],
        commissions: [],
      },
    }
  }

  segments(): PolicySegment[] {
    const gone = new Set(this.steps.flatMap(step => step.replaced.map(segment => segment.locator)))
    return this.steps.flatMap(step => step.made).filter(segment => !gone.has(segment.locator))
  }

  split(at: Instant): this {
    const hit = this.segments().filter(segment => segment.start < at && at < segment.end)
    return this.#change('creation', hit, segment => [
      { start: segment.start, end: at },
      { start: at, end: segment.end },
    ])
  }

  cancel(at: Instant, proration: Proration = 'monthly'): this {
    const hit = this.segments().filter(segment => segment.end > at)
    return this.#change(
      'cancellation',
      hit,
      segment => (segment.start < at ? [{ start: segment.start, end: at }] : []),
      proration,
    )
  }

  /** Records a given amount before the split of the segment that the last step split at this time. */
  told(at: Instant, premium: string): this {
    const { modification, replaced } = this.steps.at(-1)!
    const cancelled = this.steps.findLast(step => step.modification.kind === 'cancellation')
    const [segment] = (replaced.length > 0 ? replaced : cancelled!.replaced).filter(
      one => one.start < at && at < one.end,
    )
    const amount = money(premium, EUR)
    const before = { premium: amount, technicalPremium: undefined, taxes: [amount], commissions: [] }
    const split = { by: modification.locator, segment: segment!.locator, at, before }
    this.run = { ...this.run, splits: [...(this.run.splits ?? []), split] }
    return this
  }

  /** Restores what the last cancellation removed, from `at` on. */
  reinstate(at: Instant): this {
    const cancelled = this.steps.findLast(step => step.modification.kind === 'cancellation')!
    const modification = this.#modification('reinstatement', 'monthly')
    const made = cancelled.replaced.flatMap(segment => {
      const kept = cancelled.made.find(one => one.predecessor === segment.locator)?.end ?? segment.start
      const start = Math.max(kept, at) as Instant
      return start < segment.end ? [this.#segment(modification, { start, end: segment.end }, segment)] : []
    })
    this.steps.push({ modification, made, replaced: [] })
    return this
  }

  pieces(): Piece[] {
    return piecesInForce(piecesOf(this.run, this.steps, this.zone))
  }

  premiums(): string[] {
    return this.pieces().map(piece => toText(piece.amounts!.premium))
  }

  #change(
    kind: ModificationKind,
    hit: PolicySegment[],
    parts: (segment: PolicySegment) => Span[],
    proration: Proration = 'monthly',
  ): this {
    const modification = this.#modification(kind, proration)
    const made = hit.flatMap(segment =>
      parts(segment).map(span => this.#segment(modification, span, segment)),
    )
    this.steps.push({ modification, made, replaced: hit })
    return this
  }

  #modification(kind: ModificationKind, proration: Proration): Modification {
    return {
      locator: newUuid(0),
      kind,
      displayId: 0 as never,
      number: this.steps?.length ?? 0,
      name: kind,
      effectiveAt: 0 as Instant,
      policyEnd: 0 as Instant,
      createdAt: 0 as Instant,
      updatedAt: 0 as Instant,
      proration,
    }
  }

  #segment(by: Modification, span: Span, predecessor?: { locator: Uuid }): PolicySegment {
    return {
      ...span,
      locator: newUuid(0),
      quoteLocator: 0 as QuoteLocator,
      madeBy: by.locator,
      createdAt: 0 as Instant,
      updatedAt: 0 as Instant,
      data: NO_DATA,
      predecessor: predecessor?.locator,
    }
  }
}

describe('A run split by its policy', () => {
  it('of 1200 a year from June 13, cancelled on Sept 19, keeps 3.2 months: 320', () => {
    const story = new Story({ start: day('2025-06-13'), end: day('2026-06-13') }, '1200')
    expect(months(day('2025-06-13'), day('2025-09-19'), BERLIN).toFixed()).toBe('3.2')
    expect(story.cancel(day('2025-09-19')).premiums()).toEqual(['320.00'])
  })

  it('at 11.655 a month has 42.11 for May 15 to Sep 3 and 97.75 after; Sep 16 to May 15 is 92.85', () => {
    const story = new Story({ start: day('2025-05-15', UTC), end: day('2026-05-15', UTC) }, '139.86', UTC)
    expect(story.split(day('2025-09-03', UTC)).premiums()).toEqual(['42.11', '97.75'])
    const later = months(day('2025-09-16', UTC), day('2026-05-15', UTC), UTC)
    expect(toText(money(later.times('11.655'), EUR))).toBe('92.85')
  })

  it('of 1000 a year, split on July 1, has 500.00 by months and 495.78 by milliseconds', () => {
    const year = { start: day('2025-01-01', UTC), end: day('2026-01-01', UTC) }
    const july = day('2025-07-01', UTC)
    const one = (proration: Proration) =>
      toText(
        shares(money('1000', EUR), year, [{ start: year.start, end: july }], measureOf(proration, UTC))[0]!,
      )
    expect(one('monthly')).toBe('500.00')
    // 181 of 365 days is 495.89. The brief's 495.78 counts a zone that loses an hour before July.
    expect(one('linear')).toBe('495.89')
    const inZone = { start: day('2025-01-01'), end: day('2026-01-01') }
    const split = shares(
      money('1000', EUR),
      inZone,
      [{ start: inZone.start, end: day('2025-07-01') }],
      measureOf('linear', BERLIN),
    )
    expect(toText(split[0]!)).toBe('495.78')
  })

  it('of 1200, cancelled on Aug 30, loses 851.61, and a reinstatement at that time restores it', () => {
    const story = new Story({ start: day('2025-05-15'), end: day('2026-05-15') }, '1200')
    expect(story.cancel(day('2025-08-30')).premiums()).toEqual(['348.39'])
    expect(story.reinstate(day('2025-08-30')).premiums()).toEqual(['348.39', '851.61'])
  })

  it('reinstated later has a gap, and only the amount of the remaining months', () => {
    const story = new Story({ start: day('2025-05-15'), end: day('2026-05-15') }, '1200')
    story.cancel(day('2025-08-30')).reinstate(day('2025-09-30'))
    const [, back] = story.pieces()
    expect(back!.start).toBe(day('2025-09-30'))
    const left = months(day('2025-09-30'), day('2026-05-15'), BERLIN)
    const all = months(day('2025-08-30'), day('2026-05-15'), BERLIN)
    expect(back!.amounts!.premium).toEqual(money(left.times('851.61').div(all), EUR))
  })

  it('cancelled at earlier and earlier times is reduced each time', () => {
    const story = new Story({ start: day('2025-01-01'), end: day('2026-01-01') }, '1200')
    expect(story.cancel(day('2025-10-01')).premiums()).toEqual(['900.00'])
    expect(story.cancel(day('2025-04-01')).premiums()).toEqual(['300.00'])
    expect(story.reinstate(day('2025-04-01')).premiums()).toEqual(['300.00', '600.00'])
  })
})

describe('A run with given amounts for its splits', () => {
  const year = { start: day('2025-01-01'), end: day('2026-01-01') }

  it('has these amounts, and a later split divides what they left', () => {
    const story = new Story(year, '1200').split(day('2025-07-01')).told(day('2025-07-01'), '700')
    expect(story.premiums()).toEqual(['700.00', '500.00'])
    expect(story.pieces().map(piece => toText(piece.amounts!.taxes[0]!))).toEqual(['700.00', '500.00'])
    // In proportion, because no amount is given: three of the six months.
    expect(story.split(day('2025-04-01')).premiums()).toEqual(['350.00', '350.00', '500.00'])
  })

  it('is restored unchanged from the same time on, and from a later time without the part before it', () => {
    const cancelled = () => new Story(year, '1200').cancel(day('2025-07-01')).told(day('2025-07-01'), '700')
    expect(cancelled().premiums()).toEqual(['700.00'])
    expect(cancelled().reinstate(day('2025-07-01')).premiums()).toEqual(['700.00', '500.00'])
    const later = cancelled().reinstate(day('2025-10-01')).told(day('2025-10-01'), '100')
    expect(later.premiums()).toEqual(['700.00', '400.00'])
  })

  it('is split in proportion by another modification at the same time', () => {
    const story = new Story(year, '1200').cancel(day('2025-07-01')).told(day('2025-07-01'), '700')
    const { steps } = new Story(year, '1200').cancel(day('2025-07-01'))
    const other = { ...story.run, madeBy: steps[0]!.modification.locator }
    expect(piecesInForce(piecesOf(other, steps, BERLIN)).map(one => toText(one.amounts!.premium))).toEqual([
      '600.00',
    ])
  })
})

describe('A run with any sequence of splits, cancellations and reinstatements', () => {
  const YEAR = { start: day('2025-01-01'), end: day('2026-01-01') }
  const action = fc.record({
    kind: fc.constantFrom('split' as const, 'cancel' as const, 'reinstate' as const),
    at: fc.integer({ min: 1, max: 364 * 24 * 60 }),
  })

  it('has pieces that never overlap and are in force, and rounding adds or loses nothing', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 99_999_999 }),
        fc.array(action, { maxLength: 12 }),
        (minor, actions) => {
          const story = new Story(YEAR, toText(fromMinor(minor, EUR)))
          let cancelled = false
          for (const { kind, at } of actions) {
            const time = (YEAR.start + at * 60_000) as Instant
            const before = sum(
              story.pieces().map(piece => piece.amounts!.premium),
              EUR,
            )
            if (kind === 'split') {
              story.split(time)
              expect(
                sum(
                  story.pieces().map(piece => piece.amounts!.premium),
                  EUR,
                ),
              ).toEqual(before)
            } else if (kind === 'cancel' && !cancelled) {
              const whole = story.premiums()
              story.cancel(time)
              const steps = story.steps.length
              story.reinstate(time)
              expect(
                sum(
                  story.pieces().map(piece => piece.amounts!.premium),
                  EUR,
                ),
              ).toEqual(before)
              story.steps.length = steps
              expect(whole.length).toBeGreaterThanOrEqual(story.premiums().length)
              cancelled = true
            } else if (kind === 'reinstate' && cancelled) {
              story.reinstate(time)
              cancelled = false
              expect(
                sum(
                  story.pieces().map(piece => piece.amounts!.premium),
                  EUR,
                ).minor,
              ).toBeLessThanOrEqual(minor)
            }
            const pieces = story.pieces()
            for (const [index, piece] of pieces.entries()) {
              expect(piece.start).toBeLessThan(piece.end)
              if (index > 0) expect(piece.start).toBeGreaterThanOrEqual(pieces[index - 1]!.end)
              expect(piece.segment.start).toBeLessThanOrEqual(piece.start)
              expect(piece.segment.end).toBeGreaterThanOrEqual(piece.end)
              expect(piece.amounts!.premium.minor).toBeGreaterThanOrEqual(0)
              expect(piece.amounts!.taxes[0]).toEqual(piece.amounts!.premium)
            }
          }
        },
      ),
      { seed: 20261121, numRuns: size(170, 20_000) },
    )
  })
})

it('time between the parts keeps its share, which is not charged', () => {
  const year = { start: day('2025-01-01'), end: day('2026-01-01') }
  const parts = [
    { start: year.start, end: day('2025-04-01') },
    { start: day('2025-07-01'), end: year.end },
  ]
  const shared = shares(money('1200', EUR), year, parts, measureOf('monthly', BERLIN))
  expect(shared.map(toText)).toEqual(['300.00', '600.00'])
})

it('a run too short to measure in months keeps its amount on its last part', () => {
  const start = day('2025-01-01')
  const story = new Story({ start, end: (start + 100) as Instant }, '33.34')
  expect(story.premiums()).toEqual(['33.34'])
  expect(story.split((start + 50) as Instant).premiums()).toEqual(['0.00', '33.34'])
})

it('a share of any amount is the exact quotient, rounded half-up', () => {
  const amount = fc.oneof(fc.integer({ min: -2e9, max: 2e9 }), fc.integer({ min: -9e14, max: 9e14 }))
  const whole = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 4e12 }))
  fc.assert(
    fc.property(amount, whole, fc.double({ min: 0, max: 1, noNaN: true }), (minor, units, share) => {
      const part = Math.round(units * share)
      const twice = 2n * BigInt(Math.abs(minor)) * BigInt(part)
      const exact = (twice + BigInt(units)) / (2n * BigInt(units))
      expect(portion(fromMinor(minor, EUR), part, units).minor).toBe(Math.sign(minor) * Number(exact) || 0)
    }),
    { numRuns: size(700, 200_000) },
  )
})
