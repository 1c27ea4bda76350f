// The twelve rules for migrated accounts (resources brief 9.3): each error is reported at its path, all together, and fails no
// other item.
import { describe, expect, it } from 'vitest'
import { toText } from '../../src/kernel/money.ts'
import { restDue } from '../../src/policy/bills/amounts-due.ts'
import { BOOK_BEGINS, converted, DAY, NOW, type Wire } from './made-book.ts'

const charge = (amount: number, installmentNumber = 1, chargeType = 'premium') => ({
  chargeType,
  installmentItems: [{ amount, installmentNumber }],
})

const root = (amount: number): Wire => ({
  id: 'root',
  elementType: 'plain',
  elements: [
    {
      id: 'car',
      elementType: 'thing',
      data: { yearly: 100, parts: [{ part: 'wheel' }, { part: 'door' }] },
      elements: [{ id: 'cov', elementType: 'cover', charges: [charge(amount), charge(0)] }],
    },
  ],
})

/** A year for 120, changed for 30 more, on two invoices, and another policy for 50 on a third. All are paid. */
const account = (): Wire => {
  const policy = (id: string, invoices: string[], amounts: number[]) => ({
    id,
    productName: 'plain',
    staticData: { origin: 'old', list: [1, 2] },
    terms: [
      {
        startTime: BOOK_BEGINS,
        endTime: BOOK_BEGINS + 365 * DAY,
        transactions: amounts.map((amount, at) => ({
          transactionType: at === 0 ? 'issuance' : 'change',
          issuedTime: BOOK_BEGINS + at * DAY,
          segment: {
            segmentType: 'coverage',
            startTime: BOOK_BEGINS + at * 100 * DAY,
            rootElement: root(amount),
          },
          installments: [
            {
              id: `${id}-${at}`,
              startTime: BOOK_BEGINS,
              dueTime: BOOK_BEGINS + 14 * DAY,
              invoiceId: invoices[at],
            },
          ],
        })),
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
  const payment = (id: string, invoiceId: string, amount: number) => ({
    id,
    paymentTime: BOOK_BEGINS + 10 * DAY,
    paymentItems: [{ invoiceId, amount }],
  })
  return {
    accountData: { id: 'A1', data: { last_name: 'Even' } },
    policies: [policy('P1', ['I1', 'I2'], [120, 30]), policy('P2', ['I3'], [50])],
    invoices: ['I1', 'I2', 'I3'].map(invoice),
    payments: [payment('Y1', 'I1', 120), payment('Y2', 'I2', 30), payment('Y3', 'I3', 50)],
    disbursements: [],
  }
}

type Told = { originalId: string; elementType: string; locator: string; error: string }

const told = (wire: Wire): Told[] =>
  converted(wire).failures.flatMap(({ originalId, problems }) =>
    problems.flatMap(({ elementType, locator, errors }) =>
      errors.map(error => ({ originalId, elementType, locator, error })),
    ),
  )

const first = (wire: Wire) => wire.policies[0].terms[0].transactions[0]
const second = (wire: Wire) => wire.policies[0].terms[0].transactions[1]
const T = 'P1/terms[0]/transactions'

const RULES: [string, (wire: Wire) => void, string, string, RegExp][] = [
  [
    'an id twice',
    wire => wire.policies.push(wire.policies[0]),
    'policy',
    'P1',
    /^id 'P1' must be the id of only one policy/,
  ],
  [
    'an unknown product',
    wire => (wire.policies[0].productName = 'x'),
    'policy',
    'P1',
    /^productName 'x' must be/,
  ],
  [
    'a root that is not the product',
    wire => (first(wire).segment.rootElement.elementType = 'x'),
    'element',
    `${T}[0]/root`,
    /^elementType 'x' must be 'plain'/,
  ],
  [
    'an unknown exposure',
    wire => (first(wire).segment.rootElement.elements[0].elementType = 'x'),
    'element',
    `${T}[0]/car`,
    /must be an exposure of product 'plain': thing/,
  ],
  [
    'a peril that the exposure has not',
    wire => (second(wire).segment.rootElement.elements[0].elements[0].elementType = 'x'),
    'element',
    `${T}[1]/cov`,
    /must be a peril of exposure 'thing'/,
  ],
  [
    'data that is none',
    wire => (first(wire).segment.rootElement.elements[0].data.yearly = 'much'),
    'element',
    `${T}[0]/car`,
    /^Field 'yearly' must be a number/,
  ],
  [
    'data that is missing',
    wire => (first(wire).segment.rootElement.elements[0].data = {}),
    'element',
    `${T}[0]/car`,
    /^Field 'yearly' is required/,
  ],
  [
    'a group that is wrong',
    wire => (first(wire).segment.rootElement.elements[0].data.parts[1] = { odd: 1 }),
    'element',
    `${T}[0]/car`,
    /^parts\[1\]: Field 'odd' is not known/,
  ],
  [
    'another root',
    wire => (second(wire).segment.rootElement.id = 'top'),
    'element',
    `${T}[1]/top`,
    /^id must be 'root'/,
  ],
  [
    'a term that ends before it starts',
    wire => (wire.policies[0].terms[0].endTime = BOOK_BEGINS),
    'term',
    'P1/terms[0]',
    /^startTime must be before endTime/,
  ],
  [
    'a time of issue that goes back',
    wire => (second(wire).issuedTime = BOOK_BEGINS - 1),
    'transaction',
    `${T}[1]`,
    /^issuedTime must not be earlier than/,
  ],
  [
    'a segment outside its term',
    wire => (second(wire).segment.startTime = BOOK_BEGINS + 365 * DAY),
    'transaction',
    `${T}[1]`,
    /^segment.startTime must be within its term/,
  ],
  [
    'a cancellation with coverage',
    wire => (second(wire).transactionType = 'wish'),
    'transaction',
    `${T}[1]`,
    /^segment.segmentType must be gap/,
  ],
  [
    'a first transaction that is no issuance',
    wire => (first(wire).transactionType = 'change'),
    'transaction',
    `${T}[0]`,
    /^transactionType must be issuance/,
  ],
  [
    'a type that nobody knows',
    wire => (second(wire).transactionType = 'x'),
    'transaction',
    `${T}[1]`,
    /^transactionType 'x' must be/,
  ],
  [
    'a first segment after the start of the term',
    wire => (first(wire).segment.startTime += 1),
    'transaction',
    `${T}[0]`,
    /^segment.startTime must be the startTime of the term/,
  ],
  [
    'an unknown charge',
    wire => (first(wire).segment.rootElement.elements[0].elements[0].charges[0].chargeType = 'x'),
    'charge',
    `${T}[0]/cov/charges[0]`,
    /^chargeType 'x' must be/,
  ],
  [
    'an item of no installment',
    wire => (first(wire).segment.rootElement.elements[0].elements[0].charges[0] = charge(120, 2)),
    'charge',
    `${T}[0]/cov/charges[0]`,
    /installmentNumber 2 must be the number of an installment/,
  ],
  [
    'an amount of too many places',
    wire => (first(wire).segment.rootElement.elements[0].elements[0].charges[0] = charge(0.001)),
    'charge',
    `${T}[0]/cov/charges[0]`,
    /amount 0.001 must have no more decimal places/,
  ],
  [
    'an amount that is larger than any that is kept',
    wire => (first(wire).segment.rootElement.elements[0].elements[0].charges[0] = charge(9_000_000_000_001)),
    'charge',
    `${T}[0]/cov/charges[0]`,
    /amount 9000000000001 must not exceed 9000000000000.00 EUR/,
  ],
  [
    'a payment that is larger than any that is kept',
    wire => (wire.payments[0].paymentItems[0].amount = '999999999999999'),
    'payment',
    'Y1',
    /^paymentItems\[0\].amount 999999999999999 must not exceed 9000000000000.00 EUR/,
  ],
  [
    'static data under the key that the migration takes itself',
    wire => (wire.policies[0].staticData = { 'migration.origin': 'mine' }),
    'policy',
    'P1',
    /^staticData 'migration.origin' must have another key/,
  ],
  [
    'static data that cannot be stored as it is',
    wire => (wire.policies[0].staticData = { origin: 'old\0' }),
    'policy',
    'P1',
    /^staticData 'origin' must not contain NUL or half of a surrogate pair/,
  ],
  [
    'auxiliary data that cannot be stored as it is',
    wire => (wire.policies[0].auxData = { entries: [{ key: 'a', value: 'half \ud800' }] }),
    'policy',
    'P1',
    /^auxData 'a' must not contain NUL or half of a surrogate pair/,
  ],
  [
    'an installment of an unknown invoice',
    wire => (first(wire).installments[0].invoiceId = 'I9'),
    'installment',
    `${T}[0]/P1-0`,
    /^invoiceId 'I9' must be/,
  ],
  [
    'a settled invoice that is not paid',
    wire => wire.payments.shift(),
    'invoice',
    'I1',
    /^invoiceState settled must have payments and credit of its total 120.00, but it has payments of 0.00/,
  ],
  [
    'an open invoice that is paid',
    wire => (wire.invoices[0].invoiceState = 'open'),
    'invoice',
    'I1',
    /^invoiceState open must/,
  ],
  [
    'a discarded invoice that is paid',
    wire => (wire.invoices[0].invoiceState = 'discarded'),
    'invoice',
    'I1',
    /^invoiceState discarded must have no payments/,
  ],
  [
    'an invoice that is paid too much',
    wire => (wire.payments[0].paymentItems[0].amount = 121),
    'invoice',
    'I1',
    /^payments of 121.00 must not exceed the amount due, 120\.00\. Send the excess as an item without invoiceId/,
  ],
  [
    'an invoice of which more was taken back than paid',
    wire => {
      wire.invoices[0].invoiceState = undefined
      wire.payments[0].paymentItems[0].amount = -5
    },
    'invoice',
    'I1',
    /^payments of -5.00 must have the same sign as the amount due, 120.00/,
  ],
  [
    'an invoice of another currency',
    wire => (wire.invoices[0].currency = 'USD'),
    'invoice',
    'I1',
    /^currency must be EUR/,
  ],
  [
    'a payment of an unknown invoice',
    wire =>
      wire.payments.push({ ...wire.payments[0], id: 'Y9', paymentItems: [{ invoiceId: 'I9', amount: 1 }] }),
    'payment',
    'Y9',
    /invoiceId 'I9' must be/,
  ],
  [
    'a payout above the available credit',
    wire =>
      wire.disbursements.push({
        id: 'D1',
        disbursementTime: BOOK_BEGINS + 20 * DAY,
        sources: [{ amount: 1 }],
      }),
    'disbursement',
    'D1',
    /^sources of 1.00 must not exceed the credit/,
  ],
  [
    'another zone',
    wire => (wire.policies[0].timezone = 'Mars/Base'),
    'policy',
    'P1',
    /^timezone 'Mars\/Base' must be/,
  ],
  [
    'an unknown installment plan',
    wire => (wire.policies[0].preferences = { installmentPreferences: { installmentPlanName: 'x' } }),
    'policy',
    'P1',
    /installmentPlanName 'x' must be a payment schedule/,
  ],
  [
    'a control total that differs',
    wire => (wire.accounting = { originalAccountBalances: { invoiced: 200, paid: 199.99 } }),
    'account',
    'A1',
    /^accounting.originalAccountBalances.paid is 199.99, but the total of the request is 200.00 EUR/,
  ],
]

describe('a migrated account', () => {
  it('becomes a policyholder with policies, bills, payments, and mappings of all ids', () => {
    const {
      account: holder,
      policies,
      auxData,
      totals,
      mappings,
      failures,
    } = converted({
      ...account(),
      accounting: { originalAccountBalances: { invoiced: 200, paid: '200.00', credit: null, disbursed: 0 } },
    })
    expect(failures).toEqual([])
    expect(holder?.entity.values).toEqual({ last_name: ['Even'] })
    expect(toText(totals.invoiced)).toBe('200.00')
    expect(
      policies.map(({ invoices }) => [...invoices.values()].map(one => one.statuses.at(-1)!.status)),
    ).toEqual([['paid', 'paid'], ['paid']])
    expect(auxData.filter(one => one.key === 'origin' || one.key === 'list').map(one => one.value)).toEqual([
      'old',
      '[1,2]',
      'old',
      '[1,2]',
    ])
    expect(mappings.map(one => `${one.kind} ${one.originalId}`)).toEqual([
      'account A1',
      'policies P1',
      'policies P2',
      'invoices I1',
      'invoices I2',
      'invoices I3',
      'payments Y1',
      'payments Y2',
      'payments Y3',
    ])
    const [issuance] = mappings[1]!.children![0]!.children!
    const cover = issuance!.children![0]!.children![0]!.children![0]!
    expect(cover.children!.map(one => one.originalId)).toEqual([
      'charges[0]/installmentItems[0]',
      'charges[1]/installmentItems[0]',
    ])
    expect(issuance!.children!.map(one => one.originalId)).toEqual(['root', 'P1-0'])
    expect(issuance!.children![0]!.children![0]!.children![0]!.originalId).toBe('cov')
  })

  it.each(RULES)('may not have %s', (_, spoil, elementType, locator, error) => {
    const wire = account()
    spoil(wire)
    const all = told(wire)
    expect(all).toContainEqual(
      expect.objectContaining({ elementType, locator, error: expect.stringMatching(error) }),
    )
    // Items that do not depend on the failing one are kept.
    if (elementType === 'account') expect(converted(wire).policies).toEqual([])
    else expect(all.some(one => ['P2', 'I3', 'Y3'].includes(one.originalId))).toBe(false)
  })

  it('gets all errors together, and the items that they block', () => {
    const wire = account()
    first(wire).transactionType = 'x'
    second(wire).segment.rootElement.elements[0].data.yearly = 'much'
    expect(told(wire).map(one => `${one.originalId}: ${one.locator}`)).toEqual([
      'P1: P1/terms[0]/transactions[0]',
      'P1: P1/terms[0]/transactions[1]/car',
      'I1: I1',
      'I2: I2',
      'Y1: Y1',
      'Y2: Y2',
    ])
    expect(
      told(wire)
        .slice(2)
        .map(one => one.error),
    ).toEqual(['blocked by P1', 'blocked by P1', 'blocked by I1', 'blocked by I2'])
  })

  it('keeps payments without an invoice as credit, settles invoices from it, and disburses the rest', () => {
    const wire = account()
    wire.payments[0].paymentItems = [{ amount: 150 }]
    wire.disbursements = [
      { id: 'D1', disbursementTime: BOOK_BEGINS + 20 * DAY, sources: [{ amount: 20 }, { amount: 5 }] },
    ]
    const { totals, policies, disbursements, failures } = converted(wire)
    expect(failures).toEqual([])
    expect(Object.values(totals).map(toText)).toEqual(['200.00', '230.00', '5.00', '25.00'])
    expect(disbursements.map(one => toText(one.amount))).toEqual(['25.00'])
    for (const policy of policies)
      for (const invoice of policy.invoices.values()) expect(restDue(policy, invoice).minor).toBe(0)
  })

  it('gets one invoice per policy for a joint invoice, paid together', () => {
    const wire = account()
    wire.policies[1].terms[0].transactions[0].installments[0].invoiceId = 'I2'
    wire.invoices.pop()
    wire.payments = [
      wire.payments[0],
      { ...wire.payments[1], paymentItems: [{ invoiceId: 'I2', amount: 80 }] },
    ]
    const { policies, failures, mappings } = converted(wire)
    expect(failures).toEqual([])
    expect(mappings.find(one => one.originalId === 'I2')!.children).toHaveLength(1)
    expect(policies.flatMap(one => [...one.payments.values()].map(({ amount }) => toText(amount)))).toEqual([
      '120.00',
      '30.00',
      '50.00',
    ])
  })

  it('has the fully paid share of a joint invoice settled while the rest is open', () => {
    const wire = account()
    wire.policies[1].terms[0].transactions[0].installments[0].invoiceId = 'I2'
    wire.invoices.pop()
    Object.assign(wire.invoices[1], { invoiceState: 'open' })
    wire.payments = [
      wire.payments[0],
      { ...wire.payments[1], paymentItems: [{ invoiceId: 'I2', amount: 35 }] },
    ]
    const { policies, failures } = converted(wire)
    expect(failures).toEqual([])
    expect(
      policies.map(({ invoices }) => [...invoices.values()].map(one => one.statuses.at(-1)!.status)),
    ).toEqual([['paid', 'paid'], ['unfulfilled']])
  })

  it('pays the charge of one policy on a joint invoice with the refund of another', () => {
    const wire = account()
    const [refund] = wire.policies[1].terms[0].transactions
    refund.installments[0].invoiceId = 'I2'
    refund.segment.rootElement = root(-30)
    wire.invoices.pop()
    wire.payments = [wire.payments[0]]
    const { policies, failures, totals } = converted(wire)
    expect(failures).toEqual([])
    for (const policy of policies)
      for (const invoice of policy.invoices.values()) {
        expect(invoice.statuses.at(-1)!.status).toBe('paid')
        expect(restDue(policy, invoice).minor).toBe(0)
      }
    expect(Object.values(totals).map(toText)).toEqual(['120.00', '120.00', '0.00', '0.00'])
  })

  it('is billed by the preferences of the policy, or else by those of the account', () => {
    const scheduleOf = (own: Wire, ofAccount: Wire, more: object = {}) => {
      const wire = account()
      wire.policies[0].preferences = own && { installmentPreferences: own }
      wire.accountData.preferences = ofAccount && { installmentPreferences: ofAccount }
      return converted(wire, more).policies[0]!.policy.paymentScheduleName
    }
    const monthly = { cadence: 'monthly' }
    expect([
      scheduleOf(undefined, undefined),
      scheduleOf(null, monthly),
      scheduleOf({ installmentPlanName: 'inherit', dayOfMonth: null }, monthly),
      scheduleOf(undefined, { installmentPlanName: 'monthly', cadence: 'fullPay' }),
      scheduleOf(undefined, { installmentPlanName: 'of another product', cadence: 'monthly' }),
      scheduleOf({ cadence: 'fullPay' }, { installmentPlanName: 'monthly' }),
      scheduleOf({ installmentPlanName: 'upfront' }, monthly),
      scheduleOf({ cadence: 'weekly' }, monthly),
    ]).toEqual(['upfront', 'monthly', 'monthly', 'monthly', 'monthly', 'upfront', 'upfront', 'upfront'])
  })

  it('is accepted with a warning if a past event has a future time', () => {
    const wire = account()
    const later = NOW + DAY
    Object.assign(wire.invoices[0], { generateTime: later, dueTime: later })
    // In the future, and without a time of generation.
    Object.assign(wire.invoices[2], { startTime: later, endTime: later + DAY, dueTime: later })
    wire.payments[0].paymentTime = later
    wire.payments.push({ id: 'Y4', paymentTime: BOOK_BEGINS, paymentItems: [{ amount: 3 }] })
    wire.disbursements = [{ id: 'D1', disbursementTime: later, sources: [{ amount: 3 }] }]
    second(wire).issuedTime = later
    second(wire).createdAt = later + 1
    const { failures, warnings, policies } = converted(wire)
    expect(failures).toEqual([])
    expect([...policies[1]!.invoices.values()].map(one => one.createdAt)).toEqual([NOW])
    expect(warnings.flatMap(({ locator, errors }) => errors.map(error => `${locator}: ${error}`))).toEqual([
      'I1: generateTime is in the future. Send what is not invoiced yet as an installment without invoiceId.',
      "P1: No plan and no cadence is given; its last term begins with one installment, so the policy is billed by 'upfront' from now on.",
      `${T}[1]: issuedTime is in the future.`,
      `${T}[1]: createdAt is after issuedTime.`,
      "P2: No plan and no cadence is given; its last term begins with one installment, so the policy is billed by 'upfront' from now on.",
      'Y1: paymentTime is in the future.',
      'D1: disbursementTime is in the future.',
    ])
  })

  it('accepts a discarded invoice without charges, and keeps its data', () => {
    const wire = account()
    const invoice = { ...wire.invoices[0], id: 'VOID', invoiceState: 'discarded' }
    wire.invoices.push(invoice)
    const { failures, mappings, policies, auxData } = converted(wire)
    expect(failures).toEqual([])
    const { locator } = mappings.find(({ originalId }) => originalId === 'VOID')!
    expect(policies.flatMap(one => [...one.invoices.keys()])).not.toContain(locator)
    expect(auxData.filter(one => one.locator === locator)).toEqual([
      { locator, key: 'migration.origin', value: expect.stringContaining('"id":"VOID"') },
    ])
    wire.invoices.at(-1)!.invoiceState = 'open'
    expect(converted(wire).failures).toMatchObject([{ kind: 'invoices', originalId: 'VOID' }])
  })

  it('writes off a discarded invoice and does not bill its amount again', () => {
    const wire = account()
    wire.invoices[0].invoiceState = 'discarded'
    wire.payments.shift()
    const { policies, totals, failures } = converted(wire)
    expect(failures).toEqual([])
    expect([...policies[0]!.invoices.values()].map(one => one.statuses.at(-1)!.status)).toEqual([
      'writtenOff',
      'paid',
    ])
    expect(toText(totals.invoiced)).toBe('80.00')
  })
})
