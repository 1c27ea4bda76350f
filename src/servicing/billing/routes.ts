import { z } from '@hono/zod-openapi'
import { DisbursementListResponse, DisbursementsQuery } from '../../billing/credit/contract.ts'
import { disbursementsOf } from '../../billing/credit/service.ts'
import { forTenant, type Route } from '../../platform/http/route.ts'
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
      'In full, unless `amount` says otherwise: less leaves the invoice outstanding with the payment, and what is beyond it becomes a credit of the policyholder. The invoice of a refund is paid by a negative amount, up to what was paid in for the policy and not yet paid out or credited; without an amount the rest is written off. Where nothing may go out it is refused (409), and the refund is written off. `fieldValues` are held against `payment/payment.json`, with its required fields.',
    permission: 'invoices.pay',
    body: { schema: contract.PaymentCreateRequest, required: false },
    answer: payment,
    handle: ({ params, body }, context) =>
      billing.payInvoice(context, params.invoiceLocator, body ?? contract.PaymentCreateRequest.parse({})),
  }),
  get('/invoice/{invoiceLocator}/financialTransactions', {
    summary: 'What an invoice bills, item by item',
    description:
      'Commissions are itemised too and belong to no total. Of more than 10,000 items those of the same type and name are summed.',
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
      'Its invoice is outstanding again; where the due time of a paid invoice is past, it becomes the end of today. 409 for an offset, which is reversed only with what caused it.',
    permission: 'payments.reverse',
    answer: payment,
    handle: ({ params }, context) => billing.reversePayment(context, params.paymentLocator),
  }),
  get('/policyholder/{policyholderLocator}/invoices', {
    summary: 'Invoices of all policies of a policyholder, oldest first',
    permission: 'invoices.list',
    answer: { schema: z.array(contract.PolicyInvoiceResponse), description: 'All of them, void ones too.' },
    handle: ({ params }, context) => billing.invoicesOfHolder(context, params.policyholderLocator),
  }),
  get('/policyholder/{policyholderLocator}/credits', {
    summary: 'What a policyholder has left of payments, and what made and used it',
    description:
      'A payment beyond what its invoice asked for leaves a credit. The next invoices of any of its policies are paid from it as they are made; `pay` with `source=credit` uses it for one that is there.',
    permission: ['payments.list', 'payments.read'],
    query: contract.PolicyholderCreditsQuery,
    answer: {
      schema: contract.PolicyholderCreditsResponse,
      description: 'The credit, and a page of its movements.',
    },
    handle: ({ params, query }, context) => billing.creditsOf(context, params.policyholderLocator, query),
  }),
  get('/policyholder/{policyholderLocator}/disbursements', {
    summary: 'What was paid out of the credit of a policyholder, oldest first',
    permission: ['payments.list', 'payments.read'],
    query: DisbursementsQuery,
    answer: { schema: DisbursementListResponse, description: 'A page of them.' },
    handle: ({ params, query }, context) => disbursementsOf(context, params.policyholderLocator, query),
  }),
  get('/policy/{policyLocator}/checkInvoices', {
    summary: 'All invoices of a policy with their items, and those that are planned',
    permission: ['invoices.list', 'invoices.read'],
    answer: { schema: contract.CheckInvoicesResponse, description: 'What is billed, and what will be.' },
    handle: ({ params }, context) => billing.checkInvoices(context, params.policyLocator),
  }),
  post('/policy/{policyLocator}/issueNextInvoice', {
    summary: 'Make the earliest planned invoice now',
    description: 'It is due when it was planned to be. Answers 409 when none is planned.',
    permission: 'invoices.issue',
    answer: invoice,
    handle: ({ params }, context) => billing.issueNextInvoice(context, params.policyLocator),
  }),
]
