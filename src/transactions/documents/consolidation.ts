// Merges documents of an issued transaction into one PDF (brief 5.6, getPostIssuanceResult). Pure.
//
// The document is recorded with the transaction, as a draft that names its sources. servicing/documents/merge-sources.ts creates
// its file once theirs exist. Sources that it replaces are removed in the write that records the file, and not before.
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import {
  type Modification,
  type PolicyAggregate,
  putRecords,
  recordsWhere,
  removeRecords,
} from '../../policy/records/aggregate.ts'
import {
  type DocumentSubject,
  isUploaded,
  type ModificationKind,
  type PolicyDocument,
} from '../../policy/records/transactions.ts'
import { safeFileName } from './upload.ts'

type IssuanceOperation = 'newBusiness' | 'endorsement' | 'renewal' | 'cancellation' | 'reinstatement'

/** Fees and schedules changed by hand issue nothing. */
const OPERATIONS: Readonly<Partial<Record<ModificationKind, IssuanceOperation>>> = {
  creation: 'newBusiness',
  endorsement: 'endorsement',
  renewal: 'renewal',
  cancellation: 'cancellation',
  withdrawal: 'cancellation',
  lapse: 'cancellation',
  reinstatement: 'reinstatement',
}

/** `documents` are in the order in which they were requested. */
export type Issuance = {
  readonly operation: IssuanceOperation
  readonly modification: Modification
  readonly documents: readonly PolicyDocument[]
}

/**
 * Returns the transactions that the change issues. Their documents include those of earlier steps of each transaction, but not
 * those of its invoices. New business also includes documents uploaded to the policy.
 */
export function issuances(before: PolicyAggregate | undefined, after: PolicyAggregate): Issuance[] {
  return recordsWhere(
    after.modifications,
    ({ locator, issuedAt }) =>
      issuedAt !== undefined && before?.modifications.get(locator)?.issuedAt === undefined,
  ).flatMap(modification => {
    const operation = OPERATIONS[modification.kind]
    if (!operation) return []
    const documents = recordsWhere(after.documents, one =>
      one.modificationLocator === undefined
        ? operation === 'newBusiness' && one.subject === 'policy' && isUploaded(one)
        : one.modificationLocator === modification.locator && one.subject !== 'invoice',
    )
    return [{ operation, modification, documents }]
  })
}

type Consolidation = {
  readonly displayName: string
  readonly fileName: string
  readonly documentLocators: readonly string[]
  readonly deleteSourceDocuments?: boolean
}

/** Returns a text for each document that the issuance does not have, and for one that a consolidation names twice. */
export const consolidationProblems = (
  { documents }: Issuance,
  consolidations: readonly Consolidation[],
): string[] =>
  consolidations.flatMap(({ documentLocators }, index) => {
    const at = `'documentConsolidations.${index}.documentLocators'`
    const problems = documentLocators.flatMap(locator => {
      const isKnown = documents.some(one => one.locator === locator)
      return isKnown ? [] : [`${at} contains ${locator}, which is not among documents`]
    })
    const duplicate = documentLocators.find((one, place) => documentLocators.indexOf(one) !== place)
    return duplicate === undefined ? problems : [...problems, `${at} contains ${duplicate} twice`]
  })

/** Adds a draft PDF for each consolidation. `uuid` returns a new locator for each. */
export function withConsolidations(
  after: PolicyAggregate,
  { modification }: Issuance,
  consolidations: readonly Consolidation[],
  { now, uuid }: { now: Instant; uuid: () => Uuid },
): PolicyAggregate {
  const drafts = consolidations.map(
    ({ displayName, fileName, documentLocators, deleteSourceDocuments }): PolicyDocument => ({
      ...ownerOf(after, modification),
      locator: uuid(),
      modificationLocator: modification.locator,
      displayName,
      fileName: safeFileName(fileName.replace(/\.html?$/i, ''), 'pdf'),
      type: 'pdf',
      sources: documentLocators as readonly Uuid[],
      deletesSources: deleteSourceDocuments === true,
      state: 'draft',
      createdAt: now,
      updatedAt: now,
    }),
  )
  return drafts.length === 0 ? after : { ...after, documents: putRecords(after.documents, drafts) }
}

/** Returns the policy if the transaction has no record with a list of documents. */
function ownerOf(
  { policy, endorsements, cancellations, reinstatements }: PolicyAggregate,
  { locator }: Modification,
): { subject: DocumentSubject; subjectLocator: string } {
  const isOwn = (one: { modificationLocator?: Uuid }): boolean => one.modificationLocator === locator
  const owner = (subject: DocumentSubject, record: { locator: number | string }) => ({
    subject,
    subjectLocator: String(record.locator),
  })
  const [endorsement] = recordsWhere(endorsements, isOwn)
  if (endorsement) return owner(endorsement.kind, endorsement)
  const [cancellation] = recordsWhere(cancellations, isOwn)
  if (cancellation) return owner('cancellation', cancellation)
  const [reinstatement] = recordsWhere(reinstatements, isOwn)
  return reinstatement ? owner('reinstatement', reinstatement) : owner('policy', policy)
}

/** Removes documents that a consolidated one replaces. Keeps a document while another consolidation still waits for it. */
export function withoutReplaced(documents: PolicyAggregate['documents']): PolicyAggregate['documents'] {
  const consolidated = recordsWhere(documents, one => one.sources !== undefined)
  const needed = new Set(consolidated.filter(one => one.state === 'draft').flatMap(one => one.sources!))
  const replaced = consolidated
    .filter(one => one.deletesSources && one.state === 'ready')
    .flatMap(one => one.sources!)
    .filter(source => documents.has(source) && !needed.has(source))
  return replaced.length === 0 ? documents : removeRecords(documents, replaced)
}
