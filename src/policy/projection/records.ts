// Invoices and payments (brief 4.1), documents and modifications in responses.

import { LongList } from '../../kernel/json.ts'
import { derivedUuid, type Uuid } from '../../kernel/locators.ts'
import { type Money, minus, plus, toNumber, zero } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import { fileAddress, mediaAddress } from '../../platform/http/file-links.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import { restDue, totalsDueOf } from '../bills/amounts-due.ts'
import type { PaymentResponse, PolicyInvoiceResponse } from '../contract/billing.ts'
import type { Media, PolicyDocumentResponse, RecordDocumentResponse } from '../contract/documents.ts'
import type {
  ExposureModificationResponse,
  PerilModificationResponse,
  PolicyModificationResponse,
} from '../contract/response.ts'
import { contractEndAfter, isListed, type Step } from '../fold/line.ts'
import type { Piece } from '../fold/pieces.ts'
import { measureOf, shares, splitsIn } from '../fold/shares.ts'
import type { Modification, Policy, PolicyAggregate } from '../records/aggregate.ts'
import { configVersionAt, recordsWhere, selectedQuoteIfAny } from '../records/aggregate.ts'
import { type Invoice, invoiceStatus, type Payment, paymentsOf } from '../records/invoice.ts'
import type { DocumentSubject, Medium, PolicyDocument } from '../records/transactions.ts'
import { dataOfPayment, isUploaded, mediaIn } from '../records/transactions.ts'
import { spanOf, textIfAny, timesOf, underwritingResponse } from './characteristics.ts'
import type { ExposureView, PerilView, PolicyView, RunPiece } from './policy.ts'

/** Returns each invoice with its payments. Its total is the sum of its items. */
export function invoiceResponses(
  aggregate: PolicyAggregate,
  invoices: Iterable<Invoice> = aggregate.invoices.values(),
): PolicyInvoiceResponse[] {
  const totalDueOf = totalsDueOf(aggregate)
  return Array.from(invoices, invoice => {
    const totalDue = totalDueOf(invoice)
    return policyInvoiceResponse(invoice, {
      totalDue,
      outstanding: restDue(aggregate, invoice, totalDue),
      transactionIssued:
        aggregate.modifications.get(invoice.policyModificationLocator)!.issuedAt !== undefined,
      premiumReportName: aggregate.policy.premiumReportName,
      payments: paymentsOf(aggregate, invoice).map(one => paymentResponse(aggregate, one)),
      documents: documentsOf(aggregate, 'invoice', invoice.locator),
    })
  })
}

/** What an invoice's response shows beyond the invoice itself. */
export type InvoiceSurroundings = {
  readonly totalDue: Money
  /** The unpaid part; shown while the invoice is outstanding. */
  readonly outstanding: Money
  /** Whether the transaction is issued, not only accepted. */
  readonly transactionIssued: boolean
  readonly premiumReportName?: string
  readonly payments: PaymentResponse[]
  readonly documents: PolicyDocumentResponse[]
}

export function policyInvoiceResponse(
  invoice: Invoice,
  { totalDue, outstanding, transactionIssued, premiumReportName, payments, documents }: InvoiceSurroundings,
): PolicyInvoiceResponse {
  const status = invoiceStatus(invoice)
  return {
    locator: invoice.locator,
    displayId: String(invoice.displayId),
    policyLocator: String(invoice.policyLocator),
    policyModificationLocator: invoice.policyModificationLocator,
    premiumReportName,
    ...timesOf(invoice),
    ...spanOf(invoice),
    dueTimestamp: String(invoice.dueAt),
    invoiceType: invoice.type,
    totalDue: toNumber(totalDue),
    totalDueCurrency: totalDue.currency,
    ...(status === 'unfulfilled'
      ? {
          settlementStatus: 'outstanding',
          outstandingAmount: toNumber(outstanding),
          outstandingAmountCurrency: outstanding.currency,
        }
      : { settlementStatus: 'settled', settlementType: status }),
    statuses: invoice.statuses.map(({ at, status }) => ({ timestamp: String(at), status })),
    transactionIssued,
    payments,
    documents,
  }
}

