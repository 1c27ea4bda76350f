// What the bills of a policy come to, worked out whenever it is read: what a transaction charges, what its plan bills, and
// what of that is still to be invoiced.
//
// Amounts of issued invoices follow from these formulas: they may never change.
import type { Uuid } from '../../kernel/locators.ts'
import { fromMinor, type Money, minus, negated, plus, sum } from '../../kernel/money.ts'
import { earlier, type Instant, later } from '../../kernel/time.ts'
import { isStanding } from '../fold/line.ts'
import { splitBy } from '../fold/shares.ts'
import { type Modification, type PolicyAggregate, recordsWhere } from '../records/aggregate.ts'
import type { InstallmentFee, Invoice, PlannedInstallment } from '../records/invoice.ts'
import { applied, invoiceStatus, isSilent, standingPayments } from '../records/invoice.ts'
import {
  type Charge,
  feeCharges,
  feeReversals,
  installmentFeeCharges,
  installmentFeeReversals,
  isPayable,
  netCharges,
  perilCharges,
} from './charge.ts'
import { isContinued, restOf, restsByInstallment, totalsDue } from './items.ts'

export function chargesOf(aggregate: PolicyAggregate, modification: Modification): Charge[] {
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
      return netCharges(aggregate, modification)
  }
}

/** The modification's plan, in its order. */
export const planOf = (aggregate: PolicyAggregate, modification: Modification): PlannedInstallment[] =>
  recordsWhere(aggregate.installments, one => one.modificationLocator === modification.locator).sort(
    (a, b) => a.number - b.number,
  )

export const installmentOf = (
  aggregate: PolicyAggregate,
  { policyModificationLocator, installmentNumber }: Invoice,
): PlannedInstallment =>
  planOf(aggregate, aggregate.modifications.get(policyModificationLocator)!)[installmentNumber - 1]!

/** What each installment of the modification's plan bills; nothing while there is no plan. */
export function amountsDue(aggregate: PolicyAggregate, modification: Modification): Money[] {
  const plan = planOf(aggregate, modification)
  if (plan.length === 0) return []
  const { currency } = aggregate.policy
  const known = new Map<Uuid, Money[]>()
  const totalOf = installmentTotals(aggregate, known)
  const dueFor = (one: PlannedInstallment): Money => totalOf(one.modificationLocator, one.number)
  const totals = totalsDue(plan, billedCharges(aggregate, modification), currency)
  // In the plan's order: an installment may ask for what an earlier one of it carried forward.
  known.set(modification.locator, totals)
  for (const [at, installment] of plan.entries()) {
    const { added, leftOut } = alsoBilled(aggregate, installment)
    if (added.length + leftOut.length === 0) continue
    const gone = leftOut.flatMap(one => feesThatGo(aggregate, one)).map(fee => fee.amount)
    totals[at] = minus(
      sum([totals[at]!, ...added.map(dueFor), ...gone], currency),
      sum(leftOut.map(dueFor), currency),
    )
  }
  return totals
}

/** Other installments that this one asks for too, and those that it leaves out of what it asks for. */
export function alsoBilled(
  { installments }: PolicyAggregate,
  { takesOver = [], leavesOut = [] }: PlannedInstallment,
): { added: PlannedInstallment[]; leftOut: PlannedInstallment[] } {
  const named = (locators: readonly Uuid[]) => locators.map(locator => installments.get(locator)!)
  return { added: named(takesOver), leftOut: named(leavesOut) }
}

/** Fees that are gone when something else takes over what the installment bills: those that no invoice asks for. */
export function feesThatGo(
  aggregate: PolicyAggregate,
  installment: PlannedInstallment,
  isAsked: Asked = one => isInvoiced(aggregate, one),
): readonly InstallmentFee[] {
  const { fees = [], takesOver = [] } = installment
  if (fees.length + takesOver.length === 0) return fees
  const { added } = alsoBilled(aggregate, installment)
  return [
    ...(isAsked(installment) ? [] : fees),
    ...added.flatMap(one => feesThatGo(aggregate, one, askedWith(aggregate, installment, isAsked))),
  ]
}

