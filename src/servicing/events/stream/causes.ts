// What emits which types: every operation that tells of anything, and all that is due by the clock. A cause that is not
// here tells of nothing: configuration, resources, webhooks, integrations and what is only shown.
import type { EventType } from '../../../platform/events/catalogue.ts'

/** What the cause itself does, and what may follow from it: bills, payments from credit, others taken back. */
export type Cause = { readonly does: readonly EventType[]; readonly mayFollow?: readonly EventType[] }

const BILLS = ['invoice.issue', 'policy.invoice', 'invoice.writtenOff', 'payment.pay'] as const
const VOID_BILLS = ['invoice.invalidate', 'payment.reverse'] as const
/** What stands in the way of a transaction is taken back, with its bills. */
const CONFLICTS = [
  'endorsement.invalidate',
  'renewal.invalidate',
  'reinstatement.invalidate',
  ...VOID_BILLS,
] as const
/** Once all that is past due is paid, the grace period moves or a lapsed policy is back. */
const PAID = ['policy.gracePeriod.update', 'policy.reinstatement.issue', ...BILLS] as const

const DRAFTED = ['policy.create', 'policy.quote.create'] as const
const FINALIZED = [
  'policy.quote.quoted',
  'policy.quote.declined',
  'policy.quote.accept',
  'policy.finalize',
] as const
const CANCELLED = ['policy.cancel', 'cancellation.effective'] as const
const CANCELLATION = ['cancellation.create', 'cancellation.issue', ...CANCELLED] as const
/** A change of cover is billed and takes back what stands in its way. */
const CHANGES = [...BILLS, ...CONFLICTS] as const

const LEGACY = { endorsement: 'policy.endorse', renewal: 'policy.renew' } as const
/** The steps from the acceptance on, by the older name too. */
const issued = <K extends 'endorsement' | 'renewal'>(kind: K) =>
  [`${kind}.quote`, `${kind}.accept`, `${kind}.issue`, LEGACY[kind]] as const

function transaction(kind: 'endorsement' | 'renewal'): Record<string, Cause> {
  const mayFollow = [...CHANGES, 'policy.gracePeriod.update', 'policy.reinstatement.issue'] as const
  const path = `/${kind}s/{${kind}Locator}`
  return {
    [`POST /policies/{policyLocator}/${kind}s`]: { does: [`${kind}.create`, ...issued(kind)], mayFollow },
    [`PATCH ${path}`]: {
      does: [`${kind}.update`, ...issued(kind), `${kind}.invalidate`, `${kind}.discard`],
      mayFollow,
    },
    [`POST ${path}/underwriting`]: { does: [`${kind}.update`] },
  }
}