/** Returns the payment with amounts in major units. `creditedAmount` is absent if none of it became credit. */
export const paymentResponse = (
  { media }: Pick<PolicyAggregate, 'media'>,
  { amount, credited, ...payment }: Payment,
): PaymentResponse => ({
  locator: payment.locator,
  displayId: String(payment.displayId),
  invoiceLocator: payment.invoiceLocator,
  postedTimestamp: String(payment.postedAt),
  reversedTimestamp: textIfAny(payment.reversedAt),
  amount: toNumber(amount),
  amountCurrency: amount.currency,
  source: payment.source,
  offsetInvoiceLocator: payment.offsetInvoiceLocator,
  ...(credited.minor > 0 && {
    creditedAmount: toNumber(credited),
    creditedAmountCurrency: credited.currency,
  }),
  fieldValues: payment.fieldValues,
  mediaByLocator: mediaByLocator(dataOfPayment(payment), media),
})

/** Stored responses may be returned later, so they name files. platform/http/file-links.ts replaces the names by addresses. */
export const documentResponse = (document: PolicyDocument): PolicyDocumentResponse => ({
  locator: document.locator,
  displayName: document.displayName,
  fileName: document.fileName,
  type: document.type,
  createdTimestamp: String(document.createdAt),
  policyModificationLocator: document.modificationLocator,
  ...(document.state === 'ready' && fileAddress('documents', document.locator, document.fileName)),
  state: document.state,
  failureMessage: document.failure,
})

/** Returns the documents, each with the record that it belongs to. */
export const documentsOfRecords = (documents: Iterable<PolicyDocument>): RecordDocumentResponse[] =>
  Array.from(documents, document => ({
    ...documentResponse(document),
    recordType: document.subject,
    recordLocator: document.subjectLocator,
    isUploaded: isUploaded(document),
  }))

const ofRecord = (
  { documents }: PolicyAggregate,
  subject: DocumentSubject,
  locator: string | number,
): PolicyDocument[] =>
  recordsWhere(documents, one => one.subject === subject && one.subjectLocator === String(locator))

/** Returns the documents of one record: a quote, an endorsement, an invoice, … */
export const documentsOf = (
  aggregate: PolicyAggregate,
  subject: DocumentSubject,
  locator: string | number,
): PolicyDocumentResponse[] => ofRecord(aggregate, subject, locator).map(documentResponse)

/** Returns the uploaded and the generated documents of the record, for responses that list them separately. */
export function documentsByOrigin(
  aggregate: PolicyAggregate,
  subject: DocumentSubject,
  locator: string | number,
): { uploaded: PolicyDocumentResponse[]; made: PolicyDocumentResponse[] } {
  const documents = ofRecord(aggregate, subject, locator)
  return {
    uploaded: documents.filter(isUploaded).map(documentResponse),
    made: documents.filter(one => !isUploaded(one)).map(documentResponse),
  }
}

/**
 * Returns the policy's own documents, those of its shown quote, of issued endorsements and renewals (brief 1.4), and of legacy
 * cancellations, whose caller gets the policy.
 */
export function documentsOfPolicy(aggregate: PolicyAggregate): PolicyDocumentResponse[] {
  const shownQuote = String(selectedQuoteIfAny(aggregate)?.locator)
  const issued = new Set(
    recordsWhere(aggregate.endorsements, one => one.state === 'issued').map(one => String(one.locator)),
  )
  const { modifications } = aggregate
  const legacy = new Set(
    recordsWhere(aggregate.cancellations, ({ modificationLocator: by }) =>
      by === undefined ? false : modifications.get(by)?.cancellationName === undefined,
    ).map(one => String(one.locator)),
  )
  return recordsWhere(aggregate.documents, ({ subject, subjectLocator }) => {
    if (subject === 'quote') return subjectLocator === shownQuote
    if (subject === 'cancellation') return legacy.has(subjectLocator)
    if (subject === 'endorsement' || subject === 'renewal') return issued.has(subjectLocator)
    return subject === 'policy'
  }).map(documentResponse)
}

/** Returns the documents that wait to be made. Those made from other documents come last. */
export const pendingDocuments = ({ documents }: Pick<PolicyAggregate, 'documents'>): PolicyDocument[] => {
  const drafts = recordsWhere(documents, one => one.state === 'draft')
  const isConsolidated = ({ sources }: PolicyDocument): boolean => sources !== undefined
  return [...drafts.filter(one => !isConsolidated(one)), ...drafts.filter(isConsolidated)]
}

