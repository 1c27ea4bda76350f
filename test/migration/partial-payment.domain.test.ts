// An invoice that was paid in part in another system changed last when that payment came in.
import { expect, it } from 'vitest'
import { restDue } from '../../src/policy/bills/amounts-due.ts'
import { policyResponse } from '../../src/policy/projection/policy.ts'
import { policySnapshot } from '../../src/policy/projection/snapshot.ts'
import { BOOK_BEGINS, converted, DAY, NOW, plainConfiguration, plainElement } from './made-book.ts'

it('the policy as known after the migration is the policy that the migration recorded', () => {
  const span = { startTime: BOOK_BEGINS, endTime: BOOK_BEGINS + 365 * DAY }
  const premium = { chargeType: 'premium', installmentItems: [{ amount: 120, installmentNumber: 1 }] }
  const dueTime = BOOK_BEGINS + 14 * DAY
  const issuance = {
    transactionType: 'issuance',
    issuedTime: BOOK_BEGINS,
    segment: {
      segmentType: 'coverage',
      startTime: BOOK_BEGINS,
      rootElement: plainElement({ charges: [premium] }),
    },
    installments: [{ startTime: BOOK_BEGINS, dueTime, invoiceId: 'I1' }],
  }
  const paymentTime = BOOK_BEGINS + 20 * DAY
  const { policies, failures } = converted({
    accountData: { id: 'A1', data: { last_name: 'Even' } },
    policies: [{ id: 'P1', productName: 'plain', terms: [{ ...span, transactions: [issuance] }] }],
    invoices: [{ id: 'I1', ...span, dueTime, generateTime: BOOK_BEGINS }],
    payments: [{ id: 'M1', paymentTime, paymentItems: [{ amount: 50, invoiceId: 'I1' }] }],
  })
  expect(failures).toEqual([])
  const [policy] = policies
  const [invoice] = policy!.invoices.values()
  expect(restDue(policy!, invoice!).minor).toBe(7_000)
  expect([invoice!.createdAt, invoice!.updatedAt]).toEqual([BOOK_BEGINS, paymentTime])

  const product = plainConfiguration.products.plain!
  const known = policySnapshot(policy!, product, { asOfTimestamp: NOW, effectiveTimestamp: undefined })
  expect(known).toEqual(policyResponse(policy!, product, { summarizeQuotes: false }))
})
