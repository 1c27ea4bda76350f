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

/** By the beginning of the newer name. What they are for the wire is in catalogue/newer-contracts.ts. */
const SHAPES = {
  'policy.account.': ({ data }) => ({ accountLocator: data.policyholderLocator }),
  'policy.quote.': quote,
  'policy.change.': transaction('endorsementLocator'),
  'policy.renewal.': transaction('renewalLocator'),
  'policy.cancellation.': transaction('cancellationLocator'),
  'policy.reinstatement.': transaction('reinstatementLocator'),
  'policy.status.': ({ type, data }) => ({
    policyLocator: data.policyLocator,
    newStatuses: [type === 'policy.end' ? 'expired' : 'cancelled'],
    removedStatuses: ['onRisk'],
  }),
  'billing.invoice.': ({ at, data }) => ({
    invoiceLocator: data.invoiceLocator,
    accountLocator: data.policyholderLocator,
    invoiceType: 'normal',
    ...policyLocators(data),
    generateTime: new Date(at).toISOString(),
  }),
  'billing.payment.': ({ data }) => ({ paymentLocator: data.paymentLocator, ...policyLocators(data) }),
  'billing.delinquency.': ({ data }) => ({
    delinquencyLocator: data.gracePeriodLocator,
    ...policyLocators(data),
  }),
} as const satisfies Record<string, (row: Row) => Data>

/** The beginning of newer names whose data is alike. */
export type NewerFamily = keyof typeof SHAPES

const families = Object.keys(SHAPES) as NewerFamily[]

/** The family of a name; undefined for one that says no more than the row does. */
export const newerFamily = (name: string): NewerFamily | undefined =>
  families.find(beginning => name.startsWith(beginning))

/**
 * The data of the row for the events interface: what its newer name says, beside what the row says itself; where both
 * have a property (an invoice's `invoiceType`), that of the newer name.
 */
export function interfaceData(row: Row): Data {
  const family = newerFamily(row.newerType ?? row.type)
  return { ...row.data, ...(family && SHAPES[family](row)) }
}
