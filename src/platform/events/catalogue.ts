// Every event type. servicing/events/stream/causes.ts lists the causes of each. The event stream has the closed list of contract
// 2, three more types (resources brief 8.2) and those of plugins. Newer families are only in the events interface and webhooks.
// Events of claims and premium reports are accepted in subscriptions and filters but never emitted: Bindery has neither.
import type { Key } from './data-keys.ts'

/** Newer names that depend on the action and not only on the older type. */
export type ChosenNewerType =
  | 'policy.quote.manualunderwrite'
  | 'policy.quote.reset'
  | 'policy.change.manualUnderwrite'
  | 'policy.renewal.manualUnderwrite'

export type EventTypeEntry = {
  readonly about: string
  /** The contract's name for the event's data, or Bindery's own where the contract has none. */
  readonly shape: `EventStream${string}Data`
  readonly data: readonly Key[]
  /** Properties that the data has only in some cases. */
  readonly optional?: readonly Key[]
  /** The newer name. Absent when it is the same or when there is none. */
  readonly newer?: string
  /** The newer name for some actions of this type. */
  readonly chosen?: ChosenNewerType
  /** Accepted in subscriptions and filters but never emitted. */
  readonly isForeign?: true
  /** Emitted in addition to the current type of the same action. */
  readonly isLegacy?: true
  /** False when the type is not in the event stream. */
  readonly isStreamed?: false
}

const POLICY = ['policyLocator', 'policyholderLocator', 'productName'] as const satisfies readonly Key[]
const VERSIONED = [...POLICY, 'configVersion', 'quoteLocator'] as const
const QUOTE = [...POLICY, 'quoteLocator', 'quoteName'] as const
const ENDORSEMENT = [
  ...POLICY,
  'endorsementLocator',
  'endorsementName',
  'effectiveTimestamp',
  'state',
] as const
const ENDORSED = [...ENDORSEMENT, 'modificationLocator'] as const
const RENEWAL = [...POLICY, 'renewalLocator', 'effectiveTimestamp', 'state'] as const
const RENEWED = [...RENEWAL, 'modificationLocator'] as const
const CANCELLATION = [...POLICY, 'cancellationLocator', 'cancellationName', 'effectiveTimestamp'] as const
const REINSTATEMENT = [
  ...POLICY,
  'reinstatementLocator',
  'cancellationLocator',
  'effectiveTimestamp',
] as const
const MIGRATION = ['migrationLocator', 'migrationType', 'totalAccounts'] as const satisfies readonly Key[]
const MIGRATED = [...MIGRATION, 'completedAccounts', 'failedAccounts', 'erroredAccounts'] as const
const GRACE = [...POLICY, 'gracePeriodLocator', 'invoiceLocator', 'start', 'end'] as const
const LAPSED = [...POLICY, 'reinstatementLocator', 'lapseLocator'] as const
const RESTORED = [...LAPSED, 'invoiceLocator', 'effectiveTimestamp'] as const
const INVOICE = [...POLICY, 'invoiceLocator', 'totalDue', 'currency', 'dueTimestamp', 'invoiceType'] as const
const PAYMENT = [...POLICY, 'paymentLocator', 'invoiceLocator', 'amount', 'currency', 'source'] as const
const DOCUMENT = [...POLICY, 'documentLocator', 'referenceType', 'referenceLocator'] as const
const NOTE = [
  'policyholderLocator',
  'noteLocator',
  'referenceType',
  'referenceLocator',
] as const satisfies readonly Key[]
const REPORT = ['reportLocator', 'reportName', 'reportState'] as const satisfies readonly Key[]
const LOGIN = ['username', 'accountType'] as const

/** `shape` may be absent where it follows from the type. */
type Row = Omit<EventTypeEntry, 'shape'> & { readonly shape?: string }

const event = (about: string, data: readonly Key[], more: Partial<Row> = {}): Row => ({
  about,
  data,
  ...more,
})

const legacy = (about: string, data: readonly Key[], more: Partial<Row> = {}): Row =>
  event(about, data, { ...more, isLegacy: true })

const unstreamed = (about: string, data: readonly Key[], more: Partial<Row> = {}): Row =>
  event(about, data, { ...more, isStreamed: false })

const notEmitted = (about: string, shape?: string): Row =>
  event(about, [], { isForeign: true, ...(shape && { shape }) })

/** Newer names of records. The action keeps its name unless a row gives a different one. */
const NEWER_RECORDS: Readonly<Record<string, string>> = {
  cancellation: 'policy.cancellation',
  endorsement: 'policy.change',
  reinstatement: 'policy.reinstatement',
  renewal: 'policy.renewal',
}

