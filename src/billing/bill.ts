// Bills new business: the plan of its modification and the invoices that are made at once (brief 4.2). An
// invoice's total is the sum of its items; nothing writes a total.

import type { DisplayId, LocatorSupply, Uuid } from '../kernel/locators.ts'
import {
  type CurrencyCode,
  fromMinor,
  type Money,
  minus,
  money,
  negated,
  plus,
  sum,
  zero,
} from '../kernel/money.ts'
import { earlier, endOfDay, type Instant, later } from '../kernel/time.ts'
import { isStanding } from '../policy/fold/line.ts'
import { quoteParts } from '../policy/quote-parts.ts'
import {
  type Modification,
  type PlannedInstallment,
  type PolicyAggregate,
  putRecords,
  type Quote,
  removeRecords,
} from '../policy/records/aggregate.ts'
import {
  type Installment,
  type InstallmentFee,
  isSilent,
  planInstallments,
} from '../policy/records/installment.ts'
import {
  carriedForward,
  INVOICED_TRANSACTIONS,
  type Invoice,
  type InvoicedTransaction,
  invoiceOf,
  invoiceStatus,
  writtenOff,
} from '../policy/records/invoice.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import {
  type Charge,
  feeCharges,
  feeReversals,
  installmentFeeCharges,
  installmentFeeReversals,
  isPayable,
  perilCharges,
} from './charge.ts'
import { isContinued } from './continued-plan.ts'
import { restOf, restsByInstallment, totalsDue } from './items.ts'
import { netCharges } from './net-charges.ts'
import { splitBy } from './split.ts'

/** Kind of the timers that go off when an installment is to be invoiced. */
export const INVOICE_TIMER = 'policy.invoice'

/** All that the modification charges. */
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
  [...aggregate.installments.values()]
    .filter(installment => installment.modificationLocator === modification.locator)
    .sort((a, b) => a.number - b.number)

/** The installment that the invoice bills. */
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
  const dueFor = ({ modificationLocator: owner, number }: PlannedInstallment): Money => {
    const due = known.get(owner) ?? amountsDue(aggregate, aggregate.modifications.get(owner)!)
    known.set(owner, due)
    return due[number - 1]!
  }
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

/** What invoices of the policy bill, each the sum of its items. Worked out once for all of a modification. */
export function totalsDueOf(aggregate: PolicyAggregate): (invoice: Invoice) => Money {
  const known = new Map<Uuid, Money[]>()
  return ({ policyModificationLocator: locator, installmentNumber }) => {
    const totals = known.get(locator) ?? amountsDue(aggregate, aggregate.modifications.get(locator)!)
    known.set(locator, totals)
    return totals[installmentNumber - 1]!
  }
}

/** What the invoice bills: the sum of its items. */
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
  const absorbed = [...aggregate.installments.values()].filter(one =>
    one.absorbedBy.includes(modification.locator),
  )
  // A lapse takes over what was invoiced too. Others take over what is open, whatever comes of that should they be void.
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
 * What the installments bill, as charges of which that is left; of their fees those of installments that an invoice asks
 * for.
 */
export function restsOf(
  aggregate: PolicyAggregate,
  installments: readonly PlannedInstallment[],
  known: BilledCharges = new Map(),
  isAsked: Asked = one => isInvoiced(aggregate, one),
): Charge[] {
  const rests = new Map<string, Charge>()
  const add = (rest: Charge): void => {
    const other = rests.get(rest.id)
    rests.set(rest.id, other ? joined(other, rest) : rest)
  }
  for (const [owner, open] of Map.groupBy(installments, one => one.modificationLocator)) {
    const from = aggregate.modifications.get(owner)!
    const billed = known.get(owner) ?? billedCharges(aggregate, from, known)
    known.set(owner, billed)
    const numbers = new Set(open.map(one => one.number))
    const gone = new Set(open.flatMap(one => feesThatGo(aggregate, one, isAsked)).map(fee => fee.locator))
    const kept = billed.filter(charge => charge.type !== 'fee' || !gone.has(charge.feeLocator))
    restOf(planOf(aggregate, from), kept, numbers).forEach(add)
    for (const one of open) {
      const { added, leftOut } = alsoBilled(aggregate, one)
      restsOf(aggregate, added, known, askedWith(aggregate, one, isAsked)).forEach(add)
      for (const rest of restsOf(aggregate, leftOut, known)) add({ ...rest, amount: negated(rest.amount) })
    }
  }
  return [...rests.values()].filter(rest => rest.amount.minor !== 0)
}

