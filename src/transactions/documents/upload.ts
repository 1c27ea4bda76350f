// Documents that users upload: what the bytes are is found out, not believed; what may be removed.
import { Refusal, wrongState } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { DocumentType } from '../../policy/contract/documents.ts'
import {
  type PolicyAggregate,
  putRecords,
  recordsWhere,
  removeRecords,
} from '../../policy/records/aggregate.ts'
import { isUploaded, MOST_UPLOADED, type PolicyDocument } from '../../policy/records/transactions.ts'
import type { Planned } from '../../policy/transitions.ts'

/** A PDF may have up to this much before its mark. */
const PDF_MARK_WITHIN = 1_024

const HTML_BEGINNING =
  /^\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html|head|body|div|p|h[1-6]|table|section|article|main|title|meta|style|span)\b/i

/** What the bytes are; undefined for what is neither PDF nor HTML in UTF-8. */
export function typeOfBytes(bytes: Uint8Array): DocumentType | undefined {
  if (Buffer.from(bytes.subarray(0, PDF_MARK_WITHIN)).includes('%PDF-')) return 'pdf'
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return undefined
  }
  return HTML_BEGINNING.test(text.slice(0, 65_536)) ? 'html' : undefined
}

/** A name that files may have: no path, no control characters; with the ending of what it is. */
export function uploadedName(given: string | undefined, type: DocumentType): string {
  const name = (given ?? '')
    .replace(/^.*[\\/]/, '')
    .replace(/\p{Cc}/gu, '')
    .toWellFormed()
    .trim()
    .slice(0, 200)
  if (name === '') return `document.${type}`
  return /\.(?:pdf|html?)$/i.test(name) ? name : `${name}.${type}`
}

/** The policy with a document uploaded to it or to one of its records; causes no transaction (contract 1). */
export function planUpload(before: PolicyAggregate, document: PolicyDocument, now: Instant): Planned {
  const { policy } = before
  if (policy.discardedAt !== undefined)
    throw wrongState(`Policy ${policy.locator} is discarded; documents are no longer added to it.`)
  if (recordsWhere(before.documents, isUploaded).length >= MOST_UPLOADED)
    throw new Refusal(
      'policyLimit',
      `Policy ${policy.locator} has ${MOST_UPLOADED} uploaded documents, the most that it may have; remove some.`,
    )
  const uploaded: PolicyDocument = { ...document, createdAt: now, updatedAt: now }
  return { aggregate: { ...before, documents: putRecords(before.documents, [uploaded]) }, events: [] }
}

/** What documents are uploaded to: the policy, or one of its records. */
export type UploadOwner = Pick<PolicyDocument, 'subject' | 'subjectLocator'> & {
  /** As messages name it. */
  readonly title: string
  readonly isIssued: boolean
}

export const policyAsOwner = ({ policy }: PolicyAggregate): UploadOwner => ({
  subject: 'policy',
  subjectLocator: String(policy.locator),
  title: `Policy ${policy.locator}`,
  isIssued: policy.issuedAt !== undefined,
})

/** The policy without a document that was uploaded to `owner`: only while that is not issued (contract 1). */
export function planRemoval(before: PolicyAggregate, owner: UploadOwner, locator: Uuid): Planned {
  const document = before.documents.get(locator)
  const isOwn = document?.subject === owner.subject && document.subjectLocator === owner.subjectLocator
  if (!document || (isUploaded(document) && !isOwn)) throw noDocument(owner, locator)
  if (!isUploaded(document))
    throw wrongState(
      `Document ${locator} was made by the service; only documents that were uploaded can be removed.`,
    )
  if (owner.isIssued)
    throw wrongState(`${owner.title} is issued; its documents can be removed only before that.`)
  return { aggregate: { ...before, documents: removeRecords(before.documents, [locator]) }, events: [] }
}

export const noDocument = ({ title }: Pick<UploadOwner, 'title'>, locator: string): Refusal =>
  new Refusal('notFound', `${title} has no document '${locator}'.`)