/**
 * Newer names are those of the events interface and webhooks (resources brief 8.1). A row has at most one newer name, and an
 * action with several rows has its newer name on one of them. Sign-ins have none.
 *
 * - A quote that is priced and underwritten in one action is `underwrite`, the last of the newer steps. `underwritingStatus` has
 *   the outcome. A person's decision is `manualunderwrite`.
 * - An issued policy is the issue of its quote. Endorsements are `policy.change`.
 * - `reset` can continue: a quote or reinstatement whose acceptance is taken back. `discard` cannot: an invalidated endorsement, a
 *   rescinded cancellation, an expired reinstatement.
 * - `policy.status.update` reports the end of cover when it comes, not the decision to end it.
 * - Types without a newer name because another row of the same action has it: `policy.endorse` (`endorsement.issue`),
 *   `policy.invoice` (`invoice.issue`), `policy.finalize` (`policy.quote.accept`).
 */
const ROWS = {
  'cancellation.create': event('A cancellation draft was created.', CANCELLATION),
  'cancellation.update': event('A cancellation draft was changed.', CANCELLATION),
  'cancellation.rescind': event('A cancellation draft was withdrawn.', CANCELLATION, {
    newer: 'policy.cancellation.discard',
  }),
  'cancellation.issue': event('A cancellation was issued.', [...CANCELLATION, 'modificationLocator']),
  'cancellation.effective': event(
    'The cover of a policy ended by a cancellation or withdrawal, at its effective time.',
    [...POLICY, 'effectiveTimestamp', 'modificationLocator', 'modificationName'],
    { optional: ['cancellationLocator', 'cancellationName'], newer: 'policy.status.update' },
  ),
  'claim.close': notEmitted('A claim was closed.'),
  'claim.create': notEmitted('A claim was created.'),
  'claim.discard': notEmitted('A claim was discarded.'),
  'claim.open': notEmitted('A claim was opened.'),
  'claim.update': notEmitted('A claim was changed.'),
  'policy.gracePeriod': event('An unpaid invoice became past due and a grace period began.', GRACE, {
    shape: 'GracePeriodCreate',
    optional: ['cancelEffectiveTimestamp'],
    newer: 'billing.delinquency.create',
  }),
  'policy.gracePeriod.update': event(
    'A grace period was changed: its end, or when the policy would lapse.',
    GRACE,
    { shape: 'GracePeriodUpdate', optional: ['cancelEffectiveTimestamp'] },
  ),
  'invoice.issue': event('An invoice was generated.', INVOICE, {
    shape: 'PolicyInvoiceIssue',
    newer: 'billing.invoice.generate',
  }),
  'invoice.invalidate': event('An invoice was invalidated.', INVOICE, { shape: 'PolicyInvoiceInvalidate' }),
  'invoice.writtenOff': event('An unpaid invoice was written off.', INVOICE, {
    shape: 'PolicyInvoiceWrittenOff',
  }),
  'invoice.pastDue': event('An invoice was not paid by its due time.', INVOICE, {
    shape: 'PolicyInvoicePastDue',
  }),
  'payment.pay': event('An invoice was paid, in full or in part.', PAYMENT, {
    newer: 'billing.payment.post',
  }),
  'policy.cancel': event('A policy was cancelled or withdrawn.', [
    ...POLICY,
    'effectiveTimestamp',
    'modificationLocator',
    'modificationName',
  ]),
  'policy.create': event('A policy draft was created.', VERSIONED),
  // A policy whose selected quote was discarded has no quote.
  'policy.discard': event('A policy that was not issued was discarded.', [...POLICY, 'configVersion'], {
    optional: ['quoteLocator'],
  }),
  'policy.endorse': legacy('An endorsement was issued (legacy).', [...POLICY, 'modificationLocator']),
  'policy.finalize': event('A policy was locked, priced and underwritten.', [...VERSIONED, 'decision']),
  'policy.invoice': legacy('An invoice was generated (legacy, in addition to invoice.issue).', [
    ...POLICY,
    'invoiceLocator',
  ]),
  'policy.issue': event('A policy was issued.', [...VERSIONED, 'issuedTimestamp'], {
    newer: 'policy.quote.issue',
  }),
  'policy.lapse': legacy(
    'A policy lapsed at the end of grace (legacy).',
    [
      ...POLICY,
      'lapseLocator',
      'gracePeriodLocator',
      'invoiceLocator',
      'modificationLocator',
      'effectiveTimestamp',
    ],
    { newer: 'billing.delinquency.lapse' },
  ),
  'policy.reinstatement.close': legacy('A legacy reinstatement was closed unpaid.', LAPSED, {
    shape: 'ReinstatementClose',
    optional: ['invoiceLocator', 'effectiveTimestamp'],
    newer: 'policy.reinstatement.discard',
  }),
  'policy.reinstatement.invoice': legacy('A legacy reinstatement was invoiced.', RESTORED, {
    shape: 'ReinstatementInvoice',
  }),
  // The contract names no shape for it. Its ReinstatementIssue is the shape of another event.
  'policy.reinstatement.issue': legacy('A legacy reinstatement was paid and issued.', RESTORED, {
    shape: 'LapseReinstatementIssue',
  }),
  'policy.reinstatement.open': legacy('A legacy reinstatement was opened.', LAPSED, {
    shape: 'ReinstatementOpen',
    newer: 'policy.reinstatement.create',
  }),
  'policy.renew': legacy('A renewal was issued (legacy).', [...POLICY, 'modificationLocator'], {
    shape: 'Renewal',
  }),
  'policy.update': event(
    'A policy draft was changed, or the fees or the payment schedule of an issued policy.',
    VERSIONED,
    { optional: ['modificationLocator', 'paymentScheduleName'] },
  ),
  'policy.upgrade': event('A policy moved to another configuration version.', [
    ...POLICY,
    'fromConfigVersion',
    'toConfigVersion',
  ]),
  'subClaim.open': notEmitted('A sub-claim was opened.'),
  'subClaim.update': notEmitted('A sub-claim was changed.'),
  'subClaim.close': notEmitted('A sub-claim was closed.'),
  'subClaim.reopen': notEmitted('A sub-claim was reopened.', 'SubClaimReOpen'),
  'subClaim.updateReserve': notEmitted('A reserve of a sub-claim was changed.', 'SubClaimReserveUpdate'),
  'policy.end.reminder': event('The end of a policy is as near as its product specifies.', [
    ...POLICY,
    'endTimestamp',
    'reminderName',
  ]),
  'subClaim.createPayable': notEmitted('A payable of a sub-claim was created.', 'SubClaimPayableCreate'),
  'subClaim.reversePayable': notEmitted('A payable of a sub-claim was reversed.', 'SubClaimPayableReverse'),
  'endorsement.create': event('An application for an endorsement was created.', ENDORSEMENT),
  'endorsement.update': event('An application for an endorsement was changed.', ENDORSEMENT, {
    optional: ['decision'],
    chosen: 'policy.change.manualUnderwrite',
  }),
  'endorsement.quote': event('An endorsement was priced and locked.', ENDORSEMENT, {
    newer: 'policy.change.underwrite',
  }),
  'endorsement.accept': event('An endorsement was accepted.', ENDORSED),
  'endorsement.issue': event('An endorsement was issued.', ENDORSED),
  'endorsement.invalidate': event('A quoted or accepted endorsement was invalidated.', ENDORSEMENT, {
    newer: 'policy.change.discard',
  }),
  'endorsement.discard': event('An application for an endorsement was discarded.', ENDORSEMENT),
  'reinstatement.accept': event('A reinstatement was accepted.', REINSTATEMENT, { optional: ['deadline'] }),
  'reinstatement.create': event('A reinstatement draft was created.', REINSTATEMENT, {
    optional: ['deadline'],
  }),
  'reinstatement.issue': event('A reinstatement was issued.', [...REINSTATEMENT, 'modificationLocator'], {
    optional: ['deadline'],
  }),
  'reinstatement.invalidate': event('An accepted reinstatement was invalidated.', REINSTATEMENT, {
    optional: ['deadline'],
    newer: 'policy.reinstatement.reset',
  }),
  'reinstatement.deadlineReached': event(
    'A reinstatement expired at its deadline.',
    [...REINSTATEMENT, 'deadline'],
    { newer: 'policy.reinstatement.discard' },
  ),
  'renewal.create': event('An application for a renewal was created.', RENEWAL),
  'renewal.update': event('An application for a renewal was changed.', RENEWAL, {
    optional: ['decision'],
    chosen: 'policy.renewal.manualUnderwrite',
  }),
  'renewal.quote': event('A renewal was priced and locked.', RENEWAL, { newer: 'policy.renewal.underwrite' }),
  'renewal.accept': event('A renewal was accepted.', RENEWED),
  'renewal.issue': event('A renewal was issued.', RENEWED),
  'renewal.invalidate': event('A quoted or accepted renewal was invalidated.', RENEWAL, {
    newer: 'policy.renewal.discard',
  }),
  'renewal.discard': event('An application for a renewal was discarded.', RENEWAL),
  'policy.end': event('A policy reached its end without a cancellation.', [...POLICY, 'endTimestamp'], {
    newer: 'policy.status.update',
  }),
  'policy.quote.create': event('A quote was created.', QUOTE),
  'policy.quote.discard': event('A quote was discarded.', QUOTE),
  'policy.quote.update': event('A quote was changed, or returned from accepted to quoted.', QUOTE, {
    chosen: 'policy.quote.reset',
  }),
  'policy.quote.quoted': event('A quote was priced and locked.', [...QUOTE, 'decision'], {
    newer: 'policy.quote.underwrite',
    chosen: 'policy.quote.manualunderwrite',
  }),
  'policy.quote.accept': event('A quote was accepted.', QUOTE),
  'policy.quote.declined': event('Underwriting did not accept a quote.', [...QUOTE, 'decision'], {
    newer: 'policy.quote.underwrite',
    chosen: 'policy.quote.manualunderwrite',
  }),
  'premiumReport.create': notEmitted('A premium report was created.'),
  'premiumReport.update': notEmitted('A premium report was changed.'),
  'premiumReport.issue': notEmitted('A premium report was issued.'),
  'premiumReport.discard': notEmitted('A premium report was discarded.'),
  'premiumReport.reverse': notEmitted('A premium report was reversed.'),
  'premiumReport.replace': notEmitted('A premium report was replaced.'),
  'login.success': event('An account signed in.', LOGIN, { shape: 'Login' }),
  'login.failure': event('An account failed to sign in.', [...LOGIN, 'reason']),
  'policyholder.create': event('A policyholder was created.', ['policyholderLocator', 'version'], {
    newer: 'policy.account.create',
  }),
  'policyholder.update': event(
    'A policyholder was changed, or some of its data was overwritten.',
    ['policyholderLocator', 'version'],
    { newer: 'policy.account.update' },
  ),
  'payment.reverse': event('A payment was reversed.', PAYMENT, { newer: 'billing.payment.reverse' }),
  'document.ready': unstreamed('The file of a document was created.', DOCUMENT, { optional: ['message'] }),
  'document.failed': unstreamed('A document could not be created.', [...DOCUMENT, 'message']),
  'migration.start': unstreamed('A migration began.', MIGRATION),
  'migration.pause': unstreamed('A migration was paused.', MIGRATION),
  'migration.resume': unstreamed('A paused migration was resumed.', MIGRATION),
  'migration.recover': unstreamed('Accounts that a system error had stopped were retried.', MIGRATION),
  'migration.patch': unstreamed(
    'Items of a failed account were corrected, and the account is processed again.',
    [...MIGRATION, 'accountLocator'],
  ),
  'migration.error': unstreamed('A migration ended with accounts that a system error had stopped.', MIGRATED),
  'migration.fail': unstreamed('A migration ended with failed accounts.', MIGRATED),
  'migration.finish': unstreamed('A migration ended with all accounts completed.', MIGRATED),
  'note.create': unstreamed('A user wrote a note on a record.', NOTE, { optional: ['policyLocator'] }),
  'note.delete': unstreamed('The author of a note deleted it.', NOTE, { optional: ['policyLocator'] }),
  'report.finish': unstreamed('A report ended: its files are available, or it failed.', REPORT),
} as const satisfies Record<string, Row>

