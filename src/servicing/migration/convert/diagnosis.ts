// What else is wrong with items that fail: those whose shape does not fit and those that hang together with them are not converted,
// but are checked, so that an account is told everything at once.
import { newUuid } from '../../../kernel/locators.ts'
import { zero } from '../../../kernel/money.ts'
import type { ItemFailure } from '../item.ts'
import { amountOf } from './account/disbursements.ts'
import { EarlierPolicies } from './account/earlier.ts'
import { Findings } from './account/findings.ts'
import { readInvoices } from './account/invoices.ts'
import { readPayments } from './account/payments.ts'
import { linkInstallments } from './account/policies.ts'
import { readPolicyholder } from './account/policyholder.ts'
import type { AccountRequest, Work } from './account/work.ts'
import type { ConvertContext } from './converted.ts'
import { readPolicy } from './policy.ts'
import { Problems } from './problems.ts'

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
