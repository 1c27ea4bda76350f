// Records of a policy's transactions: endorsements, renewals, cancellations and reinstatements; and after an invoice not paid
// in time, its grace period, lapse and lapse reinstatement (brief 1.4 to 1.7).
import type { CancellationLocator, EndorsementLocator, Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { DocumentDefinition } from '../../product/configuration.ts'
import type { FieldChanges, FieldData } from '../../product/fields/groups.ts'
import type { DOCUMENT_SUBJECTS, DocumentType } from '../contract/documents.ts'
import { type PolicyAggregate, recordFinder, type Stamped } from './aggregate.ts'
import type { InvoicedTransaction, Payment } from './invoice.ts'

/** `settled`: paid in time, or ended without effect; `lapsed`: the policy was taken off risk at its end. */
export type GracePeriodState = 'open' | 'settled' | 'lapsed'

export type GracePeriod = Stamped & {
  readonly locator: Uuid
  readonly invoiceLocator: Uuid
  readonly state: GracePeriodState
  readonly startAt: Instant
  readonly endAt: Instant
  /** When the policy would lapse, instead of at the end. */
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
  /** Last time to reinstate the policy; the lapse time if the product does not allow it. */
  readonly reinstatementPeriodEndAt: Instant
  readonly createdAt: Instant
}

export type LapseReinstatementState = 'open' | 'invoiced' | 'issued' | 'closed'

export type LapseReinstatement = Stamped & {
  readonly locator: Uuid
  readonly lapseLocator: Uuid
  /** Ordered by time, from `open`; the last one holds. */
  readonly statuses: readonly { readonly at: Instant; readonly status: LapseReinstatementState }[]
  /** When coverage resumes; set once invoiced. */
  readonly effectiveAt?: Instant
  /** Set once invoiced; not issued before its invoice is paid. */
  readonly modificationLocator?: Uuid
}

export const reinstatementStatus = ({ statuses }: LapseReinstatement): LapseReinstatementState =>
  statuses.at(-1)!.status

/** Undefined if it never entered the state. */
export const enteredAt = (
  { statuses }: LapseReinstatement,
  state: LapseReinstatementState,
): Instant | undefined => statuses.find(one => one.status === state)?.at

export type EndorsementState = 'application' | 'quoted' | 'accepted' | 'issued' | 'invalidated' | 'discarded'

/** An endorsement or a renewal: its request and its state. */
export type Endorsement = Stamped & {
  readonly kind: 'endorsement' | 'renewal'
  readonly locator: EndorsementLocator
  /** An endorsement type of the configuration; for a renewal, `renewal`. */
  readonly name: string
  /** For a renewal the end of the new term, which starts at `startAt`; for an endorsement the policy's new end, if any. */
  readonly endAt?: Instant
  readonly state: EndorsementState
  readonly startAt: Instant
  readonly changes: EndorsementChanges
  /** The exposures that it may change; absent if it may change the whole policy. */
  readonly touches?: readonly Uuid[]
  readonly issuedAt?: Instant
  readonly underwriting?: UnderwritingResult
  /** Set once quoted: its modification, and how many were issued before it. */
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
  /** Last time to accept and issue it. */
  readonly deadlineAt?: Instant
  readonly issuedAt?: Instant
  /** Set once accepted; not issued before the reinstatement. */
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
  /** Fees added and reversed by hand; touches only fees. */
  | 'feeUpdate'
  /** Another payment schedule; touches only billing. */
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
 * What a document belongs to. `renewal` and `endorsement` are separate, as in responses. `reinstatement` is one of a
 * cancellation, `lapseReinstatement` one of a legacy lapse.
 */
export type DocumentSubject = (typeof DOCUMENT_SUBJECTS)[number]

/**
 * Progress (resources brief 4.2). `draft`: not made yet; `dataError`: its template's data could not be collected;
 * `renderError`: the template failed; `conversionError`: its HTML could not become a PDF.
 */
export type DocumentState = 'draft' | 'ready' | 'dataError' | 'renderError' | 'conversionError'

export type DocumentFailure = Exclude<DocumentState, 'draft' | 'ready'>

export type PolicyDocument = Stamped & {
  readonly locator: Uuid
  readonly subject: DocumentSubject
  /** Locator of the quote, endorsement, invoice …; the policy's for its own documents. */
  readonly subjectLocator: string
  readonly modificationLocator?: Uuid
  readonly displayName: string
  readonly fileName: string
  readonly type: DocumentType
  /** File name of its template; absent if uploaded or consolidated from other documents. */
  readonly templateName?: string
  readonly pageLayout?: DocumentDefinition['pageLayout']
  /** The event that made it; undoing that event removes it. */
  readonly madeAt?: DocumentDefinition['generatingEvent']
  /** Documents that a plugin had consolidated into it (consolidation.ts). */
  readonly sources?: readonly Uuid[]
  /** Whether it replaces its sources once it is made. */
  readonly deletesSources?: boolean
  /** The type that the uploader chose. */
  readonly documentType?: string
  readonly state: DocumentState
  /** Why it could not be made; for a ready one, a warning. */
  readonly failure?: string
}

export type UnplacedDocument = Omit<PolicyDocument, 'subject' | 'subjectLocator'>

export const isUploaded = ({ templateName, sources }: PolicyDocument): boolean =>
  templateName === undefined && sources === undefined

/** Whether it could not be made. */
export const isFailed = ({ state }: Pick<PolicyDocument, 'state'>): boolean =>
  state !== 'draft' && state !== 'ready'

/** Relative to the tenant's folder in R2. */
export const documentPath = (locator: Uuid): string[] => ['documents', locator]

/** Per policy. */
export const MOST_UPLOADED = 200

// Media are files that fields name by locator. A policy stores the properties that it shows of them.
export type Medium = { readonly locator: Uuid; readonly fileName: string; readonly mimeType: string }

/** Relative to the tenant's folder in R2. */
export const mediumPath = (locator: Uuid): string[] => ['media', locator]

/** A payment has no groups (brief 6.7). */
export const dataOfPayment = ({ fieldValues }: Pick<Payment, 'fieldValues'>): FieldData => ({
  values: fieldValues,
  groups: [],
})

/** The media among the values, including fields of groups. */
export function mediaIn(data: FieldData, media: ReadonlyMap<string, Medium>): Medium[] {
  if (media.size === 0) return []
  const values = [data.values, ...data.groups.map(group => group.values)].flatMap(one =>
    Object.values(one).flat(),
  )
  return [...new Set(values)].flatMap(value => media.get(value) ?? [])
}

// Changes that requests make to a policy's content, in the domain's form. An endorsement stores its changes.

/** Limits and deductible of a peril segment: exact decimal text as sent; indemnities may be `unlimited`. */
export type PerilAmounts = {
  deductible?: string
  lumpSumPayment?: string
  indemnityInAggregate?: string
  indemnityPerEvent?: string
  indemnityPerItem?: string
}

/** Numbers or numeric text; null and "" count as absent. */
export type PerilAmountsCreate = { [name in keyof PerilAmounts]?: unknown }

/** Each amount has a flag that removes it. */
export type PerilAmountsUpdate = PerilAmountsCreate & {
  [name in keyof PerilAmounts as `remove${Capitalize<name>}`]?: boolean | null
}

/** `locator` identifies an addition only within the request; the record gets another one. */
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

/** An update of a draft's content; the caller handles spans and schedules. */
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

/** Digit locators that a draft with these exposures takes. */
export const digitsForNewDraft = (exposures: readonly ExposureCreate[]): number =>
  3 + digitsForExposures(exposures)

/** Digit locators that an update takes: one for each exposure and peril that it adds. */
export const digitsForChanges = (
  changes: Pick<EndorsementChanges, 'addExposures' | 'updateExposures'>,
): number =>
  digitsForExposures(changes.addExposures ?? []) +
  (changes.updateExposures ?? []).reduce((count, update) => count + (update.addPerils?.length ?? 0), 0)

const digitsForExposures = (exposures: readonly ExposureCreate[]): number =>
  exposures.reduce((count, exposure) => count + 1 + (exposure.perils?.length ?? 0), 0)

/** Digit locators of an endorsement: those of its changes, and one for its modification. */
export const digitsForEndorsement = (changes: EndorsementChanges): number => 1 + digitsForChanges(changes)

export const namedExposures = ({ updateExposures, endExposures }: EndorsementChanges): string[] => [
  ...new Set([...(updateExposures ?? []).map(one => one.exposureLocator), ...(endExposures ?? [])]),
]

/** The payment schedule that the policy has once the endorsement or renewal is issued. */
export const scheduleOf = ({ policy }: PolicyAggregate, { changes }: Endorsement): string =>
  changes.newPaymentScheduleName ?? policy.paymentScheduleName