export type EventType = keyof typeof ROWS

const capitalize = (part: string): string => part.charAt(0).toUpperCase() + part.slice(1)

/** Completes a row. The shape of `policy.issue` is `EventStreamPolicyIssueData` unless the row gives another name. */
function entryOfRow([type, row]: [string, Row]) {
  const [record, action] = type.split('.')
  const newerRecord = NEWER_RECORDS[record!]
  const newer = row.newer ?? (newerRecord && `${newerRecord}.${action}`)
  const shape = row.shape ?? type.split('.').map(capitalize).join('')
  return [type, { ...row, shape: `EventStream${shape}Data`, ...(newer && { newer }) }]
}

export const EVENT_TYPES: Readonly<Record<EventType, EventTypeEntry>> = Object.fromEntries(
  Object.entries<Row>(ROWS).map(entryOfRow),
)

export const eventTypes = Object.keys(EVENT_TYPES) as [EventType, ...EventType[]]

/** Whether the catalogue has the type, by its older name. It has no types of plugins. */
export const isEventType = (type: string): type is EventType => Object.hasOwn(EVENT_TYPES, type)

/** Returns undefined for types that are not in the table, such as those of plugins. */
export const entryOf = (type: string): EventTypeEntry | undefined =>
  isEventType(type) ? EVENT_TYPES[type] : undefined
