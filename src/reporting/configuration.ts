import { notFound } from '../kernel/errors.ts'
import type { RequestContext } from '../platform/context.ts'
import { homeDatabase } from '../platform/tenancy.ts'
import { allVersionsQuery, type LoadedConfiguration, loadConfiguration } from '../product/cache.ts'

/** The tenant's newest configuration, by which reports read fields. Refuses (404) a tenant without one. */
export async function loadCurrent(context: RequestContext): Promise<LoadedConfiguration> {
  const database = homeDatabase(context)
  const [versions] = await database.batch([allVersionsQuery(database)])
  const newest = versions.reduce<(typeof versions)[number] | undefined>(
    (last, one) => (last && last.version > one.version ? last : one),
    undefined,
  )
  if (!newest) throw notFound('configuration', context.tenant.name)
  return await loadConfiguration(context.env, context.tenant, newest.hash, context.calls)
}
