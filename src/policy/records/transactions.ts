// Records of a policy's transactions: endorsements, renewals, cancellations and reinstatements. Also the records that follow an
// unpaid invoice: grace period, lapse and lapse reinstatement (brief 1.4 to 1.7).
import type { CancellationLocator, EndorsementLocator, Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { DocumentDefinition } from '../../product/configuration.ts'
import type { FieldChanges, FieldData } from '../../product/fields/groups.ts'
import type { DOCUMENT_SUBJECTS, DocumentType } from '../contract/documents.ts'
import { type PolicyAggregate, recordFinder, type Stamped } from './aggregate.ts'
import type { InvoicedTransaction, Payment } from './invoice.ts'

/** `settled`: paid in time, or ended without effect. `lapsed`: the policy was taken off risk at the end of the period. */
export type GracePeriodState = 'open' | 'settled' | 'lapsed'

export type GracePeriod = Stamped & {
  readonly locator: Uuid
  readonly invoiceLocator: Uuid
  readonly state: GracePeriodState
  readonly startAt: Instant
  readonly endAt: Instant
  /** When the policy lapses, if not at the end of the grace period. */
  readonly cancelEffectiveAt?: Instant
  readonly settledAt?: Instant
  readonly cancellationLocator?: CancellationLocator
}

/** A policy taken off risk without a cancellation record (legacy). */
export type Lapse = {
  readonly locator: Uuid
  readonly gracePeriodLocator: Uuid
  readonly modificationLocator: Uuid
  readonly lapsedAt: Instant
  /** Last time at which the policy can be reinstated. The lapse time if the product does not allow it. */
  readonly reinstatementPeriodEndAt: Instant
  readonly createdAt: Instant
}

export type LapseReinstatementState = 'open' | 'invoiced' | 'issued' | 'closed'

export type LapseReinstatement = Stamped & {
  readonly locator: Uuid
  readonly lapseLocator: Uuid
  /** Ordered by time, beginning with `open`. The last one applies. */
  readonly statuses: readonly { readonly at: Instant; readonly status: LapseReinstatementState }[]
  /** When coverage resumes. Set once invoiced. */
  readonly effectiveAt?: Instant
  /** Set once invoiced. The modification is not issued before its invoice is paid. */
  readonly modificationLocator?: Uuid
}

/** Returns the newest of the statuses. A reinstatement always has one. */
export const reinstatementStatus = ({ statuses }: LapseReinstatement): LapseReinstatementState =>
  statuses.at(-1)!.status

/** Returns when the reinstatement entered the state; undefined if it never did. */
export const stateEnteredAt = (
  { statuses }: LapseReinstatement,
  state: LapseReinstatementState,
): Instant | undefined => statuses.find(one => one.status === state)?.at

export type EndorsementState = 'application' | 'quoted' | 'accepted' | 'issued' | 'invalidated' | 'discarded'

/** The request and the state of an endorsement or a renewal. */
export type Endorsement = Stamped & {
  readonly kind: 'endorsement' | 'renewal'
  readonly locator: EndorsementLocator
  /** An endorsement type of the configuration, or `renewal`. */
  readonly name: string
  /** For a renewal, the end of the new term, which starts at `startAt`. For an endorsement, the policy's new end, if it changes. */
  readonly endAt?: Instant
  readonly state: EndorsementState
  readonly startAt: Instant
  readonly changes: EndorsementChanges
  /** The exposures that it may change. Absent if it may change the whole policy. */
  readonly touches?: readonly Uuid[]
  readonly issuedAt?: Instant
  readonly underwriting?: UnderwritingResult
  /** Set once quoted: its modification, and how many modifications were issued before it. */
  readonly modificationLocator?: Uuid
  readonly basedOn?: number
}

export type CancellationState = 'draft' | 'issued' | 'rescinded'

export type ConflictHandling = 'block' | 'invalidate'

export type Cancellation = Stamped & {
  readonly locator: CancellationLocator
  /** A cancellation type of the configuration, `lapse`, or `cancel` for a legacy cancellation. */
  readonly name: string
  readonly state: CancellationState
  readonly effectiveAt: Instant
  readonly conflictHandling: ConflictHandling
  readonly category?: string
  readonly issuedAt?: Instant
  readonly modificationLocator?: Uuid
}

export type ReinstatementState = 'draft' | 'accepted' | 'issued' | 'expired'

export type Reinstatement = Stamped & {
  readonly locator: Uuid
  readonly cancellationLocator: CancellationLocator
  readonly state: ReinstatementState
  readonly effectiveAt: Instant
  /** Last time at which it can be accepted and issued. */
  readonly deadlineAt?: Instant
  readonly issuedAt?: Instant
  /** Set once accepted. The modification is not issued before the reinstatement. */
  readonly modificationLocator?: Uuid
}

export type UnderwritingDecision = 'accept' | 'reject' | 'none'

export type UnderwritingResult = {
  readonly decision: UnderwritingDecision
  readonly notes: readonly string[]
  readonly at: Instant
}

export type ModificationKind =
  | 'creation'
  | 'endorsement'
  | 'renewal'
  | 'cancellation'
  | 'withdrawal'
  | 'lapse'
  | 'reinstatement'
  /** Fees added or reversed by hand. Changes only fees. */
  | 'feeUpdate'
  /** Another payment schedule. Changes only billing. */
  | 'scheduleChange'

export const INVOICED_TRANSACTIONS: Readonly<Record<ModificationKind, InvoicedTransaction>> = {
  creation: 'newBusiness',
  endorsement: 'endorsement',
  renewal: 'renewal',
  cancellation: 'cancellation',
  withdrawal: 'cancellation',
  lapse: 'cancellation',
  reinstatement: 'reinstatement',
  feeUpdate: 'other',
  scheduleChange: 'installment',
}

export const quoteOf = recordFinder('quotes', 'quote')
export const endorsementOf = recordFinder('endorsements', 'endorsement')
export const cancellationOf = recordFinder('cancellations', 'cancellation')
export const reinstatementOf = recordFinder('reinstatements', 'reinstatement')
export const gracePeriodOf = recordFinder('gracePeriods', 'gracePeriod')
export const lapseReinstatementOf = recordFinder('lapseReinstatements', 'reinstatement')

// Documents are generated from a template for a transaction or an invoice, or uploaded.
/**
 * What a document belongs to. `renewal` and `endorsement` are separate, as in responses. `reinstatement` belongs to a cancellation,
 * `lapseReinstatement` to a legacy lapse.
 */
export type DocumentSubject = (typeof DOCUMENT_SUBJECTS)[number]

/**
 * Progress (resources brief 4.2). `draft`: not made yet. `dataError`: the data of its template could not be collected.
 * `renderError`: the template failed. `conversionError`: its HTML could not be converted to PDF.
 */
export type DocumentState = 'draft' | 'ready' | 'dataError' | 'renderError' | 'conversionError'

export type DocumentFailure = Exclude<DocumentState, 'draft' | 'ready'>

export type PolicyDocument = Stamped & {
  readonly locator: Uuid
  readonly subject: DocumentSubject
  /** Locator of the quote, endorsement, invoice, …; the policy's locator for documents of the policy itself. */
  readonly subjectLocator: string
  readonly modificationLocator?: Uuid
  readonly displayName: string
  readonly fileName: string
  readonly type: DocumentType
  /** File name of its template. Absent if the document was uploaded or consolidated from others. */
  readonly templateName?: string
  readonly pageLayout?: DocumentDefinition['pageLayout']
  /** The event that generated the document. Undoing that event removes the document. */
  readonly madeAt?: DocumentDefinition['generatingEvent']
  /** The documents that a plugin consolidated into this one (consolidation.ts). */
  readonly sources?: readonly Uuid[]
  /** Whether it replaces its sources once it is made. */
  readonly deletesSources?: boolean
  /** The type that the uploader chose. */
  readonly documentType?: string
  readonly state: DocumentState
  /** Why the document could not be made. For a ready document, a warning. */
  readonly failure?: string
}

export type UnplacedDocument = Omit<PolicyDocument, 'subject' | 'subjectLocator'>

/** Whether a client uploaded the document. Others are made from a template or consolidated from other documents. */
export const isUploaded = ({ templateName, sources }: PolicyDocument): boolean =>
  templateName === undefined && sources === undefined

/** Whether the document could not be made. */
export const isFailed = ({ state }: Pick<PolicyDocument, 'state'>): boolean =>
  state !== 'draft' && state !== 'ready'

/** Relative to the tenant's folder in R2. */
export const documentPath = (locator: Uuid): string[] => ['documents', locator]

/** Maximum number of uploaded documents per policy. */
export const MOST_UPLOADED = 200

/** A file that fields name by its locator. The policy stores a copy of the properties that it shows. */
export type Medium = { readonly locator: Uuid; readonly fileName: string; readonly mimeType: string }

/** Relative to the tenant's folder in R2. */
export const mediumPath = (locator: Uuid): string[] => ['media', locator]

/** Returns a payment's data. Payments have no field groups (brief 6.7). */
export const dataOfPayment = ({ fieldValues }: Pick<Payment, 'fieldValues'>): FieldData => ({
  values: fieldValues,
  groups: [],
})

/** Returns the media that the values name, including values of groups. */
export function mediaIn(data: FieldData, media: ReadonlyMap<string, Medium>): Medium[] {
  if (media.size === 0) return []
  const values = [data.values, ...data.groups.map(group => group.values)].flatMap(one =>
    Object.values(one).flat(),
  )
  return [...new Set(values)].flatMap(value => media.get(value) ?? [])
}

// Changes that requests make to a policy's content, in the form that the domain uses. An endorsement stores its changes.

/** Limits and deductible of a peril segment, as the exact decimal text that was sent. Indemnities may be `unlimited`. */
export type PerilAmounts = {
  deductible?: string
  lumpSumPayment?: string
  indemnityInAggregate?: string
  indemnityPerEvent?: string
  indemnityPerItem?: string
}

/** Numbers or numeric text. Null and "" count as absent. */
export type PerilAmountsCreate = { [name in keyof PerilAmounts]?: unknown }

/** For each amount there is a flag that removes it. */
export type PerilAmountsUpdate = PerilAmountsCreate & {
  [name in keyof PerilAmounts as `remove${Capitalize<name>}`]?: boolean | null
}

/** `locator` identifies the addition only within the request. The record gets another one. */
export type GroupCreate = { fieldName: string; locator?: string; fieldValues?: unknown }

export type PerilCreate = PerilAmountsCreate & {
  name: string
  locator?: string
  fieldValues?: unknown
  fieldGroups?: GroupCreate[]
}

export type PerilUpdate = PerilAmountsUpdate & FieldChanges & { perilLocator: string }

export type ExposureCreate = {
  exposureName: string
  locator?: string
  fieldValues?: unknown
  fieldGroups?: GroupCreate[]
  perils?: PerilCreate[]
}

export type ExposureUpdate = FieldChanges & {
  exposureLocator: string
  addPerils?: PerilCreate[]
  updatePerils?: PerilUpdate[]
  removePerils?: string[]
}

/** An update of a draft's content. The caller handles spans and payment schedules. */
export type DraftChanges = FieldChanges & {
  addExposures?: ExposureCreate[]
  updateExposures?: ExposureUpdate[]
  removeExposures?: string[]
}

export type EndorsedExposure = Omit<ExposureUpdate, 'removePerils'> & { endPerils?: string[] }

export type EndorsementChanges = FieldChanges & {
  addExposures?: ExposureCreate[]
  updateExposures?: EndorsedExposure[]
  endExposures?: string[]
  newPaymentScheduleName?: string
  reprice?: boolean
}

/** Returns how many digit locators a new draft with these exposures needs. */
export const digitsForNewDraft = (exposures: readonly ExposureCreate[]): number =>
  3 + digitsForExposures(exposures)

/** Returns how many digit locators an update needs: one for each exposure and peril that it adds. */
export const digitsForChanges = (
  changes: Pick<EndorsementChanges, 'addExposures' | 'updateExposures'>,
): number =>
  digitsForExposures(changes.addExposures ?? []) +
  (changes.updateExposures ?? []).reduce((count, update) => count + (update.addPerils?.length ?? 0), 0)

const digitsForExposures = (exposures: readonly ExposureCreate[]): number =>
  exposures.reduce((count, exposure) => count + 1 + (exposure.perils?.length ?? 0), 0)

/** Returns how many digit locators an endorsement needs: those of its changes, and one for its modification. */
export const digitsForEndorsement = (changes: EndorsementChanges): number => 1 + digitsForChanges(changes)

/** Returns the locators of the exposures that the changes update or end. */
export const namedExposures = ({ updateExposures, endExposures }: EndorsementChanges): string[] => [
  ...new Set([...(updateExposures ?? []).map(one => one.exposureLocator), ...(endExposures ?? [])]),
]

/** Returns the payment schedule that the policy has once the endorsement or renewal is issued. */
export const scheduleOf = ({ policy }: PolicyAggregate, { changes }: Endorsement): string =>
  changes.newPaymentScheduleName ?? policy.paymentScheduleName
