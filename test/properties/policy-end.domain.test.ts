// Random histories on both examples in which endorsements move the policy's end back and forth, among plain endorsements,
// renewals, cancellations and reinstatements: all invariants hold.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decideInvoicing } from '../../src/billing/billing.ts'
import { Refusal } from '../../src/kernel/errors.ts'
import { add, type Instant, startOfDay } from '../../src/kernel/time.ts'
import { amountsDue, isAbsorbed, planOf, standingInvoices } from '../../src/policy/bills/amounts-due.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { lineOf, segmentsInForce, standingCancellations } from '../../src/policy/fold/line.ts'
import { piecesInForce } from '../../src/policy/fold/pieces.ts'
import { policyAsKnownAt } from '../../src/policy/projection/as-known.ts'
import { policyResponse } from '../../src/policy/projection/policy.ts'
import { boundQuote, type PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import { decideCancellation } from '../../src/transactions/cancellations/decision.ts'
import { NEW_POLICY_END } from '../../src/transactions/endorsements/application.ts'
import { EndorsementCreateRequest } from '../../src/transactions/endorsements/contract.ts'
import { decideEndorsement, type EndorsementDecision } from '../../src/transactions/endorsements/kind.ts'
import type { EndorsementOperation } from '../../src/transactions/endorsements/plans.ts'
import { decideChange } from '../../src/transactions/mechanism/price-change.ts'
import { RenewalCreateRequest } from '../../src/transactions/renewals/contract.ts'
import { comparable } from '../support/comparable.ts'
import type { Example } from '../support/configurations.ts'
import { attemptAt, beginStory, type Story } from '../support/policy-story.ts'
import { type ProraterName, withProrater } from '../support/prorater.ts'
import { size } from '../support/sizes.ts'
import { storedAggregate } from '../support/stored-aggregate.ts'
import { invoiceTotalsByLocator, modificationsAddUp, priceOf, same, viewOf } from '../support/story-checks.ts'
import { carryOutStep, endStory } from '../support/story-runner.ts'
import { type NewBusiness, newBusiness } from '../support/story-steps.ts'

const SEED = 20261121
const EXAMPLES: Example[] = ['motor', 'home']

const runs = (small: number) => ({ seed: SEED, numRuns: size(small, 50 * small) })

type Move = {
  readonly kind: 'endorse' | 'shorten' | 'extend' | 'takenBack' | 'renew' | 'cancel' | 'wait'
  /** Where it begins, in thousandths of the time from the policy's start to its end. */
  readonly from: number
  /** The new end, in thousandths of the time from there to the end, or in days after the end. */
  readonly to: number
  readonly reprice: number
  readonly firmly: boolean
}

const move: fc.Arbitrary<Move> = fc.record({
  kind: fc.oneof(
    ...Object.entries({ endorse: 2, shorten: 4, extend: 4, takenBack: 3, renew: 3, cancel: 2, wait: 2 }).map(
      ([kind, weight]) => ({ weight, arbitrary: fc.constant(kind as Move['kind']) }),
    ),
  ),
  from: fc.integer({ min: 0, max: 1_000 }),
  to: fc.integer({ min: 0, max: 1_000 }),
  reprice: fc.nat(9),
  firmly: fc.boolean(),
})

const moves = fc.array(move, { minLength: 1, maxLength: size(8, 12), size: 'max' })

/** Amounts are split by the service, or by the given prorater. */
async function begun(example: Example, business: NewBusiness, prorater?: ProraterName): Promise<Story> {
  const begin = await beginStory(example, business)
  const story = prorater ? withProrater(begin, prorater) : begin
  const { configuration } = story.loaded
  const features = { ...configuration.configuration.features, [NEW_POLICY_END]: true }
  return {
    ...story,
    loaded: {
      ...story.loaded,
      configuration: { ...configuration, configuration: { ...configuration.configuration, features } },
    },
  }
}

const withAggregate = (story: Story, aggregate: PolicyAggregate): Story => ({
  ...story,
  now: (story.now + 60_000) as Instant,
  loaded: { ...story.loaded, aggregate },
})

async function attempted<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run()
  } catch (problem) {
    if (problem instanceof Refusal) return undefined
    throw problem
  }
}

const decided = (story: Story, operation: EndorsementOperation): Promise<EndorsementDecision | undefined> =>
  attempted(() => decideEndorsement(story.loaded, operation, attemptAt(story.now)))

