// Events of new business: flat maps of text (brief 9).
import { type Money, toText } from '../kernel/money.ts'
import type { EventType } from '../platform/events/catalogue.ts'
import type { NewEvent } from '../platform/events/outbox.ts'
import type { CustomEventType } from '../platform/events/types.ts'
import { type PolicyAggregate, type Quote, selectedQuoteIfAny } from './records/aggregate.ts'
import { type Invoice, invoiceStatus } from './records/invoice.ts'

/** An event of the policy; `data` is added to the properties of every policy event. */
export function policyEvent(
  { policy }: PolicyAggregate,
  type: EventType | CustomEventType,
  data: Record<string, string> = {},
): NewEvent {
  return {
    type,
    policyholderLocator: policy.policyholderLocator,
    policyLocator: policy.locator,
    data: {
      policyLocator: String(policy.locator),
      policyholderLocator: policy.policyholderLocator,
      productName: policy.productName,
      ...data,
    },
  }
}

/** Further properties of events of the policy itself (brief 9). */
export function versioned(aggregate: PolicyAggregate): Record<string, string> {
  const quote = selectedQuoteIfAny(aggregate)
  return {
    configVersion: String(aggregate.policy.configVersion),
    ...(quote && { quoteLocator: String(quote.locator) }),
  }
}

export const quoteEvent = (
  aggregate: PolicyAggregate,
  quote: Quote,
  type: EventType,
  data: Record<string, string> = {},
): NewEvent =>
  policyEvent(aggregate, type, { quoteLocator: String(quote.locator), quoteName: quote.name, ...data })

/** An event of one of the policy's invoices. */
export const invoiceEvent = (
  aggregate: PolicyAggregate,
  type: EventType,
  invoice: Invoice,
  totalDue: Money,
): NewEvent =>
  policyEvent(aggregate, type, {
    invoiceLocator: invoice.locator,
    totalDue: toText(totalDue),
    currency: totalDue.currency,
    dueTimestamp: String(invoice.dueAt),
    invoiceType: invoice.type,
  })

/** The events of a new invoice: its own with the legacy alias (brief 9), and the write-off where its plan says so. */
export const invoiceEvents = (aggregate: PolicyAggregate, invoice: Invoice, totalDue: Money): NewEvent[] => [
  invoiceEvent(aggregate, 'invoice.issue', invoice, totalDue),
  policyEvent(aggregate, 'policy.invoice', { invoiceLocator: invoice.locator }),
  ...(invoiceStatus(invoice) === 'writtenOff'
    ? [invoiceEvent(aggregate, 'invoice.writtenOff', invoice, totalDue)]
    : []),
]
