// The policies of an account, and which invoices their installments went on.
import type { Steps } from '../../../../kernel/turns.ts'
import { type ConvertedPolicy, convertPolicy } from '../policy.ts'
import type { Problems } from '../problems.ts'
import type { Invoices } from './invoices.ts'
import type { AccountRequest, Work } from './work.ts'

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
