// Responses for a policy that is migrated again, reduced to what a migration request can express, in a form that is equal for
// equal policies.
import { checkedInvoices } from '../../src/billing/payments.ts'
import { memoByObject } from '../../src/kernel/maps.ts'
import type {
  CheckInvoicesResponse,
  PolicyInvoiceResponse,
  PolicyPriceResponse,
} from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { isIssued } from '../../src/policy/fold/line.ts'
import { policyResponse, policyView } from '../../src/policy/projection/policy.ts'
import { boundQuote, type PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import type { ProductDefinition } from '../../src/product/configuration.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { comparable } from './comparable.ts'

export type PolicyResponses = {
  policy: PolicyResponse
  bills: CheckInvoicesResponse
  price: PolicyPriceResponse
}

const wire = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

const answers = memoByObject((aggregate: PolicyAggregate) =>
  memoByObject(
    (product: ProductDefinition): PolicyResponses => ({
      policy: wire(policyResponse(aggregate, product, { summarizeQuotes: false })),
      bills: wire(checkedInvoices(aggregate)),
      price: wire(policyPriceResponse(policyView(aggregate, boundQuote(aggregate), product, isIssued))),
    }),
  ),
)

/** Memoized, because it is called at each step of a book, and most steps leave a policy unchanged. */
export const answersOf = (aggregate: PolicyAggregate, product: ProductDefinition): PolicyResponses =>
  answers(aggregate)(product)

/** The policy without underwriting results, descriptions of fees, invalidated invoices and reversed payments. */
export const comparablePolicy = ({ policy }: Pick<PolicyResponses, 'policy'>): unknown =>
  comparable({
    ...policy,
    fees: policy.fees.map(fee => ({ ...fee, description: undefined })),
    invoices: policy.invoices.filter(one => one.settlementType !== 'invalidated').map(comparableInvoice),
    modifications: policy.modifications.map(modification => ({
      ...modification,
      automatedUnderwritingResult: undefined,
    })),
  })

/** Joins all amounts of an invoice that came from credit or a refund into one, and leaves out reversed payments. */
function comparableInvoice({ statuses, payments, ...invoice }: PolicyInvoiceResponse) {
  const standing = payments.filter(payment => payment.reversedTimestamp === undefined)
  const cents = standing
    .filter(one => one.source !== 'received')
    .reduce((sum, { amount }) => sum + Math.round(amount * 100), 0)
  return {
    ...invoice,
    // States between the first and the last, due to reversed payments, cannot be expressed.
    statuses: [...new Set([statuses[0], statuses.at(-1)].map(one => one!.status))],
    payments: standing.filter(one => one.source === 'received'),
    fromCredit: cents / 100,
  }
}

export const comparablePrice = ({ price }: Pick<PolicyResponses, 'price'>): unknown =>
  comparable({ ...price, fees: price.fees.map(fee => ({ ...fee, description: undefined })) })

/**
 * Billed and planned amounts by what they are for. Charges for the same thing are summed, because how a plan distributes them is
 * up to the plan.
 */
export function comparableBilling({ policy, bills }: Pick<PolicyResponses, 'policy' | 'bills'>): unknown {
  const places = new Map(
    policy.exposures.flatMap((exposure, at) =>
      exposure.perils.flatMap((peril, index) =>
        peril.characteristics.map(one => [one.locator, `${at}.${index}`] as const),
      ),
    ),
  )
  const sums = (items: CheckInvoicesResponse['invoices'][number]['financialTransactions']) => {
    const all: Record<string, number> = {}
    for (const one of items) {
      const kind = one.feeName ?? one.taxName ?? one.commissionRecipient ?? 'premium'
      const key = `${places.get(one.perilCharacteristicsLocator ?? '') ?? ''} ${kind}`
      all[key] = (all[key] ?? 0) + Math.round(one.amount * 100)
    }
    return Object.entries(all)
      .filter(([, minor]) => minor !== 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
  }
  return {
    invoices: bills.invoices
      .filter(one => one.settlementType !== 'invalidated')
      .map(one => sums(one.financialTransactions)),
    // An installment of a request has no end: its period ends where the next one begins. Installments that are due at the same
    // time are one invoice.
    planned: [
      ...Map.groupBy(bills.futureInvoices, one => `${one.issueTimestamp} ${one.dueTimestamp}`).values(),
    ].map(list => ({
      ...list[0]!,
      endTimestamp: undefined,
      financialTransactions: undefined,
      items: sums(list.flatMap(one => one.financialTransactions)),
    })),
  }
}
