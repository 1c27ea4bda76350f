// Converts a policyholder, as read from responses of the live service, into an account of another system. Everything that the
// live interface writes can then be migrated and compared with the original.

import type { DisbursementResponse } from '../../src/billing/credit/contract.ts'
import type {
  CheckInvoicesResponse,
  PolicyInvoiceResponse,
  PolicyPriceResponse,
} from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { historicBills, termsWithHistory } from '../../src/reporting/export/account/history.ts'
import { NotExpressible } from '../../src/reporting/export/account/words.ts'

export type LiveBook = {
  readonly id: string
  /** Values of the policyholder's entity. */
  readonly values: unknown
  readonly policies: readonly {
    readonly policy: PolicyResponse
    readonly bills: CheckInvoicesResponse
    readonly price: Pick<PolicyPriceResponse, 'exposurePrices'>
    readonly auxData: Readonly<Record<string, string>>
  }[]
  readonly disbursements: readonly Pick<
    DisbursementResponse,
    'locator' | 'disbursementTimestamp' | 'disbursementType' | 'data' | 'amount'
  >[]
}

/** Throws `Untellable` if a migration request cannot express something. */
export function accountFromResponses({ id, values, policies, disbursements }: LiveBook) {
  const invoices = policies
    .flatMap(({ bills }) => bills.invoices)
    .filter(one => one.settlementType !== 'invalidated')
  return {
    accountData: { id, data: values },
    policies: policies.map(({ policy, bills, price, auxData }) => ({
      id: policy.locator,
      productName: policy.productName,
      durationBasis: 'months',
      createdAt: Number(policy.createdTimestamp),
      preferences: { installmentPreferences: { installmentPlanName: policy.paymentScheduleName } },
      staticData: auxData,
      terms: termsWithHistory(policy, historicBills(bills), taxesOf(price)),
    })),
    invoices: invoices.map(invoice => ({
      id: invoice.locator,
      startTime: Number(invoice.startTimestamp),
      endTime: Number(invoice.endTimestamp),
      dueTime: Number(invoice.dueTimestamp),
      generateTime: Number(invoice.createdTimestamp),
      invoiceState:
        invoice.settlementType === 'writtenOff'
          ? 'discarded'
          : invoice.settlementStatus === 'settled'
            ? 'settled'
            : 'open',
    })),
    payments: invoices.flatMap(paymentsToMigrate),
    disbursements: disbursements.map(disbursement => ({
      id: disbursement.locator,
      disbursementTime: Number(disbursement.disbursementTimestamp),
      disbursementType: disbursement.disbursementType,
      data: disbursement.data,
      sources: [{ amount: disbursement.amount }],
    })),
  }
}

const taxesOf = ({ exposurePrices }: Pick<PolicyPriceResponse, 'exposurePrices'>) =>
  new Map(
    exposurePrices
      .flatMap(price => price.perilPrices)
      .map(({ locator, taxGroups }) => [locator, taxGroups.map(tax => tax.name)] as const),
  )

/**
 * Leaves out reversed payments. What a paid invoice took from credit, or a refund settled, follows from the rest. Throws for a
 * partly paid invoice to which credit or a refund contributed, and for an invoice that was paid in part and written off.
 */
function paymentsToMigrate({ settlementType, payments }: PolicyInvoiceResponse) {
  const standing = payments.filter(one => one.reversedTimestamp === undefined)
  if (settlementType !== 'paid' && standing.some(one => one.source !== 'received'))
    throw new NotExpressible('a part of an invoice paid from credit or by a refund')
  if (settlementType === 'writtenOff' && standing.length > 0)
    throw new NotExpressible('an invoice that was paid in part and given up')
  return standing
    .filter(one => one.source === 'received')
    .map(({ amount, creditedAmount = 0, ...payment }) => ({
      id: payment.locator,
      paymentTime: Number(payment.postedTimestamp),
      data: payment.fieldValues,
      paymentItems: [
        {
          amount: (Math.round(amount * 100) - Math.round(creditedAmount * 100)) / 100,
          invoiceId: payment.invoiceLocator,
        },
        ...(creditedAmount > 0 ? [{ amount: creditedAmount }] : []),
      ],
    }))
}
