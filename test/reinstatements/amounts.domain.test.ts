// The amounts that a reinstatement restores, to the cent (brief 1.6, 3.3): flat fees in full, and everything as if the policy had
// been cancelled and reinstated once, even after several times.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Instant, later } from '../../src/kernel/time.ts'
import { FeeUpdateRequest } from '../../src/policy/contract/billing.ts'
import { PolicyCreateRequest } from '../../src/policy/contract/requests.ts'
import { policyView } from '../../src/policy/projection/policy.ts'
import type { Loaded } from '../../src/policy/surroundings.ts'
import type { Planned } from '../../src/policy/transitions.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { decideCancellation } from '../../src/transactions/cancellations/decision.ts'
import { planFeeUpdate } from '../../src/transactions/fees/fee-update.ts'
import { decideCreation, decideIssue } from '../../src/transactions/new-business/decision.ts'
import { decideReinstatement } from '../../src/transactions/reinstatements/decision.ts'
import { boatContext } from '../support/boat-context.ts'
import { attemptAt } from '../support/policy-story.ts'
import { size } from '../support/sizes.ts'
import '../../src/transactions/kinds.ts'

const SEED = 20261122
const DAY = 86_400_000

const at = (date: string): Instant => Date.parse(date) as Instant
const START = at('2027-03-01')
const END = at('2028-03-01')

/** A commission and a technical premium in addition to premium and tax. Half of what is given back is held back. */
const OWN = {
  'config.json': JSON.stringify({ timezone: 'UTC', currency: 'EUR' }),
  'products/boat/policy/exposures/hull/perils/sinking.premium.liquid': `
    {{ data.exposure_characteristics.field_values.yearly | set_year_premium }}
    {{ data.exposure_characteristics.field_values.yearly | times: 0.7 | set_year_technical_premium }}
    {{ data.exposure_characteristics.field_values.yearly | times: 0.123 | add_year_commission: "broker" }}`,
  'products/boat/policy/cancellations.json': JSON.stringify({
    cancellationTypes: [
      { name: 'sold', title: 'Sold', documents: [] },
      { name: 'short', title: 'Short rate', documents: [], holdback: { percent: 50 } },
    ],
  }),
}

type FeeTerms = { feeName: 'mooring' | 'reminder'; amount: string; from?: Instant; to?: Instant }

const GROUND = boatContext('EUR', START, OWN)

async function insured(yearly: number, fees: readonly FeeTerms[]): Promise<Loaded> {
  const request = PolicyCreateRequest.parse({
    productName: 'boat',
    policyholderLocator: GROUND.policyholder.locator,
    policyStartTimestamp: START,
    policyEndTimestamp: END,
    paymentScheduleName: 'upfront',
    exposures: [{ exposureName: 'hull', fieldValues: { yearly }, perils: [{ name: 'sinking' }] }],
  })
  const attempt = attemptAt(START)
  const created = await decideCreation(request, GROUND, attempt)
  const issued = await decideIssue({ ...GROUND, aggregate: created.aggregate }, attempt)
  const newFees = fees.map(({ feeName, amount, from = START, to = END }) => ({
    feeName,
    amount,
    startTimestamp: from,
    endTimestamp: to,
  }))
  if (newFees.length === 0) return after(GROUND, issued)
  const update = FeeUpdateRequest.parse({ newFees })
  const charged = planFeeUpdate(issued.aggregate, update, { product: GROUND.product, ...attempt })
  return after(GROUND, charged)
}

const after = (loaded: Omit<Loaded, 'aggregate'>, { aggregate }: Planned): Loaded => ({
  ...loaded,
  aggregate,
})

async function cancel(loaded: Loaded, effectiveTimestamp: Instant, name = 'sold'): Promise<Loaded> {
  const request = {
    effectiveTimestamp,
    name,
    conflictHandling: undefined,
    cancellationCategory: undefined,
    issue: true,
  }
  const decided = await decideCancellation(loaded, { action: 'create', request }, attemptAt(START))
  return after(loaded, decided.planned)
}

/** Reinstates what the last cancellation ended, from that time on. */
async function reinstate(loaded: Loaded, effectiveTimestamp: Instant): Promise<Loaded> {
  const cancellation = [...loaded.aggregate.cancellations.keys()].at(-1)!
  const request = { effectiveTimestamp, reinstatementDeadlineTimestamp: undefined, issue: true }
  const decided = await decideReinstatement(
    loaded,
    { action: 'create', cancellation, request },
    attemptAt(START),
  )
  return after(loaded, decided.planned!)
}

/** Every amount of the policy in force. */
function price({ aggregate, product }: Loaded) {
  const quote = [...aggregate.quotes.values()][0]!
  return policyPriceResponse(policyView(aggregate, quote, product))
}

const feesOf = (loaded: Loaded): number => price(loaded).grossFees