/** As `restsOf`, of each installment by itself (`from`). */
export function restsApart(
  aggregate: PolicyAggregate,
  installments: readonly PlannedInstallment[],
  known: BilledCharges = new Map(),
): Charge[] {
  const rests: Charge[] = []
  const isAsked: Asked = () => false
  for (const [owner, open] of Map.groupBy(installments, one => one.modificationLocator)) {
    const from = aggregate.modifications.get(owner)!
    const billed = known.get(owner) ?? billedCharges(aggregate, from, known)
    known.set(owner, billed)
    const numbers = new Set(open.map(one => one.number))
    const gone = new Set(open.flatMap(one => feesThatGo(aggregate, one, isAsked)).map(fee => fee.locator))
    const kept = billed.filter(charge => charge.type !== 'fee' || !gone.has(charge.feeLocator))
    rests.push(...restsByInstallment(planOf(aggregate, from), kept, numbers))
    for (const one of open) {
      const { added, leftOut } = alsoBilled(aggregate, one)
      const more = restsOf(aggregate, added, known, askedWith(aggregate, one, isAsked))
      const less = restsOf(aggregate, leftOut, known)
      rests.push(...more.map(rest => ({ ...rest, from: one.locator })))
      rests.push(...less.map(rest => ({ ...rest, amount: negated(rest.amount), from: one.locator })))
    }
  }
  return rests
}

/** Two rests of one charge, left by two plans. */
const joined = (a: Charge, b: Charge): Charge => ({
  ...a,
  amount: plus(a.amount, b.amount),
  rest: {
    start: earlier(a.rest!.start, b.rest!.start),
    end: later(a.rest!.end, b.rest!.end),
  },
})

/** Whether a plan that counts took over what the installment bills. */
export const isAbsorbed = (
  { modifications }: PolicyAggregate,
  { absorbedBy }: Pick<PlannedInstallment, 'absorbedBy'>,
): boolean => absorbedBy.some(locator => modifications.get(locator)?.invalidatedAt === undefined)

export type BillingContext = { product: ProductDefinition; now: Instant; supply: LocatorSupply }

/** The modification's invoices, void ones too. */
export const invoicesOf = (aggregate: PolicyAggregate, modification: Modification): Invoice[] =>
  [...aggregate.invoices.values()].filter(
    invoice => invoice.policyModificationLocator === modification.locator,
  )

/**
 * The aggregate with the plan of the quote's modification, in place of an earlier one. A plan that was invoiced
 * from stays as it is, since what its invoices bill follows from it; the quote's price has not changed either.
 */
export function planNewBusiness(
  aggregate: PolicyAggregate,
  quote: Quote,
  { product, now, supply }: BillingContext,
): PolicyAggregate {
  const { modification } = quoteParts(aggregate, quote)
  if (invoicesOf(aggregate, modification).length > 0) return aggregate
  const plan = termPlan(aggregate, modification, quote.paymentScheduleName, product, now)
  return withPlan(aggregate, modification, plan, supply)
}

/** The aggregate with the modification's plan, in place of an earlier one. */
export const withPlan = (
  aggregate: PolicyAggregate,
  modification: Modification,
  plan: readonly Installment[],
  supply: LocatorSupply,
): PolicyAggregate => ({
  ...aggregate,
  installments: putRecords(
    withoutPlan(aggregate, modification).installments,
    recorded(plan, modification, supply),
  ),
})

