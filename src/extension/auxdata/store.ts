import { and, asc, eq, sql } from 'drizzle-orm'
import type { AuditEntry } from '../../access/audit/store.ts'
import { audits } from '../../access/tables.ts'
import { newUuid, readDigits, readUuid, shardOfDigits, shardOfUuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { Guard } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { jsonLists } from '../../platform/database/parameters.ts'
import type { Database, Query } from '../../platform/database.ts'
import { HOME_SHARD, type Tenant } from '../../platform/tenancy.ts'
import { auxData } from './tables.ts'

export type AuxRow = typeof auxData.$inferSelect

/** A write. Without a value or uiType, the stored one remains. */
type AuxChange = {
  readonly locator: string
  readonly key: string
  readonly value?: string
  readonly uiType?: AuxRow['uiType']
}

/** Keys per page (brief 7). */
const AUX_PAGE = 100

function shardNamedBy(locator: string): number {
  const digits = readDigits(locator)
  if (digits !== undefined) return shardOfDigits(digits)
  const uuid = readUuid(locator)
  return uuid === undefined ? HOME_SHARD : shardOfUuid(uuid)
}

/** The shard of a locator's data: the shard of the record that it names, or the home shard if it names none. */
export function shardOfAuxData({ shards }: Pick<Tenant, 'shards'>, locator: string): number {
  const shard = shardNamedBy(locator)
  return shard < shards.length ? shard : HOME_SHARD
}

/** Selects the value under the key. No row if there is none. */
export const auxDataQuery = ({ build }: Database, locator: string, key: string) =>
  build
    .select()
    .from(auxData)
    .where(and(eq(auxData.locator, locator), eq(auxData.key, key)))

/** Holds in the batch while the key is unchanged since it was read, or still does not exist. */
export function asReadGuard(locator: string, key: string, read: AuxRow | undefined): Guard {
  const source = sql`from ${auxData} where ${auxData.locator} = ${locator} and ${auxData.key} = ${key}`
  return {
    name: 'guard_aux_data',
    holds: read
      ? sql`exists (select 1 ${source} and ${auxData.value} = ${read.value} and ${auxData.uiType} = ${read.uiType})`
      : sql`not exists (select 1 ${source})`,
  }
}

/** A page of a locator's keys, in order; pages count from 0. */
export const auxKeysQuery = ({ build }: Database, locator: string, page: number) =>
  build
    .select({ key: auxData.key, uiType: auxData.uiType })
    .from(auxData)
    .where(eq(auxData.locator, locator))
    .orderBy(asc(auxData.key))
    .limit(AUX_PAGE)
    .offset(page * AUX_PAGE)

/** Selects up to `most` values of the locator, sorted by key. */
export const auxRowsQuery = ({ build }: Database, locator: string, most: number) =>
  build.select().from(auxData).where(eq(auxData.locator, locator)).orderBy(asc(auxData.key)).limit(most)

/** Selects the values of the pairs, in any order. A pair without a value has no row. */
export const auxPairsQuery = (
  { build }: Database,
  pairs: readonly { readonly locator: string; readonly key: string }[],
) =>
  build
    .select()
    .from(auxData)
    .where(
      sql`(${auxData.locator}, ${auxData.key}) in (
        select value ->> 0, value ->> 1 from json_each(${JSON.stringify(pairs.map(({ locator, key }) => [locator, key]))}))`,
    )

/** If several writes have the same key, the last value of each property counts. */
export function putAuxData({ build }: Database, changes: readonly AuxChange[], at: Instant): Query[] {
  return jsonLists([...mergeChanges(changes)].map(change => JSON.stringify(change))).map(list =>
    build.run(sql`
      insert into ${auxData} (locator, key, value, ui_type, updated_at)
      select change.value ->> 'locator', change.value ->> 'key',
        coalesce(change.value ->> 'value', old.value, ''),
        coalesce(change.value ->> 'uiType', old.ui_type, 'normal'), ${at}
      from json_each(${list}) change
      left join ${auxData} old on old.locator = change.value ->> 'locator' and old.key = change.value ->> 'key'
      where true
      on conflict (locator, key) do update set
        value = excluded.value, ui_type = excluded.ui_type, updated_at = excluded.updated_at`),
  )
}

function mergeChanges(changes: readonly AuxChange[]): Iterable<AuxChange> {
  const byKey = new Map<string, AuxChange>()
  for (const change of changes) {
    const name = JSON.stringify([change.locator, change.key])
    const properties = Object.entries(change).filter(([, value]) => value !== undefined)
    byKey.set(name, { ...byKey.get(name), ...(Object.fromEntries(properties) as AuxChange) })
  }
  return byKey.values()
}

/** Deletes the value under the key, if there is one. */
export const deleteAuxData = ({ build }: Database, locator: string, key: string): Query =>
  build.delete(auxData).where(and(eq(auxData.locator, locator), eq(auxData.key, key)))

/** Deletes the values of the pairs. A parameter is limited in size, so many pairs take several statements. */
export const deleteAllAuxData = (
  { build }: Database,
  pairs: readonly { readonly locator: string; readonly key: string }[],
): Query[] =>
  jsonLists(pairs.map(({ locator, key }) => JSON.stringify([locator, key]))).map(list =>
    build.run(sql`
      delete from ${auxData} where (locator, key) in (select value ->> 0, value ->> 1 from json_each(${list}))`),
  )

/** Writes the audit entry of a deletion. Run it before the deletion; it writes nothing if there is nothing to delete. */
export const auditDeletion = (
  { build }: Database,
  { caller, requestId, now }: Pick<RequestContext, 'caller' | 'requestId' | 'now'>,
  shard: number,
  locator: string,
  key: string,
): Query =>
  build.run(sql`
    insert into ${audits} (locator, created_at, action, subject, details, account_locator, username, request_id)
    select ${newUuid(shard)}, ${now}, 'auxdata.delete', locator, json_object('keys', json_array(key)),
      ${caller.accountLocator}, ${caller.username}, ${requestId}
    from ${auxData} where ${auxData.locator} = ${locator} and ${auxData.key} = ${key}`)

const MOST_KEYS = 200

type Change = { readonly locator: string; readonly key: string; readonly plugin?: string }

/** Audit entries for simultaneous writes: one for each locator and plugin, or several if there are more than 200 keys. */
export function auditOf(
  changes: readonly Change[],
  action: 'auxdata.write' | 'auxdata.delete' = 'auxdata.write',
): AuditEntry[] {
  const groups = Map.groupBy(changes, ({ locator, plugin }) => JSON.stringify([locator, plugin]))
  return [...groups.values()].flatMap(group => {
    const { locator, plugin } = group[0]!
    const keys = [...new Set(group.map(one => one.key))]
    const entries: AuditEntry[] = []
    for (let at = 0; at < keys.length; at += MOST_KEYS)
      entries.push({
        action,
        subject: locator,
        details: { keys: keys.slice(at, at + MOST_KEYS), ...(plugin !== undefined && { plugin }) },
      })
    return entries
  })
}
