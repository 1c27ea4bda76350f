// Properties that an export needs beyond the contract: coverages charged again, holdbacks, payments from credit, and write-offs
// of rests.
import { describe, expect, it } from 'vitest'
import { toText } from '../../src/kernel/money.ts'
import { isIssued } from '../../src/policy/fold/line.ts'
import { policyView } from '../../src/policy/projection/policy.ts'
import { boundQuote } from '../../src/policy/records/aggregate.ts'
import { invoiceStatus } from '../../src/policy/records/invoice.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { AccountMigrationRequest } from '../../src/servicing/migration/contract-request.ts'
import { creditOf } from '../../src/transactions/payments/credit.ts'
import { BOOK_BEGINS, converted, DAY, plainConfiguration, plainElement, type Wire } from './made-book.ts'

const YEAR = 365 * DAY

type Change = {
  readonly at: number
  readonly type?: string
  readonly cover: object
  readonly isGap?: boolean
}

/** A year for 120 with the given changes, all on one invoice. */
function account(changes: readonly Change[], money: object = {}): Wire {
  const all: Change[] = [{ at: 0, cover: { charges: [premium(120)] } }, ...changes]
  return {
    accountData: { id: 'A1', data: { last_name: 'Even' } },
    policies: [
      {
        id: 'P1',
        productName: 'plain',
        terms: [
          {
            startTime: BOOK_BEGINS,
            endTime: BOOK_BEGINS + YEAR,
            transactions: all.map(({ at, type, cover, isGap }, index) => ({
              transactionType: type ?? (index === 0 ? 'issuance' : 'change'),
              issuedTime: BOOK_BEGINS + index * 1_000,
              segment: {
                segmentType: isGap ? 'gap' : 'coverage',
                startTime: BOOK_BEGINS + at * DAY,
                rootElement: plainElement(cover, isGap ? {} : { yearly: 100 }),
              },
              installments: [
                {
                  id: `${index}`,
                  startTime: BOOK_BEGINS,
                  dueTime: BOOK_BEGINS + 14 * DAY,
                  generateTime: BOOK_BEGINS,
                  invoiceId: 'I1',
                },
              ],
            })),
          },
        ],
      },
    ],
    invoices: [
      {
        id: 'I1',
        startTime: BOOK_BEGINS,
        endTime: BOOK_BEGINS + YEAR,
        dueTime: BOOK_BEGINS + 14 * DAY,
        generateTime: BOOK_BEGINS,
        invoiceState: 'open',
      },
    ],
    ...money,
  }
}

const premium = (amount: number) => ({
  chargeType: 'premium',
  installmentItems: [{ amount, installmentNumber: 1 }],
})
const holdback = (amount: number, tag?: string) => ({ ...premium(amount), chargeType: 'holdback', tag })

const invoice = (more: object) => ({ invoices: [{ ...account([]).invoices[0], ...more }] })
const payment = (id: string, items: object[], more: object = {}) => ({
  id,
  paymentTime: BOOK_BEGINS + 20 * DAY,
  paymentItems: items,
  data: {},
  ...more,
})
const inPart = (amount: number) => ({ amount, invoiceId: 'I1' })

function migrated(wire: Wire) {
  const { policies, failures } = converted(wire)
  expect(failures).toEqual([])
  const [policy] = policies
  const product = plainConfiguration.products.plain!
  const view = policyView(policy!, boundQuote(policy!), product, isIssued)
  return { policy: policy!, price: policyPriceResponse(view) }
}

/** The text of all errors. */
function problems(wire: Wire): string {
  const { error } = AccountMigrationRequest.safeParse(wire)
  return error ? error.message : JSON.stringify(converted(wire).failures)
}

