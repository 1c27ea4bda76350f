// Documents of an issued transaction that are put together as one PDF (brief 5.6, getPostIssuanceResult). The document is
// recorded with the transaction, as a draft that names its sources; its file is made when theirs are (job/merge-sources.ts).
// Where it is to take the place of its sources, they go when it is there, and not before: with it, in one write. Pure.
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
import { uploadedName } from './upload.ts'

type IssuanceOperation = 'newBusiness' | 'endorsement' | 'renewal' | 'cancellation' | 'reinstatement'

/** Fees and a schedule that are changed by hand are nothing that is issued. */
const OPERATIONS: Readonly<Partial<Record<ModificationKind, IssuanceOperation>>> = {
  creation: 'newBusiness',
  endorsement: 'endorsement',
  renewal: 'renewal',
  cancellation: 'cancellation',
  withdrawal: 'cancellation',
  lapse: 'cancellation',
  reinstatement: 'reinstatement',
}

/** A transaction that a change issues, with its documents in the order in which they were asked for. */
export type Issuance = {
  readonly operation: IssuanceOperation
  readonly modification: Modification
  readonly documents: readonly PolicyDocument[]
}

/**
 * The transactions that the change from `before` issues. Their documents are those that were made for them at any of
 * their steps, but not those of their invoices, which belong to the invoices; with new business those that were
 * uploaded to the policy too.
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

/** What is to be one document: sources of the issuance, all of which can be merged. */
export type Consolidation = {
  readonly displayName: string
  readonly fileName: string
  readonly documentLocators: readonly string[]
  readonly deleteSourceDocuments?: boolean
}

/** Why they cannot be consolidated; HTML has no pages that could be put among others. */
export const consolidationProblems = (
  { documents }: Issuance,
  consolidations: readonly Consolidation[],
): string[] =>
  consolidations.flatMap(({ documentLocators }, index) => {
    const at = `'documentConsolidations.${index}.documentLocators'`
    const problems = documentLocators.flatMap(locator => {
      const document = documents.find(one => one.locator === locator)
      if (!document) return [`${at} names ${locator}, which is not among documents`]
      return document.type === 'html'
        ? [`${at} names '${document.fileName}', which is HTML; only PDFs can be consolidated`]
        : []
    })
    const twice = documentLocators.find((one, place) => documentLocators.indexOf(one) !== place)
    return twice === undefined ? problems : [...problems, `${at} names ${twice} twice`]
  })

/** The policy with a draft of each. */
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
      fileName: uploadedName(fileName.replace(/\.html?$/i, ''), 'pdf'),
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

/** The record whose documents they stand among; the policy where the transaction has no record with a list of them. */
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

/** The documents without those whose place a consolidated one has taken; one that another still waits for stays. */
export function withoutReplaced(documents: PolicyAggregate['documents']): PolicyAggregate['documents'] {
  const consolidated = recordsWhere(documents, one => one.sources !== undefined)
  const needed = new Set(consolidated.filter(one => one.state === 'draft').flatMap(one => one.sources!))
  const gone = consolidated
    .filter(one => one.deletesSources && one.state === 'ready')
    .flatMap(one => one.sources!)
    .filter(source => documents.has(source) && !needed.has(source))
  return gone.length === 0 ? documents : removeRecords(documents, gone)
}
