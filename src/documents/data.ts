// The `data` of a document's template (brief 5.3): the policy as it was known when the document was asked for, its
// policyholder, and the record that the document is of under a name of its own.
import { amountsDue, chargesOf, planOf } from '../billing/bill.ts'
import { financialTransactions, MOST_ITEMISED, summedItems } from '../billing/financial-transactions.ts'
import type { Invoice } from '../billing/invoice.ts'
import { policyInvoiceResponse } from '../billing/invoice-response.ts'
import { type InstallmentItem, itemsOf } from '../billing/items.ts'
import { cancellationOf } from '../cancellations/cancellation-of.ts'
import { cancellationResponse } from '../cancellations/projection.ts'
import { endorsementOf } from '../endorsements/endorsement-of.ts'
import { transactionResponse } from '../endorsements/projection.ts'
import type { CancellationLocator, EndorsementLocator, QuoteLocator, Uuid } from '../platform/locators.ts'
import { shardOfDigits } from '../platform/locators.ts'
import { type Money, sum, toNumber } from '../platform/money.ts'
import { type Modification, type PolicyAggregate, type Quote, selectedQuote } from '../policies/aggregate.ts'
import { isStanding } from '../policies/fold/line.ts'
import { policyResponse } from '../policies/projection/policy.ts'
import { perilSegmentLocator } from '../policies/projection/view.ts'
import type { Loaded } from '../policies/surroundings.ts'
import { quoteOf } from '../quotes/quote-of.ts'
import {
  policyData,
  policyholderData,
  type TemplateRecord,
  templateRecord,
  withLazy,
} from '../rating/template-data.ts'
import { reinstatementResponse } from '../reinstatements/projection.ts'
import { reinstatementOf } from '../reinstatements/reinstatement-of.ts'
import type { PolicyDocument } from './document.ts'
import { policyUpdates } from './policy-updates.ts'

type Subject = Pick<PolicyDocument, 'subject' | 'subjectLocator' | 'modificationLocator'>

/** What templates see; parts are made when a template first asks for them. */
export function documentData(
  { aggregate, policyholder, product, configuration }: Loaded,
  document: Subject,
): object {
  const quote =
    document.subject === 'quote'
      ? quoteOf(aggregate, Number(document.subjectLocator) as QuoteLocator)
      : selectedQuote(aggregate)
  const data = {}
  withLazy(data, 'policy', () => policyData(shownPolicy(aggregate, product, quote, document), product))
  withLazy(data, 'policyholder', () =>
    policyholderData(policyholder, configuration.configuration.policyholderFields),
  )
  const own = ofSubject(aggregate, product, document)
  for (const [name, make] of Object.entries(own)) withLazy(data, name, make)
  return data
}

/** What is not accepted yet shows too, in the document that is about it. */
const shownPolicy = (
  aggregate: PolicyAggregate,
  product: Loaded['product'],
  quote: Quote,
  { modificationLocator }: Subject,
) =>
  policyResponse(
    aggregate,
    product,
    { summarizeQuotes: false },
    quote,
    one => isStanding(one) || (one.locator === modificationLocator && one.invalidatedAt === undefined),
  )

function ofSubject(
  aggregate: PolicyAggregate,
  product: Loaded['product'],
  { subject, subjectLocator }: Subject,
): Record<string, () => object> {
  const digits = Number(subjectLocator)
  switch (subject) {
    case 'endorsement':
    case 'renewal': {
      const transaction = endorsementOf(aggregate, digits as EndorsementLocator)
      return {
        [subject]: () => ({
          ...templateRecord(transactionResponse(aggregate, transaction, product)),
          display_id: subjectLocator,
          name: transaction.name,
          start_timestamp: transaction.startAt,
          end_timestamp: transaction.endAt ?? null,
          policy_updates: policyUpdates(aggregate, transaction, product),
        }),
      }
    }
    case 'cancellation': {
      const cancellation = cancellationOf(aggregate, digits as CancellationLocator)
      return {
        cancellation: () => ({
          ...templateRecord(cancellationResponse(aggregate, cancellation, product)),
          display_id: subjectLocator,
        }),
      }
    }
    case 'reinstatement': {
      const reinstatement = reinstatementOf(aggregate, subjectLocator as Uuid)
      return { reinstatement: () => templateRecord(reinstatementResponse(aggregate, reinstatement, product)) }
    }
    case 'invoice': {
      const invoice = aggregate.invoices.get(subjectLocator as Uuid)
      if (!invoice) throw new Error(`The policy has no invoice ${subjectLocator}.`)
      return {
        invoice: () => templateRecord(invoiceShown(aggregate, invoice)),
        invoice_financials: () => invoiceFinancials(aggregate, invoice),
      }
    }
    default:
      return {}
  }
}

const dueOf = (
  aggregate: PolicyAggregate,
  modification: Modification,
  { installmentNumber }: Invoice,
): Money => amountsDue(aggregate, modification)[installmentNumber - 1]!

function invoiceShown(aggregate: PolicyAggregate, invoice: Invoice) {
  const modification = aggregate.modifications.get(invoice.policyModificationLocator)!
  return policyInvoiceResponse(invoice, {
    totalDue: dueOf(aggregate, modification, invoice),
    transactionIssued: modification.issuedAt !== undefined,
    payments: [],
    documents: [],
  })
}

/** What the invoice bills, item by item; those of a policy of thousands of perils are summed by type and name. */
function invoiceFinancials(aggregate: PolicyAggregate, invoice: Invoice): TemplateRecord {
  const modification = aggregate.modifications.get(invoice.policyModificationLocator)!
  const absorbed =
    invoice.installmentNumber === 1
      ? [...aggregate.installments.values()].filter(one => one.absorbedBy === modification.locator)
      : []
  const billed: [Modification, InstallmentItem[]][] = [
    [modification, itemsOfInstallment(aggregate, modification, invoice.installmentNumber)],
    ...absorbed.map(({ modificationLocator, number }): [Modification, InstallmentItem[]] => {
      const owner = aggregate.modifications.get(modificationLocator)!
      return [owner, itemsOfInstallment(aggregate, owner, number)]
    }),
  ]
  const isItemised = billed.reduce((count, [, items]) => count + items.length, 0) <= MOST_ITEMISED / 50
  const shard = shardOfDigits(aggregate.policy.locator)
  const segment = [...aggregate.segments.values()].findLast(one => one.madeBy === modification.locator)
  return templateRecord({
    displayId: String(invoice.displayId),
    dueTimestamp: String(invoice.dueAt),
    startTimestamp: String(invoice.start),
    endTimestamp: String(invoice.end),
    totalDue: toNumber(sum([dueOf(aggregate, modification, invoice)], aggregate.policy.currency)),
    totalDueCurrency: aggregate.policy.currency,
    financialTransactions: billed.flatMap(([owner, items]) =>
      financialTransactions(
        aggregate,
        owner,
        isItemised ? items : summedItems(items),
        invoice.createdAt,
        run => (segment ? perilSegmentLocator(run, segment, shard) : run),
      ),
    ),
  })
}

function itemsOfInstallment(
  aggregate: PolicyAggregate,
  modification: Modification,
  number: number,
): InstallmentItem[] {
  const plan = planOf(aggregate, modification)
  return itemsOf(plan[number - 1]!, plan, chargesOf(aggregate, modification))
}
