import { toNumber } from '../../kernel/money.ts'
import type { PaymentResponse } from '../../policy/contract/billing.ts'
import { mediaByLocator } from '../../policy/projection/media.ts'
import { textIfAny } from '../../policy/projection/parts.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { dataOfPayment } from '../../policy/records/medium.ts'
import type { Payment } from '../../policy/records/payment.ts'

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
