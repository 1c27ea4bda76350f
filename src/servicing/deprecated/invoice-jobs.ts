// Plans of invoices as jobs: each installment is one, completed by the invoice that bills it.
import type { Uuid } from '../../kernel/locators.ts'
import { type Money, toNumber } from '../../kernel/money.ts'
import { amountsDue, futureInstallments, installmentOf, planOf } from '../../policy/bills/amounts-due.ts'
import { type PolicyAggregate, type Quote, quoteParts } from '../../policy/records/aggregate.ts'
import type { PlannedInstallment } from '../../policy/records/installment.ts'
import type { Invoice } from '../../policy/records/invoice.ts'
import type { InvoiceJobResponse } from './contract.ts'

/** Of the policy: every invoice that was made, then those that are planned. */
export function policyJobs(aggregate: PolicyAggregate): InvoiceJobResponse[] {
  const made = [...aggregate.invoices.values()].map(invoice => installmentOf(aggregate, invoice))
  return jobsOf(aggregate, [...made, ...futureInstallments(aggregate)])
}

/** Of the quote: its own plan, which there is once it is quoted. */
export const quoteJobs = (aggregate: PolicyAggregate, quote: Quote): InvoiceJobResponse[] =>
  jobsOf(aggregate, planOf(aggregate, quoteParts(aggregate, quote).modification), quote.state)

function jobsOf(
  aggregate: PolicyAggregate,
  installments: readonly PlannedInstallment[],
  quoteState?: Quote['state'],
): InvoiceJobResponse[] {
  const idOf = (modification: Uuid, number: number): string => `${modification}/${number}`
  const invoiceOf = new Map<string, Invoice>(
    [...aggregate.invoices.values()].map(one => [
      idOf(one.policyModificationLocator, one.installmentNumber),
      one,
    ]),
  )
  const planned = new Set(futureInstallments(aggregate).map(one => idOf(one.modificationLocator, one.number)))
  const dues = new Map<Uuid, Money[]>()
  const dueOf = ({ modificationLocator, number }: PlannedInstallment): Money => {
    const known =
      dues.get(modificationLocator) ??
      amountsDue(aggregate, aggregate.modifications.get(modificationLocator)!)
    dues.set(modificationLocator, known)
    return known[number - 1]!
  }
  return installments.map(installment => {
    const { modificationLocator, number, issueAt, dueAt, start, end } = installment
    const id = idOf(modificationLocator, number)
    const invoice = invoiceOf.get(id)
    // Before it is accepted, the plan of a quote is nobody's but the quote's.
    const waits = planned.has(id) || quoteState === 'draft' || quoteState === 'quoted'
    return {
      policyLocator: String(aggregate.policy.locator),
      transactionLocator: modificationLocator,
      installmentNumber: number,
      state: invoice ? 'completed' : waits ? 'queued' : 'cancelled',
      generateTime: iso(invoice?.createdAt ?? issueAt),
      dueTime: iso(invoice?.dueAt ?? dueAt),
      startTime: iso(start),
      endTime: iso(end),
      amount: toNumber(dueOf(installment)),
      amountCurrency: aggregate.policy.currency,
      ...(invoice && { invoiceLocator: invoice.locator }),
    }
  })
}

const iso = (at: number): string => new Date(at).toISOString()