/** The aggregate without the modification's plan, which no invoice was made of. */
export const withoutPlan = (aggregate: PolicyAggregate, modification: Modification): PolicyAggregate => {
  const plan = planOf(aggregate, modification).map(installment => installment.locator)
  return plan.length === 0
    ? aggregate
    : { ...aggregate, installments: removeRecords(aggregate.installments, plan) }
}

/** The installments that the modification's term is billed by, planned now by a schedule of the product. */
export function termPlan(
  aggregate: PolicyAggregate,
  modification: Modification,
  scheduleName: string,
  product: ProductDefinition,
  now: Instant,
): Installment[] {
  const schedule = product.paymentSchedules.find(one => one.name === scheduleName)
  if (!schedule) throw new Error(`Product '${product.name}' has no payment schedule '${scheduleName}'.`)
  const plan = planInstallments({
    charges: chargesOf(aggregate, modification),
    schedule: schedule.type,
    terms: product.defaultPaymentTerms,
    coverage: { start: modification.effectiveAt, end: modification.policyEnd },
    now,
    timeZone: aggregate.policy.timeZone,
  })
  return carryingForward(plan, product, aggregate.policy.currency)
}

/** The plan of a product that carries small invoices forward: all installments do that have another after them. */
export function carryingForward(
  plan: readonly Installment[],
  { invoicing }: ProductDefinition,
  currency: CurrencyCode,
): Installment[] {
  if (invoicing.carryForwardBelow === undefined) return [...plan]
  const carriesBelow = money(invoicing.carryForwardBelow, currency).minor
  return plan.map((one, at) => (at < plan.length - 1 ? { ...one, carriesBelow } : one))
}

/** The plan as the modification's records. */
export const recorded = (
  plan: readonly Installment[],
  modification: Modification,
  supply: LocatorSupply,
): PlannedInstallment[] =>
  plan.map(installment => ({
    ...installment,
    locator: supply.uuid(),
    modificationLocator: modification.locator,
    absorbedBy: [],
  }))

export type Invoicing = { aggregate: PolicyAggregate; made: { invoice: Invoice; totalDue: Money }[] }

/** The aggregate with an invoice for every installment that is to be invoiced by now and is not yet. */
export function invoiceWhatIsDue(
  aggregate: PolicyAggregate,
  modification: Modification,
  { now, supply }: Pick<BillingContext, 'now' | 'supply'>,
): Invoicing {
  return invoiceInstallments(aggregate, modification, installmentsToInvoice(aggregate, modification, now), {
    now,
    supply,
  })
}

/**
 * The aggregate with an invoice for each of these installments of the modification's plan. Takes a digit for each. One
 * that asks for too little is carried forward: it is settled, and the plan's next installment that is not to be written
 * off asks for it too. One that the plan writes off is settled so at once.
 */
export function invoiceInstallments(
  aggregate: PolicyAggregate,
  modification: Modification,
  due: readonly PlannedInstallment[],
  { now, supply }: Pick<BillingContext, 'now' | 'supply'>,
): Invoicing {
  if (due.length === 0) return { aggregate, made: [] }
  const totals = amountsDue(aggregate, modification)
  const { currency, timeZone } = aggregate.policy
  const open = notInvoiced(aggregate, modification)
  // What those before carry forward, in the order of time, and the installments that take it over.
  let carried = zero(currency)
  const takers: PlannedInstallment[] = []
  const made = [...due]
    .sort((a, b) => a.number - b.number)
    .map(installment => {
      const planned = totals[installment.number - 1]!
      const totalDue = installment.writeOff ? planned : plus(planned, carried)
      // One whose first invoice became void, or that a void plan had taken over, is due by the end of today at the earliest.
      const again =
        installment.absorbedBy.length > 0 ||
        invoicesOf(aggregate, modification).some(invoice => invoice.installmentNumber === installment.number)
      const dueAt = again ? later(installment.dueAt, endOfDay(now, timeZone)) : installment.dueAt
      const invoice = invoiceOf(
        { ...installment, dueAt },
        totalDue,
        invoiceTypeOf(installment, modification),
        {
          locator: supply.uuid(),
          displayId: supply.digits() as DisplayId,
          policyLocator: aggregate.policy.locator,
          policyModificationLocator: modification.locator,
        },
        now,
      )
      if (installment.writeOff)
        return { invoice: totalDue.minor === 0 ? invoice : writtenOff(invoice, now), totalDue }
      const next = open.find(one => one.number > installment.number && !one.writeOff)
      carried = zero(currency)
      if (!next || totalDue.minor <= 0 || totalDue.minor >= (installment.carriesBelow ?? 0))
        return { invoice, totalDue }
      carried = totalDue
      takers.push({ ...next, takesOver: [...(next.takesOver ?? []), installment.locator] })
      return { invoice: carriedForward(invoice, now), totalDue }
    })
  const invoices = putRecords(
    aggregate.invoices,
    made.map(one => one.invoice),
  )
  const installments = putRecords(aggregate.installments, takers)
  return { aggregate: { ...aggregate, installments, invoices }, made }
}

