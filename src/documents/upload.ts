// Documents that users upload: what the bytes are is found out, not believed; what may be removed.
import { Refusal } from '../platform/errors.ts'
import type { Uuid } from '../platform/locators.ts'
import type { Instant } from '../platform/time.ts'
import { type PolicyAggregate, those, withoutRecords, withRecords } from '../policies/aggregate.ts'
import type { Planned } from '../policies/planned.ts'
import type { DocumentType } from './contract.ts'
import { isUploaded, MOST_UPLOADED, type PolicyDocument } from './document.ts'

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

/** The policy with an uploaded document; causes no transaction (contract 1). */
export function planUpload(before: PolicyAggregate, document: PolicyDocument, now: Instant): Planned {
  const { policy } = before
  if (policy.discardedAt !== undefined)
    throw new Refusal(
      'wrongState',
      `Policy ${policy.locator} is discarded; documents are no longer added to it.`,
    )
  if (those(before.documents, isUploaded).length >= MOST_UPLOADED)
    throw new Refusal(
      'policyLimit',
      `Policy ${policy.locator} has ${MOST_UPLOADED} uploaded documents, the most that it may have; remove some.`,
    )
  const uploaded: PolicyDocument = {
    ...document,
    subjectLocator: String(policy.locator),
    createdAt: now,
    updatedAt: now,
  }
  return { aggregate: { ...before, documents: withRecords(before.documents, [uploaded]) }, events: [] }
}

/** The policy without an uploaded document: only while it is not issued (contract 1). */
export function planRemoval(before: PolicyAggregate, locator: Uuid): Planned {
  const { policy } = before
  const document = before.documents.get(locator)
  if (!document) throw new Refusal('notFound', `Policy ${policy.locator} has no document '${locator}'.`)
  if (!isUploaded(document))
    throw new Refusal(
      'wrongState',
      `Document ${locator} was made by the service; only documents that were uploaded can be removed.`,
    )
  if (policy.issuedAt !== undefined)
    throw new Refusal(
      'wrongState',
      `Policy ${policy.locator} is issued; its documents can be removed only before that.`,
    )
  return { aggregate: { ...before, documents: withoutRecords(before.documents, [locator]) }, events: [] }
}
