import { describe, expect, test } from 'vitest'
import { invoiceTypeOf } from '../../src/billing/billing.ts'
import { planInstallments } from '../../src/billing/schedule.ts'
import type { DisplayId, PolicyLocator, Uuid } from '../../src/kernel/locators.ts'
import { money, zero } from '../../src/kernel/money.ts'
import type { Instant, TimeZone } from '../../src/kernel/time.ts'
import { allowedActions } from '../../src/platform/events/transitions.ts'
import { totalsDue } from '../../src/policy/bills/items.ts'
import { PolicyInvoiceResponse } from '../../src/policy/contract/billing.ts'
import { policyInvoiceResponse } from '../../src/policy/projection/records.ts'
import {
  INVOICE_TRANSITIONS,
  type Installment,
  type Invoice,
  invalidateInvoice,
  invoiceOf,
  invoiceStatus,
  isOutstanding,
} from '../../src/policy/records/invoice.ts'
import { chargeOf, EUR } from './charges.ts'
import { local } from './spans.ts'

const identity = {
  locator: '7d9cf5b5-3d8e-4f0c-9d3f-6a51a1a0a000' as Uuid,
  displayId: 100_000_128 as DisplayId,
  policyLocator: 100_000_064 as PolicyLocator,
  policyModificationLocator: '0d9cf5b5-3d8e-4f0c-9d3f-6a51a1a0a000' as Uuid,
}
const coverage = { start: local('2024-05-15', 'UTC'), end: local('2025-05-15', 'UTC') }
const now = local('2024-05-01T10:00', 'UTC')

function invoices(premium: number): Invoice[] {
  const charges = [chargeOf('commission', 900, coverage)]
  if (premium > 0) charges.push(chargeOf('premium', premium, coverage))
  const plan: Installment[] = planInstallments({
    charges,
    schedule: 'semiannually',
    terms: { amount: 10, unit: 'day' },
    coverage,
    now,
    timeZone: 'UTC' as TimeZone,
  })
  const totals = totalsDue(plan, charges, EUR)
  return plan.map((installment, index) =>
    invoiceOf(
      installment,
      totals[index]!,
      invoiceTypeOf(installment, { kind: 'creation' }),
      identity,
      installment.issueAt,
    ),
  )
}

describe('An invoice', () => {
  test('starts unfulfilled and outstanding, with the span and due time of its installment', () => {
    const [first] = invoices(120_000)
    expect(first).toMatchObject({
      ...identity,
      installmentNumber: 1,
      start: coverage.start,
      end: local('2024-11-15', 'UTC'),
      dueAt: local('2024-05-15T23:59:59.999', 'UTC'),
      createdAt: now,
      updatedAt: now,
      statuses: [{ at: now, status: 'unfulfilled' }],
    })
    expect(isOutstanding(first!)).toBe(true)
  })

  test('has the type of its transaction if it is the first, and `installment` otherwise', () => {
    expect(invoices(120_000).map(invoice => invoice.type)).toEqual(['newBusiness', 'installment'])
  })

  test('that totals zero is settled when it is created', () => {
    const [only, ...more] = invoices(0)
    expect(more).toEqual([])
    expect(only!.statuses.map(entry => entry.status)).toEqual(['unfulfilled', 'zeroDue'])
    expect(isOutstanding(only!)).toBe(false)
  })

  test('can be invalidated once while it is outstanding', () => {
    const [first] = invoices(120_000)
    expect(allowedActions(INVOICE_TRANSITIONS, invoiceStatus(first!))).toEqual([
      'pay',
      'reverse',
      'invalidate',
      'writeOff',
      'carryForward',
    ])
    const later = (now + 1_000) as Instant
    const gone = invalidateInvoice(first!, later)
    expect(invoiceStatus(gone)).toBe('invalidated')
    expect(gone.updatedAt).toBe(later)
    expect(gone.statuses.at(-1)).toEqual({ at: later, status: 'invalidated' })
    expect(first!.statuses).toHaveLength(1)
    expect(() => invalidateInvoice(gone, later)).toThrow(
      'Invoice 100000128 is invalidated and cannot be invalidated; it allows no action.',
    )
  })

  test('is returned with its total in major units and, when settled, its settlement type', () => {
    const surroundings = {
      totalDue: money('600.00', EUR),
      outstanding: money('250.00', EUR),
      transactionIssued: false,
      payments: [],
      documents: [],
    }
    const [first] = invoices(120_000)
    const outstanding = policyInvoiceResponse(first!, surroundings)
    expect(outstanding).toEqual({
      locator: identity.locator,
      displayId: '100000128',
      policyLocator: '100000064',
      policyModificationLocator: identity.policyModificationLocator,
      createdTimestamp: String(now),
      updatedTimestamp: String(now),
      startTimestamp: String(coverage.start),
      endTimestamp: String(first!.end),
      dueTimestamp: String(first!.dueAt),
      invoiceType: 'newBusiness',
      totalDue: 600,
      totalDueCurrency: 'EUR',
      settlementStatus: 'outstanding',
      outstandingAmount: 250,
      outstandingAmountCurrency: 'EUR',
      statuses: [{ timestamp: String(now), status: 'unfulfilled' }],
      transactionIssued: false,
      payments: [],
      documents: [],
    })
    expect(PolicyInvoiceResponse.safeParse(outstanding).success).toBe(true)
    expect(policyInvoiceResponse(invoices(0)[0]!, { ...surroundings, totalDue: zero(EUR) })).toMatchObject({
      totalDue: 0,
      settlementStatus: 'settled',
      settlementType: 'zeroDue',
    })
  })
})
