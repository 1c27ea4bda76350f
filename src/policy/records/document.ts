// Documents of a policy: generated from a template for a transaction or an invoice, or uploaded.
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { DocumentDefinition } from '../../product/configuration.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import type { Payment } from './invoice.ts'

/**
 * What a document belongs to; `renewal` and `endorsement` are apart as they are in answers. A `reinstatement` is one of
 * a cancellation, a `lapseReinstatement` one of a legacy lapse.
 */
export type DocumentSubject =
  | 'policy'
  | 'quote'
  | 'endorsement'
  | 'renewal'
  | 'cancellation'
  | 'reinstatement'
  | 'invoice'
  | 'gracePeriod'
  | 'lapse'
  | 'lapseReinstatement'

/**
 * How far it has come (resources brief 4.2). A `draft` waits to be made; `dataError`: what its template was to see
 * could not be collected; `renderError`: the template failed; `conversionError`: its HTML could not be made a PDF.
 */
export type DocumentState = 'draft' | 'ready' | 'dataError' | 'renderError' | 'conversionError'

export type DocumentFailure = Exclude<DocumentState, 'draft' | 'ready'>

export type DocumentType = 'pdf' | 'html'

export type PolicyDocument = {
  readonly locator: Uuid
  readonly subject: DocumentSubject
  /** Locator of the quote, endorsement, invoice …; of the policy for its own. */
  readonly subjectLocator: string
  /** The transaction that it was made for. */
  readonly modificationLocator?: Uuid
  readonly displayName: string
  readonly fileName: string
  readonly type: DocumentType
  /** File name of its template; absent when it was uploaded, or is made of other documents. */
  readonly templateName?: string
  readonly pageLayout?: DocumentDefinition['pageLayout']
  /** The step that made it, so that undoing the step can take it back. */
  readonly madeAt?: DocumentDefinition['generatingEvent']
  /** Documents that it is made of: a plugin had them consolidated (consolidation.ts). */
  readonly sources?: readonly Uuid[]
  /** Whether it takes their place once it is made. */
  readonly deletesSources?: boolean
  /** The kind that the uploader gave it. */
  readonly documentType?: string
  readonly state: DocumentState
  /** Why it could not be made; for a ready one, what is wrong with it nevertheless. */
  readonly failure?: string
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

/** A document without its owner. */
export type UnplacedDocument = Omit<PolicyDocument, 'subject' | 'subjectLocator'>

export const isUploaded = ({ templateName, sources }: PolicyDocument): boolean =>
  templateName === undefined && sources === undefined

/** Below the tenant's own place in R2. */
export const documentPath = (locator: Uuid): string[] => ['documents', locator]

/** Most documents that one policy has uploaded. */
export const MOST_UPLOADED = 200

// Media are files that fields name by their locators. A policy keeps the properties that it shows of them.
export type Medium = {
  readonly locator: Uuid
  readonly fileName: string
  readonly mimeType: string
}

/** Below the tenant's own place in R2. */
export const mediumPath = (locator: Uuid): string[] => ['media', locator]

/** A payment has no groups (brief 6.7). */
export const dataOfPayment = ({ fieldValues }: Pick<Payment, 'fieldValues'>): FieldData => ({
  values: fieldValues,
  groups: [],
})

/** The media among the values, fields of groups included. */
export function mediaIn(data: FieldData, media: ReadonlyMap<string, Medium>): Medium[] {
  if (media.size === 0) return []
  const values = [data.values, ...data.groups.map(group => group.values)].flatMap(one =>
    Object.values(one).flat(),
  )
  return [...new Set(values)].flatMap(value => media.get(value) ?? [])
}