/** By method and path, or `clock` and the kind of the timer. */
export const CAUSES: Readonly<Record<string, Cause>> = {
  'POST /account/authenticate': { does: ['login.success', 'login.failure'] },
  'POST /account/authenticateAdmin': { does: ['login.success', 'login.failure'] },
  'POST /policyholder/create': { does: ['policyholder.create'] },
  'POST /policyholder/update': { does: ['policyholder.update'] },
  'PATCH /policyholder/{policyholderLocator}/overwriteData': { does: ['policyholder.update'] },
  'POST /policy': { does: DRAFTED, mayFollow: [...FINALIZED, ...BILLS] },
  'POST /policy/{policyLocator}/update': {
    does: ['policy.update', 'policy.quote.update'],
    mayFollow: [...FINALIZED, ...BILLS],
  },
  'POST /policy/{policyLocator}/finalize': { does: FINALIZED, mayFollow: BILLS },
  'POST /policy/{policyLocator}/issue': { does: ['policy.issue'], mayFollow: BILLS },
  'POST /policy/{policyLocator}/discard': {
    does: ['policy.quote.discard', 'policy.discard'],
    mayFollow: VOID_BILLS,
  },
  'PATCH /policy/{policyLocator}/fees': { does: ['policy.update'], mayFollow: BILLS },
  'POST /policy/{policyLocator}/paymentSchedule': { does: ['policy.update'], mayFollow: BILLS },
  'POST /policy/{policyLocator}/upgrade': { does: ['policy.upgrade'], mayFollow: CHANGES },
  'PATCH /quotes/{quoteLocator}': { does: ['policy.quote.update'] },
  'PATCH /quotes/{quoteLocator}/quote': { does: ['policy.quote.quoted', 'policy.quote.declined'] },
  'POST /quotes/{quoteLocator}/underwriting': { does: ['policy.quote.quoted', 'policy.quote.declined'] },
  'PATCH /quotes/{quoteLocator}/accept': { does: ['policy.quote.accept'], mayFollow: BILLS },
  'PATCH /quotes/{quoteLocator}/invalidate': { does: ['policy.quote.update'], mayFollow: VOID_BILLS },
  'PATCH /quotes/{quoteLocator}/discard': { does: ['policy.quote.discard'] },
  'POST /quotes/{quoteLocator}/createNew': { does: ['policy.quote.create'] },
  ...transaction('endorsement'),
  ...transaction('renewal'),
  'POST /policy/{policyLocator}/endorse': {
    does: ['endorsement.create', ...issued('endorsement')],
    mayFollow: CHANGES,
  },
  'POST /policy/{policyLocator}/issueRenewal': {
    does: ['renewal.create', ...issued('renewal')],
    mayFollow: CHANGES,
  },
  'POST /policies/{policyLocator}/cancellations': { does: CANCELLATION, mayFollow: CHANGES },
  'PATCH /cancellations/{locator}': { does: ['cancellation.update'] },
  'PATCH /cancellations/{locator}/issue': { does: ['cancellation.issue', ...CANCELLED], mayFollow: CHANGES },
  'PATCH /cancellations/{locator}/rescind': { does: ['cancellation.rescind'] },
  'PATCH /cancellations/{locator}/reinstate': {
    does: ['reinstatement.create'],
    mayFollow: ['reinstatement.accept', 'reinstatement.issue', ...BILLS, ...CONFLICTS],
  },
  'PATCH /reinstatements/{locator}/accept': { does: ['reinstatement.accept'], mayFollow: CHANGES },
  'PATCH /reinstatements/{locator}/issue': { does: ['reinstatement.issue'], mayFollow: BILLS },
  'PATCH /reinstatements/{locator}/invalidate': {
    does: ['reinstatement.invalidate'],
    mayFollow: [...VOID_BILLS, ...BILLS],
  },
  'POST /policy/{policyLocator}/cancel': { does: CANCELLED, mayFollow: CHANGES },
  'POST /policy/{policyLocator}/withdraw': { does: CANCELLED, mayFollow: CHANGES },
  'PATCH /gracePeriod/{locator}': {
    does: ['policy.gracePeriod.update'],
    mayFollow: [...CANCELLATION, 'policy.lapse', ...CHANGES],
  },
  'POST /policy/{policyLocator}/createReinstatement': { does: ['policy.reinstatement.open'] },
  'POST /reinstatement/{reinstatementLocator}/invoice': {
    does: ['policy.reinstatement.invoice'],
    mayFollow: ['policy.reinstatement.issue', ...BILLS],
  },
  'POST /reinstatement/{reinstatementLocator}/close': {
    does: ['policy.reinstatement.close'],
    mayFollow: [...VOID_BILLS, 'payment.pay'],
  },
  'POST /invoice/{invoiceLocator}/pay': { does: ['payment.pay'], mayFollow: PAID },
  'POST /payments/{paymentLocator}/reverse': {
    does: ['payment.reverse'],
    mayFollow: ['policy.gracePeriod.update', ...BILLS],
  },
  'POST /policy/{policyLocator}/issueNextInvoice': {
    does: ['invoice.issue', 'policy.invoice'],
    mayFollow: BILLS,
  },
  'clock policy.invoice': { does: ['invoice.issue', 'policy.invoice'], mayFollow: BILLS },
  'clock invoice.pastDue': { does: ['invoice.pastDue', 'policy.gracePeriod'] },
  'clock policy.gracePeriod.end': { does: [...CANCELLATION, 'policy.lapse'], mayFollow: CHANGES },
  'clock policy.reinstatement.periodEnd': {
    does: ['policy.reinstatement.close'],
    mayFollow: [...VOID_BILLS, 'payment.pay'],
  },
  'clock reinstatement.deadline': {
    does: ['reinstatement.deadlineReached'],
    mayFollow: [...VOID_BILLS, ...BILLS],
  },
  'clock cancellation.effective': { does: ['cancellation.effective'] },
  'clock policy.end': { does: ['policy.end'] },
  'clock policy.end.reminder': { does: ['policy.end.reminder'] },
  'PATCH /migration/{tenantLocator}/migrations/{migrationLocator}': { does: ['migration.patch'] },
  'PATCH /migration/{tenantLocator}/migrations/{migrationLocator}/pause': { does: ['migration.pause'] },
  'PATCH /migration/{tenantLocator}/migrations/{migrationLocator}/resume': { does: ['migration.resume'] },
  'PATCH /migration/{tenantLocator}/migrations/{migrationLocator}/recover': { does: ['migration.recover'] },
  'clock migration.run': {
    does: ['migration.start', 'migration.finish', 'migration.fail', 'migration.error'],
  },
  'clock document': { does: ['document.ready', 'document.failed'] },
}

/** The causes of a type, in the order of the list: those that do it, and those that it may follow from. */
export const causesOf = (type: EventType): string[] =>
  Object.entries(CAUSES).flatMap(([cause, { does, mayFollow = [] }]) =>
    [...does, ...mayFollow].includes(type) ? [cause] : [],
  )
