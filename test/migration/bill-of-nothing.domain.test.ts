// Bills of changes in another system: none where nothing was due, and changed parts of bills that were planned before.
import { describe, expect, it } from 'vitest'
import { futureInstallments, totalDueOf } from '../../src/policy/bills/amounts-due.ts'
import { billedItemsOf } from '../../src/policy/projection/billed-items.ts'
import { expectChargesBilledOnce, expectItemsSumToCharges } from '../support/money-checks.ts'
import { BOOK_BEGINS, converted, DAY, type Wire } from './made-book.ts'

/** One year for 120 with a change that has no installments. */
const account = (change: object): Wire => {
  const root = (coverage: object): Wire => ({
    id: 'root',
    elementType: 'plain',
    elements: [
      {
        id: 'car',
        elementType: 'thing',
        data: { yearly: 100 },
        elements: [{ id: 'cov', elementType: 'cover', ...coverage }],
      },
    ],
  })
  const premium = { chargeType: 'premium', installmentItems: [{ amount: 120, installmentNumber: 1 }] }
  const transaction = (transactionType: string, at: number, more: object, coverage: object): Wire => ({
    transactionType,
    issuedTime: BOOK_BEGINS + at * DAY,
    segment: {
      segmentType: 'coverage',
      startTime: BOOK_BEGINS + at * DAY,
      rootElement: root(coverage),
    },
    ...more,
  })
  const installments = [{ startTime: BOOK_BEGINS, dueTime: BOOK_BEGINS + 14 * DAY, invoiceId: 'I1' }]
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
            transactions: [
              transaction('issuance', 0, { installments }, { charges: [premium] }),
              transaction('change', 100, { installments: [] }, change),
            ],
          },
        ],
      },
    ],
    invoices: [
      {
        id: 'I1',
        startTime: BOOK_BEGINS,
        endTime: BOOK_BEGINS + 365 * DAY,
        dueTime: BOOK_BEGINS + 14 * DAY,
      },
    ],
  }
}

describe('a change without installments', () => {
  it('bills what it reverses and charges again on a zero invoice that is settled at issue', () => {
    const { policies, failures, mappings, totals } = converted(
      account({ coverageTerms: { deductible: 300 } }),
    )
    expect(failures).toEqual([])
    const aggregate = policies[0]!
    const [first, second] = [...aggregate.invoices.values()].sort((a, b) => a.createdAt - b.createdAt)
    const at = BOOK_BEGINS + 100 * DAY
    expect(aggregate.invoices.size).toBe(2)
    expect(totalDueOf(aggregate, first!).minor).toBe(12_000)
    expect(second).toMatchObject({
      type: 'endorsement',
      createdAt: at,
      dueAt: at,
      start: at,
      end: BOOK_BEGINS + 365 * DAY,
      statuses: [
        { at, status: 'unfulfilled' },
        { at, status: 'zeroDue' },
      ],
    })
    const bill = [...aggregate.installments.values()].at(-1)!
    // Of 11 months and 30 of 31 days, three months and 9 days and an hour of 30 were before it.
    expect(billedItemsOf(aggregate)(bill).map(({ amount }) => amount.minor)).toEqual([-12_000, 3_310, 8_690])
    expect(totalDueOf(aggregate, second!).minor).toBe(0)
    expect(futureInstallments(aggregate)).toEqual([])
    expectItemsSumToCharges({ aggregate })
    expectChargesBilledOnce({ aggregate })
    expect(totals.invoiced.minor).toBe(12_000)
    expect(mappings.filter(one => one.kind === 'invoices').map(one => one.originalId)).toEqual(['I1'])
  })

  it('has no invoice if it charges nothing', () => {
    const { policies, failures } = converted(account({}))
    expect(failures).toEqual([])
    expect(policies[0]!.modifications.size).toBe(2)
    expect(policies[0]!.invoices.size).toBe(1)
  })
})

