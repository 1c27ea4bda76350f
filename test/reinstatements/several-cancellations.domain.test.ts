// Several cancellations of one policy and their reinstatements, in every order (brief 1.5, 1.6): cover exists only where no
// cancellation that is in force removes it. One year from March 1, 2030 in UTC.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import type { CancellationLocator } from '../../src/kernel/locators.ts'
import { DAY_MS } from '../../src/kernel/time.ts'
import { lineOf, segmentsInForce } from '../../src/policy/fold/line.ts'
import { policyResponse } from '../../src/policy/projection/policy.ts'
import { boundQuote } from '../../src/policy/records/aggregate.ts'
import { statusOf } from '../../src/transactions/custom-events/plan.ts'
import { decideChange } from '../../src/transactions/mechanism/price-change.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'
import { size } from '../support/sizes.ts'

const DAYS = 365
const START = utc('2030-03-01')
const dateOf = (day: number): string => new Date(START + day * DAY_MS).toISOString().slice(0, 10)

/** The days of the year that are covered. */
function coveredDays({ aggregate }: BoatInUtc): Set<number> {
  const days = segmentsInForce(lineOf(aggregate, boundQuote(aggregate))).flatMap(({ start, end }) => {
    const [from, until] = [start, end].map(at => Math.round((at - START) / DAY_MS)) as [number, number]
    return Array.from({ length: until - from }, (_, at) => from + at)
  })
  expect(new Set(days).size, 'segments overlap').toBe(days.length)
  return new Set(days)
}

type Removal = {
  readonly cancellation: CancellationLocator
  readonly day: number
  readonly days: ReadonlySet<number>
  isReinstated: boolean
}

const from = (days: ReadonlySet<number>, day: number): Set<number> =>
  new Set([...days].filter(one => one >= day))

/** Undefined if the operation was rejected. */
const attempted = async <T>(run: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await run()
  } catch (problem) {
    if (problem instanceof Refusal) return undefined
    throw problem
  }
}

const step = fc.oneof(
  fc.record({ kind: fc.constant('cancel' as const), day: fc.nat(DAYS - 1) }),
  fc.record({
    kind: fc.constant('reinstate' as const),
    which: fc.nat(5),
    /** Days after the cancellation. */
    gap: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(200)),
  }),
)

it('cover exists only where no cancellation in force removes it, in whichever order they are reinstated', async () => {
  const seen = { reinstated: 0, refused: 0, severalInForce: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9, size: 'max' }), async steps => {
      const boat = await BoatInUtc.issued()
      const whole = coveredDays(boat)
      const removals: Removal[] = []
      const inForce = (): Removal[] => removals.filter(one => !one.isReinstated)
      let covered = whole
      for (const one of steps) {
        if (one.kind === 'cancel') {
          const cancellation = await attempted(() => boat.cancel(dateOf(one.day)))
          if (cancellation === undefined) continue
          const days = from(covered, one.day)
          removals.push({ cancellation, day: one.day, days, isReinstated: false })
          covered = new Set([...covered].filter(day => day < one.day))
        } else {
          const removal = removals[one.which % Math.max(1, removals.length)]
          if (!removal) continue
          const day = removal.day + one.gap
          const back = from(removal.days, day)
          const done = await attempted(() =>
            boat.reinstate(removal.cancellation, one.gap === 0 ? undefined : dateOf(day)),
          )
          const isLast = inForce().at(-1) === removal
          expect(done !== undefined).toBe(isLast && back.size > 0)
          seen[done ? 'reinstated' : 'refused'] += 1
          if (!done) continue
          removal.isReinstated = true
          covered = new Set([...covered, ...back])
        }
        expect(coveredDays(boat)).toEqual(covered)
        for (const { day } of inForce()) expect(from(covered, day).size).toBe(0)
        if (inForce().length > 1) seen.severalInForce += 1
        const { effectiveContractEndTimestamp, cancellation } = policyResponse(
          boat.aggregate,
          boat.loaded.product,
          { summarizeQuotes: false },
        )
        const end = Math.max(-1, ...covered) + 1
        expect(effectiveContractEndTimestamp).toBe(String(START + end * DAY_MS))
        expect(cancellation?.effectiveTimestamp).toBe(
          inForce().length === 0 ? undefined : String(START + inForce().at(-1)!.day * DAY_MS),
        )
        expect(statusOf(boat.aggregate, utc('2031-02-28'))).toBe(
          inForce().length > 0 ? 'cancelled' : end < DAYS - 1 ? 'expired' : 'issued',
        )
      }
    }),
    { numRuns: size(60, 1_000), seed: 20_261_201 },
  )
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(5)
})

it('an earlier cancellation is reinstated only after the later one, and the bills return as planned', async () => {
  const boat = await BoatInUtc.issued()
  const plan = boat.planned
  const october = await boat.cancel('2030-10-15')
  const draft = await boat.draftReinstatement(october)
  const july = await boat.cancel('2030-07-01')
  const refusal = `Cover does not end by cancellation ${october} but by cancellation ${july}, which came later and takes effect at ${utc('2030-07-01')}; reinstate that first.`
  await expect(boat.onReinstatement('accept', draft)).rejects.toThrow(refusal)
  const price = { kind: 'reinstatement' as const, reinstatement: draft }
  await expect(decideChange(boat.loaded, price, boat.attempt)).rejects.toThrow(refusal)
  expect(coveredDays(boat).size).toBe(122)
  await boat.reinstate(july)
  expect(boat.aggregate.policy.effectiveEnd).toBe(utc('2030-10-15'))
  await boat.onReinstatement('accept', draft)
  await boat.onReinstatement('issue', draft)
  expect(boat.aggregate.policy.effectiveEnd).toBe(utc('2031-03-01'))
  expect(boat.planned).toEqual(plan)
  const again = await boat.cancel('2030-10-15')
  await boat.cancel('2030-07-01')
  await expect(boat.reinstate(again)).rejects.toThrow('reinstate that first')
})
