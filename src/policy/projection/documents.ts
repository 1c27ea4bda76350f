// Documents as answers show them. An answer may be kept and given again, so it names files; addresses are put in
// their place when it leaves the service (platform/http/file-links.ts).
import { fileAddress, mediaAddress } from '../../platform/http/file-links.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import type { Media, PolicyDocumentResponse } from '../contract/documents.ts'
import { type PolicyAggregate, recordsWhere, selectedQuoteIfAny } from '../records/aggregate.ts'
import {
  type DocumentSubject,
  isUploaded,
  type Medium,
  mediaIn,
  type PolicyDocument,
} from '../records/document.ts'

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

const ofRecord = (
  { documents }: PolicyAggregate,
  subject: DocumentSubject,
  locator: string | number,
): PolicyDocument[] =>
  recordsWhere(documents, one => one.subject === subject && one.subjectLocator === String(locator))

/** The documents of a quote, an endorsement, an invoice … */
export const documentsOf = (
  aggregate: PolicyAggregate,
  subject: DocumentSubject,
  locator: string | number,
): PolicyDocumentResponse[] => ofRecord(aggregate, subject, locator).map(documentResponse)

/** Those of the record that were uploaded, and those that were made for it, where answers show them apart. */
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
 * The policy's documents: its own, those of the quote that it shows, those of endorsements and renewals that are issued
 * (brief 1.4), and those of legacy cancellations, whose caller gets the policy.
 */
export function documentsOfPolicy(aggregate: PolicyAggregate): PolicyDocumentResponse[] {
  const shown = String(selectedQuoteIfAny(aggregate)?.locator)
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
    if (subject === 'quote') return subjectLocator === shown
    if (subject === 'cancellation') return legacy.has(subjectLocator)
    if (subject === 'endorsement' || subject === 'renewal') return issued.has(subjectLocator)
    return subject === 'policy'
  }).map(documentResponse)
}

/** Documents that wait to be made; those that are made of others come after them. */
export const waiting = ({ documents }: Pick<PolicyAggregate, 'documents'>): PolicyDocument[] => {
  const drafts = recordsWhere(documents, one => one.state === 'draft')
  const isConsolidated = ({ sources }: PolicyDocument): boolean => sources !== undefined
  return [...drafts.filter(one => !isConsolidated(one)), ...drafts.filter(isConsolidated)]
}

export const mediaResponse = ({ locator, fileName, mimeType }: Medium): Media => ({
  locator,
  mimeType,
  ...mediaAddress(locator, fileName),
  fileName,
})

/** `mediaByLocator` of a record with these fields. */
export const mediaByLocator = (data: FieldData, media: ReadonlyMap<string, Medium>): Record<string, Media> =>
  Object.fromEntries(mediaIn(data, media).map(medium => [medium.locator, mediaResponse(medium)]))
