// Amounts due: what a transaction charges, what its plan bills, and what remains to be invoiced. Computed on every read. Amounts of
// issued invoices follow from these formulas: never change them. A change would alter what an invoice that was already sent or paid
// says it bills.
import type { Uuid } from '../../kernel/locators.ts'
import { type Money, minus, negated, sum } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import { isStanding } from '../fold/line.ts'
import { type Modification, type PolicyAggregate, recordsWhere } from '../records/aggregate.ts'
import type { InstallmentFee, Invoice, PlannedInstallment } from '../records/invoice.ts'
import { appliedAmount, invoiceStatus, isSilent, standingPayments } from '../records/invoice.ts'
import {
  type Charge,
  feeCharges,
  feeReversals,
  installmentFeeCharges,
  installmentFeeReversals,
  joinedRests,
  paidParts,
  perilCharges,
  unpaidPart,
} from './charge.ts'
import { isContinued, isSpread, restOf, restsByInstallment, totalsDue } from './items.ts'
import { isReversedApart, netCharges } from './net-charges.ts'

/** Returns the transaction's charges. While it has no plan, pass `reversesApart`: whether a plugin bills the cancellation. */
export function chargesOf(
  aggregate: PolicyAggregate,
  modification: Modification,
  reversesApart?: boolean,
): Charge[] {
  const { kind, locator } = modification
  const fees = [...aggregate.fees.values()]
  const made = feeCharges(fees.filter(fee => fee.madeBy === locator))
  switch (kind) {
    case 'creation': {
      const runs = [...aggregate.perilRuns.values()].filter(run => run.madeBy === locator)
      return [
        ...runs.flatMap(run => perilCharges(run, aggregate.perils.get(run.perilLocator)?.name ?? '')),
        ...made,
      ]
    }
    case 'feeUpdate':
      return [
        ...made,
        ...feeReversals(fees, locator),
        ...installmentFeeReversals(aggregate.installments.values(), locator),
      ]
    case 'scheduleChange':
      return []
    default:
      return netCharges(aggregate, modification, reversesApart ?? isReversedApart(aggregate, modification))
  }
}

/** Returns the modification's plan, ordered by installment number. */
export const planOf = (aggregate: PolicyAggregate, modification: Modification): PlannedInstallment[] =>
  recordsWhere(aggregate.installments, one => one.modificationLocator === modification.locator).sort(
    (a, b) => a.number - b.number,
  )

/** Returns the installment that the invoice bills. */
export const installmentOf = (
  aggregate: PolicyAggregate,
  { policyModificationLocator, installmentNumber }: Invoice,
): PlannedInstallment =>
  planOf(aggregate, aggregate.modifications.get(policyModificationLocator)!)[installmentNumber - 1]!

/** Returns the amount of each installment of the plan. Empty without a plan. */
export function amountsDue(
  aggregate: PolicyAggregate,
  modification: Modification,
  charges: BilledCharges = new Map(),
): Money[] {
  const plan = planOf(aggregate, modification)
  if (plan.length === 0) return []
  const { currency } = aggregate.policy
  const known = new Map<Uuid, Money[]>()
  const totalOf = installmentTotals(aggregate, charges, known)
  const totalDueFor = (one: PlannedInstallment): Money => totalOf(one.modificationLocator, one.number)
  const totals = totalsDue(plan, billedChargesOnce(aggregate, modification, charges), currency)
  // In plan order, because an installment may bill what an earlier one carried forward.
  known.set(modification.locator, totals)
  for (const [at, installment] of plan.entries()) {
    const { added, leftOut } = linkedInstallments(aggregate, installment)
    if (added.length + leftOut.length === 0) continue
    const droppedAmounts = leftOut.flatMap(one => droppedFees(aggregate, one)).map(fee => fee.amount)
    totals[at] = minus(
      sum([totals[at]!, ...added.map(totalDueFor), ...droppedAmounts], currency),
      sum(leftOut.map(totalDueFor), currency),
    )
  }
  return totals
}

/** Returns the other installments that this one also bills (`added`), and those that it leaves out (`leftOut`). */
export function linkedInstallments(
  { installments }: PolicyAggregate,
  { takesOver = [], leavesOut = [] }: PlannedInstallment,
): { added: PlannedInstallment[]; leftOut: PlannedInstallment[] } {
  const installmentsByLocators = (locators: readonly Uuid[]) =>
    locators.map(locator => installments.get(locator)!)
  return { added: installmentsByLocators(takesOver), leftOut: installmentsByLocators(leavesOut) }
}

