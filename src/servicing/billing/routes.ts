import { z } from '@hono/zod-openapi'
import { DisbursementListResponse, DisbursementsQuery } from '../../billing/credit/contract.ts'
import { disbursementsOf } from '../../billing/credit/service.ts'
import { withoutFileNames } from '../../platform/http/file-links.ts'
import { forTenant, jsonText, type Route } from '../../platform/http/route.ts'
import * as contract from '../../policy/contract/billing.ts'
import * as billing from './service.ts'

const { get, post } = forTenant('Invoices')
const invoice = { schema: contract.PolicyInvoiceResponse, description: 'The invoice.' }
const payment = { schema: contract.PaymentResponse, description: 'The payment.' }

export const billingRoutes: readonly Route[] = [
  get('/invoice/{invoiceLocator}', {
    summary: 'Get an invoice',
    permission: 'invoices.read',
    answer: invoice,
    handle: ({ params }, context) => billing.readInvoice(context, params.invoiceLocator),
  }),
  post('/invoice/{invoiceLocator}/pay', {
    summary: 'Pay an invoice',
    description:
      'Pays the full amount unless `amount` is given. With a smaller amount, the invoice stays outstanding with the payment; the excess of a larger amount becomes a credit of the policyholder. To pay the invoice of a refund, send a negative amount, up to what was paid for the policy and not yet paid out or credited; without an amount, the rest is written off. If nothing can be paid out, the request is rejected (409), and the refund is written off. `fieldValues` are checked against `payment/payment.json`, including its required fields.',
    permission: 'invoices.pay',
    body: { schema: contract.PaymentCreateRequest, required: false },
    answer: payment,
    handle: ({ params, body }, context) =>
      billing.payInvoice(context, params.invoiceLocator, body ?? contract.PaymentCreateRequest.parse({})),
  }),
  get('/invoice/{invoiceLocator}/financialTransactions', {
    summary: 'List the items of an invoice',
    description:
      'Also lists commissions, which are not part of any total. If there are more than 10,000 items, those of the same type and name are summed.',
    permission: ['transactions.read', 'invoices.read'],
    answer: { schema: contract.GetInvoiceFinancialTransactionsResponse, description: 'The items.' },
    handle: ({ params }, context) => billing.readInvoiceItems(context, params.invoiceLocator),
  }),
  get('/payments/{paymentLocator}', {
    summary: 'Get a payment',
    permission: 'payments.read',
    answer: payment,
    handle: ({ params }, context) => billing.readPayment(context, params.paymentLocator),
  }),
  post('/payments/{paymentLocator}/reverse', {
    summary: 'Reverse a payment',
    description:
      'Its invoice is outstanding again. If the due time of a paid invoice has passed, the new due time is the end of today. 409 for an offset, which is reversed only together with its cause.',
    permission: 'payments.reverse',
    answer: payment,
    handle: ({ params }, context) => billing.reversePayment(context, params.paymentLocator),
  }),
  get('/policyholder/{policyholderLocator}/invoices', {
    summary: 'List invoices of all policies of a policyholder, oldest first',
    permission: 'invoices.list',
    answer: {
      schema: z.array(contract.PolicyInvoiceResponse),
      description: 'All invoices, including void ones.',
    },
    handle: ({ params }, context) => billing.invoicesOfHolder(context, params.policyholderLocator),
  }),
  get('/policyholder/{policyholderLocator}/credits', {
    summary: 'Read the credit of a policyholder and its movements',
    description:
      'A payment of more than the amount due of its invoice leaves a credit. New invoices of any policy of the policyholder are paid from it; `pay` with `source=credit` uses it for an existing invoice.',
    permission: ['payments.list', 'payments.read'],
    query: contract.PolicyholderCreditsQuery,
    answer: {
      schema: contract.PolicyholderCreditsResponse,
      description: 'The credit, and a page of its movements.',
    },
    handle: ({ params, query }, context) => billing.creditsOf(context, params.policyholderLocator, query),
  }),
  get('/policyholder/{policyholderLocator}/disbursements', {
    summary: 'List disbursements of the credit of a policyholder, oldest first',
    permission: ['payments.list', 'payments.read'],
    query: DisbursementsQuery,
    answer: { schema: DisbursementListResponse, description: 'A page of disbursements.' },
    handle: async ({ params, query }, context) => {
      const page = await disbursementsOf(context, params.policyholderLocator, query)
      // Migrations name the properties of its data.
      return jsonText({ status: 200, text: withoutFileNames(JSON.stringify(page)) }, page)
    },
  }),
  get('/policy/{policyLocator}/checkInvoices', {
    summary: 'List all invoices of a policy with their items, and the planned ones',
    permission: ['invoices.list', 'invoices.read'],
    answer: { schema: contract.CheckInvoicesResponse, description: 'The existing and the planned invoices.' },
    handle: ({ params }, context) => billing.checkInvoices(context, params.policyLocator),
  }),
  post('/policy/{policyLocator}/issueNextInvoice', {
    summary: 'Generate the earliest planned invoice now',
    description: 'It is due when it was planned to be due. Responds with 409 if none is planned.',
    permission: 'invoices.issue',
    answer: invoice,
    handle: ({ params }, context) => billing.issueNextInvoice(context, params.policyLocator),
  }),
]
