// What events of the newer names say (resources brief 8.1), made of what the row says.

type Row = {
  readonly type: string
  readonly newerType: string | null
  readonly at: number
  readonly data: Readonly<Record<string, string>>
}

type Data = Record<string, unknown>

/** A list that is complete: a row is about one policy at most. */
const policyLocators = ({ policyLocator }: Row['data']): Data => ({
  policyLocators: { listCompleted: true, items: policyLocator === undefined ? [] : [policyLocator] },
})

const transaction =
  (key: string) =>
  ({ data }: Row): Data => ({ policyLocator: data.policyLocator, transactionLocator: data[key] })

const quote = ({ data }: Row): Data => ({
  quoteLocator: data.quoteLocator,
  ...(data.decision !== undefined && { underwritingStatus: data.decision }),
})

/** By the beginning of the newer name; the first that fits. */
const SHAPES: readonly (readonly [beginning: string, shape: (row: Row) => Data])[] = [
  ['policy.account.', ({ data }) => ({ accountLocator: data.policyholderLocator })],
  ['policy.quote.', quote],
  ['policy.change.', transaction('endorsementLocator')],
  ['policy.renewal.', transaction('renewalLocator')],
  ['policy.cancellation.', transaction('cancellationLocator')],
  ['policy.reinstatement.', transaction('reinstatementLocator')],
  [
    'policy.status.update',
    ({ type, data }) => ({
      policyLocator: data.policyLocator,
      newStatuses: [type === 'policy.end' ? 'expired' : 'cancelled'],
      removedStatuses: ['onRisk'],
    }),
  ],
  [
    'billing.invoice.',
    ({ at, data }) => ({
      invoiceLocator: data.invoiceLocator,
      accountLocator: data.policyholderLocator,
      invoiceType: 'normal',
      ...policyLocators(data),
      generateTime: new Date(at).toISOString(),
    }),
  ],
  ['billing.payment.', ({ data }) => ({ paymentLocator: data.paymentLocator, ...policyLocators(data) })],
  [
    'billing.delinquency.',
    ({ data }) => ({ delinquencyLocator: data.gracePeriodLocator, ...policyLocators(data) }),
  ],
]

/**
 * The data of the row for the events interface: what its newer name says, beside what the row says itself; where both
 * have a property (an invoice's `invoiceType`), that of the newer name.
 */
export function interfaceData(row: Row): Data {
  const name = row.newerType ?? row.type
  const shape = SHAPES.find(([beginning]) => name.startsWith(beginning))?.[1]
  return { ...row.data, ...shape?.(row) }
}
