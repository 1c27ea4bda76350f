// The types of events that each operation and timer emits. Causes that are not listed emit none: configuration, resources,
// webhooks, integrations, and all reads.
import type { EventType } from '../../../platform/events/catalogue.ts'

/** `mayFollow`: consequences such as bills, payments from credit, and invalidated transactions. */
export type Cause = { readonly does: readonly EventType[]; readonly mayFollow: readonly EventType[] }

const cause = (does: readonly EventType[], mayFollow: readonly EventType[] = []): Cause => ({
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
const issued = <K extends 'endorsement' | 'renewal'>(kind: K) =>
  [`${kind}.quote`, `${kind}.accept`, `${kind}.issue`, LEGACY[kind]] as const

function transaction(kind: 'endorsement' | 'renewal'): Record<string, Cause> {
  const mayFollow = [...CHANGES, 'policy.gracePeriod.update', ...BACK_FROM_LAPSE] as const
  const path = `/${kind}s/{${kind}Locator}`
  const changed = [`${kind}.update`, ...issued(kind), `${kind}.invalidate`, `${kind}.discard`] as const
  return {
    [`POST /policies/{policyLocator}/${kind}s`]: cause([`${kind}.create`, ...issued(kind)], mayFollow),
    [`PATCH ${path}`]: cause(changed, mayFollow),
    [`POST ${path}/underwriting`]: cause([`${kind}.update`]),
  }
}

/** By method and path, or by `clock` and the kind of the timer. */
export const CAUSES: Readonly<Record<string, Cause>> = {
  'POST /account/authenticate': cause(['login.success', 'login.failure']),
  'POST /account/authenticateAdmin': cause(['login.success', 'login.failure']),
  'POST /account/authenticateByProvider': cause(['login.success', 'login.failure']),
  'POST /policyholder/create': cause(['policyholder.create']),
  'POST /policyholder/update': cause(['policyholder.update']),
  'PATCH /policyholder/{policyholderLocator}/overwriteData': cause(['policyholder.update']),
  'POST /policy': cause(DRAFTED, FINALIZED_AND_BILLED),
  'POST /policy/{policyLocator}/update': cause(
    ['policy.update', 'policy.quote.update'],
    FINALIZED_AND_BILLED,
  ),
  'POST /policy/{policyLocator}/finalize': cause(FINALIZED, BILLS),
  'POST /policy/{policyLocator}/issue': cause(['policy.issue'], BILLS),
  'POST /policy/{policyLocator}/discard': cause(['policy.quote.discard', 'policy.discard'], VOID_BILLS),
  'PATCH /policy/{policyLocator}/fees': cause(['policy.update'], BILLS),
  'POST /policy/{policyLocator}/paymentSchedule': cause(['policy.update'], BILLS),
  'POST /policy/{policyLocator}/upgrade': cause(['policy.upgrade'], CHANGES),
  'PATCH /quotes/{quoteLocator}': cause(['policy.quote.update']),
  'PATCH /quotes/{quoteLocator}/quote': cause(['policy.quote.quoted', 'policy.quote.declined']),
  'POST /quotes/{quoteLocator}/underwriting': cause(['policy.quote.quoted', 'policy.quote.declined']),
  'PATCH /quotes/{quoteLocator}/accept': cause(['policy.quote.accept'], BILLS),
  'PATCH /quotes/{quoteLocator}/invalidate': cause(['policy.quote.update'], VOID_BILLS),
  'PATCH /quotes/{quoteLocator}/discard': cause(['policy.quote.discard']),
  'POST /quotes/{quoteLocator}/createNew': cause(['policy.quote.create']),
  ...transaction('endorsement'),
  ...transaction('renewal'),
  'POST /policy/{policyLocator}/endorse': cause(['endorsement.create', ...issued('endorsement')], CHANGES),
  'POST /policy/{policyLocator}/issueRenewal': cause(['renewal.create', ...issued('renewal')], CHANGES),
  'POST /policies/{policyLocator}/cancellations': cause(CANCELLATION, CHANGES),
  'PATCH /cancellations/{locator}': cause(['cancellation.update']),
  'PATCH /cancellations/{locator}/issue': cause(['cancellation.issue', ...CANCELLED], CHANGES),
  'PATCH /cancellations/{locator}/rescind': cause(['cancellation.rescind']),
  'PATCH /cancellations/{locator}/reinstate': cause(
    ['reinstatement.create'],
    ['reinstatement.accept', 'reinstatement.issue', 'cancellation.effective', ...BILLS, ...CONFLICTS],
  ),
  'PATCH /reinstatements/{locator}/accept': cause(['reinstatement.accept'], CHANGES),
  'PATCH /reinstatements/{locator}/issue': cause(
    ['reinstatement.issue'],
    ['cancellation.effective', ...BILLS],
  ),
  'PATCH /reinstatements/{locator}/invalidate': cause(['reinstatement.invalidate'], REBILLED),
  'POST /policy/{policyLocator}/cancel': cause(CANCELLED, CHANGES),
  'POST /policy/{policyLocator}/withdraw': cause(CANCELLED, CHANGES),
  'PATCH /gracePeriod/{locator}': cause(['policy.gracePeriod.update'], [...CANCELLED_OR_LAPSED, ...CHANGES]),
  'POST /policy/{policyLocator}/createReinstatement': cause(['policy.reinstatement.open']),
  'POST /reinstatement/{reinstatementLocator}/invoice': cause(
    ['policy.reinstatement.invoice'],
    [...BACK_FROM_LAPSE, ...BILLS],
  ),
  'POST /reinstatement/{reinstatementLocator}/close': cause(['policy.reinstatement.close'], PAID_ELSEWHERE),
  'POST /invoice/{invoiceLocator}/pay': cause(['payment.pay'], PAID),
  'POST /payments/{paymentLocator}/reverse': cause(
    ['payment.reverse'],
    ['policy.gracePeriod.update', ...BILLS],
  ),
  'POST /policy/{policyLocator}/issueNextInvoice': cause(['invoice.issue', 'policy.invoice'], BILLS),
  'clock policy.invoice': cause(['invoice.issue', 'policy.invoice'], BILLS),
  'clock invoice.pastDue': cause(['invoice.pastDue', 'policy.gracePeriod']),
  'clock policy.gracePeriod.end': cause(CANCELLED_OR_LAPSED, CHANGES),
  'clock policy.reinstatement.periodEnd': cause(['policy.reinstatement.close'], PAID_ELSEWHERE),
  'clock reinstatement.deadline': cause(['reinstatement.deadlineReached'], REBILLED),
  'clock cancellation.effective': cause(['cancellation.effective']),
  'clock policy.end': cause(['policy.end']),
  'clock policy.end.reminder': cause(['policy.end.reminder']),
  'PATCH /migration/{tenantLocator}/migrations/{migrationLocator}': cause(['migration.patch']),
  'PATCH /migration/{tenantLocator}/migrations/{migrationLocator}/pause': cause(['migration.pause']),
  'PATCH /migration/{tenantLocator}/migrations/{migrationLocator}/resume': cause(['migration.resume']),
  'PATCH /migration/{tenantLocator}/migrations/{migrationLocator}/recover': cause(['migration.recover']),
  'clock migration.run': cause(['migration.start', 'migration.finish', 'migration.fail', 'migration.error']),
  'POST /notes': cause(['note.create']),
  'DELETE /notes/{noteLocator}': cause(['note.delete']),
  'clock report.run': cause(['report.finish']),
  'clock document': cause(['document.ready', 'document.failed']),
}

export const causesOf = (type: EventType): string[] =>
  Object.entries(CAUSES).flatMap(([name, { does, mayFollow }]) =>
    [...does, ...mayFollow].includes(type) ? [name] : [],
  )
