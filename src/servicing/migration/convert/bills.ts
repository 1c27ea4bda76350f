import { type DisplayId, type LocatorSupply, type Uuid, uuidOfPolicy } from '../../../kernel/locators.ts'
import { fromMinor, type Money, sumOf } from '../../../kernel/money.ts'
import { endOfDay, type Instant, later, type Span } from '../../../kernel/time.ts'
import { chargesOf } from '../../../policy/bills/amounts-due.ts'
import { type Charge, isPayable, lineOfCharge } from '../../../policy/bills/charge.ts'
import {
  type InstallmentFee,
  type Invoice,
  invoiceOf,
  type PlannedInstallment,
} from '../../../policy/records/invoice.ts'
import { INVOICED_TRANSACTIONS } from '../../../policy/records/transactions.ts'
import type { ReadTransaction } from './history.ts'
import type { Applied } from './transaction/apply.ts'
import type { Billed } from './transaction/charging.ts'
import type { Making } from './transaction/context.ts'

// The bills of a migrated policy, in the form of plugin plans (policy/records/invoice.ts). Installments of one transaction on the
// same invoice are joined. If several transactions have installments on it, the last installment absorbs the others.

/** A map, since looking up long ids as property names is slow. */
type Plan = { readonly items: Map<string, number>; readonly fees: InstallmentFee[] }

/** The record has no prototype. Otherwise the engine would derive a shape for each set of ids. */
function toRecord(items: ReadonlyMap<string, number>): Record<string, number> {
  const named: Record<string, number> = Object.create(null)
  for (const [id, minor] of items) named[id] = minor
  return named
}

type Bill = Pick<PlannedInstallment, 'start' | 'end' | 'issueAt' | 'dueAt'> & {
  readonly invoiceId: string | undefined
}

/**
 * Returns the key of a bill. Installments of several transactions are on one bill if they have the same invoice, or, where there
 * is none yet, the same times (`joinPlanned`).
 */
const keyOf = ({ invoiceId, issueAt, dueAt }: Bill): string =>
  invoiceId === undefined ? `${issueAt} ${dueAt}` : `invoice ${invoiceId}`

/** The amounts billed so far by transactions: by the line of the charges (`lineOfCharge`), then by bill. */
export class LinesOnBills {
  readonly #lines = new Map<string, Map<string, { readonly bill: Bill; minor: number }>>()

  /** Adds a plan. `lineOf` has the line of each charge, by its id. */
  add(lineOf: ReadonlyMap<string, string>, bill: Bill, { items }: Plan): void {
    const key = keyOf(bill)
    for (const [id, minor] of items) {
      const line = lineOf.get(id)!
      const bills = this.#lines.get(line) ?? new Map<string, { bill: Bill; minor: number }>()
      this.#lines.set(line, bills)
      const known = bills.get(key)
      if (known) known.minor += minor
      else bills.set(key, { bill, minor })
    }
  }

