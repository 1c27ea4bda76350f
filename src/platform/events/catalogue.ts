// Every type of event, in one table: what it means, what its data says, and its newer name. What emits each type is in
// servicing/events/stream/causes.ts, by operation: most types have several causes.
//
// The event stream has the closed list of contract 2, three types beside it (resources brief 8.2) and those that plugins
// make. Types of newer families (`document.*`, `migration.*`) are in the events interface and in webhooks alone: a client
// of the stream knows the closed list. Bindery has no claims and no premium reports: subscriptions and filters accept
// their types, and nothing emits them.
//
// Newer names are those of the events interface and webhooks (resources brief 8.1): one row, two views. A row has one
// newer name at most, so each act has the name on one of its rows:
//
// - To quote prices and underwrites in one act: the last of the newer steps, `underwrite`, stands for it, and
//   `underwritingStatus` says what came of it; a person's decision is `manualunderwrite`.
// - A policy's issue is the issue of its quote. Endorsements are `policy.change`.
// - What can go on from where it is put back to is `reset` (a quote or reinstatement whose acceptance is taken back);
//   what cannot is `discard` (an invalidated endorsement, a rescinded cancellation, an expired reinstatement).
// - `policy.status.update` reports the end of cover when it comes, and not the decision to end it.
// - Rows that stand beside another one of the same act have none (`policy.endorse` beside `endorsement.issue`,
//   `policy.invoice` beside `invoice.issue`, `policy.finalize` beside `policy.quote.accept`), nor have sign-ins.
import type { Key } from './data-keys.ts'

/** Newer names that the older type does not determine: the act itself chooses them. */
export type ChosenNewerType =
  | 'policy.quote.manualunderwrite'
  | 'policy.quote.reset'
  | 'policy.change.manualUnderwrite'
  | 'policy.renewal.manualUnderwrite'

