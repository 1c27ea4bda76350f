// The types of events that each operation and timer emits. Causes that are not listed emit none: configuration, resources,
// webhooks, integrations, and all reads.
import type { EventType } from '../../../platform/events/catalogue.ts'

/** `mayFollow`: consequences such as bills, payments from credit, and invalidated transactions. */
export type Cause = { readonly does: readonly EventType[]; readonly mayFollow: readonly EventType[] }

const makeCause = (does: readonly EventType[], mayFollow: readonly EventType[] = []): Cause => ({
  does,
  mayFollow,
})

const BILLS = ['invoice.issue', 'policy.invoice', 'invoice.writtenOff', 'payment.pay'] as const
const VOID_BILLS = ['invoice.invalidate', 'payment.reverse'] as const
const REBILLED = [...VOID_BILLS, ...BILLS] as const
/** Payments of void bills pay other bills. */
const PAID_ELSEWHERE = [...VOID_BILLS, 'payment.pay'] as const
/** Conflicting transactions are invalidated, together with their bills. */
const CONFLICTS = [
  'endorsement.invalidate',
  'renewal.invalidate',
  'reinstatement.invalidate',
  ...VOID_BILLS,
] as const
/** Cover may return only up to an earlier cancellation, whose time may have passed. */
const BACK_FROM_LAPSE = ['policy.reinstatement.issue', 'cancellation.effective'] as const
/** When nothing is past due any more, the grace period moves or a lapsed policy is reinstated. */
const PAID = ['policy.gracePeriod.update', ...BACK_FROM_LAPSE, ...BILLS] as const

const DRAFTED = ['policy.create', 'policy.quote.create'] as const
const FINALIZED = [
  'policy.quote.quoted',
  'policy.quote.declined',
  'policy.quote.accept',
  'policy.finalize',
] as const
const FINALIZED_AND_BILLED = [...FINALIZED, ...BILLS] as const
const CANCELLED = ['policy.cancel', 'cancellation.effective'] as const
const CANCELLATION = ['cancellation.create', 'cancellation.issue', ...CANCELLED] as const
const CANCELLED_OR_LAPSED = [...CANCELLATION, 'policy.lapse'] as const
const CHANGES = [...BILLS, ...CONFLICTS] as const

const LEGACY = { endorsement: 'policy.endorse', renewal: 'policy.renew' } as const
/** Includes the older name of the event of an issue. */
const issueEventTypes = <K extends 'endorsement' | 'renewal'>(kind: K) =>
  [`${kind}.quote`, `${kind}.accept`, `${kind}.issue`, LEGACY[kind]] as const

function transaction(kind: 'endorsement' | 'renewal'): Record<string, Cause> {
  const mayFollow = [...CHANGES, 'policy.gracePeriod.update', ...BACK_FROM_LAPSE] as const
  const path = `/${kind}s/{${kind}Locator}`
  const changed = [
    `${kind}.update`,
    ...issueEventTypes(kind),
    `${kind}.invalidate`,
    `${kind}.discard`,
  ] as const
  return {
    [`POST /policies/{policyLocator}/${kind}s`]: makeCause(
      [`${kind}.create`, ...issueEventTypes(kind)],
      mayFollow,
    ),
    [`PATCH ${path}`]: makeCause(changed, mayFollow),
    [`POST ${path}/underwriting`]: makeCause([`${kind}.update`]),
  }
}

