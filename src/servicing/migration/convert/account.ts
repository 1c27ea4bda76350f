// An account as another system has it, as the records that we have of the same: values in, values out (resources brief 9).
//
// Policies, invoices and payments that refer to one another stand or fall together: a bill is a part of the history of the
// policies that it bills, and could not be added to them later, since what is migrated is not altered by migration; and an
// invoice whose payment is still to be put right would be past due meanwhile. So what fails takes along what hangs
// together with it, which is reported as blocked by it; all else is kept. With control totals an account is all or nothing,
// since they are of the whole of it.

import { newUuid } from '../../../kernel/locators.ts'
import { zero } from '../../../kernel/money.ts'
import { atOnce, type Steps } from '../../../kernel/turns.ts'
import type { ElementMigrationRequest } from '../contract-request.ts'
import type { ItemFailure } from '../item.ts'
import { amountOf, balance, controlTotals, payDisbursements, totalsOf } from './account/balance.ts'
import { EarlierPolicies, type Invoices, makeInvoices, readInvoices } from './account/invoices.ts'
import { outcomeOf, readPolicyholder } from './account/outcome.ts'
import { readPayments, recordPayments } from './account/payments.ts'
import type { AccountRequest, ConvertContext, Converted, Existing, Work } from './converted.ts'
import { type ConvertedPolicy, convertPolicy, readPolicy } from './policy.ts'
import { Findings, Problems } from './problems.ts'

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

// What else is wrong with items that fail: those whose shape does not fit and those that hang together with them are not converted,
// but are checked, so that an account is told everything at once.
/** Every rule that an item breaks by itself. Nothing is made, and no locator of the context's supply is taken. */
export function ownProblems(request: AccountRequest, context: ConvertContext): ItemFailure[] {
  let digits = 0
  const supply = { digits: () => (digits += 1), uuid: () => newUuid(context.shard) }
  const findings = new Findings([])
  const none = zero(context.configuration.currency)
  const work: Work = { request, context: { ...context, supply }, findings, warnings: new Problems(), none }
  if (request.accountData) readPolicyholder(work, request.accountData)
  const invoices = readInvoices(work, new EarlierPolicies())
  const inherited = request.accountData?.preferences ?? context.existing?.preferences
  for (const policy of request.policies) {
    const problems = findings.of('policies', policy.id)
    linkInstallments(work, policy, invoices, problems)
    readPolicy(policy, inherited, work.context, problems, work.warnings)
  }
  readPayments(work, invoices)
  for (const disbursement of request.disbursements) amountOf(work, disbursement)
  return findings.list()
}

// The policies of an account, and which invoices their installments went on.
/** Those that hold by themselves. */
export function* readPolicies(work: Work, invoices: Invoices): Steps<Map<string, ConvertedPolicy>> {
  const { request, context, findings, warnings } = work
  const policies = new Map<string, ConvertedPolicy>()
  const inherited = request.accountData?.preferences ?? context.existing?.preferences
  for (const policy of findings.singles('policies', request.policies)) {
    const problems = findings.of('policies', policy.id)
    linkInstallments(work, policy, invoices, problems)
    const createdBy = policy.createdBy ?? request.defaultCreatedBy
    const converted = yield* convertPolicy({ ...policy, createdBy }, inherited, context, problems, warnings)
    if (converted) policies.set(policy.id, converted)
  }
  return policies
}

/** Notes which invoices the policy's installments went on; a problem where there is no such invoice. */
export function linkInstallments(
  { findings }: Work,
  policy: AccountRequest['policies'][number],
  invoices: Invoices,
  problems: Problems,
): void {
  for (const [termAt, { transactions }] of policy.terms.entries())
    for (const [at, { installments }] of transactions.entries())
      for (const [index, { id, invoiceId }] of installments.entries()) {
        if (invoiceId === undefined) continue
        if (invoices.has(invoiceId)) {
          findings.link('policies', policy.id, invoiceId)
          continue
        }
        problems.add(
          'installment',
          `${policy.id}/terms[${termAt}]/transactions[${at}]/${id ?? `installments[${index}]`}`,
          `invoiceId '${invoiceId}' must be the id of an invoice of the request, or of one that was migrated for the account before.`,
        )
      }
}