const timesOf = ({ loaded, rules }: Story, { kind, from, to }: Move) => {
  const { originalStart, effectiveEnd } = loaded.aggregate.policy
  const start = startOfDay(
    (originalStart + Math.floor(((effectiveEnd - originalStart) * from) / 1_000)) as Instant,
    rules.timeZone,
  )
  const isLater = kind === 'extend' || (kind === 'takenBack' && to % 2 === 0)
  const end = isLater
    ? add(effectiveEnd, 1 + to, 'day', rules.timeZone)
    : ((start + Math.floor(((effectiveEnd - start) * to) / 1_000)) as Instant)
  return { start, end }
}

/** An endorsement that may move the end: previewed, quoted, accepted and issued. Undefined if it is rejected. */
async function endorsed(
  story: Story,
  startTimestamp: Instant,
  newPolicyEndTimestamp: Instant | undefined,
  { reprice, to }: Pick<Move, 'reprice' | 'to'>,
  last: 'issue' | 'invalidate' = 'issue',
): Promise<Story | undefined> {
  const { product } = story.loaded
  const types = product.endorsements.filter(one => one.reprice !== 'input')
  const request = EndorsementCreateRequest.parse({
    endorsementName: types[reprice % types.length]!.name,
    startTimestamp,
    newPolicyEndTimestamp,
    state: to % 3 === 0 ? 'accepted' : 'application',
  })
  const first = await decided(story, { action: 'create', request })
  if (!first) return undefined
  const { endorsement } = first
  let now = withAggregate(story, first.planned.aggregate)
  const priceChange = (of: Story) =>
    decideChange(of.loaded, { kind: 'endorsement', endorsement, asked: 'price' }, attemptAt(of.now))
  const preview = await priceChange(now)
  for (const action of [...(request.state === 'accepted' ? [] : (['quote', 'accept'] as const)), last]) {
    const next = await decideEndorsement(now.loaded, { action, endorsement }, attemptAt(now.now))
    now = withAggregate(now, next.planned.aggregate)
  }
  if (last === 'issue') same(await priceChange(now), preview)
  return now
}

async function moved(story: Story, one: Move): Promise<Story | undefined> {
  const { start, end } = timesOf(story, one)
  switch (one.kind) {
    case 'endorse':
      return await endorsed(story, start, undefined, one)
    case 'shorten':
    case 'extend':
      return await endorsed(story, start, end, one)
    case 'takenBack':
      return await endorsed(story, start, end, one, 'invalidate')
    case 'renew': {
      const { effectiveEnd } = story.loaded.aggregate.policy
      const renewalEndTimestamp = add(effectiveEnd, 30 + one.to, 'day', story.rules.timeZone)
      const request = RenewalCreateRequest.parse({ renewalEndTimestamp, state: 'issued' })
      if (standingCancellations(story.loaded.aggregate).length > 0) return undefined
      const renewed = await decided(story, { action: 'renew', request })
      return renewed && withAggregate(story, renewed.planned.aggregate)
    }
    case 'cancel': {
      const step = {
        kind: 'cancel' as const,
        which: one.reprice,
        at: { thousandths: one.from, midnight: one.firmly },
        later: 0,
        firmly: true,
        days: 1,
        changes: [],
        far: 3,
        atOnce: true,
        reprice: false,
      }
      const after = one.firmly
        ? await endStory(story, step, 'cancelAndReinstate')
        : (await carryOutStep(story, step)).story
      return after && withAggregate(after, after.loaded.aggregate)
    }
    case 'wait': {
      const now = add(story.now, 1 + (one.to % 60), 'day', story.rules.timeZone)
      const invoicing = await decideInvoicing(story.loaded, attemptAt(now))
      return withAggregate({ ...story, now }, invoicing?.aggregate ?? story.loaded.aggregate)
    }
  }
}

/** The invoiced and the planned amounts together are the price of what is in force. */
function billsAddUp(story: Story): void {
  const { aggregate } = story.loaded
  const standing = standingInvoices(aggregate)
  let minor = 0
  for (const { modification } of lineOf(aggregate, boundQuote(aggregate))) {
    const due = amountsDue(aggregate, modification)
    const isInvoiced = (number: number): boolean =>
      standing.some(
        one => one.policyModificationLocator === modification.locator && one.installmentNumber === number,
      )
    for (const one of planOf(aggregate, modification))
      if (isInvoiced(one.number) || !isAbsorbed(aggregate, one)) minor += due[one.number - 1]!.minor
  }
  expect(minor).toBe(Math.round(priceOf(story).total * 100))
}

