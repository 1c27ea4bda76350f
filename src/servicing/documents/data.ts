// The `data` of a document's template (brief 5.3): the policy as known when the document was requested, its policyholder, and the
// record that the document is about.

import { invoiceResponse } from '../../billing/payments.ts'
import type { CancellationLocator, EndorsementLocator, QuoteLocator, Uuid } from '../../kernel/locators.ts'
import { getOrThrow } from '../../kernel/maps.ts'
import { add, type TimeZone } from '../../kernel/time.ts'
import { installmentOf } from '../../policy/bills/amounts-due.ts'
import { isStanding } from '../../policy/fold/line.ts'
import { billedItemsOf, shownItems } from '../../policy/projection/billed-items.ts'
import { withLazy } from '../../policy/projection/characteristics.ts'
import { policyResponse } from '../../policy/projection/policy.ts'
import {
  type Modification,
  type PolicyAggregate,
  putRecords,
  type Quote,
  selectedQuote,
} from '../../policy/records/aggregate.ts'
import type { Invoice } from '../../policy/records/invoice.ts'
import {
  type Cancellation,
  cancellationOf,
  endorsementOf,
  type PolicyDocument,
  quoteOf,
  reinstatementOf,
} from '../../policy/records/transactions.ts'
import { basisAt, selectionBasis } from '../../policy/selection-basis.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import {
  type DocumentDefinition,
  documentDefinitions,
  type ProductDefinition,
} from '../../product/configuration.ts'
import type { SelectionBasis } from '../../product/resources.ts'
import {
  policyData,
  policyholderData,
  type TemplateRecord,
  templateRecord,
} from '../../rating/template-data.ts'
import { LAPSE } from '../../transactions/cancellations/decision.ts'
import { cancellationResponse } from '../../transactions/cancellations/projection.ts'
import { policyOnIssue } from '../../transactions/endorsements/plans.ts'
import { transactionData } from '../../transactions/endorsements/template-data.ts'
import type { LapseResponse } from '../../transactions/lapses/contract.ts'
import {
  gracePeriodResponse,
  lapseReinstatementResponse,
  lapseResponse,
} from '../../transactions/lapses/projection.ts'
import { policyOnReturn } from '../../transactions/reinstatements/effect.ts'
import { reinstatementResponse } from '../../transactions/reinstatements/projection.ts'

type Subject = Pick<PolicyDocument, 'subject' | 'subjectLocator' | 'modificationLocator'>

/** Each part is built when a template first reads it. */
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
  const own = subjectData(aggregate, product, document)
  for (const [name, make] of Object.entries(own)) withLazy(data, name, make)
  return data
}

/** A document about a transaction shows the policy as it will be once the transaction is issued, even before it is accepted. */
function shownPolicy(
  aggregate: PolicyAggregate,
  product: Loaded['product'],
  quote: Quote,
  { modificationLocator }: Subject,
) {
  const own = modificationLocator && aggregate.modifications.get(modificationLocator)
  const pending = own && own.issuedAt === undefined && own.invalidatedAt === undefined ? own : undefined
  return policyResponse(
    pending ? withIssue(aggregate, pending) : aggregate,
    product,
    { summarizeQuotes: false },
    quote,
    one => isStanding(one) || one.locator === pending?.locator,
  )
}

/** Applies what an issue changes in addition to the line: the policy's end and payment schedule, and an undone cancellation. */
function withIssue(aggregate: PolicyAggregate, modification: Modification): PolicyAggregate {
  const { kind, transactionLocator = '' } = modification
  const endorsement = aggregate.endorsements.get(Number(transactionLocator) as EndorsementLocator)
  if (endorsement) return { ...aggregate, policy: policyOnIssue(aggregate, endorsement) }
  if (kind !== 'reinstatement') return aggregate
  const reinstatement = aggregate.reinstatements.get(transactionLocator as Uuid)
  const issued = reinstatement ? [{ ...reinstatement, state: 'issued' as const }] : []
  return {
    ...aggregate,
    policy: policyOnReturn(aggregate, modification),
    reinstatements: putRecords(aggregate.reinstatements, issued),
  }
}

