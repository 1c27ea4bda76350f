import { notFound } from '../kernel/errors.ts'
import type { RequestContext } from '../platform/context.ts'
import { newestConfiguration } from '../product/cache.ts'
import type { Configuration } from '../product/configuration.ts'

/** Returns the tenant's newest configuration, with which reports read fields. Rejects with 404 a tenant without one. */
export async function requireConfiguration(context: RequestContext): Promise<Configuration> {
  const configuration = await newestConfiguration(context)
  if (!configuration) throw notFound('configuration', context.tenant.name)
  return configuration
}