/** Returns the medium. Its `url` is a reference, which becomes an address when the response is sent. */
export const mediaResponse = ({ locator, fileName, mimeType }: Medium): Media => ({
  locator,
  mimeType,
  ...mediaAddress(locator, fileName),
  fileName,
})

/** Returns the media that the field values name, by locator. */
export const mediaByLocator = (data: FieldData, media: ReadonlyMap<string, Medium>): Record<string, Media> =>
  Object.fromEntries(mediaIn(data, media).map(medium => [medium.locator, mediaResponse(medium)]))

/** Returns what each modification changed (brief 2.1.3 to 2.1.5), of the detailed exposures. Perils add up to it, to the cent. */
export function modificationResponses(
  view: PolicyView,
  detailed: readonly ExposureView[],
): PolicyModificationResponse[] {
  return Array.from(modificationAnswers(view, detailed), one => ({
    ...one,
    exposureModifications: [...one.exposureModifications.items()],
  }))
}

/** Yields the same modifications, each made when it is read. */
export function* modificationAnswers(
  view: PolicyView,
  detailed: readonly ExposureView[],
): Generator<ModificationAnswer> {
  const newMedia = newMediaOf(view)
  let contractEnd = view.quote.contractEnd
  let number = 0
  for (const step of view.line) {
    contractEnd = contractEndAfter([step.modification], contractEnd)
    if (!isListed(step.modification)) continue
    yield {
      ...modificationAnswer(view, detailed, step, { number, contractEnd }),
      mediaByLocator: newMedia.get(step.modification.locator) ?? {},
    }
    number += 1
  }
}

type ModificationAnswer = Omit<PolicyModificationResponse, 'exposureModifications'> & {
  readonly exposureModifications: LongList<ExposureModificationResponse>
}

/** Returns, for each modification, the media that its records name and no earlier modification named. */
function newMediaOf({ aggregate, line }: PolicyView): ReadonlyMap<Uuid, Record<string, Media>> {
  const { media, segments, exposureRuns, perilRuns } = aggregate
  if (media.size === 0) return new Map()
  const records = [segments, exposureRuns, perilRuns].flatMap(all => [...all.values()])
  const made = Map.groupBy(records, record => record.madeBy)
  const known = new Set<string>()
  return new Map(
    line.map(({ modification: { locator } }) => {
      const data = new Set(made.get(locator)?.map(record => record.data))
      const named = [...data].flatMap(one => mediaIn(one, media))
      const fresh = named.filter(one => !known.has(one.locator))
      for (const one of fresh) known.add(one.locator)
      return [locator, Object.fromEntries(fresh.map(one => [one.locator, mediaResponse(one)]))]
    }),
  )
}

function modificationAnswer(
  view: PolicyView,
  detailed: readonly ExposureView[],
  step: Step,
  { number, contractEnd }: { number: number; contractEnd: Instant },
): Omit<ModificationAnswer, 'mediaByLocator'> {
  const { premiumChange, underwriting, ...modification } = step.modification
  const { policy } = view.aggregate
  const { currency } = policy
  const segments = step.made.map(segment => segment.locator)
  return {
    ...view.record,
    locator: modification.locator,
    name: modification.name,
    displayId: String(modification.displayId),
    number,
    ...timesOf(modification),
    issuedTimestamp: textIfAny(modification.issuedAt),
    effectiveTimestamp: String(modification.effectiveAt),
    policyEndTimestamp: String(contractEnd),
    premiumChange: premiumChange && toNumber(premiumChange),
    premiumChangeCurrency: currency,
    automatedUnderwritingResult: underwriting && underwritingResponse(underwriting),
    exposureModifications: new LongList(() => exposureModifications(view, step, detailed)),
    newPolicyCharacteristicsLocator: segments[0],
    newPolicyCharacteristicsLocators: segments,
    cancellationName: modification.cancellationName,
    endorsementLocator: modification.kind === 'endorsement' ? modification.transactionLocator : undefined,
    renewalLocator: modification.kind === 'renewal' ? modification.transactionLocator : undefined,
    fieldValues: {},
    fieldGroupsByLocator: {},
    configVersion: pricingConfigVersion(policy, step.modification),
  }
}

