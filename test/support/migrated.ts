// A motor policy as another system states it, for a migration.
import type { WorkedPolicy } from './worked.ts'

type Values = Readonly<Record<string, unknown>>

// Read here, because `process` tests also use this module and have no service in their runtime.
const WORKED = import.meta.glob('../../examples/motor/worked.json', {
  import: 'default',
  eager: true,
}) as Record<string, WorkedPolicy[]>
const { policyholder, policy } = Object.values(WORKED)[0]![0]!.request
const [vehicle] = policy.exposures as { fieldValues: Values }[]

/** Premium, tax and fee of the first transaction by installment: 60.42 + 11.48 + 12.50, then 60.42 + 11.48. */
const halves = (amount: number) => [
  { id: `${amount}-1`, amount, installmentNumber: 1 },
  { id: `${amount}-2`, amount, installmentNumber: 2 },
]

const rootElement = (fee: object[], premium: object[], tax: object[], vehicleValues: Values = {}) => ({
  id: 'root',
  elementType: 'private_motor',
  data: {
    ...policy.fieldValues,
    named_drivers: [{ full_name: 'Greta Lindner', birth_date: '1985-06-15', licence_withdrawn: 'no' }],
  },
  charges: fee.length > 0 ? [{ chargeType: 'policy_fee', installmentItems: fee }] : [],
  elements: [
    {
      id: 'veh-1',
      elementType: 'vehicle',
      data: { ...vehicle!.fieldValues, ...vehicleValues },
      elements: [
        {
          id: 'lia-1',
          elementType: 'liability',
          charges: [
            { chargeType: 'premium', rate: 120.84 / 12, installmentItems: premium },
            { chargeType: 'insurance_tax', installmentItems: tax },
          ].filter(({ installmentItems }) => installmentItems.length > 0),
        },
      ],
    },
  ],
})

/**
 * A term from March 2026 in Berlin, in two installments. The first is invoiced, the second is planned for 2035, so that it stays
 * planned.
 */
export const migratedPolicy = (id: string, invoiceId: string, changes: object = {}) => ({
  id,
  productName: 'private_motor',
  durationBasis: 'months',
  staticData: { legacyNumber: `L-${id}` },
  terms: [
    {
      startTime: '2026-03-01T00:00:00+01:00',
      endTime: '2036-03-01T00:00:00+01:00',
      transactions: [
        {
          transactionType: 'issuance',
          issuedTime: '2026-02-20T10:00:00+01:00',
          segment: {
            segmentType: 'coverage',
            startTime: '2026-03-01T00:00:00+01:00',
            rootElement: rootElement(
              [{ id: 'fee-1', amount: 12.5, installmentNumber: 1 }],
              halves(60.42),
              halves(11.48),
            ),
          },
          installments: [
            {
              id: 'inst-1',
              startTime: '2026-03-01T00:00:00+01:00',
              dueTime: '2026-03-15T00:00:00+01:00',
              generateTime: '2026-03-01T00:00:00+01:00',
              invoiceId,
            },
            {
              id: 'inst-2',
              startTime: '2026-09-01T00:00:00+02:00',
              dueTime: '2035-01-15T00:00:00+01:00',
              generateTime: '2035-01-01T00:00:00+01:00',
            },
          ],
        },
      ],
    },
  ],
  ...changes,
})

export const migratedInvoice = (id: string, changes: object = {}) => ({
  id,
  startTime: '2026-03-01T00:00:00+01:00',
  endTime: '2026-09-01T00:00:00+02:00',
  dueTime: '2026-03-15T00:00:00+01:00',
  generateTime: '2026-03-01T00:00:00+01:00',
  ...changes,
})

export const migratedPayment = (id: string, items: readonly object[]) => ({
  id,
  paymentTime: '2026-03-10T09:00:00+01:00',
  paymentType: 'transfer',
  data: { method: 'bank_transfer' },
  paymentItems: items,
})

/** An account that is fully paid, with 20.00 of credit left and 5.00 paid out. */
export const migratedAccount = (id: string, changes: object = {}) => ({
  accountData: { id, data: policyholder.values },
  policies: [migratedPolicy('P1', 'I1')],
  invoices: [migratedInvoice('I1', { invoiceState: 'settled' })],
  payments: [
    migratedPayment('M1', [{ amount: 84.4, invoiceId: 'I1' }]),
    migratedPayment('M2', [{ amount: 25 }]),
  ],
  disbursements: [
    {
      id: 'D1',
      disbursementTime: '2026-05-01T00:00:00+02:00',
      disbursementType: 'refund',
      sources: [{ amount: 5 }],
    },
  ],
  accounting: { originalAccountBalances: { invoiced: 84.4, paid: 109.4, credit: 20, disbursed: 5 } },
  ...changes,
})
