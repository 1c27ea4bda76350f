import { planBills } from '../../billing/billing.ts'
import { plannedInvoicesOf } from '../../billing/payments.ts'
import type { BillPlan } from '../../billing/schedule.ts'
import type { EndorsementLocator } from '../../kernel/locators.ts'
import { chargesOf, invoiceOfTransaction, planOf } from '../../policy/bills/amounts-due.ts'
import { installmentFeeCharges } from '../../policy/bills/charge.ts'
import { installmentItems } from '../../policy/bills/items.ts'
import type { FutureInvoiceResponse } from '../../policy/contract/billing.ts'
import { isIssued } from '../../policy/fold/line.ts'
import {
  financialTransactions,
  MOST_ITEMISED,
  segmentLocators,
  summedItems,
} from '../../policy/projection/billed-items.ts'
import { textIfAny, underwritingResponse } from '../../policy/projection/characteristics.ts'
import { documentsOf, invoiceResponses } from '../../policy/projection/records.ts'
import { type Modification, type PolicyAggregate, recordsWhere } from '../../policy/records/aggregate.ts'
import { isSilent } from '../../policy/records/invoice.ts'
import {
  type Endorsement,
  type EndorsementChanges,
  endorsementOf,
  type PerilCreate,
  type PerilUpdate,
} from '../../policy/records/transactions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { readFieldValues } from '../../product/fields/values.ts'
import type { RecordKind } from '../mechanism/kind.ts'
import type { RenewalResponse } from '../renewals/contract.ts'
import { personsDecision } from './application.ts'
import type { EndorsementResponse } from './contract.ts'

export const ENDORSEMENTS: RecordKind<EndorsementLocator, Endorsement, EndorsementResponse> = {
  name: 'endorsement',
  form: 'digits',
  select: endorsementLocator => ({ endorsementLocator }),
  all: ({ endorsements }) => recordsWhere(endorsements, ({ kind }) => kind === 'endorsement'),
  find: endorsementOf,
  show: endorsementResponse,
}

export const RENEWALS: RecordKind<EndorsementLocator, Endorsement, RenewalResponse> = {
  name: 'renewal',
  form: 'digits',
  select: renewalLocator => ({ renewalLocator }),
  all: ({ endorsements }) => recordsWhere(endorsements, ({ kind }) => kind === 'renewal'),
  find: endorsementOf,
  show: renewalResponse,
}

export function endorsementResponse(
  aggregate: PolicyAggregate,
  endorsement: Endorsement,
  product: ProductDefinition,
): EndorsementResponse {
  return {
    ...commonMembers(aggregate, endorsement, product),
    endorsementName: endorsement.name,
    startTimestamp: String(endorsement.startAt),
    newPolicyEndTimestamp: textIfAny(endorsement.endAt),
    reprice: endorsement.changes.reprice ?? false,
  }
}

function renewalResponse(
  aggregate: PolicyAggregate,
  renewal: Endorsement,
  product: ProductDefinition,
): RenewalResponse {
  return {
    ...commonMembers(aggregate, renewal, product),
    renewalStartTimestamp: String(renewal.startAt),
    renewalEndTimestamp: String(renewal.endAt),
  }
}

/** Returns an endorsement or a renewal as responses show it. */
export const transactionResponse = (
  aggregate: PolicyAggregate,
  transaction: Endorsement,
  product: ProductDefinition,
): EndorsementResponse | RenewalResponse =>
  (transaction.kind === 'renewal' ? renewalResponse : endorsementResponse)(aggregate, transaction, product)

function commonMembers(aggregate: PolicyAggregate, transaction: Endorsement, product: ProductDefinition) {
  const { policy } = aggregate
  const { modificationLocator, state } = transaction
  const underwriting =
    state === 'application' ? personsDecision(aggregate, transaction) : transaction.underwriting
  const modification =
    modificationLocator === undefined ? undefined : aggregate.modifications.get(modificationLocator)
  const invoice = modification && invoiceOfTransaction(aggregate, modification)
  return {
    locator: String(transaction.locator),
    policyholderLocator: policy.policyholderLocator,
    policyLocator: String(policy.locator),
    productLocator: product.locator,
    state,
    createdTimestamp: String(transaction.createdAt),
    updatedTimestamp: String(transaction.updatedAt),
    issuedTimestamp: textIfAny(transaction.issuedAt),
    ...requestedChanges(transaction.changes),
    automatedUnderwritingResult: underwriting && underwritingResponse(underwriting),
    invoice: invoice && invoiceResponses(aggregate, [invoice])[0],
    plannedInvoices: modification && plannedInvoices(aggregate, transaction, modification, product),
    documents: documentsOf(aggregate, transaction.kind, transaction.locator),
  }
}

/**
 * Returns the invoices that acceptance would plan for a quote, and for an accepted endorsement with a new payment schedule the
 * invoices still to come.
 */
function plannedInvoices(
  aggregate: PolicyAggregate,
  transaction: Endorsement,
  modification: Modification,
  product: ProductDefinition,
): FutureInvoiceResponse[] | undefined {
  const { state, kind, changes } = transaction
  if (state === 'quoted') return planned(aggregate, transaction, modification, product)
  const isMoved = kind === 'endorsement' && changes.newPaymentScheduleName !== undefined
  return isMoved && (state === 'accepted' || state === 'issued')
    ? plannedInvoicesOf(aggregate, modification)
    : undefined
}