/** Returns the configuration version that priced the modification. For a draft, the version that would price it now. */
function pricingConfigVersion(
  policy: Policy,
  { premiumChange, underwriting, createdAt }: Modification,
): number {
  if (premiumChange === undefined) return policy.configVersion
  return configVersionAt(policy, underwriting?.at ?? createdAt)
}

/** Yields one entry for each exposure that the step touched. */
function* exposureModifications(
  view: PolicyView,
  step: Step,
  detailed: readonly ExposureView[],
): Generator<ExposureModificationResponse> {
  const by = step.modification.locator
  const isTouched = ({ madeBy, replacedBy }: Pick<Piece, 'madeBy' | 'replacedBy'>): boolean =>
    madeBy === by || replacedBy === by
  for (const { exposure, runs, perils } of detailed) {
    const made = runs.filter(run => run.madeBy === by)
    // Most steps touch few exposures, and the others need no locator.
    if (made.length === 0 && !perils.some(({ pieces }) => pieces.some(({ piece }) => isTouched(piece))))
      continue
    const locator = derivedUuid(view.shard, by, exposure.locator)
    yield {
      ...view.record,
      locator,
      exposureLocator: exposure.locator,
      policyModificationLocator: by,
      newExposureCharacteristicsLocator: made[0]?.locator,
      perilModifications: perils.flatMap(peril => perilModificationsOf(view, step, peril, locator)),
    }
  }
}

/** A new segment of a peril, or a segment that was removed without a successor, and the premium change. */
type Entry = { made: RunPiece | undefined; replaced: RunPiece | undefined; change: Money | undefined }

function perilModificationsOf(
  view: PolicyView,
  step: Step,
  { peril, pieces }: PerilView,
  exposureModificationLocator: string,
): PerilModificationResponse[] {
  return entriesOf(view, step, pieces).map(({ made, replaced, change }) => ({
    ...view.record,
    locator: derivedUuid(view.shard, step.modification.locator, (made ?? replaced)!.locator),
    exposureModificationLocator,
    perilLocator: peril.locator,
    premiumChange: change && toNumber(change),
    premiumChangeCurrency: view.aggregate.policy.currency,
    newPerilCharacteristicsLocator: made?.locator,
    replacedPerilCharacteristicsLocator: replaced?.locator,
  }))
}

/**
 * Compares new pieces with their share of what they replace. A remainder goes to the last piece that continues the replaced one.
 * Without such a piece it gets its own entry.
 */
function entriesOf(view: PolicyView, { modification }: Step, pieces: readonly RunPiece[]): Entry[] {
  const by = modification.locator
  const made = pieces.filter(one => one.piece.madeBy === by)
  const allReplaced = pieces.filter(one => one.piece.replacedBy === by)
  const entries = new Map<RunPiece, Entry>(
    made.map(one => [one, { made: one, replaced: undefined, change: one.piece.amounts?.premium }]),
  )
  const removed: Entry[] = []
  const measure = measureOf(modification.proration ?? 'monthly', view.aggregate.policy.timeZone)
  for (const replaced of allReplaced) {
    const before = replaced.piece.amounts?.premium
    const successors = made.filter(one => continues(one.piece, replaced.piece))
    const split = splitsIn(replaced.run, by, replaced.piece.segment.locator)
    const parts =
      before &&
      shares(
        before,
        replaced.piece,
        successors.map(one => one.piece),
        measure,
        split && (at => split(at, amounts => amounts.premium)),
      )
    let remainder = before
    for (const [at, one] of successors.entries()) {
      const share = parts?.[at]
      remainder = remainder && share && minus(remainder, share)
      const entry = entries.get(one)!
      entries.set(one, { ...entry, replaced, change: entry.change && share && minus(entry.change, share) })
    }
    const last = successors.at(-1)
    if (!last)
      removed.push({
        made: undefined,
        replaced,
        change: remainder && minus(zero(remainder.currency), remainder),
      })
    else if (remainder && remainder.minor !== 0) {
      const entry = entries.get(last)!
      entries.set(last, {
        ...entry,
        change: entry.change && plus(entry.change, minus(zero(remainder.currency), remainder)),
      })
    }
  }
  return [...entries.values(), ...removed]
}

/** Whether the piece continues the other one. It may extend beyond the other's end, if the policy does. */
const continues = (piece: Piece, other: Piece): boolean =>
  other.start <= piece.start && piece.start < other.end