/** Returns the fees that are dropped when another plan takes over the installment: those that no invoice bills. */
export function droppedFees(
  aggregate: PolicyAggregate,
  installment: PlannedInstallment,
  isOnInvoice: IsOnInvoice = one => isInvoiced(aggregate, one),
): readonly InstallmentFee[] {
  const { fees = [], takesOver = [] } = installment
  if (fees.length + takesOver.length === 0) return fees
  const { added } = linkedInstallments(aggregate, installment)
  return [
    ...(isOnInvoice(installment) ? [] : fees),
    ...added.flatMap(one =>
      droppedFees(aggregate, one, isOnInvoiceWith(aggregate, installment, isOnInvoice)),
    ),
  ]
}

/** Whether an invoice bills the installment, by itself or together with another. */
type IsOnInvoice = (installment: PlannedInstallment) => boolean

/** For installments that this one also bills: its own invoice bills them too. */
const isOnInvoiceWith =
  (aggregate: PolicyAggregate, installment: PlannedInstallment, isOnInvoice: IsOnInvoice): IsOnInvoice =>
  one =>
    isOnInvoice(installment) || isInvoiced(aggregate, one)

/** Whether a valid invoice bills the installment. With a void one, the installment is invoiced again. */
const isInvoiced = (
  aggregate: PolicyAggregate,
  { modificationLocator, number }: PlannedInstallment,
): boolean =>
  standingInvoices(aggregate).some(
    one => one.policyModificationLocator === modificationLocator && one.installmentNumber === number,
  )

/** Returns a function that looks up an installment's amount by modification and number. Computes each plan once. */
function installmentTotals(
  aggregate: PolicyAggregate,
  charges: BilledCharges = new Map(),
  known = new Map<Uuid, Money[]>(),
): (owner: Uuid, number: number) => Money {
  return (owner, number) => {
    const totals = known.get(owner) ?? amountsDue(aggregate, aggregate.modifications.get(owner)!, charges)
    known.set(owner, totals)
    return totals[number - 1]!
  }
}

/** Returns a function that totals an invoice's items. Call this once for many invoices: it computes each plan once. */
export function totalsDueOf(aggregate: PolicyAggregate): (invoice: Invoice) => Money {
  const totalOf = installmentTotals(aggregate)
  return invoice => totalOf(invoice.policyModificationLocator, invoice.installmentNumber)
}

/** Returns the invoice's total: the sum of its items, which is negative for a refund. */
export const totalDueOf = (aggregate: PolicyAggregate, invoice: Invoice): Money =>
  totalsDueOf(aggregate)(invoice)

/** Returns all that the plan bills: its own charges, rests of charges that it took over, and fees of its installments. */
export function billedCharges(
  aggregate: PolicyAggregate,
  modification: Modification,
  known: BilledCharges = new Map(),
): Charge[] {
  const plan = planOf(aggregate, modification)
  const absorbed = recordsWhere(aggregate.installments, one => one.absorbedBy.includes(modification.locator))
  // A lapse also takes over invoiced installments. Others take over open ones, even if these are invoiced once the plan is void.
  const isOnInvoice = modification.kind === 'lapse' ? undefined : () => false
  if (isContinued(plan))
    return [
      ...chargesOf(aggregate, modification),
      ...restsOfEach(aggregate, absorbed, known),
      ...installmentFeeCharges(plan),
    ]
  if (isSpread(plan))
    return [...chargesOf(aggregate, modification), ...restsToSpread(aggregate, absorbed, known)]
  const paidBefore = plan[0]?.paidBefore ?? {}
  const inPart = absorbed.filter(one => paidBefore[one.locator] !== undefined)
  const whole = inPart.length === 0 ? absorbed : absorbed.filter(one => !inPart.includes(one))
  return [
    ...chargesOf(aggregate, modification),
    ...restsOf(aggregate, whole, known, isOnInvoice),
    ...inPart.flatMap(one =>
      unpaidPart(restsOf(aggregate, [one], known, isOnInvoice), paidBefore[one.locator]!),
    ),
    ...(modification.kind === 'reinstatement' ? bouncedCharges(aggregate, paidBefore, known) : []),
    ...installmentFeeCharges(plan),
  ]
}

/** Returns what a lapse did not take over because it was paid, where the payment was reversed since. */
const bouncedCharges = (
  aggregate: PolicyAggregate,
  paidBefore: Readonly<Record<Uuid, number>>,
  known: BilledCharges,
): Charge[] =>
  Object.entries(paidBefore).flatMap(([locator, minor]) => {
    const rests = restsOf(aggregate, [aggregate.installments.get(locator as Uuid)!], known)
    const paid = paidParts(rests, minor)
    return rests.map((one, at) => ({ ...one, amount: paid[at]! })).filter(one => one.amount.minor !== 0)
  })

/** Memo of the charges of other modifications: a plan may take over from a plan that itself took over. */
export type BilledCharges = Map<Uuid, Charge[]>

