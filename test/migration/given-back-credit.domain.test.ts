// A credit is a negative fee. It is given back by a positive charge when cover ends.
import { expect, it } from 'vitest'
import { isIssued } from '../../src/policy/fold/line.ts'
import { policyView } from '../../src/policy/projection/policy.ts'
import { boundQuote } from '../../src/policy/records/aggregate.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { BOOK_BEGINS, converted, DAY, plainConfiguration, plainElement, type Wire } from './made-book.ts'

const END = BOOK_BEGINS + 365 * DAY
/** When a fifth of the year has passed. */
const CUT = BOOK_BEGINS + 73 * DAY

type Step = { readonly type: string; readonly at: number; readonly premium: number; readonly credit: number }

const ISSUED: Step = { type: 'issuance', at: BOOK_BEGINS, premium: 120, credit: -60 }
const CANCELLED: Step = { type: 'cancellation', at: CUT, premium: -96, credit: 48 }
const REINSTATED: Step = { type: 'reinstatement', at: CUT, premium: 96, credit: -48 }

function feesAfter(...steps: Step[]) {
  const charge = (chargeType: string, amount: number) => ({
    chargeType,
    installmentItems: [{ amount, installmentNumber: 1 }],
  })
  const transactions = steps.map(({ type, at, premium, credit }, index) => ({
    transactionType: type,
    issuedTime: BOOK_BEGINS + index * 1_000,
    segment: {
      segmentType: type === 'cancellation' ? 'gap' : 'coverage',
      startTime: at,
      rootElement: plainElement({ charges: [charge('premium', premium)] }, undefined, {
        charges: [charge('credit', credit)],
      }),
    },
    installments: [{ id: `${index}`, startTime: at, dueTime: at + 14 * DAY, invoiceId: `I${index}` }],
  }))
  const wire: Wire = {
    accountData: { id: 'A1', data: { last_name: 'Even' } },
    policies: [
      { id: 'P1', productName: 'plain', terms: [{ startTime: BOOK_BEGINS, endTime: END, transactions }] },
    ],
    invoices: steps.map(({ at }, index) => ({
      id: `I${index}`,
      startTime: at,
      endTime: END,
      dueTime: at + 14 * DAY,
      generateTime: at,
    })),
  }
  const { policies, failures } = converted(wire)
  expect(failures).toEqual([])
  const policy = policies[0]!
  const { fees } = policyPriceResponse(
    policyView(policy, boundQuote(policy), plainConfiguration.products.plain!, isIssued),
  )
  return fees.map(one => [one.name, one.amount, one.reversed])
}

it('a charge in a gap gives back a credit, and does not become a separate fee', () => {
  expect(feesAfter(ISSUED, CANCELLED)).toEqual([['credit', -12, false]])
})

it('a reinstatement restores that credit', () => {
  expect(feesAfter(ISSUED, CANCELLED, REINSTATED)).toEqual([['credit', -60, false]])
})