export type EventTypeEntry = {
  readonly about: string
  /** The name of its data in the contract; one of our own where the contract names none. */
  readonly shape: `EventStream${string}Data`
  /** Properties that its data always has. */
  readonly data: readonly Key[]
  /** Properties that its data has in some cases only. */
  readonly optional?: readonly Key[]
  /** The newer name that follows from the type. Missing when it is the same, and when there is none. */
  readonly newer?: string
  /** The newer name that some acts of this type have instead. */
  readonly chosen?: ChosenNewerType
  /** Not one of the service's operations: accepted in subscriptions and filters, never emitted. */
  readonly isForeign?: true
  /** Kept beside the current type of the same act. */
  readonly isLegacy?: true
  /** False: the event stream leaves it out. */
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
const LOGIN = ['username', 'accountType'] as const

/** An entry without the name of its shape, where that follows from the type. */
type Row = Omit<EventTypeEntry, 'shape'> & { readonly shape?: string }

const of = (about: string, data: readonly Key[], more: Partial<Row> = {}): Row => ({ about, data, ...more })

const notEmitted = (about: string, shape?: string): Row =>
  of(about, [], { isForeign: true, ...(shape && { shape }) })

/** By type, in the order in which documents list them. */
const ROWS = {
  'cancellation.create': of('A draft of a cancellation was made.', CANCELLATION, {
    newer: 'policy.cancellation.create',
  }),
  'cancellation.update': of('A draft of a cancellation was changed.', CANCELLATION, {
    newer: 'policy.cancellation.update',
  }),
  'cancellation.rescind': of('A draft of a cancellation was withdrawn.', CANCELLATION, {
    newer: 'policy.cancellation.discard',
  }),
  'cancellation.issue': of('A cancellation was issued.', [...CANCELLATION, 'modificationLocator'], {
    newer: 'policy.cancellation.issue',
  }),
  'cancellation.effective': of(
    'The cover of a policy ended by a cancellation or withdrawal: its time has come.',
    [...POLICY, 'effectiveTimestamp', 'modificationLocator', 'modificationName'],
    { optional: ['cancellationLocator', 'cancellationName'], newer: 'policy.status.update' },
  ),
  'claim.close': notEmitted('A claim was closed.'),
  'claim.create': notEmitted('A claim was made.'),
  'claim.discard': notEmitted('A claim was discarded.'),
  'claim.open': notEmitted('A claim was opened.'),
  'claim.update': notEmitted('A claim was changed.'),
  'policy.gracePeriod': of('An unpaid invoice became past due and a grace period began.', GRACE, {
    shape: 'GracePeriodCreate',
    optional: ['cancelEffectiveTimestamp'],
    newer: 'billing.delinquency.create',
  }),
  'policy.gracePeriod.update': of(
    'A grace period was changed: its end, or when the policy would lapse.',
    GRACE,
    { shape: 'GracePeriodUpdate', optional: ['cancelEffectiveTimestamp'] },
  ),
  'invoice.issue': of('An invoice was generated.', INVOICE, {
    shape: 'PolicyInvoiceIssue',
    newer: 'billing.invoice.generate',
  }),
  'invoice.invalidate': of('An invoice was invalidated.', INVOICE, { shape: 'PolicyInvoiceInvalidate' }),
  'invoice.writtenOff': of('An unpaid invoice was given up.', INVOICE, { shape: 'PolicyInvoiceWrittenOff' }),
  'invoice.pastDue': of('An invoice was not paid by its due time.', INVOICE, {
    shape: 'PolicyInvoicePastDue',
  }),
  'payment.pay': of('An invoice was paid, in full or in part.', PAYMENT, { newer: 'billing.payment.post' }),
  'policy.cancel': of('A policy was cancelled or withdrawn.', [
    ...POLICY,
    'effectiveTimestamp',
    'modificationLocator',
    'modificationName',
  ]),
  'policy.create': of('A draft of a policy was made.', VERSIONED),
  // A policy whose selected quote was discarded follows no quote.
  'policy.discard': of('A policy that was not issued was discarded.', [...POLICY, 'configVersion'], {
    optional: ['quoteLocator'],
  }),
  'policy.endorse': of('An endorsement was issued (legacy).', [...POLICY, 'modificationLocator'], {
    isLegacy: true,
  }),
  'policy.finalize': of('A policy was locked, priced and underwritten.', [...VERSIONED, 'decision']),
  'policy.invoice': of(
    'An invoice was generated (legacy, beside invoice.issue).',
    [...POLICY, 'invoiceLocator'],
    { isLegacy: true },
  ),
  'policy.issue': of('A policy was issued.', [...VERSIONED, 'issuedTimestamp'], {
    newer: 'policy.quote.issue',
  }),
  'policy.lapse': of(
    'A policy lapsed at the end of grace (legacy).',
    [
      ...POLICY,
      'lapseLocator',
      'gracePeriodLocator',
      'invoiceLocator',
      'modificationLocator',
      'effectiveTimestamp',
    ],
    { newer: 'billing.delinquency.lapse', isLegacy: true },
  ),
  'policy.reinstatement.close': of('A legacy reinstatement was closed unpaid.', LAPSED, {
    shape: 'ReinstatementClose',
    optional: ['invoiceLocator', 'effectiveTimestamp'],
    newer: 'policy.reinstatement.discard',
    isLegacy: true,
  }),
  'policy.reinstatement.invoice': of('A legacy reinstatement was invoiced.', RESTORED, {
    shape: 'ReinstatementInvoice',
    isLegacy: true,
  }),
  // The contract names no shape for it, and has another one named ReinstatementIssue.
  'policy.reinstatement.issue': of('A legacy reinstatement was paid and issued.', RESTORED, {
    shape: 'LapseReinstatementIssue',
    isLegacy: true,
  }),
  'policy.reinstatement.open': of('A legacy reinstatement was opened.', LAPSED, {
    shape: 'ReinstatementOpen',
    newer: 'policy.reinstatement.create',
    isLegacy: true,
  }),
  'policy.renew': of('A renewal was issued (legacy).', [...POLICY, 'modificationLocator'], {
    shape: 'Renewal',
    isLegacy: true,
  }),
  'policy.update': of(
    'A draft of a policy was changed, or the fees or the payment schedule of an issued one.',
    VERSIONED,
    { optional: ['modificationLocator', 'paymentScheduleName'] },
  ),
  'policy.upgrade': of('A policy moved to another configuration version.', [
    ...POLICY,
    'fromConfigVersion',
    'toConfigVersion',
  ]),
  'subClaim.open': notEmitted('A sub-claim was opened.'),
  'subClaim.update': notEmitted('A sub-claim was changed.'),
  'subClaim.close': notEmitted('A sub-claim was closed.'),
  'subClaim.reopen': notEmitted('A sub-claim was reopened.', 'SubClaimReOpen'),
  'subClaim.updateReserve': notEmitted('A reserve of a sub-claim was changed.', 'SubClaimReserveUpdate'),
  'policy.end.reminder': of('The end of a policy is as near as its product says.', [
    ...POLICY,
    'endTimestamp',
    'reminderName',
  ]),
  'subClaim.createPayable': notEmitted('A payable of a sub-claim was made.', 'SubClaimPayableCreate'),
  'subClaim.reversePayable': notEmitted('A payable of a sub-claim was reversed.', 'SubClaimPayableReverse'),
  'endorsement.create': of('An application for an endorsement was made.', ENDORSEMENT, {
    newer: 'policy.change.create',
  }),
  'endorsement.update': of('An application for an endorsement was changed.', ENDORSEMENT, {
    optional: ['decision'],
    newer: 'policy.change.update',
    chosen: 'policy.change.manualUnderwrite',
  }),
  'endorsement.quote': of('An endorsement was priced and locked.', ENDORSEMENT, {
    newer: 'policy.change.underwrite',
  }),
  'endorsement.accept': of('An endorsement was accepted.', ENDORSED, { newer: 'policy.change.accept' }),
  'endorsement.issue': of('An endorsement was issued.', ENDORSED, { newer: 'policy.change.issue' }),
  'endorsement.invalidate': of('A quoted or accepted endorsement was invalidated.', ENDORSEMENT, {
    newer: 'policy.change.discard',
  }),
  'endorsement.discard': of('An application for an endorsement was discarded.', ENDORSEMENT, {
    newer: 'policy.change.discard',
  }),
  'reinstatement.accept': of('A reinstatement was accepted.', REINSTATEMENT, {
    optional: ['deadline'],
    newer: 'policy.reinstatement.accept',
  }),
  'reinstatement.create': of('A draft of a reinstatement was made.', REINSTATEMENT, {
    optional: ['deadline'],
    newer: 'policy.reinstatement.create',
  }),
  'reinstatement.issue': of('A reinstatement was issued.', [...REINSTATEMENT, 'modificationLocator'], {
    optional: ['deadline'],
    newer: 'policy.reinstatement.issue',
  }),
  'reinstatement.invalidate': of('An accepted reinstatement was invalidated.', REINSTATEMENT, {
    optional: ['deadline'],
    newer: 'policy.reinstatement.reset',
  }),
  'reinstatement.deadlineReached': of(
    'A reinstatement expired at its deadline.',
    [...REINSTATEMENT, 'deadline'],
    { newer: 'policy.reinstatement.discard' },
  ),
  'renewal.create': of('An application for a renewal was made.', RENEWAL, { newer: 'policy.renewal.create' }),
  'renewal.update': of('An application for a renewal was changed.', RENEWAL, {
    optional: ['decision'],
    newer: 'policy.renewal.update',
    chosen: 'policy.renewal.manualUnderwrite',
  }),
  'renewal.quote': of('A renewal was priced and locked.', RENEWAL, { newer: 'policy.renewal.underwrite' }),
  'renewal.accept': of('A renewal was accepted.', RENEWED, { newer: 'policy.renewal.accept' }),
  'renewal.issue': of('A renewal was issued.', RENEWED, { newer: 'policy.renewal.issue' }),
  'renewal.invalidate': of('A quoted or accepted renewal was invalidated.', RENEWAL, {
    newer: 'policy.renewal.discard',
  }),
  'renewal.discard': of('An application for a renewal was discarded.', RENEWAL, {
    newer: 'policy.renewal.discard',
  }),
  'policy.end': of('A policy reached its end uncancelled.', [...POLICY, 'endTimestamp'], {
    newer: 'policy.status.update',
  }),
  'policy.quote.create': of('A quote was made.', QUOTE),
  'policy.quote.discard': of('A quote was discarded.', QUOTE),
  'policy.quote.update': of('A quote was changed, or went from accepted back to quoted.', QUOTE, {
    chosen: 'policy.quote.reset',
  }),
  'policy.quote.quoted': of('A quote was priced and locked.', [...QUOTE, 'decision'], {
    newer: 'policy.quote.underwrite',
    chosen: 'policy.quote.manualunderwrite',
  }),
  'policy.quote.accept': of('A quote was accepted.', QUOTE),
  'policy.quote.declined': of('Underwriting did not accept a quote.', [...QUOTE, 'decision'], {
    newer: 'policy.quote.underwrite',
    chosen: 'policy.quote.manualunderwrite',
  }),
  'premiumReport.create': notEmitted('A premium report was made.'),
  'premiumReport.update': notEmitted('A premium report was changed.'),
  'premiumReport.issue': notEmitted('A premium report was issued.'),
  'premiumReport.discard': notEmitted('A premium report was discarded.'),
  'premiumReport.reverse': notEmitted('A premium report was reversed.'),
  'premiumReport.replace': notEmitted('A premium report was replaced.'),
  'login.success': of('An account signed in.', LOGIN, { shape: 'Login' }),
  'login.failure': of('An account failed to sign in.', [...LOGIN, 'reason']),
  'policyholder.create': of('A policyholder was made.', ['policyholderLocator', 'version'], {
    newer: 'policy.account.create',
  }),
  'policyholder.update': of(
    'A policyholder was changed, or data of it overwritten.',
    ['policyholderLocator', 'version'],
    { newer: 'policy.account.update' },
  ),
  'payment.reverse': of('A payment was reversed.', PAYMENT, { newer: 'billing.payment.reverse' }),
  'document.ready': of('The file of a document was made.', DOCUMENT, {
    optional: ['message'],
    isStreamed: false,
  }),
  'document.failed': of('A document could not be made.', [...DOCUMENT, 'message'], { isStreamed: false }),
  'migration.start': of('A migration began.', MIGRATION, { isStreamed: false }),
  'migration.pause': of('A migration was paused.', MIGRATION, { isStreamed: false }),
  'migration.resume': of('A paused migration went on.', MIGRATION, { isStreamed: false }),
  'migration.recover': of('Accounts that a fault of the system had stopped were taken up again.', MIGRATION, {
    isStreamed: false,
  }),
  'migration.patch': of(
    'Items of a failed account were corrected, and the account is tried again.',
    [...MIGRATION, 'accountLocator'],
    { isStreamed: false },
  ),
  'migration.error': of('A migration ended with accounts that a fault of the system stopped.', MIGRATED, {
    isStreamed: false,
  }),
  'migration.fail': of('A migration ended with accounts that failed.', MIGRATED, { isStreamed: false }),
  'migration.finish': of('A migration ended with every account completed.', MIGRATED, { isStreamed: false }),
} as const satisfies Record<string, Row>

export type EventType = keyof typeof ROWS

const capitalized = (part: string): string => part.charAt(0).toUpperCase() + part.slice(1)

/** The shape of `policy.issue` is `EventStreamPolicyIssueData`, unless the row gives another name. */
const entryOfRow = ([type, { shape = type.split('.').map(capitalized).join(''), ...row }]: [string, Row]) => [
  type,
  { ...row, shape: `EventStream${shape}Data` },
]

export const EVENT_TYPES: Readonly<Record<EventType, EventTypeEntry>> = Object.fromEntries(
  Object.entries<Row>(ROWS).map(entryOfRow),
)

export const eventTypes = Object.keys(EVENT_TYPES) as [EventType, ...EventType[]]

export const isEventType = (type: string): type is EventType => Object.hasOwn(EVENT_TYPES, type)

/** The entry of a type; undefined for types that the table does not have, such as those of plugins. */
export const entryOf = (type: string): EventTypeEntry | undefined =>
  isEventType(type) ? EVENT_TYPES[type] : undefined
