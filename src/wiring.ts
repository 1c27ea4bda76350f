// The only file that knows every capability. Lower layers call higher ones only through the registrations here. Modules are
// imported on first use, so that an isolate starts without them.

import { recordRefusal } from './access/audit/store.ts'
import { signedIn } from './access/sign-in-check.ts'
import { registerTransactionRecords } from './extension/plugins/transaction-records.ts'
import type { Instant } from './kernel/time.ts'
import { registerTimers, type TimerOwner, type TimerOwners } from './platform/events/timers.ts'
import type { Callers } from './platform/http/permissions.ts'

/** For `mount`. */
export const CALLERS: Callers = { signedIn, recordRefusal }

const ofPolicy = async (): Promise<TimerOwner> =>
  (await import('./transactions/object/policy-timers.ts')).policyTimerDue

/** Everything that an erasure deletes or empties in the layers above policyholders. */
const erasureOwner = async (): Promise<TimerOwner> => {
  const [{ eraseRemains }, { emptyShowingHolders }, { removePreviews }] = await Promise.all([
    import('./servicing/policyholders/erasure.ts'),
    import('./reporting/erasure.ts'),
    import('./agents/kept-previews.ts'),
  ])
  return async (timer, place) => {
    await eraseRemains(timer, place)
    await emptyShowingHolders(place, timer.dueAt as Instant)
    await removePreviews(place, Number(timer.payload.until))
  }
}

export const TIMER_OWNERS: TimerOwners = {
  'account.revocation': async () => (await import('./access/revocation.ts')).fireRevocation,
  'account.revocations': async () => (await import('./access/revocation.ts')).fireRevocations,
  'agent.preview.expiry': async () => (await import('./agents/kept-previews.ts')).removePreview,
  'cancellation.effective': ofPolicy,
  'document.file.gone': async () => (await import('./transactions/documents/job-store.ts')).deleteGoneFile,
  'event.schedule': async () => (await import('./transactions/custom-events/service.ts')).scheduleDue,
  'impact.run': async () => (await import('./servicing/impact/service.ts')).impactDue,
  'invoice.pastDue': ofPolicy,
  'medium.file.unrecorded': async () => (await import('./policy/store/aggregates.ts')).deleteUnrecorded,
  'migration.file.unrecorded': async () => (await import('./servicing/migration/files.ts')).deleteUnrecorded,
  'migration.run': async () => (await import('./servicing/migration/service.ts')).migrationDue,
  'policy.end': ofPolicy,
  'policy.end.reminder': ofPolicy,
  'policy.gracePeriod.end': ofPolicy,
  'policy.invoice': ofPolicy,
  'policy.reinstatement.periodEnd': ofPolicy,
  'policyholder.erasure': erasureOwner,
  'quickQuote.expiry': async () => (await import('./servicing/quick-quotes/store.ts')).removeQuickQuote,
  'reinstatement.deadline': ofPolicy,
  'report.run': async () => (await import('./reporting/service.ts')).reportDue,
  'report.schedule': async () => (await import('./reporting/scheduled.ts')).scheduleDue,
  'resource.bootstrap': async () => (await import('./tenants/bootstrap/run.ts')).bootstrapDue,
  'resource.file.unrecorded': async () => (await import('./reference/uploads/service.ts')).deleteUnrecorded,
  'resource.table.contents': async () => (await import('./reference/data-tables/loading.ts')).collectContents,
  'webhook.copy': async () => (await import('./servicing/events/delivery/webhook-copies.ts')).webhookCopyDue,
}
registerTimers(TIMER_OWNERS)

registerTransactionRecords(async () => (await import('./transactions/kinds.ts')).pluginRecords())
