// Reverses fees of installments by hand, like fees of the policy (brief 3.3).
import { notFound, wrongState } from '../kernel/errors.ts'
import type { Uuid } from '../kernel/locators.ts'
import { standingInvoices } from '../policy/bills/amounts-due.ts'
import { type PolicyAggregate, recordsWhere } from '../policy/records/aggregate.ts'
import { invoiceStatus, type PlannedInstallment } from '../policy/records/invoice.ts'

/**
 * The installment whose fee the locator names, with the fee reversed by the modification; `installments` are the policy's
 * as they are by then. Refuses with 404 an unknown fee, with 409 one that was reversed, or that no invoice asks for.
 */
export function withFeeReversed(
  aggregate: PolicyAggregate,
  installments: PolicyAggregate['installments'],
  locator: string,
  by: Uuid,
): PlannedInstallment {
  const [installment] = recordsWhere(
    installments,
    one => one.fees?.some(fee => fee.locator === locator) === true,
  )
  const fee = installment?.fees?.find(one => one.locator === locator)
  if (!installment || !fee) throw notFound('fee', locator)
  if (fee.reversedBy) throw wrongState(`Fee '${locator}' (${fee.name}) is reversed already.`)
  if (aggregate.modifications.get(installment.modificationLocator)!.issuedAt === undefined)
    throw wrongState(
      `Fee '${locator}' (${fee.name}) is of a transaction that is not issued; issue or invalidate that first.`,
    )
  if (!isAsked(aggregate, installment))
    throw wrongState(
      `Fee '${locator}' (${fee.name}) is of an installment that no invoice asks for: there is nothing to reverse.`,
    )
  const fees = installment.fees!.map(one => (one === fee ? { ...one, reversedBy: by } : one))
  return { ...installment, fees }
}

/** Whether an invoice of it, or of an installment that asks for it too, is paid or to be paid. */
function isAsked(aggregate: PolicyAggregate, installment: PlannedInstallment): boolean {
  const { modificationLocator, number, locator } = installment
  return (
    standingInvoices(aggregate).some(
      one =>
        one.policyModificationLocator === modificationLocator &&
        one.installmentNumber === number &&
        invoiceStatus(one) !== 'writtenOff',
    ) ||
    recordsWhere(aggregate.installments, one => one.takesOver?.includes(locator) === true).some(one =>
      isAsked(aggregate, one),
    )
  )
}
