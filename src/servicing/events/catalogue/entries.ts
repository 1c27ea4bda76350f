// The catalogue: of every type of the stream the shape of its data, by its name in contract 2, and its properties.
import { type EventType, isEventType } from '../../../platform/events/types.ts'
import type { Key } from './keys.ts'

export type Entry = {
  /** The name of its data in the contract; of the service's own making where the contract names none. */
  readonly shape: `EventStream${string}Data`
  readonly data: readonly Key[]
  /** What is there in some cases only. */
  readonly optional?: readonly Key[]
  /** Not one of the service's operations: accepted in subscriptions and filters, never emitted. */
  readonly isForeign?: true
  /** Kept beside the current type of the same act. */
  readonly isLegacy?: true
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
const RENEWAL = [...POLICY, 'renewalLocator', 'effectiveTimestamp', 'state'] as const
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
const INVOICE = [...POLICY, 'invoiceLocator', 'totalDue', 'currency', 'dueTimestamp', 'invoiceType'] as const
const PAYMENT = [...POLICY, 'paymentLocator', 'invoiceLocator', 'amount', 'currency', 'source'] as const
const DOCUMENT = [...POLICY, 'documentLocator', 'referenceType', 'referenceLocator'] as const
const LOGIN = ['username', 'accountType'] as const

type Rest = Omit<Entry, 'shape' | 'data'>

const of = (shape: string, data: readonly Key[], rest: Rest = {}): Entry => ({
  shape: `EventStream${shape}Data`,
  data,
  ...rest,
})
const foreign = (shape: string): Entry => of(shape, [], { isForeign: true })

export const ENTRIES: Readonly<Record<EventType, Entry>> = {
  'login.success': of('Login', LOGIN),
  'login.failure': of('LoginFailure', [...LOGIN, 'reason']),
  'policyholder.create': of('PolicyholderCreate', ['policyholderLocator', 'version']),
  'policyholder.update': of('PolicyholderUpdate', ['policyholderLocator', 'version']),
  'policy.create': of('PolicyCreate', VERSIONED),
  'policy.update': of('PolicyUpdate', VERSIONED, {
    optional: ['modificationLocator', 'paymentScheduleName'],
  }),
  'policy.finalize': of('PolicyFinalize', [...VERSIONED, 'decision']),
  'policy.issue': of('PolicyIssue', [...VERSIONED, 'issuedTimestamp']),
  // A policy whose selected quote was discarded follows none.
  'policy.discard': of('PolicyDiscard', [...POLICY, 'configVersion'], { optional: ['quoteLocator'] }),
  'policy.upgrade': of('PolicyUpgrade', [...POLICY, 'fromConfigVersion', 'toConfigVersion']),
  'policy.cancel': of('PolicyCancel', [
    ...POLICY,
    'effectiveTimestamp',
    'modificationLocator',
    'modificationName',
  ]),
  'policy.end': of('PolicyEnd', [...POLICY, 'endTimestamp']),
  'policy.end.reminder': of('PolicyEndReminder', [...POLICY, 'endTimestamp', 'reminderName']),
  'policy.gracePeriod': of('GracePeriodCreate', GRACE, { optional: ['cancelEffectiveTimestamp'] }),
  'policy.gracePeriod.update': of('GracePeriodUpdate', GRACE, { optional: ['cancelEffectiveTimestamp'] }),
  'policy.lapse': of(
    'PolicyLapse',
    [
      ...POLICY,
      'lapseLocator',
      'gracePeriodLocator',
      'invoiceLocator',
      'modificationLocator',
      'effectiveTimestamp',
    ],
    { isLegacy: true },
  ),
  'policy.reinstatement.open': of('ReinstatementOpen', LAPSED, { isLegacy: true }),
  'policy.reinstatement.invoice': of(
    'ReinstatementInvoice',
    [...LAPSED, 'invoiceLocator', 'effectiveTimestamp'],
    {
      isLegacy: true,
    },
  ),
  // The contract names no shape of it: that of the other reinstatements' would be another's.
  'policy.reinstatement.issue': of(
    'LapseReinstatementIssue',
    [...LAPSED, 'invoiceLocator', 'effectiveTimestamp'],
    { isLegacy: true },
  ),
  'policy.reinstatement.close': of('ReinstatementClose', LAPSED, {
    optional: ['invoiceLocator', 'effectiveTimestamp'],
    isLegacy: true,
  }),
  'policy.quote.create': of('PolicyQuoteCreate', QUOTE),
  'policy.quote.update': of('PolicyQuoteUpdate', QUOTE),
  'policy.quote.quoted': of('PolicyQuoteQuoted', [...QUOTE, 'decision']),
  'policy.quote.accept': of('PolicyQuoteAccept', QUOTE),
  'policy.quote.declined': of('PolicyQuoteDeclined', [...QUOTE, 'decision']),
  'policy.quote.discard': of('PolicyQuoteDiscard', QUOTE),
  'endorsement.create': of('EndorsementCreate', ENDORSEMENT),
  'endorsement.update': of('EndorsementUpdate', ENDORSEMENT, { optional: ['decision'] }),
  'endorsement.quote': of('EndorsementQuote', ENDORSEMENT),
  'endorsement.accept': of('EndorsementAccept', [...ENDORSEMENT, 'modificationLocator']),
  'endorsement.issue': of('EndorsementIssue', [...ENDORSEMENT, 'modificationLocator']),
  'endorsement.invalidate': of('EndorsementInvalidate', ENDORSEMENT),
  'endorsement.discard': of('EndorsementDiscard', ENDORSEMENT),
  'policy.endorse': of('PolicyEndorse', [...POLICY, 'modificationLocator'], { isLegacy: true }),
  'renewal.create': of('RenewalCreate', RENEWAL),
  'renewal.update': of('RenewalUpdate', RENEWAL, { optional: ['decision'] }),
  'renewal.quote': of('RenewalQuote', RENEWAL),
  'renewal.accept': of('RenewalAccept', [...RENEWAL, 'modificationLocator']),
  'renewal.issue': of('RenewalIssue', [...RENEWAL, 'modificationLocator']),
  'renewal.invalidate': of('RenewalInvalidate', RENEWAL),
  'renewal.discard': of('RenewalDiscard', RENEWAL),
  'policy.renew': of('Renewal', [...POLICY, 'modificationLocator'], { isLegacy: true }),
  'cancellation.create': of('CancellationCreate', CANCELLATION),
  'cancellation.update': of('CancellationUpdate', CANCELLATION),
  'cancellation.rescind': of('CancellationRescind', CANCELLATION),
  'cancellation.issue': of('CancellationIssue', [...CANCELLATION, 'modificationLocator']),
  'cancellation.effective': of(
    'CancellationEffective',
    [...POLICY, 'effectiveTimestamp', 'modificationLocator', 'modificationName'],
    { optional: ['cancellationLocator', 'cancellationName'] },
  ),
  'reinstatement.create': of('ReinstatementCreate', REINSTATEMENT, { optional: ['deadline'] }),
  'reinstatement.accept': of('ReinstatementAccept', REINSTATEMENT, { optional: ['deadline'] }),
  'reinstatement.issue': of('ReinstatementIssue', [...REINSTATEMENT, 'modificationLocator'], {
    optional: ['deadline'],
  }),
  'reinstatement.invalidate': of('ReinstatementInvalidate', REINSTATEMENT, { optional: ['deadline'] }),
  'reinstatement.deadlineReached': of('ReinstatementDeadlineReached', [...REINSTATEMENT, 'deadline']),
  'invoice.issue': of('PolicyInvoiceIssue', INVOICE),
  'invoice.invalidate': of('PolicyInvoiceInvalidate', INVOICE),
  'invoice.writtenOff': of('PolicyInvoiceWrittenOff', INVOICE),
  'invoice.pastDue': of('PolicyInvoicePastDue', INVOICE),
  'policy.invoice': of('PolicyInvoice', [...POLICY, 'invoiceLocator'], { isLegacy: true }),
  'payment.pay': of('PaymentPay', PAYMENT),
  'payment.reverse': of('PaymentReverse', PAYMENT),
  'document.ready': of('DocumentReady', DOCUMENT, { optional: ['message'] }),
  'document.failed': of('DocumentFailed', [...DOCUMENT, 'message']),
  'migration.start': of('MigrationStart', MIGRATION),
  'migration.pause': of('MigrationPause', MIGRATION),
  'migration.resume': of('MigrationResume', MIGRATION),
  'migration.recover': of('MigrationRecover', MIGRATION),
  'migration.patch': of('MigrationPatch', [...MIGRATION, 'accountLocator']),
  'migration.error': of('MigrationError', MIGRATED),
  'migration.fail': of('MigrationFail', MIGRATED),
  'migration.finish': of('MigrationFinish', MIGRATED),
  'claim.close': foreign('ClaimClose'),
  'claim.create': foreign('ClaimCreate'),
  'claim.discard': foreign('ClaimDiscard'),
  'claim.open': foreign('ClaimOpen'),
  'claim.update': foreign('ClaimUpdate'),
  'subClaim.open': foreign('SubClaimOpen'),
  'subClaim.update': foreign('SubClaimUpdate'),
  'subClaim.close': foreign('SubClaimClose'),
  'subClaim.reopen': foreign('SubClaimReOpen'),
  'subClaim.updateReserve': foreign('SubClaimReserveUpdate'),
  'subClaim.createPayable': foreign('SubClaimPayableCreate'),
  'subClaim.reversePayable': foreign('SubClaimPayableReverse'),
  'premiumReport.create': foreign('PremiumReportCreate'),
  'premiumReport.update': foreign('PremiumReportUpdate'),
  'premiumReport.issue': foreign('PremiumReportIssue'),
  'premiumReport.discard': foreign('PremiumReportDiscard'),
  'premiumReport.reverse': foreign('PremiumReportReverse'),
  'premiumReport.replace': foreign('PremiumReportReplace'),
}

export const entryOf = (type: string): Entry | undefined => (isEventType(type) ? ENTRIES[type] : undefined)