/** Returns `billedCharges`, computed once for all calls that share `known`. */
export function billedChargesOnce(
  aggregate: PolicyAggregate,
  modification: Modification,
  known: BilledCharges,
): Charge[] {
  const billed = known.get(modification.locator) ?? billedCharges(aggregate, modification, known)
  known.set(modification.locator, billed)
  return billed
}

/**
 * Returns what the installments bill, as rests of charges. Includes only fees that an invoice bills: the others are dropped
 * (`droppedFees`). Rests of the same charge are joined; those of zero are omitted.
 */
export function restsOf(
  aggregate: PolicyAggregate,
  installments: readonly PlannedInstallment[],
  known: BilledCharges = new Map(),
  isOnInvoice: IsOnInvoice = one => isInvoiced(aggregate, one),
): Charge[] {
  const rests = Array.from(restsIn(aggregate, installments, restOf, known, isOnInvoice), ({ rest }) => rest)
  return joinedRests(rests, rest => rest.id)
}

/** Like `restsOf`, but keeps the rests of each installment separate (`from`). */
export const restsOfEach = (
  aggregate: PolicyAggregate,
  installments: readonly PlannedInstallment[],
  known: BilledCharges = new Map(),
): Charge[] =>
  Array.from(
    restsIn(aggregate, installments, restsByInstallment, known, () => false),
    ({ rest, by }) => (by ? { ...rest, from: by.locator } : rest),
  )

/**
 * Returns what the installments bill, for another payment schedule to spread: each rest over its own time, so no period totals less
 * than zero. A changed charge is uneven: its reversal is on several bills, the kept part on one.
 */
export const restsToSpread = (
  aggregate: PolicyAggregate,
  installments: readonly PlannedInstallment[],
  known: BilledCharges = new Map(),
): Charge[] => {
  const spans = new Map(installments.map(({ locator, start, end }) => [locator, { start, end }]))
  const isEven = (plan: readonly PlannedInstallment[]) => plan.every(one => !one.replans && !one.items)
  const restsOn: typeof restOf = (plan, charges, numbers) =>
    isEven(plan) ? restOf(plan, charges, numbers) : restsByInstallment(plan, charges, numbers)
  // Joined by charge and time. Otherwise each plan that splits the rests of an earlier plan would have ever more of them.
  return joinedRests(
    Array.from(
      restsIn(aggregate, installments, restsOn, known, () => false),
      ({ rest, by }) => ({ ...rest, rest: spans.get(by?.locator ?? rest.from!) ?? rest.rest }),
    ),
    ({ id, rest }) => `${id} ${rest!.start} ${rest!.end}`,
  )
}

/**
 * Yields the rests of each plan by `restsOn`, then those of installments that one (`by`) also bills or leaves out. One that is
 * among the installments itself counts once: it was carried forward to `by` only after the plan that took over both became void.
 */
function* restsIn(
  aggregate: PolicyAggregate,
  installments: readonly PlannedInstallment[],
  restsOn: typeof restsByInstallment,
  known: BilledCharges,
  isOnInvoice: IsOnInvoice,
): Generator<{ rest: Charge; by?: PlannedInstallment }> {
  for (const [owner, open] of Map.groupBy(installments, one => one.modificationLocator)) {
    const from = aggregate.modifications.get(owner)!
    const billed = billedChargesOnce(aggregate, from, known)
    const numbers = new Set(open.map(one => one.number))
    const dropped = new Set(
      open.flatMap(one => droppedFees(aggregate, one, isOnInvoice)).map(fee => fee.locator),
    )
    const remaining = billed.filter(charge => charge.type !== 'fee' || !dropped.has(charge.feeLocator))
    for (const rest of restsOn(planOf(aggregate, from), remaining, numbers)) yield { rest }
    for (const by of open) {
      const { added, leftOut } = linkedInstallments(aggregate, by)
      const others = added.filter(one => !installments.includes(one))
      for (const rest of restsOf(aggregate, others, known, isOnInvoiceWith(aggregate, by, isOnInvoice)))
        yield { rest, by }
      for (const rest of restsOf(aggregate, leftOut, known))
        yield { rest: { ...rest, amount: negated(rest.amount) }, by }
    }
  }
}

/** Whether the plan of a modification that is not invalidated took over the installment. */
export const isAbsorbed = (
  { modifications }: PolicyAggregate,
  { absorbedBy }: Pick<PlannedInstallment, 'absorbedBy'>,
): boolean => absorbedBy.some(locator => modifications.get(locator)?.invalidatedAt === undefined)

/** Returns the modification's invoices, including void ones. */
export const invoicesOf = (aggregate: PolicyAggregate, modification: Modification): Invoice[] =>
  recordsWhere(aggregate.invoices, one => one.policyModificationLocator === modification.locator)