/** Whether an invoice asks for an installment, by itself or with another. */
type Asked = (installment: PlannedInstallment) => boolean

/** Of installments that this one asks for too. */
const askedWith =
  (aggregate: PolicyAggregate, installment: PlannedInstallment, isAsked: Asked): Asked =>
  one =>
    isAsked(installment) || isInvoiced(aggregate, one)

/** Whether an invoice that stands bills the installment. */
const isInvoiced = (
  aggregate: PolicyAggregate,
  { modificationLocator, number }: PlannedInstallment,
): boolean =>
  standingInvoices(aggregate).some(
    one => one.policyModificationLocator === modificationLocator && one.installmentNumber === number,
  )

/** What installments of the policy bill, by modification and number. Worked out once for all of a modification. */
function installmentTotals(
  aggregate: PolicyAggregate,
  known = new Map<Uuid, Money[]>(),
): (owner: Uuid, number: number) => Money {
  return (owner, number) => {
    const totals = known.get(owner) ?? amountsDue(aggregate, aggregate.modifications.get(owner)!)
    known.set(owner, totals)
    return totals[number - 1]!
  }
}

/** What invoices of the policy bill, each the sum of its items. */
export function totalsDueOf(aggregate: PolicyAggregate): (invoice: Invoice) => Money {
  const totalOf = installmentTotals(aggregate)
  return invoice => totalOf(invoice.policyModificationLocator, invoice.installmentNumber)
}

export const totalDueOf = (aggregate: PolicyAggregate, invoice: Invoice): Money =>
  totalsDueOf(aggregate)(invoice)

/**
 * All that the modification's plan bills: what it charges, what is left of charges that it took over, and the fees of its
 * installments.
 */
export function billedCharges(
  aggregate: PolicyAggregate,
  modification: Modification,
  known: BilledCharges = new Map(),
): Charge[] {
  const plan = planOf(aggregate, modification)
  const absorbed = recordsWhere(aggregate.installments, one => one.absorbedBy.includes(modification.locator))
  // A lapse takes over what was invoiced too. Others take over what is open, also where they become void.
  const isAsked = modification.kind === 'lapse' ? undefined : () => false
  if (isContinued(plan))
    return [
      ...chargesOf(aggregate, modification),
      ...restsApart(aggregate, absorbed, known),
      ...installmentFeeCharges(plan),
    ]
  const paidBefore = plan[0]?.paidBefore ?? {}
  const inPart = absorbed.filter(one => paidBefore[one.locator] !== undefined)
  const whole = inPart.length === 0 ? absorbed : absorbed.filter(one => !inPart.includes(one))
  return [
    ...chargesOf(aggregate, modification),
    ...restsOf(aggregate, whole, known, isAsked),
    ...inPart.flatMap(one => unpaidPart(restsOf(aggregate, [one], known, isAsked), paidBefore[one.locator]!)),
    ...installmentFeeCharges(plan),
  ]
}

/** The charges without what was paid of them, in proportion to what each asks the policyholder for. */
function unpaidPart(charges: readonly Charge[], paidMinor: number): Charge[] {
  const weights = charges.map(one => (isPayable(one) ? BigInt(Math.max(0, one.amount.minor)) : 0n))
  if (weights.every(weight => weight === 0n)) return [...charges]
  const [first] = charges
  const paid = splitBy(weights)(fromMinor(paidMinor, first!.amount.currency))
  return charges
    .map((one, at): Charge => ({ ...one, amount: minus(one.amount, paid[at]!) }))
    .filter(one => one.amount.minor !== 0)
}

/** What was worked out of other modifications already: a plan may have taken over from one that took over. */
type BilledCharges = Map<Uuid, Charge[]>

