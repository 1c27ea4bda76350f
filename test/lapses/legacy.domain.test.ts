// Legacy lapses of the home example, whose product has no cancellations.json, and their reinstatement: 15 days of grace and 30
// days to reinstate, in New York (brief 1.7). A plain year with monthly payments costs 1,301.90: eleven invoices of 108.49 and a
// last one of 108.51, each with 100.68 of premium, 2.89 of taxes and 4.92 of fees.
import '../../src/transactions/kinds.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import type { CancellationLocator, Uuid } from '../../src/kernel/locators.ts'
import { sum, toText } from '../../src/kernel/money.ts'
import { add, endOfDay, type Instant } from '../../src/kernel/time.ts'
import { futureInstallments, installmentOf, standingInvoices } from '../../src/policy/bills/amounts-due.ts'
import { isIssued } from '../../src/policy/fold/line.ts'
import { policyView } from '../../src/policy/projection/policy.ts'
import { recordsWhere, selectedQuote } from '../../src/policy/records/aggregate.ts'
import {
  appliedAmount,
  invoiceStatus,
  isOutstanding,
  type PlannedInstallment,
  paymentState,
} from '../../src/policy/records/invoice.ts'
import { type Lapse, reinstatementStatus } from '../../src/policy/records/transactions.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { decideCancellation } from '../../src/transactions/cancellations/decision.ts'
import { statusOf as policyStatusOf } from '../../src/transactions/custom-events/plan.ts'
import { EndorsementCreateRequest } from '../../src/transactions/endorsements/contract.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import { decideAmountDue } from '../../src/transactions/lapses/kind.ts'
import { decideReinstatement } from '../../src/transactions/reinstatements/decision.ts'
import { RenewalCreateRequest } from '../../src/transactions/renewals/contract.ts'
import { decideScheduleChange } from '../../src/transactions/schedule/schedule-change.ts'
import { decideUpgrade } from '../../src/transactions/upgrade/decision.ts'
import { ClockedPolicy } from '../support/clocked-policy.ts'
import { exampleConfiguration } from '../support/configurations.ts'
import {
  balanceOf,
  expectJournalConsistent,
  expectNothingWrittenAfterEnd,
} from '../support/journal-checks.ts'
import { scatteredBills } from '../support/scattered-bills.ts'
import { size } from '../support/sizes.ts'

const endOf = (policy: ClockedPolicy, date: string): Instant =>
  endOfDay(policy.day(date), policy.loaded.aggregate.policy.timeZone)

const onlyLapse = (policy: ClockedPolicy): Lapse => {
  const [lapse, ...more] = policy.loaded.aggregate.lapses.values()
  expect(more).toEqual([])
  return lapse!
}

const statusOf = (policy: ClockedPolicy, reinstatement: Uuid) =>
  reinstatementStatus(policy.loaded.aggregate.lapseReinstatements.get(reinstatement)!)

const amountDue = (policy: ClockedPolicy, reinstatement: Uuid, at: Instant) =>
  decideAmountDue(policy.loaded, reinstatement, at, policy.attempt)

const refusalOf = (promise: Promise<unknown>): Promise<Refusal> =>
  promise.then(
    () => {
      throw new Error('It was not refused.')
    },
    (problem: unknown) => {
      if (!(problem instanceof Refusal)) throw problem
      return problem
    },
  )

const payAll = async (policy: ClockedPolicy): Promise<void> => {
  for (const invoice of policy.invoices) if (isOutstanding(invoice)) await policy.pay(invoice)
}

/** The money received for cover, less refunds, in major units. */
const moneyIn = ({ loaded }: ClockedPolicy): number => {
  const { payments, policy } = loaded.aggregate
  const standing = [...payments.values()].filter(one => paymentState(one) === 'posted')
  return Number(toText(sum(standing.map(appliedAmount), policy.currency)))
}

/** The premium, taxes and fees of everything issued. */
const priceOf = ({ loaded }: ClockedPolicy): number => {
  const { aggregate, product } = loaded
  return policyPriceResponse(policyView(aggregate, selectedQuote(aggregate), product, isIssued)).total
}

/** Returns a policy with January to March paid and April unpaid, which lapsed at the end of April 16. */
async function lapsedInApril(): Promise<ClockedPolicy> {
  const policy = await ClockedPolicy.issued('home', 'monthly')
  for (const date of ['2027-01-01', '2027-02-01', '2027-03-01']) {
    await policy.advance((endOf(policy, date) - 1) as Instant)
    await payAll(policy)
  }
  await policy.advance('2027-04-16')
  policy.takeEventTypes()
  await policy.advance('2027-04-20')
  return policy
}

