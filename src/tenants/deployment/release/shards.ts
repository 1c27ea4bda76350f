// A release in the tenant's other databases. Each database has all versions, because policies read their version in their own batch.
import { commit, type Guard } from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { Query } from '../../../platform/database.ts'
import { HOME_SHARD, homeDatabase, shardDatabase } from '../../../platform/tenancy.ts'
import { allVersionsQuery, putVersions, type VersionRow } from '../../../product/cache.ts'

/** Writes the versions to each of the other databases, one round trip each. Repeating it changes nothing. */
async function writeElsewhere(
  context: RequestContext,
  versions: readonly VersionRow[],
  guards: readonly Guard[],
): Promise<void> {
  const { env, tenant, calls } = context
  for (let shard = HOME_SHARD + 1; shard < tenant.shards.length; shard += 1) {
    const database = shardDatabase(env, tenant, shard, calls)
    const facts: Query[] = putVersions(database, versions)
    await commit({ ...context, idempotency: undefined }, database, {
      shard,
      guards,
      facts,
      subject: 'configuration versions',
      isRepeatable: true,
    })
  }
}

/**
 * Copies the versions of the home database. Copies all of them, so that the next release repairs a copy that failed. No round trip
 * for a tenant with one database.
 */
export async function copyVersions(context: RequestContext): Promise<void> {
  if (context.tenant.shards.length === 1) return
  const home = homeDatabase(context)
  const [versions] = await home.batch([allVersionsQuery(home)])
  await writeElsewhere(context, versions, [])
}

/**
 * Replaces a version in the other databases first, each under the guards, and then runs `commitHome`. A guard sees only the
 * policies of its own database: without this, a policy that is created in another database during a repair could belong to a
 * version that no longer has its product. When a commit fails, the other databases get the versions of the home database again.
 */
export async function withVersionElsewhere<T>(
  context: RequestContext,
  version: VersionRow,
  guards: readonly Guard[],
  commitHome: () => Promise<T>,
): Promise<T> {
  try {
    await writeElsewhere(context, [version], guards)
    return await commitHome()
  } catch (problem) {
    await copyVersions(context)
    throw problem
  }
}
