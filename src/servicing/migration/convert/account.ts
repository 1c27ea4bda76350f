// An account as another system has it, as the records that we have of the same: values in, values out (resources brief 9).
//
// Policies, invoices and payments that refer to one another stand or fall together: a bill is a part of the history of the
// policies that it bills, and could not be added to them later, since what is migrated is not altered by migration; and an
// invoice whose payment is still to be put right would be past due meanwhile. So what fails takes along what hangs
// together with it, which is reported as blocked by it; all else is kept. With control totals an account is all or nothing,
// since they are of the whole of it.
import { zero } from '../../../kernel/money.ts'
import { atOnce, type Steps } from '../../../kernel/turns.ts'
import type { ElementMigrationRequest } from '../contract-request.ts'
import { balance } from './account/balance.ts'
import { payDisbursements } from './account/disbursements.ts'
import { EarlierPolicies } from './account/earlier.ts'
import { Findings } from './account/findings.ts'
import { makeInvoices, readInvoices } from './account/invoices.ts'
import { outcomeOf } from './account/outcome.ts'
import { readPayments } from './account/payments.ts'
import { readPolicies } from './account/policies.ts'
import { readPolicyholder } from './account/policyholder.ts'
import { recordPayments } from './account/settlement.ts'
import { controlTotals, totalsOf } from './account/totals.ts'
import type { AccountRequest, Work } from './account/work.ts'
import type { ConvertContext, Converted, Existing } from './converted.ts'
import { Problems } from './problems.ts'

/** Digit locators that converting the account takes, at most. `before`: invoices of before that it names. */
export function digitsNeeded(
  { policies, invoices, payments }: AccountRequest,
  before: Existing['invoices'] = new Map(),
): number {
  const parts = new Map([...before].map(([id, one]) => [id, one.parts.length]))
  let digits = 0
  for (const { terms } of policies) {
    const named = new Set<string>()
    digits += 2
    for (const { transactions } of terms)
      for (const { segment, installments } of transactions) {
        // Without installments it may have an invoice of nothing, whose displayId is one.
        digits +=
          (installments.length === 0 ? 3 : 2) + (segment?.rootElement ? elementsIn(segment.rootElement) : 0)
        for (const { invoiceId } of installments) if (invoiceId !== undefined) named.add(invoiceId)
      }
    for (const id of named) parts.set(id, (parts.get(id) ?? 0) + 1)
  }
  // Each part of an invoice has a displayId, and may be settled by credit.
  for (const count of parts.values()) digits += 2 * count
  for (const { paymentItems } of payments)
    for (const { invoiceId } of paymentItems) digits += Math.max(1, parts.get(invoiceId ?? '') ?? 1)
  return digits + invoices.length
}

const elementsIn = ({ elements }: ElementMigrationRequest): number =>
  elements.reduce((count, one) => count + elementsIn(one), 1)

/**
 * Carries the account over: what of it holds, and why the rest does not. `supply` has the digits that it needs. A step is a
 * transaction; its work is counted in elements, and runs that it can do anything to.
 */
export function* conversionOf(request: AccountRequest, context: ConvertContext): Steps<Converted> {
  const findings = new Findings(context.failed ?? [])
  const none = zero(context.configuration.currency)
  const work: Work = { request, context, findings, warnings: new Problems(), none }
  const account = request.accountData && readPolicyholder(work, request.accountData)
  const earlier = new EarlierPolicies()
  const invoices = readInvoices(work, earlier)
  const policies = yield* readPolicies(work, invoices)
  const payments = readPayments(work, invoices)
  findings.block()
  makeInvoices(work, invoices, policies)
  const moves = balance(work, invoices, payments)
  const paid = recordPayments(work, invoices, payments, earlier)
  const paidOut = payDisbursements(work, payments, moves)
  const totals = totalsOf(work, invoices, payments, paidOut)
  controlTotals(work, totals)
  return outcomeOf(work, { account, policies, earlier, invoices, payments, paid, paidOut, totals })
}

/** The same in one go. */
export const convertAccount = (request: AccountRequest, context: ConvertContext): Converted =>
  atOnce(conversionOf(request, context))
