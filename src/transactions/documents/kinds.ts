import { Refusal, wrongState } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { shortened } from '../../kernel/text.ts'
import type { Instant } from '../../kernel/time.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import type { DocumentType } from '../../policy/contract/documents.ts'
import { documentsOfRecords } from '../../policy/projection/records.ts'
import {
  type PolicyAggregate,
  putRecords,
  recordsWhere,
  removeRecords,
} from '../../policy/records/aggregate.ts'
import {
  type DocumentFailure,
  isFailed,
  isUploaded,
  MOST_UPLOADED,
  type PolicyDocument,
} from '../../policy/records/transactions.ts'
import { type Planned, policyEvent } from '../../policy/transitions.ts'
import { defineKind, showNothing } from '../mechanism/kind.ts'
import { withoutReplaced } from './consolidation.ts'
import { noDocument, type UploadOwner } from './upload.ts'

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    addDocument: { document: PolicyDocument }
    removeDocument: { document: Uuid }
    makeDocumentsAgain: { documents?: readonly Uuid[] | undefined }
    documentsMade: { made: readonly Made[]; policyholderVersion?: number }
  }
}

const addition = defineKind<'addDocument'>({
  name: 'addDocument',
  decide: ({ aggregate }, { document }, { attempt }) => ({
    planned: planUpload(aggregate, document, attempt.now),
  }),
})

const removal = defineKind<'removeDocument'>({
  name: 'removeDocument',
  decide: ({ aggregate }, { document }) => ({
    planned: planRemoval(aggregate, policyAsOwner(aggregate), document),
  }),
})

const remaking = defineKind<'makeDocumentsAgain'>({
  name: 'makeDocumentsAgain',
  decide: ({ aggregate }, { documents }, { attempt }) => ({
    planned: planRemaking(aggregate, documents, attempt.now),
    response: loaded => documentsOfRecords(loaded.aggregate.documents.values()),
  }),
})

const making = defineKind<'documentsMade'>({
  name: 'documentsMade',
  // Memory is not enough here: another instance may have written the rows, and the policyholder is changed elsewhere.
  isOutdated: (remembered, { made, policyholderVersion }, now) =>
    !remembered ||
    !planMade(remembered.aggregate, made, now) ||
    remembered.policyholder.version !== (policyholderVersion ?? remembered.policyholder.version),
  decide({ aggregate, policyholder }, { made, policyholderVersion }, { attempt }) {
    // The document shows values that were overwritten, so it is dropped. It still waits and is created again.
    if (policyholderVersion !== undefined && policyholderVersion !== policyholder.version) return undefined
    const planned = planMade(aggregate, made, attempt.now)
    const restsOnPolicyholder = policyholderVersion !== undefined
    return planned && { planned, response: showNothing, isRepeatable: true, restsOnPolicyholder }
  },
})

export const documentKinds = [addition, removal, remaking, making]

/** Causes no transaction (contract 1). */
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

const policyAsOwner = ({ policy }: PolicyAggregate): UploadOwner => ({
  subject: 'policy',
  subjectLocator: String(policy.locator),
  title: `Policy ${policy.locator}`,
  isIssued: policy.issuedAt !== undefined,
})

/** Rejects the removal once `owner` is issued (contract 1). */
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

/**
 * Marks the named documents, or all that failed, as waiting to be created again. Each shows the policy as it was when the
 * document was requested, with the template that is in force now. Rejects uploads, and documents whose parts no longer exist.
 */
function planRemaking(before: PolicyAggregate, locators: readonly Uuid[] | undefined, now: Instant): Planned {
  const { policy, documents } = before
  if (policy.discardedAt !== undefined)
    throw wrongState(`Policy ${policy.locator} is discarded; its documents are no longer made.`)
  const chosen = locators
    ? locators.map(locator => documentToRemake(before, locator))
    : recordsWhere(documents, isFailed)
  const again = chosen
    .filter(one => one.state !== 'draft')
    .map((one): PolicyDocument => ({ ...one, state: 'draft', failure: undefined, updatedAt: now }))
  return { aggregate: { ...before, documents: putRecords(documents, again) }, events: [] }
}

function documentToRemake(before: PolicyAggregate, locator: Uuid): PolicyDocument {
  const document = before.documents.get(locator)
  if (!document) throw noDocument(policyAsOwner(before), locator)
  if (isUploaded(document))
    throw wrongState(`Document ${locator} was uploaded; only documents that templates made are made again.`)
  const gone = document.sources?.find(source => !before.documents.has(source))
  if (gone !== undefined)
    throw wrongState(`Document ${locator} was put together from others, of which ${gone} is no more.`)
  return document
}

export type Made = { locator: Uuid } & (
  | { outcome: 'ready'; type: DocumentType; fileName: string; warning?: string }
  /** The template declined to create a document, or there was nothing to create it from. */
  | { outcome: 'none' }
  | { outcome: DocumentFailure; failure: string }
)

/**
 * Records outcomes. Returns undefined when none of the documents waits any more, because it was removed or recorded meanwhile.
 * Events: document.ready, document.failed (resources brief 8.2).
 */
function planMade(before: PolicyAggregate, made: readonly Made[], now: Instant): Planned | undefined {
  const waiting = made.filter(one => before.documents.get(one.locator)?.state === 'draft')
  if (waiting.length === 0) return undefined
  const unwanted = waiting.filter(one => one.outcome === 'none').map(one => one.locator)
  const changed = waiting.flatMap((one): PolicyDocument[] => {
    if (one.outcome === 'none') return []
    const document = { ...before.documents.get(one.locator)!, state: one.outcome, updatedAt: now }
    if (one.outcome !== 'ready') return [{ ...document, failure: one.failure }]
    return [{ ...document, type: one.type, fileName: one.fileName, failure: one.warning }]
  })
  const documents = putRecords(removeRecords(before.documents, unwanted), changed)
  return {
    aggregate: { ...before, documents: withoutReplaced(documents) },
    events: changed.map(document => documentEvent(before, document)),
  }
}

const documentEvent = (aggregate: PolicyAggregate, document: PolicyDocument): NewEvent =>
  policyEvent(aggregate, document.state === 'ready' ? 'document.ready' : 'document.failed', {
    documentLocator: document.locator,
    referenceType: document.subject,
    referenceLocator: document.subjectLocator,
    ...(document.failure !== undefined && { message: shortened(document.failure, 500) }),
  })
