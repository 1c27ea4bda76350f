// What goes with values of a policyholder beside the texts of erased-texts.ts: logs of plugins, calls of services, kept
// answers, and files of documents.
//
// Logs are deleted, since they may hold values in any form; those that belong to no policy, as of previews, quick quotes and
// requests that were refused, cannot be told apart and go too. A document that was made of a template is made again, of the
// policy as it was and the policyholder as it is now; one whose sources are gone loses its file. Uploaded files stay: only
// who uploaded them knows what is in them.
import { sql } from 'drizzle-orm'
import { purgeCalls } from '../../extension/integrations/call/log.ts'
import { integrationCalls } from '../../extension/integrations/tables.ts'
import { pluginLogs } from '../../extension/plugins/tables.ts'
import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { Guard, NewTimer } from '../../platform/commit.ts'
import type { Database, Query } from '../../platform/database.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { writes } from '../../platform/tables.ts'
import { fileKey, shardDatabase, tenantFiles } from '../../platform/tenancy.ts'
import { documentPath } from '../../policy/records/transactions.ts'
import { documentJobs, documents } from '../../policy/tables/documents.ts'
import { policies } from '../../policy/tables/policies.ts'
import { formsIn, hasOneOf, policiesOf } from './erased-texts.ts'
import type { StoredValue } from './overwrite.ts'

/** A query for a number that changes with every change of the policyholder's policies, and with a new one. */
export const policiesStampQuery = (database: Database, locator: Uuid) =>
  database.build.all<{ stamp: number }>(
    sql`select coalesce(sum(version), 0) as stamp from ${policies} where policyholder_locator = ${locator}`,
  )

/** Trips when a policy of the policyholder has changed since the stamp was read, or there is another one. */
export const policiesGuard = (locator: Uuid, stamp: number): Guard => ({
  name: 'guard_policy_version',
  holds: sql`(select coalesce(sum(version), 0) from ${policies} where policyholder_locator = ${locator}) = ${stamp}`,
})

/** A query for the policies with documents that are to be made again. */
export const remadeQuery = (database: Database, locator: Uuid) =>
  database.build.all<{ policy: PolicyLocator }>(sql`select distinct policy_locator as policy from ${documents}
    where policy_locator in ${policiesOf(locator)} and template_name is not null`)

const GONE = 'Its file was erased with values of the policyholder, and it cannot be made again.'

/** Made of documents that are no more. */
const isOrphaned = sql`sources is not null and exists (
  select 1 from json_each(sources) source where source.value not in (select locator from ${documents}))`

/** Queries that delete logs, and have documents made again. */
export function erasureQueries(
  { build }: Database,
  locator: Uuid,
  stored: readonly StoredValue[],
  remade: readonly PolicyLocator[],
): Query[] {
  const at = now()
  return [
    build.run(sql`delete from ${pluginLogs}
      where policy_locator in (select cast(locator as text) from ${policiesOf(locator)})`),
    ...sharedErasureQueries({ build }, stored),
    build.run(sql`update ${documents}
      set state = case when ${isOrphaned} then 'dataError' else 'draft' end,
        failure = case when ${isOrphaned} then ${GONE} end
      where policy_locator in ${policiesOf(locator)} and (template_name is not null or sources is not null)`),
    ...(remade.length === 0
      ? []
      : [
          build.run(sql`insert into ${documentJobs} (policy_locator, attempts, due_at, lease_until)
            select value, 0, ${at}, 0 from json_each(${JSON.stringify(remade)}) where true
            on conflict (policy_locator) do update set attempts = 0, due_at = ${at}, lease_until = 0`),
        ]),
  ]
}

/**
 * Queries for what belongs to no policy: the log of plugins, and kept answers of operations that plugins carry out, which
 * are answered anew then. Also for the tenant's home shard, where the latter are.
 */
export function sharedErasureQueries(
  { build }: Pick<Database, 'build'>,
  stored: readonly StoredValue[],
): [Query, Query] {
  const { plain, escaped } = formsIn(stored)
  return [
    build.run(sql`delete from ${pluginLogs} where policy_locator is null
      and (${hasOneOf(sql`lines`, escaped)} or ${hasOneOf(sql`coalesce(failure, '')`, plain)})`),
    build.run(sql`update ${writes} set answer = null
      where substr(subject, 1, 7) = 'lambda/' and ${hasOneOf(sql`coalesce(answer, '')`, escaped)}`),
  ]
}

export const ERASURE_TIMER = 'policyholder.erasure'

/** Of the batch that overwrites: what lies in R2 is deleted after it, and is so for certain. */
export const erasureTimer = (policyholder: Uuid, at: Instant): NewTimer => ({
  dueAt: at,
  kind: ERASURE_TIMER,
  subject: policyholder,
  payload: { until: String(now()) },
})

/** Calls of services that are deleted in one go, with their bodies. */
const MOST_PURGED = 500

/** Deletes the logged calls, and files of documents that are not made again. Once more does nothing. */
export const eraseRemains: TimerOwner = async ({ subject, payload }, { env, tenant, shard, calls }) => {
  const locator = subject as Uuid
  const database = shardDatabase(env, tenant, shard, calls)
  const [gone] = await database.batch([
    database.build.all<{ locator: Uuid }>(sql`select locator from ${documents}
      where policy_locator in ${policiesOf(locator)} and failure = ${GONE}`),
  ])
  if (gone.length > 0) {
    calls.r2 += 1
    await tenantFiles(env, tenant).delete(gone.map(one => fileKey(tenant, ...documentPath(one.locator))))
  }
  for (;;) {
    const [old] = await database.batch([
      database.build.all<{ locator: string }>(sql`select locator from ${integrationCalls}
        where at <= ${Number(payload.until)}
          and (policy_locator is null or policy_locator in (select cast(locator as text) from ${policiesOf(locator)}))
        limit ${MOST_PURGED}`),
    ])
    if (old.length === 0) return
    await purgeCalls(env, tenant, database, old, calls)
  }
}