function subjectData(
  aggregate: PolicyAggregate,
  product: Loaded['product'],
  { subject, subjectLocator }: Subject,
): Record<string, () => object> {
  const digits = Number(subjectLocator)
  switch (subject) {
    case 'endorsement':
    case 'renewal': {
      const transaction = endorsementOf(aggregate, digits as EndorsementLocator)
      return { [subject]: () => transactionData(aggregate, transaction, product) }
    }
    case 'cancellation': {
      const cancellation = cancellationOf(aggregate, digits as CancellationLocator)
      return {
        cancellation: () => ({
          ...templateRecord(cancellationResponse(aggregate, cancellation, product)),
          display_id: subjectLocator,
        }),
        // A lapse template serves both kinds of lapse: this one, and that of a product without cancellations.json.
        ...(cancellation.name === LAPSE && {
          lapse: () => templateRecord(lapseOf(cancellation, product, aggregate.policy.timeZone)),
        }),
      }
    }
    case 'reinstatement': {
      const reinstatement = reinstatementOf(aggregate, subjectLocator as Uuid)
      return { reinstatement: () => templateRecord(reinstatementResponse(aggregate, reinstatement, product)) }
    }
    case 'invoice': {
      const invoice = getOrThrow(aggregate.invoices, subjectLocator as Uuid, 'invoice')
      return {
        invoice: () => templateRecord(invoiceResponse(aggregate, invoice.locator)),
        invoice_financials: () => invoiceFinancials(aggregate, invoice),
      }
    }
    case 'gracePeriod': {
      const grace = getOrThrow(aggregate.gracePeriods, subjectLocator as Uuid, 'grace period')
      return {
        grace_period: () => ({
          ...templateRecord(gracePeriodResponse(aggregate, grace, product)),
          invoice: templateRecord(invoiceResponse(aggregate, grace.invoiceLocator)),
        }),
      }
    }
    case 'lapse': {
      const lapse = getOrThrow(aggregate.lapses, subjectLocator as Uuid, 'lapse')
      return { lapse: () => templateRecord(lapseResponse(aggregate, lapse)) }
    }
    case 'lapseReinstatement': {
      const reinstatement = getOrThrow(aggregate.lapseReinstatements, subjectLocator as Uuid, 'reinstatement')
      // Also under the name that the reinstatement of a cancellation uses, because one template may serve both.
      return {
        reinstatement: () => ({
          ...templateRecord(lapseReinstatementResponse(aggregate, reinstatement)),
          effective_timestamp: reinstatement.effectiveAt ?? null,
        }),
      }
    }
    default:
      return {}
  }
}

function lapseOf(
  { locator, createdAt, effectiveAt }: Cancellation,
  { lapse: { reinstatementPeriodDays: days } }: Loaded['product'],
  timeZone: TimeZone,
): Partial<LapseResponse> {
  const endAt = days === undefined ? undefined : add(effectiveAt, days, 'day', timeZone)
  return {
    locator: String(locator),
    createdTimestamp: String(createdAt),
    lapseTimestamp: String(effectiveAt),
    ...(endAt !== undefined && { reinstatementPeriodEndTimestamp: String(endAt) }),
  }
}

/** The most items of an invoice that a document lists singly. More are summed by type and name. */
const MOST_PRINTED = 200

function invoiceFinancials(aggregate: PolicyAggregate, invoice: Invoice): TemplateRecord {
  const { locator, displayId, dueAt, start, end, createdAt } = invoice
  const billed = billedItemsOf(aggregate)(installmentOf(aggregate, invoice))
  const { totalDue, totalDueCurrency } = invoiceResponse(aggregate, locator)
  return templateRecord({
    displayId: String(displayId),
    dueTimestamp: String(dueAt),
    startTimestamp: String(start),
    endTimestamp: String(end),
    totalDue,
    totalDueCurrency,
    financialTransactions: shownItems(aggregate, billed, createdAt, billed.length <= MOST_PRINTED),
  })
}

/**
 * Returns the definition of a document, found in the configuration by template and file name. So a document follows the version of
 * its template. If several definitions use the template, the file's name decides. Undefined for templates with fixed names.
 */
export function definitionOf(
  product: ProductDefinition,
  { templateName, fileName }: { templateName?: string; fileName?: string },
): DocumentDefinition | undefined {
  const own = documentDefinitions(product).filter(one => one.templateName === templateName)
  return own.find(one => one.fileName === fileName) ?? own[0]
}

/** Returns the basis for selecting tables, templates, snippets and files: the transaction, or the request for the document. */
export function basisOfDocument(
  { modificationLocator, createdAt }: Pick<PolicyDocument, 'modificationLocator' | 'createdAt'>,
  of: { readonly aggregate: PolicyAggregate; readonly product: ProductDefinition },
): SelectionBasis {
  const modification = modificationLocator && of.aggregate.modifications.get(modificationLocator)
  return modification ? selectionBasis(of, modification, createdAt) : basisAt(of, createdAt, createdAt)
}
