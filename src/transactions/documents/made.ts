// What came of making documents, on the record: the file is there, the template wanted none, or why it failed. Pure.
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import type { DocumentType } from '../../policy/contract/documents.ts'
import { type PolicyAggregate, putRecords, removeRecords } from '../../policy/records/aggregate.ts'
import type { DocumentFailure, PolicyDocument } from '../../policy/records/transactions.ts'
import { type Planned, policyEvent } from '../../policy/transitions.ts'
import { withoutReplaced } from './consolidation.ts'

export type Made = { locator: Uuid } & (
  | { outcome: 'ready'; type: DocumentType; fileName: string; warning?: string }
  /** The template said that there is to be no document, or there is nothing that it could be made of. */
  | { outcome: 'none' }
  | { outcome: DocumentFailure; failure: string }
)

/**
 * Records outcomes; undefined when none of the documents waits any more: removed meanwhile, or recorded already.
 * Events document.ready, document.failed (resources brief 8.2).
 */
export function planMade(before: PolicyAggregate, made: readonly Made[], now: Instant): Planned | undefined {
  const waiting = made.filter(one => before.documents.get(one.locator)?.state === 'draft')
  if (waiting.length === 0) return undefined
  const unwanted = waiting.filter(one => one.outcome === 'none').map(one => one.locator)
  const changed = waiting
    .filter(one => one.outcome !== 'none')
    .map((one): PolicyDocument => {
      const document = before.documents.get(one.locator)!
      return one.outcome === 'ready'
        ? {
            ...document,
            type: one.type,
            fileName: one.fileName,
            state: 'ready',
            failure: one.warning,
            updatedAt: now,
          }
        : { ...document, state: one.outcome, failure: one.failure, updatedAt: now }
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
    ...(document.failure === undefined ? {} : { message: document.failure.slice(0, 500) }),
  })