/** Segments do not overlap and reach the policy's end, and each peril has one price at a time within them. */
function tiles(story: Story): void {
  const { aggregate } = story.loaded
  const { effectiveEnd } = aggregate.policy
  const segments = segmentsInForce(lineOf(aggregate, boundQuote(aggregate)))
  for (const [at, { start, end }] of segments.entries()) {
    expect(start).toBeLessThan(end)
    if (at > 0) expect(segments[at - 1]!.end).toBeLessThanOrEqual(start)
  }
  if (standingCancellations(aggregate).length === 0) expect(segments.at(-1)!.end).toBe(effectiveEnd)
  for (const { perils } of viewOf(story).exposures)
    for (const { pieces } of perils) {
      const held = piecesInForce(pieces.map(one => one.piece))
      for (const [at, piece] of held.entries()) {
        if (at > 0) expect(held[at - 1]!.end).toBeLessThanOrEqual(piece.start)
        expect(piece.segment.start).toBeLessThanOrEqual(piece.start)
        expect(piece.end).toBeLessThanOrEqual(piece.segment.end)
      }
    }
}

const responseOf = ({ loaded: { aggregate, product } }: Story, at?: Instant) =>
  policyResponse(at === undefined ? aggregate : policyAsKnownAt(aggregate, at)!, product, {
    summarizeQuotes: true,
  })

/** The response reduced to what it shows when only the perils of that exposure are shown in full. */
const withPerilsOf = (which: string, answer: PolicyResponse): PolicyResponse => ({
  ...answer,
  modifications: answer.modifications.map(one => ({
    ...one,
    exposureModifications: one.exposureModifications.filter(
      ({ exposureLocator }) => exposureLocator === which,
    ),
  })),
  exposures: answer.exposures.map(exposure => ({
    ...exposure,
    perils: exposure.perils.map(peril => ({
      ...peril,
      characteristics: exposure.locator === which ? peril.characteristics : [],
    })),
  })),
})

/** Every peril of a policy that was never cancelled is covered up to the policy's end. */
function coversToTheEnd(story: Story, perilsAtFirst: number): void {
  const { effectiveEnd } = story.loaded.aggregate.policy
  const held = viewOf(story)
    .exposures.flatMap(one => one.perils)
    .filter(({ pieces }) => piecesInForce(pieces.map(one => one.piece)).at(-1)?.end === effectiveEnd)
  expect(held).toHaveLength(perilsAtFirst)
}

