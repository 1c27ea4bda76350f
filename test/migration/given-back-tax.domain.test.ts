// Taxes of migrated coverages that total zero: listed if a charge states them, and absent if they are given back in full.
import { describe, expect, it } from 'vitest'
import { policyResponse } from '../../src/policy/projection/policy.ts'
import { BOOK_BEGINS, converted, DAY, plainConfiguration, plainElement, type Wire } from './made-book.ts'

/** A year for 120 with a levy of 12. A change at its start gives the levy back and charges `more`, as installment items. */
function account(more: number[]): Wire {
  const charge = (chargeType: string, tag: string | undefined, amounts: number[]) => ({
    chargeType,
    tag,
    installmentItems: amounts.map(amount => ({ amount, installmentNumber: 1 })),
  })
  const transaction = (transactionType: string, at: number, charges: Wire[]) => ({
    transactionType,
    issuedTime: BOOK_BEGINS + at * DAY,
    segment: {
      segmentType: 'coverage',
      startTime: BOOK_BEGINS,
      rootElement: plainElement({ charges }, { yearly: 100 }),
    },
    installments: [{ startTime: BOOK_BEGINS, dueTime: BOOK_BEGINS + 14 * DAY }],
  })
  const charges = [charge('premium', undefined, [120]), charge('tax', 'levy', [12])]
  const changed = [
    charge('premium', undefined, [1]),
    charge('tax', 'levy', [-12]),
    charge('tax', 'levy', more),
  ]
  return {
    accountData: { id: 'A1', data: { last_name: 'Even' } },
    policies: [
      {
        id: 'P1',
        productName: 'plain',
        terms: [
          {
            startTime: BOOK_BEGINS,
            endTime: BOOK_BEGINS + 365 * DAY,
            transactions: [transaction('issuance', 0, charges), transaction('change', 1, changed)],
          },
        ],
      },
    ],
  }
}

/** The taxes of the segment that the change created. */
function taxesAfter(wire: Wire): unknown {
  const { policies, failures } = converted(wire)
  expect(failures).toEqual([])
  const product = plainConfiguration.products.plain!
  const { characteristics } = policyResponse(policies[0]!, product, { summarizeQuotes: false })
  return characteristics.at(-1)!.taxGroups.map(one => [one.name, one.amount])
}

describe('a tax that a change gives back in full', () => {
  it('is no longer a tax of the coverage', () => {
    const wire = account([])
    wire.policies[0].terms[0].transactions[1].segment.rootElement.elements[0].elements[0].charges.pop()
    expect(taxesAfter(wire)).toEqual([])
  })

  it('is listed with zero if the change contains an empty charge of it', () => {
    expect(taxesAfter(account([]))).toEqual([['levy', 0]])
  })

  it('is listed with the amount that is charged again', () => {
    expect(taxesAfter(account([3]))).toEqual([['levy', 3]])
  })
})
