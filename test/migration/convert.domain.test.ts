// Migrated accounts of another system: for any history, the amounts charged and billed and the cover in force equal those of the
// request, to the cent (resources brief 9.3, 9.5).
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transientLocators } from '../../src/kernel/locators.ts'
import { plus, sum, toText } from '../../src/kernel/money.ts'
import type { Instant } from '../../src/kernel/time.ts'
import {
  amountsDue,
  chargesOf,
  futureInstallments,
  planOf,
  totalDueOf,
} from '../../src/policy/bills/amounts-due.ts'
import { type Charge, isPayable } from '../../src/policy/bills/charge.ts'
import {
  holdbacksInForce,
  isIssued,
  lineOf,
  segmentsInForce,
  standingCancellations,
} from '../../src/policy/fold/line.ts'
import { piecesInForce } from '../../src/policy/fold/pieces.ts'
import { policyResponse, policyView } from '../../src/policy/projection/policy.ts'
import { boundQuote, type PolicyAggregate, putRecords } from '../../src/policy/records/aggregate.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { applyCancellation } from '../../src/transactions/cancellations/effect.ts'
import { applyReinstatement } from '../../src/transactions/reinstatements/effect.ts'
import { expectChargesBilledOnce, expectItemsSumToCharges } from '../support/money-checks.ts'
import { size } from '../support/sizes.ts'
import { storedAggregate } from '../support/stored-aggregate.ts'
import {
  accountOf,
  converted,
  DAY,
  madePolicy,
  NOW,
  naiveItems,
  plainConfiguration,
  sumOf,
  type Wire,
} from './made-book.ts'

const SEED = 20261122
const runs = (small: number, full: number) => ({ seed: SEED, numRuns: size(small, full) })
const product = plainConfiguration.products.plain!

const priceOf = (policy: PolicyAggregate) =>
  policyPriceResponse(policyView(policy, boundQuote(policy), product, isIssued))

