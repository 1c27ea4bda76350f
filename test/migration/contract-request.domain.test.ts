// Migration requests are parsed leniently, as client converters write them (resources brief 9.1).
import { describe, expect, it } from 'vitest'
import {
  AccountMigrationRequest,
  DEEPEST_ELEMENT,
  PaymentMigrationRequest,
} from '../../src/servicing/migration/contract-request.ts'

const element = (depth: number): object => ({
  id: `e${depth}`,
  elementType: 'x',
  ...(depth > 1 && { elements: [element(depth - 1)] }),
})

const withRoot = (rootElement: object) => ({
  accountData: { id: 'A1' },
  policies: [
    {
      id: 'P1',
      productName: 'motor',
      terms: [
        {
          startTime: '2026-01-01',
          endTime: '2027-01-01T00:00:00Z',
          transactions: [
            {
              transactionType: 'issuance',
              issuedTime: 1_767_225_600_000,
              segment: { segmentType: 'coverage', startTime: '2026-01-01', rootElement },
            },
          ],
        },
      ],
    },
  ],
})

describe('a migration request', () => {
  it('may omit lists, plans, preferences and its author', () => {
    const read = AccountMigrationRequest.parse({ accountData: { id: 17 } })
    expect(read).toMatchObject({
      accountData: { id: '17', data: {} },
      policies: [],
      invoices: [],
      payments: [],
      disbursements: [],
    })
  })

  it.each(['A\0', 'A\ud800', '\udc00A'])(
    'cannot have an id that the database would store differently: %j',
    id => {
      const { error } = AccountMigrationRequest.safeParse({ accountData: { id } })
      expect(error?.issues.map(({ path, message }) => [path.join('.'), message])).toEqual([
        ['accountData.id', "'accountData.id' must not contain NUL or half of a surrogate pair."],
      ])
      expect(AccountMigrationRequest.parse({ accountData: { id: 'A\u{1f600}' } }).accountData.id).toBe('A😀')
    },
  )

  it('accepts times as ISO 8601 or milliseconds, and amounts as numbers or text', () => {
    const charges = [
      {
        chargeType: 'premium',
        rate: 33.3333333333,
        installmentItems: [{ amount: '12.5', installmentNumber: 1 }],
      },
    ]
    const read = AccountMigrationRequest.parse(withRoot({ id: 'r', elementType: 'motor', charges }))
    const [term] = read.policies[0]!.terms
    expect(term).toMatchObject({ startTime: 1_767_225_600_000, endTime: 1_798_761_600_000 })
    expect(term!.transactions[0]!.segment!.rootElement!.charges).toEqual([
      {
        chargeType: 'premium',
        rate: '33.3333333',
        installmentItems: [{ amount: '12.5', installmentNumber: 1 }],
      },
    ])
  })

  it.each([
    ['2026-03-10T09:00:00.000+0100', Date.UTC(2026, 2, 10, 8)],
    ['2026-03-10 09:00:00', Date.UTC(2026, 2, 10, 9)],
    ['1773129600000', 1_773_129_600_000],
    [-1, -1],
  ])('accepts the time %s', (paymentTime, expected) => {
    const read = PaymentMigrationRequest.parse({ id: 'M1', paymentTime, paymentItems: [] })
    expect(read.paymentTime).toBe(expected)
  })

  it.each([
    '2026-02-30',
    '2026-02-29T00:00:00Z',
    '2026-06-31T10:00:00+02:00',
    '2026-03-10 (about)',
    '10.3.2026',
    'now',
    1.5,
  ])('rejects the time %s, which does not exist or is malformed', paymentTime => {
    const { error } = PaymentMigrationRequest.safeParse({ id: 'M1', paymentTime, paymentItems: [] })
    expect(error?.issues.map(one => one.message)).toEqual([
      expect.stringMatching(/^'paymentTime' must be a time, such as 2026-11-21T12:00:00Z or milliseconds/),
    ])
  })

  it('accepts elements nested up to the limit, and rejects deeper ones', () => {
    expect(AccountMigrationRequest.safeParse(withRoot(element(DEEPEST_ELEMENT))).success).toBe(true)
    const deeper = AccountMigrationRequest.safeParse(withRoot(element(DEEPEST_ELEMENT + 1)))
    expect(deeper.error?.issues[0]?.path.join('.')).toMatch(
      /^policies\.0\.terms\.0\.transactions\.0\.segment\.rootElement(\.elements\.0){8}$/,
    )
  })
})
