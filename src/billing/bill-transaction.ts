// How a transaction is billed, from the charge to the invoice (brief 4.5; docs/design.md, section 4):
//
// 1. what the transaction charges (`chargesOf`, policy/bills/amounts-due.ts);
// 2. what of that was planned and not billed yet (`openInstallments`, `restsOf`);
// 3. what the plan becomes (`planBills`): the product's plugin plans it, or one of the built-in ways does;
// 4. which bills are made now (`makeBills`); the others have timers;
// 5. what offsets and credit settle (transactions/payments), once the change is recorded.
import type { LocatorSupply } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import { chargesOf } from '../policy/bills/amounts-due.ts'
import { isContinued } from '../policy/bills/items.ts'
import type { Planned } from '../policy/planned.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../policy/records/aggregate.ts'
import { isSilent } from '../policy/records/installment.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import { planAfterCancellation, planAfterEndorsement, planAfterFeeUpdate } from './continuing.ts'
import {
  type Invoicing,
  type InvoicingContext,
  invoiceInstallments,
  invoiceTimers,
  invoiceWhatIsDue,
} from './invoicing.ts'
import type { OwnBills } from './plugin-bills.ts'
import { rescheduled } from './replan.ts'
import { planAfterReinstatement } from './returning.ts'
import { type BillPlan, recorded, termPlan } from './schedule.ts'

export type PlanContext = {
  readonly product: ProductDefinition
  readonly now: Instant
  /** The payment schedule that the transaction names, if it names one. */
  readonly newPaymentScheduleName?: string
}

/** Bills a transaction in one step with its effect; `before` has its modification and everything that it made. */
export async function billTransaction(
  before: PolicyAggregate,
  modification: Modification,
  { ownBills, supply, ...context }: PlanContext & { supply: LocatorSupply; ownBills: OwnBills },
): Promise<Planned> {
  const { now } = context
  const own = await ownBills(before, modification)
  return own
    ? makeBills(before, modification, own.bills, { now, supply: own.supply })
    : makeBills(before, modification, planBills(before, modification, context), { now, supply })
}

/**
 * What the plan becomes where no plugin plans it. Most transactions let the planned bills go on, each for what is then in
 * force, and bill at once what bills already made charged too much or too little. A renewal plans its own term. An
 * endorsement that names a payment schedule, even the one that the policy has, plans all that is open anew (brief 4.3).
 */
export function planBills(
  before: PolicyAggregate,
  modification: Modification,
  { product, now, newPaymentScheduleName }: PlanContext,
): BillPlan {
  const scheduleName = newPaymentScheduleName ?? before.policy.paymentScheduleName
  switch (modification.kind) {
    case 'renewal':
      return {
        charges: chargesOf(before, modification),
        plan: termPlan(before, modification, scheduleName, product, now),
        open: [],
      }
    case 'endorsement':
      return newPaymentScheduleName === undefined
        ? planAfterEndorsement(before, modification, scheduleName, product, now)
        : rescheduled(before, modification, scheduleName, product, now)
    case 'cancellation':
    case 'withdrawal':
      return planAfterCancellation(before, modification, now)
    case 'reinstatement':
      return planAfterReinstatement(before, modification, product, now)
    case 'feeUpdate':
      return planAfterFeeUpdate(before, modification, now)
    default:
      throw new Error(`A modification of kind ${modification.kind} is billed elsewhere.`)
  }
}

/**
 * The policy with the plan, which takes over the open installments, and with the invoices that are made now. What was
 * invoiced before stays as it is. Takes a digit for each invoice.
 */
export function makeBills(
  before: PolicyAggregate,
  modification: Modification,
  { plan, open }: Pick<BillPlan, 'plan' | 'open'>,
  context: InvoicingContext,
): Invoicing {
  const { now, supply } = context
  const own = recorded(plan, modification, supply)
  const absorbed = open.map(one => ({ ...one, absorbedBy: [...one.absorbedBy, modification.locator] }))
  const planned = { ...before, installments: putRecords(before.installments, [...absorbed, ...own]) }
  // Bills that go on are made when their time comes, even where that is now: their timers are due at once.
  const atOnce = own.filter(one => one.replans?.bill !== 'planned' && one.issueAt <= now && !isSilent(one))
  const invoiced = isContinued(own)
    ? invoiceInstallments(planned, modification, atOnce, context)
    : invoiceWhatIsDue(planned, modification, context)
  return { ...invoiced, timers: invoiceTimers(invoiced.aggregate, modification, now) }
}
