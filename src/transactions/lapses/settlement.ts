// What a payment brings about beside the invoice that it pays. Pure.
import type { Instant } from '../../kernel/time.ts'
import { installmentOf, planOf } from '../../policy/bills/amounts-due.ts'
import { chain, type Planned } from '../../policy/planned.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { type Invoice, isOutstanding } from '../../policy/records/invoice.ts'
import { type LapseReinstatement, reinstatementStatus } from '../../policy/records/transactions.ts'
import type { EffectContext } from '../../rating/attempt.ts'
import { planSettlement } from './grace-periods.ts'
import { digitsForIssue, planClosing, planIssue } from './reinstatements.ts'

/**
 * What follows from a payment of the invoice, as it stands after it, paid in full or in part: the reinstatement that
 * waits for it is issued, one whose amount rests on its being unpaid is closed, and the grace period is settled when no
 * invoice is past due any more. Undefined when nothing does. Takes the digits that `digitsForSettlement` tells.
 *
 * A reversal needs no such step. The invoice is due again by the end of that day (brief 4.4), its timer is set with the
 * write, and if it is still unpaid then a new grace period begins: that of a reinstatement which it had issued, too.
 */
export function planWhatPaymentSettles(
  before: PolicyAggregate,
  invoice: Invoice,
  context: EffectContext,
): Planned | undefined {
  const waiting = reinstatementPaidBy(before, invoice)
  const resting = waiting ? undefined : reinstatementRestingOn(before, invoice)
  const step = waiting
    ? planIssue(before, waiting, context)
    : resting && planClosing(before, resting, context.now)
  const settled = planSettlement(step?.aggregate ?? before, context.now)
  return step ? chain(step, settled) : settled
}

export function digitsForSettlement(before: PolicyAggregate, invoice: Invoice, now: Instant): number {
  const waiting = reinstatementPaidBy(before, invoice)
  return waiting ? digitsForIssue(before, waiting, now) : 0
}

const invoiced = ({ lapseReinstatements }: PolicyAggregate): LapseReinstatement[] =>
  [...lapseReinstatements.values()].filter(one => reinstatementStatus(one) === 'invoiced')

const reinstatementPaidBy = (before: PolicyAggregate, invoice: Invoice): LapseReinstatement | undefined =>
  isOutstanding(invoice)
    ? undefined
    : invoiced(before).find(one => one.modificationLocator === invoice.policyModificationLocator)

/** The reinstatement whose invoice asks for this one too. */
export const reinstatementRestingOn = (
  before: PolicyAggregate,
  invoice: Invoice,
): LapseReinstatement | undefined =>
  invoiced(before).find(one =>
    planOf(before, before.modifications.get(one.modificationLocator!)!)[0]?.takesOver?.includes(
      installmentOf(before, invoice).locator,
    ),
  )