describe('a coverage with chargedAnew', () => {
  it('costs the former price until the change, and the new charges from then on', () => {
    const { price } = migrated(account([{ at: 73, cover: { chargedAnew: true, charges: [premium(48)] } }]))
    // Otherwise 48 would be added to the 96 that remain of the year.
    expect(price.grossPremium).toBe(168)
    const [piece] = price.exposurePrices.flatMap(one => one.perilPrices)
    expect(piece!.premium).toBe(168)
  })

  it.each([1, 'yes', {}])('cannot have the value %j', value => {
    expect(problems(account([{ at: 73, cover: { chargedAnew: value, charges: [] } }]))).toContain(
      'chargedAnew',
    )
  })
})

describe('a holdback', () => {
  it('of a coverage that ends is kept in addition to the price of the elapsed time', () => {
    const ends = { charges: [premium(-96), holdback(10)] }
    const { price } = migrated(account([{ at: 73, type: 'cancellation', cover: ends, isGap: true }]))
    expect([price.grossPremium, price.holdbacks.map(one => one.amount), price.total]).toEqual([24, [10], 34])
  })

  it('of a coverage that continues is rejected', () => {
    expect(problems(account([{ at: 73, cover: { charges: [holdback(10)] } }]))).toContain(
      "chargeType 'holdback' must be on a coverage that ends",
    )
  })
})

describe('a payment from credit', () => {
  it('uses what another payment left, and does not count as money received', () => {
    const payments = [
      payment('R1', [{ amount: 50 }]),
      payment('C1', [inPart(30)], { source: 'credit', paymentTime: BOOK_BEGINS + 21 * DAY }),
    ]
    const totals = { invoiced: '120', paid: '50', credit: '20', disbursed: '0' }
    const accounting = { originalAccountBalances: totals }
    const { policy } = migrated({ ...account([], { payments, accounting }) })
    const made = [...policy.payments.values()].map(one => [one.source, toText(one.amount)])
    expect(made).toContainEqual(['credit', '30.00'])
    expect([...policy.payments.values()].reduce((sum, one) => sum + creditOf(one).minor, 0)).toBe(2_000)
  })

  it.each([
    [[payment('C1', [inPart(30)], { source: 'credit' })], 'must not take more than the account has left'],
    [
      [payment('R1', [{ amount: 50 }]), payment('C1', [{ amount: 5 }], { source: 'credit' })],
      'must have invoiceId',
    ],
    [[payment('C1', [inPart(30)], { source: 'thin air' })], 'source'],
  ])(
    'is rejected without enough credit, without an invoice, and with an unknown source (%#)',
    (payments, sentence) => {
      expect(problems(account([], { payments }))).toContain(sentence)
    },
  )
})

describe('the unpaid rest of an invoice', () => {
  const payments = [payment('R1', [inPart(70)])]

  it('is written off with restGivenUp, and is owed otherwise', () => {
    const stateOf = (more: object) =>
      [...migrated(account([], { ...invoice(more), payments })).policy.invoices.values()].map(invoiceStatus)
    expect(stateOf({ restGivenUp: true })).toEqual(['writtenOff'])
    expect(stateOf({})).toEqual(['unfulfilled'])
  })

  it('is written off only by the value true', () => {
    expect(problems(account([], { ...invoice({ restGivenUp: 'all' }), payments }))).toContain('restGivenUp')
  })
})

describe('a lookup field of a migrated policy', () => {
  const { plain } = plainConfiguration.products
  const port = { ...plain!.fields[0]!, name: 'port', type: 'lookup' as const, optional: true, table: 'ports' }
  const ports = { path: 'ports.csv', columns: ['port'], rows: [['Kiel']] }
  const configuration = {
    ...plainConfiguration,
    tables: { ports },
    products: { plain: { ...plain!, fields: [...plain!.fields, port] } },
  }
  const failuresOf = (value: string) => {
    const wire = account([])
    wire.policies[0].terms[0].transactions[0].segment.rootElement.data = { port: value }
    return JSON.stringify(converted(wire, { configuration }).failures)
  }

  it('accepts exactly the values of its table, even if its product does not have that table', () => {
    expect(failuresOf('Kiel')).toBe('[]')
    expect(failuresOf('Oslo')).toContain("'port' must be exactly one of 'Kiel'")
  })
})
