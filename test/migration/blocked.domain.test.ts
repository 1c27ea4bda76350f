// Errors of items that depend on a failing item: they are blocked by it, and do not break a rule themselves (resources brief
// 9.2).
import { expect, it } from 'vitest'
import { readAccount } from '../../src/servicing/migration/request.ts'
import { BOOK_BEGINS, converted, DAY, type Wire } from './made-book.ts'

/** A year for 120 that is paid, and 40 more as credit: 15 of it are paid out, and 20 pay the invoice of another policy. */
const account = (): Wire => {
  const policy = (id: string, invoiceId: string, amount: number) => ({
    id,
    productName: 'plain',
    terms: [
      {
        startTime: BOOK_BEGINS,
        endTime: BOOK_BEGINS + 365 * DAY,
        transactions: [
          {
            transactionType: 'issuance',
            issuedTime: BOOK_BEGINS,
            segment: {
              segmentType: 'coverage',
              startTime: BOOK_BEGINS,
              rootElement: {
                id: 'root',
                elementType: 'plain',
                charges: [{ chargeType: 'fee', installmentItems: [{ amount, installmentNumber: 1 }] }],
              },
            },
            installments: [{ startTime: BOOK_BEGINS, dueTime: BOOK_BEGINS + 14 * DAY, invoiceId }],
          },
        ],
      },
    ],
  })
  const invoice = (id: string) => ({
    id,
    startTime: BOOK_BEGINS,
    endTime: BOOK_BEGINS + DAY,
    dueTime: BOOK_BEGINS + 14 * DAY,
    invoiceState: 'settled',
  })
  const paymentTime = BOOK_BEGINS + 5 * DAY
  return {
    accountData: { id: 'A1', data: { last_name: 'Even' } },
    policies: [policy('P1', 'I1', 120), policy('P2', 'I2', 20)],
    invoices: [invoice('I1'), invoice('I2')],
    payments: [
      { id: 'M1', paymentTime, paymentItems: [{ amount: 120, invoiceId: 'I1' }] },
      { id: 'M2', paymentTime, paymentItems: [{ amount: 40 }] },
    ],
    disbursements: [{ id: 'D1', disbursementTime: BOOK_BEGINS + 20 * DAY, sources: [{ amount: 15 }] }],
    accounting: { originalAccountBalances: { invoiced: 140, paid: 160, credit: 5, disbursed: 15 } },
  }
}

/** The first error of each failing item. */
function failuresOf(spoil: (wire: Wire) => void): Record<string, string> {
  const wire = account()
  spoil(wire)
  const { request, failures } = readAccount(wire, 'A1', true)
  const all = [...failures, ...converted(request, { failed: failures }).failures]
  return Object.fromEntries(all.map(one => [one.originalId, one.problems[0]!.errors[0]!]))
}

it('the account of these tests has no failures when unchanged', () => {
  expect(failuresOf(() => {})).toEqual({})
})

it.each([
  ['a payment that does not fit', (wire: Wire) => (wire.payments[1].paymentItems[0].amount = 'much')],
  ['a payment that breaks a rule', (wire: Wire) => (wire.payments[1].currency = 'USD')],
])('items that use credit are blocked by %s, and so is an account with totals', (_, spoil) => {
  const { M2, ...others } = failuresOf(spoil)
  expect(M2).toMatch(/^'paymentItems\[0\].amount' must be a plain decimal|^currency must be EUR/)
  expect(others).toMatchObject({ I2: 'blocked by M2', D1: 'blocked by M2', A1: 'blocked by M2' })
})

it('credit is blocked by a failing invoice if no other invoice is valid', () => {
  const others = failuresOf(wire => {
    wire.policies = [wire.policies[0]]
    wire.invoices = [wire.invoices[0]]
    wire.policies[0].productName = ''
  })
  expect(others).toEqual({
    P1: "'productName' must not be empty.",
    I1: 'blocked by P1',
    M1: 'blocked by I1',
    M2: 'blocked by I1',
    D1: 'blocked by M2',
    A1: 'blocked by P1',
  })
})

it('a failing account is not blocked by itself', () => {
  const wire = account()
  wire.accountData.data.nose = 'big'
  const { failures } = converted(wire)
  expect(failures.find(one => one.kind === 'account')!.problems.flatMap(one => one.errors)).toEqual([
    "Field 'nose' is not known; remove it or check its spelling.",
  ])
})

it('a disbursement above the credit gets that error if nothing else fails', () => {
  const { D1 } = failuresOf(wire => {
    wire.disbursements[0].sources[0].amount = 500
    wire.accounting = undefined
  })
  expect(D1).toBe('sources of 500.00 must not exceed the credit at that time, 20.00.')
})