/** What an invoice of the installment is called: the plan's first after the transaction, and only where it is made at once. */
export const invoiceTypeOf = (
  { number, replans }: Installment,
  { kind }: Pick<Modification, 'kind'>,
): InvoicedTransaction =>
  number === 1 && replans?.bill !== 'planned' ? INVOICED_TRANSACTIONS[kind] : 'installment'

/** The invoice of what the transaction itself asks for or gives back at once; undefined where it makes none. */
export const invoiceOfTransaction = (
  aggregate: PolicyAggregate,
  modification: Modification,
): Invoice | undefined =>
  invoicesOf(aggregate, modification).find(
    invoice => installmentOf(aggregate, invoice).replans?.bill !== 'planned',
  )

/** The policy's invoices that are not void. */
export const standingInvoices = ({ invoices }: PolicyAggregate): Invoice[] =>
  [...invoices.values()].filter(invoice => invoiceStatus(invoice) !== 'invalidated')

/** Installments of the plan whose time to be invoiced has come. One whose invoice became void is invoiced anew. */
export const installmentsToInvoice = (
  aggregate: PolicyAggregate,
  modification: Modification,
  now: Instant,
): PlannedInstallment[] => notInvoiced(aggregate, modification).filter(one => one.issueAt <= now)

/**
 * Installments of the plan that no invoice bills. Of the way back from a lapse only the first until it is issued, which
 * paying that one does: the others wait.
 */
function notInvoiced(aggregate: PolicyAggregate, modification: Modification): PlannedInstallment[] {
  const standing = standingInvoices(aggregate).filter(
    invoice => invoice.policyModificationLocator === modification.locator,
  )
  const invoiced = new Set(standing.map(invoice => invoice.installmentNumber))
  const isFromLapse = aggregate.modifications.get(modification.undoes!)?.kind === 'lapse'
  const waits = isFromLapse && modification.issuedAt === undefined
  return planOf(aggregate, modification).filter(
    one =>
      !isAbsorbed(aggregate, one) &&
      !isSilent(one) &&
      !invoiced.has(one.number) &&
      !(waits && one.number > 1),
  )
}

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
export const futureInstallments = (aggregate: PolicyAggregate): PlannedInstallment[] =>
  [...aggregate.modifications.values()]
    .filter(modification => isBilled(aggregate, modification))
    .flatMap(modification => notInvoiced(aggregate, modification))
    .sort((a, b) => a.issueAt - b.issueAt || a.start - b.start)

/** What each planned invoice will ask for, in the order of time. */
export function plannedTotals(aggregate: PolicyAggregate): Money[] {
  const known = new Map<Uuid, Money[]>()
  return futureInstallments(aggregate).map(({ modificationLocator: owner, number }) => {
    const totals = known.get(owner) ?? amountsDue(aggregate, aggregate.modifications.get(owner)!)
    known.set(owner, totals)
    return totals[number - 1]!
  })
}
