// Invariants of what is billed and paid of a policy, whatever was done to the policy.
import { expect } from 'vitest'
import { money, sum, toText } from '../../src/kernel/money.ts'
import {
  chargesOf,
  futureInstallments,
  installmentOf,
  isAbsorbed,
  isBilled,
  planOf,
  standingInvoices,
  totalsDueOf,
} from '../../src/policy/bills/amounts-due.ts'
import { type Charge, installmentFeeCharges } from '../../src/policy/bills/charge.ts'
import { isStanding } from '../../src/policy/fold/line.ts'
import { billedItemsOf } from '../../src/policy/projection/billed-items.ts'
import { policyView } from '../../src/policy/projection/policy.ts'
import { boundQuote, type Modification, type PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import { appliedAmount, invoiceStatus, isSilent, standingPayments } from '../../src/policy/records/invoice.ts'
import type { Loaded } from '../../src/policy/surroundings.ts'
import { policyState } from '../../src/policy/transitions.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { totalDue } from './total-due.ts'

/** An invoice is paid if its standing payments reach its total, and they never exceed it. */
export function expectPaidMatchesTotals({ aggregate }: Loaded): void {
  const totalDueOf = totalsDueOf(aggregate)
  for (const invoice of aggregate.invoices.values()) {
    const { minor, currency } = totalDueOf(invoice)
    const stands = sum(standingPayments(aggregate, invoice).map(appliedAmount), currency).minor
    const status = invoiceStatus(invoice)
    if (status === 'paid') expect(stands).toBe(minor)
    else if (status === 'unfulfilled') expect(Math.abs(stands)).toBeLessThan(Math.abs(minor))
    // What was paid before the rest was written off stays paid.
    else if (status === 'writtenOff') expect(Math.abs(stands)).toBeLessThan(Math.abs(minor))
    else expect(stands).toBe(0)
    expect(stands === 0 || Math.sign(stands) === Math.sign(minor)).toBe(true)
  }
}

/** Over the plan that bills it, the items of a charge sum to the charge. */
export function expectItemsSumToCharges({ aggregate }: Pick<Loaded, 'aggregate'>): void {
  const apart = { ...aggregate, installments: ownInstallments(aggregate) }
  const itemsOf = billedItemsOf(apart)
  for (const modification of aggregate.modifications.values()) {
    if (!isBilled(aggregate, modification)) continue
    const billed = new Map<string, number>()
    for (const installment of planOf(apart, modification))
      for (const { charge, amount } of itemsOf(installment))
        billed.set(charge.id, (billed.get(charge.id) ?? 0) + amount.minor)
    const charged = chargedBy(aggregate, modification)
    expect(new Set(charged.map(one => one.id)).size).toBe(charged.length)
    for (const charge of charged) expect(billed.get(charge.id)).toBe(charge.amount.minor)
    expect(billed.size).toBe(charged.length)
  }
}

/** The charges of a transaction, including the fees of its installments. */
const chargedBy = (aggregate: PolicyAggregate, modification: Modification): Charge[] => [
  ...chargesOf(aggregate, modification),
  ...installmentFeeCharges(planOf(aggregate, modification)),
]

/** The invoiced and the planned items together bill every charge of every transaction exactly once. */
export function expectChargesBilledOnce({ aggregate }: Pick<Loaded, 'aggregate'>): void {
  const itemsOf = billedItemsOf(aggregate)
  const left = new Map<string, number>()
  const add = (id: string, minor: number): void => void left.set(id, (left.get(id) ?? 0) + minor)
  for (const modification of aggregate.modifications.values())
    if (isBilled(aggregate, modification))
      for (const { id, amount } of chargedBy(aggregate, modification)) add(id, amount.minor)
  const invoiced = standingInvoices(aggregate).map(invoice => installmentOf(aggregate, invoice))
  const settled = [...aggregate.installments.values()].filter(
    one =>
      isSilent(one) &&
      !isAbsorbed(aggregate, one) &&
      isBilled(aggregate, aggregate.modifications.get(one.modificationLocator)!),
  )
  for (const installment of [...invoiced, ...settled, ...futureInstallments(aggregate)])
    for (const { charge, amount } of itemsOf(installment)) add(charge.id, -amount.minor)
  expect([...left].filter(([, minor]) => minor !== 0)).toEqual([])
}

/** The installments as if none were billed in place of another. */
const ownInstallments = ({ installments }: PolicyAggregate): PolicyAggregate['installments'] =>
  new Map(
    [...installments].map(([locator, { takesOver: _, leavesOut: __, ...one }]) => [
      locator,
      { ...one, absorbedBy: [] },
    ]),
  )

/** The invoiced and the planned amounts together are the price of what is in force. */
export function expectBillsMatchPrice({ aggregate, product }: Loaded): void {
  if (!['issued', 'withdrawn'].includes(policyState(aggregate))) return
  const { currency } = aggregate.policy
  const totalDueOf = totalsDueOf(aggregate)
  const billedItems = billedItemsOf(aggregate)
  const invoiced = standingInvoices(aggregate).map(totalDueOf)
  const planned = futureInstallments(aggregate).map(one => totalDue(billedItems(one), currency))
  const price = policyPriceResponse(policyView(aggregate, boundQuote(aggregate), product, isStanding))
  expect(toText(sum([...invoiced, ...planned], currency))).toBe(toText(money(price.total, currency)))
}
