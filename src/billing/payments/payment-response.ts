import { dataOfPayment } from '../../media/medium.ts'
import { mediaByLocator } from '../../media/projection.ts'
import { toNumber } from '../../platform/money.ts'
import type { PolicyAggregate } from '../../policies/aggregate.ts'
import { textIfAny } from '../../policies/projection/parts.ts'
import type { PaymentResponse } from '../contract.ts'
import type { Payment } from './payment.ts'

/** A payment as answers carry it (brief 4.1). */
export const paymentResponse = (
  { media }: Pick<PolicyAggregate, 'media'>,
  { amount, credited, ...payment }: Payment,
): PaymentResponse => ({
  locator: payment.locator,
  displayId: String(payment.displayId),
  invoiceLocator: payment.invoiceLocator,
  postedTimestamp: String(payment.postedAt),
  reversedTimestamp: textIfAny(payment.reversedAt),
  amount: toNumber(amount),
  amountCurrency: amount.currency,
  source: payment.source,
  offsetInvoiceLocator: payment.offsetInvoiceLocator,
  ...(credited.minor > 0 && {
    creditedAmount: toNumber(credited),
    creditedAmountCurrency: credited.currency,
  }),
  fieldValues: payment.fieldValues,
  mediaByLocator: mediaByLocator(dataOfPayment(payment), media),
})
