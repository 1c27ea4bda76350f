// An invoice as it was known at a time.
import { expect, it } from 'vitest'
import type { Uuid } from '../../../src/kernel/locators.ts'
import type { Instant } from '../../../src/kernel/time.ts'
import { invoiceStateAt } from '../../../src/policy/journal/bills.ts'
import type { Modification, PolicyAggregate } from '../../../src/policy/records/aggregate.ts'
import type { Invoice, Payment } from '../../../src/policy/records/invoice.ts'

const BY = 'a transaction' as Uuid

const policyWith = (invalidatedAt?: number): Pick<PolicyAggregate, 'modifications'> => ({
  modifications: new Map([[BY, { locator: BY, invalidatedAt } as unknown as Modification]]),
})

/** Created at 10 and due at 20. It was paid twice, and both payments bounced when it was past due: at 30 and at 50. */
const invoice = {
  policyModificationLocator: BY,
  createdAt: 10,
  dueAt: 59,
  statuses: [
    { at: 10, status: 'unfulfilled' },
    { at: 15, status: 'paid' },
    { at: 30, status: 'unfulfilled', dueBefore: 20 },
    { at: 45, status: 'paid' },
    { at: 50, status: 'unfulfilled', dueBefore: 39 },
  ],
} as unknown as Invoice

const payments = [
  { postedAt: 15, reversedAt: 30 },
  { postedAt: 45, reversedAt: 50 },
] as unknown as Payment[]

const at = (time: number, invalidatedAt?: number) =>
  invoiceStateAt(policyWith(invalidatedAt), invoice, payments, time as Instant)

it.each([
  [10, 'unfulfilled', 20, 0],
  [15, 'paid', 20, 1],
  [29, 'paid', 20, 1],
  [30, 'unfulfilled', 39, 0],
  [49, 'paid', 39, 1],
  [50, 'unfulfilled', 59, 0],
])('an invoice that bounced twice at %i: %s, due at %i, with %i payments', (time, status, dueAt, count) => {
  const state = at(time)!
  expect([state.status, state.dueAt, state.payments.length]).toEqual([status, dueAt, count])
})

it('an invoice does not exist before its creation, and is void from when its transaction is invalidated', () => {
  expect(at(9)).toBeUndefined()
  expect(at(46, 47)!.status).toBe('paid')
  expect(at(47, 47)!.status).toBe('invalidated')
})
