// Invoices and payments as kinds of operations.
import { decideInvoicing, decideNextInvoice } from '../../billing/billing.ts'
import { invoiceResponse } from '../../billing/payments.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { paymentResponse } from '../../policy/projection/records.ts'
import { paymentOf } from '../../policy/records/invoice.ts'
import { defineKind, type Response, showNothing } from '../mechanism/kind.ts'
import { decidePayment, type PaymentOperation } from './decision.ts'

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    payment: { operation: PaymentOperation }
    /** The earliest planned invoice, before its time. */
    nextInvoice: object
    /** From the clock: invoices whose time has come. */
    invoice: object
  }
}

const showPayment =
  (locator: Uuid): Response =>
  ({ aggregate }) =>
    paymentResponse(aggregate, paymentOf(aggregate, locator))

const showInvoice =
  (locator: Uuid): Response =>
  ({ aggregate }) =>
    invoiceResponse(aggregate, locator)

const payment = defineKind<'payment'>({
  name: 'payment',
  record: ({ operation }) =>
    operation.action === 'pay' ? showInvoice(operation.invoice) : showPayment(operation.payment),
  async decide(loaded, { operation }, { attempt }) {
    const { planned, payment } = await decidePayment(loaded, operation, attempt)
    return { planned, response: showPayment(payment), subject: payment }
  },
})

const nextInvoice = defineKind<'nextInvoice'>({
  name: 'nextInvoice',
  async decide(loaded, _, { attempt }) {
    const { planned, invoice } = await decideNextInvoice(loaded, attempt)
    return { planned, response: showInvoice(invoice), subject: invoice }
  },
})

const invoicing = defineKind<'invoice'>({
  name: 'invoice',
  async decide(loaded, _, { attempt }) {
    const planned = await decideInvoicing(loaded, attempt)
    return planned && { planned, response: showNothing }
  },
})

export const billingKinds = [payment, nextInvoice, invoicing]