/**
 * What the installments bill, as the rests of charges. Of their fees it has those of installments that an invoice asks
 * for.
 */
export function restsOf(
  aggregate: PolicyAggregate,
  installments: readonly PlannedInstallment[],
  known: BilledCharges = new Map(),
  isAsked: Asked = one => isInvoiced(aggregate, one),
): Charge[] {
  const rests = new Map<string, Charge>()
  for (const { rest } of restsIn(aggregate, installments, restOf, known, isAsked)) {
    const other = rests.get(rest.id)
    rests.set(rest.id, other ? joined(other, rest) : rest)
  }
  return [...rests.values()].filter(rest => rest.amount.minor !== 0)
}

/** As `restsOf`, of each installment by itself (`from`). */
export const restsApart = (
  aggregate: PolicyAggregate,
  installments: readonly PlannedInstallment[],
  known: BilledCharges = new Map(),
): Charge[] =>
  Array.from(
    restsIn(aggregate, installments, restsByInstallment, known, () => false),
    ({ rest, by }) => (by ? { ...rest, from: by.locator } : rest),
  )

/** The rests of each plan by that function, and those of other installments that one asks for or leaves out (`by`). */
function* restsIn(
  aggregate: PolicyAggregate,
  installments: readonly PlannedInstallment[],
  restsOn: typeof restsByInstallment,
  known: BilledCharges,
  isAsked: Asked,
): Generator<{ rest: Charge; by?: PlannedInstallment }> {
  for (const [owner, open] of Map.groupBy(installments, one => one.modificationLocator)) {
    const from = aggregate.modifications.get(owner)!
    const billed = known.get(owner) ?? billedCharges(aggregate, from, known)
    known.set(owner, billed)
    const numbers = new Set(open.map(one => one.number))
    const gone = new Set(open.flatMap(one => feesThatGo(aggregate, one, isAsked)).map(fee => fee.locator))
    const kept = billed.filter(charge => charge.type !== 'fee' || !gone.has(charge.feeLocator))
    for (const rest of restsOn(planOf(aggregate, from), kept, numbers)) yield { rest }
    for (const by of open) {
      const { added, leftOut } = alsoBilled(aggregate, by)
      for (const rest of restsOf(aggregate, added, known, askedWith(aggregate, by, isAsked)))
        yield { rest, by }
      for (const rest of restsOf(aggregate, leftOut, known))
        yield { rest: { ...rest, amount: negated(rest.amount) }, by }
    }
  }
}

/** Two rests of one charge, left by two plans. */
const joined = (a: Charge, b: Charge): Charge => ({
  ...a,
  amount: plus(a.amount, b.amount),
  rest: { start: earlier(a.rest!.start, b.rest!.start), end: later(a.rest!.end, b.rest!.end) },
})

/** Whether a plan that counts took over what the installment bills. */
export const isAbsorbed = (
  { modifications }: PolicyAggregate,
  { absorbedBy }: Pick<PlannedInstallment, 'absorbedBy'>,
): boolean => absorbedBy.some(locator => modifications.get(locator)?.invalidatedAt === undefined)

/** The modification's invoices, void ones too. */
export const invoicesOf = (aggregate: PolicyAggregate, modification: Modification): Invoice[] =>
  recordsWhere(aggregate.invoices, one => one.policyModificationLocator === modification.locator)

/** The policy's invoices that are not void. */
export const standingInvoices = ({ invoices }: PolicyAggregate): Invoice[] =>
  recordsWhere(invoices, invoice => invoiceStatus(invoice) !== 'invalidated')

/** What the invoice asks for beyond what is paid; of a refund invoice negative, or zero. `total`: its total, if known. */
export function restDue(
  aggregate: PolicyAggregate,
  invoice: Invoice,
  total: Money = totalDueOf(aggregate, invoice),
): Money {
  return minus(total, sum(standingPayments(aggregate, invoice).map(applied), total.currency))
}

