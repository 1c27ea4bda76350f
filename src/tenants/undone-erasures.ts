// Finds the erasures that a restore undoes. Only an erasure changes earlier versions of a policyholder, so comparing their
// digests before and after the restore distinguishes it from an update. The values themselves are not saved, since they are the
// data to be erased.
import { createHash } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../platform/database.ts'
import { policyholders, policyholderVersions } from '../policyholders/tables.ts'

/** A version of a policyholder, as a digest of its values. */
export type NotedVersion = { readonly holder: string; readonly version: number; readonly digest: string }

type StoredVersion = { readonly holder: string; readonly version: number; readonly entity: string }

/** A version may have a megabyte. */
const VERSIONS_A_PAGE = 100

const everyVersion = (which: SQL): SQL => sql`(
  select p.locator as holder, p.version, p.entity from ${policyholders} p where ${which}
  union all select v.policyholder_locator, v.version, v.entity
  from ${policyholders} p join ${policyholderVersions} v on v.policyholder_locator = p.locator where ${which})`

const digestVersion = ({ holder, version, entity }: StoredVersion): NotedVersion => ({
  holder,
  version,
  digest: createHash('sha256').update(entity).digest('base64url'),
})

/** Yields all versions of the policyholders that were changed since, a page at a time. */
export async function* versionsSince(database: Database, since: number): AsyncGenerator<NotedVersion[]> {
  for (let holder = '', version = 0; ; ) {
    const [rows] = await database.batch([
      database.build.all<StoredVersion>(sql`
        select holder, version, entity from ${everyVersion(sql`p.updated_at >= ${since}`)}
        where (holder, version) > (${holder}, ${version}) order by holder, version limit ${VERSIONS_A_PAGE}`),
    ])
    const last = rows.at(-1)
    if (!last) return
    yield rows.map(digestVersion)
    ;({ holder, version } = last)
  }
}

/**
 * Returns the policyholders that have other values in the same version than those noted, which means that erased values are back.
 */
export async function findUndoneErasures(
  database: Database,
  noted: readonly NotedVersion[],
): Promise<string[]> {
  if (noted.length === 0) return []
  const holders = JSON.stringify([...new Set(noted.map(({ holder }) => holder))])
  const before = new Map(noted.map(({ holder, version, digest }) => [`${holder} ${version}`, digest]))
  const erased = new Set<string>()
  const isNoted = sql`p.locator in (select value from json_each(${holders}))`
  for (let holder = '', version = 0; ; ) {
    const [rows] = await database.batch([
      database.build.all<StoredVersion>(sql`
        select holder, version, entity from ${everyVersion(isNoted)}
        where (holder, version) > (${holder}, ${version}) order by holder, version limit ${VERSIONS_A_PAGE}`),
    ])
    const last = rows.at(-1)
    if (!last) return [...erased]
    for (const one of rows.map(digestVersion))
      if ((before.get(`${one.holder} ${one.version}`) ?? one.digest) !== one.digest) erased.add(one.holder)
    ;({ holder, version } = last)
  }
}
