// Grace periods of the motor example over time: 30 days, in Berlin (brief 1.5).
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import { endOfDay, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { Cancellation } from '../../src/policy/records/transactions.ts'
import { decideCancellation } from '../../src/transactions/cancellations/decision.ts'
import { endOfGrace } from '../../src/transactions/lapses/grace-periods.ts'
import { decideLapse } from '../../src/transactions/lapses/kind.ts'
import { decideReinstatement } from '../../src/transactions/reinstatements/decision.ts'
import { ClockedPolicy } from '../support/clocked-policy.ts'
import { attemptAt } from '../support/policy-story.ts'
import '../../src/transactions/kinds.ts'

const endOf = (policy: ClockedPolicy, date: string): Instant =>
  endOfDay(policy.day(date), policy.loaded.aggregate.policy.timeZone)

const cancellationsOf = (policy: ClockedPolicy): Cancellation[] => [
  ...policy.loaded.aggregate.cancellations.values(),
]

const onlyGrace = (policy: ClockedPolicy) => {
  expect(policy.graces).toHaveLength(1)
  return policy.graces[0]!
}

const update = (policy: ClockedPolicy, terms: { endAt?: Instant; cancelEffectiveAt?: Instant }) =>
  policy.decide({
    action: 'updateGrace',
    gracePeriod: policy.graces.at(-1)!.locator,
    terms: { resetCancelEffective: false, ...terms },
  })

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

it('grace from the end of a day lasts to the end of a day, even where its last hour is repeated', () => {
  const zone = 'America/Santiago' as TimeZone
  const at = (text: string): Instant => Date.parse(text) as Instant
  // On April 7, 2035 clocks go back from midnight to 23:00, so the day ends at 04:00 UTC.
  const due = endOfDay(at('2035-03-08T12:00:00Z'), zone)
  expect(endOfGrace(due, 30, zone)).toBe(at('2035-04-08T03:59:59.999Z'))
  expect(endOfGrace(due, 29, zone)).toBe(at('2035-04-07T02:59:59.999Z'))
  expect(endOfGrace(due, 31, zone)).toBe(at('2035-04-09T03:59:59.999Z'))
  // A due time at noon, set by a plugin, stays at noon.
  expect(endOfGrace(at('2035-03-08T15:00:00Z'), 31, zone)).toBe(at('2035-04-08T16:00:00Z'))
})

describe('A grace period', () => {
  it('reports the invoice once: not when the plugin is called again, and not for an upgrade', async () => {
    const policy = await ClockedPolicy.issued('motor', 'upfront')
    const invoice = policy.invoices[0]!.locator
    const attempt = attemptAt(policy.day('2027-01-02'))
    const reports = async (more: object): Promise<number> => {
      const { planned } = await decideLapse(policy.loaded, { action: 'pastDue', invoice, ...more }, attempt)
      expect(planned!.aggregate.gracePeriods.size).toBe(1)
      return planned!.events.filter(({ type }) => type === 'invoice.pastDue').length
    }
    expect([await reports({}), await reports({ tries: 1 })]).toEqual([1, 0])
    expect([await reports({ isReported: true }), await reports({ isGraceOnly: true })]).toEqual([0, 0])
  })

  it('begins exactly at the due time of an unpaid invoice', async () => {
    const policy = await ClockedPolicy.issued('motor', 'upfront')
    await policy.advance((endOf(policy, '2027-01-01') - 1) as Instant)
    expect(policy.graces).toEqual([])
    policy.takeEventTypes()
    await policy.advance('2027-01-02')
    expect(onlyGrace(policy)).toMatchObject({
      invoiceLocator: policy.invoices[0]!.locator,
      state: 'open',
      startAt: endOf(policy, '2027-01-01'),
      endAt: endOf(policy, '2027-01-31'),
    })
    const [pastDue, event] = policy.events
    expect(pastDue).toMatchObject({
      type: 'invoice.pastDue',
      data: {
        invoiceLocator: policy.invoices[0]!.locator,
        dueTimestamp: String(endOf(policy, '2027-01-01')),
      },
    })
    expect(event).toMatchObject({
      type: 'policy.gracePeriod',
      data: {
        gracePeriodLocator: policy.graces[0]!.locator,
        invoiceLocator: policy.invoices[0]!.locator,
        start: String(endOf(policy, '2027-01-01')),
        end: String(endOf(policy, '2027-01-31')),
      },
    })
    expect(policy.takeEventTypes()).toEqual(['invoice.pastDue', 'policy.gracePeriod'])
  })

  it('lasts its calendar days even when clocks go forward in it', async () => {
    const policy = await ClockedPolicy.issued('motor', 'monthly')
    for (const [at, date] of ['2027-01-01', '2027-02-01'].entries()) {
      await policy.advance((endOf(policy, date) - 1) as Instant)
      await policy.pay(policy.invoices[at]!)
    }
    await policy.advance('2027-03-02')
    const { startAt, endAt } = onlyGrace(policy)
    expect([startAt, endAt]).toEqual([endOf(policy, '2027-03-01'), endOf(policy, '2027-03-31')])
    expect(endAt - startAt).toBe(30 * 86_400_000 - 3_600_000)
  })

  it('does not begin when the invoice was paid in time', async () => {
    const policy = await ClockedPolicy.issued('motor', 'upfront')
    await policy.pay(policy.invoices[0]!)
    await policy.advance('2027-12-31')
    expect(policy.graces).toEqual([])
  })

  it('is settled by full payment but not by a partial one, and nothing lapses', async () => {
    const policy = await ClockedPolicy.issued('motor', 'upfront')
    await policy.advance('2027-01-20')
    await policy.pay(policy.invoices[0]!, '100')
    expect(onlyGrace(policy).state).toBe('open')
    policy.takeEventTypes()
    await policy.pay(policy.invoices[0]!)
    expect(onlyGrace(policy)).toMatchObject({ state: 'settled', settledAt: policy.day('2027-01-20') })
    expect(policy.takeEventTypes()).toEqual(['payment.pay'])
    await policy.advance('2027-12-01')
    expect(cancellationsOf(policy)).toEqual([])
    expect(policy.graces).toHaveLength(1)
  })

  it('includes a second invoice that becomes past due, and is settled when both are paid', async () => {
    const policy = await ClockedPolicy.issued('motor', 'monthly', { lapse: { gracePeriodDays: 45 } })
    await policy.advance('2027-02-05')
    expect(onlyGrace(policy).endAt).toBe(endOf(policy, '2027-02-15'))
    await policy.pay(policy.invoices[0]!)
    expect(onlyGrace(policy).state).toBe('open')
    await policy.pay(policy.invoices[1]!)
    expect(onlyGrace(policy).state).toBe('settled')
    await policy.advance('2027-03-03')
    expect(policy.graces.map(one => [one.state, one.startAt])).toEqual([
      ['settled', endOf(policy, '2027-01-01')],
      ['open', endOf(policy, '2027-03-01')],
    ])
  })

  it('begins again at the end of the day on which a payment is reversed', async () => {
    const policy = await ClockedPolicy.issued('motor', 'upfront')
    await policy.advance('2027-01-20')
    const payment = await policy.pay(policy.invoices[0]!)
    await policy.advance('2027-01-25')
    await policy.reverse(payment)
    expect(policy.graces.map(one => one.state)).toEqual(['settled'])
    await policy.advance('2027-01-26')
    expect(policy.graces.map(one => [one.state, one.startAt, one.endAt])).toEqual([
      ['settled', endOf(policy, '2027-01-01'), endOf(policy, '2027-01-31')],
      ['open', endOf(policy, '2027-01-25'), endOf(policy, '2027-02-24')],
    ])
  })

  it('does not begin for an unpaid refund, which is not reported as past due either', async () => {
    const policy = await ClockedPolicy.issued('motor', 'upfront')
    await policy.pay(policy.invoices[0]!)
    await policy.advance('2027-03-01')
    const legacy = { action: 'legacy' as const, coverageEndAt: policy.day('2027-10-01') }
    await policy.record((await decideCancellation(policy.loaded, legacy, attemptAt(policy.now))).planned)
    expect(policy.invoiceSummaries.at(-1)!.slice(2)).toEqual(['unfulfilled'])
    policy.takeEventTypes()
    await policy.advance('2027-05-01')
    expect([policy.graces, policy.takeEventTypes()]).toEqual([[], []])
  })

  it('begins at the issue of a policy whose invoice was already past due', async () => {
    const policy = await ClockedPolicy.finalized('motor', 'upfront')
    expect(policy.invoiceSummaries).toEqual([['newBusiness', 81_119, 'unfulfilled']])
    await policy.advance('2027-01-10')
    expect(policy.graces).toEqual([])
    await policy.issue()
    await policy.advance('2027-01-11')
    expect(onlyGrace(policy).startAt).toBe(policy.day('2027-01-10'))
  })

  it('does not begin for a product without grace, or for a withdrawn or cancelled policy', async () => {
    const plain = await ClockedPolicy.issued('motor', 'upfront', { lapse: {} })
    const gone = await ClockedPolicy.issued('motor', 'upfront')
    const cancelled = await ClockedPolicy.issued('motor', 'upfront')
    await gone.record(
      (await decideCancellation(gone.loaded, { action: 'withdraw' }, attemptAt(gone.now))).planned,
    )
    const legacy = { action: 'legacy' as const, coverageEndAt: cancelled.now }
    await cancelled.record(
      (await decideCancellation(cancelled.loaded, legacy, attemptAt(cancelled.now))).planned,
    )
    for (const policy of [plain, gone, cancelled]) {
      await policy.advance('2028-06-01')
      expect(policy.graces).toEqual([])
    }
  })

  it('counts its days from the upgrade that introduces it if they would be over already', async () => {
    const grace = { lapse: { gracePeriodDays: 30 } }
    const late = await ClockedPolicy.issued('motor', 'monthly', { lapse: {} })
    await late.advance('2027-06-10')
    await late.upgrade(grace)
    await late.advance('2027-06-11')
    const [first] = late.invoices
    expect(onlyGrace(late)).toMatchObject({ invoiceLocator: first!.locator, state: 'open' })
    expect(onlyGrace(late).endAt).toBe(endOf(late, '2027-07-10'))
    await late.advance('2027-07-11')
    expect(cancellationsOf(late).map(one => one.effectiveAt)).toEqual([endOf(late, '2027-07-10')])
    // Otherwise the rest of the days counts on.
    const recent = await ClockedPolicy.issued('motor', 'upfront', { lapse: {} })
    await recent.advance('2027-01-20')
    await recent.upgrade(grace)
    await recent.advance('2027-01-21')
    expect(onlyGrace(recent).endAt).toBe(endOf(recent, '2027-01-31'))
    const expired = await ClockedPolicy.issued('motor', 'upfront', { lapse: {} })
    await expired.advance('2028-06-01')
    await expired.upgrade(grace)
    await expired.advance('2028-06-02')
    expect([expired.graces, cancellationsOf(expired)]).toEqual([[], []])
  })
})

describe('The end of a grace period', () => {
  it('cancels the policy from then on by `lapse`, and the price of the covered time remains outstanding', async () => {
    const policy = await ClockedPolicy.issued('motor', 'upfront')
    await policy.advance('2027-01-20')
    policy.takeEventTypes()
    await policy.advance('2027-02-01')
    const [cancellation] = cancellationsOf(policy)
    expect(cancellation).toMatchObject({
      name: 'lapse',
      state: 'issued',
      category: 'non_payment',
      conflictHandling: 'invalidate',
      effectiveAt: endOf(policy, '2027-01-31'),
    })
    expect(onlyGrace(policy)).toMatchObject({
      state: 'lapsed',
      settledAt: endOf(policy, '2027-01-31'),
      cancellationLocator: cancellation!.locator,
    })
    expect(policy.loaded.aggregate.policy.effectiveEnd).toBe(endOf(policy, '2027-01-31'))
    expect(policy.takeEventTypes()).toEqual([
      'cancellation.create',
      'cancellation.issue',
      'policy.cancel',
      'invoice.issue',
      'policy.invoice',
      'payment.pay',
      'payment.pay',
    ])
    // 12.50 of the 811.19 is a fee that is not prorated. Eleven of twelve months of the other 798.69 are 732.13.
    expect(policy.invoiceSummaries).toEqual([
      ['newBusiness', 81_119, 'unfulfilled'],
      ['cancellation', -73_213, 'paid'],
    ])
  })

  it('cancels from another time that the grace period sets, until that is reset', async () => {
    const policy = await ClockedPolicy.issued('motor', 'upfront')
    await policy.advance('2027-01-20')
    await update(policy, { cancelEffectiveAt: policy.day('2027-01-10') })
    expect(policy.takeEventTypes().at(-1)).toBe('policy.gracePeriod.update')
    const other = await ClockedPolicy.issued('motor', 'upfront')
    await other.advance('2027-01-20')
    await update(other, { cancelEffectiveAt: other.day('2027-01-10') })
    await other.decide({
      action: 'updateGrace',
      gracePeriod: other.graces[0]!.locator,
      terms: { resetCancelEffective: true },
    })
    await policy.advance('2027-02-01')
    await other.advance('2027-02-01')
    expect([policy, other].map(one => cancellationsOf(one)[0]!.effectiveAt)).toEqual([
      policy.day('2027-01-10'),
      endOf(other, '2027-01-31'),
    ])
  })

  it('can be moved later, and takes effect immediately when moved to the past', async () => {
    const policy = await ClockedPolicy.issued('motor', 'upfront')
    await policy.advance('2027-01-20')
    await update(policy, { endAt: policy.day('2027-03-01') })
    await policy.advance('2027-02-27')
    expect(onlyGrace(policy).state).toBe('open')
    policy.takeEventTypes()
    await update(policy, { endAt: policy.day('2027-02-15') })
    expect(policy.takeEventTypes().slice(0, 3)).toEqual([
      'policy.gracePeriod.update',
      'cancellation.create',
      'cancellation.issue',
    ])
    expect(cancellationsOf(policy)[0]!.effectiveAt).toBe(policy.day('2027-02-15'))
    await policy.advance('2027-06-01')
    expect(cancellationsOf(policy)).toHaveLength(1)
  })

  it('settles the grace period without a cancellation when the policy has ended before it', async () => {
    const policy = await ClockedPolicy.issued('motor', 'upfront')
    await policy.advance('2027-01-20')
    const legacy = { action: 'legacy' as const, coverageEndAt: policy.day('2027-01-25') }
    await policy.record((await decideCancellation(policy.loaded, legacy, attemptAt(policy.now))).planned)
    policy.takeEventTypes()
    await policy.advance('2027-02-02')
    expect([onlyGrace(policy).state, onlyGrace(policy).cancellationLocator]).toEqual(['settled', undefined])
    expect(policy.takeEventTypes()).toEqual([])
    const expired = await ClockedPolicy.issued('motor', 'upfront', { lapse: { gracePeriodDays: 400 } })
    await expired.advance('2028-06-01')
    expect([onlyGrace(expired).state, cancellationsOf(expired)]).toEqual(['settled', []])
  })

  it('settles it without a cancellation when it is at or after the end of the policy', async () => {
    const policy = await ClockedPolicy.issued('motor', 'upfront')
    await policy.advance('2027-01-20')
    const { effectiveEnd } = policy.loaded.aggregate.policy
    await update(policy, { endAt: effectiveEnd })
    await policy.advance('2028-06-01')
    expect([onlyGrace(policy).state, cancellationsOf(policy)]).toEqual(['settled', []])
    const beyond = await ClockedPolicy.issued('motor', 'upfront')
    await beyond.advance('2027-01-20')
    await update(beyond, { endAt: beyond.day('2028-03-01'), cancelEffectiveAt: beyond.day('2027-06-01') })
    await beyond.advance('2028-06-01')
    expect([onlyGrace(beyond).state, cancellationsOf(beyond)]).toEqual(['settled', []])
  })

  it('comes again after a reinstatement when the invoice is still unpaid, which is not reported again', async () => {
    const policy = await ClockedPolicy.issued('motor', 'upfront')
    const reports = () =>
      policy.events
        .filter(({ type }) => type === 'invoice.pastDue')
        .map(({ data }) => [data.invoiceLocator, data.dueTimestamp])
    await policy.advance('2027-02-10')
    const { locator, dueAt } = policy.invoices[0]!
    expect(reports()).toEqual([[locator, String(dueAt)]])
    const cancellation = cancellationsOf(policy)[0]!.locator
    const request = { effectiveTimestamp: undefined, reinstatementDeadlineTimestamp: undefined, issue: true }
    const attempt = attemptAt(policy.now)
    await policy.record(
      (await decideReinstatement(policy.loaded, { action: 'create', cancellation, request }, attempt))
        .planned!,
    )
    await policy.advance('2027-02-11')
    expect(policy.graces.map(one => [one.state, one.startAt])).toEqual([
      ['lapsed', endOf(policy, '2027-01-01')],
      ['open', policy.day('2027-02-10')],
    ])
    expect(reports().filter(([invoice]) => invoice === locator)).toHaveLength(1)
    await policy.advance('2027-04-01')
    expect(cancellationsOf(policy).map(one => one.name)).toEqual(['lapse', 'lapse'])
    expect(new Set(reports().map(([invoice]) => invoice)).size).toBe(reports().length)
  })

  it('and a report come again when a late payment is reversed, for the new due time', async () => {
    const policy = await ClockedPolicy.issued('motor', 'upfront')
    await policy.advance('2027-01-20')
    const payment = await policy.pay(policy.invoices[0]!)
    policy.takeEventTypes()
    await policy.reverse(payment)
    await policy.advance('2027-01-21')
    expect(policy.takeEventTypes()).toEqual(['payment.reverse', 'invoice.pastDue', 'policy.gracePeriod'])
  })

  it('rejects an update without terms, outside the policy’s time, or after the grace period is settled', async () => {
    const policy = await ClockedPolicy.issued('motor', 'upfront')
    await policy.advance('2027-01-20')
    for (const terms of [
      {},
      { endAt: policy.day('2027-01-01') },
      { cancelEffectiveAt: policy.day('2026-12-31') },
      { cancelEffectiveAt: policy.day('2028-01-01') },
    ])
      expect((await refusalOf(update(policy, terms))).code).toBe('invalidRequest')
    const both = { cancelEffectiveAt: policy.now, resetCancelEffective: true }
    expect((await refusalOf(update(policy, both))).message).toContain('not both')
    await policy.pay(policy.invoices[0]!)
    const late = await refusalOf(update(policy, { endAt: policy.day('2027-03-01') }))
    expect([late.code, late.message]).toEqual([
      'wrongState',
      `Grace period ${policy.graces[0]!.locator} is settled and cannot be updated; it allows no action.`,
    ])
  })
})