describe('A legacy lapse', () => {
  it('takes the policy off risk, and writes off the cover that was not paid for', async () => {
    const policy = await lapsedInApril()
    const at = endOf(policy, '2027-04-16')
    expect(onlyLapse(policy)).toMatchObject({
      gracePeriodLocator: policy.graces[0]!.locator,
      lapsedAt: at,
      reinstatementPeriodEndAt: endOf(policy, '2027-05-16'),
    })
    const { aggregate } = policy.loaded
    expect(aggregate.policy.effectiveEnd).toBe(at)
    const modification = aggregate.modifications.get(onlyLapse(policy).modificationLocator)
    expect(modification).toMatchObject({ kind: 'lapse', name: 'modification.policy.lapse', effectiveAt: at })
    expect(modification!.premiumChange!.minor).toBe(-85_746)
    expect(policy.takeEventTypes()).toEqual([
      'policy.lapse',
      'invoice.writtenOff',
      'invoice.writtenOff',
      'invoice.issue',
      'policy.invoice',
      'invoice.writtenOff',
    ])
    // May was invoiced three weeks ahead. The loss is the price of 106 days, 402.79, less the 325.47 that was paid.
    expect(policy.invoiceSummaries).toEqual([
      ['newBusiness', 10_849, 'paid'],
      ['installment', 10_849, 'paid'],
      ['installment', 10_849, 'paid'],
      ['installment', 10_849, 'writtenOff'],
      ['installment', 10_849, 'writtenOff'],
      ['cancellation', 7_732, 'writtenOff'],
    ])
    expect(priceOf(policy)).toBe(402.79)
    await policy.advance('2028-01-01')
    expect(policy.invoices).toHaveLength(6)
    expect(policy.graces).toHaveLength(1)
  })

  it('takes an issued renewal back in the books when the renewal would have begun', async () => {
    const policy = await ClockedPolicy.issued('home', 'monthly')
    const renewalStart = policy.loaded.aggregate.policy.effectiveEnd
    const request = RenewalCreateRequest.parse({
      renewalEndTimestamp: add(renewalStart, 12, 'month', policy.loaded.aggregate.policy.timeZone),
      state: 'issued',
    })
    await policy.record(
      (await decideEndorsement(policy.loaded, { action: 'renew', request }, policy.attempt)).planned!,
    )
    await policy.advance('2027-02-01')
    const { lapsedAt } = onlyLapse(policy)
    const premiums = policy.posted
      .filter(row => row.kind === 'renewal' || row.kind === 'lapse')
      .map(row => [row.kind, row.effectiveAt, 0 - balanceOf([row], 'premium')])
    // Sixteen of 365 days of 1,208.19 are kept, 52.96. The renewal costs the same as the year.
    expect(premiums).toEqual([
      ['renewal', renewalStart, 120_819],
      ['lapse', lapsedAt, -115_523],
      ['lapse', renewalStart, -120_819],
    ])
    expectNothingWrittenAfterEnd(policy.posted, policy.loaded.aggregate)
  })

  it('before the end of grace starts its reinstatement period at the time of the lapse', async () => {
    const policy = await ClockedPolicy.issued('home', 'monthly')
    await policy.advance('2027-01-10')
    const cancelEffectiveAt = policy.day('2027-01-05')
    const terms = { cancelEffectiveAt, resetCancelEffective: false }
    await policy.decide({ action: 'updateGrace', gracePeriod: policy.graces[0]!.locator, terms })
    await policy.advance('2027-01-20')
    expect(onlyLapse(policy)).toMatchObject({
      lapsedAt: cancelEffectiveAt,
      reinstatementPeriodEndAt: policy.day('2027-02-04'),
    })
  })

  it('refunds what was paid for cover that ended, less what was owed', async () => {
    const policy = await ClockedPolicy.issued('home', 'full_pay')
    await payAll(policy)
    const before = policy.invoices.length
    await policy.record(await dearer(policy))
    const [endorsement] = policy.invoices.slice(before)
    expect(policy.due(endorsement!)).toBeGreaterThan(0)
    await policy.advance('2027-03-01')
    expect(policy.invoiceSummaries.map(([type, , status]) => [type, status])).toEqual([
      ['newBusiness', 'paid'],
      ['endorsement', 'writtenOff'],
      ['cancellation', 'unfulfilled'],
    ])
    await payAll(policy)
    expect(policy.invoiceSummaries.at(-1)![1]).toBeLessThan(0)
    expect(moneyIn(policy)).toBe(priceOf(policy))
  })

  it('keeps a partial payment of a lost invoice for the cover until the lapse and for a reinstatement', async () => {
    const policy = await ClockedPolicy.issued('home', 'full_pay')
    await policy.pay(policy.invoices[0]!, '100')
    await policy.advance('2027-01-20')
    const [payment] = policy.loaded.aggregate.payments.values()
    expect([payment!.amount.minor, payment!.credited.minor]).toEqual([10_000, 0])
    expect(policy.loaded.credit.minor).toBe(0)
    expect(priceOf(policy)).toBe(89.48)
    expect(policy.invoiceSummaries).toEqual([
      ['newBusiness', 127_790, 'writtenOff'],
      ['cancellation', 8_948 - 10_000, 'unfulfilled'],
    ])
    const reinstatement = await policy.decide({ action: 'open' })
    await policy.decide({ action: 'invoice', reinstatement, effectiveAt: onlyLapse(policy).lapsedAt })
    expect(policy.invoiceSummaries.at(-1)).toEqual(['reinstatement', 117_790, 'unfulfilled'])
    await policy.pay(policy.invoices.at(-1)!)
    expect([policy.loaded.credit.minor, moneyIn(policy), priceOf(policy)]).toEqual([0, 1277.9, 1277.9])
  })

  it('writes off in the books a partial payment that bounces after the lapse, and no bill asks for it', async () => {
    const policy = await ClockedPolicy.issued('home', 'full_pay')
    const payment = await policy.pay(policy.invoices[0]!, '100')
    await policy.advance('2027-01-20')
    const times = [policy.now]
    await policy.advance('2027-01-21')
    await policy.reverse(payment)
    expect(policy.invoiceSummaries).toEqual([
      ['newBusiness', 127_790, 'writtenOff'],
      ['cancellation', 8_948 - 10_000, 'unfulfilled'],
    ])
    expect(balanceOf(policy.posted, 'writtenOff')).toBe(10_000)
    expectJournalConsistent(policy.posted, policy.loaded.aggregate, times)
  })

  it('lets the reinstatement bill a bounced payment of a lost invoice, once', async () => {
    const policy = await ClockedPolicy.issued('home', 'full_pay')
    const payment = await policy.pay(policy.invoices[0]!, '100')
    await policy.advance('2027-01-20')
    const { lapsedAt } = onlyLapse(policy)
    const reinstatement = await policy.decide({ action: 'open' })
    expect((await amountDue(policy, reinstatement, lapsedAt)).totalDue).toBe(1177.9)
    await policy.reverse(payment)
    expect((await amountDue(policy, reinstatement, lapsedAt)).totalDue).toBe(1277.9)
    await policy.decide({ action: 'invoice', reinstatement, effectiveAt: lapsedAt })
    await policy.decide({ action: 'close', reinstatement })
    expect(balanceOf(policy.posted, 'writtenOff')).toBe(10_000)
    const again = await policy.decide({ action: 'open' })
    await policy.decide({ action: 'invoice', reinstatement: again, effectiveAt: lapsedAt })
    expect(policy.invoiceSummaries.at(-1)).toEqual(['reinstatement', 127_790, 'unfulfilled'])
    await policy.pay(policy.invoices.at(-1)!)
    expect([policy.loaded.credit.minor, moneyIn(policy), priceOf(policy)]).toEqual([0, 1277.9, 1277.9])
    expect(balanceOf(policy.posted, 'writtenOff')).toBe(0)
    expectJournalConsistent(policy.posted, policy.loaded.aggregate, [lapsedAt, policy.now])
  })

  it('keeps credit that was used for a part of a lost invoice', async () => {
    const policy = await ClockedPolicy.issued('home', 'monthly')
    await policy.pay(policy.invoices[0]!, '120')
    await policy.advance('2027-02-20')
    expect(policy.invoiceSummaries.map(one => one[2])).toEqual([
      'paid',
      'writtenOff',
      'writtenOff',
      'writtenOff',
    ])
    const states = [...policy.loaded.aggregate.payments.values()].map(one => [one.source, paymentState(one)])
    expect(states).toEqual([
      ['received', 'posted'],
      ['credit', 'posted'],
    ])
    expect(policy.loaded.credit.minor).toBe(0)
  })

  it('invalidates an accepted endorsement', async () => {
    const policy = await ClockedPolicy.issued('home', 'full_pay')
    await policy.record(await dearer(policy, 'accepted'))
    await policy.advance('2027-02-01')
    const [endorsement] = policy.loaded.aggregate.endorsements.values()
    expect(endorsement!.state).toBe('invalidated')
    expect(onlyLapse(policy).lapsedAt).toBe(endOf(policy, '2027-01-16'))
  })
})