  /** Returns the bills with a positive amount of the line that were not issued at that time, the last one first. */
  after(at: Instant, line: string): { bill: Bill; minor: number }[] {
    return [...(this.#lines.get(line)?.values() ?? [])]
      .filter(({ bill, minor }) => bill.issueAt > at && minor > 0)
      .sort((a, b) => b.bill.dueAt - a.bill.dueAt)
  }
}

export type PlannedBills = {
  /** A locator for each installment. Installments of one invoice share it. */
  readonly locators: readonly Uuid[]
  /** By invoice. */
  readonly invoiced: ReadonlyMap<string, Uuid>
  /** The charges of a transaction without installments. No bill contains them, and they total zero. */
  readonly nothing: Plan | undefined
}

export type Planning = {
  readonly supply: LocatorSupply
  readonly now: Instant
  readonly lines: LinesOnBills
}

/**
 * If many changes have one bill each, the last would be on the bills of all others. So the bill of such a change is open to later
 * changes only while its plan is on fewer bills of other transactions than this.
 */
const MOST_SHARED = 24

/** The number of the installment that bills nothing (`billWithoutInstallments`). */
const NOTHING = 1

const noPlan = (): Plan => ({ items: new Map(), fees: [] })

/** Plans the bills of a transaction. Open installments are due at the end of today at the earliest. */
export function planBills(
  making: Making,
  { request: { installments, issuedTime }, term }: ReadTransaction,
  { modification, billed }: Applied,
  { supply, now, lines }: Planning,
): PlannedBills {
  const groups = [...Map.groupBy(installments.keys(), at => installments[at]!.invoiceId ?? at).values()]
  const starts = [...new Set(installments.map(installment => installment.startTime))].sort((a, b) => a - b)
  const next = new Map(starts.map((start, at) => [start, starts[at + 1]]))
  const bills = groups.map(([at]): Bill => {
    const { startTime, dueTime, generateTime: issueAt = dueTime, invoiceId } = installments[at!]!
    const isLate = invoiceId === undefined && dueTime < now
    return {
      ...spanFrom(startTime, next.get(startTime) ?? term.endTime),
      issueAt,
      dueAt: isLate ? endOfDay(later(issueAt, now), making.policy.timeZone) : dueTime,
      invoiceId,
    }
  })
  const others = new Map<string, Bill>()
  const plans = installments.length > 0 ? installments.map(noPlan) : [noPlan()]
  const placeOf = new Map(bills.map((bill, index) => [keyOf(bill), plans[groups[index]![0]!]!]))
  for (const one of billed)
    distributeAmounts(one, plans, {
      bills: line => lines.after(issuedTime, line),
      planOn(bill) {
        const key = keyOf(bill)
        if (!placeOf.has(key)) others.set(key, bill)
        const plan = placeOf.get(key) ?? noPlan()
        placeOf.set(key, plan)
        return plan
      },
      feeOf: (name, minor) => feeOf(supply, name, fromMinor(minor, making.policy.currency)),
    })
  const lineOf = new Map(billed.flatMap(one => one.charges.map(charge => [charge.id, lineOfCharge(charge)])))
  const nothing = installments.length === 0 ? plans[0] : undefined
  let number = nothing && nothing.items.size > 0 ? NOTHING : 0
  const locators: Uuid[] = []
  const invoiced = new Map<string, Uuid>()
  const record = (bill: Bill, plan: Plan, isShared: boolean): Uuid => {
    const locator = supply.uuid()
    const { invoiceId, ...times } = bill
    number += 1
    making.installments.set(locator, {
      locator,
      modificationLocator: modification.locator,
      number,
      ...times,
      ...contentOf(plan),
      periods: [],
      absorbedBy: [],
    })
    if (invoiceId !== undefined) invoiced.set(invoiceId, locator)
    if (isShared) lines.add(lineOf, bill, plan)
    return locator
  }
  for (const [index, group] of groups.entries()) {
    const plan = group.map(at => plans[at]!).reduce(joinPlans)
    const locator = record(bills[index]!, plan, groups.length > 1 || others.size < MOST_SHARED)
    for (const at of group) locators[at] = locator
  }
  for (const [key, bill] of others) record(bill, placeOf.get(key)!, true)
  return { locators, invoiced, nothing }
}

const spanFrom = (start: Instant, end: Instant): Span => ({
  start,
  end: end > start ? end : ((start + 1) as Instant),
})

const contentOf = ({ items, fees }: Plan): Pick<PlannedInstallment, 'items' | 'fees'> => ({
  items: toRecord(items),
  ...(fees.length > 0 && { fees }),
})

const feeOf = (supply: LocatorSupply, name: string, amount: Money): InstallmentFee => ({
  locator: supply.uuid(),
  name,
  description: name,
  amount,
})

type Places = {
  /** Bills that still have an amount of the line. */
  readonly bills: (line: string) => { readonly bill: Bill; readonly minor: number }[]
  readonly planOn: (bill: Bill) => Plan
  readonly feeOf: (name: string, minor: number) => InstallmentFee
}

/**
 * Distributes the amounts of the installments over the fold's charges. A refund of earlier charges is taken off the bills that
 * still contain them, and the new charge replaces it there, as with a live endorsement. Otherwise the next endorsement would
 * refund charges that were never billed. Everything except the last charge is on the first installment.
 */
function distributeAmounts(billed: Billed, plans: readonly Plan[], places: Places): void {
  const { stated, charges } = billed
  const items = stated.flatMap(one => one.items)
  const main = charges.at(-1)
  if (!main) {
    billAsFees(billed, plans, places)
    return
  }
  for (const { at, amount } of items) addAmount(plans[at]!, main.id, amount.minor)
  /** Adds an amount to a bill, and reduces the last charge there by the same amount. */
  const put = (plan: Plan, { id }: Charge, minor: number): void => {
    addAmount(plan, id, minor)
    addAmount(plan, main.id, -minor)
  }
  if (charges.length === 1) return
  const first = plans[items[0]?.at ?? 0]!
  for (const charge of charges) if (charge !== main) put(first, charge, charge.amount.minor)
  for (const [line, own] of Map.groupBy(charges, lineOfCharge)) {
    const givenBack = own.find(one => one.amount.minor < 0)
    if (!givenBack || line === lineOfCharge(main)) continue
    const total = own.reduce((sum, one) => sum + one.amount.minor, 0)
    for (const { bill, taken } of deductFromBills(places.bills(line), -total)) {
      put(first, givenBack, taken)
      put(places.planOn(bill), givenBack, -taken)
    }
  }
}

/** Amounts without a charge total zero. Each installment bills its part as a separate fee, except for a commission. */
function billAsFees({ stated, name }: Billed, plans: readonly Plan[], { feeOf }: Places): void {
  if (stated.every(one => one.kind === 'commission')) return
  const parts = plans.map(() => 0)
  for (const { at, amount } of stated.flatMap(one => one.items)) parts[at]! += amount.minor
  for (const [at, minor] of parts.entries()) if (minor !== 0) plans[at]!.fees.push(feeOf(name, minor))
}

/** Takes the amount off the bills, in their order. Returns how much each gives. */
function deductFromBills(
  bills: ReturnType<Places['bills']>,
  amount: number,
): { bill: Bill; taken: number }[] {
  const all: { bill: Bill; taken: number }[] = []
  let left = amount
  for (const { bill, minor } of bills) {
    const taken = Math.min(left, minor)
    if (taken <= 0) break
    left -= taken
    all.push({ bill, taken })
  }
  return all
}

function addAmount({ items }: Plan, id: string, minor: number): void {
  const sum = (items.get(id) ?? 0) + minor
  if (sum === 0) items.delete(id)
  else items.set(id, sum)
}

function joinPlans(a: Plan, b: Plan): Plan {
  const both = { items: new Map(a.items), fees: [...a.fees, ...b.fees] }
  for (const [id, minor] of b.items) addAmount(both, id, minor)
  return both
}

/** Joins installments in the order of the line: the last one absorbs the others. */
function joinInstallments(making: Making, locators: readonly Uuid[]): PlannedInstallment {
  const parts = locators.map(locator => making.installments.get(locator)!)
  const last = parts.pop()!
  if (parts.length === 0) return last
  const plan = [...parts, last]
    .map(({ items = {}, fees = [] }): Plan => ({ items: new Map(Object.entries(items)), fees: [...fees] }))
    .reduce(joinPlans)
  const absorbedBy = [last.modificationLocator]
  // Fees move to the absorbing installment.
  for (const one of parts) making.installments.set(one.locator, { ...one, fees: undefined, absorbedBy })
  const all = { ...last, ...contentOf(plan) }
  making.installments.set(last.locator, all)
  return all
}

/** Joins installments of several transactions for the same time, as a live endorsement does: one invoice a day. */
export function joinPlanned(making: Making, invoiced: ReadonlySet<Uuid>): void {
  const planned = [...making.installments.values()].filter(installment => !invoiced.has(installment.locator))
  for (const [, sameTime] of Map.groupBy(planned, one => `${one.issueAt} ${one.dueAt}`)) {
    const owners = Map.groupBy(sameTime, one => one.modificationLocator)
    // One for each transaction: two installments of one transaction at the same time stay separate, as stated.
    const firsts = [...owners.values()].map(([first]) => first!.locator)
    if (firsts.length > 1) joinInstallments(making, firsts)
  }
}

export type InvoiceTimes = Pick<Invoice, 'start' | 'end' | 'dueAt' | 'createdAt'>

/** Creates the invoice of the installments, which are in the order of the line. Takes one digit locator. */
export function invoiceInstallmentsOf(
  making: Making,
  times: InvoiceTimes,
  locators: readonly Uuid[],
  supply: LocatorSupply,
): Invoice {
  const last = joinInstallments(making, locators)
  const { start, end, dueAt, createdAt: at } = times
  const { kind } = making.modifications.get(last.modificationLocator)!
  const invoice: Invoice = {
    locator: uuidOfPolicy(making.policy.locator),
    displayId: supply.digits() as DisplayId,
    policyLocator: making.policy.locator,
    policyModificationLocator: last.modificationLocator,
    installmentNumber: last.number,
    type: last.number === 1 ? INVOICED_TRANSACTIONS[kind] : 'installment',
    start,
    end,
    dueAt,
    createdAt: at,
    updatedAt: at,
    statuses: [{ at, status: 'unfulfilled' }],
  }
  making.invoices.set(invoice.locator, invoice)
  return invoice
}

/**
 * Turns amounts without a charge into fees. If a later plan absorbed parts of a charge that add up to zero, nothing is left for
 * items. Each part then becomes a fee of its installment, so that invoices keep their amounts. Call it once all invoices exist.
 */
export function keepOpposites(making: Making, supply: LocatorSupply): void {
  const { currency } = making.policy
  for (const { locator } of making.modifications.values())
    for (const [id, owner] of oppositesOf(making, locator)) {
      const charge = chargesOf(making, making.modifications.get(owner)!).find(one => one.id === id)
      const name = charge && nameOf(charge)
      for (const one of [...making.installments.values()]) {
        const minor = one.items?.[id]
        if (one.modificationLocator !== locator || minor === undefined) continue
        const { [id]: _, ...items } = one.items!
        const fees = name !== undefined && {
          fees: [...(one.fees ?? []), feeOf(supply, name, fromMinor(minor, currency))],
        }
        making.installments.set(one.locator, { ...one, items, ...fees })
      }
    }
}

/**
 * Returns the charges whose parts were absorbed by the modification's plan and add up to zero: their ids, and the modification
 * that each belongs to.
 */
function oppositesOf({ installments }: Making, by: Uuid): Map<string, Uuid> {
  const owners = new Map<string, Uuid>()
  const sums = new Map<string, number>()
  for (const { absorbedBy, items = {}, modificationLocator } of installments.values()) {
    if (!absorbedBy.includes(by)) continue
    for (const [id, minor] of Object.entries(items)) {
      owners.set(id, modificationLocator)
      sums.set(id, (sums.get(id) ?? 0) + minor)
    }
  }
  return new Map([...owners].filter(([id]) => sums.get(id) === 0))
}

/** Undefined for charges that nobody pays. */
function nameOf(charge: Charge): string | undefined {
  if (!isPayable(charge)) return undefined
  if ('feeName' in charge) return charge.feeName
  return 'taxName' in charge && charge.taxName !== undefined ? charge.taxName : charge.perilName
}

/**
 * Bills a transaction without installments, which had nothing to pay. It may refund and charge the same amount. Both are charges,
 * billed once on a zero invoice that is settled immediately, as for a live transaction. Takes one digit locator.
 */
export function billWithoutInstallments(
  making: Making,
  { request: { issuedTime }, from, term }: ReadTransaction,
  { modification, billed }: Applied,
  { items }: Plan,
  supply: LocatorSupply,
): void {
  if (items.size === 0) return
  const charges = billed.flatMap(one => one.charges)
  const { currency, locator: policyLocator } = making.policy
  const total = sumOf(charges, charge => charge.amount, currency)
  if (total.minor !== 0)
    throw new Error(`Modification ${modification.number} has charges that no installment bills.`)
  const installment: PlannedInstallment = {
    locator: supply.uuid(),
    modificationLocator: modification.locator,
    number: NOTHING,
    ...spanFrom(from, term.endTime),
    issueAt: issuedTime,
    dueAt: issuedTime,
    periods: [],
    absorbedBy: [],
    items: toRecord(items),
  }
  making.installments.set(installment.locator, installment)
  const identity = {
    locator: uuidOfPolicy(policyLocator),
    displayId: supply.digits() as DisplayId,
    policyLocator,
    policyModificationLocator: modification.locator,
  }
  const transaction = INVOICED_TRANSACTIONS[modification.kind]
  making.invoices.set(identity.locator, invoiceOf(installment, total, transaction, identity, issuedTime))
}