describe(`accounts of another system (seed ${SEED})`, () => {
  it(
    'have exactly the prices and bills of the request',
    () => {
      fc.assert(
        fc.property(fc.array(madePolicy, { minLength: 1, maxLength: 2 }), made => {
          const wire = accountOf(made)
          const { policies, failures, mappings } = converted(wire)
          expect(failures).toEqual([])
          const said = naiveItems(wire)
          const payable = said.filter(one => one.kind !== 'commission')
          for (const [at, policy] of policies.entries()) {
            const own = payable.filter(one => one.policy === `P${at}`)
            const price = priceOf(policy)
            expect(price.total.toFixed(2)).toBe(sumOf(own))
            const commissions = said.filter(one => one.policy === `P${at}` && one.kind === 'commission')
            const held = holdbacksInForce(lineOf(policy, boundQuote(policy)))
            const kept = sum(
              held.filter(one => one.type === 'commission').map(one => one.amount),
              policy.policy.currency,
            )
            expect((price.grossCommissions + Number(toText(kept))).toFixed(2)).toBe(sumOf(commissions))
            const later = futureInstallments(policy).map(
              one => amountsDue(policy, policy.modifications.get(one.modificationLocator)!)[one.number - 1]!,
            )
            expect(toText(sum(later, policy.policy.currency))).toBe(
              sumOf(own.filter(one => one.invoice === undefined)),
            )
          }
          for (const { id } of wire.invoices) {
            const mapping = mappings.find(one => one.kind === 'invoices' && one.originalId === id)!
            const parts = [mapping, ...(mapping.children ?? [])].map(({ locator }) => {
              const policy = policies.find(one => one.invoices.has(locator as never))!
              return totalDueOf(policy, policy.invoices.get(locator as never)!)
            })
            expect(toText(parts.reduce(plus))).toBe(sumOf(payable.filter(one => one.invoice === id)))
          }
        }),
        runs(30, 5_000),
      )
    },
    size(120_000, 3_000_000),
  )

  it(
    'are stored unchanged, have one segment at a time, and bill each charge once to the last cent',
    () => {
      fc.assert(
        fc.property(madePolicy, made => {
          const { policies } = converted(accountOf([made]))
          const [policy] = policies
          const options = { summarizeQuotes: true }
          expect(policyResponse(storedAggregate(policy!), product, options)).toEqual(
            policyResponse(policy!, product, options),
          )
          const segments = segmentsInForce(lineOf(policy!, boundQuote(policy!)))
          for (const [at, segment] of segments.entries()) {
            expect(segment.start).toBeLessThan(segment.end)
            if (at > 0) expect(segments[at - 1]!.end).toBeLessThanOrEqual(segment.start)
          }
          for (const modification of policy!.modifications.values())
            for (const [at, one] of planOf(policy!, modification).entries()) expect(one.number).toBe(at + 1)
          expectItemsSumToCharges({ aggregate: policy! })
          expectChargesBilledOnce({ aggregate: policy! })
        }),
        runs(20, 3_000),
      )
    },
    size(120_000, 3_000_000),
  )

  it(
    'can be cancelled and reinstated at any time, with charges that match the difference in price',
    () => {
      fc.assert(
        fc.property(madePolicy, fc.integer({ min: 0, max: 364 }), fc.nat(400), (made, day, later) => {
          const [before] = converted(accountOf([made])).policies
          const line = lineOf(before!, boundQuote(before!))
          const last = segmentsInForce(line).at(-1)
          if (!last || standingCancellations(before!).length > 0) return
          const context = { product, now: NOW, supply: transientLocators(0) }
          const effectiveAt = (last.start + Math.min(day * DAY, last.end - last.start - 1)) as Instant
          const order = { kind: 'cancellation', name: 'modification.policy.cancel', effectiveAt } as const
          const ended = applyCancellation(before!, { ...order, proration: 'monthly' }, context)
          const gone = chargesOf(ended.aggregate, ended.modification).filter(isPayable)
          const { currency } = before!.policy
          const costs = (policy: PolicyAggregate): number => Math.round(priceOf(policy).total * 100)
          const charged = (charges: readonly Charge[]): number =>
            sum(
              charges.map(one => one.amount),
              currency,
            ).minor
          expect(costs(ended.aggregate) - costs(before!)).toBe(charged(gone))
          const at = (effectiveAt + Math.min(later * DAY, last.end - effectiveAt - 1)) as Instant
          const back = applyReinstatement(
            ended.aggregate,
            { cancellation: ended.modification, effectiveAt: at },
            context,
          )
          const modification = { ...back.modification, issuedAt: NOW }
          const after = {
            ...back.aggregate,
            modifications: putRecords(back.aggregate.modifications, [modification]),
          }
          const asked = chargesOf(after, modification).filter(isPayable)
          expect(costs(after) - costs(ended.aggregate)).toBe(charged(asked))
          if (at === effectiveAt) expect(costs(after)).toBe(costs(before!))
        }),
        runs(20, 3_000),
      )
    },
    size(120_000, 3_000_000),
  )

  it(
    'have at every time the cover of the last transaction up to that time',
    () => {
      fc.assert(
        fc.property(madePolicy, made => {
          const wire = accountOf([made])
          const [policy] = converted(wire).policies
          const view = policyView(policy!, boundQuote(policy!), product, isIssued)
          for (const { transactions } of wire.policies[0].terms)
            for (const { segment: begun } of transactions.filter((one: Wire) => one.segment)) {
              const at = begun.startTime + DAY / 2
              const { segment } = transactions.findLast((one: Wire) => one.segment?.startTime <= at)
              const said =
                segment.segmentType === 'gap'
                  ? []
                  : segment.rootElement.elements.flatMap((thing: Wire) =>
                      thing.elements.map((peril: Wire) => `${peril.elementType} ${thing.data.yearly}`),
                    )
              const had = view.exposures.flatMap(({ runs: data, perils }) =>
                perils.flatMap(({ peril, pieces }) =>
                  piecesInForce(pieces.map(one => one.piece))
                    .filter(piece => piece.start <= at && at < piece.end)
                    .map(() => {
                      const own = data.filter(
                        one => one.replacedBy === undefined && one.start <= at && at < one.end,
                      )
                      return `${peril.name} ${own.map(one => one.run.data.values.yearly).join()}`
                    }),
                ),
              )
              expect(had.sort()).toEqual(said.sort())
            }
        }),
        runs(20, 3_000),
      )
    },
    size(120_000, 3_000_000),
  )
})
