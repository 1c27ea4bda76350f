import { describe, expect, it } from 'vitest'
import { type Money, plus, sum, toText } from '../../src/kernel/money.ts'
import { type Instant, months } from '../../src/kernel/time.ts'
import { amountsDue, chargesOf } from '../../src/policy/bills/amounts-due.ts'
import { isPayable } from '../../src/policy/bills/charge.ts'
import { PolicyCreateRequest } from '../../src/policy/contract/requests.ts'
import { policyResponse } from '../../src/policy/projection/policy.ts'
import { type PolicyAggregate, quoteParts, selectedQuote } from '../../src/policy/records/aggregate.ts'
import { policyState } from '../../src/policy/transitions.ts'
import type { Attempt } from '../../src/rating/rate.ts'
import { decideCreation, decideIssue } from '../../src/transactions/new-business/decision.ts'
import {
  type Example,
  newPolicyContextOf,
  plentyOfLocators,
  workedPolicies,
} from '../support/configurations.ts'

const NOW = Date.UTC(2026, 10, 21, 12) as Instant

const attempt = (): Attempt => ({
  now: NOW,
  supply: plentyOfLocators(),
  digits: async () => plentyOfLocators(),
})

const bySum = <T extends { amount: Money }>(
  items: T[],
  name: (item: T) => string,
  currency: Money['currency'],
) => {
  const names = [...new Set(items.map(name))]
  return Object.fromEntries(
    names.map(one => [
      one,
      toText(
        sum(
          items.filter(item => name(item) === one).map(item => item.amount),
          currency,
        ),
      ),
    ]),
  )
}

function figures(aggregate: PolicyAggregate) {
  const { currency } = aggregate.policy
  const runs = [...aggregate.perilRuns.values()]
  const prices = runs.map(run => run.price!)
  const exposures = [...aggregate.exposures.keys()]
  const taxes = prices.flatMap(price => price.taxes)
  const commissions = prices.flatMap(price => price.commissions)
  const fees = [...aggregate.fees.values()]
  const total = (amounts: Money[]) => sum(amounts, currency)
  const premium = total(prices.map(price => price.premium.amount))
  const tax = total(taxes.map(one => one.amount))
  const fee = total(fees.map(one => one.amount))
  const { underwriting } = selectedQuote(aggregate)
  return {
    decision: underwriting?.decision,
    notes: underwriting?.notes,
    grossPremium: toText(premium),
    grossTaxes: toText(tax),
    grossFees: toText(fee),
    grossCommissions: toText(total(commissions.map(one => one.amount))),
    total: toText(plus(plus(premium, tax), fee)),
    taxGroups: bySum(taxes, one => one.name, currency),
    fees: bySum(fees, one => one.name, currency),
    commissions: bySum(commissions, one => one.recipient, currency),
    perils: runs.map(run => {
      const peril = aggregate.perils.get(run.perilLocator)!
      return {
        exposure: exposures.indexOf(peril.exposureLocator),
        peril: peril.name,
        premium: toText(run.price!.premium.amount),
        ...(run.price!.technicalPremium
          ? { technicalPremium: toText(run.price!.technicalPremium.amount) }
          : {}),
      }
    }),
  }
}

const EXAMPLES: Example[] = ['motor', 'home']

for (const example of EXAMPLES)
  describe(`worked premiums of the ${example} example`, () => {
    for (const worked of workedPolicies(example)) {
      const ground = newPolicyContextOf(
        example,
        worked.request.policy.productName,
        worked.request.policyholder.values,
        NOW,
      )
      const finalized = () =>
        decideCreation(
          PolicyCreateRequest.parse({
            ...worked.request.policy,
            policyholderLocator: ground.policyholder.locator,
          }),
          ground,
          attempt(),
        )

      it(`${worked.name}: every figure matches the one calculated by hand`, async () => {
        const { months: spanned, ...expected } = worked.expected
        const { aggregate } = await finalized()
        const quote = selectedQuote(aggregate)
        expect(months(quote.contractStart, quote.contractEnd, ground.timeZone).eq(spanned)).toBe(true)
        expect(figures(aggregate)).toEqual(expected)
      })

      it(`${worked.name}: is issued only if accepted, and its planned invoices add up to the price`, async () => {
        const { aggregate } = await finalized()
        const loaded = { ...ground, aggregate }
        if (worked.expected.decision !== 'accept') {
          expect(policyState(aggregate)).toBe('declined')
          await expect(decideIssue(loaded, attempt())).rejects.toMatchObject({ code: 'wrongState' })
          return
        }
        const issued = await decideIssue(loaded, attempt())
        const { modification } = quoteParts(issued.aggregate, selectedQuote(issued.aggregate))
        const due = amountsDue(issued.aggregate, modification)
        expect(toText(sum(due, ground.currency))).toBe(worked.expected.total)
        const payable = chargesOf(issued.aggregate, modification).filter(isPayable)
        expect(
          toText(
            sum(
              payable.map(charge => charge.amount),
              ground.currency,
            ),
          ),
        ).toBe(worked.expected.total)
        expect(issued.aggregate.invoices.size).toBeGreaterThan(0)
        const answer = policyResponse(issued.aggregate, ground.product, { summarizeQuotes: true })
        expect(answer.issuedTimestamp).toBe(String(NOW))
        for (const segment of [
          ...answer.characteristics,
          ...answer.exposures.flatMap(exposure => [
            ...exposure.characteristics,
            ...exposure.perils.flatMap(peril => peril.characteristics),
          ]),
        ])
          expect(segment.issuedTimestamp).toBe(String(NOW))
      })
    }
  })