describe.each(EXAMPLES)(`the end of a policy moved on the %s example (seed ${SEED})`, example => {
  it.each<[how: string, ProraterName | undefined]>([
    ['', undefined],
    [' where a plugin splits amounts', 'whimsical'],
  ])(
    'keeps all sums correct after every step%s, changes no invoice, and stores and shows the same later',
    async (_how, prorater) => {
      const carriedOut = new Map<Move['kind'], number>()
      await fc.assert(
        fc.asyncProperty(newBusiness, moves, async (business, all) => {
          let story = await begun(example, business, prorater)
          let asked = invoiceTotalsByLocator(story)
          let isCancelled = false
          const perils = story.loaded.aggregate.perils.size
          const kept = [{ at: story.now, answer: responseOf(story) }]
          for (const one of all) {
            const next = await moved({ ...story, now: (story.now + 60_000) as Instant }, one)
            if (!next) continue
            carriedOut.set(one.kind, (carriedOut.get(one.kind) ?? 0) + 1)
            isCancelled ||= one.kind === 'cancel'
            story = next
            asked = invoiceTotalsByLocator(story, asked)
            modificationsAddUp(story)
            billsAddUp(story)
            tiles(story)
            if (!isCancelled) coversToTheEnd(story, perils)
            kept.push({ at: story.now, answer: responseOf(story) })
          }
          expect(invoiceTotalsByLocator(story)).toEqual(asked)
          const { aggregate, product } = story.loaded
          const options = { summarizeQuotes: true }
          const now = kept.at(-1)!.answer
          same(policyResponse(storedAggregate(aggregate), product, options), now)
          for (const { at, answer } of kept) same(responseOf(story, at), answer)
          const only = (which: string) =>
            policyResponse(aggregate, product, { ...options, perilCharacteristics: which })
          for (const which of ['none', ...now.exposures.map(one => one.locator)])
            same(only(which), withPerilsOf(which, now))
        }),
        runs(8),
      )
      for (const kind of ['endorse', 'shorten', 'extend', 'takenBack', 'renew', 'cancel'] as const)
        expect(carriedOut.get(kind) ?? 0).toBeGreaterThan(0)
    },
    size(150_000, 3_000_000),
  )

  it(
    'gives the same amounts to the cent whether the service or a plugin splits them in proportion',
    async () => {
      await fc.assert(
        fc.asyncProperty(newBusiness, moves, async (business, all) => {
          let plain = await begun(example, business)
          let asked = await begun(example, business, 'proportional')
          for (const one of all) {
            const now = (plain.now + 60_000) as Instant
            const [first, second] = [await moved({ ...plain, now }, one), await moved({ ...asked, now }, one)]
            expect(second === undefined).toBe(first === undefined)
            if (!first || !second) continue
            plain = first
            asked = second
            same(comparable(priceOf(asked)), comparable(priceOf(plain)))
            same(comparable(responseOf(asked)), comparable(responseOf(plain)))
          }
          expect([...invoiceTotalsByLocator(asked).values()]).toEqual([
            ...invoiceTotalsByLocator(plain).values(),
          ])
        }),
        runs(5),
      )
    },
    size(150_000, 3_000_000),
  )

  it(
    'to an earlier time costs the same as an endorsement followed by a cancellation at that time',
    async () => {
      await fc.assert(
        fc.asyncProperty(newBusiness, move, async (business, one) => {
          const story = await begun(example, business)
          const { start, end } = timesOf(story, { ...one, kind: 'shorten' })
          const never = { to: one.to, reprice: unrated(story) }
          const shortened = await endorsed(story, start, end, never)
          fc.pre(shortened !== undefined)
          const split = (await endorsed(story, start, undefined, never))!
          const { originalStart, effectiveEnd } = split.loaded.aggregate.policy
          fc.pre(end < effectiveEnd)
          const type = story.loaded.product.cancellationTypes?.[0]
          const cancelled = await decideCancellation(
            split.loaded,
            {
              action: 'create',
              request: {
                name: type?.name ?? 'lapse',
                cancellationCategory: type?.cancellationCategories[0],
                effectiveTimestamp: end,
                conflictHandling: 'block',
                issue: true,
              },
            },
            attemptAt(split.now),
          )
          expect(end).toBeGreaterThan(originalStart)
          const left = priceOf(withAggregate(split, cancelled.planned.aggregate))
          expect(figures(priceOf(shortened!))).toEqual(figures(left))
        }),
        runs(10),
      )
    },
    size(180_000, 600_000),
  )

  it(
    'to a later time and back, without rating again, restores every figure',
    async () => {
      await fc.assert(
        fc.asyncProperty(newBusiness, moves, move, async (business, all, one) => {
          let story = await begun(example, business)
          for (const each of all)
            if (each.kind !== 'cancel') story = (await moved(story, { ...each, to: each.to })) ?? story
          const { effectiveEnd } = story.loaded.aggregate.policy
          const never = { to: one.to, reprice: unrated(story) }
          const { start, end } = timesOf(story, { ...one, kind: 'extend' })
          // Both include the split, so that only the end differs.
          const before = await endorsed(story, start, undefined, never)
          fc.pre(before !== undefined)
          const longer = await endorsed(before!, start, end, never)
          expect(longer!.loaded.aggregate.policy.effectiveEnd).toBe(end)
          const back = await endorsed(longer!, start, effectiveEnd, never)
          expect(figures(priceOf(back!))).toEqual(figures(priceOf(before!)))
          expect(back!.loaded.aggregate.policy.effectiveEnd).toBe(effectiveEnd)
        }),
        runs(8),
      )
    },
    size(180_000, 600_000),
  )
})

/** The index of an endorsement type that does not rate again. */
const unrated = ({ loaded }: Story): number =>
  loaded.product.endorsements.filter(one => one.reprice !== 'input').findIndex(one => one.reprice === 'never')

/** Figures without locators, which differ. */
const figures = (price: unknown): unknown =>
  JSON.parse(JSON.stringify(price, (name, value) => (/[lL]ocator$/.test(name) ? undefined : value)))
