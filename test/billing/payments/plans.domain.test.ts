// Rules of payments in addition to the state transitions.
import '../../../src/transactions/kinds.ts'
import { describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/kernel/locators.ts'
import { endOfDay, type Instant } from '../../../src/kernel/time.ts'
import { POLICY_LIMITS } from '../../../src/policy/limits.ts'
import { putRecords } from '../../../src/policy/records/aggregate.ts'
import {
  invoiceStatus,
  type Payment,
  reopenInvoice,
  writeOffInvoice,
} from '../../../src/policy/records/invoice.ts'
import type { Loaded } from '../../../src/policy/surroundings.ts'
import { decidePayment } from '../../../src/transactions/payments/kind.ts'
import { STORY_BEGINS } from '../../support/policy-story.ts'
import { attempt, finalized, INSURABLE } from '../../support/record-kinds/motor-policies.ts'

const firstOf = ({ aggregate }: Loaded) => [...aggregate.invoices.values()][0]!

const pay = (loaded: Loaded, amount: string) =>
  decidePayment(
    loaded,
    {
      action: 'pay',
      invoice: firstOf(loaded).locator,
      request: { fieldValues: { method: 'card' }, amount, source: undefined },
    },
    attempt(),
  )

describe('A payment of an invoice that was written off', () => {
  it('can be reversed, and the invoice remains written off', async () => {
    const loaded = await finalized(INSURABLE)
    const { planned, payment } = await pay(loaded, '11.19')
    const { aggregate } = planned
    const gone = writeOffInvoice(aggregate.invoices.get(firstOf(loaded).locator)!, STORY_BEGINS)
    const invoices = putRecords(aggregate.invoices, [gone])
    const lapsed = { ...loaded, aggregate: { ...aggregate, invoices } }
    const reversed = await decidePayment(lapsed, { action: 'reverse', payment }, attempt())
    const { invoices: now, payments } = reversed.planned.aggregate
    expect(invoiceStatus(now.get(gone.locator)!)).toBe('writtenOff')
    expect(reversed.planned.events.map(one => one.type)).toEqual(['payment.reverse'])
    expect(payments.get(payment)!.reversedAt).toBe(STORY_BEGINS)
  })
})

describe('An invoice whose payment is reversed', () => {
  it('keeps its due time unless that has passed, and is then due at the end of the day', async () => {
    const loaded = await finalized(INSURABLE)
    const { timeZone } = loaded.aggregate.policy
    const invoice = { ...firstOf(loaded), statuses: [{ at: STORY_BEGINS, status: 'paid' as const }] }
    const { dueAt } = invoice
    expect(reopenInvoice(invoice, dueAt, timeZone).dueAt).toBe(dueAt)
    const nextDay = (dueAt + 1) as Instant
    const late = reopenInvoice(invoice, nextDay, timeZone)
    expect(late.dueAt).toBe(endOfDay(nextDay, timeZone))
    expect(late.statuses.at(-1)).toEqual({ at: nextDay, status: 'unfulfilled', dueBefore: dueAt })
  })
})

describe('A policy', () => {
  it('rejects a payment beyond its limit of 5000 payments', async () => {
    const loaded = await finalized(INSURABLE)
    const one = (await pay(loaded, '0.01')).planned.aggregate.payments.values().next().value as Payment
    const many = Array.from({ length: POLICY_LIMITS.payments }, () => ({ ...one, locator: newUuid(0) }))
    const full = { ...loaded, aggregate: { ...loaded.aggregate, payments: putRecords(new Map(), many) } }
    await expect(pay(full, '0.01')).rejects.toMatchObject({
      code: 'policyLimit',
      message: expect.stringContaining('already has 5000 payments, which is the maximum for a policy.'),
    })
  })
})
