// Where values of a policyholder may have come beside its own records and those that templates print into: events that
// plugins made, auxiliary data, what plugins printed into their log, calls of services, and documents.
//
// Texts are scrubbed as those of templates are, and only where they are the policyholder's: of its own records and those of
// its policies, since a value may be a common word. Of events only what plugins said, and why a document failed: all else
// is locators, names and numbers of the service's own. Logs are deleted, since they may hold values in any form; those that belong
// to no policy, as of previews, quick quotes and requests that were refused, cannot be told apart and go too. A
// document that was made of a template is made again, of the policy as it was and the policyholder as it is now; one whose
// sources are gone loses its file. Uploaded files stay: nobody but who uploaded them knows what is in them.
import { type SQL, sql } from 'drizzle-orm'
import { auxData } from '../../extension/auxdata/tables.ts'
import { purgeCalls } from '../../extension/integrations/call/log.ts'
import { integrationCalls } from '../../extension/integrations/tables.ts'
import { pluginLogs } from '../../extension/plugins/tables.ts'
import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'
import { type Database, LARGEST_PARAMETER, type Query } from '../../platform/database.ts'
import { events } from '../../platform/events/tables.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { writes } from '../../platform/tables.ts'
import { fileKey, shardDatabase, tenantFiles } from '../../platform/tenancy.ts'
import { documentPath } from '../../policy/records/document.ts'
import { invoices, payments } from '../../policy/tables/billing.ts'
import { documentJobs, documents } from '../../policy/tables/documents.ts'
import { cancellations, endorsements, exposures, policies, quotes } from '../../policy/tables/policies.ts'
import { formsOf, type StoredValue } from './overwrite.ts'

type Scrub = (text: string) => string

const policiesOf = (locator: Uuid): SQL =>
  sql`(select locator from ${policies} where policyholder_locator = ${locator})`

/** Whether it is the locator, as a text, of the policyholder or of what belongs to it. */
const isOwnRecord = (column: SQL, locator: Uuid): SQL =>
  sql.join(
    [
      sql`${column} = ${locator}`,
      sql`${column} in (select cast(locator as text) from ${policiesOf(locator)})`,
      ...[exposures, quotes, endorsements, cancellations, invoices, payments].map(
        table =>
          sql`${column} in (select cast(locator as text) from ${table} where policy_locator in ${policiesOf(locator)})`,
      ),
    ],
    sql` or `,
  )

/** Whether the text has one of the values in one of the forms that are scrubbed. The list is read once for all texts. */
const hasOneOf = (text: SQL, forms: string): SQL =>
  sql`exists (with form as materialized (select value from json_each(${forms}))
    select 1 from form where instr(${text}, form.value) > 0)`

type EventRow = { sequence: number; data: string }
type AuxRow = { locator: string; key: string; value: string }

/** What events say of their own accord. */
const KEPT: ReadonlySet<string> = new Set(['policyLocator', 'policyholderLocator', 'operationFailed'])

/** As JSON has it between its quotes. */
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Queries for texts with the values, and for the policies with documents to be made again; see `traceQueries`. */
export const readTraces = (database: Database, locator: Uuid, stored: readonly StoredValue[]) => {
  const forms = formsOf(stored)
  const plain = JSON.stringify(forms)
  const escaped = JSON.stringify(forms.map(inJson))
  return [
    database.build.all<EventRow>(sql`select sequence, data from ${events}
      where (policyholder_locator = ${locator} or policy_locator in ${policiesOf(locator)})
        and (substr(type, 1, 7) = 'custom.' or type = 'document.failed')
        and ${hasOneOf(sql`data`, escaped)}`),
    database.build.all<AuxRow>(sql`select locator, key, value from ${auxData}
      where (${isOwnRecord(sql`locator`, locator)}) and ${hasOneOf(sql`value`, plain)}`),
    database.build.all<{
      policy: PolicyLocator
    }>(sql`select distinct policy_locator as policy from ${documents}
      where policy_locator in ${policiesOf(locator)} and template_name is not null`),
  ] as const
}

export type Traces = readonly [readonly EventRow[], readonly AuxRow[], readonly { policy: PolicyLocator }[]]

const GONE = 'Its file was erased with values of the policyholder, and it cannot be made again.'

/** Made of documents that are no more. */
const isOrphaned = sql`sources is not null and exists (
  select 1 from json_each(sources) source where source.value not in (select locator from ${documents}))`

/** Rows with their new content, as many to a parameter as it takes. */
function chunked(rows: readonly (readonly unknown[])[]): string[] {
  const chunks: string[][] = []
  let room = 0
  for (const text of rows.map(row => JSON.stringify(row))) {
    if (text.length > room) {
      chunks.push([])
      room = LARGEST_PARAMETER
    }
    chunks.at(-1)!.push(text)
    room -= text.length
  }
  return chunks.map(texts => `[${texts.join(',')}]`)
}

/** Queries that clean what was read, delete logs, and have documents made again. */
export function traceQueries(
  { build }: Database,
  locator: Uuid,
  stored: readonly StoredValue[],
  [eventRows, auxRows, made]: Traces,
  scrub: Scrub,
): Query[] {
  const cleanEvents = eventRows.map(({ sequence, data }) => [
    sequence,
    JSON.stringify(
      Object.fromEntries(
        Object.entries(JSON.parse(data) as Record<string, string>).map(([key, text]) => [
          key,
          KEPT.has(key) ? text : scrub(text),
        ]),
      ),
    ),
  ])
  const cleanAux = auxRows.map(({ locator: of, key, value }) => [of, key, scrub(value)])
  const at = now()
  return [
    ...chunked(cleanEvents).map(rows =>
      build.run(sql`update ${events} set data = j.value ->> 1 from json_each(${rows}) as j
        where ${events}.sequence = j.value ->> 0`),
    ),
    ...chunked(cleanAux).map(rows =>
      build.run(sql`update ${auxData} set value = j.value ->> 2 from json_each(${rows}) as j
        where ${auxData}.locator = j.value ->> 0 and ${auxData}.key = j.value ->> 1`),
    ),
    build.run(sql`delete from ${pluginLogs}
      where policy_locator in (select cast(locator as text) from ${policiesOf(locator)})`),
    ...sharedTraceQueries({ build }, stored),
    build.run(sql`update ${documents}
      set state = case when ${isOrphaned} then 'dataError' else 'draft' end,
        failure = case when ${isOrphaned} then ${GONE} end
      where policy_locator in ${policiesOf(locator)} and (template_name is not null or sources is not null)`),
    ...(made.length === 0
      ? []
      : [
          build.run(sql`insert into ${documentJobs} (policy_locator, attempts, due_at, lease_until)
            select value, 0, ${at}, 0 from json_each(${JSON.stringify(made.map(({ policy }) => policy))}) where true
            on conflict (policy_locator) do update set attempts = 0, due_at = ${at}, lease_until = 0`),
        ]),
  ]
}

/**
 * Queries for what belongs to no policy: the log of plugins, and kept answers of operations that plugins carry out, which
 * are answered anew then. Also for the tenant's home shard, where the latter are.
 */
export function sharedTraceQueries(
  { build }: Pick<Database, 'build'>,
  stored: readonly StoredValue[],
): [Query, Query] {
  const plain = JSON.stringify(formsOf(stored))
  const escaped = JSON.stringify(formsOf(stored).map(inJson))
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