describe('A lapsed policy', () => {
  it('cannot be upgraded, and an endorsement cannot move its end', async () => {
    const policy = await lapsedInApril()
    const { configuration } = policy.loaded
    const upgrade = async () =>
      decideUpgrade(policy.loaded, { configuration, configVersion: 2 }, { dryRun: false }, policy.now)
    expect((await refusalOf(upgrade())).message).toContain('has lapsed and cannot be upgraded')
    const { loaded } = policy
    await cancel(policy, '2027-01-20')
    expect((await refusalOf(upgrade())).message).toContain('has lapsed and cannot be upgraded')
    policy.loaded = loaded
    const features = {
      ...configuration.configuration.features,
      'property.endorsement.policy.end.enabled': true,
    }
    const allowing = { ...configuration, configuration: { ...configuration.configuration, features } }
    const request = EndorsementCreateRequest.parse({
      endorsementName: 'interested_parties',
      startTimestamp: policy.day('2027-04-01'),
      newPolicyEndTimestamp: policy.day('2027-06-01'),
      state: 'quoted',
    })
    const extended = decideEndorsement(
      { ...policy.loaded, configuration: allowing },
      { action: 'create', request },
      policy.attempt,
    )
    expect((await refusalOf(extended)).message).toContain('has lapsed, so an endorsement cannot move its end')
  })

  it('can change its payment schedule after reinstatement, which spreads the payments to come', async () => {
    const policy = await lapsedInApril()
    const reinstatement = await policy.decide({ action: 'open' })
    await policy.decide({ action: 'invoice', reinstatement, effectiveAt: onlyLapse(policy).lapsedAt })
    await payAll(policy)
    await payAll(policy)
    await policy.advance('2027-05-02')
    const changed = await decideScheduleChange(policy.loaded, 'every_two_weeks', policy.attempt)
    await policy.record(changed!)
    const before = policy.invoices.length
    while (policy.now < policy.loaded.aggregate.policy.originalEnd) {
      await payAll(policy)
      await policy.advance(add(policy.now, 1, 'week', policy.loaded.aggregate.policy.timeZone))
    }
    await payAll(policy)
    expect(policy.invoices.length - before).toBeGreaterThan(14)
    expect([moneyIn(policy), priceOf(policy)]).toEqual([1301.9, 1301.9])
    expect(policy.graces).toHaveLength(1)
  })
})