/** By method and path, or by `clock` and the kind of the timer. */
export const CAUSES: Readonly<Record<string, Cause>> = {
  'POST /account/authenticate': makeCause(['login.success', 'login.failure']),
  'POST /account/authenticateAdmin': makeCause(['login.success', 'login.failure']),
  'POST /account/authenticateByProvider': makeCause(['login.success', 'login.failure']),
  'POST /policyholder/create': makeCause(['policyholder.create']),
  'POST /policyholder/update': makeCause(['policyholder.update']),
  'PATCH /policyholder/{policyholderLocator}/overwriteData': makeCause(['policyholder.update']),
  'POST /policy': makeCause(DRAFTED, FINALIZED_AND_BILLED),
  'POST /policy/{policyLocator}/update': makeCause(
    ['policy.update', 'policy.quote.update'],
    FINALIZED_AND_BILLED,
  ),
  'POST /policy/{policyLocator}/finalize': makeCause(FINALIZED, BILLS),
  'POST /policy/{policyLocator}/issue': makeCause(['policy.issue'], BILLS),
  'POST /policy/{policyLocator}/discard': makeCause(['policy.quote.discard', 'policy.discard'], VOID_BILLS),
  'PATCH /policy/{policyLocator}/fees': makeCause(['policy.update'], BILLS),
  'POST /policy/{policyLocator}/paymentSchedule': makeCause(['policy.update'], BILLS),
  'POST /policy/{policyLocator}/upgrade': makeCause(['policy.upgrade'], CHANGES),
  'PATCH /quotes/{quoteLocator}': makeCause(['policy.quote.update']),
  'PATCH /quotes/{quoteLocator}/quote': makeCause(['policy.quote.quoted', 'policy.quote.declined']),
  'POST /quotes/{quoteLocator}/underwriting': makeCause(['policy.quote.quoted', 'policy.quote.declined']),
  'PATCH /quotes/{quoteLocator}/accept': makeCause(['policy.quote.accept'], BILLS),
  'PATCH /quotes/{quoteLocator}/invalidate': makeCause(['policy.quote.update'], VOID_BILLS),
  'PATCH /quotes/{quoteLocator}/discard': makeCause(['policy.quote.discard']),
  'POST /quotes/{quoteLocator}/createNew': makeCause(['policy.quote.create']),
  ...transaction('endorsement'),
  ...transaction('renewal'),
  'POST /policy/{policyLocator}/endorse': makeCause(
    ['endorsement.create', ...issueEventTypes('endorsement')],
    CHANGES,
  ),
  'POST /policy/{policyLocator}/issueRenewal': makeCause(
    ['renewal.create', ...issueEventTypes('renewal')],
    CHANGES,
  ),
  'POST /policies/{policyLocator}/cancellations': makeCause(CANCELLATION, CHANGES),
  'PATCH /cancellations/{locator}': makeCause(['cancellation.update']),
  'PATCH /cancellations/{locator}/issue': makeCause(['cancellation.issue', ...CANCELLED], CHANGES),
  'PATCH /cancellations/{locator}/rescind': makeCause(['cancellation.rescind']),
  'PATCH /cancellations/{locator}/reinstate': makeCause(
    ['reinstatement.create'],
    ['reinstatement.accept', 'reinstatement.issue', 'cancellation.effective', ...BILLS, ...CONFLICTS],
  ),
  'PATCH /reinstatements/{locator}/accept': makeCause(['reinstatement.accept'], CHANGES),
  'PATCH /reinstatements/{locator}/issue': makeCause(
    ['reinstatement.issue'],
    ['cancellation.effective', ...BILLS],
  ),
  'PATCH /reinstatements/{locator}/invalidate': makeCause(['reinstatement.invalidate'], REBILLED),
  'POST /policy/{policyLocator}/cancel': makeCause(CANCELLED, CHANGES),
  'POST /policy/{policyLocator}/withdraw': makeCause(CANCELLED, CHANGES),
  'PATCH /gracePeriod/{locator}': makeCause(
    ['policy.gracePeriod.update'],
    [...CANCELLED_OR_LAPSED, ...CHANGES],
  ),
  'POST /policy/{policyLocator}/createReinstatement': makeCause(['policy.reinstatement.open']),
  'POST /reinstatement/{reinstatementLocator}/invoice': makeCause(
    ['policy.reinstatement.invoice'],
    [...BACK_FROM_LAPSE, ...BILLS],
  ),
  'POST /reinstatement/{reinstatementLocator}/close': makeCause(
    ['policy.reinstatement.close'],
    PAID_ELSEWHERE,
  ),
  'POST /invoice/{invoiceLocator}/pay': makeCause(['payment.pay'], PAID),
  'POST /payments/{paymentLocator}/reverse': makeCause(
    ['payment.reverse'],
    ['policy.gracePeriod.update', ...BILLS],
  ),
  'POST /policy/{policyLocator}/issueNextInvoice': makeCause(['invoice.issue', 'policy.invoice'], BILLS),
  'clock policy.invoice': makeCause(['invoice.issue', 'policy.invoice'], BILLS),
  'clock invoice.pastDue': makeCause(['invoice.pastDue', 'policy.gracePeriod']),
  'clock policy.gracePeriod.end': makeCause(CANCELLED_OR_LAPSED, CHANGES),
  'clock policy.reinstatement.periodEnd': makeCause(['policy.reinstatement.close'], PAID_ELSEWHERE),
  'clock reinstatement.deadline': makeCause(['reinstatement.deadlineReached'], REBILLED),
  'clock cancellation.effective': makeCause(['cancellation.effective']),
  'clock policy.end': makeCause(['policy.end']),
  'clock policy.end.reminder': makeCause(['policy.end.reminder']),
  'PATCH /migration/{tenantLocator}/migrations/{migrationLocator}': makeCause(['migration.patch']),
  'PATCH /migration/{tenantLocator}/migrations/{migrationLocator}/pause': makeCause(['migration.pause']),
  'PATCH /migration/{tenantLocator}/migrations/{migrationLocator}/resume': makeCause(['migration.resume']),
  'PATCH /migration/{tenantLocator}/migrations/{migrationLocator}/recover': makeCause(['migration.recover']),
  'clock migration.run': makeCause([
    'migration.start',
    'migration.finish',
    'migration.fail',
    'migration.error',
  ]),
  'POST /notes': makeCause(['note.create']),
  'DELETE /notes/{noteLocator}': makeCause(['note.delete']),
  'clock report.run': makeCause(['report.finish']),
  'clock document': makeCause(['document.ready', 'document.failed']),
}

/** Returns the operations, such as `POST /notes` or `clock report.run`, that cause the event, always or sometimes. */
export const causesOf = (type: EventType): string[] =>
  Object.entries(CAUSES).flatMap(([name, { does, mayFollow }]) =>
    [...does, ...mayFollow].includes(type) ? [name] : [],
  )