function planned(
  aggregate: PolicyAggregate,
  transaction: Endorsement,
  modification: Modification,
  product: ProductDefinition,
): FutureInvoiceResponse[] {
  const quotedAt = modification.updatedAt
  const segmentLocatorOf = segmentLocators(aggregate)
  const bills =
    quotedOwnBills(aggregate, modification) ??
    planBills(aggregate, modification, {
      product,
      now: quotedAt,
      newPaymentScheduleName: transaction.changes.newPaymentScheduleName,
    })
  const all = installmentItems(bills.plan, bills.charges)
  const shown = [...bills.plan.entries()].filter(([, one]) => !isSilent(one))
  const plan = shown.map(([, one]) => one)
  const items = shown.map(([at]) => all[at]!)
  const isLong = items.reduce((count, list) => count + list.length, 0) > MOST_ITEMISED
  return plan.map(({ issueAt, dueAt, start, end, writeOff = false }, at) => ({
    issueTimestamp: String(issueAt),
    dueTimestamp: String(dueAt),
    startTimestamp: String(start),
    endTimestamp: String(end),
    writeOff,
    financialTransactions: financialTransactions(
      aggregate,
      isLong ? summedItems(items[at]!) : items[at]!,
      issueAt,
      segmentLocatorOf,
    ),
  }))
}

/**
 * Returns the product's own bills from the time of the quote, or undefined if it plans none. They bill other transactions as of
 * that time, so all charges count, including those billed since.
 */
function quotedOwnBills(
  aggregate: PolicyAggregate,
  modification: Modification,
): Pick<BillPlan, 'charges' | 'plan'> | undefined {
  const plan = planOf(aggregate, modification)
  if (plan.length === 0) return undefined
  const others = [...aggregate.modifications.values()].filter(isIssued)
  const makers = [modification, ...others]
  const charges = makers.flatMap(one => chargesOf(aggregate, one))
  const fees = [...others, modification].flatMap(one => installmentFeeCharges(planOf(aggregate, one)))
  return { plan, charges: [...charges, ...fees] }
}

const values = (wire: unknown) => readFieldValues(wire).values

const numberIfAny = (amount: unknown): number | undefined =>
  amount === undefined || amount === null ? undefined : Number(amount)

const textOrNone = (amount: unknown): string | undefined =>
  amount === undefined || amount === null ? undefined : String(amount)

const groupChanges = (
  changes: Pick<EndorsementChanges, 'addFieldGroups' | 'updateFieldGroups' | 'removeFieldGroups'>,
) => ({
  addFieldGroups: newGroups(changes.addFieldGroups),
  updateFieldGroups: (changes.updateFieldGroups ?? []).map(one => ({
    ...one,
    fieldValues: values(one.fieldValues),
  })),
  removeFieldGroups: [...(changes.removeFieldGroups ?? [])],
})

const newGroups = (groups: EndorsementChanges['addFieldGroups']) =>
  (groups ?? []).map(({ fieldName, locator, fieldValues }) => ({
    fieldName,
    locator,
    fieldValues: values(fieldValues),
  }))

const amountsOf = (peril: PerilCreate | PerilUpdate) => ({
  deductible: numberIfAny(peril.deductible),
  lumpSumPayment: numberIfAny(peril.lumpSumPayment),
  indemnityInAggregate: textOrNone(peril.indemnityInAggregate),
  indemnityPerEvent: textOrNone(peril.indemnityPerEvent),
  indemnityPerItem: textOrNone(peril.indemnityPerItem),
})

const newPerils = (perils: readonly PerilCreate[] | undefined) =>
  (perils ?? []).map(peril => ({
    name: peril.name,
    locator: peril.locator,
    fieldValues: values(peril.fieldValues),
    fieldGroups: newGroups(peril.fieldGroups),
    ...amountsOf(peril),
  }))

/** Returns the changes as requested, with every value as a list. */
const requestedChanges = (changes: EndorsementChanges) => ({
  fieldValues: values(changes.fieldValues),
  ...groupChanges(changes),
  addExposures: (changes.addExposures ?? []).map(one => ({
    exposureName: one.exposureName,
    locator: one.locator,
    perils: newPerils(one.perils),
    fieldValues: values(one.fieldValues),
    fieldGroups: newGroups(one.fieldGroups),
  })),
  updateExposures: (changes.updateExposures ?? []).map(one => ({
    exposureLocator: one.exposureLocator,
    fieldValues: values(one.fieldValues),
    ...groupChanges(one),
    addPerils: newPerils(one.addPerils),
    updatePerils: (one.updatePerils ?? []).map(peril => ({
      perilLocator: peril.perilLocator,
      fieldValues: values(peril.fieldValues),
      ...groupChanges(peril),
      ...amountsOf(peril),
      removeDeductible: peril.removeDeductible ?? undefined,
      removeIndemnityInAggregate: peril.removeIndemnityInAggregate ?? undefined,
      removeIndemnityPerEvent: peril.removeIndemnityPerEvent ?? undefined,
      removeIndemnityPerItem: peril.removeIndemnityPerItem ?? undefined,
      removeLumpSumPayment: peril.removeLumpSumPayment ?? undefined,
    })),
    endPerils: [...(one.endPerils ?? [])],
  })),
  endExposures: [...(changes.endExposures ?? [])],
  newPaymentScheduleName: changes.newPaymentScheduleName,
})
