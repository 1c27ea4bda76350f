// The records of a policy's transactions: endorsements and renewals, cancellations, reinstatements, and what follows an
// invoice that is not paid in time: a grace period, a lapse at its end, a reinstatement of it (brief 1.4 to 1.7).
import type { CancellationLocator, EndorsementLocator, Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { DocumentDefinition } from '../../product/configuration.ts'
import type { FieldChanges, FieldData } from '../../product/fields/groups.ts'
import type { DocumentType } from '../contract/documents.ts'
import { type PolicyAggregate, recordFinder, type Stamped } from './aggregate.ts'
import type { InvoicedTransaction, Payment } from './invoice.ts'

/** `settled`: paid in time, or over without effect; `lapsed`: the policy was taken off risk at its end. */
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
  /** Until when the policy can be reinstated; the time of the lapse where the product lets none back. */
  readonly reinstatementPeriodEndAt: Instant
  readonly createdAt: Instant
}

export type LapseReinstatementState = 'open' | 'invoiced' | 'issued' | 'closed'

export type LapseReinstatement = Stamped & {
  readonly locator: Uuid
  readonly lapseLocator: Uuid
  /** In order of time, from `open`; the last one holds. */
  readonly statuses: readonly { readonly at: Instant; readonly status: LapseReinstatementState }[]
  /** From when coverage comes back, once invoiced. */
  readonly effectiveAt?: Instant
  /** Once invoiced; not issued before its invoice is paid. */
  readonly modificationLocator?: Uuid
}

export const reinstatementStatus = ({ statuses }: LapseReinstatement): LapseReinstatementState =>
  statuses.at(-1)!.status

/** When it came into the state; undefined when it never did. */
export const enteredAt = (
  { statuses }: LapseReinstatement,
  state: LapseReinstatementState,
): Instant | undefined => statuses.find(one => one.status === state)?.at

export type EndorsementState = 'application' | 'quoted' | 'accepted' | 'issued' | 'invalidated' | 'discarded'

/** An endorsement or a renewal: its request and its state. */
export type Endorsement = Stamped & {
  readonly kind: 'endorsement' | 'renewal'
  readonly locator: EndorsementLocator
  /** An endorsement type of the configuration; of a renewal, `renewal`. */
  readonly name: string
  /** Of a renewal the end of the new term, which starts at `startAt`; of an endorsement the policy's new end, if any. */
  readonly endAt?: Instant
  readonly state: EndorsementState
  readonly startAt: Instant
  readonly changes: EndorsementChanges
  /** The exposures that it can change anything of; absent where that is the whole policy. */
  readonly touches?: readonly Uuid[]
  readonly issuedAt?: Instant
  readonly underwriting?: UnderwritingResult
  /** Once quoted: its modification, and how many were issued before it. */
  readonly modificationLocator?: Uuid
  readonly basedOn?: number
}

export type CancellationState = 'draft' | 'issued' | 'rescinded'

export type ConflictHandling = 'block' | 'invalidate'

export type Cancellation = Stamped & {
  readonly locator: CancellationLocator
  /** A cancellation type of the configuration, `lapse`, or `cancel` of a legacy cancellation. */
  readonly name: string
  readonly state: CancellationState
  readonly effectiveAt: Instant
  readonly conflictHandling: ConflictHandling
  readonly category?: string
  readonly issuedAt?: Instant
  /** Once issued. */
  readonly modificationLocator?: Uuid
}

export type ReinstatementState = 'draft' | 'accepted' | 'issued' | 'expired'

export type Reinstatement = Stamped & {
  readonly locator: Uuid
  readonly cancellationLocator: CancellationLocator
  readonly state: ReinstatementState
  readonly effectiveAt: Instant
  /** Until when it can be accepted and issued. */
  readonly deadlineAt?: Instant
  readonly issuedAt?: Instant
  /** Once accepted; not issued before the reinstatement is. */
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
  /** Fees added and taken back by hand; it touches nothing but fees. */
  | 'feeUpdate'
  /** Another payment schedule; it touches nothing but bills. */
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

// Documents of a policy: generated from a template for a transaction or an invoice, or uploaded.
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

export type PolicyDocument = Stamped & {
  readonly locator: Uuid
  readonly subject: DocumentSubject
  /** Locator of the quote, endorsement, invoice …; of the policy for its own. */
  readonly subjectLocator: string
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
  /** Why it could not be made; for a ready one, a warning. */
  readonly failure?: string
}

export type UnplacedDocument = Omit<PolicyDocument, 'subject' | 'subjectLocator'>

export const isUploaded = ({ templateName, sources }: PolicyDocument): boolean =>
  templateName === undefined && sources === undefined

/** Below the tenant's own place in R2. */
export const documentPath = (locator: Uuid): string[] => ['documents', locator]

/** Most documents that one policy has uploaded. */
export const MOST_UPLOADED = 200

// Media are files that fields name by their locators. A policy keeps the properties that it shows of them.
export type Medium = { readonly locator: Uuid; readonly fileName: string; readonly mimeType: string }

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

// The changes that requests make to a policy's content, in the domain's form. An endorsement keeps its changes.

/** Limits and own share of a peril segment: exact decimal text as sent; indemnities also `unlimited`. */
export type PerilAmounts = {
  deductible?: string
  lumpSumPayment?: string
  indemnityInAggregate?: string
  indemnityPerEvent?: string
  indemnityPerItem?: string
}

/** Amounts of PerilCreateRequest: numbers or numeric text; null and "" count as absent. */
export type PerilAmountsCreate = { [name in keyof PerilAmounts]?: unknown }

/** Amounts of PerilUpdateRequest, with a flag for each that removes it. */
export type PerilAmountsUpdate = PerilAmountsCreate & {
  [name in keyof PerilAmounts as `remove${Capitalize<name>}`]?: boolean | null
}

/** The `locator` of an addition identifies it within the request only; the record gets another one. */
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

/** An update of a draft's content; the caller decides about spans and schedules. */
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

/** How many digit locators an endorsement needs: those of its changes, and its modification's. */
export const digitsForNewDraft = (exposures: readonly ExposureCreate[]): number =>
  3 + digitsForExposures(exposures)

/** Digit locators that an update needs: one for each exposure and peril that it adds. */
export const digitsForChanges = (
  changes: Pick<EndorsementChanges, 'addExposures' | 'updateExposures'>,
): number =>
  digitsForExposures(changes.addExposures ?? []) +
  (changes.updateExposures ?? []).reduce((count, update) => count + (update.addPerils?.length ?? 0), 0)

const digitsForExposures = (exposures: readonly ExposureCreate[]): number =>
  exposures.reduce((count, exposure) => count + 1 + (exposure.perils?.length ?? 0), 0)

/** Digit locators that carrying out an endorsement takes: those of its changes, and its modification. */
export const digitsForEndorsement = (changes: EndorsementChanges): number => 1 + digitsForChanges(changes)

export const namedExposures = ({ updateExposures, endExposures }: EndorsementChanges): string[] => [
  ...new Set([...(updateExposures ?? []).map(one => one.exposureLocator), ...(endExposures ?? [])]),
]

/** The payment schedule that the policy has once the endorsement or renewal is issued. */
export const scheduleOf = ({ policy }: PolicyAggregate, { changes }: Endorsement): string =>
  changes.newPaymentScheduleName ?? policy.paymentScheduleName