describe('A flat fee that a cancellation took back', () => {
  const laterFee: FeeTerms = { feeName: 'reminder', amount: '12.50', from: at('2027-10-01') }
  const inGap: FeeTerms = { feeName: 'reminder', amount: '7', from: at('2027-09-10'), to: at('2027-09-20') }

  it('is restored in full, with or without a gap', async () => {
    const policy = await insured(1_200, [laterFee])
    const ended = await cancel(policy, at('2027-09-01'))
    expect(feesOf(ended)).toBe(0)
    for (const date of ['2027-09-01', '2027-10-01', '2027-11-15', '2028-02-20'])
      expect(feesOf(await reinstate(ended, at(date)))).toBe(12.5)
  })

  it('is restored even if all of its time is in the gap', async () => {
    const ended = await cancel(await insured(1_200, [inGap]), at('2027-09-01'))
    expect(feesOf(ended)).toBe(0)
    expect(feesOf(await reinstate(ended, at('2027-12-01')))).toBe(7)
  })

  it('remains when the policy is cancelled again after the start of the fee', async () => {
    const ended = await cancel(await insured(1_200, [laterFee]), at('2027-09-01'))
    const back = await reinstate(ended, at('2027-11-15'))
    expect(feesOf(await cancel(back, at('2027-12-01')))).toBe(12.5)
    expect(feesOf(await cancel(back, at('2027-09-15')))).toBe(0)
  })
})

describe('A proratable fee', () => {
  const mooring: FeeTerms = { feeName: 'mooring', amount: '100' }

  it('is computed from the whole fee after a reinstatement without a gap', async () => {
    const policy = await insured(1_200, [mooring])
    const [gap, back] = [at('2027-08-15'), at('2027-10-20')]
    const once = await reinstate(await cancel(policy, gap), back)
    // 5 14/31 of 12 months are 45.43. Of the 54.57 taken back, 4 10/29 of 6 15/29 months are restored: 36.38.
    expect(feesOf(once)).toBe(81.81)
    let again = policy
    for (const date of ['2027-05-15', '2027-06-10', '2027-04-02'])
      again = await reinstate(await cancel(again, at(date)), at(date))
    expect(feesOf(again)).toBe(100)
    expect(feesOf(await reinstate(await cancel(again, gap), back))).toBe(81.81)
  })

  it('keeps the same amount after a cancellation, whether or not the policy was reinstated before', async () => {
    const policy = await insured(1_200, [mooring])
    const before = await reinstate(await cancel(policy, at('2027-05-20')), at('2027-05-20'))
    for (const date of ['2027-05-19', '2027-07-07', '2027-12-31'])
      expect(feesOf(await cancel(before, at(date)))).toBe(feesOf(await cancel(policy, at(date))))
  })
})

const day = fc.integer({ min: 1, max: 364 }).map(days => (START + days * DAY) as Instant)
const amount = fc.integer({ min: 1, max: 9_999_999 }).map(minor => (minor / 100).toFixed(2))
const fee = fc
  .tuple(fc.constantFrom<FeeTerms['feeName']>('mooring', 'reminder'), amount, day)
  .map(([feeName, sum, from]): FeeTerms => ({ feeName, amount: sum, from }))
const policyTerms = {
  yearly: fc.integer({ min: 1, max: 99_999 }),
  fees: fc.array(fee, { maxLength: 3 }),
  mooring: amount,
}
const insuredWithMooring = ({
  yearly,
  fees,
  mooring,
}: {
  yearly: number
  fees: FeeTerms[]
  mooring: string
}) => insured(yearly, [{ feeName: 'mooring', amount: mooring }, ...fees])

describe('Cancelling and reinstating a policy', () => {
  it('several times at the same times has the same amounts as doing it once, including holdbacks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ ...policyTerms, end: day, gap: fc.nat(120), name: fc.constantFrom('sold', 'short') }),
        fc.integer({ min: 2, max: 4 }),
        async ({ end, gap, name, ...terms }, times) => {
          const policy = await insuredWithMooring(terms)
          const back = Math.min(end + gap * DAY, END - DAY) as Instant
          const round = async (from: Loaded) => reinstate(await cancel(from, end, name), later(end, back))
          const once = await round(policy)
          if (gap === 0) expect(totals(once)).toEqual(totals(policy))
          let often = once
          for (let count = 1; count < times; count += 1) often = await round(often)
          expect(totals(often)).toEqual(totals(once))
        },
      ),
      { seed: SEED, numRuns: size(25, 60) },
    )
  })

  it('without a gap any number of times leaves the amounts, and the fees of later cancellations, unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          ...policyTerms,
          ends: fc.array(day, { minLength: 1, maxLength: 4 }),
          last: day,
          gap: fc.nat(200),
        }),
        async ({ ends, last, gap, ...terms }) => {
          const policy = await insuredWithMooring(terms)
          let often = policy
          for (const end of ends) often = await reinstate(await cancel(often, end), end)
          expect(totals(often)).toEqual(totals(policy))
          const [ended, plain] = [await cancel(often, last), await cancel(policy, last)]
          expect(feesOf(ended)).toBe(feesOf(plain))
          const back = Math.min(last + gap * DAY, END - DAY) as Instant
          const restored = async (from: Loaded) => feesOf(await reinstate(from, later(last, back)))
          expect(await restored(ended)).toBe(await restored(plain))
        },
      ),
      { seed: SEED, numRuns: size(25, 60) },
    )
  })
})

/** The sums of a price, without locators. */
function totals(loaded: Loaded) {
  const { grossPremium, grossTaxes, grossFees, grossCommissions, total, exposurePrices } = price(loaded)
  const technical = exposurePrices.flatMap(one =>
    one.perilPrices.map(({ technicalPremium }) => technicalPremium),
  )
  return { grossPremium, grossTaxes, grossFees, grossCommissions, total, technical }
}