/** Adds cover that is priced immediately. */
async function dearer(policy: ClockedPolicy, state: 'issued' | 'accepted' = 'issued') {
  const { aggregate, product } = policy.loaded
  const exposure = [...aggregate.exposures.values()].find(one => one.name === 'personal_property')!
  const request = EndorsementCreateRequest.parse({
    endorsementName: product.endorsements.find(one => one.reprice === 'always' || one.reprice === 'all')!
      .name,
    startTimestamp: policy.now,
    state,
    updateExposures: [{ exposureLocator: exposure.locator, fieldValues: { contents_value: '95000' } }],
  })
  return (await decideEndorsement(policy.loaded, { action: 'create', request }, policy.attempt)).planned
}

/** Cancels the legacy way as of a day, and returns the cancellation. */
async function cancel(policy: ClockedPolicy, date: string): Promise<CancellationLocator> {
  const operation = { action: 'legacy' as const, coverageEndAt: policy.day(date) }
  await policy.record((await decideCancellation(policy.loaded, operation, policy.attempt)).planned)
  return [...policy.loaded.aggregate.cancellations.keys()].at(-1)!
}

async function reinstateCancellation(
  policy: ClockedPolicy,
  cancellation: CancellationLocator,
): Promise<void> {
  const request = { effectiveTimestamp: undefined, reinstatementDeadlineTimestamp: undefined, issue: true }
  const operation = { action: 'create' as const, cancellation, request }
  await policy.record((await decideReinstatement(policy.loaded, operation, policy.attempt)).planned!)
}

describe('A lapse and a cancellation of one policy', () => {
  it('are reinstated in reverse order, and cover ends by the lapse again after the cancellation', async () => {
    const policy = await lapsedInApril()
    const { lapsedAt } = onlyLapse(policy)
    const cancellation = await cancel(policy, '2027-01-20')
    expect((await refusalOf(policy.decide({ action: 'open' }))).code).toBe('wrongState')
    await reinstateCancellation(policy, cancellation)
    expect(policy.loaded.aggregate.policy.effectiveEnd).toBe(lapsedAt)
    expect(policyStatusOf(policy.loaded.aggregate, policy.now)).toBe('lapsed')
    const reinstatement = await policy.decide({ action: 'open' })
    expect((await amountDue(policy, reinstatement, lapsedAt)).totalDue).toBe(108.49)
    await policy.decide({ action: 'invoice', reinstatement, effectiveAt: lapsedAt })
    await payAll(policy)
    for (let month = 5; month <= 12; month += 1) {
      await policy.advance((endOf(policy, `2027-${String(month).padStart(2, '0')}-01`) - 1) as Instant)
      await payAll(policy)
    }
    await policy.advance('2028-01-01')
    expect([moneyIn(policy), priceOf(policy)]).toEqual([1301.9, 1301.9])
  })

  it('leave no cover after the lapse when the cancellation came first', async () => {
    const policy = await ClockedPolicy.issued('home', 'monthly')
    const cancellation = await cancel(policy, '2027-10-01')
    await policy.advance('2027-02-01')
    const { lapsedAt } = onlyLapse(policy)
    const refusal = await refusalOf(reinstateCancellation(policy, cancellation))
    expect([refusal.code, refusal.message]).toEqual([
      'wrongState',
      `Cover does not end by cancellation ${cancellation} but by the lapse, which came later and takes effect at ${lapsedAt}; reinstate that first.`,
    ])
    const reinstatement = await policy.decide({ action: 'open' })
    await policy.decide({ action: 'invoice', reinstatement, effectiveAt: lapsedAt })
    await payAll(policy)
    expect(policy.loaded.aggregate.policy.effectiveEnd).toBe(policy.day('2027-10-01'))
    await reinstateCancellation(policy, cancellation)
    expect(policy.loaded.aggregate.policy.effectiveEnd).toBe(policy.loaded.aggregate.policy.originalEnd)
  })
})

