// A policy in an export: the response of GET /policy/{locator} and all other records of the policy. It is sufficient to bill,
// price and prorate the policy elsewhere: items of invoices, planned bills, and the cost of each segment of a peril in force.
import { futureInvoice } from '../../billing/payments.ts'
import { isLong, LongList } from '../../kernel/json.ts'
import { toNumber } from '../../kernel/money.ts'
import { futureInstallments, installmentOf } from '../../policy/bills/amounts-due.ts'
import type { CheckInvoicesResponse, PolicyPriceResponse } from '../../policy/contract/billing.ts'
import type { PolicyResponse } from '../../policy/contract/response.ts'
import { holdbacksInForce, isIssued } from '../../policy/fold/line.ts'
import { billedItemsOf, shownItems } from '../../policy/projection/billed-items.ts'
import {
  allPieces,
  type PolicyAnswer,
  type PolicyView,
  policyAnswer,
  policyView,
} from '../../policy/projection/policy.ts'
import { invoiceResponses } from '../../policy/projection/records.ts'
import { acceptedQuote, type PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { policyPriceResponse } from '../../rating/price.ts'
import { cancellationResponse } from '../../transactions/cancellations/projection.ts'
import { transactionResponse } from '../../transactions/endorsements/projection.ts'
import { graceLapseReinstatements } from '../../transactions/lapses/projection.ts'
import { quoteResponse } from '../../transactions/quotes/projection.ts'
import { reinstatementResponse } from '../../transactions/reinstatements/projection.ts'

/** Amounts in major units, with monthly rates. */
export type SegmentCharges = {
  readonly perilCharacteristicsLocator: string
  readonly premium: number
  readonly technicalPremium?: number
  readonly taxes: readonly { readonly name: string; readonly amount: number }[]
  readonly commissions: readonly {
    readonly recipient: string
    readonly month: number
    readonly amount: number
  }[]
}

/** An amount that is held back from something that ended, in major units. Includes fees and commissions, which nobody pays. */
export type HeldBackAmount = {
  readonly type: 'premium' | 'tax' | 'commission' | 'fee'
  readonly amount: number
  readonly policyModificationLocator: string
  readonly perilLocator?: string
  readonly taxName?: string
  readonly commissionRecipient?: string
  readonly feeLocator?: string
}

export type PolicyRecord = Omit<PolicyResponse, 'invoices'> &
  Pick<CheckInvoicesResponse, 'invoices' | 'futureInvoices'> & {
    readonly timezone: string
    readonly currency: string
    readonly quotes: readonly object[]
    /** Endorsements and renewals, issued or not. */
    readonly transactions: readonly object[]
    readonly cancellations: readonly object[]
    readonly reinstatements: readonly object[]
    /** With the lapses that they led to, and reinstatements of these. */
    readonly gracePeriods: readonly object[]
    /**
     * The perils have more characteristics than a line can hold. They are left out, as are the charges of their segments and the
     * changes of transactions to them. `GET /policy/{locator}?perilCharacteristics={exposureLocator}` returns them.
     */
    readonly isOutline?: true
    /** Present for issued policies. */
    readonly price?: PolicyPriceResponse
    /** For each segment of a peril that is in force. */
    readonly segmentCharges: readonly SegmentCharges[]
    readonly holdbacks: readonly HeldBackAmount[]
  }

/** A PolicyRecord in which the lists that grow with the perils may be long. */
export type PolicyToExport = Omit<PolicyRecord, 'modifications' | 'exposures' | 'segmentCharges'> &
  Pick<PolicyAnswer, 'modifications' | 'exposures'> & {
    readonly segmentCharges: readonly SegmentCharges[] | LongList<SegmentCharges>
  }

/**
 * Returns a policy as an export contains it. Price, costs of segments and holdbacks are those in force, and only of an issued
 * policy.
 */
export function policyRecord(aggregate: PolicyAggregate, product: ProductDefinition): PolicyToExport {
  const { policy, quotes, endorsements, cancellations, reinstatements } = aggregate
  const bound = policy.issuedAt === undefined ? undefined : acceptedQuote(aggregate)
  const issued = bound && policyView(aggregate, bound, product, isIssued)
  const answer = policyAnswer(aggregate, product, {
    summarizeQuotes: false,
    perilCharacteristics: 'fitting',
  })
  const isOutline = leavesPerilsOut(answer)
  const charged = isOutline ? undefined : issued
  return {
    ...answer,
    ...(isOutline && { isOutline }),
    timezone: policy.timeZone,
    currency: policy.currency,
    quotes: [...quotes.values()].map(one => quoteResponse(aggregate, one, product)),
    transactions: [...endorsements.values()].map(one => transactionResponse(aggregate, one, product)),
    cancellations: [...cancellations.values()].map(one => cancellationResponse(aggregate, one, product)),
    reinstatements: [...reinstatements.values()].map(one => reinstatementResponse(aggregate, one, product)),
    gracePeriods: graceLapseReinstatements(aggregate, product),
    ...itemisedBills(aggregate),
    ...(issued && { price: policyPriceResponse(issued) }),
    segmentCharges: charged ? segmentCharges(answer, charged) : [],
    holdbacks: issued ? heldBackAmounts(issued) : [],
  }
}

function leavesPerilsOut({ exposures }: PolicyAnswer): boolean {
  if (exposures instanceof LongList) return false
  const perils = exposures.flatMap(one => (one.perils instanceof LongList ? [] : one.perils))
  return perils.some(({ characteristics }) => characteristics.length === 0)
}

function segmentCharges(
  answer: PolicyAnswer,
  issued: PolicyView,
): SegmentCharges[] | LongList<SegmentCharges> {
  const charges = () => chargesOfSegments(issued)
  return isLong(answer) ? new LongList(charges) : [...charges()]
}

function heldBackAmounts({ aggregate: { perilRuns }, line }: PolicyView): HeldBackAmount[] {
  const inForce = new Set(holdbacksInForce(line))
  return line.flatMap(({ modification: { locator, holdbacks = [] } }) =>
    holdbacks
      .filter(one => inForce.has(one))
      .map((one): HeldBackAmount => {
        const { type } = one
        const kept = { type, amount: toNumber(one.amount), policyModificationLocator: locator }
        if (type === 'fee') return { ...kept, feeLocator: one.feeLocator }
        const { perilLocator, price } = perilRuns.get(one.perilRunLocator)!
        if (type === 'tax') return { ...kept, perilLocator, taxName: one.taxName }
        if (type === 'premium') return { ...kept, perilLocator }
        return { ...kept, perilLocator, commissionRecipient: price!.commissions[one.position]!.recipient }
      }),
  )
}

/** Returns bills with all items, however many there are, because an export is read line by line. */
function itemisedBills(
  aggregate: PolicyAggregate,
): Pick<CheckInvoicesResponse, 'invoices' | 'futureInvoices'> {
  const itemsOf = billedItemsOf(aggregate)
  const invoices = [...aggregate.invoices.values()]
  const responses = invoiceResponses(aggregate, invoices)
  return {
    invoices: invoices.map((invoice, at) => {
      const items = itemsOf(installmentOf(aggregate, invoice))
      const financialTransactions = shownItems(aggregate, items, invoice.createdAt, true)
      return { ...responses[at]!, financialTransactions }
    }),
    futureInvoices: futureInstallments(aggregate).map(one =>
      futureInvoice(aggregate, one, itemsOf(one), true),
    ),
  }
}

function* chargesOfSegments(view: PolicyView): Generator<SegmentCharges> {
  for (const { run, piece, locator } of allPieces(view)) {
    const { price } = run
    const { amounts, replacedBy } = piece
    if (!amounts || !price || replacedBy !== undefined) continue
    const { premium, technicalPremium, taxes, commissions } = amounts
    yield {
      perilCharacteristicsLocator: locator,
      premium: toNumber(premium),
      ...(technicalPremium && { technicalPremium: toNumber(technicalPremium) }),
      taxes: taxes.map((amount, at) => ({ name: price.taxes[at]!.name, amount: toNumber(amount) })),
      commissions: commissions.map((amount, at) => {
        const { recipient, month } = price.commissions[at]!
        return { recipient, month: Number(month), amount: toNumber(amount) }
      }),
    }
  }
}
