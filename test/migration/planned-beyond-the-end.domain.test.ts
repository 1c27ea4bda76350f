// A bill that another system planned for a time after the cover that it cancelled.
import { expect, it } from 'vitest'
import { openInstallments } from '../../src/policy/bills/amounts-due.ts'
import type { Loaded } from '../../src/policy/surroundings.ts'
import { decideScheduleChange } from '../../src/transactions/schedule/schedule-change.ts'
import { attemptAt } from '../support/policy-story.ts'
import { converted, NOW, plainConfiguration, plainElement } from './made-book.ts'
import '../../src/transactions/kinds.ts'

const transaction = (type: string, at: string, premium: object[]) => ({
  transactionType: type,
  issuedTime: at,
  segment: {
    segmentType: type === 'cancellation' ? 'gap' : 'coverage',
    startTime: at,
    rootElement: plainElement({ charges: [{ chargeType: 'premium', installmentItems: premium }] }),
  },
  installments: [
    { id: `${type} now`, startTime: at, dueTime: at, invoiceId: type },
    ...(type === 'issuance' ? [{ id: 'later', startTime: '2027-03-01', dueTime: '2027-03-01' }] : []),
  ],
})

it('a bill planned for a time after cancelled cover is not changed by a new payment schedule', async () => {
  const invoices = ['issuance', 'cancellation'].map(id => ({
    id,
    startTime: '2026-06-01',
    endTime: '2027-06-01',
    dueTime: '2026-12-01',
    generateTime: '2026-06-01',
  }))
  const transactions = [
    transaction('issuance', '2026-06-01', [
      { amount: 90, installmentNumber: 1 },
      { amount: 30, installmentNumber: 2 },
    ]),
    transaction('cancellation', '2026-12-01', [{ amount: -60, installmentNumber: 1 }]),
  ]
  const { policies, failures } = converted({
    accountData: { id: 'A1', data: { last_name: 'Even' } },
    policies: [
      {
        id: 'P1',
        productName: 'plain',
        terms: [{ startTime: '2026-06-01', endTime: '2027-06-01', transactions }],
      },
    ],
    invoices,
  })
  expect(failures).toEqual([])
  const aggregate = policies[0]!
  const loaded = { aggregate, product: plainConfiguration.products.plain } as unknown as Loaded
  const former = aggregate.policy.paymentScheduleName
  const other = former === 'monthly' ? 'upfront' : 'monthly'
  const planned = await decideScheduleChange(loaded, other, attemptAt(NOW))
  expect(planned!.aggregate.policy.paymentScheduleName).toBe(other)
  expect(openInstallments(planned!.aggregate)).toEqual(openInstallments(aggregate))
  expect(openInstallments(aggregate)).toHaveLength(1)
})
