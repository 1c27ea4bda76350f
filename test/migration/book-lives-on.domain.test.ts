// Migrated policies of a generated book cost the same as when the service rates their history again. They can be endorsed,
// renewed, cancelled and reinstated like any other policy.
import { describe, expect, it } from 'vitest'
import { add } from '../../src/kernel/time.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import { isIssued, lineOf, segmentsInForce, standingCancellations } from '../../src/policy/fold/line.ts'
import { policyView } from '../../src/policy/projection/policy.ts'
import { boundQuote, type PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import type { Loaded } from '../../src/policy/surroundings.ts'
import { policyState } from '../../src/policy/transitions.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { decideCancellation } from '../../src/transactions/cancellations/decision.ts'
import { EndorsementCreateRequest } from '../../src/transactions/endorsements/contract.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import { decideReinstatement } from '../../src/transactions/reinstatements/decision.ts'
import { RenewalCreateRequest } from '../../src/transactions/renewals/contract.ts'
import type { Element, Policy, Transaction } from '../../tools/book/wire.ts'
import { CONVERTED_AT, migratedAccounts } from '../support/migrated-books.ts'
import {
  expectBillsMatchPrice,
  expectChargesBilledOnce,
  expectItemsSumToCharges,
  expectPaidMatchesTotals,
} from '../support/money-checks.ts'
import { attemptAt, inState, type Story } from '../support/policy-story.ts'
import { size } from '../support/sizes.ts'
import { billed, modificationsAddUp, priceOf, recordedChangesAddUp } from '../support/story-checks.ts'
import '../../src/transactions/kinds.ts'

type Migrated = Story & { readonly name: string; readonly policy: Policy }

function* stories(seed: string, accounts: number): Generator<Migrated> {
  for (const { id, account, ground, policies } of migratedAccounts(seed, accounts))
    for (const [at, aggregate] of policies.entries())
      yield {
        name: `${id}/P${at + 1}`,
        policy: account.policies[at]!,
        loaded: { ...ground, aggregate } as Loaded,
        now: CONVERTED_AT,
        rules: { example: 'motor', timeZone: ground.timeZone, currency: ground.currency },
        requests: [],
        asked: new Map(),
      }
}

async function decided(
  story: Migrated,
  decide: (loaded: Loaded) => Promise<{ planned: { aggregate: PolicyAggregate } }>,
): Promise<Migrated> {
  const { planned } = await decide(story.loaded)
  return { ...story, loaded: { ...story.loaded, aggregate: planned.aggregate } }
}

const endorsed = (story: Migrated, request: object) =>
  decided(story, loaded =>
    decideEndorsement(
      loaded,
      {
        action: 'create',
        request: EndorsementCreateRequest.parse({ conflictHandling: 'block', state: 'issued', ...request }),
      },
      attemptAt(story.now),
    ),
  )

const totals = ({ grossPremium, grossTaxes, grossCommissions, grossFees }: PolicyPriceResponse) => ({
  premium: grossPremium,
  taxes: grossTaxes,
  commissions: grossCommissions,
  fees: grossFees,
})

type Sums = Record<keyof ReturnType<typeof totals>, number>

const KINDS: Readonly<Record<string, keyof Sums>> = {
  premium: 'premium',
  insurance_tax: 'taxes',
  commercial_levy: 'taxes',
  commission: 'commissions',
  policy_fee: 'fees',
  postal_delivery_fee: 'fees',
  installment_fee: 'fees',
}

/** The sums of the charges in the transactions, in cents. */
function charged(transactions: readonly Transaction[]): Sums {
  const sums: Sums = { premium: 0, taxes: 0, commissions: 0, fees: 0 }
  const visit = ({ charges = [], elements = [] }: Element): void => {
    for (const { chargeType, installmentItems = [] } of charges)
      for (const { amount } of installmentItems) sums[KINDS[chargeType]!] += Math.round(amount * 100)
    for (const one of elements) visit(one)
  }
  for (const { segment } of transactions) if (segment.rootElement) visit(segment.rootElement)
  return sums
}

const inEuros = (sums: Sums) =>
  Object.fromEntries(Object.entries(sums).map(([kind, cents]) => [kind, cents / 100]))

/** Checks that hold for every policy after any operation. */
function holdsTogether(story: Migrated): void {
  const { aggregate } = story.loaded
  modificationsAddUp(story)
  recordedChangesAddUp(story)
  expect(Number(billed(aggregate).toFixed()), story.name).toBe(priceOf(story).total)
  expectPaidMatchesTotals(story.loaded)
  expectItemsSumToCharges(story.loaded)
  expectChargesBilledOnce(story.loaded)
  expectBillsMatchPrice(story.loaded)
  const segments = segmentsInForce(lineOf(aggregate, boundQuote(aggregate)))
  for (const [at, { start, end }] of segments.entries()) {
    expect(start).toBeLessThan(end)
    if (at > 0) expect(segments[at - 1]!.end).toBeLessThanOrEqual(start)
  }
}

describe('migrated policies of a generated book', () => {
  it('cost after each transaction the sum of the charges so far', async () => {
    let transactions = 0
    let rerated = 0
    for (const story of stories('again', size(24, 2_000))) {
      const { aggregate, product } = story.loaded
      holdsTogether(story)
      const told = story.policy.terms
        .flatMap(one => one.transactions)
        .sort((a, b) => Date.parse(a.issuedTime) - Date.parse(b.issuedTime))
      expect(aggregate.modifications.size).toBe(told.length)
      for (let count = 1; count <= told.length; count += 1) {
        const view = policyView(aggregate, boundQuote(aggregate), product, one => one.number < count)
        expect(totals(policyPriceResponse(view)), `${story.name} ${count}`).toEqual(
          inEuros(charged(told.slice(0, count))),
        )
        transactions += 1
      }
      // A policy that was never changed costs the same when all of it is rated again.
      if (told.some(one => !['issuance', 'renewal'].includes(one.transactionType))) continue
      const startTimestamp = aggregate.policy.originalStart
      const again = await endorsed(story, { endorsementName: 'tariff_adjustment', startTimestamp })
      expect(totals(priceOf(again)), story.name).toEqual(totals(priceOf(story)))
      rerated += 1
    }
    expect(transactions).toBeGreaterThan(size(100, 8_000))
    expect(rerated).toBeGreaterThan(size(5, 200))
  }, 1_200_000)

  it('can be endorsed, renewed, cancelled and reinstated, and all amounts add up', async () => {
    let lived = 0
    for (const migrated of stories('after', size(14, 1_000))) {
      const { aggregate } = migrated.loaded
      if (policyState(aggregate) !== 'issued' || standingCancellations(aggregate).length > 0) continue
      const { effectiveEnd, timeZone } = aggregate.policy
      const [vehicle] = policyView(
        ...([aggregate, boundQuote(aggregate), migrated.loaded.product, isIssued] as const),
      ).exposures
      const segment = segmentsInForce(lineOf(aggregate, boundQuote(aggregate))).at(-1)!
      const startTimestamp = add(segment.start, 1, 'day', timeZone)
      const changed = await endorsed(migrated, {
        endorsementName: 'change_of_risk',
        startTimestamp,
        updateExposures: [
          {
            exposureLocator: vehicle!.exposure.locator,
            fieldValues: { annual_mileage_km: '33333' },
          },
        ],
      })
      holdsTogether(changed)
      const renewed = await decided(changed, loaded =>
        decideEndorsement(
          loaded,
          {
            action: 'renew',
            request: RenewalCreateRequest.parse({
              renewalEndTimestamp: add(effectiveEnd, 1, 'year', timeZone),
              state: 'issued',
            }),
          },
          attemptAt(migrated.now),
        ),
      )
      holdsTogether(renewed)
      const effectiveTimestamp = add(segment.start, 17, 'day', timeZone)
      const cancelled = await decided(renewed, loaded =>
        decideCancellation(
          loaded,
          {
            action: 'create',
            request: {
              effectiveTimestamp,
              name: 'customer_request',
              conflictHandling: 'block',
              cancellationCategory: 'vehicle_sold',
              issue: true,
            },
          },
          attemptAt(migrated.now),
        ),
      )
      holdsTogether(cancelled)
      expect(cancelled.loaded.aggregate.policy.effectiveEnd).toBe(effectiveTimestamp)
      const [cancellation] = inState(cancelled.loaded.aggregate.cancellations, 'issued').slice(-1)
      const back = await decided(cancelled, async loaded => {
        const { planned } = await decideReinstatement(
          loaded,
          {
            action: 'create',
            cancellation: cancellation!.locator,
            request: {
              effectiveTimestamp: undefined,
              reinstatementDeadlineTimestamp: undefined,
              issue: true,
            },
          },
          attemptAt(migrated.now),
        )
        return { planned: planned! }
      })
      holdsTogether(back)
      expect(totals(priceOf(back)), migrated.name).toEqual(totals(priceOf(renewed)))
      lived += 1
    }
    expect(lived).toBeGreaterThan(size(10, 500))
  }, 1_200_000)
})