describe('Reinstating after a legacy lapse', () => {
  it('costs what would have been paid up to it, and later payments are unchanged', async () => {
    const policy = await lapsedInApril()
    const reinstatement = await policy.decide({ action: 'open' })
    const { lapsedAt } = onlyLapse(policy)
    expect(await amountDue(policy, reinstatement, lapsedAt)).toEqual({
      grossPremiumDue: 100.68,
      grossTaxesDue: 2.89,
      grossFeesDue: 4.92,
      totalDue: 108.49,
    })
    await policy.decide({ action: 'invoice', reinstatement, effectiveAt: lapsedAt })
    expect(policy.invoiceSummaries.at(-1)).toEqual(['reinstatement', 10_849, 'unfulfilled'])
    expect(policy.loaded.aggregate.policy.effectiveEnd).toBe(lapsedAt)
    expect(policy.takeEventTypes()).toEqual([
      'policy.lapse',
      'invoice.writtenOff',
      'invoice.writtenOff',
      'invoice.issue',
      'policy.invoice',
      'invoice.writtenOff',
      'policy.reinstatement.open',
      'policy.reinstatement.invoice',
      'invoice.issue',
      'policy.invoice',
    ])
    await payAll(policy)
    expect(policy.takeEventTypes()).toEqual([
      'payment.pay',
      'policy.reinstatement.issue',
      'invoice.issue',
      'policy.invoice',
    ])
    const { originalEnd, effectiveEnd } = policy.loaded.aggregate.policy
    expect(effectiveEnd).toBe(originalEnd)
    expect(statusOf(policy, reinstatement)).toBe('issued')
    for (let month = 5; month <= 12; month += 1) {
      const date = `2027-${String(month).padStart(2, '0')}-01`
      await policy.advance((endOf(policy, date) - 1) as Instant)
      const [due] = policy.invoices.filter(isOutstanding)
      expect([due!.dueAt, policy.due(due!)]).toEqual([endOf(policy, date), month === 12 ? 10_851 : 10_849])
      await payAll(policy)
    }
    await policy.advance('2028-01-01')
    expect([moneyIn(policy), priceOf(policy)]).toEqual([1301.9, 1301.9])
    expect(policy.graces).toHaveLength(1)
  })

  it('at a later time leaves a gap, which is deducted from the first payment', async () => {
    const policy = await lapsedInApril()
    const reinstatement = await policy.decide({ action: 'open' })
    const effectiveAt = policy.day('2027-04-27')
    // The gap of ten days: 857.46 − 824.87 of premium, 34.18 with its taxes and the prorated fee.
    expect(await amountDue(policy, reinstatement, effectiveAt)).toEqual({
      grossPremiumDue: 68.09,
      grossTaxesDue: 1.95,
      grossFeesDue: 4.27,
      totalDue: 74.31,
    })
    // From May 10 on it is the amounts of April and May, less a gap of 24 days.
    expect((await amountDue(policy, reinstatement, policy.day('2027-05-10'))).totalDue).toBe(134.94)
    await policy.decide({ action: 'invoice', reinstatement, effectiveAt })
    await payAll(policy)
    expect(policy.invoiceSummaries.slice(-2)).toEqual([
      ['reinstatement', 7_431, 'paid'],
      ['installment', 10_849, 'unfulfilled'],
    ])
    for (let month = 5; month <= 12; month += 1) {
      await policy.advance(`2027-${String(month).padStart(2, '0')}-01`)
      await payAll(policy)
    }
    expect([moneyIn(policy), priceOf(policy)]).toEqual([1267.72, 1267.72])
  })

  it('on the due day of a payment bills that payment immediately, and the next one on its date', async () => {
    const policy = await lapsedInApril()
    const reinstatement = await policy.decide({ action: 'open' })
    const dueFrom = async (date: string): Promise<number> =>
      (await amountDue(policy, reinstatement, policy.day(date))).totalDue
    // Both days ask for April and May, less the price of a gap of 15/31 and 16/31 of a month.
    expect([await dueFrom('2027-05-01'), await dueFrom('2027-05-02')]).toEqual([165.7, 162.26])
    await policy.decide({ action: 'invoice', reinstatement, effectiveAt: policy.day('2027-05-01') })
    await payAll(policy)
    expect(futureInstallments(policy.loaded.aggregate)[0]!.dueAt).toBe(endOf(policy, '2027-06-01'))
  })

  it('paid late, makes the payments of the time until then due at the end of that day', async () => {
    const policy = await lapsedInApril()
    const reinstatement = await policy.decide({ action: 'open' })
    await policy.decide({ action: 'invoice', reinstatement, effectiveAt: onlyLapse(policy).lapsedAt })
    await policy.advance('2027-05-10')
    await payAll(policy)
    const [may] = policy.invoices.filter(isOutstanding)
    expect(may).toMatchObject({ createdAt: policy.now, dueAt: endOf(policy, '2027-05-10') })
  })

  it('allows one open reinstatement at a time, which is closed with its void invoice when it is not paid', async () => {
    const policy = await lapsedInApril()
    const first = await policy.decide({ action: 'open' })
    expect((await refusalOf(policy.decide({ action: 'open' }))).message).toContain(`${first}, which is open`)
    await policy.decide({ action: 'invoice', reinstatement: first, effectiveAt: policy.now })
    await policy.pay(policy.invoices.at(-1)!, '10')
    policy.takeEventTypes()
    await policy.decide({ action: 'close', reinstatement: first })
    expect(policy.takeEventTypes()).toEqual([
      'payment.reverse',
      'invoice.invalidate',
      'policy.reinstatement.close',
    ])
    const [, , voided] = policy.invoiceSummaries.at(-1)!
    expect(voided).toBe('invalidated')
    const second = await policy.decide({ action: 'open' })
    await policy.decide({ action: 'invoice', reinstatement: second, effectiveAt: onlyLapse(policy).lapsedAt })
    expect(policy.invoiceSummaries.at(-1)).toEqual(['reinstatement', 10_849, 'unfulfilled'])
    await policy.advance('2027-05-18')
    expect([first, second].map(one => statusOf(policy, one))).toEqual(['closed', 'closed'])
    expect(policy.invoiceSummaries.at(-1)![2]).toBe('invalidated')
    const late = await refusalOf(policy.decide({ action: 'open' }))
    expect(late.message).toContain('The reinstatement period ended')
  })

  it('is possible within the reinstatement period only, and only for a lapsed policy', async () => {
    const policy = await lapsedInApril()
    const reinstatement = await policy.decide({ action: 'open' })
    const { lapsedAt, reinstatementPeriodEndAt } = onlyLapse(policy)
    for (const effectiveAt of [lapsedAt - 1, reinstatementPeriodEndAt + 1] as Instant[])
      for (const attempt of [
        () => amountDue(policy, reinstatement, effectiveAt),
        () => policy.decide({ action: 'invoice', reinstatement, effectiveAt }),
      ])
        expect((await refusalOf(attempt())).code).toBe('invalidRequest')
    for (const effectiveAt of [lapsedAt, reinstatementPeriodEndAt])
      expect((await amountDue(policy, reinstatement, effectiveAt)).totalDue).toBeGreaterThan(0)
    const insured = await ClockedPolicy.issued('home', 'monthly')
    expect((await refusalOf(insured.decide({ action: 'open' }))).message).toContain('has no lapse')
    const never = await ClockedPolicy.issued('home', 'monthly', { lapse: { gracePeriodDays: 15 } })
    await never.advance('2027-01-18')
    expect(onlyLapse(never).reinstatementPeriodEndAt).toBe(onlyLapse(never).lapsedAt)
    expect((await refusalOf(never.decide({ action: 'open' }))).message).toContain('reinstatementPeriodDays')
  })

  it('is closed by a withdrawal, and cannot be opened again', async () => {
    const policy = await lapsedInApril()
    const reinstatement = await policy.decide({ action: 'open' })
    await policy.decide({ action: 'invoice', reinstatement, effectiveAt: policy.now })
    const attempt = policy.attempt
    await policy.record((await decideCancellation(policy.loaded, { action: 'withdraw' }, attempt)).planned)
    expect(statusOf(policy, reinstatement)).toBe('closed')
    expect((await refusalOf(policy.decide({ action: 'open' }))).code).toBe('wrongState')
  })

  it('blocks other transactions while it is invoiced', async () => {
    const policy = await lapsedInApril()
    const reinstatement = await policy.decide({ action: 'open' })
    await policy.decide({ action: 'invoice', reinstatement, effectiveAt: policy.now })
    const request = EndorsementCreateRequest.parse({
      endorsementName: 'interested_parties',
      startTimestamp: policy.day('2027-04-01'),
      state: 'quoted',
    })
    const decided = decideEndorsement(policy.loaded, { action: 'create', request }, policy.attempt)
    expect((await refusalOf(decided)).message).toContain(reinstatement)
  })

  it('offsets a refund that was not paid out against the new invoice', async () => {
    const policy = await ClockedPolicy.issued('home', 'full_pay')
    await payAll(policy)
    await policy.record(await dearer(policy))
    const extra = policy.due(policy.invoices[1]!)
    await policy.advance('2027-01-20')
    const reinstatement = await policy.decide({ action: 'open' })
    await policy.decide({ action: 'invoice', reinstatement, effectiveAt: onlyLapse(policy).lapsedAt })
    expect(policy.invoiceSummaries.slice(-2)).toMatchObject([
      ['cancellation', expect.any(Number), 'unfulfilled'],
      ['reinstatement', extra, 'unfulfilled'],
    ])
    await policy.pay(policy.invoices.at(-1)!)
    expect(policy.invoiceSummaries.map(one => one[2])).toEqual([
      'paid',
      'writtenOff',
      'carriedForward',
      'paid',
    ])
    expect(moneyIn(policy)).toBe(priceOf(policy))
  })

  it('is closed when the refund it counts on is paid out, and the next one bills the full amount', async () => {
    const policy = await ClockedPolicy.issued('home', 'full_pay')
    await payAll(policy)
    await policy.record(await dearer(policy))
    await policy.advance('2027-01-20')
    const first = await policy.decide({ action: 'open' })
    const effectiveAt = onlyLapse(policy).lapsedAt
    await policy.decide({ action: 'invoice', reinstatement: first, effectiveAt })
    await policy.pay(policy.invoices[2]!)
    expect(statusOf(policy, first)).toBe('closed')
    const second = await policy.decide({ action: 'open' })
    await policy.decide({ action: 'invoice', reinstatement: second, effectiveAt })
    await policy.pay(policy.invoices.at(-1)!)
    expect(statusOf(policy, second)).toBe('issued')
    expect(moneyIn(policy)).toBe(priceOf(policy))
  })

  it('leads to a new grace period when its payment is reversed', async () => {
    const policy = await lapsedInApril()
    const reinstatement = await policy.decide({ action: 'open' })
    await policy.decide({ action: 'invoice', reinstatement, effectiveAt: policy.now })
    const payment = await policy.pay(policy.invoices.at(-1)!)
    await payAll(policy)
    await policy.advance('2027-05-20')
    await policy.reverse(payment)
    await policy.advance('2027-05-21')
    expect(policy.graces.map(one => [one.state, one.startAt])).toEqual([
      ['lapsed', endOf(policy, '2027-04-01')],
      ['open', endOf(policy, '2027-05-20')],
    ])
  })
})