/** The invoice of what the transaction itself asks for or gives back at once; undefined where it makes none. */
export const invoiceOfTransaction = (
  aggregate: PolicyAggregate,
  modification: Modification,
): Invoice | undefined =>
  invoicesOf(aggregate, modification).find(
    invoice => installmentOf(aggregate, invoice).replans?.bill !== 'planned',
  )

/** Installments of the plan whose time to be invoiced has come. One whose invoice became void is invoiced again. */
export const installmentsToInvoice = (
  aggregate: PolicyAggregate,
  modification: Modification,
  now: Instant,
): PlannedInstallment[] => notInvoiced(aggregate, modification).filter(one => one.issueAt <= now)

/**
 * Installments of the plan that no invoice bills. Of the way back from a lapse only the first until it is issued, which
 * paying that one does: the others wait.
 */
export function notInvoiced(
  aggregate: PolicyAggregate,
  modification: Modification,
  isOpen = openIn(aggregate),
): PlannedInstallment[] {
  const isFromLapse = aggregate.modifications.get(modification.undoes!)?.kind === 'lapse'
  const waits = isFromLapse && modification.issuedAt === undefined
  return planOf(aggregate, modification).filter(one => isOpen(one) && !(waits && one.number > 1))
}

/** Whether an installment is still to be invoiced: no invoice that stands bills it, and no other plan took it over. */
function openIn(aggregate: PolicyAggregate): (installment: PlannedInstallment) => boolean {
  const invoiced = new Set(
    standingInvoices(aggregate).map(one => keyOf(one.policyModificationLocator, one.installmentNumber)),
  )
  return one =>
    !isAbsorbed(aggregate, one) && !isSilent(one) && !invoiced.has(keyOf(one.modificationLocator, one.number))
}

const keyOf = (modification: Uuid, number: number): string => `${modification}/${number}`

/**
 * Whether the modification is billed: its transaction stands. The plan of a quote is for show until it is accepted and
 * its first invoice is made, or, where a plugin has that made later, until it is issued.
 */
export const isBilled = (aggregate: PolicyAggregate, modification: Modification): boolean =>
  modification.quoteLocator === undefined
    ? isStanding(modification)
    : aggregate.quotes.get(modification.quoteLocator)?.state === 'accepted' &&
      (modification.issuedAt !== undefined ||
        standingInvoices(aggregate).some(
          invoice => invoice.policyModificationLocator === modification.locator,
        ))

/** What is planned to be invoiced, in the order of time. */
export function futureInstallments(aggregate: PolicyAggregate): PlannedInstallment[] {
  const isOpen = openIn(aggregate)
  return recordsWhere(aggregate.modifications, modification => isBilled(aggregate, modification))
    .flatMap(modification => notInvoiced(aggregate, modification, isOpen))
    .sort((a, b) => a.issueAt - b.issueAt || a.start - b.start)
}

/** What each planned invoice will ask for, in the order of time. */
export function plannedTotals(aggregate: PolicyAggregate): Money[] {
  const totalOf = installmentTotals(aggregate)
  return futureInstallments(aggregate).map(one => totalOf(one.modificationLocator, one.number))
}

/** Open installments (see below) that start at that time or later. */
export const openAfter = (aggregate: PolicyAggregate, at: Instant): PlannedInstallment[] =>
  openInstallments(aggregate).filter(one => one.start >= at)

/** Installments of issued modifications without a standing invoice. Plans of other quotes are for show. */
export const openInstallments = (aggregate: PolicyAggregate): PlannedInstallment[] => {
  const { installments, modifications } = aggregate
  const isIssuedPlan = (one: PlannedInstallment): boolean =>
    modifications.get(one.modificationLocator)?.issuedAt !== undefined
  return recordsWhere(installments, isIssuedPlan).filter(openIn(aggregate))
}