/** Returns the policy's invoices that are not void. */
export const standingInvoices = ({ invoices }: PolicyAggregate): Invoice[] =>
  recordsWhere(invoices, invoice => invoiceStatus(invoice) !== 'invalidated')

/** Returns what the invoice bills beyond what is paid. Zero or negative for a refund invoice. */
export function restDue(
  aggregate: PolicyAggregate,
  invoice: Invoice,
  total: Money = totalDueOf(aggregate, invoice),
): Money {
  return minus(total, sum(standingPayments(aggregate, invoice).map(appliedAmount), total.currency))
}

/**
 * Returns the invoice of what the transaction charges or refunds immediately; undefined if it has none. In a plan that continues an
 * earlier one it is marked `atOnce`, because bills that a reinstatement brings back are not its own.
 */
export function invoiceOfTransaction(
  aggregate: PolicyAggregate,
  modification: Modification,
): Invoice | undefined {
  const isMarked = isContinued(planOf(aggregate, modification))
  return invoicesOf(aggregate, modification).find(
    invoice => !isMarked || installmentOf(aggregate, invoice).replans?.bill === 'atOnce',
  )
}

/** Returns the installments whose invoice date has come. One with a void invoice is invoiced again. */
export const installmentsToInvoice = (
  aggregate: PolicyAggregate,
  modification: Modification,
  now: Instant,
): PlannedInstallment[] => uninvoicedInstallments(aggregate, modification).filter(one => one.issueAt <= now)

/**
 * Returns the installments that no invoice bills. For a lapse's reinstatement, only the first until the reinstatement is issued:
 * paying that invoice issues it, and the others wait.
 */
export function uninvoicedInstallments(
  aggregate: PolicyAggregate,
  modification: Modification,
  isOpen = openInstallmentTest(aggregate),
): PlannedInstallment[] {
  const isFromLapse = aggregate.modifications.get(modification.undoes!)?.kind === 'lapse'
  const waits = isFromLapse && modification.issuedAt === undefined
  return planOf(aggregate, modification).filter(one => isOpen(one) && !(waits && one.number > 1))
}

/** Tests whether an installment remains to be invoiced: no valid invoice bills it, no plan took it over, it is not silent. */
function openInstallmentTest(aggregate: PolicyAggregate): (installment: PlannedInstallment) => boolean {
  const invoiced = new Set(
    standingInvoices(aggregate).map(one => keyOf(one.policyModificationLocator, one.installmentNumber)),
  )
  return one =>
    !isAbsorbed(aggregate, one) && !isSilent(one) && !invoiced.has(keyOf(one.modificationLocator, one.number))
}

const keyOf = (modification: Uuid, number: number): string => `${modification}/${number}`

/**
 * Whether the modification is billed. A quote's plan is only a preview until the quote is accepted and its first invoice is made,
 * or until the quote is issued if a plugin delays that invoice.
 */
export const isBilled = (aggregate: PolicyAggregate, modification: Modification): boolean =>
  modification.quoteLocator === undefined
    ? isStanding(modification)
    : aggregate.quotes.get(modification.quoteLocator)?.state === 'accepted' &&
      (modification.issuedAt !== undefined ||
        standingInvoices(aggregate).some(
          invoice => invoice.policyModificationLocator === modification.locator,
        ))

/** Returns the installments still to be invoiced, ordered by the time of their invoice, then by their start. */
export function futureInstallments(aggregate: PolicyAggregate): PlannedInstallment[] {
  const isOpen = openInstallmentTest(aggregate)
  return recordsWhere(aggregate.modifications, modification => isBilled(aggregate, modification))
    .flatMap(modification => uninvoicedInstallments(aggregate, modification, isOpen))
    .sort((a, b) => a.issueAt - b.issueAt || a.start - b.start)
}

/** Returns the amount of each planned invoice, ordered by time. */
export function plannedTotals(aggregate: PolicyAggregate): Money[] {
  const totalOf = installmentTotals(aggregate)
  return futureInstallments(aggregate).map(one => totalOf(one.modificationLocator, one.number))
}

/** Returns the open installments that start at that time or later. */
export const openInstallmentsFrom = (aggregate: PolicyAggregate, at: Instant): PlannedInstallment[] =>
  openInstallments(aggregate).filter(one => one.start >= at)

/** Returns the open installments of issued modifications. Plans of other quotes are previews. */
export const openInstallments = (aggregate: PolicyAggregate): PlannedInstallment[] => {
  const { installments, modifications } = aggregate
  const isIssuedPlan = (one: PlannedInstallment): boolean =>
    modifications.get(one.modificationLocator)?.issuedAt !== undefined
  return recordsWhere(installments, isIssuedPlan).filter(openInstallmentTest(aggregate))
}
