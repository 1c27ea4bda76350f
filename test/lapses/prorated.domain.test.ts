// Legacy lapses of a product that splits amounts by a plugin, which here leaves one half on either side (brief 1.7, 5.6).
import { describe, expect, it } from 'vitest'
import { isIssued } from '../../src/policy/fold/line.ts'
import { policyView } from '../../src/policy/projection/policy.ts'
import { selectedQuote } from '../../src/policy/records/aggregate.ts'
import { isOutstanding } from '../../src/policy/records/invoice.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { decideAmountDue } from '../../src/transactions/lapses/kind.ts'
import { ClockedPolicy } from '../support/clocked-policy.ts'
import { attemptAt } from '../support/policy-story.ts'
import { prorating, prorations } from '../support/prorater.ts'

const priceOf = ({ loaded: { aggregate, product } }: ClockedPolicy) =>
  policyPriceResponse(policyView(aggregate, selectedQuote(aggregate), product, isIssued))

/** The home example's plain year of 1,277.90, unpaid, which lapsed in January at the end of grace. */
async function lapsed(): Promise<ClockedPolicy> {
  const policy = await ClockedPolicy.issued('home', 'full_pay', { plugins: prorating('half') })
  expect(priceOf(policy)).toMatchObject({ grossPremium: 1208.19, grossTaxes: 34.71, total: 1277.9 })
  await policy.advance('2027-02-01')
  expect(policy.loaded.aggregate.lapses.size).toBe(1)
  return policy
}

describe('A legacy lapse with a proration plugin', () => {
  it('keeps what the plugin says, and reports a cancellation of type lapse to it', async () => {
    const from = prorations.length
    const policy = await lapsed()
    // One half of each peril and tax, rounded half-up; the fee is flat.
    expect(priceOf(policy)).toMatchObject({ grossPremium: 604.1, grossTaxes: 17.38, grossFees: 35 })
    const [{ input }, ...others] = prorations.slice(from) as [(typeof prorations)[number]]
    expect(others).toEqual([])
    expect(input).toMatchObject({ operation: 'cancellation', cancellationType: 'lapse' })
  })

  it('is reinstated in full at its own time, and later without the half before', async () => {
    const policy = await lapsed()
    const reinstatement = await policy.decide({ action: 'open' })
    const [lapse] = policy.loaded.aggregate.lapses.values()
    const due = async (at: number) =>
      await decideAmountDue(policy.loaded, reinstatement, at as typeof policy.now, attemptAt(policy.now))
    const from = prorations.length
    expect(await due(lapse!.lapsedAt)).toMatchObject({ totalDue: 1277.9 })
    expect(prorations).toHaveLength(from)
    const at = policy.now
    const asked = await due(at)
    await policy.decide({ action: 'invoice', reinstatement, effectiveAt: at })
    expect(policy.due(policy.invoices.at(-1)!)).toBe(Math.round(asked.totalDue * 100))
    for (const invoice of policy.invoices) if (isOutstanding(invoice)) await policy.pay(invoice)
    // Nothing was paid before, so the whole price is due: 604.10 and half of the other 604.09.
    expect(priceOf(policy)).toMatchObject({ grossPremium: 906.13, total: asked.totalDue })
  })
})