describe('a change of a policy that is billed quarterly', () => {
  const QUARTERS = [0, 91, 182, 273].map((day, at) => ({
    startTime: BOOK_BEGINS + day * DAY,
    dueTime: BOOK_BEGINS + (day + 14) * DAY,
    ...(at < 3 && { invoiceId: `I${at + 1}` }),
  }))

  const parts = (amount: number, bills: number[]) => [
    {
      chargeType: 'premium',
      installmentItems: bills.map(installmentNumber => ({ amount, installmentNumber })),
    },
  ]

  /** The amounts of each bill of the change: those of the change and those that were there before. */
  function billedOf(installments: Wire[], change: object): number[][] {
    const wire = account({ coverageTerms: { deductible: 300 }, ...change })
    const [issuance, changing] = wire.policies[0].terms[0].transactions
    issuance.installments = QUARTERS
    issuance.segment.rootElement.elements[0].elements[0].charges = parts(30, [1, 2, 3, 4])
    changing.installments = installments
    const bills = [...QUARTERS.slice(0, 3), ...installments.filter(one => one.invoiceId === 'I9')]
    wire.invoices = bills.map(({ invoiceId: id, startTime, dueTime }) => {
      return { id, startTime, endTime: startTime + 91 * DAY, dueTime }
    })
    const { policies, failures } = converted(wire)
    expect(failures).toEqual([])
    const aggregate = policies[0]!
    expectItemsSumToCharges({ aggregate })
    expectChargesBilledOnce({ aggregate })
    const own = [...aggregate.installments.values()].slice(4).sort((a, b) => a.issueAt - b.issueAt)
    return own.map(bill => billedItemsOf(aggregate)(bill).map(({ amount }) => amount.minor))
  }

  // As a live endorsement bills it. Otherwise the next endorsement would immediately refund amounts that later bills still
  // charge.
  it('on the same bills reverses on each bill what the bill still charges', () => {
    expect(billedOf(QUARTERS.slice(1), { charges: parts(-15, [1, 2, 3]) })).toEqual([
      [-6_000, 3_310, 1_190, 3_000],
      [-3_000, 1_500, 3_000],
      [-3_000, 1_500, 3_000],
    ])
  })

  it('on its own bill, or on none, replaces the charges on bills that are still to come', () => {
    const installment = {
      startTime: BOOK_BEGINS + 100 * DAY,
      dueTime: BOOK_BEGINS + 101 * DAY,
      invoiceId: 'I9',
    }
    // The nine days before the change are still billed as before: 3.10 of the second quarter.
    const later = [
      [-2_690, 2_690, 3_000],
      [-3_000, 3_000, 3_000],
      [-3_000, 3_000, 3_000],
    ]
    expect(billedOf([installment], { charges: parts(40, [1]) })).toEqual([[-3_310, 3_310, 4_000], ...later])
    expect(billedOf([], {})).toEqual([[-3_310, 3_310], ...later])
  })
})

describe('a change of a policy that is billed once at a later time', () => {
  const later = (at: number, invoiceId?: string) => ({
    startTime: BOOK_BEGINS + at * DAY,
    dueTime: BOOK_BEGINS + (at + 200) * DAY,
    ...(invoiceId && { invoiceId }),
  })

  const premium = (amount: number) => [
    { chargeType: 'premium', installmentItems: [{ amount, installmentNumber: 1 }] },
  ]

  /** The amounts of each bill of each change, in minor units. Each change has its own bill or none. */
  function billedOf(
    changes: { at: number; amount?: number; invoiceId?: string }[],
    invoiceId?: string,
  ): number[][][] {
    const wire = account({})
    const { transactions } = wire.policies[0].terms[0]
    transactions.length = 1
    transactions[0].installments = [later(0, invoiceId)]
    for (const [count, { at, amount, invoiceId }] of changes.entries()) {
      const [, change] = account({
        coverageTerms: { deductible: 300 + count },
        ...(amount !== undefined && { charges: premium(amount) }),
      }).policies[0].terms[0].transactions
      change.issuedTime = BOOK_BEGINS + at * DAY
      change.segment.startTime = BOOK_BEGINS + at * DAY
      change.installments = amount === undefined ? [] : [later(at, invoiceId)]
      transactions.push(change)
    }
    wire.invoices = [
      [0, invoiceId] as const,
      ...changes.map(one => [one.at, one.invoiceId] as const),
    ].flatMap(([at, id]) =>
      id ? [{ id, ...later(at), endTime: BOOK_BEGINS + (at + 300) * DAY, invoiceId: undefined }] : [],
    )
    const { policies, failures } = converted(wire)
    expect(failures).toEqual([])
    const aggregate = policies[0]!
    expectItemsSumToCharges({ aggregate })
    expectChargesBilledOnce({ aggregate })
    const items = billedItemsOf(aggregate)
    return [...aggregate.modifications.values()].map(({ locator }) =>
      [...aggregate.installments.values()]
        .filter(one => one.modificationLocator === locator)
        .sort((a, b) => a.issueAt - b.issueAt)
        .map(bill => items(bill).map(({ amount }) => amount.minor)),
    )
  }

  // 33.10 of the 120.00 of the year are before the change. The other 86.90 are still to be billed, and the next change
  // immediately refunds no more than the bill of this change charged.
  it('replaces the charges on that later bill, and puts its own amounts on its own bill', () => {
    const place = [-8_690, 8_690, 12_000]
    expect(billedOf([{ at: 100 }])).toEqual([[[12_000]], [[-3_310, 3_310], place]])
    const own = [-3_310, 3_310, -3_000]
    expect(billedOf([{ at: 100, amount: -30 }])).toEqual([[[12_000]], [place, own]])
    const invoiced = billedOf([{ at: 100, amount: -30, invoiceId: 'I2' }], 'I1')
    expect(invoiced).toEqual([[[12_000]], [place, own]])
  })

  it('leaves the later bill alone if that bill is due before the change', () => {
    expect(billedOf([{ at: 201, amount: -30 }])).toEqual([[[12_000]], [[-12_000, 6_632, 2_368]]])
  })

  it('creates at most 25 bills for each of 40 changes', () => {
    const changes = Array.from({ length: 40 }, (_, count) => ({ at: 1 + count, amount: 10 }))
    const bills = billedOf(changes).map(one => one.length)
    expect(bills.slice(0, 4)).toEqual([1, 2, 3, 4])
    expect(Math.max(...bills)).toBe(25)
  })
})