const SEED = 20_261_121

describe(`random histories of unpaid invoices (seed ${SEED})`, () => {
  const story = fc.record({
    schedule: fc.constantFrom('full_pay', 'monthly', 'every_two_weeks', 'every_week'),
    /** The number of invoices paid in time before the policyholder stops. */
    paid: fc.nat({ max: 9 }),
    /** The part paid of the first invoice that is not paid in full, in cents. */
    part: fc.constantFrom(undefined, 1, 999),
    dearerFirst: fc.boolean(),
    /** In thousandths of the reinstatement period. */
    effective: fc.nat({ max: 1_000 }),
    opened: fc.nat({ max: 990 }),
    refundPaid: fc.boolean(),
    again: fc.boolean(),
    comesBack: fc.boolean(),
    rescheduled: fc.option(fc.constantFrom('full_pay', 'monthly', 'every_week'), { nil: undefined }),
    byPlugin: fc.boolean(),
  })

  it('pay for exactly the cover provided, through any lapses and reinstatements', async () => {
    await fc.assert(
      fc.asyncProperty(story, async one => {
        const policy = one.byPlugin
          ? await billedByPlugin(one.schedule)
          : await ClockedPolicy.issued('home', one.schedule)
        const zone = policy.loaded.aggregate.policy.timeZone
        for (let count = 0; count < one.paid; count += 1) {
          for (const invoice of policy.invoices.filter(isOutstanding).slice(0, 1)) await policy.pay(invoice)
          await policy.advance(add(policy.now, 7, 'day', zone))
          if (policy.loaded.aggregate.lapses.size > 0) break
        }
        if (one.dearerFirst && policy.loaded.aggregate.lapses.size === 0)
          await policy.record(await dearer(policy))
        const [open] = policy.invoices.filter(isOutstanding)
        if (open && one.part !== undefined) await policy.pay(open, String(one.part / 100))
        for (let days = 0; days < 365 && policy.loaded.aggregate.lapses.size === 0; days += 5)
          await policy.advance(add(policy.now, 5, 'day', zone))
        const times = [policy.now]
        expectJournalConsistent(policy.posted, policy.loaded.aggregate, times)
        const rounds = one.comesBack ? (one.again ? 2 : 1) : 0
        for (let round = 0; round < rounds; round += 1) {
          const lapse = [...policy.loaded.aggregate.lapses.values()].at(-1)
          const back = lapse && (await reinstate(policy, lapse, one))
          if (!back) break
          times.push(policy.now)
          if (one.again)
            for (let days = 0; days < 90 && policy.loaded.aggregate.lapses.size < 2; days += 5)
              await policy.advance(add(policy.now, 5, 'day', zone))
        }
        if (one.rescheduled !== undefined && policy.loaded.aggregate.policy.effectiveEnd > policy.now) {
          const attempt = policy.attempt
          const changed = await decideScheduleChange(policy.loaded, one.rescheduled, attempt)
          if (changed) await policy.record(changed)
        }
        for (let month = 0; month < 14; month += 1) {
          await payAll(policy)
          await policy.advance(add(policy.now, 7, 'day', zone))
        }
        // A plugin may issue invoices after the end.
        const last = add(policy.loaded.aggregate.policy.originalEnd, one.byPlugin ? 4 : 0, 'month', zone)
        while (policy.now < last) {
          await payAll(policy)
          await policy.advance(add(policy.now, 5, 'day', zone))
        }
        await payAll(policy)
        expectJournalConsistent(policy.posted, policy.loaded.aggregate, times)
        const { effectiveEnd, originalEnd } = policy.loaded.aggregate.policy
        const given = effectiveEnd < originalEnd ? givenUp(policy) : 0
        expect(Math.round(moneyIn(policy) * 100) + given).toBe(
          Math.round(priceOf(policy) * 100) + feesAsked(policy) - writtenOffByPlan(policy),
        )
      }),
      { seed: SEED, numRuns: size(8, 1_000) },
    )
  }, 600_000)

  const billedByPlugin = (schedule: string): Promise<ClockedPolicy> =>
    ClockedPolicy.issued(
      'home',
      schedule,
      {
        plugins: { createInstallments: { path: 'main/installments.js', enabled: true } },
        fees: [
          ...exampleConfiguration('home').products.homeowners!.fees,
          { name: 'installment_fee', displayName: 'By installments', proration: 'flat' },
        ],
      },
      { createInstallments: scatteredBills },
    )

  /** The fees of installments that were invoiced, separately or together with others, in cents. */
  function feesAsked({ loaded: { aggregate } }: ClockedPolicy): number {
    const invoiced = new Set(standingInvoices(aggregate).map(one => installmentOf(aggregate, one).locator))
    const isAsked = ({ locator }: PlannedInstallment): boolean =>
      invoiced.has(locator) ||
      recordsWhere(aggregate.installments, one => (one.takesOver ?? []).includes(locator)).some(isAsked)
    const fees = recordsWhere(aggregate.installments, isAsked).flatMap(one => one.fees ?? [])
    return fees.reduce((total, fee) => total + fee.amount.minor, 0)
  }

  /** The total of invoices that the plan writes off, in cents. */
  function writtenOffByPlan(policy: ClockedPolicy): number {
    const { aggregate } = policy.loaded
    return standingInvoices(aggregate)
      .filter(one => installmentOf(aggregate, one).writeOff)
      .reduce((total, one) => total + policy.due(one), 0)
  }

  /** The amount that the last lapse wrote off, in cents. */
  function givenUp(policy: ClockedPolicy): number {
    const { modificationLocator } = [...policy.loaded.aggregate.lapses.values()].at(-1)!
    const invoice = policy.invoices.find(one => one.policyModificationLocator === modificationLocator)!
    return invoiceStatus(invoice) === 'writtenOff' ? policy.due(invoice) : 0
  }

  async function reinstate(
    policy: ClockedPolicy,
    lapse: Lapse,
    { effective, opened, refundPaid }: { effective: number; opened: number; refundPaid: boolean },
  ): Promise<boolean> {
    const { lapsedAt, reinstatementPeriodEndAt } = lapse
    const within = (thousandths: number): Instant =>
      (lapsedAt + Math.floor(((reinstatementPeriodEndAt - lapsedAt) * thousandths) / 1_000)) as Instant
    await policy.advance(Math.max(policy.now, within(opened)) as Instant)
    if (refundPaid) await payAll(policy)
    if (policy.now > reinstatementPeriodEndAt) return false
    const reinstatement = await policy.decide({ action: 'open' })
    const effectiveAt = within(effective)
    if (effectiveAt >= policy.loaded.aggregate.policy.originalEnd) return false
    const asked = await amountDue(policy, reinstatement, effectiveAt)
    await policy.decide({ action: 'invoice', reinstatement, effectiveAt })
    const invoice = policy.invoices.filter(one => one.type === 'reinstatement').at(-1)!
    expect(policy.due(invoice)).toBe(Math.round(asked.totalDue * 100))
    expect(Math.round((asked.grossPremiumDue + asked.grossTaxesDue + asked.grossFeesDue) * 100)).toBe(
      policy.due(invoice),
    )
    if (isOutstanding(invoice)) await policy.pay(invoice)
    expect(statusOf(policy, reinstatement)).toBe('issued')
    return true
  }
})
