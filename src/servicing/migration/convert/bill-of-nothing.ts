// The bill of a transaction that has no installments, as the other system made none where nothing was to be paid. What it
// gives back of one thing and charges of the same are charges all the same, and each is billed once: they lie on an invoice
// of nothing, settled as soon as it is made, which is what a live transaction of that kind leaves where nothing is open.
import type { DisplayId, LocatorSupply } from '../../../kernel/locators.ts'
import { sum } from '../../../kernel/money.ts'
import type { Instant } from '../../../kernel/time.ts'
import type { PlannedInstallment } from '../../../policy/records/installment.ts'
import { invoiceOf } from '../../../policy/records/invoice.ts'
import { INVOICED_TRANSACTIONS } from '../../../policy/records/transactions.ts'
import type { ReadTransaction } from './history.ts'
import type { Making } from './making.ts'
import type { Carried } from './transaction/carry-out.ts'

/** Bills what the transaction charges, if anything; it has no installments. Takes a digit. */
export function billOfNothing(
  making: Making,
  { request: { issuedTime }, from, term }: ReadTransaction,
  { modification, billed }: Carried,
  supply: LocatorSupply,
): void {
  const charges = billed.flatMap(one => one.charges)
  if (charges.length === 0) return
  const { currency, locator: policyLocator } = making.policy
  const total = sum(
    charges.map(charge => charge.amount),
    currency,
  )
  if (total.minor !== 0)
    throw new Error(`Modification ${modification.number} charges what no installment bills.`)
  const installment: PlannedInstallment = {
    locator: supply.uuid(),
    modificationLocator: modification.locator,
    number: 1,
    start: from,
    end: term.endTime > from ? term.endTime : ((from + 1) as Instant),
    issueAt: issuedTime,
    dueAt: issuedTime,
    periods: [],
    items: Object.fromEntries(charges.map(({ id, amount }) => [id, amount.minor])),
    absorbedBy: [],
  }
  making.installments.set(installment.locator, installment)
  const identity = {
    locator: supply.uuid(),
    displayId: supply.digits() as DisplayId,
    policyLocator,
    policyModificationLocator: modification.locator,
  }
  const transaction = INVOICED_TRANSACTIONS[modification.kind]
  making.invoices.set(identity.locator, invoiceOf(installment, total, transaction, identity, issuedTime))
}
