// Erasure in reports: the lines and files of bordereaux show values that policyholders had when the report was created.
import type { Uuid } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import { callObject, reportObject } from '../platform/objects.ts'
import { HOME_SHARD, shardDatabase, type TenantPlace } from '../platform/tenancy.ts'
import { deleteReportFiles } from './files/assembly.ts'
import * as store from './store.ts'

const PROBLEM =
  'Values of a policyholder were overwritten since, which its lines may have shown. Resume the report to make it again.'

/** Returns the changes that reset a report to its beginning, so that it can be resumed. */
const resetChanges = (): Parameters<typeof store.changeReportQuery>[2] => ({
  state: 'error',
  problem: PROBLEM,
  ...store.notBegun(),
})

/**
 * Empties reports that show fields of policyholders and began no later than `until`, when values were overwritten. Can be
 * repeated: reports that were emptied and not resumed are left alone.
 */
export async function emptyShowingHolders(place: TenantPlace, until: Instant): Promise<void> {
  const { env, tenant, calls } = place
  if (!tenant.keepsBooks) return
  const database = shardDatabase(env, tenant, HOME_SHARD, calls)
  const [found] = await database.batch([store.showingHoldersQuery(database, until)])
  for (const { locator } of found as { locator: Uuid }[]) await resetReport(place, locator)
}

/** A report that is resumed while its files are deleted loses some that it needs, and so is emptied again. */
async function resetReport(place: TenantPlace, locator: Uuid): Promise<void> {
  const { env, tenant, calls } = place
  const database = shardDatabase(env, tenant, HOME_SHARD, calls)
  for (;;) {
    await database.batch([store.changeReportQuery(database, locator, resetChanges())])
    await callObject(calls, () => reportObject(env, tenant, locator).halt())
    await deleteReportFiles(place, locator)
    const [rows] = await database.batch([store.reportQuery(database, locator)])
    if (!rows[0] || rows[0].problem === PROBLEM) return
  }
}
